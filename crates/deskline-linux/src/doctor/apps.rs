//! Checks the apps that have windows: which of them can be driven, and which packages the others
//! need.

use super::Check;
use deskline_atspi::toolkits::mapped;
use deskline_unix::process;

/// The maximum number of apps to list: nobody reads a longer report.
const MOST: usize = 10;

/// An app on the accessibility bus.
pub(super) struct App {
    pub(super) pid: u32,
    /// The app's number of windows on the bus; `None` if the app does not answer.
    pub(super) windows: Option<i32>,
}

/// `owners` are the processes that have windows, frontmost first, with repetitions.
///
/// Adds a check for each app that has windows and cannot be driven, and a single check for all apps
/// that can be driven. Returns the pids of the latter, frontmost first.
pub(super) fn look(owners: &[u32], listed: &[App], checks: &mut Vec<Check>) -> Vec<u32> {
    let mut pids: Vec<u32> = vec![];
    for &pid in owners {
        if pid != 0 && !pids.contains(&pid) {
            pids.push(pid);
        }
    }
    let mut wrong = vec![];
    pids.retain(|&pid| {
        // An app that is embedded in another is on the bus twice, once without windows.
        let there = listed.iter().filter(|app| app.pid == pid);
        let answers = there.map(|app| app.windows);
        wrong.push(match answers.max_by_key(|w| w.unwrap_or(i32::MAX)) {
            Some(Some(1..)) => return true,
            Some(Some(_)) => deaf(pid, "shows none of its windows on the accessibility bus"),
            Some(None) => {
                let finding = format!("{} does not answer accessibility calls", who(pid));
                let remedy = "wait if it is busy, end it if it hangs. Other apps are not affected";
                Check::warn("app", finding, remedy)
            }
            None => deaf(pid, "is not on the accessibility bus"),
        });
        false
    });
    let names: Vec<_> = pids.iter().take(MOST).map(|pid| who(*pid)).collect();
    checks.push(match (pids.len(), wrong.len()) {
        (0, 0) => Check::ok(
            "apps",
            "no app has a window, so no tree and no screenshot were tried",
        ),
        (0, _) => Check::warn(
            "apps",
            "no app with a window is on the accessibility bus and answers",
            "see below",
        ),
        (good, bad) => {
            let (all, names) = (good.saturating_add(bad), names.join(", "));
            let on = "with windows are on the accessibility bus";
            Check::ok("apps", format!("{good} of {all} {on}: {names}"))
        }
    });
    let more = wrong.len().saturating_sub(MOST);
    checks.extend(wrong.into_iter().take(MOST));
    if more > 0 {
        let remedy = "fix the problems above first";
        checks.push(Check::warn("app", format!("{more} more"), remedy));
    }
    pids
}

/// The check for an app without a tree, or with an almost empty one. Names the packages that its
/// toolkit needs.
pub(super) fn deaf(pid: u32, how: &str) -> Check {
    match mapped::toolkit_of(pid) {
        Some((toolkit, remedy)) => Check::warn(
            "app",
            format!("{}, {toolkit}, {how}", who(pid)),
            match remedy {
                Some(remedy) => format!("end it and start it again {remedy}"),
                None => {
                    "it was started with accessibility turned on. End it and start it again. If \
                         that does not help, it was built without accessibility"
                        .to_owned()
                }
            },
        ),
        None => Check::warn(
            "app",
            format!("{}, of a toolkit unknown to Deskline, {how}", who(pid)),
            "its toolkit may have no accessibility. Agents look at the screenshot, and click by \
             coordinates",
        ),
    }
}

fn who(pid: u32) -> String {
    format!("{} (pid {pid})", process::name(pid))
}
