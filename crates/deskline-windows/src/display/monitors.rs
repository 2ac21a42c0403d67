//! The monitors, and their scales.

use deskline_core::Rect;
use windows::Win32::Foundation::{LPARAM, RECT};
use windows::Win32::Graphics::Gdi::{
    EnumDisplayMonitors, GetMonitorInfoW, HDC, HMONITOR, MONITOR_DEFAULTTOPRIMARY, MONITORINFO,
    MonitorFromRect,
};
use windows::Win32::UI::HiDpi::{GetDpiForMonitor, MDT_EFFECTIVE_DPI};
use windows::core::BOOL;

use crate::os::to_rect;

/// The area of a monitor without the task bars, and the monitor's scale, which is 1.0 for 96 dpi.
type Monitor = (Rect, f64);

/// The monitor that contains most of `place`. The primary monitor if there is no place, or if no
/// monitor contains any of it.
pub(crate) fn containing(place: Option<Rect>) -> Monitor {
    let place = place.map_or(RECT::default(), |place| RECT {
        left: place.x,
        top: place.y,
        right: place.x.saturating_add(place.w),
        bottom: place.y.saturating_add(place.h),
    });
    // SAFETY: the rectangle outlives the call.
    describe(unsafe { MonitorFromRect(&raw const place, MONITOR_DEFAULTTOPRIMARY) })
}

/// Every monitor.
pub fn all() -> Vec<Monitor> {
    let mut all: Vec<Monitor> = Vec::new();
    let list = LPARAM(&raw mut all as isize);
    // SAFETY: the list outlives the call, which alone uses it.
    let _ = unsafe { EnumDisplayMonitors(None, None, Some(add), list) };
    all
}

unsafe extern "system" fn add(monitor: HMONITOR, _: HDC, _: *mut RECT, list: LPARAM) -> BOOL {
    // SAFETY: the address of `all`'s list, which outlives this call.
    unsafe { (*(list.0 as *mut Vec<Monitor>)).push(describe(monitor)) };
    true.into()
}

fn describe(monitor: HMONITOR) -> Monitor {
    let mut info = MONITORINFO {
        cbSize: size_of::<MONITORINFO>() as u32,
        ..MONITORINFO::default()
    };
    let (mut across, mut down) = (96, 96);
    // SAFETY: the numbers and the structure outlive the calls.
    unsafe {
        let _ = GetMonitorInfoW(monitor, &raw mut info);
        let _ = GetDpiForMonitor(monitor, MDT_EFFECTIVE_DPI, &raw mut across, &raw mut down);
    }
    (to_rect(info.rcWork), f64::from(across.max(96)) / 96.0)
}
