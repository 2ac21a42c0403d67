//! Brings windows to the front.

use std::time::{Duration, Instant};

use deskline_link::{Cancel, DisplayError, Result};
use windows::Win32::Foundation::HWND;
use windows::Win32::UI::WindowsAndMessaging::{
    GetLastActivePopup, HWND_TOP, SW_MINIMIZE, SW_RESTORE, SWP_ASYNCWINDOWPOS, SWP_NOACTIVATE,
    SWP_NOMOVE, SWP_NOSIZE, SetForegroundWindow, SetWindowPos, ShowWindowAsync, WS_EX_TOPMOST,
};

use super::windows::{belongs_to, every, exists, front, is_minimised, styles};
use crate::input::send;

/// How long Windows may take to bring a window to the front.
const COMES: Duration = Duration::from_secs(2);

/// How long to wait before a call counts as refused.
const TRIES: Duration = Duration::from_millis(200);

const LOOK: Duration = Duration::from_millis(5);

/// Brings the window to the front and waits until it is there.
///
/// Windows allows that to the process that has sent the last input event, among other rules. So if
/// the plain call is refused, this sends an event that moves the pointer by 0 (as PowerToys does).
pub(crate) fn activate(window: HWND, cancel: &Cancel) -> Result<()> {
    let start = Instant::now();
    let mut ours = false;
    while !is_front(window) {
        cancel.check()?;
        if !exists(window) {
            return Err(DisplayError::Gone.into());
        }
        if start.elapsed() >= COMES {
            return Err(DisplayError::NotRaised(
                "Windows did not let the window come to the front",
                COMES,
            )
            .into());
        }
        if !ours && start.elapsed() >= TRIES {
            ours = true;
            send::nothing()?;
        }
        // SAFETY: a handle may be that of a window that is gone.
        unsafe {
            if is_minimised(window) {
                // Asynchronous, as the app may hang.
                let _ = ShowWindowAsync(window, SW_RESTORE);
            }
            // Keys go to the window's open dialog, if there is one.
            let _ = SetForegroundWindow(GetLastActivePopup(window));
        }
        let tried = Instant::now();
        while !is_front(window) && tried.elapsed() < TRIES {
            cancel.wait(LOOK)?;
        }
    }
    // Windows raises the window too; Wine does not.
    let front = Instant::now();
    while !is_on_top(window) && front.elapsed() < TRIES {
        let flags = SWP_NOMOVE | SWP_NOSIZE | SWP_NOACTIVATE | SWP_ASYNCWINDOWPOS;
        // SAFETY: a handle may be that of a window that is gone.
        let _ = unsafe { SetWindowPos(window, Some(HWND_TOP), 0, 0, 0, 0, flags) };
        cancel.wait(LOOK)?;
    }
    Ok(())
}

/// Whether the window, or its dialog, is above all others that are not always on top.
fn is_on_top(window: HWND) -> bool {
    let mut windows = every().into_iter();
    let first = windows.find(|other| styles(other.handle).1.0 & WS_EX_TOPMOST.0 == 0);
    first.is_none_or(|first| belongs_to(first.handle, window))
}

/// Whether the window, or its dialog, is the foreground window.
fn is_front(window: HWND) -> bool {
    !is_minimised(window) && front().is_some_and(|front| belongs_to(front, window))
}

/// Minimises the window again.
pub(crate) fn minimise(window: HWND) {
    // SAFETY: a handle may be that of a window that is gone.
    let _ = unsafe { ShowWindowAsync(window, SW_MINIMIZE) };
}
