//! Windows: the `WindowServer` knows their order and ids, Accessibility knows their titles and can
//! raise them. The two are matched by the window's number, or by bounds and title if the system
//! does not report the number.
//!
//! Accessibility lists the windows of the current Space and the minimised ones. A window on another
//! Space, or in full screen, is only in the `WindowServer`'s list (alt-tab-macos #1324).

use std::cell::OnceCell;

use deskline_contract::{Window, WindowId};
use deskline_core::{Point, Rect, Tree};
use deskline_input::clock::Instant;

use crate::ax::PATIENCE;
use crate::front;
use crate::os::{Os, ServerWindow, Value};

/// `kCGPopUpMenuWindowLevel`: open menus and pop-ups.
pub(crate) const MENU_LAYER: i64 = 101;

/// The levels of ordinary windows: normal, floating, modal panels (`kCGNormalWindowLevel` to
/// `kCGModalPanelWindowLevel`).
const WINDOW_LAYERS: std::ops::RangeInclusive<i64> = 0..=8;

/// The id that stands for an app itself is this offset plus the app's pid. The front app needs this
/// id so that it can be restored even without a window, and menu bars are in no window.
const APP: u64 = 1 << 32;

/// The least width and height, in points, of an off-screen window that counts although
/// Accessibility does not list it. The `WindowServer` also keeps smaller windows that were never
/// visible.
const LEAST: (i32, i32) = (100, 60);

/// A window with less area does not count if Accessibility does not list it: macOS lays an
/// indicator of 66 by 20 points over an app that is being recorded (trycua/cua #3909).
const LEAST_AREA: i64 = 40 * 40;

/// Stage Manager's tiles are narrower and lower than this many points: tiles of 83 by 103 and 31 by
/// 97 points were seen (`BetterCmdTab` #150). For large displays this is a guess.
const TILE: i32 = 200;

/// How far the bounds from Accessibility and the `WindowServer` may differ, by rounding.
const NEAR: i32 = 2;

/// A window as Accessibility reports it.
#[derive(Debug, Clone)]
pub(crate) struct AxWindow<E> {
    pub(crate) element: E,
    /// The window's number in the `WindowServer`.
    pub(crate) number: Option<u32>,
    pub(crate) title: String,
    pub(crate) extents: Option<Rect>,
    pub(crate) minimised: bool,
}

/// An app's windows from Accessibility, frontmost first; empty if the app does not answer.
fn listed<O: Os>(os: &O, app: &O::Element) -> Vec<AxWindow<O::Element>> {
    let Ok(Value::Elements(elements)) = os.attribute(app, "AXWindows") else {
        return Vec::new();
    };
    let start = Instant::now();
    let read = |element: O::Element| {
        // A hung app gets a request about one window only, instead of about each window.
        (start.elapsed() < PATIENCE / 2)
            .then(|| ax_window(os, element))
            .flatten()
    };
    elements.into_iter().filter_map(read).collect()
}

pub(crate) fn ax_window<O: Os>(os: &O, element: O::Element) -> Option<AxWindow<O::Element>> {
    const NAMES: &[&str] = &["AXTitle", "AXPosition", "AXSize", "AXMinimized"];
    let values = os.attributes(&element, NAMES).ok()?;
    let mut window = AxWindow {
        number: os.window_of(&element),
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
        .and_then(|((x, y), (w, h))| Rect::around(x, y, w, h));
    Some(window)
}

pub(crate) fn extents(window: &ServerWindow) -> Rect {
    let [x, y, w, h] = window.bounds;
    Rect::around(x, y, w, h).unwrap_or(Rect::at(0, 0, 0, 0))
}

pub(crate) fn is_window(window: &ServerWindow) -> bool {
    WINDOW_LAYERS.contains(&window.layer) && window.alpha > 0.0 && !extents(window).is_empty()
}

fn same_place(a: Rect, b: Rect) -> bool {
    let near = |a: i32, b: i32| a.abs_diff(b) <= NEAR as u32;
    near(a.x, b.x) && near(a.y, b.y) && near(a.w, b.w) && near(a.h, b.h)
}

/// Takes the matching Accessibility window out of the list, so that two windows with the same
/// bounds each get their own match.
fn take_match<E>(known: &mut Vec<AxWindow<E>>, window: &ServerWindow) -> Option<AxWindow<E>> {
    let at = extents(window);
    let here = |w: &AxWindow<E>| w.number.is_none() && w.extents.is_some_and(|e| same_place(e, at));
    let named = |w: &AxWindow<E>| window.title.is_empty() || w.title == window.title;
    let index = known
        .iter()
        .position(|w| w.number == Some(window.number))
        .or_else(|| known.iter().position(|w| here(w) && named(w)))
        .or_else(|| known.iter().position(here))?;
    Some(known.remove(index))
}

/// An app's windows: those on the screen, frontmost first, then the minimised and hidden ones.
pub(crate) fn of_app<O: Os>(os: &O, pid: u32) -> Vec<(Window, Option<AxWindow<O::Element>>)> {
    matched_of(os, pid)
        .into_iter()
        .map(|(window, ax)| (described(&window, ax.as_ref()), ax))
        .collect()
}

/// An app's windows, in the order of [`of_app`], as the `WindowServer` reports them.
pub(crate) fn matched_of<O: Os>(os: &O, pid: u32) -> Vec<Both<O>> {
    matched(os, pid, listed(os, &os.application(pid)))
}

/// As [`matched_of`], with the windows that Accessibility has already listed.
pub(crate) fn matched<O: Os>(os: &O, pid: u32, known: Vec<AxWindow<O::Element>>) -> Vec<Both<O>> {
    Server::now(os).matched(pid, known)
}

/// A window in the `WindowServer`'s list, and in Accessibility's if it is there too.
pub(crate) type Both<O> = (ServerWindow, Option<AxWindow<<O as Os>::Element>>);

/// The `WindowServer`'s windows at one moment.
pub(crate) struct Server<'o, O> {
    os: &'o O,
    on_screen: Vec<ServerWindow>,
    /// All windows, also those off the screen. Read when first needed.
    all: OnceCell<Vec<ServerWindow>>,
}

