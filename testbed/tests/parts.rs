//! Parts of a desktop that are killed and started anew while a server runs: window manager,
//! accessibility bus, session bus, X server, compositor. A call meanwhile ends in time and names
//! what is lost; the next one works, with the same client. And a journal whose disk is full,
//! read-only or slow, and a desktop that stands still for a while.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use deskline_testbed::person::Person;
use deskline_testbed::{Answer, Bed, Client, Compositor, Running, Setup, Toolkit, deskline, until};
use rustix::process::{Signal, kill_process};
use serde_json::{Value, json};

/// The longest that a call may take while a part is missing.
const LONGEST: Duration = Duration::from_secs(12);

/// A library of the package libfaketime.
const FAKE_CLOCK: &str = "/usr/$LIB/faketime/libfaketimeMT.so.1";

/// A desktop whose parts can be started one by one.
struct Desk {
    // The fields are dropped in this order.
    manager: Option<Running>,
    x: Option<Running>,
    bus: Option<Running>,
    display: String,
    folder: tempfile::TempDir,
}

impl Desk {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let run = folder.path().join("run");
        fs::create_dir(&run).unwrap();
        fs::set_permissions(&run, fs::Permissions::from_mode(0o700)).unwrap();
        let mut desk = Self {
            manager: None,
            x: None,
            bus: None,
            display: format!(":{}", 7_000 + std::process::id() % 2_000),
            folder,
        };
        desk.start_x();
        desk.start_bus();
        desk.start_manager();
        desk
    }

    fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let folder = self.folder.path();
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", folder)
            .env("XDG_RUNTIME_DIR", folder.join("run"))
            .env("DISPLAY", &self.display)
            .env("GSETTINGS_BACKEND", "memory")
            .env("NO_AT_BRIDGE", "0")
            .env(
                "DBUS_SESSION_BUS_ADDRESS",
                format!("unix:path={}", folder.join("bus").display()),
            )
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        if self.clock().exists() {
            command
                .env("LD_PRELOAD", FAKE_CLOCK)
                .env("FAKETIME_TIMESTAMP_FILE", self.clock())
                .envs([("FAKETIME_NO_CACHE", "1"), ("DONT_FAKE_MONOTONIC", "1")]);
        }
        command
    }

    /// If this file exists, it has the offset of the real-time clock for programs that are started
    /// afterwards.
    fn clock(&self) -> PathBuf {
        self.folder.path().join("clock")
    }

    fn set_clock(&self, ahead: &str) {
        let new = self.clock().with_extension("new");
        fs::write(&new, ahead).unwrap();
        fs::rename(new, self.clock()).unwrap();
    }

    fn start_x(&mut self) {
        let mut x = self.command("Xvfb");
        x.args([
            &self.display,
            "-screen",
            "0",
            "1280x800x24",
            "-nolisten",
            "tcp",
            "-noreset",
        ]);
        self.x = Some(Running(x.spawn().unwrap()));
        let socket = format!("/tmp/.X11-unix/X{}", &self.display[1..]);
        until("the X server", || UnixStream::connect(&socket).ok());
    }

    fn start_bus(&mut self) {
        let path = self.folder.path().join("bus");
        let _ = fs::remove_file(&path);
        let mut bus = self.command("dbus-daemon");
        bus.args(["--session", "--nofork", "--nopidfile", "--address"]);
        bus.arg(format!("unix:path={}", path.display()));
        self.bus = Some(Running(bus.spawn().unwrap()));
        until("the session bus", || UnixStream::connect(&path).ok());
    }

    fn start_manager(&mut self) {
        let mut manager = self.command("xfwm4");
        manager.arg("--compositor=off");
        self.manager = Some(Running(manager.spawn().unwrap()));
        self.root_has("_NET_SUPPORTING_WM_CHECK");
    }

    /// Waits until this property of the root window names a window.
    fn root_has(&self, property: &str) {
        until(property, || {
            let mut asked = self.command("xprop");
            asked.args(["-root", property]);
            let output = asked.stdout(Stdio::piped()).output().unwrap();
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            said.contains("# 0x").then_some(())
        });
    }

    /// Kills the daemon of the accessibility bus, which only the session bus restarts.
    fn kill_accessibility(&self) {
        let mut asked = self.command("dbus-send");
        asked.args(["--session", "--print-reply=literal", "--dest=org.a11y.Bus"]);
        asked.args(["/org/a11y/bus", "org.a11y.Bus.GetAddress"]);
        let output = asked.stdout(Stdio::piped()).output().unwrap();
        let address = String::from_utf8(output.stdout).unwrap();
        let path = address.trim().split("path=").nth(1).unwrap();
        let path = path.split(',').next().unwrap().to_owned();
        let stream = UnixStream::connect(&path).unwrap();
        let peer = rustix::net::sockopt::socket_peercred(&stream).unwrap();
        kill_process(peer.pid, Signal::KILL).unwrap();
        until("the end of its daemon", || UnixStream::connect(&path).err());
    }

    fn server(&self) -> Client {
        let mut command = self.command(deskline());
        command
            .args(["serve", "--dir"])
            .arg(self.folder.path().join("journal"));
        Client::start(command)
    }

    /// A test app that is ready, and its log.
    fn app(&self, name: &str) -> (Running, std::path::PathBuf) {
        let log = self.folder.path().join(name);
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("apps/gtk3.py");
        let mut app = self.command("/usr/bin/python3");
        app.arg("-B").arg(script).arg(&log);
        let app = Running(app.spawn().unwrap());
        until("the app", || {
            let log = fs::read_to_string(&log).ok()?;
            log.contains("ready").then_some(())
        });
        (app, log)
    }
}

