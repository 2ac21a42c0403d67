//! The pointer and the keyboard over an EIS socket.

use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use deskline_core::{Key, KeyPress, Modifiers};
use deskline_link::{Button, Cancel, Clicks, Error, Result};
use reis::ei::button::ButtonState;
use reis::ei::handshake::ContextType;
use reis::ei::keyboard::KeyState;
use rustix::time::{ClockId, clock_gettime};

use super::connection::{Connection, PATIENCE};
use super::device::Device;
use super::layout::{Layout, Stroke};
use crate::keymap;

/// `linux/input-event-codes.h`
const LEFT: u32 = 0x110;
const RIGHT: u32 = 0x111;

/// A notch of the wheel, in the units of `ei_scroll.scroll_discrete`.
const NOTCH: i32 = 120;

/// The time between two keys, as on the other compositors: 580 characters without a pause ended
/// mousepad.
const PAUSE: Duration = Duration::from_millis(2);

/// In how many motions a drag goes, and the time between two of them: toolkits begin a drag after
/// some motion of the pressed pointer.
const MOTIONS: u8 = 10;
const STEP: Duration = Duration::from_millis(10);

/// What is pressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pressed {
    Key(u32),
    Button(u32),
}

/// A sender of input. What it has pressed is released when the connection ends.
#[derive(Debug)]
pub(crate) struct Sender {
    connection: Connection,
    /// Which part of the screen coordinates are of: see `Region::mapping`.
    space: Option<String>,
    /// The devices that have been told that input follows: with each its name's object.
    started: Vec<reis::ei::Device>,
    sequence: u32,
    pressed: Vec<Pressed>,
    /// The layout, with the locked modifiers and the group that it is for.
    layout: Option<((u32, u32), Layout)>,
}

impl Sender {
    /// Takes over a socket that the compositor has handed out, and waits until a keyboard and an
    /// absolute pointer are there (2 s).
    pub(crate) fn connect(socket: OwnedFd) -> Result<Self> {
        let mut connection = Connection::open(socket, ContextType::Sender)?;
        let ready = |it: &Connection| {
            let mut devices = it.devices.iter().filter(|d| d.resumed);
            let mut keyboards = devices.clone().filter(|d| d.keyboard.is_some());
            keyboards.next().is_some() && devices.any(|d| d.absolute.is_some())
        };
        if !connection.until(Instant::now() + PATIENCE, ready)? {
            return Err(Error::Unavailable(
                "the compositor offers no pointer and keyboard within 2 s".into(),
            ));
        }
        Ok(Self {
            connection,
            space: None,
            started: Vec::new(),
            sequence: 0,
            pressed: Vec::new(),
            layout: None,
        })
    }

    /// Which part of the screen coordinates are of from now on: the mapping of a stream of the screen
    /// cast, or `None` for the screen. Waits until a pointer reaches it (2 s).
    pub(crate) fn select(&mut self, mapping: Option<&str>) -> Result<()> {
        let there = |it: &Connection| {
            let mut devices = it.devices.iter();
            devices.any(|d| d.resumed && d.reaches(mapping))
        };
        if !self.connection.until(Instant::now() + PATIENCE, there)? {
            return Err(Error::Input(
                "no pointer of the compositor's reaches that part of the screen. Nothing was sent"
                    .into(),
            ));
        }
        self.space = mapping.map(str::to_owned);
        Ok(())
    }

    /// The device that is suited, after it has been told that input follows.
    fn device(&mut self, what: &str, suits: impl Fn(&Device) -> bool) -> Result<usize> {
        self.connection.pump()?;
        let devices = &self.connection.devices;
        let found = devices.iter().position(|d| d.resumed && suits(d));
        let index = found.ok_or_else(|| {
            Error::Input(format!(
                "the compositor offers no {what} any more. Nothing was sent"
            ))
        })?;
        let resumed =
            |proto: &reis::ei::Device| devices.iter().any(|d| d.resumed && d.proto == *proto);
        self.started.retain(resumed);
        let proto = &devices[index].proto;
        if !self.started.contains(proto) {
            self.sequence = self.sequence.wrapping_add(1);
            proto.start_emulating(self.connection.serial, self.sequence);
            self.started.push(proto.clone());
        }
        Ok(index)
    }

