//! Checks the buses: whether accessibility is available and on, which apps are on the accessibility
//! bus and answer, and whether a tree can be read.

use std::time::{Duration, Instant};

use deskline_contract::Scope;

use super::apps::{self, App};
use super::remedy::PRIVATE;
use crate::packages::{self, Package};
use crate::session::Session;
use deskline_atspi::bus::{self, Call, Connection};
use deskline_atspi::{AtSpi, Listed, accessibility_bus};
use deskline_contract::doctor::{Check, Fix};

/// An app that takes longer than this to answer is reported as hanging.
const ANSWER: Duration = Duration::from_millis(700);

/// More elements show in a browser window than this if it exposes its page and buttons. If it
/// exposes only its frame, 4 do.
const FRAME: usize = 10;

const ACCESSIBILITY: &str = "accessibility";

const RESTART: [&str; 4] = ["systemctl", "--user", "restart", "at-spi-dbus-bus"];

/// The address of the accessibility bus and the apps on it.
pub(super) struct Found {
    pub(super) address: String,
    pub(super) apps: Vec<App>,
}

/// Checks the buses; also returns the apps on the accessibility bus.
pub(super) fn look(session: &Session) -> (Vec<Check>, Option<Found>) {
    let Some(session_bus) = &session.session_bus else {
        let missing = session.missing();
        let why = missing
            .iter()
            .find(|m| m.contains("DBUS_SESSION_BUS_ADDRESS"));
        let why = why.map_or("none", String::as_str);
        return (vec![Check::failed("session bus", why, PRIVATE)], None);
    };
    let mut checks = vec![match Connection::open(session_bus, ANSWER) {
        Ok(_) => Check::ok(
            "session bus",
            session_bus.split(",guid=").next().unwrap_or_default(),
        ),
        Err(e) => {
            let finding = format!("{session_bus} does not answer: {e}");
            let remedy = "set DBUS_SESSION_BUS_ADDRESS in the server's environment to that of the \
                          desktop session, or log in again";
            return (vec![Check::fail("session bus", finding, remedy)], None);
        }
    }];
    let address = match accessibility_bus::address(session_bus) {
        Ok(address) => address,
        Err(e) => {
            let remedy = format!("install at-spi2-core and log in again, or {PRIVATE}");
            let install = Fix::Root(packages::install(&[Package::AtSpi]));
            let check = Check::failed(ACCESSIBILITY, &e.to_string(), &remedy);
            checks.push(check.mended_by(install));
            return (checks, None);
        }
    };
    let found = match list(&address) {
        Ok(apps) => Found { address, apps },
        Err(e) => {
            let check = Check::fail(
                ACCESSIBILITY,
                format!("the accessibility bus at {address} does not answer: {e}"),
                format!("run `{}` or log in again, or {PRIVATE}", RESTART.join(" ")),
            );
            let restart = RESTART.map(str::to_owned).to_vec();
            checks.push(check.mended_by(Fix::Command(restart)));
            return (checks, None);
        }
    };
    checks.push(match accessibility_bus::is_enabled(session_bus) {
        Ok(true) => Check::ok(ACCESSIBILITY, "on"),
        Ok(false) => Check::warn(
            ACCESSIBILITY,
            "off (IsEnabled of org.a11y.Status is false): apps may not show their trees",
            "the first call turns it on. Restart apps that ran before and still have no tree",
        )
        .mended_by(Fix::Accessibility),
        Err(e) => Check::failed(ACCESSIBILITY, &e.to_string(), PRIVATE),
    });
    (checks, Some(found))
}

/// Lists the apps on the bus. Asks all apps at once for their number of windows.
fn list(address: &str) -> Result<Vec<App>, bus::Error> {
    let listed = AtSpi::connect(address)?.apps()?;
    let (root, interface) = (
        "/org/a11y/atspi/accessible/root",
        "org.a11y.atspi.Accessible",
    );
    let names = listed.iter().map(|app| app.bus_name.as_str());
    let calls = names.map(|name| Call::get(name, root, interface, "ChildCount"));
    let mut windows = vec![None; listed.len()];
    let mut bus = Connection::open(address, ANSWER)?;
    let count = listed.len().max(1);
    let asked = bus.batch(calls, count, Instant::now() + ANSWER, |i, reply| {
        // An error is an answer too, from an app that is there but has no windows.
        windows[i] = Some(reply.map_or(0, |m| m.reader().variant_i32().unwrap_or(0)));
    });
    match asked {
        Ok(()) | Err(bus::Error::Timeout) => {}
        Err(e) => return Err(e),
    }
    let app = |(Listed { pid, .. }, windows)| App { pid, windows };
    Ok(listed.into_iter().zip(windows).map(app).collect())
}

/// Reads a tree, as every link does: the tree of the first of these apps that has a tree. Also
/// names the apps that expose their frame but not their contents.
pub(super) fn tree(address: &str, pids: &[u32]) -> Vec<Check> {
    let remedy = "start the app again. If no app can be read, log out and in again";
    let mut atspi = match AtSpi::connect(address) {
        Ok(atspi) => atspi,
        Err(e) => return vec![Check::fail("tree", e.to_string(), remedy)],
    };
    let mut read = Err("no app to read".to_owned());
    let mut hollow = vec![];
    for &pid in pids {
        let keeps_back = deskline_atspi::toolkits::mapped::keeps_content_back(pid);
        if read.is_ok() && !keeps_back {
            continue;
        }
        let finding = match atspi.read(pid, Scope::Showing, &deskline_atspi::Windows::default()) {
            Ok(tree) if tree.elements.len() > 1 => {
                let (count, ms) = (tree.elements.len(), tree.took.as_millis());
                if keeps_back && count < FRAME {
                    hollow.push(apps::deaf(pid, "shows its frame, but not its contents"));
                }
                let name = atspi.name_of(pid);
                Ok(format!(
                    "{} of {name} (pid {pid}) in {ms} ms",
                    deskline_core::escape::count(count, "showing element")
                ))
            }
            Ok(tree) => Err(format!("{} (pid {pid}) shows no elements", tree.app.name)),
            Err(e) => Err(e.to_string()),
        };
        if read.is_err() {
            read = finding;
        }
    }
    let read = read.map_or_else(
        |e| Check::failed("tree", &e, remedy),
        |ok| Check::ok("tree", ok),
    );
    [read].into_iter().chain(hollow).collect()
}
