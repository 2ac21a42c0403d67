//! Checks a display system by the abilities that it reports. The report has a row for each ability.

use deskline_contract::Missing;

use deskline_wayland::{BY_PROTOCOLS, wlr_lacks};

use super::remedy::{NOBODY, PRIVATE};
use crate::session::Session;
use crate::{display, guard};
use deskline_contract::doctor::{Check, Fix};

/// Each capability, and the consequence for agents if it is missing.
const WINDOWS: (&str, &str) = (
    "windows",
    "apps are listed by their accessibility trees, and coordinates are relative to each window",
);
const RAISE: (&str, &str) = ("raise", "no window is brought to the front");
const POINTER: (&str, &str) = (
    "pointer",
    "no clicks, drags or scrolling: agents act through the accessibility trees alone",
);
const KEYS: (&str, &str) = (
    "keys",
    "no typing and no keys: agents act through the accessibility trees alone",
);
const GUARD: &str = "input lock";
const PICTURE: (&str, &str) = ("screenshot", "agents have only the trees");

/// Checks a Wayland session that Deskline drives without X11.
pub(super) fn look(session: &Session, attended: bool) -> Vec<Check> {
    let wayland = session.wayland_display.as_deref().unwrap_or_default();
    let Some(compositor) = session.compositor() else {
        let finding = format!("the Wayland display {wayland} does not answer");
        let remedy = format!("log in again, or {PRIVATE}");
        return vec![Check::fail("display", finding, remedy)];
    };
    let mut display = match display::connect(session) {
        Ok(display) => display,
        Err(e) => return vec![Check::failed("display", &e.to_string(), PRIVATE)],
    };
    let found = display.findings();
    let guard = if !attended && session.is_private_wayland() {
        Ok(NOBODY.to_owned())
    } else {
        guard::finding(session, &mut *display)
    };
    let row =
        |(name, loss): (&'static str, &str), missing: &Option<Missing>, way: &str| match missing {
            None => Check::ok(name, way),
            Some(Missing(why)) if found.has_reasons => {
                Check::warn(name, format!("no: {loss}. For {why}"), "")
            }
            Some(_) => Check::warn(name, format!("no: {loss}"), ""),
        };
    let (windows, raising) = (display.screen().err(), display.raising().err());
    let (pointer, keys) = (display.pointer_input().err(), display.key_input().err());
    let pictures = display.pictures().err();
    let alone =
        format!("leave keyboard and mouse alone while an agent types and clicks, or {PRIVATE}");
    let unguarded = |why: String| match guard::install(session) {
        None => Check::warn(GUARD, why, &alone),
        Some(command) => {
            let remedy = format!("as root: {command}; then restart the client. Or {alone}");
            Check::warn(GUARD, why, remedy).mended_by(Fix::Root(command))
        }
    };
    let input = pointer.is_none() || keys.is_none();
    let mends = found.mends_pictures.clone();
    vec![
        if input {
            Check::ok("display", format!("{wayland}, {compositor}: Wayland"))
        } else {
            let lacks = lacks(session);
            let finding = format!("{wayland}, {compositor}: Wayland, without X11{lacks}");
            let remedy = format!("for what is missing log in to an X11 session, or {PRIVATE}");
            Check::warn("display", finding, remedy)
        },
        row(WINDOWS, &windows, BY_PROTOCOLS),
        row(RAISE, &raising, found.raise),
        row(POINTER, &pointer, found.pointer),
        row(KEYS, &keys, found.keys),
        with_fix(row(PICTURE, &pictures, BY_PROTOCOLS), pictures, mends),
        match guard {
            _ if !input => Check::ok(GUARD, "not needed: no input is sent"),
            Ok(how) => Check::ok(GUARD, how),
            Err(why) => unguarded(why),
        },
    ]
}

/// The protocols that the compositor does not offer, as a sentence to append. Empty if it offers
/// all.
fn lacks(session: &Session) -> String {
    let wlr = session.wlr();
    let lacks = wlr.map_or_else(Vec::new, |(socket, _)| wlr_lacks(&socket));
    match lacks.join(", ") {
        names if names.is_empty() => names,
        names => format!(". It does not offer {names}"),
    }
}

/// Adds the repair to the row, if the ability is missing and one step repairs it.
fn with_fix(row: Check, missing: Option<Missing>, fix: Option<Fix>) -> Check {
    let (Some(Missing(why)), Some(fix)) = (missing, fix) else {
        return row;
    };
    let remedy = match fix {
        Fix::KwinFile => "deskline doctor --fix, and then restart the client",
        // A running server notices the change by itself.
        _ => "deskline doctor --fix",
    };
    Check::warn(row.name, why, remedy).mended_by(fix)
}
