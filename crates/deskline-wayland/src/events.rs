//! The single events that KWin and Mutter accept, and the input port on top of them. Keys follow
//! the person's layout.

use std::fmt::Debug;
use std::time::Duration;

use deskline_contract::{Error, Result};
use deskline_core::{Key, KeyPress, Modifiers, Point};
use deskline_input::{Button, Cancel, Gap, InputError, Port, Stroke};
use deskline_unix::codes::{LEFT, MIDDLE, RIGHT};

use crate::compositor::plus;
use crate::layout::{self, Layout};

/// The time between two notches of the wheel. GTK 4.8 drops an app's first wheel event, and with it
/// all wheel events of the same frame, which it merges. Qt 6.10 drops some that come at once.
pub(crate) const APART: Duration = Duration::from_millis(20);

/// A way to send single events. Codes are those of `linux/input-event-codes.h`.
pub(crate) trait Events: Debug + Send {
    /// Moves the pointer there, and waits until the compositor has processed that.
    fn go(&mut self, x: f64, y: f64) -> Result<()>;

    /// Presses or releases a mouse button.
    fn button(&mut self, code: u32, press: bool) -> Result<()>;

    /// Presses or releases a key.
    fn key(&mut self, code: u32, press: bool) -> Result<()>;

    /// Turns the wheel by a notch, right or down if positive, and waits until the compositor has
    /// processed that.
    fn wheel(&mut self, right: i32, down: i32) -> Result<()>;

    /// Waits until the compositor has processed the keys and buttons so far.
    fn sync(&mut self) -> Result<()>;

    /// Reads the layout that is active now.
    fn layout(&mut self) -> Result<&Layout>;

    /// The layout as of the last [`Events::layout`].
    fn known_layout(&self) -> Option<&Layout>;

    /// Moves the pointer to `edge`, and from there twice by `by`: only relative motion crosses a
    /// barrier at the edge of the screen. Does not wait for the compositor. Only KWin's guard
    /// pushes, and it uses EIS, the one way that has such motions.
    fn push_over(&mut self, _edge: (f64, f64), _by: (f64, f64)) -> Result<()> {
        Err(Error::system("moving the pointer")(
            "no single motion crosses an edge",
        ))
    }
}

/// The input port that sends [`Events`].
pub(crate) struct Sent<'a> {
    pub(crate) events: &'a mut dyn Events,
    /// The offset to add to points.
    pub(crate) offset: (f64, f64),
    /// Receives the point that the pointer was sent to last, for compositors that need it.
    pub(crate) went: Option<&'a mut Option<Point>>,
}

impl Sent<'_> {
    /// Presses and releases a key for the compositor itself, independent of the target.
    pub(crate) fn tap(&mut self, press: KeyPress) -> Result<()> {
        let Stroke { key, held } = self.press(press, &Cancel::new())?;
        let presses = held.iter().chain([&key]);
        { presses }.try_for_each(|code| self.key(code, true))?;
        let mut releases = [&key].into_iter().chain(held.iter().rev());
        releases.try_for_each(|code| self.key(code, false))?;
        self.sync()
    }
}

impl Port for Sent<'_> {
    type Error = Error;
    type Key = u32;

    fn go(&mut self, to: Point) -> Result<()> {
        if let Some(went) = &mut self.went {
            **went = Some(to);
        }
        let (x, y) = plus(to, self.offset);
        self.events.go(x, y)
    }

    fn button(&mut self, button: Button, down: bool, _nth: u8) -> Result<()> {
        self.events.button(button_code(button), down)
    }

    fn key(&mut self, code: &u32, down: bool) -> Result<()> {
        self.events.key(*code, down)
    }

    fn wheel(&mut self, right: i32, down: i32) -> Result<()> {
        self.events.wheel(right, down)
    }

    fn sync(&mut self) -> Result<()> {
        self.events.sync()
    }

    fn lacks(&mut self, text: &[char]) -> Result<Option<(Vec<usize>, Gap)>> {
        let layout = self.events.layout()?;
        let numbered = (1..).zip(text);
        let lacking: Vec<usize> = numbered
            .filter(|(_, char)| layout.stroke(**char).is_none())
            .map(|(at, _)| at)
            .collect();
        Ok((!lacking.is_empty()).then_some((lacking, Gap::Layout)))
    }

    /// Uses the layout of the last [`Port::lacks`], as some compositors are slow to report it.
    fn stroke(&mut self, text: &[char], _: &Cancel) -> Result<Option<(Stroke<u32>, usize)>> {
        let Some(char) = text.first() else {
            return Ok(None);
        };
        let stroke = match self.events.known_layout() {
            Some(layout) => layout.stroke(*char).cloned(),
            None => self.events.layout()?.stroke(*char).cloned(),
        };
        Ok(stroke.map(|layout::Stroke { code: key, held }| (Stroke { key, held }, 1)))
    }

    fn press(&mut self, press: KeyPress, _: &Cancel) -> Result<Stroke<u32>> {
        let layout = self.events.layout()?;
        let why = match press.key {
            Key::Char(_) | Key::Symbol(_) => Gap::Layout,
            _ => Gap::NoSuchKey,
        };
        let found = layout.key(press);
        let found = found.ok_or(InputError::NoKey { press, why })?;
        let layout::Stroke { code, mut held } = found;
        for code in layout.modifiers(press.modifiers)? {
            if !held.contains(&code) {
                held.push(code);
            }
        }
        Ok(Stroke { key: code, held })
    }

    fn modifiers(&mut self, modifiers: Modifiers) -> Result<Vec<u32>> {
        Ok(self.events.layout()?.modifiers(modifiers)?)
    }
}

pub(crate) fn button_code(button: Button) -> u32 {
    match button {
        Button::Left => LEFT,
        Button::Middle => MIDDLE,
        Button::Right => RIGHT,
    }
}
