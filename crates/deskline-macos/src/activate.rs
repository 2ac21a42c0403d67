//! Brings windows and apps to the front.

use std::time::{Duration, Instant};

use deskline_link::{Cancel, Error, Result, TargetError, WindowId};

use crate::ax::PATIENCE;
use crate::front;
use crate::os::{NewValue, Os, ServerWindow, name_of};
use crate::windows::{self, AxWindow, of_app};

/// The time limit for a window to come to the front.
const ACTIVATES: Duration = Duration::from_secs(2);

/// The time limit for a switch to another Space, whose animation takes 0.7 s, and longer out of
/// full screen.
const TRAVELS: Duration = Duration::from_secs(3);

/// The polling interval. Notifications would come from two apps, one of which may hang.
const LOOK: Duration = Duration::from_millis(10);

/// Brings a window to the front and waits until it is there.
pub(crate) fn window<O: Os>(os: &O, id: WindowId, cancel: &Cancel) -> Result<()> {
    cancel.check()?;
    require_unlocked(os)?;
    if let Some(pid) = windows::app_of(id) {
        return app(os, pid, cancel);
    }
    let server = os.windows();
    let Some(window) = server.iter().find(|w| u64::from(w.number) == id.0) else {
        return Err(TargetError::WindowGone.into());
    };
    let pid = window.pid;
    let find = || of_app(os, pid).into_iter().find(|(w, _)| w.id == id)?.1;
    let mut ax = find();
    raise(os, pid, ax.as_ref());
    if ax.is_none() && !window.on_screen {
        // Accessibility lists it once its Space is there.
        until(cancel, TRAVELS, || {
            ax = find();
            ax.is_some()
        })?;
        raise(os, pid, ax.as_ref());
    }
    // To the `WindowServer`, sheets and popovers are windows of their own above the window.
    let leads = || of_app(os, pid).into_iter().find(|(_, ax)| ax.is_some());
    let there = until(cancel, ACTIVATES, || {
        front::is(os, pid) && leads().is_some_and(|(window, _)| window.id == id)
    })?;
    // An app that does not answer Accessibility can be activated, but its windows not raised.
    if there || ax.is_none() && front::is(os, pid) {
        Ok(())
    } else {
        Err(stays_behind(os, pid))
    }
}

/// Brings an app to the front: one without windows, or for its menu bar.
fn app<O: Os>(os: &O, pid: u32, cancel: &Cancel) -> Result<()> {
    if front::is(os, pid) {
        return Ok(());
    }
    raise::<O>(os, pid, None);
    // An accessory's menu extra is on the screen whoever is in front, and it may never come there.
    if !os.app(pid).is_some_and(|app| app.regular)
        || until(cancel, ACTIVATES, || front::is(os, pid))?
    {
        return Ok(());
    }
    Err(stays_behind(os, pid))
}

/// Goes to the Space of an app whose windows are all on another one, and waits until Accessibility
/// lists them. Whether it went.
pub(crate) fn reveal<O: Os>(os: &O, pid: u32, cancel: &Cancel) -> Result<bool> {
    if !windows::all_away(os, pid) {
        return Ok(false);
    }
    require_unlocked(os)?;
    raise::<O>(os, pid, None);
    until(cancel, TRAVELS, || {
        of_app(os, pid).iter().any(|(_, ax)| ax.is_some())
    })
}

/// Raises windows of other apps to where they were in `before`, front to back: `AXFrontmost` brings
/// all windows of its app forward. That `AXRaise` of a background app's window leaves the app in
/// front alone, as it is documented to, is a guess until a Mac has shown it.
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
    // The front window is back already.
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

/// Fails if the screen is locked: all input would go to the login window.
pub(crate) fn require_unlocked<O: Os>(os: &O) -> Result<()> {
    if os.locked() {
        return Err(TargetError::ScreenLocked.into());
    }
    Ok(())
}

/// Activates an app and raises one of its windows. Each of these calls may be refused by some app
/// or system; the caller checks whether the window came.
fn raise<O: Os>(os: &O, pid: u32, window: Option<&AxWindow<O::Element>>) {
    let app = os.application(pid);
    let (on, off) = (NewValue::Bool(true), NewValue::Bool(false));
    let start = Instant::now();
    // An app that does not answer is asked for one of these, not for each.
    let answers = || start.elapsed() < PATIENCE / 2;
    if let Some(window) = window {
        if window.minimised {
            let _ = os.set(&window.element, "AXMinimized", &off);
        }
        let _ = answers().then(|| os.set(&window.element, "AXMain", &on));
        let _ = answers().then(|| os.perform(&window.element, "AXRaise"));
    }
    // From macOS 14 on, a background process may not activate another app; Accessibility may.
    let _ = answers().then(|| os.set(&app, "AXHidden", &off));
    let _ = answers().then(|| os.set(&app, "AXFrontmost", &on));
    if !front::is(os, pid) {
        os.activate(pid);
    }
}

fn until(cancel: &Cancel, most: Duration, mut there: impl FnMut() -> bool) -> Result<bool> {
    let start = Instant::now();
    while !there() {
        if start.elapsed() >= most {
            return Ok(false);
        }
        cancel.wait(LOOK)?;
    }
    Ok(true)
}

fn stays_behind<O: Os>(os: &O, pid: u32) -> Error {
    let front = front::pid(os).map_or_else(String::new, |front| {
        let name = name_of(os, front).unwrap_or_default();
        format!(" ({name}, pid {front}, stays there)")
    });
    TargetError::NotRaised { pid, stays: front }.into()
}
