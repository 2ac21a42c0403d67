//! Windows: the `WindowServer` knows their order and ids, Accessibility knows their titles and can
//! raise them. The two are matched by bounds and title.
//!
//! Accessibility lists the windows of the current Space and the minimised ones. A window on another
//! Space, or in full screen, is only in the `WindowServer`'s list (alt-tab-macos #1324).

use std::time::Instant;

use deskline_core::{Point, Rect, Tree};
use deskline_link::{Window, WindowId};

use crate::ax::PATIENCE;
use crate::ax::facts::rect;
use crate::front;
use crate::os::{Os, ServerWindow, Value};

/// `kCGPopUpMenuWindowLevel`: open menus and pop-ups.
const MENU_LAYER: i64 = 101;

/// The levels of ordinary windows: normal, floating, modal panels (`kCGNormalWindowLevel` to
/// `kCGModalPanelWindowLevel`).
const WINDOW_LAYERS: std::ops::RangeInclusive<i64> = 0..=8;

/// The offset of the id that stands for an app itself: this plus its pid. The front app needs an id
/// to be restored, even if it has no window, and its menu bar is in none.
const APP: u64 = 1 << 32;

/// The least size, in points, of a window on another Space, where Accessibility does not vouch for
/// it. The `WindowServer` keeps smaller ones that no person has ever seen.
const LEAST: (i32, i32) = (100, 60);

/// How far the bounds from Accessibility and the `WindowServer` may differ, by rounding.
const NEAR: i32 = 2;

/// A window as Accessibility reports it.
#[derive(Debug, Clone)]
pub(crate) struct AxWindow<E> {
    pub(crate) element: E,
    pub(crate) title: String,
    pub(crate) extents: Option<Rect>,
    pub(crate) minimised: bool,
}

/// An app's windows from Accessibility, frontmost first; empty if it does not answer.
fn ax_windows<O: Os>(os: &O, pid: u32) -> Vec<AxWindow<O::Element>> {
    const NAMES: &[&str] = &["AXTitle", "AXPosition", "AXSize", "AXMinimized"];
    let app = os.application(pid);
    let Some(Value::Elements(elements)) = os
        .attributes(&app, &["AXWindows"])
        .ok()
        .and_then(|mut values| values.pop())
    else {
        return Vec::new();
    };
    let start = Instant::now();
    let read = |element: O::Element| {
        // An app that hangs is asked for one window, not for each.
        if start.elapsed() >= PATIENCE / 2 {
            return None;
        }
        let values = os.attributes(&element, NAMES).ok()?;
        let mut window = AxWindow {
            element,
            title: String::new(),
            extents: None,
            minimised: false,
        };
        let (mut place, mut size) = (None, None);
        for value in values {
            match value {
                Value::Text { start, .. } => window.title = start,
                Value::Point(x, y) => place = Some((x, y)),
                Value::Size(w, h) => size = Some((w, h)),
                Value::Bool(is) => window.minimised = is,
                _ => {}
            }
        }
        window.extents = place
            .zip(size)
            .and_then(|((x, y), (w, h))| rect(x, y, w, h));
        Some(window)
    };
    elements.into_iter().filter_map(read).collect()
}

pub(crate) fn extents(window: &ServerWindow) -> Rect {
    let [x, y, w, h] = window.bounds;
    rect(x, y, w, h).unwrap_or(Rect {
        x: 0,
        y: 0,
        w: 0,
        h: 0,
    })
}

pub(crate) fn is_window(window: &ServerWindow) -> bool {
    WINDOW_LAYERS.contains(&window.layer) && window.alpha > 0.0 && !extents(window).is_empty()
}

fn same_place(a: Rect, b: Rect) -> bool {
    let near = |a: i32, b: i32| a.abs_diff(b) <= NEAR as u32;
    near(a.x, b.x) && near(a.y, b.y) && near(a.w, b.w) && near(a.h, b.h)
}

/// Takes the matching Accessibility window out of the list, so that two windows with the same
/// bounds each get their own.
fn take_match<E>(known: &mut Vec<AxWindow<E>>, window: &ServerWindow) -> Option<AxWindow<E>> {
    let at = extents(window);
    let here = |w: &AxWindow<E>| w.extents.is_some_and(|e| same_place(e, at));
    let named = |w: &AxWindow<E>| window.title.is_empty() || w.title == window.title;
    let index = known
        .iter()
        .position(|w| here(w) && named(w))
        .or_else(|| known.iter().position(here))?;
    Some(known.remove(index))
}

/// An app's windows: those on the screen, frontmost first, then the minimised and hidden ones.
pub(crate) fn of_app<O: Os>(os: &O, pid: u32) -> Vec<(Window, Option<AxWindow<O::Element>>)> {
    let matched = matched(os, pid, ax_windows(os, pid)).into_iter();
    matched
        .map(|(window, ax)| (described(&window, ax.as_ref()), ax))
        .collect()
}

