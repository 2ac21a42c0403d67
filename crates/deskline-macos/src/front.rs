//! Finds the app that is in front now.
//!
//! `NSWorkspace.frontmostApplication` is a cache that only turns of the main run loop refresh.
//! Another project found it wrong in 27 of 36 rounds (Interceptor #168): text would then go into
//! the person's window. The system-wide `AXFocusedApplication` is live, but follows the focused
//! window: it does not name a front app that has no window (Interceptor #198), or whose menu has
//! the focus (Hammerspoon #3799). Each app's own `AXFrontmost` covers these cases; System Events
//! reads it too.

use std::time::Duration;

use crate::os::{Os, Value};

/// How long each app may take to report whether it is in front. There are many apps, and one may
/// hang.
pub(crate) const SAYS: Duration = Duration::from_millis(250);

/// The app in front.
pub(crate) fn pid<O: Os>(os: &O) -> Option<u32> {
    focused(os).or_else(|| by_asking_each(os)).or_else(|| {
        // Only processes without the Accessibility permission get here.
        let top = os.windows().into_iter().find(|w| w.layer == 0);
        top.map(|w| w.pid)
    })
}

/// Whether this app is in front.
pub(crate) fn is<O: Os>(os: &O, pid: u32) -> bool {
    focused(os).map_or_else(|| says_so(os, pid), |front| front == pid)
}

fn focused<O: Os>(os: &O) -> Option<u32> {
    let app = os.element(&os.system(), "AXFocusedApplication")?;
    os.pid_of(&app).ok()
}

fn by_asking_each<O: Os>(os: &O) -> Option<u32> {
    let regular = os.apps().into_iter().filter(|a| a.regular);
    let mut pids = regular.map(|a| a.pid);
    pids.find(|pid| says_so(os, *pid))
}

/// Whether an app reports itself as being in front.
fn says_so<O: Os>(os: &O, pid: u32) -> bool {
    let app = os.application(pid);
    os.set_timeout(&app, SAYS);
    let said = os.attributes(&app, &["AXFrontmost"]);
    said.is_ok_and(|values| values.first() == Some(&Value::Bool(true)))
}
