//! Clicks, drags, text and keys, of the single events that a compositor takes.

use std::fmt::Debug;
use std::time::Duration;

use deskline_core::{Key, KeyPress, Modifiers, Point};
use deskline_link::{BETWEEN_CLICKS, Button, Cancel, Clicks, DragPort, Error, Pace, Result, drag};
use deskline_unix::codes::{LEFT, MIDDLE, RIGHT};

use crate::keymap;
use crate::layout::{Layout, Stroke};

/// The time between two keys, as on the other compositors: 580 characters without a pause ended
/// mousepad.
const PAUSE: Duration = Duration::from_millis(2);

/// The speed of a drag, on all compositors.
pub(crate) const PACE: Pace = Pace {
    steps: 10,
    pause: Duration::from_millis(10),
    dwell: Duration::from_millis(10),
};

/// A way to send single events. Codes are those of `linux/input-event-codes.h`.
pub(crate) trait Port: Debug + Send {
    /// Moves the pointer there, and waits until the compositor has taken that.
    fn go(&mut self, x: f64, y: f64) -> Result<()>;

    /// Presses or releases a button of the mouse, and waits until the compositor has taken that.
    fn button(&mut self, code: u32, press: bool) -> Result<()>;

    /// Presses or releases a key.
    fn key(&mut self, code: u32, press: bool) -> Result<()>;

    /// Turns the wheel by a notch, right or down where positive, and waits until the compositor has taken
    /// that.
    fn wheel(&mut self, right: i32, down: i32) -> Result<()>;

    /// Waits until the compositor has taken the keys so far.
    fn sync(&mut self) -> Result<()>;

    /// The layout that is in force now.
    fn layout(&mut self) -> Result<&Layout>;

    /// Moves the pointer there and pushes it on from there, twice by this much. Only such motion crosses
    /// a barrier at the edge of the screen. Does not wait until the compositor has taken it.
    fn push_over(&mut self, _edge: (f64, f64), _by: (f64, f64)) -> Result<()> {
        Err(Error::Input(
            "this way of input crosses no edge of a screen".into(),
        ))
    }
}

impl<P: Port + ?Sized> Port for Box<P> {
    fn go(&mut self, x: f64, y: f64) -> Result<()> {
        (**self).go(x, y)
    }

    fn button(&mut self, code: u32, press: bool) -> Result<()> {
        (**self).button(code, press)
    }

    fn key(&mut self, code: u32, press: bool) -> Result<()> {
        (**self).key(code, press)
    }

    fn wheel(&mut self, right: i32, down: i32) -> Result<()> {
        (**self).wheel(right, down)
    }

    fn sync(&mut self) -> Result<()> {
        (**self).sync()
    }

    fn layout(&mut self) -> Result<&Layout> {
        (**self).layout()
    }

    fn push_over(&mut self, edge: (f64, f64), by: (f64, f64)) -> Result<()> {
        (**self).push_over(edge, by)
    }
}

/// What is pressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pressed {
    Key(u32),
    Button(u32),
}

/// A sender of input. The compositor releases what it has pressed when its connection or session ends.
#[derive(Debug)]
pub(crate) struct Sender<P> {
    pub(crate) port: P,
    pressed: Vec<Pressed>,
}

impl<P: Port> Sender<P> {
    pub(crate) fn over(port: P) -> Self {
        Self {
            port,
            pressed: Vec::new(),
        }
    }

    /// Moves the pointer there.
    pub(crate) fn go(&mut self, x: f64, y: f64) -> Result<()> {
        self.port.go(x, y)
    }

    fn button(&mut self, code: u32, press: bool) -> Result<()> {
        self.note(Pressed::Button(code), press);
        self.port.button(code, press)
    }

    fn key(&mut self, code: u32, press: bool) -> Result<()> {
        self.note(Pressed::Key(code), press);
        self.port.key(code, press)
    }

    fn note(&mut self, what: Pressed, press: bool) {
        self.pressed.retain(|held| *held != what);
        if press {
            self.pressed.push(what);
        }
    }

    /// Clicks where the pointer is.
    pub(crate) fn click(&mut self, button: Button, clicks: Clicks, cancel: &Cancel) -> Result<()> {
        let code = match button {
            Button::Left => LEFT,
            Button::Middle => MIDDLE,
            Button::Right => RIGHT,
        };
        self.tap(code)?;
        if clicks == Clicks::Double {
            cancel.wait(BETWEEN_CLICKS)?;
            self.tap(code)?;
        }
        Ok(())
    }

    fn tap(&mut self, code: u32) -> Result<()> {
        self.button(code, true)?;
        self.button(code, false)
    }

    /// Drags from one place to another while modifiers are held. `place` maps a point to the port's
    /// coordinates.
    pub(crate) fn drag(
        &mut self,
        ends: [Point; 2],
        modifiers: Modifiers,
        place: impl Fn(Point) -> (f64, f64),
        cancel: &Cancel,
    ) -> Result<()> {
        let mut dragging = Dragging {
            sender: self,
            modifiers,
            place,
        };
        drag(&mut dragging, ends, PACE, cancel)
    }

    /// Turns the wheel by lines; positive is right and down.
    pub(crate) fn scroll(&mut self, right: i32, down: i32, cancel: &Cancel) -> Result<()> {
        let down = [(0, down.signum())].repeat(down.unsigned_abs() as usize);
        let right = [(right.signum(), 0)].repeat(right.unsigned_abs() as usize);
        for (x, y) in down.into_iter().chain(right) {
            cancel.check()?;
            self.port.wheel(x, y)?;
        }
        Ok(())
    }