/// The same, with Accessibility's windows given.
pub(crate) fn matched<O: Os>(
    os: &O,
    pid: u32,
    mut known: Vec<AxWindow<O::Element>>,
) -> Vec<(ServerWindow, Option<AxWindow<O::Element>>)> {
    let mut server = os.windows();
    server.retain(|w| w.pid == pid && is_window(w));
    let (on_screen, off): (Vec<_>, Vec<_>) = server.into_iter().partition(|w| w.on_screen);
    let all_away = known.is_empty() && on_screen.is_empty();
    let mut windows = Vec::new();
    for window in on_screen {
        let ax = take_match(&mut known, &window);
        windows.push((window, ax));
    }
    // Off-screen windows count if Accessibility knows them too, or if it knows none because all are
    // on another Space. The WindowServer also keeps windows that no person has ever seen.
    let titles = all_away && crate::permissions::may_capture(os);
    let away = |w: &ServerWindow| all_away && is_seen_elsewhere(w, titles);
    for window in off {
        let ax = take_match(&mut known, &window);
        if ax.is_some() || away(&window) {
            windows.push((window, ax));
        }
    }
    windows
}

/// Whether an off-screen window that Accessibility does not list may be one that a person sees on
/// another Space. A guess, as no public API reports it: a window that was never shown has no title,
/// where titles can be read, and is small where they cannot.
fn is_seen_elsewhere(window: &ServerWindow, titles: bool) -> bool {
    let Rect { w, h, .. } = extents(window);
    window.layer == 0 && w >= LEAST.0 && h >= LEAST.1 && (!titles || !window.title.is_empty())
}

/// Whether the app has windows, all of them on another Space or in full screen.
pub(crate) fn all_away<O: Os>(os: &O, pid: u32) -> bool {
    let windows = matched(os, pid, ax_windows(os, pid));
    !windows.is_empty() && windows.iter().all(|(w, ax)| ax.is_none() && !w.on_screen)
}

/// Every app's windows on the screen, frontmost first.
pub(crate) fn all<O: Os>(os: &O) -> Vec<Window> {
    let server = os.windows();
    let shown = server.iter().filter(|w| w.on_screen && is_window(w));
    shown.map(|w| described::<O::Element>(w, None)).collect()
}

fn described<E>(window: &ServerWindow, ax: Option<&AxWindow<E>>) -> Window {
    let title = ax.map_or(&window.title, |w| &w.title);
    Window {
        id: WindowId(u64::from(window.number)),
        pid: Some(window.pid),
        title: title.clone(),
        extents: Some(extents(window)),
    }
}

/// The front window: the frontmost of the app that has the keyboard.
pub(crate) fn front<O: Os>(os: &O) -> Option<Window> {
    let pid = front::pid(os)?;
    let server = os.windows();
    let top = server
        .iter()
        .find(|w| w.pid == pid && w.on_screen && is_window(w));
    Some(match top {
        Some(window) => described::<O::Element>(window, None),
        None => app(pid),
    })
}

/// The window id that stands for an app itself.
pub(crate) fn app(pid: u32) -> Window {
    Window {
        id: WindowId(APP | u64::from(pid)),
        pid: Some(pid),
        title: String::new(),
        extents: None,
    }
}

/// The app that an id stands for, if it stands for one.
pub(crate) fn app_of(id: WindowId) -> Option<u32> {
    (id.0 & APP != 0).then_some(id.0 as u32)
}

/// Whether a menu or pop-up of the app is open.
pub(crate) fn popup_open<O: Os>(os: &O, pid: u32) -> bool {
    os.windows()
        .iter()
        .any(|w| w.pid == pid && w.on_screen && w.layer == MENU_LAYER)
}

/// The process whose window a click at this point would go to. `overlay` is this program's own pid:
/// its panels take no clicks.
pub(crate) fn owner_at<O: Os>(os: &O, at: Point, overlay: u32) -> Option<u32> {
    os.windows()
        .iter()
        .filter(|w| w.on_screen && w.alpha > 0.0 && w.pid != overlay)
        // Windows above menus take no clicks (the cursor, Mission Control's shield).
        .find(|w| w.layer <= MENU_LAYER && extents(w).contains(at))
        .map(|w| w.pid)
}

/// The titles of the tree's windows that are on another Space.
pub(crate) fn away<O: Os>(os: &O, tree: &Tree) -> Vec<String> {
    if !tree.is_elsewhere() {
        return Vec::new();
    }
    let server = os.windows().into_iter();
    let its = server.filter(|w| tree.window(WindowId(u64::from(w.number))).is_some());
    its.map(|w| match w.title.as_str() {
        "" => "its window".to_owned(),
        title => title.to_owned(),
    })
    .collect()
}
