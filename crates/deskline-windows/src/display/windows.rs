//! Lists windows, and finds their processes and kinds.

use deskline_contract::{Window, display::Place};
use deskline_core::{Rect, WindowId};

use crate::os::{self, class, is_minimised, is_visible, owning, title};

/// The class of menus.
const MENU: &str = "#32768";

/// The frame that draws the title bar of an app from the Store. The app's own window is in the
/// frame.
const FRAME: &str = "ApplicationFrameWindow";

/// `DWM_CLOAKED_SHELL`: the window is on another virtual desktop, or is the frame of an app from
/// the Store that has been closed.
const CLOAKED_BY_SHELL: u32 = 2;

/// `ApplicationViewCloakType` of a frame in which no app runs: the shell keeps the frame, hidden,
/// for the next app
/// (<https://github.com/kvakulo/Switcheroo/commit/fa526606d52d5ba066ba0b2b5aa83ed04741390f>).
const NO_APP: usize = 1;

/// Classes of the desktop's own parts: the windows with the icons, and the task bars.
const DESKTOPS: [&str; 2] = ["Progman", "WorkerW"];
const PANELS: [&str; 2] = ["Shell_TrayWnd", "Shell_SecondaryTrayWnd"];

/// Classes of helper windows, which a person does not see as windows.
const HELPERS: [&str; 4] = ["tooltips_class32", "IME", "MSCTFIME UI", "SysShadow"];

/// Styles of windows, in `winuser.h` with the prefix `WS_` or `WS_EX_`.
const CAPTION: u32 = 0x00c0_0000;
pub(crate) const TOPMOST: u32 = 0x8;
const TRANSPARENT: u32 = 0x20;
const TOOLWINDOW: u32 = 0x80;
const APPWINDOW: u32 = 0x4_0000;
const LAYERED: u32 = 0x8_0000;
const NOACTIVATE: u32 = 0x0800_0000;

/// The glowing edges of some windows (Visual Studio, `MahApps`) are windows too, thinner than this.
const EDGE: i32 = 20;

/// All visible or minimised toplevel windows, including menus, frontmost first.
pub(crate) fn toplevels() -> Vec<WindowId> {
    let mut windows = os::all();
    windows.retain(|window| is_visible(*window) && os::cloaked(*window) == 0);
    windows
}

/// Whether the window is visible nowhere: neither on the screen, nor minimised, nor on another
/// virtual desktop.
pub(crate) fn is_hidden(window: WindowId) -> bool {
    let cloaked = os::cloaked(window);
    let is_elsewhere = cloaked & CLOAKED_BY_SHELL != 0 && os::view_cloak(window) != NO_APP;
    !is_visible(window) || cloaked != 0 && !is_elsewhere
}

/// The window's process. For a Store app's frame, the process of the app inside.
pub(crate) fn owner(window: WindowId) -> u32 {
    let core = (class(window) == FRAME).then(|| os::core_window(window));
    os::process_and_thread(core.flatten().unwrap_or(window)).0
}

/// The visible bounds.
pub(crate) fn bounds(window: WindowId) -> Option<Rect> {
    os::frame(window).or_else(|| os::outer(window))
}

pub(crate) fn describe(window: WindowId) -> Window {
    let minimised = is_minimised(window);
    Window {
        id: window,
        pid: Some(owner(window)).filter(|pid| *pid != 0),
        title: title(window),
        extents: bounds(window).filter(|_| !minimised),
        minimised,
        place: match kind(window) {
            Kind::Panel => Place::Panel,
            Kind::Desktop => Place::Desktop,
            _ => Place::App,
        },
        ..Window::default()
    }
}

/// The kind of a window from a person's view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Window,
    Menu,
    Panel,
    Desktop,
    /// What a person does not regard as a window: a tooltip, an overlay.
    Nothing,
}

pub(crate) fn kind(window: WindowId) -> Kind {
    let class = class(window);
    let is_any = |classes: &[&str]| classes.contains(&class.as_str());
    let styles = os::styles(window);
    let untouchable = TRANSPARENT | NOACTIVATE;
    let bounds = os::outer(window).unwrap_or(Rect::at(0, 0, 0, 0));
    let is_edge = styles.extended & LAYERED != 0 && bounds.w.min(bounds.h) < EDGE;
    if class == MENU {
        Kind::Menu
    } else if is_any(&DESKTOPS) {
        Kind::Desktop
    } else if is_any(&PANELS) {
        Kind::Panel
    } else if is_any(&HELPERS)
        || styles.extended & untouchable == untouchable
        || (bounds.is_empty() || is_edge) && !is_minimised(window)
    {
        Kind::Nothing
    } else if styles.plain & CAPTION != CAPTION
        && styles.extended & APPWINDOW == 0
        && styles.extended & (TOOLWINDOW | NOACTIVATE) != 0
    {
        // Toolkits use windows with these styles for menus, drop-downs and tooltips.
        Kind::Menu
    } else {
        Kind::Window
    }
}

/// The windows of apps, frontmost first.
pub(crate) fn every() -> Vec<WindowId> {
    let mut all = toplevels();
    all.retain(|window| kind(*window) == Kind::Window);
    all
}

/// The owners of a window, nearest first: Windows keeps owned windows in front of their owners. A
/// chain of owners is short, and cannot be a cycle; the limit is a precaution.
fn owners(window: WindowId) -> impl Iterator<Item = WindowId> {
    std::iter::successors(owning(window), |next| owning(*next)).take(16)
}

/// Whether the window is `other`, or owned by it directly or through other windows.
pub(crate) fn belongs_to(window: WindowId, other: WindowId) -> bool {
    window == other || owners(window).any(|next| next == other)
}

/// Whether a menu or drop-down of the process is open.
pub(crate) fn has_menu(pid: u32) -> bool {
    let is_menu = |window: &WindowId| owner(*window) == pid && kind(*window) == Kind::Menu;
    toplevels().iter().any(is_menu)
}

/// The windows of other processes that are owned by windows of the process `pid`.
pub(crate) fn belonging(pid: u32) -> Vec<Window> {
    let mut others = every();
    others.retain(|other| owner(*other) != pid && owners(*other).any(|next| owner(next) == pid));
    others.into_iter().map(describe).collect()
}
