//! Brings windows to the front.

use deskline_contract::{Cancel, DisplayError, Result, wait};
use std::time::{Duration, Instant};

use deskline_core::WindowId;

use super::privilege;
use super::windows::{TOPMOST, belongs_to, every, owner};
use crate::input::send;
use crate::os::{self, front, is_minimised};

/// How long Windows may take to bring a window to the front.
const COMES: Duration = Duration::from_secs(2);

/// How long to wait for the window before the call counts as refused.
const TRIES: Duration = Duration::from_millis(200);

const LOOK: Duration = Duration::from_millis(5);

/// Brings the window to the front and waits until it is there.
///
/// Windows allows this only to some processes, such as the one that has sent the last input event.
/// So if the plain call is refused, this function sends a motion of the pointer by 0 (as PowerToys
/// does).
pub(crate) fn activate(window: WindowId, cancel: &Cancel) -> Result<()> {
    let start = Instant::now();
    let mut ours = false;
    while !is_front(window) {
        cancel.check()?;
        if !os::exists(window) {
            return Err(DisplayError::Gone.into());
        }
        if start.elapsed() >= COMES {
            return Err(refusal().into());
        }
        if !ours && start.elapsed() >= TRIES {
            ours = true;
            send::nothing()?;
        }
        if is_minimised(window) {
            os::restore(window);
        }
        // Brings the window's open dialog, if there is one, as keys go there.
        os::bring(window);
        wait::holds(cancel, TRIES, LOOK, || Ok(is_front(window)))?;
    }
    // By now, Windows has also raised the window above the others, but Wine has not.
    let lift = || {
        Ok(is_on_top(window) || {
            os::lift(window);
            false
        })
    };
    wait::holds(cancel, TRIES, LOOK, lift).map(drop)
}

/// Why Windows keeps another window in front.
fn refusal() -> DisplayError {
    if front().map(owner).is_some_and(privilege::is_above) {
        return DisplayError::NotBroughtUp(
            "Windows kept another window in front: that window belongs to a program that runs as \
             administrator and accepts no input from other programs. Ask the user to put another \
             window in front, or to start Deskline's client as administrator",
        );
    }
    DisplayError::NotRaised(
        "Windows did not let the window come to the front (it never does while the user has a menu open)",
        COMES,
    )
}

/// Whether the window, or its dialog, is above all others, except windows that are always on top.
fn is_on_top(window: WindowId) -> bool {
    let mut windows = every().into_iter();
    let first = windows.find(|other| os::styles(*other).extended & TOPMOST == 0);
    first.is_none_or(|first| belongs_to(first, window))
}

/// Whether the window, or its dialog, is the foreground window.
fn is_front(window: WindowId) -> bool {
    !is_minimised(window) && front().is_some_and(|front| belongs_to(front, window))
}
