//! Ways in which an agent that may use some apps tries to run something else, and apps that pose as
//! allowed ones. Each must fail, through the real server, judged by a file that must not appear.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod posers;
mod recipes;
mod table;
mod trap;

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use deskline_testbed::{Bed, Client, Running, deskline, until};
use serde_json::json;
use table::ATTACKS;
use trap::Trap;

const OPEN: &str = "open_application_and_traverse";

/// How long an attack has. What is refused is refused at once.
const TIME: Duration = Duration::from_secs(6);

/// The apps that the person has granted to the agents that are asked about.
const GRANTED: [&str; 3] = [
    "/usr/bin/mousepad",
    "/usr/bin/chromium",
    "org.gnome.TextEditor",
];

/// Servers by their bounds. `PATH` and the data folders begin with one that the agent's apps can
/// write.
struct Servers<'b> {
    bed: &'b Bed,
    running: BTreeMap<String, Client>,
}

impl Servers<'_> {
    /// The server with these options, one string with spaces.
    fn with(&mut self, bounds: &str) -> &Client {
        let Self { bed, running } = self;
        running.entry(bounds.to_owned()).or_insert_with(|| {
            let bounds: Vec<&str> = bounds.split(' ').collect();
            let mut command = bed.serve_alone(&bounds);
            let path = format!("{}:/usr/bin:/bin", Trap::programs(bed).display());
            let data = format!("{}:/usr/share", Trap::data(bed).display());
            let variables = [("PATH", &*path), ("XDG_DATA_DIRS", &data)];
            Client::start({
                command.envs(variables).env("SHELL", "/bin/bash");
                command
            })
        })
    }
}

#[test]
fn no_known_way_runs_a_program_that_is_not_allowed() {
    let bed = Bed::new();
    for app in GRANTED {
        bed.run(deskline().to_str().unwrap(), &["grants", "allow", app]);
    }
    let mut servers = Servers {
        bed: &bed,
        running: BTreeMap::new(),
    };
    let mut traps = Vec::new();
    for (number, (name, bounds, attack)) in ATTACKS.iter().enumerate() {
        let trap = Trap::new(&bed, number);
        let identifier = attack(&trap);
        let call = json!({"identifier": identifier});
        let answer = servers.with(bounds).call_timeout(OPEN, call, TIME);
        if answer.is_none() {
            servers.running.remove(*bounds);
        }
        trap.clear();
        let is_refused = answer.is_some_and(|answer| answer.is_error);
        traps.push((*name, identifier, is_refused, trap));
    }
    let report = |(name, identifier, is_refused, trap): &(&str, String, bool, Trap)| {
        let ran = trap.mark.exists();
        let failed = ran || !is_refused;
        failed.then(|| format!("{name} (ran: {ran}, refused: {is_refused}): {identifier}"))
    };
    let failed: Vec<String> = traps.iter().filter_map(report).collect();
    assert!(
        failed.is_empty(),
        "{} of {}: {failed:#?}",
        failed.len(),
        traps.len()
    );
}

/// The bounds must let pass what they are meant for.
#[test]
fn allowed_apps_open_by_name_with_a_document_or_by_their_exact_command() {
    let bed = Bed::new();
    let notes = bed.path("notes.txt");
    fs::write(&notes, "notes").unwrap();
    let notes = notes.display();
    let mut servers = Servers {
        bed: &bed,
        running: BTreeMap::new(),
    };
    for (bounds, identifier) in [
        ("--allow-app mousepad", "mousepad".to_owned()),
        ("--allow-app /usr/bin/", "/usr/bin/mousepad".to_owned()),
        ("--allow-app /usr/bin/mousepad", format!("mousepad {notes}")),
        (
            "--allow-app org.xfce.mousepad",
            format!("Mousepad file://{notes}"),
        ),
        (
            "--allow-app org.xfce.mousepad-settings",
            "mousepad --preferences".to_owned(),
        ),
        (
            "--allow-app gnome-text-editor",
            "org.gnome.TextEditor".to_owned(),
        ),
        (
            "--allow-app mousepad --allow-commands",
            format!("mousepad --disable-server {notes}"),
        ),
    ] {
        servers.with(bounds).open(&identifier).ok();
    }
}

/// For access to each other, root's processes without capabilities are like those of one user.
#[test]
fn an_app_cannot_read_the_server_or_its_private_desktop() {
    let bed = Bed::new();
    let without = |program: &str| {
        let mut command = bed.command("setpriv");
        command.args(["--bounding-set=-all", "--inh-caps=-all", program]);
        command
    };
    let mut serve = without(deskline().to_str().unwrap());
    serve.args(["serve", "--desktop", "private", "--dir"]);
    serve.arg(bed.journal());
    let server = Client::start(serve);
    server.call("list_applications", json!({})).ok();
    let children = format!("/proc/{0}/task/{0}/children", server.pid);
    let children = fs::read_to_string(children).unwrap();
    let desktop = children.split_whitespace().next().unwrap();
    let app = Running(without("sleep").arg("60").spawn().unwrap());
    let reads = |pid: u32, file: &str| {
        let mut head = without("head");
        let done = head.arg("-c1").arg(format!("/proc/{pid}/{file}"));
        done.output().unwrap().status.success()
    };
    for file in ["environ", "maps", "auxv"] {
        until("the app", || reads(app.0.id(), file));
        for pid in [server.pid, desktop.parse().unwrap()] {
            assert!(!reads(pid, file), "{file} of {pid}");
        }
    }
}
