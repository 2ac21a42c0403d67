//! Brings windows and apps to the front.

use deskline_contract::{Cancel, Error, Result, TargetError, WindowId, wait};
use std::time::Duration;

use deskline_core::Rect;
use deskline_input::clock::Instant;

use crate::ax::PATIENCE;
use crate::front;
use crate::os::{Launch, NewValue, Os, Seat, ServerWindow, name_of};
use crate::windows::{self, AxWindow, of_app};

/// The time limit for a window to come to the front.
const ACTIVATES: Duration = Duration::from_secs(2);

/// If a window has not come to the front after this time, `LaunchServices` has to open its app.
const OPENS: Duration = Duration::from_secs(1);

/// The time limit for a switch to another Space, whose animation takes 0.7 s, and longer when it
/// leaves full screen.
const TRAVELS: Duration = Duration::from_secs(3);

/// How long a window in front may take to get the keys, and how long a minimised one may take to
/// come out of the Dock.
const GETS_KEYS: Duration = Duration::from_millis(300);
const COMES_OUT: Duration = Duration::from_secs(1);

/// How long a window must stay in its place for its animation to count as over.
const STILL: Duration = Duration::from_millis(100);

/// When to raise a window again after its app has come to the front, because the app may then bring
/// another of its windows forward (Hammerspoon2 #228, typester/yashiki #171).
const AGAIN: [Duration; 2] = [Duration::from_millis(50), Duration::from_millis(300)];

/// Brings a window to the front and waits until it is there. `known` is the window's element, if
/// the caller has kept it, because Accessibility does not list the windows of another Space.
pub(crate) fn window<O: Os>(
    os: &O,
    id: WindowId,
    known: Option<&AxWindow<O::Element>>,
    cancel: &Cancel,
) -> Result<()> {
    cancel.check()?;
    require_unlocked(os)?;
    if let Some(pid) = windows::app_of(id) {
        return app(os, pid, cancel);
    }
    let Some(window) = windows::find(os, id) else {
        return Err(TargetError::WindowGone.into());
    };
    let pid = window.pid;
    let find = || of_app(os, pid).into_iter().find(|(w, _)| w.id == id)?.1;
    let mut ax = find().or_else(|| known.cloned());
    raise(os, pid, ax.as_ref());
    if ax.is_none() && !window.on_screen {
        // Accessibility lists the window once the window's Space is shown.
        until(cancel, TRAVELS, || {
            ax = find();
            ax.is_some()
        })?;
        raise(os, pid, ax.as_ref());
    }
    // The app's frontmost window apart from sheets, popovers and floating panels, which the
    // `WindowServer` lists as separate windows above that window.
    let leads = || {
        let mut windows = windows::matched_of(os, pid).into_iter();
        windows.find(|(w, ax)| ax.is_some() && w.layer <= window.layer)
    };
    // `AppKit` makes a window the key window in a turn of the app's event loop. A window that is
    // coming out of the Dock is not in its place yet.
    let minimised = ax.as_ref().is_some_and(|ax| ax.minimised);
    let takes_input = || {
        os.element(&os.application(pid), "AXFocusedWindow")
            .is_some()
            && (!minimised || windows::settled(os, pid).is_some())
    };
    let limit = if minimised { COMES_OUT } else { GETS_KEYS };
    let mut again = AGAIN.iter();
    let mut next = again.next();
    let mut since = None;
    let start = Instant::now();
    let mut opened = false;
    let there = until(cancel, ACTIVATES, || {
        let mut is_front = front::is(os, pid);
        if !is_front && !opened && start.elapsed() >= OPENS {
            opened = true;
            open(os, pid);
            is_front = front::is(os, pid);
        }
        if !is_front {
            return false;
        }
        // A sheet is in front with its window: Accessibility does not list it separately.
        let apart = ax.is_some() || !window.on_screen;
        let since = since.get_or_insert_with(Instant::now);
        if !apart || leads().is_some_and(|(window, _)| u64::from(window.number) == id.0) {
            return ax.is_none() || takes_input() || since.elapsed() >= limit;
        }
        if next.is_some_and(|after| since.elapsed() >= *after) {
            next = again.next();
            raise_window(os, ax.as_ref(), &Instant::now());
        }
        false
    })?;
    // An app that does not answer Accessibility can be activated, but its windows cannot be raised.
    if there || ax.is_none() && front::is(os, pid) {
        Ok(())
    } else {
        Err(stays_behind(os, pid))
    }
}

/// Brings an app itself to the front, because it has no windows or its menu bar is needed.
fn app<O: Os>(os: &O, pid: u32, cancel: &Cancel) -> Result<()> {
    if front::is(os, pid) {
        return Ok(());
    }
    raise::<O>(os, pid, None);
    // An accessory's menu extra is visible whichever app is in front, and the accessory itself may
    // never come to the front.
    if !os.app(pid).is_some_and(|app| app.regular)
        || until(cancel, ACTIVATES, || front::is(os, pid))?
    {
        return Ok(());
    }
    Err(stays_behind(os, pid))
}

/// If all windows of an app are on another Space, switches to that Space; if Stage Manager has set
/// them aside, brings them back. Waits until Accessibility lists the windows and they do not move
/// any more.
pub(crate) fn reveal<O: Os>(os: &O, pid: u32, cancel: &Cancel) -> Result<()> {
    if !windows::all_away(os, pid) {
        return Ok(());
    }
    require_unlocked(os)?;
    raise::<O>(os, pid, None);
    let mut rests: Option<(Rect, Instant)> = None;
    let came = until(cancel, TRAVELS, || {
        let now = windows::settled(os, pid);
        match (now, rests) {
            (None, _) => rests = None,
            (Some(now), Some((at, since))) if now == at => return since.elapsed() >= STILL,
            (Some(now), _) => rests = Some((now, Instant::now())),
        }
        false
    })?;
    if !came && stays_on_space(os) {
        return Err(TargetError::SpaceStays { pid }.into());
    }
    Ok(())
}

