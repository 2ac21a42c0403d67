//! Reports what an agent can do on this desktop, and what it cannot. Sends no input and moves no
//! window.

use deskline_contract::doctor::Check;
use deskline_contract::{Platform as _, Scope};

use crate::display::privilege;
use crate::display::windows::owner;
use crate::os::{front, picture, screen};
use crate::platform::WinPlatform;
use crate::process::{self, name};
use crate::{facts, guard};

/// Checks everything that a link needs.
pub fn examine() -> Vec<Check> {
    // Coordinates are physical pixels from here on.
    let _ = WinPlatform::new();
    if process::session() == Some(0) {
        return vec![Check::fail(
            "display",
            "this process runs as a service, in a session without a desktop",
            "start deskline from a program of the user who is logged in",
        )];
    }
    let place = screen();
    let (w, h) = (place.w, place.h);
    let at = format!(
        "{w}×{h} at ({}, {}), all monitors together",
        place.x, place.y
    );
    let mut checks = vec![Check::ok("display", at)];
    if process::is_remote() {
        checks.push(Check::warn(
            "session",
            "Remote Desktop: while its window is minimised or closed, Windows draws nothing and \
            takes no input",
            "keep its window open, or hand the session to the console: tscon %SESSIONNAME% /dest:console",
        ));
    }
    if facts::app_control() == Some(1) {
        checks.push(Check::warn(
            "start",
            "Smart App Control is on: it lets this version start, but may block the next version",
            "take versions with a signature, or turn it off in Windows Security",
        ));
    }
    if let Some(why) = privilege::kept_out() {
        checks.push(Check::fail(
            "input",
            why,
            "unlock the screen, or answer the question",
        ));
        return checks;
    }
    let front = front();
    checks.push(match front.map(owner) {
        Some(pid) if privilege::is_above(pid) => Check::warn(
            "input",
            format!(
                "{} runs as administrator: no input of this process reaches it",
                name(pid)
            ),
            "to let agents drive such programs, start the agent's client as administrator too",
        ),
        _ => Check::ok("input", "reaches programs that do not run as administrator"),
    });
    checks.push(match front.map(picture) {
        Some(Ok(taken)) => Check::ok("screenshot", format!("{}×{}", taken.width, taken.height)),
        Some(Err(e)) => Check::warn("screenshot", e.to_string(), "agents have only the trees"),
        None => Check::warn("screenshot", "no window is in front", "open an app"),
    });
    checks.push(tree(front.map(owner)));
    checks.push(match guard::probe() {
        Ok(()) => Check::ok(
            "input lock",
            "Windows gives hooks for the keyboard and the pointer",
        ),
        Err(why) => Check::warn(
            "input lock",
            format!("off: Windows gives no hooks: {why}"),
            "leave keyboard and mouse alone while an agent works",
        ),
    });
    checks
}

fn tree(pid: Option<u32>) -> Check {
    const NAME: &str = "tree";
    let mut desktop = match WinPlatform::new().connect() {
        Ok(desktop) => desktop,
        Err(e) => return Check::failed(NAME, &e.to_string(), "restart the session"),
    };
    let Some(pid) = pid else {
        return Check::warn(NAME, "no app is in front", "open an app");
    };
    match desktop.read(pid, Scope::Showing) {
        Ok(tree) => {
            let count = tree.elements.len();
            Check::ok(NAME, format!("{} answers: {count} elements", name(pid)))
        }
        Err(e) => Check::warn(NAME, e.to_string(), "see which app hangs"),
    }
}
