//! Windows, the pointer and pictures. Coordinates are physical pixels everywhere: the process is
//! aware of each monitor's scale.

mod display;
pub(crate) mod monitors;
pub mod picture;
pub(crate) mod privilege;
mod raise;
mod scene;
pub(crate) mod windows;

pub use display::WinDisplay;

use ::windows::Win32::Foundation::{HWND, POINT, RECT};
use ::windows::Win32::UI::HiDpi::{
    DPI_AWARENESS_CONTEXT_PER_MONITOR_AWARE_V2, SetProcessDpiAwarenessContext,
};
use ::windows::Win32::UI::WindowsAndMessaging::{
    GetCursorPos, GetSystemMetrics, SM_CXVIRTUALSCREEN, SM_CYVIRTUALSCREEN, SM_XVIRTUALSCREEN,
    SM_YVIRTUALSCREEN,
};
use deskline_core::{Point, WindowId};
use deskline_link::{Error, Result};

/// Makes this process aware of each monitor's scale. Called once, before anything else.
pub fn become_aware() {
    // SAFETY: takes a constant. Fails if the manifest has declared it already.
    let _ = unsafe { SetProcessDpiAwarenessContext(DPI_AWARENESS_CONTEXT_PER_MONITOR_AWARE_V2) };
}

pub(crate) fn handle(window: WindowId) -> HWND {
    HWND(std::ptr::with_exposed_provenance_mut(window.0 as usize))
}

pub(crate) fn id(window: HWND) -> WindowId {
    WindowId(window.0.expose_provenance() as u64)
}

/// The pointer's position.
///
/// # Errors
/// While another desktop, such as the lock screen, is on the screen.
pub fn pointer() -> Result<Point> {
    let mut at = POINT::default();
    // SAFETY: the point outlives the call.
    unsafe { GetCursorPos(&raw mut at) }
        .map_err(Error::system("reading the pointer's position"))?;
    Ok(Point { x: at.x, y: at.y })
}

/// The bounds of all monitors together.
pub(crate) fn screen() -> RECT {
    // SAFETY: these take constants.
    let [left, top, width, height] = unsafe {
        [
            SM_XVIRTUALSCREEN,
            SM_YVIRTUALSCREEN,
            SM_CXVIRTUALSCREEN,
            SM_CYVIRTUALSCREEN,
        ]
        .map(|metric| GetSystemMetrics(metric))
    };
    RECT {
        left,
        top,
        right: left + width,
        bottom: top + height,
    }
}
