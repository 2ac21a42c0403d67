//! Whether a control has received a press. Controls of GTK 3 and Qt show it in their states while
//! the mouse button is down.

use std::time::Duration;

use deskline_core::{ElementId, Point};
use deskline_unix::wait;

use crate::act;
use crate::aimed::Aimed;
use crate::atspi::AtSpi;
use crate::names::{ACTION, StateSet};
use crate::tree::split_id;

/// How long a control may take to show a press, once its app answers. GTK 3.24 and Qt 5.15 take 1
/// to 3 ms.
const SHOWS: Duration = Duration::from_millis(300);
const LOOK: Duration = Duration::from_millis(2);

/// How far above a control the button is released after a press that missed it, in pixels.
const BESIDE: i32 = 4;

impl AtSpi {
    /// The control of the last hit test, if that was at this point and a press would show in the
    /// control's states.
    pub fn aimed(&mut self, at: Point) -> Option<Aimed> {
        self.hear();
        if let Some(mirror) = &mut self.mirrors.current {
            mirror.switched.clear();
        }
        let mut aimed = self.aimed.take().filter(|aimed| aimed.at == at)?;
        // The answer also shows that a busy app has drawn its new look, so that it soon sees the
        // press.
        let was = self.states_of(&aimed.element)?;
        aimed.was = was;
        let shows = if aimed.is_row {
            // In a view without selection, a press only makes the row the current one.
            let is_marked = was.has(StateSet::SELECTED) || was.has(StateSet::FOCUSED);
            was.has(StateSet::SELECTABLE) && !is_marked
        } else {
            let is_own = self.unlike_buttons.contains(&aimed.element);
            was.has(StateSet::FOCUSABLE) && !was.has(StateSet::PRESSED) && !is_own
        };
        shows.then_some(aimed)
    }

    /// Called while the button is down. `None` if the control has received the press, or may have.
    /// Otherwise returns the point at which to release the button, so that no other control is
    /// clicked.
    pub fn missed(&mut self, aimed: &Aimed) -> Option<Point> {
        let mut now = None;
        let mut changes = || {
            now = self.states_of(&aimed.element);
            (now != Some(aimed.was)).then_some(())
        };
        // A busy app may answer the first request before it has handled the press. So there is a
        // second one.
        let shown = changes().or_else(|| wait::until(SHOWS, LOOK, changes));
        // A button that its app has replaced meanwhile is not clicked at the release.
        let is_gone = now.is_none() && !aimed.is_row;
        if shown.is_some() && !is_gone {
            let pressed = |now: StateSet| now.has(StateSet::ARMED) || now.has(StateSet::PRESSED);
            let is_selected = now.is_some_and(|now| now.has(StateSet::SELECTED));
            let mirror = self.mirrors.current.as_mut().filter(|_| is_selected);
            if let (Some(mirror), Some((_, path))) = (mirror, split_id(&aimed.element)) {
                mirror.switch(path, true);
            }
            if !aimed.is_row && !now.is_none_or(pressed) {
                self.unlike_buttons.insert(aimed.element.clone());
            }
            return None;
        }
        if !aimed.is_row && !is_gone && !self.has_actions(&aimed.element) {
            self.unlike_buttons.insert(aimed.element.clone());
            return None;
        }
        let above = aimed.place.y.saturating_sub(BESIDE);
        Some(Point {
            y: above,
            ..aimed.at
        })
    }

    /// Whether the element has actions. An element that an app draws itself and reports as a button
    /// has no actions, and does not show a press.
    fn has_actions(&mut self, element: &ElementId) -> bool {
        let located = self.locate(element);
        let has = located.map(|mut it| act::interfaces(&mut it.app, &it.path));
        has.is_ok_and(|has| has.is_ok_and(|has| has.iter().any(|name| name == ACTION)))
    }

    fn states_of(&mut self, element: &ElementId) -> Option<StateSet> {
        let mut located = self.locate(element).ok()?;
        act::state(&mut located.app, &located.path).ok().flatten()
    }
}
