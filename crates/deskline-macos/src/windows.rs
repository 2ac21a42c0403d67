//! Windows: the `WindowServer` knows their order and ids, Accessibility knows their titles and can
//! raise them. The two are matched by bounds and title.

use std::time::{Duration, Instant};

use deskline_core::{Point, Rect};
use deskline_link::{Cancel, Error, Result, Window, WindowId};

use crate::ax::facts::rect;
use crate::os::{Display, NewValue, Os, Panel, ServerWindow, Value};

/// `kCGPopUpMenuWindowLevel`: open menus and pop-ups.
const MENU_LAYER: i64 = 101;

/// The levels of ordinary windows: normal, floating, modal panels (`kCGNormalWindowLevel` to
/// `kCGModalPanelWindowLevel`).
const WINDOW_LAYERS: std::ops::RangeInclusive<i64> = 0..=8;

/// The offset of the id for an app without windows: this plus its pid. The front app needs an id to
/// be restored, even if it has no window.
const WINDOWLESS: u64 = 1 << 32;

/// The time limit for a window to come to the front. It takes seconds only from another space, with
/// an animation of 0.7 s.
const ACTIVATES: Duration = Duration::from_secs(2);

/// The polling interval. Notifications would come from two apps, one of which may hang.
const LOOK: Duration = Duration::from_millis(10);

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
    let read = |element: O::Element| {
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

fn is_window(window: &ServerWindow) -> bool {
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
    let mut windows = Vec::new();
    for window in on_screen {
        let ax = take_match(&mut known, &window);
        windows.push((window, ax));
    }
    // Off-screen windows count only if Accessibility knows them too: the WindowServer keeps windows
    // that no person has ever seen.
    for window in off {
        if let Some(ax) = take_match(&mut known, &window) {
            windows.push((window, Some(ax)));
        }
    }
    windows
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
    let pid = os.front_pid()?;
    let server = os.windows();
    let top = server
        .iter()
        .find(|w| w.pid == pid && w.on_screen && is_window(w));
    Some(match top {
        Some(window) => described::<O::Element>(window, None),
        None => Window {
            id: WindowId(WINDOWLESS | u64::from(pid)),
            pid: Some(pid),
            title: String::new(),
            extents: None,
        },
    })
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

/// Brings a window to the front and waits until it is there.
pub(crate) fn activate<O: Os>(os: &O, id: WindowId, cancel: &Cancel) -> Result<()> {
    cancel.check()?;
    if id.0 & WINDOWLESS != 0 {
        let pid = id.0 as u32;
        raise::<O>(os, pid, None);
        let there = until(cancel, || os.front_pid() == Some(pid))?;
        return if there {
            Ok(())
        } else {
            Err(stays_behind(os, pid))
        };
    }
    let server = os.windows();
    let Some(window) = server.iter().find(|w| u64::from(w.number) == id.0) else {
        return Err(Error::Input(
            "the window that was to come to the front is gone. Call refresh_traversal".into(),
        ));
    };
    let pid = window.pid;
    let ours = of_app(os, pid).into_iter().find(|(w, _)| w.id == id);
    let ax = ours.and_then(|(_, ax)| ax);
    raise(os, pid, ax.as_ref());
    // To the `WindowServer`, sheets and popovers are windows of their own above the window.
    let leads = || of_app(os, pid).into_iter().find(|(_, ax)| ax.is_some());
    let there = until(cancel, || {
        os.front_pid() == Some(pid) && leads().is_some_and(|(window, _)| window.id == id)
    })?;
    // An app that does not answer Accessibility can be activated, but its windows not raised.
    if there || ax.is_none() && os.front_pid() == Some(pid) {
        Ok(())
    } else {
        Err(stays_behind(os, pid))
    }
}

/// Activates an app and raises one of its windows. Each of these calls may be refused by some app
/// or system; the caller checks whether the window came.
fn raise<O: Os>(os: &O, pid: u32, window: Option<&AxWindow<O::Element>>) {
    let app = os.application(pid);
    let on = NewValue::Bool(true);
    if let Some(window) = window {
        if window.minimised {
            let _ = os.set(&window.element, "AXMinimized", &NewValue::Bool(false));
        }
        let _ = os.set(&window.element, "AXMain", &on);
        let _ = os.perform(&window.element, "AXRaise");
    }
    // From macOS 14 on, a background process may not activate another app; Accessibility may.
    let _ = os.set(&app, "AXHidden", &NewValue::Bool(false));
    let _ = os.set(&app, "AXFrontmost", &on);
    if os.front_pid() != Some(pid) {
        os.activate(pid);
    }
}

fn until(cancel: &Cancel, there: impl Fn() -> bool) -> Result<bool> {
    let start = Instant::now();
    while !there() {
        if start.elapsed() >= ACTIVATES {
            return Ok(false);
        }
        cancel.wait(LOOK)?;
    }
    Ok(true)
}

fn stays_behind<O: Os>(os: &O, pid: u32) -> Error {
    let front = os.front_pid().map_or_else(String::new, |front| {
        let name = crate::ax::name_of(os, front).unwrap_or_default();
        format!(" ({name}, pid {front}, stays there)")
    });
    Error::Input(format!(
        "the window of pid {pid} did not come to the front{front}, so no input was sent. A modal \
         dialog may hold it back: call refresh_traversal"
    ))
}

/// Converts bounds to `AppKit`'s coordinates, whose origin is the bottom left of the main display.
pub(crate) fn to_appkit(displays: &[Display], place: Rect) -> [f64; 4] {
    let main = displays.iter().find(|d| d.main);
    let height = main.map_or(0.0, |d| d.bounds[3]);
    let bottom = f64::from(place.y) + f64::from(place.h);
    [
        f64::from(place.x),
        height - bottom,
        f64::from(place.w),
        f64::from(place.h),
    ]
}

/// The display that contains most of `place`; the main one if none does.
pub(crate) fn display_of(displays: &[Display], place: Rect) -> Option<&Display> {
    let area = |d: &&Display| {
        let [x, y, w, h] = d.bounds;
        let shared = rect(x, y, w, h).map(|d| d.intersect(&place));
        shared.map_or(0, |r| i64::from(r.w) * i64::from(r.h))
    };
    let best = displays.iter().max_by_key(area);
    best.filter(|d| area(d) > 0)
        .or_else(|| displays.iter().find(|d| d.main))
}

/// The panels for the guard's banner and for the outline of the target.
pub(crate) fn panels(
    displays: &[Display],
    place: Option<Rect>,
    caption: &str,
    outline: bool,
) -> Vec<Panel> {
    /// In points: a line of text with padding, and its distance from the display's edge.
    const HEIGHT: i32 = 36;
    const EDGE: i32 = 48;
    /// In points: the maximum width of a character in the banner's font, and the padding on both
    /// sides.
    const CHARACTER: i32 = 9;
    const BESIDE: i32 = 48;
    /// The distance between the outline and the target.
    const AROUND: i32 = 3;

    let mut panels = Vec::new();
    if let Some(place) = place.filter(|_| outline) {
        let around = Rect {
            x: place.x.saturating_sub(AROUND),
            y: place.y.saturating_sub(AROUND),
            w: place.w.saturating_add(2 * AROUND),
            h: place.h.saturating_add(2 * AROUND),
        };
        panels.push(Panel {
            frame: to_appkit(displays, around),
            text: String::new(),
            outline: true,
        });
    }
    let on = match place {
        Some(place) => display_of(displays, place),
        None => displays.iter().find(|d| d.main),
    };
    let screen = on.and_then(|d| rect(d.bounds[0], d.bounds[1], d.bounds[2], d.bounds[3]));
    if let Some(screen) = screen.filter(|_| !caption.is_empty()) {
        let width = (caption.chars().count() as i32)
            .saturating_mul(CHARACTER)
            .saturating_add(BESIDE)
            .min(screen.w);
        let mut banner = Rect {
            x: screen.x + (screen.w - width) / 2,
            y: screen.y + EDGE,
            w: width,
            h: HEIGHT,
        };
        // If the banner would cover the target, put it at the other end of the display.
        if place.is_some_and(|place| !place.intersect(&banner).is_empty()) {
            banner.y = screen.y + screen.h - EDGE - HEIGHT;
        }
        panels.push(Panel {
            frame: to_appkit(displays, banner),
            text: caption.to_owned(),
            outline: false,
        });
    }
    panels
}
