//! What a server holds.

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
    /// How many of each kind.
    x_resources: BTreeMap<String, u32>,
    matches: Vec<u64>,
    kilobytes: u64,
}

/// How many entries a folder of the server's in /proc has.
fn count(server: &Client, folder: &str) -> usize {
    let folder = format!("/proc/{}/{folder}", server.pid);
    fs::read_dir(folder).unwrap().count()
}

impl Held {
    pub fn by(bed: &Bed, server: &Client) -> Self {
        Self {
            descriptors: count(server, "fd"),
            threads: count(server, "task"),
            children: children(server),
            x_resources: bed.screen().resources_of(server.pid),
            matches: match_rules(bed),
            kilobytes: kilobytes(server.pid, "VmRSS"),
        }
    }

    /// Fails if the server holds more than this after so many further calls.
    pub fn is_all(&self, bed: &Bed, server: &Client, calls: usize) {
        let after = Self::by(bed, server);
        println!("{self:?}\n{after:?}");
        // Connections end with their apps; the server's pool keeps a thread that has nothing to do
        // for 10 s.
        until(&format!("no more than {self:?}"), || {
            let now = Self::by(bed, server);
            let more = now.descriptors > self.descriptors
                || now.threads > self.threads
                || now.children > self.children;
            (!more).then_some(())
        });
        let count = |held: &Self| held.x_resources.values().sum::<u32>();
        assert!(count(&after) <= count(self), "{after:?}");
        // Those of the apps count too, some of which have ended.
        let mut rules = after.matches.iter().zip(&self.matches);
        assert!(rules.all(|(now, then)| now <= then), "{after:?}");
        let grown = after.kilobytes.saturating_sub(self.kilobytes);
        let allowed = MOST_GROWTH_KB + MOST_GROWTH_KB_PER_CALL * calls;
        assert!(grown < allowed as u64, "{grown} kB, {allowed} allowed");
    }
}

/// How many processes the server has started that are there, ended ones too.
fn children(server: &Client) -> usize {
    let tasks = fs::read_dir(format!("/proc/{}/task", server.pid)).unwrap();
    let lists = tasks
        .flatten()
        .filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    lists.map(|list| list.split_whitespace().count()).sum()
}

/// The number of match rules on the session bus and the accessibility bus.
fn match_rules(bed: &Bed) -> Vec<u64> {
    let ask = |which: &[&str]| {
        let mut args = which.to_vec();
        args.extend([
            "--dest=org.freedesktop.DBus",
            "--print-reply",
            "/org/freedesktop/DBus",
            "org.freedesktop.DBus.Debug.Stats.GetStats",
        ]);
        let stats = bed.run("dbus-send", &args);
        let mut lines = stats.lines().skip_while(|l| !l.contains("\"MatchRules\""));
        let rules = lines.nth(1).expect("MatchRules in the bus's statistics");
        rules
            .split_whitespace()
            .last()
            .unwrap()
            .parse::<u64>()
            .unwrap()
    };
    let address = bed.run(
        "dbus-send",
        &[
            "--session",
            "--print-reply=literal",
            "--dest=org.a11y.Bus",
            "/org/a11y/bus",
            "org.a11y.Bus.GetAddress",
        ],
    );
    let accessibility = format!("--bus={}", address.trim());
    vec![ask(&["--session"]), ask(&[&accessibility])]
}
