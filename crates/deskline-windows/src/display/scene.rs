//! Checks where input goes.

use std::time::{Duration, Instant};

use deskline_core::Point;
use deskline_input::{Aim, Cancel, Doing, Hands, Other, Receiver, Rhythm, Scene, Under, Wait};
use deskline_link::{Error, Result};
use windows::Win32::Foundation::{HWND, LPARAM, WPARAM};
use windows::Win32::UI::WindowsAndMessaging::{SMTO_ABORTIFHUNG, SendMessageTimeoutW, WM_NULL};

use super::windows::{Kind, at, belongs_to, front, kind, owner, title};
use super::{WinDisplay, handle, privilege};
use crate::input::keys::WinKey;
use crate::input::{Input, RHYTHM};

/// How long there may be no foreground window while the keyboard moves to another one.
const BETWEEN: Duration = Duration::from_millis(200);

const LOOK: Duration = Duration::from_millis(5);

/// How long an app may take to answer `WM_NULL`.
const ANSWERS: Duration = Duration::from_secs(2);

/// How long to wait for that between two checks of the cancel flag.
const SLICE: Duration = Duration::from_millis(50);

impl Scene for WinDisplay {
    type Error = Error;
    type Key = WinKey;
    type Port<'p>
        = &'p mut Input
    where
        Self: 'p;

    fn port(&mut self) -> Result<&mut Input> {
        Ok(&mut self.input)
    }

    fn hands(&mut self) -> &mut Hands<WinKey> {
        &mut self.hands
    }

    fn rhythm(&self) -> Rhythm {
        RHYTHM
    }

    fn begin(&mut self, _: Doing) -> Result<()> {
        Ok(())
    }

    fn end(&mut self) -> Result<()> {
        Ok(())
    }

    // The guard lets this program's events through.
    fn open(&mut self) -> Result<()> {
        Ok(())
    }

    fn close(&mut self) -> Result<()> {
        Ok(())
    }

    fn keyboard(&mut self, aim: Option<Aim>, cancel: &Cancel) -> Result<Receiver> {
        if let Some(why) = privilege::kept_out() {
            return Ok(Receiver::Unclear(why.into()));
        }
        let start = Instant::now();
        let window = loop {
            match front() {
                Some(window) => break window,
                None if start.elapsed() >= BETWEEN => return Ok(Receiver::Nobody),
                None => cancel.wait(LOOK)?,
            }
        };
        let pid = owner(window);
        Ok(match aim {
            Some(aim) if pid != aim.pid => Receiver::Other(other(window)),
            _ if privilege::is_above(pid) => Receiver::Unclear(ELEVATED.into()),
            _ => Receiver::Target,
        })
    }

    fn under(
        &mut self,
        point: Point,
        end: Option<Point>,
        aim: Option<Aim>,
        _: &Cancel,
    ) -> Result<Under> {
        let Some(aim) = aim else {
            return Ok(Under::Target);
        };
        self.reader = at(point);
        if let Some(stranger) = self.reader.filter(|window| !is_of(*window, aim)) {
            return Ok(Under::Other(other(stranger)));
        }
        let stranger = end
            .and_then(at)
            .filter(|window| !is_of(*window, aim.at_end()));
        Ok(stranger.map_or(Under::Target, |window| Under::EndOther(other(window))))
    }

    // Only a program in which a button is down can capture clicks (`SetCapture`).
    fn grabber(&mut self, _: Option<Aim>, _: &Cancel) -> Result<Option<String>> {
        Ok(None)
    }

    /// Windows has no way to ask whether an app has read its input. An app that answers a message
    /// runs the loop that reads input too.
    fn await_reader(&mut self, wait: Wait, cancel: &Cancel) -> Result<bool> {
        let window = match wait {
            Wait::Part | Wait::Effect | Wait::All => front(),
            Wait::Wheel | Wait::Motion => self.reader,
            Wait::Drop(point) => at(point),
        };
        window.map_or(Ok(true), |window| answers(window, cancel))
    }
}

const ELEVATED: &str = "the window is of a program that runs as administrator, and Windows keeps \
                        the input of other programs from it: have the user start Deskline's client \
                        as administrator too, or do this step themselves";

fn answers(window: HWND, cancel: &Cancel) -> Result<bool> {
    let start = Instant::now();
    loop {
        let asked = Instant::now();
        // SAFETY: a message without data; a handle may be that of a window that is gone.
        let answered = unsafe {
            let (flags, ms) = (SMTO_ABORTIFHUNG, SLICE.as_millis() as u32);
            SendMessageTimeoutW(window, WM_NULL, WPARAM(0), LPARAM(0), flags, ms, None)
        };
        if answered.0 != 0 {
            return Ok(true);
        }
        // The call fails at once for a window that Windows calls hung.
        if asked.elapsed() < SLICE / 2 || start.elapsed() >= ANSWERS {
            return Ok(false);
        }
        cancel.check()?;
    }
}

/// Whether this window is the target, its dialog or its menu.
fn is_of(window: HWND, aim: Aim) -> bool {
    if owner(window) != aim.pid {
        return false;
    }
    let Some(wanted) = aim.window.map(handle) else {
        return true;
    };
    belongs_to(window, wanted) || matches!(kind(window), Kind::Menu | Kind::Nothing)
}

fn other(window: HWND) -> Other {
    Other {
        title: title(window),
        pid: owner(window),
    }
}
