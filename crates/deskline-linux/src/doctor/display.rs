//! Checks the display: whether it answers and lets us in, and whether it supports windows, input
//! and pictures.

use x11rb::connection::{Connection as _, RequestConnection as _};

use super::remedy::{NOBODY, PRIVATE};
use super::wayland;
use crate::session::Session;
use deskline_contract::Pictures as _;
use deskline_contract::doctor::Check;
use deskline_x11::connection::Connection;
use deskline_x11::{Kind, Toplevel, X11};

const DISPLAY: &str = "display";
const EXTENSIONS: &str = "X extensions";

/// X extensions, the ability that depends on each, and whether it is required.
#[rustfmt::skip]
const NEEDED: [(&str, &str, bool); 7] = [
    ("XTEST", "keys, clicks and scrolling", true), ("XKEYBOARD", "typing", true),
    ("XInputExtension", OF_INPUT, false), ("Composite", OF_COVERED, false),
    ("DAMAGE", OF_COVERED, false), ("MIT-SHM", "quick screenshots", false),
    ("X-Resource", OF_PROCESS, false),
];

const OF_INPUT: &str = "distinguishing your input from the agent's";
const OF_COVERED: &str = "screenshots of windows that others cover";
const OF_PROCESS: &str = "finding the process of a window that does not name it";

/// Checks the display. Also returns its app windows, frontmost first, if they could be read.
pub(super) fn look(session: &Session, attended: bool) -> (Vec<Check>, Option<Vec<Toplevel>>) {
    let native = || (wayland::look(session, attended), None);
    let has_wayland = session.wayland_display.is_some();
    if session.is_driven_natively() || session.display.is_none() && has_wayland {
        return native();
    }
    let Some(display) = &session.display else {
        return (vec![absent(session)], None);
    };
    let (raw, screen) = match session.connect_x11() {
        Ok(connected) => connected,
        Err(_) if has_wayland => return native(),
        Err(e) => return (vec![refused(display, &e.to_string())], None),
    };
    let mut checks = vec![Check::ok(DISPLAY, facts(display, &raw, screen))];
    if let Some(wayland) = &session.wayland_display {
        let finding = format!(
            "{wayland}: apps that do not run through Xwayland are read and pressed \
            through accessibility, but take no clicks and keys, and give no screenshots"
        );
        let remedy = format!(
            "start such apps with GDK_BACKEND=x11, QT_QPA_PLATFORM=xcb or \
            --ozone-platform=x11, log in to an X11 session, or {PRIVATE}"
        );
        checks.push(Check::warn("Wayland", finding, remedy));
    }
    extensions(&raw, &mut checks);
    let lacks_extension = |c: &Check| c.name == EXTENSIONS && !c.remedy.is_empty();
    let x11 = match X11::connect(display, session.xauthority.as_deref()) {
        Ok(x11) => x11,
        // The check of the extensions has already reported the missing one.
        Err(_) if checks.iter().any(lacks_extension) => return (checks, None),
        Err(e) => {
            checks.push(refused(display, &e.to_string()));
            return (checks, None);
        }
    };
    checks.push(match x11.has_window_manager() {
        Ok(true) => Check::ok("window manager", "running"),
        Ok(false) => Check::warn(
            "window manager",
            "none: windows cannot be brought to the front or distinguished from others reliably",
            "start your desktop's window manager, or another one such as xfwm4, on this display",
        ),
        Err(e) => Check::failed("window manager", &e.to_string(), PRIVATE),
    });
    match x11.toplevels() {
        Ok(mut windows) => {
            let shown = [Kind::Normal, Kind::Dialog, Kind::Utility, Kind::Toolbar];
            windows.retain(|w| shown.contains(&w.kind) && (w.viewable || w.minimised));
            (checks, Some(windows))
        }
        Err(e) => {
            checks.push(Check::failed("windows", &e.to_string(), PRIVATE));
            (checks, None)
        }
    }
}

/// Takes a picture of a window, as every link does.
pub(super) fn picture(session: &Session, window: &Toplevel) -> Check {
    let display = session.display.as_deref().unwrap_or_default();
    let taken = X11::connect(display, session.xauthority.as_deref())
        .and_then(|mut x11| x11.picture(window.window().id));
    match taken {
        Ok(deskline_contract::Picture { width, height, .. }) => {
            let title = &window.title;
            let seen = format!("{width}×{height} of {title:?}, the front window");
            Check::ok("screenshot", seen)
        }
        Err(e) => {
            let loss = "agents see only the trees of such windows";
            Check::warn("screenshot", e.to_string(), loss)
        }
    }
}

