//! Ways out of a sealed desktop, tried from inside by `apps/escapes.py`. None of them may reach or
//! change what `apps/outside.py` has put outside.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, Command, Stdio};
use std::{env, fs};

use deskline_testbed::{Running, deskline, until};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::TOKEN;
use crate::client::Client;
use crate::server::{Server, of_a_user};

const APPS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/apps");

/// The folder of a service's user, as no other test has it: outside of `/home` and `/tmp`.
struct User(TempDir);

impl User {
    fn new() -> Self {
        Self(tempfile::tempdir_in("/opt").unwrap())
    }

    fn folder(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
}

/// What there is outside of the desktops of a server.
struct Outside {
    given: Value,
    /// Ends with its input.
    input: Option<ChildStdin>,
    process: Running,
}

impl Outside {
    fn new(user: &User, server: &Server) -> Self {
        let journal = server.folder.path().join("journal");
        let places = [
            ("the home", user.folder("home")),
            (
                "the home's state",
                user.folder("home/.local/state/deskline"),
            ),
            ("the settings", user.folder("config")),
            ("the temporary folder", "/tmp".into()),
            ("the lasting temporary folder", "/var/tmp".into()),
            ("root's home", "/root".into()),
            ("the homes", "/home".into()),
            ("the runtime folder", "/run".into()),
            ("the served folder", "/srv".into()),
            ("the mounts", "/mnt".into()),
            ("the journal of another", journal.join("desktops/0-0")),
            ("the audit", journal.join("audit")),
            ("the profile of another", journal.join("profiles/bob")),
        ];
        let places = places.map(|(name, folder)| format!("{name}={}", folder.display()));
        let mut process = Command::new("python3");
        process.arg(format!("{APPS}/outside.py")).args(places);
        let mut process = Running(
            process
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .unwrap(),
        );
        let mut line = String::new();
        let output = process.0.stdout.take().unwrap();
        BufReader::new(output).read_line(&mut line).unwrap();
        let mut given: Value = serde_json::from_str(&line).unwrap();
        given["token"] = json!(TOKEN);
        given["server"] = json!(server.port());
        Self {
            given,
            input: process.0.stdin.take(),
            process,
        }
    }
}

impl Drop for Outside {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.process.0.wait();
    }
}

/// Tries all ways out on a desktop of a server with these options. Returns those that led out, and
/// the whole log.
fn escapes(options: &[&str], which: &str) -> (Vec<String>, String) {
    escapes_of(Command::new(deskline()), options, which)
}

/// [`escapes`] of a server that is started by this command.
fn escapes_of(program: Command, options: &[&str], which: &str) -> (Vec<String>, String) {
    let user = User::new();
    let (home, config) = (user.folder("home"), user.folder("config"));
    for folder in [&home, &config] {
        fs::create_dir(folder).unwrap();
    }
    let variables: [(&str, &Path); 2] = [("HOME", &home), ("XDG_CONFIG_HOME", &config)];
    let options = [&["--desktops", "1", "--warm", "0"], options].concat();
    let server = Server::of(program, "127.0.0.1:0", &options, &variables);
    let outside = Outside::new(&user, &server);
    let profile = server.folder.path().join("journal/profiles/ann");
    fs::create_dir_all(&profile).unwrap();
    fs::copy(format!("{APPS}/escapes.py"), profile.join("escapes.py")).unwrap();
    fs::write(profile.join("given.json"), outside.given.to_string()).unwrap();
    let mut ann = Client::connect(&format!("{}?profile=ann", server.url));
    let run = format!("python3 escapes.py given.json {which} > log 2>&1");
    let line = format!("sh -c 'cd ~; ({run} &); exec zenity --info --text=begun'");
    ann.call(
        "open_application_and_traverse",
        &json!({"identifier": line}),
    );
    let log = until("the end of the escapes", || {
        let log = fs::read_to_string(profile.join("log")).unwrap_or_default();
        assert!(!log.contains("Traceback"), "{log}");
        log.ends_with("end\n").then_some(log)
    });
    println!("{log}");
    let forged = outside.given["forged"].as_str().unwrap();
    let lines = server.log.lock().unwrap();
    let unmarked = |line: &&String| line.contains(forged) && !line.contains("desktop=");
    assert_eq!(lines.iter().find(unmarked), None);
    let won = log.lines().filter_map(|line| line.strip_prefix("out "));
    (won.map(str::to_owned).collect(), log)
}

#[test]
fn no_way_leads_out_of_a_sealed_desktop() {
    let (won, log) = escapes(&[], "");
    assert_eq!(won, Vec::<String>::new(), "{log}");
    let tried = log.lines().count() - 1;
    assert!(tried > 100, "{tried}: {log}");
}

#[test]
fn no_way_leads_out_of_a_sealed_wayland_desktop() {
    let (won, log) = escapes_of(of_a_user(), &["--desktop", "private-wayland"], "");
    assert_eq!(won, Vec::<String>::new(), "{log}");
    let tried = log.lines().count() - 1;
    assert!(tried > 100, "{tried}: {log}");
}

#[test]
fn a_desktop_with_internet_reaches_no_port_of_this_machine() {
    let tun = fs::File::options().write(true).open("/dev/net/tun");
    if let Err(error) = tun {
        eprintln!("skipped: pasta needs /dev/net/tun: {error}");
        return;
    }
    let (won, log) = escapes_of(of_a_user(), &["--net", "internet"], "");
    assert_eq!(won, Vec::<String>::new(), "{log}");
    let interfaces = log.lines().find(|line| line.starts_with("interfaces "));
    let interfaces = interfaces.unwrap().split(' ').skip(1);
    assert!(interfaces.clone().any(|name| name != "lo"), "{log}");
}

/// A desktop that shares the network reaches what listens there, and nothing else.
#[test]
fn a_shared_network_gives_access_to_its_ports_alone() {
    let (won, log) = escapes(&["--net", "shared"], "");
    let network = [
        "tcp to loopback",
        "tcp to the machines address",
        "tcp by a mapped address",
        "udp to loopback",
        "the servers own port",
    ];
    assert_eq!(won, network, "{log}");
}

/// A test of the test: without a seal, most of the ways that are safe to try lead out.
#[test]
fn an_unsealed_desktop_has_most_of_the_ways_out() {
    let (won, log) = escapes(&["--unsealed"], "safe");
    assert!(won.len() > 50, "{}: {log}", won.len());
}