    /// Ends a group of events that belong together.
    fn frame(&self, device: usize) {
        if let Some(device) = self.connection.devices.get(device) {
            device.proto.frame(self.connection.serial, now());
        }
    }

    /// Moves the pointer there.
    pub(crate) fn go(&mut self, x: f64, y: f64) -> Result<()> {
        let space = self.space.clone();
        let index = self.device("pointer", |d| d.reaches(space.as_deref()))?;
        if let Some(pointer) = &self.connection.devices[index].absolute {
            pointer.motion_absolute(x as f32, y as f32);
        }
        self.frame(index);
        self.connection.sync()
    }

    /// Moves the pointer there and pushes it on from there, twice by this much. Only such motion crosses
    /// a barrier at the edge of the screen. Does not wait until the compositor has taken it.
    pub(crate) fn push_over(&mut self, edge: (f64, f64), by: (f64, f64)) -> Result<()> {
        let space = self.space.clone();
        let index = self.device("pointer", |d| d.reaches(space.as_deref()))?;
        if let Some(pointer) = &self.connection.devices[index].absolute {
            pointer.motion_absolute(edge.0 as f32, edge.1 as f32);
        }
        self.frame(index);
        let index = self.device("pointer", |d| d.relative.is_some())?;
        for _ in 0..2 {
            if let Some(pointer) = &self.connection.devices[index].relative {
                pointer.motion_relative(by.0 as f32, by.1 as f32);
            }
            self.frame(index);
        }
        self.connection.flush()
    }

    fn button(&mut self, code: u32, press: bool) -> Result<()> {
        let space = self.space.clone();
        let here = |d: &Device| d.button.is_some() && d.reaches(space.as_deref());
        let index = match self.device("mouse button", here) {
            Err(_) => self.device("mouse button", |d| d.button.is_some())?,
            found => found?,
        };
        self.note(Pressed::Button(code), press);
        if let Some(button) = &self.connection.devices[index].button {
            let state = if press {
                ButtonState::Press
            } else {
                ButtonState::Released
            };
            button.button(code, state);
        }
        self.frame(index);
        self.connection.sync()
    }

    fn key(&mut self, code: u32, press: bool) -> Result<()> {
        let index = self.device("keyboard", |d| d.keyboard.is_some())?;
        self.note(Pressed::Key(code), press);
        if let Some(keyboard) = &self.connection.devices[index].keyboard {
            let state = if press {
                KeyState::Press
            } else {
                KeyState::Released
            };
            keyboard.key(code, state);
        }
        self.frame(index);
        Ok(())
    }

    fn note(&mut self, what: Pressed, press: bool) {
        self.pressed.retain(|held| *held != what);
        if press {
            self.pressed.push(what);
        }
    }

    /// Clicks where the pointer is.
    pub(crate) fn click(&mut self, button: Button, clicks: Clicks) -> Result<()> {
        let code = match button {
            Button::Left => LEFT,
            Button::Right => RIGHT,
        };
        let times = match clicks {
            Clicks::Single => 1,
            Clicks::Double => 2,
        };
        for _ in 0..times {
            self.button(code, true)?;
            self.button(code, false)?;
        }
        Ok(())
    }

    /// Drags from one place to another.
    pub(crate) fn drag(&mut self, from: (f64, f64), to: (f64, f64), cancel: &Cancel) -> Result<()> {
        self.go(from.0, from.1)?;
        self.button(LEFT, true)?;
        for step in 1..=MOTIONS {
            cancel.wait(STEP)?;
            let part = |a: f64, b: f64| a + (b - a) * f64::from(step) / f64::from(MOTIONS);
            self.go(part(from.0, to.0), part(from.1, to.1))?;
        }
        cancel.wait(STEP)?;
        self.button(LEFT, false)
    }

