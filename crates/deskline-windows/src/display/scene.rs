//! Checks where input goes.

use deskline_contract::{Error, Result, wait};
use std::time::{Duration, Instant};

use deskline_core::{Point, WindowId};
use deskline_input::{
    Aim, Cancel, Doing, Hands, InputError, Progress, Receiver, Rhythm, Scene, Tempo, Under, Wait,
};

use super::WinDisplay;
use super::privilege::{self, ELEVATED};
use super::windows::{Kind, belongs_to, describe, kind, owner};
use crate::input::keys::WinKey;
use crate::input::{Input, RHYTHM};
use crate::os::{self, at, front};

/// How long there may be no foreground window while the keyboard focus moves to another window.
const BETWEEN: Duration = Duration::from_millis(200);

const LOOK: Duration = Duration::from_millis(5);

/// How long an app may take to answer `WM_NULL`.
const ANSWERS: Duration = Duration::from_secs(2);

/// How many `WM_NULL` to send after input. A sent message is handled before posted ones and input,
/// and each turn of an app's loop handles one posted message or input event. So the last answer
/// comes after a click has been handled, and after the messages that the app then posts to itself.
const TURNS: usize = 8;

/// How long the app may take for all [`TURNS`]. If it takes longer, the link goes on, and waits
/// until the app has settled.
const TAKES: Duration = Duration::from_millis(300);

/// How long to wait for an answer between two checks of the cancel flag.
const SLICE: Duration = Duration::from_millis(50);

/// The classes of text fields that, if a character comes too soon, repeat the previous character
/// instead: Notepad's field in Windows 11, and the fields of WinUI and of apps from the Store.
const SLOW: [&str; 4] = [
    "RichEditD2DPT",
    "Windows.UI.Input.InputSite.WindowClass",
    "Windows.UI.Core.CoreWindow",
    "ApplicationFrameInputSinkWindow",
];

/// The pause after each character in a field of [`SLOW`]. For Notepad, 15 ms are too short, and 20
/// ms are enough (rustdesk #15243).
const TAKES_A_CHARACTER: Duration = Duration::from_millis(25);

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
        let keys = if SLOW.contains(&os::focused_class().as_str()) {
            Tempo::Each(TAKES_A_CHARACTER)
        } else {
            RHYTHM.keys
        };
        Rhythm { keys, ..RHYTHM }
    }

    fn begin(&mut self, _: Doing) -> Result<()> {
        self.reader = None;
        Ok(())
    }

    /// Waits until the app has handled the input, so that a tree that is read next shows the
    /// effect.
    fn end(&mut self) -> Result<()> {
        let Some(window) = self.reader.or_else(front) else {
            return Ok(());
        };
        let start = Instant::now();
        for _ in 0..TURNS {
            let left = TAKES.saturating_sub(start.elapsed());
            if left.is_zero() || !os::takes_message(window, left) {
                break;
            }
        }
        Ok(())
    }

    fn keyboard(&mut self, cancel: &Cancel) -> Result<Receiver> {
        if let Some(why) = privilege::kept_out() {
            return Ok(Receiver::Unclear(why.into()));
        }
        let Some(window) = wait::until(cancel, BETWEEN, LOOK, || Ok(front()))? else {
            return Ok(Receiver::Nobody);
        };
        let pid = owner(window);
        Ok(match self.hands.aim {
            Some(aim) if pid != aim.pid => Receiver::Other(describe(window)),
            _ if privilege::is_above(pid) => Receiver::Unclear(ELEVATED.into()),
            _ => Receiver::Target,
        })
    }

    fn under(&mut self, point: Point, end: Option<Point>, _: &Cancel) -> Result<Under> {
        let Some(aim) = self.hands.aim else {
            return Ok(Under::Target);
        };
        // Windows would drop the events without an error.
        let kept_out = privilege::kept_out();
        if let Some(why) = kept_out.or_else(|| privilege::is_above(aim.pid).then_some(ELEVATED)) {
            let (why, progress) = (why.to_owned(), Progress::NothingSent);
            return Err(InputError::Unclear { why, progress }.into());
        }
        self.reader = at(point);
        if let Some(stranger) = self.reader.filter(|window| !is_of(*window, aim)) {
            return Ok(Under::Other(describe(stranger)));
        }
        let stranger = end
            .and_then(at)
            .filter(|window| !is_of(*window, aim.at_end()));
        Ok(stranger.map_or(Under::Target, |window| Under::EndOther(describe(window))))
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

fn answers(window: WindowId, cancel: &Cancel) -> Result<bool> {
    let start = Instant::now();
    loop {
        let asked = Instant::now();
        // The key may have closed the window that received it, such as a dialog.
        if os::takes_message(window, SLICE) || !os::exists(window) {
            return Ok(true);
        }
        // `takes_message` fails at once for a window that Windows calls hung.
        if asked.elapsed() < SLICE / 2 || start.elapsed() >= ANSWERS {
            return Ok(false);
        }
        cancel.check()?;
    }
}

/// Whether this window is the target, its dialog or its menu.
fn is_of(window: WindowId, aim: Aim) -> bool {
    if owner(window) != aim.pid {
        return false;
    }
    let Some(wanted) = aim.window else {
        return true;
    };
    belongs_to(window, wanted) || matches!(kind(window), Kind::Menu | Kind::Nothing)
}
