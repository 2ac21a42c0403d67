//! Keeps two clicks of different calls from becoming a double click.
//!
//! Toolkits count clicks by time and distance: if the click of one call comes soon after the click
//! of another call, the toolkit takes the two for a double click.

use std::time::Duration;

use deskline_core::{Modifiers, Point};

use crate::cancel::{Cancel, Cancelled};
use crate::clock::Instant;

/// A mouse button.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Button {
    /// The main button.
    #[default]
    Left,
    /// The context button.
    Right,
    /// The wheel's button.
    Middle,
}

/// How often a button is clicked in a row.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Clicks {
    /// Once.
    #[default]
    Single,
    /// Twice, within the toolkit's double-click time.
    Double,
}

impl Clicks {
    /// The number of clicks.
    pub const fn count(self) -> u8 {
        match self {
            Self::Single => 1,
            Self::Double => 2,
        }
    }
}

/// A click.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Click {
    /// The place, in screen coordinates.
    pub at: Point,
    /// The button.
    pub button: Button,
    /// How often the button is clicked in a row.
    pub clicks: Clicks,
    /// The modifiers that are held during the click.
    pub modifiers: Modifiers,
}

impl Click {
    /// A click of the main button, without modifiers.
    pub const fn left(at: Point) -> Self {
        Self {
            at,
            button: Button::Left,
            clicks: Clicks::Single,
            modifiers: Modifiers::empty(),
        }
    }
}

/// Called while the button of a click is down. Returns where to let the button go if something else
/// than the target has received the press, and `None` otherwise.
pub type Missed<'m> = &'m mut dyn FnMut() -> Option<Point>;

/// The time between the two clicks of a double click. Chromium takes two clicks of the same
/// millisecond for a duplicated event.
pub const BETWEEN_CLICKS: Duration = Duration::from_millis(20);

/// Longer than the double-click times of GTK, Qt and Chromium, which are 400 to 500 ms. Chromium
/// counts in whole milliseconds.
const DOUBLE_CLICK: Duration = Duration::from_millis(510);

/// Two clicks that are farther apart than this, in screen units, are no double click in any
/// toolkit. The limit is 5 in GTK and Qt, and 4 in Chromium.
const REACH: i32 = 10;

/// The last click that a display has sent.
#[derive(Debug, Default)]
pub(crate) struct LastClick(Option<(Instant, Point, Button)>);

impl LastClick {
    /// Waits until a click here would no longer count as the second click of a double click. A
    /// double click waits even if the last click was elsewhere: within 400 ms of that click, GTK 3
    /// takes the double click for two single clicks.
    ///
    /// # Errors
    ///
    /// The reason of `cancel`.
    pub(crate) fn wait_before(
        &self,
        at: Point,
        button: Button,
        clicks: Clicks,
        cancel: &Cancel,
    ) -> Result<(), Cancelled> {
        let Some((when, place, last)) = &self.0 else {
            return Ok(());
        };
        let near = (place.x - at.x).abs() <= REACH && (place.y - at.y).abs() <= REACH;
        if *last == button && (near || clicks == Clicks::Double) {
            cancel.wait(DOUBLE_CLICK.saturating_sub(when.elapsed()))?;
        }
        Ok(())
    }

    /// Records that a click has been sent.
    pub fn note(&mut self, at: Point, button: Button) {
        self.0 = Some((Instant::now(), at, button));
    }

    /// Forgets the last click. To be called after a press that belongs to no click.
    pub const fn forget(&mut self) {
        self.0 = None;
    }
}

#[cfg(test)]
#[allow(clippy::expect_used)]
mod tests {
    use super::*;

    /// How long a click waits after one at (100, 100) that has just been sent.
    fn waits(x: i32, button: Button, clicks: Clicks) -> Duration {
        let mut last = LastClick::default();
        last.note(Point { x: 100, y: 100 }, Button::Left);
        let start = Instant::now();
        let at = Point { x, y: 100 };
        let waited = last.wait_before(at, button, clicks, &Cancel::new());
        waited.expect("nobody cancels");
        start.elapsed()
    }

    #[test]
    fn only_a_click_that_could_complete_a_double_click_waits() {
        // Shorter than the double-click time of any toolkit, and longer than this test takes on a
        // busy machine.
        let long = Duration::from_millis(400);
        assert!(waits(103, Button::Left, Clicks::Single) > long);
        assert!(waits(900, Button::Left, Clicks::Double) > long);
        assert!(waits(900, Button::Left, Clicks::Single) < long);
        assert!(waits(100, Button::Right, Clicks::Single) < long);
    }

    #[test]
    fn a_click_does_not_wait_for_a_forgotten_click() {
        let mut last = LastClick::default();
        let at = Point { x: 1, y: 1 };
        last.note(at, Button::Left);
        last.forget();
        let start = Instant::now();
        let waited = last.wait_before(at, Button::Left, Clicks::Double, &Cancel::new());
        waited.expect("nobody cancels");
        assert!(start.elapsed() < Duration::from_millis(400));
    }
}
