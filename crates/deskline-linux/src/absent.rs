//! Why a process that has a window is not on the accessibility bus.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use deskline_atspi::toolkits::mapped;
use deskline_contract::{Error, WindowHint};
use deskline_unix::process;

use crate::session::Session;

/// The hint about a process that is not on the bus.
pub(crate) fn hint(pid: u32, bus: &str, session: &Session) -> WindowHint {
    if process::are_elsewhere() {
        return WindowHint::NotOnBus;
    }
    let own = rustix::process::geteuid().as_raw();
    let user = fs::metadata(format!("/proc/{pid}")).map(|process| process.uid());
    if let Some(user) = user.ok().filter(|user| *user != own) {
        return WindowHint::OtherUser(user);
    }
    let environment = process::environment(Path::new("/proc"), pid.cast_signed());
    if is_on_another_bus(&environment, bus, session.session_bus.as_deref()) {
        return WindowHint::OtherBus;
    }
    mapped::hint(pid)
}

/// Adds the reason to an error that says that the app is not on the bus. Returns other errors
/// unchanged.
pub(crate) fn explain(e: Error, bus: &str, session: &Session) -> Error {
    match e {
        Error::NoWindow {
            pid,
            name,
            hint: WindowHint::NotOnBus | WindowHint::Restart { .. } | WindowHint::TurnedOn { .. },
        } => Error::no_window(pid, name, hint(pid, bus, session)),
        e => e,
    }
}

/// Whether an app with this environment joins another accessibility bus than `bus`, or asks another
/// session's bus for the address.
fn is_on_another_bus(
    environment: &BTreeMap<String, String>,
    bus: &str,
    session_bus: Option<&str>,
) -> bool {
    // The id of the bus in an address does not change where the address leads. So it is not
    // compared.
    let place = |address: &str| address.split(",guid=").next().map(str::to_owned);
    let differs = |name, ours: Option<&str>| {
        let its = environment.get(name).and_then(|its| place(its));
        let ours = ours.and_then(place);
        its.is_some() && ours.is_some() && its != ours
    };
    if environment.contains_key("AT_SPI_BUS_ADDRESS") {
        differs("AT_SPI_BUS_ADDRESS", Some(bus))
    } else {
        differs("DBUS_SESSION_BUS_ADDRESS", session_bus)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_app_on_another_session_bus_is_on_another_accessibility_bus() {
        let ours = Some("unix:path=/run/user/0/bus");
        let bus = "unix:path=/run/user/0/at-spi/bus,guid=7";
        let on = |name: &str, address: &str| {
            let variable = (name.to_owned(), address.to_owned());
            is_on_another_bus(&[variable].into(), bus, ours)
        };
        let session_bus = "DBUS_SESSION_BUS_ADDRESS";
        assert!(on(session_bus, "unix:path=/tmp/dbus-1,guid=1"));
        assert!(!on(session_bus, "unix:path=/run/user/0/bus,guid=1"));
        assert!(on("AT_SPI_BUS_ADDRESS", "unix:path=/tmp/other"));
        assert!(!on(
            "AT_SPI_BUS_ADDRESS",
            "unix:path=/run/user/0/at-spi/bus"
        ));
        assert!(!is_on_another_bus(&BTreeMap::new(), bus, ours));
    }
}
