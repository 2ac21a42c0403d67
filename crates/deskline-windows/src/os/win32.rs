//! Implements the calls on Windows.

use std::ffi::c_void;
use std::time::Duration;

use deskline_contract::{Error, Identity, Result};
use deskline_core::{Point, Rect, WindowId};
use windows::Win32::Foundation::{ERROR_ACCESS_DENIED, HANDLE, HWND, LPARAM, POINT, RECT, WPARAM};
use windows::Win32::Graphics::Dwm::{
    DWMWA_CLOAKED, DWMWA_EXTENDED_FRAME_BOUNDS, DWMWINDOWATTRIBUTE, DwmGetWindowAttribute,
};
use windows::Win32::Security::{
    GetSidSubAuthority, GetSidSubAuthorityCount, GetTokenInformation, TOKEN_MANDATORY_LABEL,
    TOKEN_QUERY, TokenIntegrityLevel,
};
use windows::Win32::System::StationsAndDesktops::{
    CloseDesktop, DESKTOP_CONTROL_FLAGS, DESKTOP_READOBJECTS, GetUserObjectInformationW, HDESK,
    OpenInputDesktop, UOI_NAME,
};
use windows::Win32::System::Threading::{
    OpenProcess, OpenProcessToken, PROCESS_QUERY_LIMITED_INFORMATION,
};
use windows::Win32::UI::HiDpi::{
    DPI_AWARENESS_CONTEXT_PER_MONITOR_AWARE_V2, SetProcessDpiAwarenessContext,
};
use windows::Win32::UI::Input::KeyboardAndMouse::IsWindowEnabled;
use windows::Win32::UI::WindowsAndMessaging::{
    EnumWindows, FindWindowExW, GA_ROOT, GUITHREADINFO, GW_OWNER, GWL_EXSTYLE, GWL_STYLE,
    GetAncestor, GetClassNameW, GetCursorPos, GetForegroundWindow, GetGUIThreadInfo,
    GetLastActivePopup, GetPropW, GetSystemMetrics, GetWindow, GetWindowLongPtrW, GetWindowRect,
    GetWindowThreadProcessId, HWND_TOP, InternalGetWindowText, IsIconic, IsWindow, IsWindowVisible,
    SM_CXVIRTUALSCREEN, SM_CYVIRTUALSCREEN, SM_XVIRTUALSCREEN, SM_YVIRTUALSCREEN, SMTO_ABORTIFHUNG,
    SW_MINIMIZE, SW_RESTORE, SWP_ASYNCWINDOWPOS, SWP_NOACTIVATE, SWP_NOMOVE, SWP_NOSIZE,
    SendMessageTimeoutW, SetForegroundWindow, SetWindowPos, ShowWindowAsync, WM_NULL,
    WindowFromPoint,
};
use windows::core::{BOOL, Owned, w};

use super::{Integrity, Styles};
use crate::process;
use crate::tree::uia::Process;

/// Makes this process aware of each monitor's scale. Called once, before anything else.
pub fn become_aware() {
    // SAFETY: the argument is a constant. Fails if the manifest has declared it already.
    let _ = unsafe { SetProcessDpiAwarenessContext(DPI_AWARENESS_CONTEXT_PER_MONITOR_AWARE_V2) };
}

pub(crate) fn handle(window: WindowId) -> HWND {
    HWND(std::ptr::with_exposed_provenance_mut(window.0 as usize))
}

pub(crate) fn id(window: HWND) -> WindowId {
    WindowId(window.0.expose_provenance() as u64)
}

fn some(window: HWND) -> Option<WindowId> {
    (!window.is_invalid()).then(|| id(window))
}