    /// Turns the wheel by lines; positive is right and down.
    pub(crate) fn scroll(&mut self, right: i32, down: i32, cancel: &Cancel) -> Result<()> {
        let down = [(0, down.signum())].repeat(down.unsigned_abs() as usize);
        let right = [(right.signum(), 0)].repeat(right.unsigned_abs() as usize);
        for (x, y) in down.into_iter().chain(right) {
            cancel.check()?;
            let index = self.device("wheel", |d| d.scroll.is_some())?;
            if let Some(scroll) = &self.connection.devices[index].scroll {
                scroll.scroll_discrete(x * NOTCH, y * NOTCH);
            }
            self.frame(index);
            self.connection.sync()?;
        }
        Ok(())
    }

    /// The layout that is in force now.
    fn layout(&mut self) -> Result<&Layout> {
        let index = self.device("keyboard", |d| d.keyboard.is_some())?;
        let device = &self.connection.devices[index];
        let (locked, group) = device.locked;
        if self
            .layout
            .as_ref()
            .is_none_or(|(of, _)| *of != device.locked)
        {
            let keymap = device.keymap.as_deref().unwrap_or_default();
            let layout = Layout::read(keymap, locked, group).ok_or_else(|| {
                Error::Input(
                    "the compositor's keymap cannot be read, so no keys are sent. Use set_value_and_traverse".into(),
                )
            })?;
            self.layout = Some((device.locked, layout));
        }
        let layout = self.layout.as_ref().map(|(_, layout)| layout);
        layout.ok_or_else(|| Error::Input("no keymap".into()))
    }

    /// The keys of a text, before any of them is pressed.
    ///
    /// # Errors
    ///
    /// [`Error::Input`] that names the characters which the person's layout lacks.
    pub(crate) fn strokes(&mut self, text: &[char]) -> Result<Vec<Stroke>> {
        let layout = self.layout()?;
        let found = text.iter().map(|char| layout.stroke(*char).ok_or(*char));
        let mut lacking: Vec<char> = found.clone().filter_map(std::result::Result::err).collect();
        if lacking.is_empty() {
            return Ok(found.flatten().cloned().collect());
        }
        lacking.sort_unstable();
        lacking.dedup();
        let named: Vec<String> = lacking
            .iter()
            .take(5)
            .map(|char| format!("'{char}' (U+{:04X})", u32::from(*char)))
            .collect();
        let more = lacking.len().saturating_sub(named.len());
        let more = if more > 0 {
            format!(" and {more} more")
        } else {
            String::new()
        };
        Err(Error::Input(format!(
            "the user's keyboard layout has no key for {}{more}, and this compositor takes no others; nothing was typed. Write the whole text with set_value_and_traverse",
            named.join(", ")
        )))
    }

    /// Presses keys in a row.
    pub(crate) fn strike(&mut self, strokes: &[Stroke], cancel: &Cancel) -> Result<()> {
        for stroke in strokes {
            cancel.check()?;
            self.stroke(stroke)?;
            self.connection.sync()?;
            cancel.wait(PAUSE)?;
        }
        Ok(())
    }

    /// Presses a few keys in a row as fast as the compositor takes them. The pause that the app needs
    /// after that is returned.
    pub(crate) fn burst(&mut self, strokes: &[Stroke]) -> Result<Duration> {
        strokes.iter().try_for_each(|stroke| self.stroke(stroke))?;
        self.connection.sync()?;
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
        let found = self.layout()?.key(press.key);
        let mut stroke = found.ok_or_else(|| {
            let then = match press.key {
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
        self.connection.sync()
    }

    /// Presses modifiers.
    pub(crate) fn hold(&mut self, modifiers: Modifiers) -> Result<()> {
        codes_of(modifiers).try_for_each(|code| self.key(code, true))?;
        self.connection.sync()
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
        self.connection.sync()
    }
}

/// The keys of modifiers.
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

/// The time of an event: the monotonic clock, in microseconds.
fn now() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    let (seconds, nanoseconds) = (time.tv_sec.cast_unsigned(), time.tv_nsec.cast_unsigned());
    seconds * 1_000_000 + nanoseconds / 1000
}
