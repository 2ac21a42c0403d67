//! Lists windows, and finds their processes and kinds.

use std::ffi::c_void;

use deskline_core::{Point, Rect};
use deskline_link::{Window, WindowState, display::Place};
use windows::Win32::Foundation::{HWND, LPARAM, POINT, RECT};
use windows::Win32::Graphics::Dwm::{
    DWMWA_CLOAKED, DWMWA_EXTENDED_FRAME_BOUNDS, DWMWINDOWATTRIBUTE, DwmGetWindowAttribute,
};
use windows::Win32::UI::WindowsAndMessaging::{
    EnumWindows, FindWindowExW, GA_ROOT, GW_OWNER, GWL_EXSTYLE, GWL_STYLE, GetAncestor,
    GetClassNameW, GetForegroundWindow, GetWindow, GetWindowLongPtrW, GetWindowRect,
    GetWindowThreadProcessId, InternalGetWindowText, IsIconic, IsWindow, IsWindowVisible,
    WINDOW_EX_STYLE, WINDOW_STYLE, WS_CAPTION, WS_EX_APPWINDOW, WS_EX_NOACTIVATE, WS_EX_TOOLWINDOW,
    WS_EX_TRANSPARENT, WindowFromPoint,
};
use windows::core::{BOOL, w};

use super::id;

/// The classes of menus.
const MENU: &str = "#32768";

/// The frame that draws the title bar of an app from the Store. The app's own window is in it.
const FRAME: &str = "ApplicationFrameWindow";

/// Classes of the desktop's own parts: the windows with the icons, and the task bars.
const DESKTOPS: [&str; 2] = ["Progman", "WorkerW"];
const PANELS: [&str; 2] = ["Shell_TrayWnd", "Shell_SecondaryTrayWnd"];

/// Classes of helper windows, which a person does not regard as windows.
const HELPERS: [&str; 4] = ["tooltips_class32", "IME", "MSCTFIME UI", "SysShadow"];

#[derive(Debug, Clone, Copy)]
pub struct Toplevel {
    pub(crate) handle: HWND,
    pub(crate) pid: u32,
}

/// All toplevel windows, including hidden ones, frontmost first.
pub(crate) fn all() -> Vec<HWND> {
    let mut handles: Vec<HWND> = Vec::new();
    let list = &raw mut handles;
    // SAFETY: the list outlives the call, which alone uses it.
    let listed = unsafe { EnumWindows(Some(add), LPARAM(list as isize)) };
    if let Err(error) = listed {
        tracing::debug!(%error, "the list of windows is incomplete");
    }
    handles
}

unsafe extern "system" fn add(window: HWND, list: LPARAM) -> BOOL {
    // SAFETY: the address of `all`'s list, which outlives this call.
    unsafe { (*(list.0 as *mut Vec<HWND>)).push(window) };
    true.into()
}

/// All visible or minimised toplevel windows, including menus, frontmost first.
pub(crate) fn toplevels() -> Vec<Toplevel> {
    let mut handles = all();
    handles.retain(|window| is_visible(*window) && cloaked(*window) == 0);
    let toplevel = |handle| Toplevel {
        handle,
        pid: owner(handle),
    };
    handles.into_iter().map(toplevel).collect()
}

pub(crate) fn is_visible(window: HWND) -> bool {
    // SAFETY: a handle may be that of a window that is gone.
    unsafe { IsWindowVisible(window).as_bool() }
}

/// The reason why the compositor hides the window (`DWM_CLOAKED_…`), or 0.
pub(crate) fn cloaked(window: HWND) -> u32 {
    let mut cloaked = 0;
    attribute(window, DWMWA_CLOAKED, &mut cloaked);
    cloaked
}

/// Reads an attribute from the compositor. `false` if it has none.
fn attribute<T>(window: HWND, which: DWMWINDOWATTRIBUTE, value: &mut T) -> bool {
    let place = std::ptr::from_mut(value).cast::<c_void>();
    // SAFETY: the value is as large as the call is given.
    unsafe { DwmGetWindowAttribute(window, which, place, size_of::<T>() as u32) }.is_ok()
}

