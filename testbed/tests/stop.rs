//! A stopped server exits with 0, and leaves no key pressed and no process running.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

use deskline_testbed::{App, Bed, Toolkit, tests, until};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

/// A server, with raw lines as input and output.
struct Raw {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<std::process::ChildStdout>,
}

impl Raw {
    fn start(mut command: Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        Self {
            input: child.stdin.take(),
            output: BufReader::new(child.stdout.take().unwrap()),
            child,
        }
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.input.as_mut().unwrap(), "{message}").unwrap();
    }

    fn request(&mut self, id: u32, method: &str, params: &Value) {
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
    }

    fn receive(&mut self) -> Value {
        let mut line = String::new();
        assert!(
            self.output.read_line(&mut line).unwrap() > 0,
            "the server has ended"
        );
        serde_json::from_str(&line).unwrap()
    }

    fn initialize(&mut self) {
        let params = json!({
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "raw", "version": "1"},
        });
        self.request(0, "initialize", &params);
        assert_eq!(self.receive()["result"]["protocolVersion"], "2025-06-18");
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    }

    /// Starts to type a text that takes many seconds.
    fn type_long(&mut self, app: &App<'_>) {
        let arguments = json!({
            "pid": app.pid, "element": "Name", "role": "AXTextField",
            "text": "the quick brown Fox ".repeat(500), "pressKeyModifiers": ["Shift"],
            "pressKey": "Tab",
        });
        self.request(
            1,
            "tools/call",
            &json!({"name": "click_and_traverse", "arguments": arguments}),
        );
        until("typing", || app.log().first().cloned());
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Waits for the exit; returns the status and how long it took.
    fn end(&mut self) -> (Option<i32>, Duration) {
        let begun = Instant::now();
        let status = until("the server's end", || self.child.try_wait().unwrap());
        (status.code(), begun.elapsed())
    }
}

fn stops_while_typing(stop: impl Fn(&mut Raw)) {
    let bed = Bed::new();
    let app = bed.widgets(Toolkit::Gtk3);
    let screen = bed.screen();
    screen.move_pointer(1700, 900);
    let mut raw = Raw::start(bed.serve(&[]));
    raw.initialize();
    raw.type_long(&app);
    stop(&mut raw);
    let (code, took) = raw.end();
    assert_eq!(code, Some(0));
    assert!(took < Duration::from_secs(3), "{took:?}");
    assert_eq!(screen.pressed(), (vec![], 0));
    assert_eq!(screen.pointer(), (1700, 900));
    std::thread::sleep(Duration::from_millis(300));
    let typed = app.log().len();
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(app.log().len(), typed, "it types on");
    assert!(!app.log().iter().any(|l| l.starts_with("activated")));
}

tests! {
    a_server_stops_at_the_end_of_its_input => stops_while_typing(|raw| drop(raw.input.take())),
    a_server_stops_at_sigint => stops_while_typing(|raw| raw.signal(Signal::INT)),
    a_server_stops_at_sigterm => stops_while_typing(|raw| raw.signal(Signal::TERM)),
}

#[test]
fn a_server_stops_without_any_request() {
    let bed = Bed::new();
    for stop in [None, Some(Signal::INT), Some(Signal::TERM)] {
        let mut raw = Raw::start(bed.serve(&[]));
        raw.initialize();
        match stop {
            Some(signal) => raw.signal(signal),
            None => drop(raw.input.take()),
        }
        assert_eq!(raw.end().0, Some(0), "{stop:?}");
    }
}

#[test]
fn a_server_stops_after_a_client_that_does_not_initialize() {
    let bed = Bed::new();
    let mut raw = Raw::start(bed.serve(&[]));
    let meta = json!({"_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    }});
    raw.request(1, "server/discover", &meta);
    let answer = raw.receive();
    assert!(answer["result"]["instructions"].is_string(), "{answer}");
    let app = bed.widgets(Toolkit::Gtk3);
    let mut call = meta.clone();
    call["name"] = "click_and_traverse".into();
    call["arguments"] = json!({"pid": app.pid, "element": "OK", "role": "AXButton"});
    raw.request(2, "tools/call", &call);
    let answer = loop {
        let message = raw.receive();
        if message["id"] == 2 {
            break message;
        }
    };
    assert_eq!(answer["result"]["isError"], false, "{answer}");
    assert_eq!(app.log(), ["clicked OK"]);
    drop(raw.input.take());
    assert_eq!(raw.end().0, Some(0));
}

/// A server with a private desktop ends it, with all that runs on it.
#[test]
fn a_private_desktop_ends_with_its_server() {
    for kill in [false, true] {
        let mut command = Command::new(deskline_testbed::deskline());
        let journal = tempfile::tempdir().unwrap();
        command.args(["serve", "--desktop", "private"]);
        command.arg("--dir").arg(journal.path().join("journal"));
        let mut raw = Raw::start(command);
        raw.initialize();
        let arguments = json!({"identifier": "mousepad"});
        let name = "open_application_and_traverse";
        raw.request(
            1,
            "tools/call",
            &json!({"name": name, "arguments": arguments}),
        );
        let answer = raw.receive();
        let text = answer["result"]["content"][0]["text"]
            .as_str()
            .unwrap()
            .to_owned();
        let pid = text.lines().find_map(|l| l.strip_prefix("pid: "));
        let pid: u32 = pid.unwrap_or_else(|| panic!("{text}")).parse().unwrap();
        let app = format!("/proc/{pid}");
        assert!(std::path::Path::new(&app).exists());
        if kill {
            raw.child.kill().unwrap();
        } else {
            drop(raw.input.take());
        }
        assert_eq!(raw.end().0, (!kill).then_some(0));
        until("the app's end", || !std::path::Path::new(&app).exists());
        let mut rest = String::new();
        raw.output.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "");
    }
}
