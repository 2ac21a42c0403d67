//! Runs the doctor on real desktops, each with one fault.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::io::{BufRead as _, BufReader};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use deskline_atspi::bus::{Body, Call, Connection};
use deskline_atspi::{AtSpi, accessibility_bus};
use deskline_linux::doctor::Status::{self, Fail, Ok as Fine, Warn};
use deskline_linux::doctor::{Check, Report, examine, repair};
use deskline_linux::private::{Options, PrivateDesktop};
use deskline_linux::session::{Environment, Session};
use deskline_x11::X11;
use rustix::process::{Pid, Signal, kill_process, kill_process_group};

const SOON: Duration = Duration::from_secs(5);

/// A program. Dropping this kills its process group.
struct Program(Child);

impl Program {
    fn start(program: &str, args: &[&str], environment: &Environment) -> Self {
        let mut command = Command::new(program);
        command.args(args).env_clear().envs(environment);
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        Self(
            command
                .stderr(Stdio::null())
                .process_group(0)
                .spawn()
                .unwrap(),
        )
    }

    fn first_line(&mut self) -> String {
        let mut line = String::new();
        let out = self.0.stdout.take().unwrap();
        BufReader::new(out).read_line(&mut line).unwrap();
        line.trim().to_owned()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = kill_process_group(Pid::from_child(&self.0), Signal::KILL);
        let _ = self.0.wait();
    }
}

fn desktop() -> PrivateDesktop {
    PrivateDesktop::start(&Options::default()).unwrap()
}

/// The session with some variables changed or removed.
fn changed(session: &Session, changes: &[(&str, Option<&str>)]) -> Session {
    let mut environment = session.environment.clone();
    for (name, value) in changes {
        match value {
            Some(value) => environment.insert((*name).into(), (*value).into()),
            None => environment.remove(*name),
        };
    }
    Session::from_environment(&environment)
}