/// Whether the person has turned off the setting "When switching to an application, switch to a
/// Space with open windows".
fn stays_on_space<O: Os>(os: &O) -> bool {
    let keys = [
        ["com.apple.dock", "workspaces-auto-swoosh"],
        ["-g", "AppleSpacesSwitchOnActivate"],
    ];
    keys.iter().any(|[domain, key]| {
        let set = os.tool("/usr/bin/defaults", &["read", domain, key]);
        set.is_some_and(|set| set.trim() == "0")
    })
}

/// Puts windows of other apps back above those of the app `raised`, because `AXFrontmost` has
/// brought all windows of that app forward. `before` is the order to restore, front to back.
/// According to its documentation, `AXRaise` on a window of a background app does not change the
/// app in front; this was not tried on a Mac yet.
pub(crate) fn restore_order<O: Os>(os: &O, before: &[ServerWindow], raised: u32) {
    let Some(lowest) = before.iter().position(|w| w.pid == raised) else {
        return;
    };
    let hidden = |w: &&ServerWindow| {
        let at = windows::extents(w);
        let own = before.iter().filter(|o| o.pid == raised);
        own.map(windows::extents)
            .any(|own| !own.intersect(&at).is_empty())
    };
    // Skips the front window, which is back already.
    let above = before[..lowest].iter().skip(1).filter(hidden);
    let above: Vec<&ServerWindow> = above.collect();
    for window in above.into_iter().rev() {
        let id = WindowId(u64::from(window.number));
        let found = of_app(os, window.pid).into_iter().find(|(w, _)| w.id == id);
        if let Some((_, Some(ax))) = found {
            let _ = os.perform(&ax.element, "AXRaise");
        }
    }
    let first = before.first().map(|w| WindowId(u64::from(w.number)));
    if windows::all(os).first().map(|w| w.id) != first
        && let Some(front) = before.first()
        && let Some((_, Some(ax))) = of_app(os, front.pid)
            .into_iter()
            .find(|(w, _)| Some(w.id) == first)
    {
        let _ = os.perform(&ax.element, "AXRaise");
    }
}

/// Fails if the screen is locked, or shows another user's session: input would go to the lock
/// screen or that session.
pub(crate) fn require_unlocked<O: Os>(os: &O) -> Result<()> {
    match os.seat() {
        Some(Seat { locked: true, .. }) => Err(TargetError::ScreenLocked.into()),
        Some(Seat {
            on_console: false, ..
        }) => Err(TargetError::OtherUser.into()),
        _ => Ok(()),
    }
}

/// Activates an app and raises one of its windows. The app or macOS may refuse any of these calls,
/// so the caller checks whether the window has come to the front.
fn raise<O: Os>(os: &O, pid: u32, window: Option<&AxWindow<O::Element>>) {
    let app = os.application(pid);
    let (on, off) = (NewValue::Bool(true), NewValue::Bool(false));
    let start = Instant::now();
    // From macOS 14 on, a background process may not activate another app, but Accessibility may.
    // This is the first call, so that an app that answers slowly still comes to the front.
    let _ = os.set(&app, "AXFrontmost", &on);
    let _ = answers(&start).then(|| os.set(&app, "AXHidden", &off));
    // The app brings its last active window forward, so raise the wanted window after that.
    raise_window(os, window, &start);
    if !front::is(os, pid) {
        os.activate(pid);
    }
}

/// Has `LaunchServices` open a running app, as a click in the Dock does. If macOS makes activation
/// cooperative, this may be the only way to bring the app to the front. The app may unminimise a
/// window in response.
fn open<O: Os>(os: &O, pid: u32) {
    if let Some(app) = os.app(pid).filter(|app| !app.path.as_os_str().is_empty()) {
        let (path, document) = (app.path, false);
        let _ = os.launch(&Launch { path, document }, OPENS);
    }
}

fn raise_window<O: Os>(os: &O, window: Option<&AxWindow<O::Element>>, start: &Instant) {
    let Some(window) = window else { return };
    let (on, off) = (NewValue::Bool(true), NewValue::Bool(false));
    if window.minimised {
        let _ = answers(start).then(|| os.set(&window.element, "AXMinimized", &off));
    }
    let _ = answers(start).then(|| os.set(&window.element, "AXMain", &on));
    let _ = answers(start).then(|| os.perform(&window.element, "AXRaise"));
    // Without this call, keys may go to a floating panel.
    let _ = answers(start).then(|| os.set(&window.element, "AXFocused", &on));
}

/// Whether the app has answered the requests since `start` in time. A hung app thus gets only one
/// request of several.
fn answers(start: &Instant) -> bool {
    start.elapsed() < PATIENCE / 2
}

fn until(cancel: &Cancel, most: Duration, mut there: impl FnMut() -> bool) -> Result<bool> {
    // Polls, as notifications would have to come from two apps, one of which may hang.
    wait::holds(cancel, most, wait::LOOK, || Ok(there()))
}

fn stays_behind<O: Os>(os: &O, pid: u32) -> Error {
    let front = front::pid(os).map_or_else(String::new, |front| {
        let name = name_of(os, front).unwrap_or_default();
        format!(" ({name}, pid {front}, stays there)")
    });
    TargetError::not_raised(pid, &front).into()
}
