//! The input port on top of the single events that KWin and Mutter accept. Keys follow the
//! person's layout.

use deskline_contract::{Error, Result};
use deskline_core::{Key, KeyPress, Modifiers, Point};
use deskline_input::{Button, Cancel, Gap, InputError, Port, Stroke};
use deskline_unix::codes::{LEFT, MIDDLE, RIGHT};

use crate::compositor::plus;
use crate::eis::Eis;
use crate::layout;

/// The input port over an EIS socket.
pub(crate) struct Sent<'a> {
    pub(crate) events: &'a mut Eis,
    /// The offset to add to points.
    pub(crate) offset: (f64, f64),
    /// Where to store the last point that the pointer was sent to, for compositors that need it.
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
        Ok(Gap::Layout.of(text, |char| layout.stroke(char).is_some()))
    }

    /// Uses the layout that the last [`Port::lacks`] has read: some compositors are slow to report
    /// a layout.
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
