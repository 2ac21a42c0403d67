//! The pointer and the keyboard over an EIS socket.

use deskline_contract::{DisplayError, Error, Result, wait};
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use reis::ei::button::ButtonState;
use reis::ei::handshake::ContextType;
use reis::ei::keyboard::KeyState;
use rustix::time::{ClockId, clock_gettime};

use super::connection::{Connection, PATIENCE};
use super::device::Device;
use crate::layout::{Layout, unreadable};

/// The time between two notches of the wheel. GTK 4.8 merges the wheel events of a frame into one,
/// and drops the first wheel event that an app gets. So notches at once may be lost. Qt 6.10 drops
/// some wheel events that come at the same time.
const APART: Duration = Duration::from_millis(20);

/// A wheel notch, in the units of `ei_scroll.scroll_discrete`.
const NOTCH: i32 = 120;

/// KWin 6.1 to 6.3 holds the pointer back at the border between two screens until the motions
/// beyond the border add up to a threshold. It subtracts the threshold from the motion, even from
/// an absolute one. This is the threshold at corners, in pixels. At edges it is 100 pixels, unless
/// the user has set more.
const HELD_BACK: f64 = 2_000.0;

/// An EIS connection. When it ends, the compositor releases pressed keys and buttons.
pub(crate) struct Eis {
    connection: Connection,
    /// The part of the screen that coordinates are relative to: see `Region::mapping`.
    space: Option<String>,
    sequence: u32,
    layout: Option<KnownLayout>,
    /// Asks the compositor for the layout's active group. `Some` if EIS does not report the group.
    pub(crate) group: Option<Box<dyn Fn() -> u32 + Send>>,
    /// Whether the pointer may be in GNOME Shell's hot corner.
    cornered: bool,
}

/// A cached layout. A keyboard's keymap never changes: when the person chooses other layouts, a new
/// keyboard replaces it.
struct KnownLayout {
    keyboard: reis::ei::Device,
    /// The locked modifiers and the group.
    locked: (u32, u32),
    layout: Layout,
}

impl Eis {
    /// Connects over a socket from the compositor, and waits at most 2 s for a keyboard and a
    /// pointer. If `absolute` is not set, a relative pointer suffices, and [`Eis::select`] must
    /// follow before the pointer is used.
    pub(crate) fn connect(socket: OwnedFd, absolute: bool) -> Result<Self> {
        let mut connection = Connection::open(socket, ContextType::Sender)?;
        let ready = |it: &Connection| {
            let mut devices = it.devices.iter().filter(|d| d.resumed);
            let mut keyboards = devices.clone().filter(|d| d.keyboard.is_some());
            let points = |d: &Device| d.absolute.is_some() || !absolute && d.relative.is_some();
            keyboards.next().is_some() && devices.any(points)
        };
        if !connection.until(Instant::now() + PATIENCE, ready)? {
            return Err(Error::Unavailable(
                "the compositor offers no pointer and keyboard within 2 s".into(),
            ));
        }
        Ok(Self {
            connection,
            space: None,
            sequence: 0,
            layout: None,
            group: None,
            cornered: false,
        })
    }

    /// Has the pointer leave GNOME Shell's hot corner before its next motion.
    pub(crate) fn in_a_corner(&mut self) {
        self.cornered = true;
    }

    /// Sets the part of the screen that coordinates are relative to: the mapping of a stream of the
    /// screen cast, or `None` for the screen. Waits at most 2 s until a pointer reaches that part.
    pub(crate) fn select(&mut self, mapping: Option<&str>) -> Result<()> {
        let there = |it: &Connection| {
            let mut devices = it.devices.iter();
            devices.any(|d| d.resumed && d.reaches(mapping))
        };
        if !self.connection.until(Instant::now() + PATIENCE, there)? {
            return Err(DisplayError::OutOfReach.into());
        }
        self.space = mapping.map(str::to_owned);
        Ok(())
    }

    /// Whether the connection is still open.
    pub(crate) fn is_open(&mut self) -> bool {
        self.connection.pump().is_ok()
    }

    /// Whether a pointer reaches the part of the screen with this mapping.
    pub(crate) fn reaches(&mut self, mapping: &str) -> bool {
        let pumped = self.connection.pump();
        let mut devices = self.connection.devices.iter();
        pumped.is_ok() && devices.any(|d| d.resumed && d.reaches(Some(mapping)))
    }

    /// The index of a resumed device that suits. Starts emulation on it.
    fn device(&mut self, what: &str, suits: impl Fn(&Device) -> bool) -> Result<usize> {
        self.connection.pump()?;
        let devices = &mut self.connection.devices;
        let found = devices.iter().position(|d| d.resumed && suits(d));
        let index = found.ok_or_else(|| Error::from(DisplayError::NoDevice(what.to_owned())))?;
        let device = &mut devices[index];
        if !device.emulating {
            self.sequence = self.sequence.wrapping_add(1);
            let serial = self.connection.serial;
            device.proto.start_emulating(serial, self.sequence);
            device.emulating = true;
        }
        Ok(index)
    }

    /// Moves the pointer by these two distances in turn, by relative motions.
    fn shift(&mut self, by: [(f64, f64); 2]) -> Result<()> {
        let index = self.device("pointer", |d| d.relative.is_some())?;
        for (x, y) in by {
            if let Some(pointer) = &self.connection.devices[index].relative {
                pointer.motion_relative(x as f32, y as f32);
            }
            self.frame(index);
        }
        Ok(())
    }