fn click(server: &Client, pid: u32) -> Answer {
    let start = Instant::now();
    let answer = server.click(pid, "AXButton", "OK");
    println!("{:?}: {:.400}", start.elapsed(), answer.text);
    assert!(start.elapsed() < LONGEST, "{answer}");
    assert!(!answer.text.contains("internal error"), "{answer}");
    answer
}

fn clicked(log: &Path) -> usize {
    fs::read_to_string(log)
        .unwrap()
        .matches("clicked OK")
        .count()
}

/// Clicks in an app that was started after the part. At most one call fails, by which the server
/// notices the loss.
fn is_clicked_at_last(server: &Client, pid: u32, log: &Path, of: &str) {
    let before = clicked(log);
    let mut failed = 0;
    until(of, || {
        let answer = click(server, pid);
        // An app takes a moment to join the bus.
        let comes = answer.text.contains("no window that accessibility can see")
            || answer.text.contains("no element matches");
        failed += usize::from(answer.is_error && !comes);
        assert!(failed <= 1, "{of}: {answer}");
        (!answer.is_error).then_some(())
    });
    assert_eq!(clicked(log), before + 1, "{of}");
}

#[test]
fn the_server_goes_on_after_any_part_of_the_desktop_restarts() {
    let mut desk = Desk::new();
    let server = desk.server();
    let (app, log) = desk.app("first");
    is_clicked_at_last(&server, app.0.id(), &log, "before");

    println!("--- window manager");
    desk.manager = None;
    let unmanaged = click(&server, app.0.id());
    assert!(
        !unmanaged.is_error || unmanaged.error().contains("window manager"),
        "{unmanaged}"
    );
    desk.start_manager();
    desk.root_has("_NET_CLIENT_LIST");
    // The window manager moves the windows into its frames.
    let mut place = None;
    until("a window that stands still", || {
        let read = server.refresh(app.0.id()).ok();
        let now = read.line_of("AXButton", "OK").extents;
        (std::mem::replace(&mut place, now) == now).then_some(())
    });
    is_clicked_at_last(&server, app.0.id(), &log, "another window manager");

    println!("--- accessibility bus");
    desk.kill_accessibility();
    click(&server, app.0.id()).fails_with("The next call reconnects");
    let (app, log) = desk.app("second");
    is_clicked_at_last(&server, app.0.id(), &log, "another accessibility bus");

    println!("--- session bus");
    desk.bus = None;
    click(&server, app.0.id());
    desk.start_bus();
    let (app, log) = desk.app("third");
    is_clicked_at_last(&server, app.0.id(), &log, "another session bus");

    println!("--- X server");
    desk.x = None;
    click(&server, app.0.id()).fails_with("The next call reconnects");
    drop(app);
    desk.start_x();
    desk.start_manager();
    let (app, log) = desk.app("fourth");
    is_clicked_at_last(&server, app.0.id(), &log, "another X server");
}

