//! Apps behind a proxy of the bus, which Flatpak starts for them. The bus daemon reports the
//! process of the proxy as theirs.

use std::time::{Duration, Instant};

use deskline_unix::{clients, flatpak, process};

use crate::atspi::AtSpi;
use crate::bus::{self, Call};
use crate::names::{ACCESSIBLE, ROOT};

/// The name of the proxy's process.
const PROXY: &str = "xdg-dbus-proxy";

/// How long apps behind one proxy may take to return their names.
const AT_ONCE: Duration = Duration::from_millis(200);

impl AtSpi {
    /// Replaces the pids of proxies by those of the apps that are connected to them.
    pub(crate) fn look_behind_proxies(&mut self, new: &[String]) -> bus::Result {
        let mut proxies: Vec<(u32, Vec<String>)> = Vec::new();
        for name in new {
            let pid = self.pids.get(name).copied().unwrap_or_default();
            match proxies.iter_mut().find(|(proxy, _)| *proxy == pid) {
                Some((_, names)) => names.push(name.clone()),
                None if process::name(pid) == PROXY => proxies.push((pid, vec![name.clone()])),
                None => {}
            }
        }
        for (proxy, names) in proxies {
            let mut clients = clients::connected_to(proxy);
            if clients.is_empty() {
                // A Flatpak without network access has a network namespace of its own, in which its
                // connection cannot be found from here.
                clients = flatpak::beside(proxy);
            }
            let clients: Vec<(u32, String)> = clients
                .into_iter()
                .map(|pid| (pid, process::name(pid)))
                .collect();
            let called = match clients.len() {
                0 => continue,
                1 => vec![String::new(); names.len()],
                _ => self.names_of_all(&names)?,
            };
            let pids = assign(&called, clients);
            self.pids.extend(names.into_iter().zip(pids));
        }
        Ok(())
    }

    /// The apps' own names; empty if an app does not answer at once.
    fn names_of_all(&mut self, bus_names: &[String]) -> bus::Result<Vec<String>> {
        let calls = bus_names
            .iter()
            .map(|name| Call::get(name, ROOT, ACCESSIBLE, "Name"));
        let mut called = vec![String::new(); bus_names.len()];
        let end = Instant::now() + AT_ONCE;
        let asked = self.bus.batch(calls, 64, end, |i, reply| {
            if let (Ok(message), Some(called)) = (reply, called.get_mut(i)) {
                let name = message.reader().variant_str().unwrap_or_default();
                name.clone_into(called);
            }
        });
        match asked {
            Err(bus::Error::Timeout) | Ok(()) => Ok(called),
            Err(e) => Err(e),
        }
    }
}

/// Assigns each app one of the processes that are connected to its proxy: the one that has the
/// app's name, or else the next one in order. When none is left, the last process is taken again.
fn assign(called: &[String], mut clients: Vec<(u32, String)>) -> Vec<u32> {
    let is = |app: &str, process: &str| {
        let (app, process) = (app.to_lowercase(), process.to_lowercase());
        !process.is_empty() && (app == process || app.rsplit('.').next() == Some(&process))
    };
    let mut take = |wanted: &dyn Fn(&str) -> bool| {
        let at = clients.iter().position(|(_, process)| wanted(process))?;
        match clients.len() {
            1 => clients.first().map(|(pid, _)| *pid),
            _ => Some(clients.remove(at).0),
        }
    };
    let mut pids: Vec<Option<u32>> = called
        .iter()
        .map(|app| take(&|process| is(app, process)))
        .collect();
    for pid in &mut pids {
        if pid.is_none() {
            *pid = take(&|_| true);
        }
    }
    pids.into_iter().map(Option::unwrap_or_default).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assigned(called: &[&str], clients: &[(u32, &str)]) -> Vec<u32> {
        let called: Vec<String> = called.iter().map(|&name| name.to_owned()).collect();
        let clients = clients.iter().map(|(pid, name)| (*pid, (*name).to_owned()));
        assign(&called, clients.collect())
    }

    #[test]
    fn a_lone_client_of_the_proxy_gets_all_registrations() {
        assert_eq!(assigned(&["a", "b"], &[(7, "x")]), [7, 7]);
    }

    #[test]
    fn clients_of_one_proxy_are_known_by_their_names() {
        let clients = [(5, "helper"), (6, "gedit"), (7, "calculator")];
        let called = ["org.example.Calculator", "gedit"];
        assert_eq!(assigned(&called, &clients), [7, 6]);
    }

    #[test]
    fn clients_whose_names_match_nothing_are_assigned_in_order() {
        assert_eq!(assigned(&["Ä", "Ö"], &[(5, "x"), (6, "y")]), [5, 6]);
    }
}