impl<'o, O: Os> Server<'o, O> {
    pub(crate) fn now(os: &'o O) -> Self {
        Self {
            os,
            on_screen: os.windows(),
            all: OnceCell::new(),
        }
    }

    /// Whether a window of the app is on the screen.
    pub(crate) fn shows(&self, pid: u32) -> bool {
        let mut shown = self.on_screen.iter();
        shown.any(|w| w.pid == pid && is_window(w) && area(w) >= LEAST_AREA)
    }

    /// An app's windows, with a short time limit: a hung app must not delay the list of all apps.
    /// `known` says whether to leave out windows that Accessibility does not list.
    pub(crate) fn quickly(&self, pid: u32, known: bool) -> Vec<Window> {
        let app = self.os.application(pid);
        self.os.set_timeout(&app, front::SAYS);
        let matched = self.matched(pid, listed(self.os, &app)).into_iter();
        let matched = matched.filter(|(_, ax)| !known || ax.is_some());
        matched.map(|(w, ax)| described(&w, ax.as_ref())).collect()
    }

    fn matched(&self, pid: u32, mut known: Vec<AxWindow<O::Element>>) -> Vec<Both<O>> {
        let is_its = |w: &&ServerWindow| w.pid == pid && is_window(w);
        let mut windows = Vec::new();
        let unlisted = known.is_empty();
        for window in self.on_screen.iter().filter(is_its) {
            let ax = take_match(&mut known, window);
            if ax.is_some() || area(window) >= LEAST_AREA {
                windows.push((window.clone(), ax));
            }
        }
        let all_away = unlisted && windows.is_empty();
        if known.is_empty() && !all_away {
            return windows;
        }
        // Off-screen windows count if Accessibility lists them too, or if it lists no window
        // because all are on another Space. The WindowServer also keeps windows that were never
        // visible.
        let titles = all_away && crate::permissions::may_capture(self.os);
        let off = self.all.get_or_init(|| self.os.all_windows()).iter();
        for window in off.filter(|w| is_its(w) && !w.on_screen) {
            let ax = take_match(&mut known, window);
            if ax.is_some() || all_away && is_seen_elsewhere(window, titles) {
                windows.push((window.clone(), ax));
            }
        }
        windows
    }
}

fn area(window: &ServerWindow) -> i64 {
    let Rect { w, h, .. } = extents(window);
    i64::from(w) * i64::from(h)
}

/// Whether Stage Manager shows the window as a tile: the `WindowServer` has the tile's bounds, and
/// Accessibility has the real bounds, or no bounds.
pub(crate) fn is_tile(window: &ServerWindow, known: Option<Rect>) -> bool {
    let Rect { w, h, .. } = extents(window);
    let small = window.layer == 0 && w < TILE && h < TILE;
    small && known.is_none_or(|known| known.w >= 2 * w || known.h >= 2 * h)
}

/// Whether an off-screen window that Accessibility does not list may be visible on another Space.
/// No public API reports that, so this is a guess: a window that was never shown is small, or it
/// has no title. `titles` says whether titles can be read.
fn is_seen_elsewhere(window: &ServerWindow, titles: bool) -> bool {
    let Rect { w, h, .. } = extents(window);
    window.layer == 0 && w >= LEAST.0 && h >= LEAST.1 && (!titles || !window.title.is_empty())
}

/// Whether the app has windows, all of them on another Space, in full screen, or set aside by Stage
/// Manager.
pub(crate) fn all_away<O: Os>(os: &O, pid: u32) -> bool {
    let windows = matched_of(os, pid);
    let is_away = |(window, ax): &Both<O>| match ax {
        None => !window.on_screen || is_tile(window, None),
        Some(ax) => !ax.minimised && is_tile(window, ax.extents),
    };
    !windows.is_empty() && windows.iter().all(is_away)
}

