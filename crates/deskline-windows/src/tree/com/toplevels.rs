//! Processes and their toplevel windows, as the window system lists them.

use std::ffi::c_void;
use std::mem::size_of;

use deskline_core::Rect;
use windows::Win32::Foundation::{CloseHandle, FILETIME, HWND, LPARAM, RECT};
use windows::Win32::Graphics::Dwm::{
    DWMWA_CLOAKED, DWMWA_EXTENDED_FRAME_BOUNDS, DwmGetWindowAttribute,
};
use windows::Win32::System::Threading::{
    GetProcessTimes, OpenProcess, PROCESS_NAME_WIN32, PROCESS_QUERY_LIMITED_INFORMATION,
    QueryFullProcessImageNameW,
};
use windows::Win32::UI::Input::KeyboardAndMouse::IsWindowEnabled;
use windows::Win32::UI::WindowsAndMessaging::{
    EnumWindows, FindWindowExW, GW_OWNER, GetClassNameW, GetWindow, GetWindowRect, GetWindowTextW,
    GetWindowThreadProcessId, IsIconic, IsWindowVisible,
};
use windows::core::{BOOL, PWSTR, w};

use crate::tree::uia::{Handle, Process, Toplevel};

/// `DWM_CLOAKED_SHELL`: the window is on another virtual desktop.
const CLOAKED_BY_SHELL: u32 = 2;

pub fn handle(window: Handle) -> HWND {
    HWND(window as *mut c_void)
}

/// `None` if it has ended.
pub fn process(pid: u32) -> Option<Process> {
    // SAFETY: the handle is closed once, and the buffers outlive the calls.
    unsafe {
        let process = OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, false, pid).ok()?;
        let mut times = [FILETIME::default(); 4];
        let [started, ended, kernel, user] = &mut times;
        let timed = GetProcessTimes(process, started, ended, kernel, user);
        let mut path = [0_u16; 1024];
        let mut length = path.len() as u32;
        let start = PWSTR(path.as_mut_ptr());
        let named = QueryFullProcessImageNameW(process, PROCESS_NAME_WIN32, start, &mut length);
        let _ = CloseHandle(process);
        timed.ok()?;
        let number =
            |time: FILETIME| u64::from(time.dwHighDateTime) << 32 | u64::from(time.dwLowDateTime);
        // A process that has ended can be opened while something holds it.
        if number(times[1]) != 0 {
            return None;
        }
        let path = String::from_utf16_lossy(path.get(..length as usize).unwrap_or_default());
        let file = path.rsplit(['\\', '/']).next().unwrap_or_default();
        let name = file.rsplit_once('.').map_or(file, |(name, _)| name);
        Some(Process {
            name: named.map(|()| name.to_owned()).unwrap_or_default(),
            started: number(times[0]),
        })
    }
}

/// The toplevels of a process that are not hidden, frontmost first.
pub fn toplevels(pid: u32) -> Vec<Toplevel> {
    struct Found {
        pid: u32,
        toplevels: Vec<Toplevel>,
    }
    unsafe extern "system" fn each(window: HWND, found: LPARAM) -> BOOL {
        // SAFETY: `EnumWindows` passes on the pointer below, within that call.
        let found = unsafe { &mut *(found.0 as *mut Found) };
        found.toplevels.extend(toplevel(window, found.pid));
        true.into()
    }
    let mut found = Found {
        pid,
        toplevels: Vec::new(),
    };
    // SAFETY: `found` outlives the call.
    let _ = unsafe { EnumWindows(Some(each), LPARAM(&raw mut found as isize)) };
    found.toplevels
}

/// The window, if it is of this process and not hidden.
fn toplevel(window: HWND, pid: u32) -> Option<Toplevel> {
    // SAFETY: calls about a window, which may be gone: then they fail.
    unsafe {
        let (owner, thread) = owner_of(window);
        let belongs = owner == pid || core_window(window).is_some_and(|(owner, _)| owner == pid);
        if !belongs || !IsWindowVisible(window).as_bool() {
            return None;
        }
        let cloaked = attribute::<u32>(window, DWMWA_CLOAKED.0).unwrap_or_default();
        if cloaked != 0 && cloaked & CLOAKED_BY_SHELL == 0 {
            return None;
        }
        let mut title = [0_u16; 512];
        let length = GetWindowTextW(window, &mut title).max(0) as usize;
        let above = GetWindow(window, GW_OWNER).ok().filter(|w| !w.is_invalid());
        Some(Toplevel {
            handle: window.0 as Handle,
            title: String::from_utf16_lossy(&title[..length.min(title.len())]),
            extents: extents(window)?,
            on_screen: cloaked == 0 && !IsIconic(window).as_bool(),
            owner: above.map(|window| window.0 as Handle),
            enabled: IsWindowEnabled(window).as_bool(),
            thread,
        })
    }
}

/// The process and the thread of a window.
fn owner_of(window: HWND) -> (u32, u32) {
    let mut pid = 0;
    // SAFETY: `pid` outlives the call.
    let thread = unsafe { GetWindowThreadProcessId(window, Some(&raw mut pid)) };
    (pid, thread)
}

/// A packaged app's window is in a frame of another process.
fn core_window(frame: HWND) -> Option<(u32, u32)> {
    let mut class = [0_u16; 64];
    // SAFETY: calls about a window with a buffer that outlives them.
    unsafe {
        let length = GetClassNameW(frame, &mut class).max(0) as usize;
        if String::from_utf16_lossy(&class[..length.min(class.len())]) != "ApplicationFrameWindow" {
            return None;
        }
        let class = w!("Windows.UI.Core.CoreWindow");
        let content = FindWindowExW(Some(frame), None, class, None).ok()?;
        Some(owner_of(content))
    }
}

/// The bounds without the shadow.
fn extents(window: HWND) -> Option<Rect> {
    let bounds = attribute::<RECT>(window, DWMWA_EXTENDED_FRAME_BOUNDS.0).or_else(|| {
        let mut bounds = RECT::default();
        // SAFETY: `bounds` outlives the call.
        unsafe { GetWindowRect(window, &raw mut bounds) }.ok()?;
        Some(bounds)
    })?;
    let (w, h) = (
        bounds.right.checked_sub(bounds.left)?,
        bounds.bottom.checked_sub(bounds.top)?,
    );
    Rect::new(bounds.left, bounds.top, w, h)
}

fn attribute<T: Default>(window: HWND, attribute: i32) -> Option<T> {
    let mut value = T::default();
    let attribute = windows::Win32::Graphics::Dwm::DWMWINDOWATTRIBUTE(attribute);
    let size = size_of::<T>() as u32;
    // SAFETY: the buffer has the size that is passed, and outlives the call.
    unsafe { DwmGetWindowAttribute(window, attribute, (&raw mut value).cast(), size) }.ok()?;
    Some(value)
}