/// Calls with the handle of a window, which may be gone.
macro_rules! calls {
    ($($(#[$doc:meta])* $name:ident($window:ident) $(-> $kind:ty)? { $call:expr })*) => {$(
        $(#[$doc])*
        pub(crate) fn $name(window: WindowId) $(-> $kind)? {
            let $window = handle(window);
            // SAFETY: any handle is allowed.
            unsafe { $call }
        }
    )*};
}

calls! {
    is_visible(window) -> bool { IsWindowVisible(window).as_bool() }
    is_minimised(window) -> bool { IsIconic(window).as_bool() }
    exists(window) -> bool { IsWindow(Some(window)).as_bool() }
    is_enabled(window) -> bool { IsWindowEnabled(window).as_bool() }
    /// The owner of a window, for example of a dialog. Windows keeps an owned window in front of
    /// its owner.
    owning(window) -> Option<WindowId> { some(GetWindow(window, GW_OWNER).ok()?) }
    /// Asks Windows to bring the window, or its open dialog, to the front. Windows reports success
    /// even if it has only made the taskbar's button flash.
    bring(window) { _ = SetForegroundWindow(GetLastActivePopup(window)) }
    /// Puts the window above the others of its kind, without bringing it to the front.
    lift(window) {
        _ = SetWindowPos(window, Some(HWND_TOP), 0, 0, 0, 0,
            SWP_NOMOVE | SWP_NOSIZE | SWP_NOACTIVATE | SWP_ASYNCWINDOWPOS)
    }
    /// Asynchronous, as the app may hang.
    restore(window) { _ = ShowWindowAsync(window, SW_RESTORE) }
    /// Asynchronous, as the app may hang.
    minimise(window) { _ = ShowWindowAsync(window, SW_MINIMIZE) }
}

/// All toplevel windows, including hidden ones, frontmost first.
pub(crate) fn all() -> Vec<WindowId> {
    let mut windows: Vec<WindowId> = Vec::new();
    let list = &raw mut windows;
    // SAFETY: the list outlives the call, which alone uses it.
    let listed = unsafe { EnumWindows(Some(add), LPARAM(list as isize)) };
    if let Err(error) = listed {
        tracing::debug!(%error, "the list of windows is incomplete");
    }
    windows
}

unsafe extern "system" fn add(window: HWND, list: LPARAM) -> BOOL {
    // SAFETY: the address of `all`'s list, which outlives this call.
    unsafe { (*(list.0 as *mut Vec<WindowId>)).push(id(window)) };
    true.into()
}

/// The reason why the compositor hides the window (`DWM_CLOAKED_…`), or 0.
pub(crate) fn cloaked(window: WindowId) -> u32 {
    let mut cloaked = 0;
    attribute(window, DWMWA_CLOAKED, &mut cloaked);
    cloaked
}

/// `ApplicationViewCloakType`, a property that the shell gives a frame of an app from the Store: 1
/// if no app runs in the frame. The property is not documented.
pub(crate) fn view_cloak(window: WindowId) -> usize {
    // SAFETY: the name is a constant; the value is a number, not a handle.
    unsafe { GetPropW(handle(window), w!("ApplicationViewCloakType")) }
        .0
        .addr()
}

/// Reads an attribute of a window from the compositor. `false` if the window does not have it.
fn attribute<T>(window: WindowId, which: DWMWINDOWATTRIBUTE, value: &mut T) -> bool {
    let place = std::ptr::from_mut(value).cast::<c_void>();
    // SAFETY: the call gets the size of the value.
    unsafe { DwmGetWindowAttribute(handle(window), which, place, size_of::<T>() as u32) }.is_ok()
}

pub(crate) fn process_and_thread(window: WindowId) -> (u32, u32) {
    let mut pid = 0;
    // SAFETY: the number outlives the call.
    let thread = unsafe { GetWindowThreadProcessId(handle(window), Some(&raw mut pid)) };
    (pid, thread)
}

/// The window of a Store app, which lies inside this frame window of the shell.
pub(crate) fn core_window(frame: WindowId) -> Option<WindowId> {
    let class = w!("Windows.UI.Core.CoreWindow");
    // SAFETY: the text is a constant.
    some(unsafe { FindWindowExW(Some(handle(frame)), None, class, None) }.ok()?)
}

pub(crate) fn class(window: WindowId) -> String {
    let mut units = [0; 256];
    // SAFETY: the call is given the buffer's length.
    unsafe { GetClassNameW(handle(window), &mut units) };
    text(&units)
}

/// The title, read without a message to the window's process, which may hang.
pub(crate) fn title(window: WindowId) -> String {
    let mut units = [0; 512];
    // SAFETY: the call is given the buffer's length.
    unsafe { InternalGetWindowText(handle(window), &mut units) };
    text(&units)
}

pub(crate) fn styles(window: WindowId) -> Styles {
    // SAFETY: reads two numbers; 0 for a window that is gone.
    unsafe {
        Styles {
            plain: GetWindowLongPtrW(handle(window), GWL_STYLE) as u32,
            extended: GetWindowLongPtrW(handle(window), GWL_EXSTYLE) as u32,
        }
    }
}

/// The bounds with the invisible resize borders.
pub(crate) fn outer(window: WindowId) -> Option<Rect> {
    let mut rect = RECT::default();
    // SAFETY: the rectangle outlives the call.
    unsafe { GetWindowRect(handle(window), &raw mut rect) }.ok()?;
    Some(to_rect(rect))
}

/// The bounds as the compositor draws them.
pub(crate) fn frame(window: WindowId) -> Option<Rect> {
    let mut rect = RECT::default();
    let known = attribute(window, DWMWA_EXTENDED_FRAME_BOUNDS, &mut rect);
    (known && rect.right > rect.left).then(|| to_rect(rect))
}

pub(crate) fn to_rect(rect: RECT) -> Rect {
    Rect {
        x: rect.left,
        y: rect.top,
        w: rect.right.saturating_sub(rect.left),
        h: rect.bottom.saturating_sub(rect.top),
    }
}

/// The foreground window, which receives keys.
pub(crate) fn front() -> Option<WindowId> {
    // SAFETY: the function takes no arguments.
    some(unsafe { GetForegroundWindow() })
}

/// The class of the window with the focus, in the foreground window or below it.
pub(crate) fn focused_class() -> String {
    let mut threads = GUITHREADINFO {
        cbSize: size_of::<GUITHREADINFO>() as u32,
        ..GUITHREADINFO::default()
    };
    // SAFETY: the structure has its size; thread 0 is that of the foreground window.
    let known = unsafe { GetGUIThreadInfo(0, &raw mut threads) };
    known
        .ok()
        .and_then(|()| some(threads.hwndFocus))
        .map(class)
        .unwrap_or_default()
}

/// The toplevel window at a point.
pub(crate) fn at(point: Point) -> Option<WindowId> {
    let Point { x, y } = point;
    // SAFETY: the arguments are numbers, and a handle that Windows has just returned.
    unsafe {
        let window = some(WindowFromPoint(POINT { x, y }))?;
        some(GetAncestor(handle(window), GA_ROOT))
    }
}

/// Whether the thread of the window takes a message within this time. Fails at once for a window
/// that Windows calls hung.
pub(crate) fn takes_message(window: WindowId, time: Duration) -> bool {
    let (flags, ms) = (SMTO_ABORTIFHUNG, time.as_millis() as u32);
    let (window, none) = (handle(window), WPARAM(0));
    // SAFETY: a message without data; the call allows the handle of a window that is gone.
    let answered =
        unsafe { SendMessageTimeoutW(window, WM_NULL, none, LPARAM(0), flags, ms, None) };
    answered.0 != 0
}

/// The pointer's position.
///
/// # Errors
/// While another desktop, such as the lock screen, is on the screen.
pub(crate) fn pointer() -> Result<Point> {
    let mut at = POINT::default();
    // SAFETY: the point outlives the call.
    unsafe { GetCursorPos(&raw mut at) }
        .map_err(Error::system("reading the pointer's position"))?;
    Ok(Point { x: at.x, y: at.y })
}

/// The bounds of all monitors together.
pub(crate) fn screen() -> Rect {
    // SAFETY: the arguments are constants.
    let [x, y, w, h] = unsafe {
        [
            SM_XVIRTUALSCREEN,
            SM_YVIRTUALSCREEN,
            SM_CXVIRTUALSCREEN,
            SM_CYVIRTUALSCREEN,
        ]
        .map(|metric| GetSystemMetrics(metric))
    };
    Rect { x, y, w, h }
}

/// The integrity level of a process.
pub(crate) fn integrity(pid: u32) -> Integrity {
    // SAFETY: the handle is closed once.
    let process = unsafe { OpenProcess(PROCESS_QUERY_LIMITED_INFORMATION, false, pid) };
    // SAFETY: as above.
    let process = process.map(|process| unsafe { Owned::new(process) });
    match process.and_then(|process| level(*process)) {
        Ok(level) => Integrity::Level(level),
        Err(error) if error.code() == ERROR_ACCESS_DENIED.to_hresult() => Integrity::Denied,
        Err(_) => Integrity::Gone,
    }
}

fn level(process: HANDLE) -> windows::core::Result<u32> {
    let mut buffer = [0_u64; 16];
    let mut length = 0;
    // SAFETY: the buffer is aligned, and the call gets its size; the SID lies in the buffer, and
    // has at least one part.
    unsafe {
        let mut token = HANDLE::default();
        OpenProcessToken(process, TOKEN_QUERY, &raw mut token)?;
        let token = Owned::new(token);
        let start = buffer.as_mut_ptr().cast::<c_void>();
        let size = size_of_val(&buffer) as u32;
        let which = TokenIntegrityLevel;
        GetTokenInformation(*token, which, Some(start), size, &raw mut length)?;
        let sid = (*start.cast::<TOKEN_MANDATORY_LABEL>()).Label.Sid;
        let last = u32::from(*GetSidSubAuthorityCount(sid)).saturating_sub(1);
        Ok(*GetSidSubAuthority(sid, last))
    }
}

/// The name of the desktop that takes input; empty if the desktop has no name. `None` if this
/// process may not open the desktop, as is the case for the secure desktop.
pub(crate) fn input_desktop() -> Option<String> {
    // SAFETY: the handle is closed once.
    unsafe {
        let desktop =
            OpenInputDesktop(DESKTOP_CONTROL_FLAGS(0), false, DESKTOP_READOBJECTS).ok()?;
        let name = name_of(desktop);
        let _ = CloseDesktop(desktop);
        Some(name)
    }
}

/// The name of a desktop; empty if the desktop has no name.
pub(crate) fn name_of(desktop: HDESK) -> String {
    let mut name = [0_u16; 64];
    let start = name.as_mut_ptr().cast::<c_void>();
    let size = size_of_val(&name) as u32;
    // SAFETY: the call gets the size of the buffer.
    let _ =
        unsafe { GetUserObjectInformationW(HANDLE(desktop.0), UOI_NAME, Some(start), size, None) };
    text(&name)
}

/// Decodes a null-terminated string.
pub(crate) fn text(units: &[u16]) -> String {
    let end = units.iter().position(|unit| *unit == 0);
    String::from_utf16_lossy(&units[..end.unwrap_or(units.len())])
}

/// `None` if the process has ended.
pub(crate) fn process(pid: u32) -> Option<Process> {
    let process = process::Process::open(pid)?;
    // A process that has ended can be opened while another program holds a handle to it.
    if process.status().is_some() {
        return None;
    }
    Some(Process {
        name: process::stem(&process.path().unwrap_or_default()),
        started: process.times()?.started,
    })
}

pub(crate) fn computed(pid: u32) -> Option<Duration> {
    Some(process::Process::open(pid)?.times()?.ran())
}

pub(crate) fn known_as(pid: u32) -> Identity {
    let path = process::Process::open(pid).and_then(|process| process.path());
    path.as_deref().map(process::identity).unwrap_or_default()
}

pub(crate) use process::{name, session};