/// Opens an app, and waits for its window and its entry on the accessibility bus.
fn open(session: &Session, program: &str, args: &[&str], listed: bool) -> Program {
    let app = Program::start(program, args, &session.environment);
    let x11 = X11::connect(
        session.display.as_deref().unwrap(),
        session.xauthority.as_deref(),
    );
    let (x11, pid) = (x11.unwrap(), app.0.id());
    let address = accessibility_bus::address(session.session_bus.as_deref().unwrap()).unwrap();
    let mut atspi = AtSpi::connect(&address).unwrap();
    let begun = Instant::now();
    loop {
        let shown = x11
            .toplevels()
            .unwrap()
            .iter()
            .any(|w| w.pid == pid && w.viewable);
        let there = atspi.apps().unwrap().iter().any(|app| app.pid == pid);
        if shown && (there || !listed) {
            return app;
        }
        assert!(
            begun.elapsed() < Duration::from_secs(20),
            "{program} has no window"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn report(session: &Session) -> Report {
    let begun = Instant::now();
    let report = Report::new(examine(session, true));
    let took = begun.elapsed();
    println!("{report}\n({took:?})");
    assert!(took < Duration::from_millis(3_200), "{took:?}");
    report
}

fn check<'r>(report: &'r Report, name: &str) -> &'r Check {
    let found = report.checks.iter().find(|check| check.name == name);
    found.unwrap_or_else(|| panic!("no {name} in\n{report}"))
}

#[track_caller]
fn says(report: &Report, name: &str, status: Status, finding: &str, remedy: &str) {
    let check = check(report, name);
    assert_eq!(check.status, status, "{check:?}");
    assert!(check.finding.contains(finding), "{check:?}");
    assert!(check.remedy.contains(remedy), "{check:?}");
}

#[test]
fn the_doctor_finds_no_fault_on_a_good_desktop_with_an_app() {
    let desktop = desktop();
    let app = open(desktop.session(), "mousepad", &[], true);
    let report = report(desktop.session());
    assert!(report.works);
    says(&report, "display", Fine, "X.Org 21.1", "");
    says(&report, "display", Fine, ", 1280×800", "");
    says(&report, "X extensions", Fine, "XTEST", "");
    says(&report, "window manager", Fine, "running", "");
    says(&report, "accessibility", Fine, "on", "");
    let who = format!("mousepad (pid {})", app.0.id());
    says(&report, "apps", Fine, "1 of 1", "");
    says(&report, "apps", Fine, &who, "");
    says(&report, "tree", Fine, "showing elements of", "");
    says(&report, "screenshot", Fine, "the front window", "");
    says(&report, "input lock", Fine, "Esc cancels", "");
    assert!(report.to_string().ends_with("Agents can work here."));
}

#[test]
fn the_doctor_reports_apps_that_hang_or_have_no_tree() {
    let desktop = desktop();
    let session = desktop.session();
    let hung = open(session, "mousepad", &[], true);
    let deaf = changed(session, &[("NO_AT_BRIDGE", Some("1"))]);
    let deaf = open(&deaf, "zenity", &["--info", "--text=hello"], false);
    let plain = open(session, "xmessage", &["hello"], false);
    let good = open(session, "zenity", &["--question", "--text=well?"], true);
    kill_process(Pid::from_child(&hung.0), Signal::STOP).unwrap();
    let report = report(session);
    assert!(report.works);
    let about = |app: &Program| {
        let who = format!("(pid {})", app.0.id());
        let found = report
            .checks
            .iter()
            .find(|c| c.name == "app" && c.finding.contains(&who));
        found.unwrap_or_else(|| panic!("nothing of {who} in\n{report}"))
    };
    assert!(about(&hung).finding.contains("does not answer"));
    assert!(about(&hung).remedy.contains("end it if it hangs"));
    assert!(
        about(&deaf)
            .finding
            .contains("GTK 3, is not on the accessibility bus")
    );
    assert!(about(&deaf).remedy.contains("without NO_AT_BRIDGE=1"));
    assert!(about(&plain).finding.contains("unknown"));
    says(&report, "apps", Fine, "1 of 4", "");
    let who = format!("(pid {})", good.0.id());
    says(&report, "tree", Fine, &who, "");
}

#[test]
fn the_doctor_names_the_option_for_a_browser_that_hides_its_pages() {
    let desktop = desktop();
    let profile = tempfile::tempdir().unwrap();
    let profile = format!("--user-data-dir={}", profile.path().display());
    let args = [
        "--no-sandbox",
        "--disable-gpu",
        "--no-first-run",
        &profile,
        "about:blank",
    ];
    let browser = open(desktop.session(), "chromium", &args, true);
    let report = report(desktop.session());
    let who = format!("(pid {})", browser.0.id());
    let mut apps = report.checks.iter().filter(|c| c.name == "app");
    let found = apps.find(|c| c.finding.contains(&who)).unwrap();
    assert!(
        found.remedy.contains("--force-renderer-accessibility"),
        "{found:?}"
    );
}

#[test]
fn the_doctor_reports_a_missing_and_a_silent_wayland_display() {
    let desktop = desktop();
    let without = changed(desktop.session(), &[("DISPLAY", None)]);
    let found = report(&without);
    assert!(!found.works);
    says(&found, "display", Fail, "No display", "Log in to a desktop");
    says(&found, "accessibility", Fine, "on", "");
    assert!(
        found
            .checks
            .iter()
            .all(|c| c.name != "apps" && c.name != "screenshot")
    );

    let changes = [("DISPLAY", None), ("WAYLAND_DISPLAY", Some("wayland-7"))];
    let found = report(&changed(desktop.session(), &changes));
    assert!(!found.works);
    says(
        &found,
        "display",
        Fail,
        "wayland-7 does not answer",
        "log in again",
    );
}

#[test]
fn the_doctor_reports_a_display_that_refuses_or_hangs() {
    let desktop = desktop();
    let refused = changed(desktop.session(), &[("XAUTHORITY", Some("/dev/null"))]);
    let found = report(&refused);
    assert!(!found.works);
    says(&found, "display", Fail, "refuses", "XAUTHORITY");

    let mut server = Program::start("Xvfb", &["-displayfd", "1"], &desktop.session().environment);
    let display = format!(":{}", server.first_line());
    kill_process(Pid::from_child(&server.0), Signal::STOP).unwrap();
    let found = report(&changed(desktop.session(), &[("DISPLAY", Some(&display))]));
    assert!(!found.works);
    says(
        &found,
        "display",
        Fail,
        "does not answer",
        "private desktop",
    );
}

#[test]
fn the_doctor_reports_missing_extensions_and_window_managers() {
    let desktop = desktop();
    for (extension, status) in [("XTEST", Fail), ("MIT-SHM", Warn)] {
        let args = ["-displayfd", "1", "-extension", extension];
        let mut server = Program::start("Xvfb", &args, &desktop.session().environment);
        let display = format!(":{}", server.first_line());
        let found = report(&changed(desktop.session(), &[("DISPLAY", Some(&display))]));
        assert_eq!(found.works, status != Fail);
        let finding = format!("{extension} is missing");
        says(&found, "X extensions", status, &finding, "-extension");
        if found.works {
            says(&found, "window manager", Warn, "none", "xfwm4");
            says(&found, "apps", Fine, "no app has a window", "");
        }
    }
}

#[test]
fn the_doctor_reports_missing_buses_and_disabled_accessibility() {
    let desktop = desktop();
    let session = desktop.session();
    let without = changed(session, &[("DBUS_SESSION_BUS_ADDRESS", None)]);
    let found = report(&without);
    assert!(!found.works);
    says(
        &found,
        "session bus",
        Fail,
        "No D-Bus session bus",
        "Set DBUS_SESSION_BUS_ADDRESS",
    );

    // A bus that cannot start any service.
    let directory = tempfile::tempdir().unwrap();
    let config = directory.path().join("bus.conf");
    let listen = directory.path().display();
    let text = format!(
        "<busconfig><type>session</type><listen>unix:dir={listen}</listen><policy context=\"default\">\
         <allow send_destination=\"*\" eavesdrop=\"true\"/><allow eavesdrop=\"true\"/>\
         <allow own=\"*\"/></policy></busconfig>"
    );
    std::fs::write(&config, text).unwrap();
    let config = format!("--config-file={}", config.display());
    let args = [&config, "--nofork", "--print-address=1"];
    let mut bus = Program::start("dbus-daemon", &args, &session.environment);
    let address = bus.first_line();
    let found = report(&changed(
        session,
        &[("DBUS_SESSION_BUS_ADDRESS", Some(&address))],
    ));
    assert!(!found.works);
    says(&found, "session bus", Fine, "unix:", "");
    says(
        &found,
        "accessibility",
        Fail,
        "no accessibility bus",
        "at-spi2-core",
    );

    let mut bus = Connection::open(session.session_bus.as_deref().unwrap(), SOON).unwrap();
    let off = Body::new().str("org.a11y.Status").str("IsEnabled");
    let (bus_name, properties) = ("org.a11y.Bus", "org.freedesktop.DBus.Properties");
    let off = off.variant_bool(false);
    let set = Call::new(bus_name, "/org/a11y/bus", properties, "Set", off);
    bus.call(&set, SOON).unwrap();
    let found = report(session);
    assert!(found.works);
    says(&found, "accessibility", Warn, "off", "call turns it on");

    let mended: Vec<_> = found
        .checks
        .iter()
        .filter_map(|check| repair(check, session))
        .collect();
    assert_eq!(mended, [Ok("turned accessibility on".to_owned())]);
    says(&report(session), "accessibility", Fine, "on", "");
}