/// The bounds of an app's frontmost window, once the `WindowServer` and Accessibility agree on
/// them.
pub(crate) fn settled<O: Os>(os: &O, pid: u32) -> Option<Rect> {
    let mut windows = matched_of(os, pid).into_iter();
    windows.find_map(|(window, ax)| {
        let at = extents(&window);
        ax?.extents.filter(|known| same_place(*known, at))
    })
}

/// A window with this id, wherever it is.
pub(crate) fn find<O: Os>(os: &O, id: WindowId) -> Option<ServerWindow> {
    let is = |w: &ServerWindow| u64::from(w.number) == id.0;
    let on_screen = os.windows().into_iter().find(is);
    on_screen.or_else(|| os.all_windows().into_iter().find(is))
}

/// Every app's windows on the screen, frontmost first.
pub(crate) fn all<O: Os>(os: &O) -> Vec<Window> {
    let shown = os.windows().into_iter().filter(is_window);
    shown.map(|w| described::<O::Element>(&w, None)).collect()
}

fn described<E>(window: &ServerWindow, ax: Option<&AxWindow<E>>) -> Window {
    let title = ax.map_or(&window.title, |w| &w.title);
    Window {
        id: WindowId(u64::from(window.number)),
        pid: Some(window.pid),
        title: title.clone(),
        extents: Some(extents(window)),
        ..Window::default()
    }
}

/// The front window: the window with the focus in the app that has the keyboard. The topmost window
/// is often a different one: a floating panel, or the tool bar of a window in full screen.
pub(crate) fn front<O: Os>(os: &O) -> Option<Window> {
    let pid = front::pid(os)?;
    let mut shown = os.windows();
    shown.retain(|w| w.pid == pid && is_window(w));
    let focused = focused(os, pid).map(|focused| vec![focused]);
    let mut focused = focused.unwrap_or_default();
    let top = shown.iter().find(|w| take_match(&mut focused, w).is_some());
    Some(match top.or(shown.first()) {
        Some(window) => described::<O::Element>(window, None),
        None => app(pid),
    })
}

/// The window that has the focus in an app.
pub(crate) fn focused<O: Os>(os: &O, pid: u32) -> Option<AxWindow<O::Element>> {
    let app = os.application(pid);
    os.set_timeout(&app, front::SAYS);
    let values = os
        .attributes(&app, &["AXFocusedWindow", "AXMainWindow"])
        .ok()?;
    let element = values.into_iter().find_map(Value::element)?;
    os.set_timeout(&element, front::SAYS);
    ax_window(os, element)
}

/// The window id that stands for an app itself.
pub(crate) fn app(pid: u32) -> Window {
    Window {
        id: WindowId(APP | u64::from(pid)),
        pid: Some(pid),
        ..Window::default()
    }
}

/// The pid of the app that this id stands for; `None` if the id stands for a window.
pub(crate) fn app_of(id: WindowId) -> Option<u32> {
    (id.0 & APP != 0).then_some(id.0 as u32)
}

/// Whether a single window of another app covers the whole frontmost window of the app.
pub(crate) fn is_covered<O: Os>(os: &O, pid: u32) -> bool {
    let shown: Vec<_> = os.windows().into_iter().filter(is_window).collect();
    let first = shown.iter().position(|window| window.pid == pid);
    first.is_some_and(|first| {
        let own = extents(&shown[first]);
        let covers = |over: &ServerWindow| extents(over).intersect(&own) == own;
        shown[..first].iter().any(covers)
    })
}

/// Whether a menu or pop-up of the app is open.
pub(crate) fn popup_open<O: Os>(os: &O, pid: u32) -> bool {
    os.windows()
        .iter()
        .any(|w| w.pid == pid && w.layer == MENU_LAYER)
}

/// The process whose window a click at this point would go to, as far as the list tells. `overlay`
/// is this program's own pid: the overlay's panels take no clicks. Most windows above ordinary
/// windows and below menus take no clicks either: since macOS 26.4, the Dock has a window of this
/// kind as large as the screen (claude-code #50719), and so has Screenshot (vorssaint-utils #1459).
pub(crate) fn owner_at<O: Os>(os: &O, at: Point, overlay: u32) -> Option<u32> {
    os.windows()
        .iter()
        .filter(|w| w.alpha > 0.0 && w.pid != overlay)
        .filter(|w| WINDOW_LAYERS.contains(&w.layer) || w.layer == MENU_LAYER)
        .find(|w| extents(w).contains(at))
        .map(|w| w.pid)
}

/// The titles of the tree's windows that are on another Space.
pub(crate) fn away<O: Os>(os: &O, tree: &Tree) -> Vec<String> {
    if !tree.is_elsewhere() {
        return Vec::new();
    }
    let server = os.all_windows().into_iter();
    let its = server.filter(|w| tree.window(WindowId(u64::from(w.number))).is_some());
    its.map(|w| match w.title.as_str() {
        "" => "its window".to_owned(),
        title => title.to_owned(),
    })
    .collect()
}