fn process_and_thread(window: HWND) -> (u32, u32) {
    let mut pid = 0;
    // SAFETY: the number outlives the call.
    let thread = unsafe { GetWindowThreadProcessId(window, Some(&raw mut pid)) };
    (pid, thread)
}

/// The thread that runs the window's message loop.
pub(crate) fn thread(window: HWND) -> u32 {
    process_and_thread(window).1
}

/// The window's process. For a Store app's frame, the process of the app inside.
pub(crate) fn owner(window: HWND) -> u32 {
    let pid = |window| process_and_thread(window).0;
    if class(window) == FRAME {
        // SAFETY: the texts are constants.
        let core =
            unsafe { FindWindowExW(Some(window), None, w!("Windows.UI.Core.CoreWindow"), None) };
        if let Ok(core) = core {
            return pid(core);
        }
    }
    pid(window)
}

pub(crate) fn class(window: HWND) -> String {
    let mut text = [0; 256];
    // SAFETY: the call is given the buffer's length.
    let length = unsafe { GetClassNameW(window, &mut text) };
    decode(&text, length)
}

/// The title, read without a message to the window's process, which may hang.
pub(crate) fn title(window: HWND) -> String {
    let mut text = [0; 512];
    // SAFETY: the call is given the buffer's length.
    let length = unsafe { InternalGetWindowText(window, &mut text) };
    decode(&text, length)
}

fn decode(text: &[u16], length: i32) -> String {
    let length = usize::try_from(length).unwrap_or(0).min(text.len());
    String::from_utf16_lossy(&text[..length])
}

pub(crate) fn styles(window: HWND) -> (WINDOW_STYLE, WINDOW_EX_STYLE) {
    // SAFETY: reads two numbers; 0 for a window that is gone.
    let (style, extended) = unsafe {
        (
            GetWindowLongPtrW(window, GWL_STYLE),
            GetWindowLongPtrW(window, GWL_EXSTYLE),
        )
    };
    (WINDOW_STYLE(style as u32), WINDOW_EX_STYLE(extended as u32))
}

/// The bounds with the invisible resize borders.
pub(crate) fn outer(window: HWND) -> Option<RECT> {
    let mut rect = RECT::default();
    // SAFETY: the rectangle outlives the call.
    unsafe { GetWindowRect(window, &raw mut rect) }.ok()?;
    Some(rect)
}

/// The visible bounds.
pub(crate) fn bounds(window: HWND) -> Option<RECT> {
    let mut rect = RECT::default();
    if attribute(window, DWMWA_EXTENDED_FRAME_BOUNDS, &mut rect) && rect.right > rect.left {
        return Some(rect);
    }
    outer(window)
}

pub(crate) fn to_rect(rect: RECT) -> Rect {
    Rect {
        x: rect.left,
        y: rect.top,
        w: rect.right.saturating_sub(rect.left),
        h: rect.bottom.saturating_sub(rect.top),
    }
}

pub(crate) fn is_minimised(window: HWND) -> bool {
    // SAFETY: a handle may be that of a window that is gone.
    unsafe { IsIconic(window).as_bool() }
}

pub(crate) fn exists(window: HWND) -> bool {
    // SAFETY: any handle is allowed.
    unsafe { IsWindow(Some(window)).as_bool() }
}

pub(crate) fn describe(window: HWND) -> Window {
    Window {
        id: id(window),
        pid: Some(owner(window)).filter(|pid| *pid != 0),
        title: title(window),
        extents: bounds(window)
            .map(to_rect)
            .filter(|_| !is_minimised(window)),
    }
}

/// The kind of a window in a person's view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Window,
    Menu,
    Panel,
    Desktop,
    /// Not a window to a person: a tooltip, an overlay.
    Nothing,
}

