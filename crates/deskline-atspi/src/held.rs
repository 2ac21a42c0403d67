//! Whether a control has received a press: those of GTK 3 and Qt show it while the button is down.

use std::time::Duration;

use deskline_core::{ElementId, Point};
use deskline_unix::wait;

use crate::act;
use crate::aimed::Aimed;
use crate::atspi::AtSpi;
use crate::names::StateSet;

/// How long a control may take to show it once its app answers: in GTK 3.24 and Qt 5.15, 1 to 3 ms.
const SHOWS: Duration = Duration::from_millis(300);
const LOOK: Duration = Duration::from_millis(2);

/// Beyond the bounds of a control, in pixels.
const BESIDE: i32 = 4;

impl AtSpi {
    /// The control that was last asked about, if a press on this point shows in its states.
    pub fn aimed(&mut self, at: Point) -> Option<Aimed> {
        let mut aimed = self.aimed.take().filter(|aimed| aimed.at == at)?;
        let was = self.states_of(&aimed.element)?;
        aimed.was = was;
        let shows = if aimed.is_row {
            was.has(StateSet::SELECTABLE) && !was.has(StateSet::SELECTED)
        } else {
            was.has(StateSet::FOCUSABLE) && !was.has(StateSet::PRESSED)
        };
        shows.then_some(aimed)
    }

    /// Asked while the button is down: `None` if the control has received the press, or may have.
    /// Else where to let the button go: what did receive it takes that for no click.
    pub fn missed(&mut self, aimed: &Aimed) -> Option<Point> {
        let mut shows = || (self.states_of(&aimed.element) != Some(aimed.was)).then_some(());
        // A busy app answers the first time before it has handled the press.
        if shows()
            .or_else(|| wait::until(SHOWS, LOOK, shows))
            .is_some()
        {
            return None;
        }
        let above = aimed.place.y.saturating_sub(BESIDE);
        Some(Point {
            y: above,
            ..aimed.at
        })
    }

    fn states_of(&mut self, element: &ElementId) -> Option<StateSet> {
        let mut located = self.locate(element).ok()?;
        act::state(&mut located.app, &located.path).ok().flatten()
    }
}