    /// Moves the pointer to this point, even from another screen.
    fn put(&mut self, x: f64, y: f64) -> Result<()> {
        let space = self.space.clone();
        let index = self.device("pointer", |d| d.reaches(space.as_deref()))?;
        let device = &self.connection.devices[index];
        let far = device.to_the_next_region(space.as_deref(), (x, y));
        for _ in 0..far.map_or(1, motions) {
            if let Some(pointer) = &self.connection.devices[index].absolute {
                pointer.motion_absolute(x as f32, y as f32);
            }
            self.frame(index);
        }
        Ok(())
    }

    /// Ends a group of simultaneous events.
    fn frame(&self, device: usize) {
        if let Some(device) = self.connection.devices.get(device) {
            device.proto.frame(self.connection.serial, now());
        }
    }
}

/// Sends single events. Codes are those of `linux/input-event-codes.h`.
impl Eis {
    /// Moves the pointer to this point, and waits until the compositor has processed that.
    pub(crate) fn go(&mut self, x: f64, y: f64) -> Result<()> {
        if std::mem::take(&mut self.cornered) {
            // Mutter's barriers around the corner stop every diagonal motion that starts on them,
            // and the shell then opens its overview. Motions along an axis pass.
            self.shift([(1.0, 0.0), (0.0, 1.0)])?;
        }
        self.put(x, y)?;
        self.connection.sync()
    }

    /// Presses or releases a mouse button.
    pub(crate) fn button(&mut self, code: u32, press: bool) -> Result<()> {
        let space = self.space.clone();
        let here = |d: &Device| d.button.is_some() && d.reaches(space.as_deref());
        let index = self.device("mouse button", here);
        let index = index.or_else(|_| self.device("mouse button", |d| d.button.is_some()))?;
        if let Some(button) = &self.connection.devices[index].button {
            use ButtonState::{Press, Released};
            button.button(code, if press { Press } else { Released });
        }
        self.frame(index);
        self.connection.flush()
    }

    /// Presses or releases a key.
    pub(crate) fn key(&mut self, code: u32, press: bool) -> Result<()> {
        let index = self.device("keyboard", |d| d.keyboard.is_some())?;
        if let Some(keyboard) = &self.connection.devices[index].keyboard {
            use KeyState::{Press, Released};
            keyboard.key(code, if press { Press } else { Released });
        }
        self.frame(index);
        self.connection.flush()
    }

    /// Turns the wheel by a notch, right or down if positive, and waits until the compositor has
    /// processed that.
    pub(crate) fn wheel(&mut self, right: i32, down: i32) -> Result<()> {
        let index = self.device("wheel", |d| d.scroll.is_some())?;
        if let Some(scroll) = &self.connection.devices[index].scroll {
            scroll.scroll_discrete(right * NOTCH, down * NOTCH);
        }
        self.frame(index);
        self.connection.sync()?;
        wait::pause(APART);
        Ok(())
    }

    /// Waits until the compositor has processed the keys and buttons so far.
    pub(crate) fn sync(&mut self) -> Result<()> {
        self.connection.sync()
    }

    /// Moves the pointer to `edge`, and from there twice by `by`: only relative motion crosses a
    /// barrier at the edge of the screen. Does not wait for the compositor.
    pub(crate) fn push_over(&mut self, edge: (f64, f64), by: (f64, f64)) -> Result<()> {
        self.put(edge.0, edge.1)?;
        self.shift([by; 2])?;
        self.connection.flush()
    }

    /// Reads the layout that is active now.
    pub(crate) fn layout(&mut self) -> Result<&Layout> {
        let index = self.device("keyboard", |d| d.keyboard.is_some())?;
        let device = &self.connection.devices[index];
        let (locked, reported) = device.locked;
        let group = self.group.as_ref().map_or(reported, |group| group());
        let is_for =
            |known: &KnownLayout| known.keyboard == device.proto && known.locked == (locked, group);
        if !self.layout.as_ref().is_some_and(is_for) {
            let keymap = device.keymap.as_deref().unwrap_or_default();
            self.layout = Some(KnownLayout {
                keyboard: device.proto.clone(),
                locked: (locked, group),
                layout: Layout::read(keymap, locked, group).ok_or_else(unreadable)?,
            });
        }
        self.known_layout().ok_or_else(unreadable)
    }

    /// The layout as of the last [`Eis::layout`].
    pub(crate) fn known_layout(&self) -> Option<&Layout> {
        self.layout.as_ref().map(|known| &known.layout)
    }
}

/// How many times to repeat a motion to a point that is `far` pixels from the nearest other screen,
/// so that the pointer arrives there from any screen.
fn motions(far: f64) -> usize {
    (HELD_BACK / far.max(1.0)).ceil() as usize + 1
}

/// The time of an event: the monotonic clock, in microseconds.
fn now() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    let (seconds, nanoseconds) = (time.tv_sec.cast_unsigned(), time.tv_nsec.cast_unsigned());
    seconds * 1_000_000 + nanoseconds / 1000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_motions_suffices_to_cross_a_screen_border() {
        assert_eq!(motions(0.0), 2_001);
        assert_eq!(motions(400.0), 6);
        assert_eq!(motions(5_000.0), 2);
    }
}

#[cfg(test)]
#[path = "server_tests.rs"]
mod server_tests;