const GUARD: &str = "input lock";

/// Checks whether the person's input can be kept apart from the agent's.
pub(super) fn guard(session: &Session, attended: bool) -> Check {
    let display = session.display.as_deref().unwrap_or_default();
    let private = || X11::connect(display, session.xauthority.as_deref())?.is_private();
    if !attended && private().unwrap_or(false) {
        return Check::ok(
            GUARD,
            format!("{NOBODY}. With --attended your input is blocked and your window put back"),
        );
    }
    let why = match deskline_x11::guard::look(display, session.xauthority.as_deref()) {
        Ok(Ok(devices)) => {
            let devices = devices.join(", ");
            let people = deskline_x11::people::programs(display).join(", ");
            if !people.is_empty() {
                let seen = format!(
                    "{devices} are blocked while an agent's input is sent. Input from {people} is \
                    not blocked, as it arrives by XTEST like the agent's, and Esc there does not cancel"
                );
                return Check::warn(GUARD, seen, alone());
            }
            let what = "Esc cancels, and these are blocked while an agent's input is sent";
            return Check::ok(GUARD, format!("{what}: {devices}"));
        }
        Ok(Err(why)) => why,
        Err(error) => error.to_string(),
    };
    Check::warn(GUARD, why, alone())
}

pub(super) fn no_guard() -> Check {
    Check::warn(GUARD, "the X server does not answer in time", alone())
}

fn alone() -> String {
    format!("leave keyboard and mouse alone while an agent types and clicks, or {PRIVATE}")
}

fn absent(session: &Session) -> Check {
    let missing = session.missing();
    let why = missing.iter().find(|m| m.contains("DISPLAY"));
    Check::failed(DISPLAY, why.map_or("none", String::as_str), PRIVATE)
}

fn refused(display: &str, error: &str) -> Check {
    // The rest of the error tells an agent to run the doctor, which is what runs here.
    let error = error.split_once(". ").map_or(error, |(what, _)| what);
    let said = error.to_lowercase();
    if said.contains("authoriz") || said.contains("magic-cookie") {
        return Check::fail(
            DISPLAY,
            format!("{display} refuses this user, whose cookie is missing or wrong: {error}"),
            "set XAUTHORITY in the server's environment to what `echo $XAUTHORITY` in a terminal \
             on that desktop prints, or run there: xhost +si:localuser:$USER",
        );
    }
    Check::failed(
        DISPLAY,
        &format!("{display}: {error}"),
        "set DISPLAY in the server's environment to that of a running desktop, or unset it so \
        that Deskline finds one",
    )
}

fn facts(display: &str, raw: &Connection, screen: usize) -> String {
    let setup = raw.setup();
    let vendor = String::from_utf8_lossy(&setup.vendor);
    // X.Org writes 1.20.4 as 12004000, and from version 21 on leaves out the leading 1.
    let number = setup.release_number;
    let (minor, patch) = (number / 100_000 % 100, number / 1_000 % 100);
    let server = match vendor.as_ref() {
        "The X.Org Foundation" if minor >= 21 => format!("X.Org {minor}.{patch}"),
        "The X.Org Foundation" => format!("X.Org 1.{minor}.{patch}"),
        other => format!("{other} {number}"),
    };
    let size = setup.roots.get(screen).map_or_else(String::new, |root| {
        format!(", {}×{}", root.width_in_pixels, root.height_in_pixels)
    });
    format!("{display}, {server}{size}")
}

fn extensions(raw: &Connection, checks: &mut Vec<Check>) {
    let has = |name| matches!(raw.extension_information(name), Ok(Some(_)));
    let missing: Vec<_> = NEEDED.iter().filter(|(name, ..)| !has(name)).collect();
    if missing.is_empty() {
        checks.push(Check::ok(
            EXTENSIONS,
            NEEDED.map(|(name, ..)| name).join(", "),
        ));
    }
    for (name, loss, vital) in missing {
        let finding = format!("{name} is missing, which is needed for {loss}");
        let remedy = format!(
            "start the X server with this extension: no `-extension {name}` on its command line, no Option \
             \"{name}\" \"Disable\" in xorg.conf"
        );
        checks.push(if *vital {
            Check::fail(EXTENSIONS, finding, remedy)
        } else {
            Check::warn(EXTENSIONS, finding, remedy)
        });
    }
}