/// The characters that were typed before the end are a part of the text, and no click comes twice.
#[test]
fn a_part_that_ends_during_a_link_does_not_end_the_server() {
    let text = "abcdefghij".repeat(200);
    let mut desk = Desk::new();
    let server = desk.server();
    for (of, types) in [
        ("window manager", true),
        ("accessibility bus", false),
        ("session bus", true),
        ("X server", false),
    ] {
        println!("--- {of}");
        let (app, log) = desk.app(&format!("{of}, before"));
        is_clicked_at_last(&server, app.0.id(), &log, of);
        let logged = || fs::read_to_string(&log).unwrap();
        let (tool, mut arguments, sign) = if types {
            let field = json!({"element": "Name", "role": "AXTextField", "text": text});
            ("click_and_traverse", field, "key ")
        } else {
            let step = json!({"do": "click", "element": "OK", "role": "AXButton", "repeat": 20});
            ("chain_and_traverse", json!({"steps": [step]}), "clicked OK")
        };
        arguments["pid"] = app.0.id().into();
        let call = server.send(tool, arguments);
        until("the first effects", || logged().matches(sign).count() > 2);
        match of {
            "window manager" => desk.manager = None,
            "accessibility bus" => desk.kill_accessibility(),
            "session bus" => desk.bus = None,
            _ => desk.x = None,
        }
        let answer = call.answer(Duration::from_secs(60)).expect(of);
        println!("{:.600}", answer.text);
        assert!(!answer.text.contains("internal error"), "{of}: {answer}");
        let next = [
            "ook before you repeat it",
            "The next call reconnects",
            "Call refresh_traversal",
        ];
        assert!(
            !answer.is_error || next.iter().any(|next| answer.text.contains(next)),
            "{of}: {answer}"
        );
        let log = logged();
        let texts = log.lines().filter_map(|l| l.strip_prefix("text Name "));
        for typed in texts {
            assert!(text.starts_with(typed), "{of}: {typed}");
        }
        assert!(log.matches("clicked OK").count() <= 21, "{of}: {log}");
        match of {
            "window manager" => desk.start_manager(),
            "session bus" => desk.start_bus(),
            "X server" => {
                desk.start_x();
                desk.start_manager();
            }
            _ => {}
        }
        drop(app);
        let (app, log) = desk.app(&format!("{of}, after"));
        is_clicked_at_last(&server, app.0.id(), &log, of);
    }
}

#[test]
fn the_server_goes_on_after_the_compositor_restarts() {
    let session = Setup::here(Compositor::Sway).start();
    session.server_outlives_the_compositor();
}

/// The call is still carried out and answered. The answer names the files that were not written.
#[test]
fn a_journal_that_cannot_be_written_stops_no_call() {
    let bed = Bed::new();
    let journal = bed.journal();
    fs::create_dir(&journal).unwrap();
    let mounted = |options: &str| {
        let mut mount = Command::new("mount");
        mount
            .args(["-t", "tmpfs", "-o", options, "tmpfs"])
            .arg(&journal);
        mount.status().is_ok_and(|status| status.success())
    };
    if !mounted("size=256k,mode=0700") {
        eprintln!("skipped: may not mount a tmpfs");
        return;
    }
    let unmount = Unmount(&journal);
    let app = bed.widgets(Toolkit::Gtk3);
    let (persons, _) = bed.mousepad("");
    persons.bring_to_front();
    let server = bed.server(&[]);
    click(&server, app.pid).ok();
    let before = bed.journal_lines().len();
    let filled = fs::write(journal.join("filler"), vec![0; 1 << 20]);
    assert!(filled.is_err(), "the disk is full");
    for (of, options) in [("full", ""), ("read-only", "remount,ro,mode=0700")] {
        assert!(options.is_empty() || mounted(options));
        app.clear_log();
        let answer = click(&server, app.pid).ok();
        assert_eq!(app.log(), ["clicked OK"], "{of}: {answer}");
        let says = ["No space left", "Read-only file system"];
        assert!(
            says.iter().any(|words| answer.text.contains(words)),
            "{of}: {answer}"
        );
    }
    assert!(mounted("remount,rw,mode=0700"));
    fs::remove_file(journal.join("filler")).unwrap();
    let answer = click(&server, app.pid).ok();
    assert!(answer.get("file").is_some(), "{answer}");
    // A partly written line does not damage another line.
    assert!(bed.journal_lines().len() > before);
    drop(server);
    drop(unmount);
}

