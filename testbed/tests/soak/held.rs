//! The resources that a server holds.

use std::collections::BTreeMap;
use std::fs;

use deskline_testbed::{Bed, Client, kilobytes, until};

/// The allocator keeps some of what was freed; a leak of a tree in each call is more than this.
const MOST_GROWTH_KB: usize = 4 * 1024;
const MOST_GROWTH_KB_PER_CALL: usize = 6;

#[derive(Debug)]
pub struct Held {
    descriptors: usize,
    threads: usize,
    children: usize,
    /// How many resources of each kind it holds.
    x_resources: BTreeMap<String, u32>,
    matches: Vec<u32>,
    kilobytes: u64,
}

/// How many entries a folder of the server's in /proc has.
fn count(server: &Client, folder: &str) -> usize {
    let folder = format!("/proc/{}/{folder}", server.pid);
    fs::read_dir(folder).unwrap().count()
}

/// The server's resources on the X server. Without the shape events of its windows, which other
/// clients select and which count as its own. Without the app windows that it has redirected for
/// pictures, each once and until the window closes.
fn resources(bed: &Bed, server: &Client) -> BTreeMap<String, u32> {
    let mut all = bed.screen().resources_of(server.pid);
    all.remove("ShapeEvent");
    let redirected = all.remove("CompositeClientWindow").unwrap_or(0);
    let windows = bed.screen().windows().len();
    assert!(
        redirected as usize <= windows,
        "{redirected} of {windows} windows redirected"
    );
    all
}

impl Held {
    pub fn by(bed: &Bed, server: &Client) -> Self {
        Self {
            descriptors: count(server, "fd"),
            threads: count(server, "task"),
            children: children(server),
            x_resources: resources(bed, server),
            matches: match_rules(bed, server),
            kilobytes: kilobytes(server.pid, "VmRSS"),
        }
    }

    /// Fails if the server holds more than this after this many further calls.
    pub fn is_all(&self, bed: &Bed, server: &Client, calls: usize) {
        let after = Self::by(bed, server);
        println!("{self:?}\n{after:?}");
        // Connections end with their apps. The server's thread pool keeps an idle thread for 10 s.
        until(&format!("no more than {self:?}"), || {
            let now = Self::by(bed, server);
            let more = now.descriptors > self.descriptors
                || now.threads > self.threads
                || now.children > self.children;
            (!more).then_some(())
        });
        let count = |held: &Self| held.x_resources.values().sum::<u32>();
        assert!(count(&after) <= count(self), "{after:?}");
        let mut rules = after.matches.iter().zip(&self.matches);
        assert!(rules.all(|(now, then)| now <= then), "{after:?}");
        let grown = after.kilobytes.saturating_sub(self.kilobytes);
        let allowed = MOST_GROWTH_KB + MOST_GROWTH_KB_PER_CALL * calls;
        assert!(grown < allowed as u64, "{grown} kB, {allowed} allowed");
    }
}

/// How many child processes the server has, including ended ones that were not reaped.
fn children(server: &Client) -> usize {
    let tasks = fs::read_dir(format!("/proc/{}/task", server.pid)).unwrap();
    let lists = tasks
        .flatten()
        .filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    lists.map(|list| list.split_whitespace().count()).sum()
}

/// The number of the server's match rules on the session bus and the accessibility bus.
fn match_rules(bed: &Bed, server: &Client) -> Vec<u32> {
    let accessibility = format!("--bus={}", bed.accessibility());
    let of_bus = |bus: &str| {
        let ask = |what: &[&str]| {
            let to = [
                "--print-reply",
                "--dest=org.freedesktop.DBus",
                "/org/freedesktop/DBus",
            ];
            let asked = bed
                .command("dbus-send")
                .arg(bus)
                .args(to)
                .args(what)
                .output();
            String::from_utf8(asked.unwrap().stdout).unwrap()
        };
        let names = ask(&["org.freedesktop.DBus.ListNames"]);
        let of = |name: &str| {
            let name = format!("string:{name}");
            // Either fails if the connection has just ended.
            let pid = ask(&["org.freedesktop.DBus.GetConnectionUnixProcessID", &name]);
            if number(&pid, "uint32") != Some(server.pid) {
                return None;
            }
            let stats = ask(&["org.freedesktop.DBus.Debug.Stats.GetConnectionStats", &name]);
            number(stats.split_once("\"MatchRules\"")?.1, "uint32")
        };
        let names = names.split('"').filter(|name| name.starts_with(':'));
        names.filter_map(of).sum()
    };
    vec![of_bus("--session"), of_bus(&accessibility)]
}

/// The first number of this type in what dbus-send prints.
fn number(reply: &str, kind: &str) -> Option<u32> {
    let mut words = reply.split_whitespace().skip_while(|word| *word != kind);
    words.nth(1)?.parse().ok()
}