pub(crate) fn kind(window: HWND) -> Kind {
    let class = class(window);
    let is_any = |classes: &[&str]| classes.contains(&class.as_str());
    let (style, extended) = styles(window);
    let untouchable = WS_EX_TRANSPARENT.0 | WS_EX_NOACTIVATE.0;
    let is_empty = outer(window).is_none_or(|rect| to_rect(rect).is_empty());
    if class == MENU {
        Kind::Menu
    } else if is_any(&DESKTOPS) {
        Kind::Desktop
    } else if is_any(&PANELS) {
        Kind::Panel
    } else if is_any(&HELPERS)
        || extended.0 & untouchable == untouchable
        || is_empty && !is_minimised(window)
    {
        Kind::Nothing
    } else if style.0 & WS_CAPTION.0 != WS_CAPTION.0
        && extended.0 & WS_EX_APPWINDOW.0 == 0
        && extended.0 & (WS_EX_TOOLWINDOW.0 | WS_EX_NOACTIVATE.0) != 0
    {
        // Toolkits use such windows for menus, drop-downs and tooltips.
        Kind::Menu
    } else {
        Kind::Window
    }
}

/// The windows of apps, frontmost first.
pub(crate) fn every() -> Vec<Toplevel> {
    let mut all = toplevels();
    all.retain(|toplevel| kind(toplevel.handle) == Kind::Window);
    all
}

/// The states of windows that are minimised, panels or desktops.
pub(crate) fn states() -> Vec<(deskline_core::WindowId, WindowState)> {
    let state = |toplevel: &Toplevel| {
        let place = match kind(toplevel.handle) {
            Kind::Panel => Place::Panel,
            Kind::Desktop => Place::Desktop,
            _ => Place::App,
        };
        let minimised = is_minimised(toplevel.handle);
        let state = WindowState {
            minimised,
            place,
            ..WindowState::default()
        };
        (state != WindowState::default()).then(|| (id(toplevel.handle), state))
    };
    toplevels().iter().filter_map(state).collect()
}

/// The foreground window, which receives keys.
pub(crate) fn front() -> Option<HWND> {
    // SAFETY: takes nothing.
    let window = unsafe { GetForegroundWindow() };
    (!window.is_invalid()).then_some(window)
}

/// The toplevel window at a point.
pub(crate) fn at(point: Point) -> Option<HWND> {
    let Point { x, y } = point;
    // SAFETY: takes numbers, and a handle that was just given.
    let root = unsafe {
        let window = WindowFromPoint(POINT { x, y });
        if window.is_invalid() {
            return None;
        }
        GetAncestor(window, GA_ROOT)
    };
    (!root.is_invalid()).then_some(root)
}

/// The owner of a window, such as of a dialog: Windows keeps owned windows in front of it.
pub(crate) fn owning(window: HWND) -> Option<HWND> {
    // SAFETY: a handle may be that of a window that is gone.
    let owner = unsafe { GetWindow(window, GW_OWNER) }.ok()?;
    (!owner.is_invalid()).then_some(owner)
}

/// Whether the window is `other`, or owned by it directly or through other windows.
pub(crate) fn belongs_to(window: HWND, other: HWND) -> bool {
    // Chains of owners are short, and cannot be cycles; the limit is a precaution.
    let mut chain = std::iter::successors(Some(window), |next| owning(*next)).take(16);
    chain.any(|next| next == other)
}

/// Whether a menu or drop-down of the process is open.
pub(crate) fn has_menu(pid: u32) -> bool {
    let is_menu = |toplevel: &Toplevel| toplevel.pid == pid && kind(toplevel.handle) == Kind::Menu;
    toplevels().iter().any(is_menu)
}

/// The windows of other processes that windows of this process own.
pub(crate) fn belonging(pid: u32) -> Vec<Window> {
    let mut others = every();
    others.retain(|other| {
        let mut owners = std::iter::successors(owning(other.handle), |next| owning(*next)).take(16);
        other.pid != pid && owners.any(|window| owner(window) == pid)
    });
    others.iter().map(|other| describe(other.handle)).collect()
}