/// A slow disk, such as one that spins up, delays only the answer.
#[test]
fn a_frozen_disk_does_not_keep_the_devices_from_the_person() {
    let bed = Bed::with(&["--watch"]);
    let (journal, disk) = (bed.journal(), bed.path("disk"));
    fs::create_dir(&journal).unwrap();
    let disk_file = fs::File::create(&disk).unwrap();
    disk_file.set_len(8 << 20).unwrap();
    let done = |program: &str, args: &[&str], on: &[&Path]| {
        let status = Command::new(program).args(args).args(on).status();
        status.is_ok_and(|status| status.success())
    };
    if !done("mkfs.ext4", &["-q"], &[&disk]) || !done("mount", &["-o", "loop"], &[&disk, &journal])
    {
        eprintln!("skipped: may not mount a file");
        return;
    }
    let _unmount = Unmount(&journal);
    fs::set_permissions(&journal, fs::Permissions::from_mode(0o700)).unwrap();
    let app = bed.widgets(Toolkit::Gtk3);
    let own = bed.widgets(Toolkit::Gtk3);
    own.bring_to_front();
    let server = bed.server(&[]);
    click(&server, app.pid).ok();
    let lines = bed.journal_lines().len();

    assert!(done("fsfreeze", &["--freeze"], &[&journal]));
    // A process that waits for the disk cannot be killed, so the disk is unfrozen before the server
    // has to end.
    let thaw = Thaw(&journal);
    // The app's question has new elements, which get refs before the person has their window back.
    let ask = json!({"pid": app.pid, "element": "Ask", "role": "AXButton"});
    let call = server.send("click_and_traverse", ask);
    app.wait_for("clicked Ask");
    let mut person = Person::at(&bed);
    until("the person's keyboard and window", || {
        person.tap('x'.into());
        own.full_log().iter().any(|l| l == "key x").then_some(())
    });
    assert_eq!(bed.screen().pressed(), (vec![], 0));
    assert_eq!(bed.journal_lines().len(), lines, "the disk stands still");
    drop(thaw);
    let asked = call.answer(LONGEST).expect("an answer").ok();
    assert_eq!(bed.journal_lines().len(), lines + 1);
    let yes = asked.line_of("AXButton", "Yes");
    assert!(yes.reference.is_some(), "{asked}");
    let refresh = || json!({"pid": app.pid});
    let again = server.call("refresh_traversal", refresh()).ok();
    assert_eq!(again.line_of("AXButton", "Yes").reference, yes.reference);
    // Another process may give the element a new number, but does not give the old number to
    // another element.
    let another = bed.server(&[]).call("refresh_traversal", refresh()).ok();
    let is_yes = |line: &str| line.contains("\"Yes\"");
    let number = format!(" #{} ", yes.reference.unwrap());
    let file = another.file();
    let mut others = file.lines().map(|line| format!("{line} "));
    assert!(
        !others.any(|line| line.contains(&number) && !is_yes(&line)),
        "{another}"
    );
}

struct Thaw<'p>(&'p Path);

impl Drop for Thaw<'_> {
    fn drop(&mut self) {
        let _ = Command::new("fsfreeze").arg("-u").arg(self.0).status();
    }
}

/// A suspend: all processes stop at once, in the middle of a link. When they continue, the
/// real-time clock is eight hours ahead, but the monotonic clock is not (`clock_gettime(2)`).
#[test]
fn a_desktop_is_driven_again_after_a_suspend() {
    let desk = Desk::new();
    desk.set_clock("+0");
    let server = desk.server();
    let (app, log) = desk.app("first");
    is_clicked_at_last(&server, app.0.id(), &log, "before");
    let parts = [&desk.manager, &desk.x, &desk.bus].map(|part| part.as_ref().unwrap().id());
    let all: Vec<u32> = [server.pid, app.0.id()].into_iter().chain(parts).collect();
    let signal = |signal: Signal| {
        for pid in &all {
            deskline_testbed::signal(*pid, signal);
        }
    };
    let text = "abcdefghij".repeat(200);
    let typing = json!({"pid": app.0.id(), "element": "Name", "role": "AXTextField", "text": text});
    let call = server.send("click_and_traverse", typing);
    let typed = || fs::read_to_string(&log).unwrap().matches("key ").count();
    until("the first keys", || typed() > 20);
    signal(Signal::STOP);
    // The pause is longer than any app may take to answer.
    std::thread::sleep(Duration::from_secs(5));
    desk.set_clock("+8h");
    signal(Signal::CONT);
    let answer = call.answer(Duration::from_secs(60)).expect("an answer");
    println!("{answer}");
    // Either the whole text is typed, or the answer is an error.
    let wanted = format!("text Name {text}");
    if !answer.is_error {
        until("all of the text", || {
            let log = fs::read_to_string(&log).unwrap();
            log.lines().any(|line| line == wanted).then_some(())
        });
    }
    is_clicked_at_last(&server, app.0.id(), &log, "after");
    let links = fs::read_to_string(desk.folder.path().join("journal/journal.jsonl")).unwrap();
    let ended = |link: &str| serde_json::from_str::<Value>(link).unwrap()["ms"].as_u64();
    let mut ended = links.lines().filter_map(ended);
    let (first, last) = (ended.next().unwrap(), ended.next_back().unwrap());
    assert!(last - first > 8 * 3_600_000, "{first} {last}");
}

struct Unmount<'p>(&'p Path);

impl Drop for Unmount<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0).status();
    }
}