    /// The keys of a text, before any of them is pressed.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] with the places of the characters that the person's layout lacks.
    pub(crate) fn strokes(&mut self, text: &[char]) -> Result<Vec<Stroke>> {
        let layout = self.port.layout()?;
        let found: Vec<Option<&Stroke>> = text.iter().map(|char| layout.stroke(*char)).collect();
        let lacking: Vec<usize> = (1..)
            .zip(&found)
            .filter(|(_, key)| key.is_none())
            .map(|(at, _)| at)
            .collect();
        if lacking.is_empty() {
            return Ok(found.into_iter().flatten().cloned().collect());
        }
        let lacks = if layout.common {
            "the user has several keyboard layouts, and GNOME does not tell which is on: they have no common key"
        } else {
            "the user's keyboard layout has no key"
        };
        let lacking = places(&lacking);
        Err(Error::Input(format!(
            "{lacks} for {lacking}, and this compositor takes no others; nothing was typed. Write the whole text with set_value_and_traverse"
        )))
    }

    /// Presses keys in a row.
    pub(crate) fn strike(&mut self, strokes: &[Stroke], cancel: &Cancel) -> Result<()> {
        for stroke in strokes {
            cancel.check()?;
            self.stroke(stroke)?;
            self.port.sync()?;
            cancel.wait(PAUSE)?;
        }
        Ok(())
    }

    /// Presses a few keys in a row as fast as the compositor takes them. The pause that the app needs
    /// after that is returned.
    pub(crate) fn burst(&mut self, strokes: &[Stroke]) -> Result<Duration> {
        strokes.iter().try_for_each(|stroke| self.stroke(stroke))?;
        self.port.sync()?;
        Ok(PAUSE * strokes.len() as u32)
    }

    fn stroke(&mut self, stroke: &Stroke) -> Result<()> {
        for code in &stroke.held {
            self.key(*code, true)?;
        }
        self.key(stroke.code, true)?;
        self.key(stroke.code, false)?;
        for code in stroke.held.iter().rev() {
            self.key(*code, false)?;
        }
        Ok(())
    }

    /// Presses a key with modifiers.
    pub(crate) fn press(&mut self, press: KeyPress) -> Result<()> {
        let layout = self.port.layout()?;
        let (found, common) = (layout.key(press.key), layout.common);
        let mut stroke = found.ok_or_else(|| {
            let then = match press.key {
                Key::Char(_) if common => {
                    ": the user has several keyboard layouts, and GNOME does not tell which is on"
                }
                Key::Char(_) => ": the user's keyboard layout has no key for it",
                _ => "",
            };
            Error::Input(format!("{press} cannot be pressed{then}. Nothing was sent"))
        })?;
        for code in codes_of(press.modifiers) {
            if !stroke.held.contains(&code) {
                stroke.held.push(code);
            }
        }
        self.stroke(&stroke)?;
        self.port.sync()
    }

    /// Presses modifiers.
    pub(crate) fn hold(&mut self, modifiers: Modifiers) -> Result<()> {
        codes_of(modifiers).try_for_each(|code| self.key(code, true))?;
        self.port.sync()
    }

    /// Releases all that is pressed.
    pub(crate) fn release(&mut self) -> Result<()> {
        if self.pressed.is_empty() {
            return Ok(());
        }
        for held in self.pressed.clone().into_iter().rev() {
            match held {
                Pressed::Key(code) => self.key(code, false)?,
                Pressed::Button(code) => self.button(code, false)?,
            }
        }
        self.port.sync()
    }
}

/// The single events of a drag.
struct Dragging<'s, P, F> {
    sender: &'s mut Sender<P>,
    modifiers: Modifiers,
    place: F,
}

impl<P: Port, F: Fn(Point) -> (f64, f64)> DragPort for Dragging<'_, P, F> {
    type Error = Error;

    fn go(&mut self, to: Point) -> Result<()> {
        let (x, y) = (self.place)(to);
        self.sender.go(x, y)
    }

    fn press(&mut self) -> Result<()> {
        self.sender.hold(self.modifiers)?;
        self.sender.button(LEFT, true)
    }

    fn release(&mut self) -> Result<()> {
        self.sender.release()
    }
}

/// The keys of modifiers.
/// The places of characters in a text, which may be a password.
fn places(all: &[usize]) -> String {
    const NAMED: usize = 5;
    let named: Vec<String> = all.iter().take(NAMED).map(usize::to_string).collect();
    let more = all.len().saturating_sub(NAMED);
    let more = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    let word = if all.len() == 1 {
        "character"
    } else {
        "characters"
    };
    format!("{word} {}{more} of the text", named.join(", "))
}

fn codes_of(modifiers: Modifiers) -> impl Iterator<Item = u32> {
    let all = [
        (Modifiers::SHIFT, keymap::SHIFT),
        (Modifiers::CONTROL, keymap::CONTROL),
        (Modifiers::ALT, keymap::ALT),
        (Modifiers::COMMAND, keymap::SUPER),
    ];
    let wanted = all.into_iter().filter(move |(m, _)| modifiers.contains(*m));
    wanted.map(|(_, (code, _))| code)
}
