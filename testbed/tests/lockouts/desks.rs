//! The desktops.

use std::fs::{self, Permissions};
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};

use deskline_testbed::person::Person;
use deskline_testbed::{
    App, Bed, Client, Compositor, NativeApp, Running, Session, Setup, Toolkit, processes_below,
    until,
};
use rustix::process::getuid;

use crate::{Desk, LIMIT, Part};

#[path = "../../../crates/deskline-evdev/tests/apart/devices.rs"]
#[allow(dead_code)]
mod devices;

use devices::Devices;

fn limit() -> String {
    LIMIT.as_secs().to_string()
}

/// Those of these processes whose command line has one of the words.
fn with(words: &[&str], processes: Vec<(u32, String)>) -> Vec<u32> {
    let is_one = |line: &str| words.iter().any(|word| line.contains(word));
    let found = processes.into_iter().filter(|(_, line)| is_one(line));
    found.map(|(pid, _)| pid).collect()
}

/// The text of the field `Name`.
fn text(log: &[String]) -> String {
    let last = log.iter().rev().find_map(|l| l.strip_prefix("text Name "));
    last.unwrap_or_default().to_owned()
}

/// X11, with the person at the server's own devices. Xvnc's do not suit: if a Shift is down when a
/// key of the viewer's comes, Xvnc presses that Shift again.
pub struct OnX11<'b> {
    bed: &'b Bed,
    app: App<'b>,
    person: Person,
}

impl<'b> OnX11<'b> {
    pub fn new(bed: &'b Bed) -> Self {
        let app = bed.widgets(Toolkit::Gtk3);
        app.bring_to_front();
        let person = Person::at(bed);
        Self { bed, app, person }
    }
}

impl Desk for OnX11<'_> {
    const NAME: &'static str = "X11";

    fn server(&self) -> Client {
        self.bed.server(&["--guard-timeout", &limit()])
    }

    fn pids(&self, part: Part, server: &Client) -> Vec<u32> {
        let desktop = || processes_below(self.bed.first());
        match part {
            Part::Server => vec![server.pid],
            Part::Helper => until("the watchdog", || {
                let found = with(&["x11-watchdog"], processes_below(server.pid));
                (!found.is_empty()).then_some(found)
            }),
            Part::App => vec![self.app.pid],
            Part::Buses => with(&["dbus-daemon"], desktop()),
            Part::Display => with(&["Xorg"], desktop()),
        }
    }

    fn app(&self) -> u32 {
        self.app.pid
    }

    fn text(&self) -> String {
        text(&self.app.log())
    }

    fn clear_log(&self) {
        self.app.clear_log();
    }

    fn tap(&mut self, digit: char) {
        self.person.tap(digit.into());
    }

    fn is_all_up(&self) -> bool {
        self.bed.screen().pressed() == (vec![], 0)
    }
}

/// A Wayland session: KWin ('k') with its own guard, or sway ('s') or GNOME ('g') with an installed
/// `deskline-grab`, whose devices are fake: a key of the person's reaches the compositor only while
/// no process has grabbed them.
pub struct OnWayland<const KIND: char> {
    session: Session,
    app: NativeApp,
    person: Running,
    devices: Option<Devices>,
}

impl<const KIND: char> OnWayland<KIND> {
    /// `None` for a user who cannot install the program.
    pub fn new() -> Option<Self> {
        let grabs = KIND != 'k';
        if grabs && !getuid().is_root() {
            return None;
        }
        let setup = match KIND {
            's' => Setup::here(Compositor::Sway),
            'g' => Setup::debian_13(Compositor::Gnome).with_root(),
            _ => Setup::debian_13(Compositor::Kwin).person(),
        };
        let session = setup.start().ends_with_the_test();
        let devices = grabs.then(|| install(&session));
        let person = session.person(match KIND {
            's' => "sway",
            'g' => "gnome",
            _ => "kwin",
        });
        let server = session.server_with(&["--guard", "off"]);
        // A GTK 3 app on KWin and GNOME sometimes crashes (SIGSEGV) when it continues after a stop.
        let toolkit = if KIND == 's' {
            Toolkit::Gtk3
        } else {
            Toolkit::Gtk4
        };
        let app = session.widgets_with(toolkit, &server, "", &[("STROKES", "1")]);
        Some(Self {
            session,
            app,
            person,
            devices,
        })
    }
}

/// Installs `deskline-grab` with two devices.
fn install(session: &Session) -> Devices {
    let folder = session.folder();
    let user = fs::metadata(folder.join("deskline")).unwrap().uid();
    let devices = Devices::in_folder(&folder.join("devices"));
    devices.make(user, &["event0", "event1"]);
    let program = folder.join("deskline-grab");
    fs::copy(env!("CARGO_BIN_EXE_grab_on_fakes"), &program).unwrap();
    chown(&program, Some(0), Some(65534)).unwrap();
    fs::set_permissions(&program, Permissions::from_mode(0o2755)).unwrap();
    devices
}

impl<const KIND: char> Desk for OnWayland<KIND> {
    const NAME: &'static str = match KIND {
        's' => "sway, deskline-grab",
        'g' => "GNOME 48, deskline-grab",
        _ => "KWin 6.3",
    };

    fn server(&self) -> Client {
        self.session.server_with(&["--guard-timeout", &limit()])
    }

    fn pids(&self, part: Part, server: &Client) -> Vec<u32> {
        let starter = server.pid;
        let server = self.session.pid_of(starter).0;
        let session = || processes_below(self.session.first());
        match part {
            // In a root of its own, the process that has started the server stops with it.
            Part::Server => vec![server, starter],
            // The helper is started by the number of its open file.
            Part::Helper => until("the helper", || {
                let found = with(
                    &["capture-input", "/proc/self/fd/"],
                    processes_below(server),
                );
                (!found.is_empty()).then_some(found)
            }),
            Part::App => self.app.pids().into(),
            Part::Buses => with(&["dbus-daemon"], session()),
            Part::Display => {
                let names = [
                    "sway --config",
                    "gnome-shell --headless",
                    "kwin_wayland --virtual",
                ];
                with(&names, session())
            }
        }
    }

    fn app(&self) -> u32 {
        self.app.pid()
    }

    fn text(&self) -> String {
        self.app.text()
    }

    fn clear_log(&self) {
        self.app.clear_log();
    }

    fn tap(&mut self, digit: char) {
        if self.devices.as_ref().is_none_or(|d| !d.grabbed("event0")) {
            let mut keys = self.person.0.stdin.as_ref().unwrap();
            // `KEY_1` is 2.
            writeln!(keys, "{}", digit.to_digit(10).unwrap() + 1).unwrap();
        }
    }

    fn is_all_up(&self) -> bool {
        let log = self.app.log();
        let mut down: Vec<&str> = vec![];
        for line in &log {
            if let Some(code) = line.strip_prefix("down ") {
                down.push(code);
            } else if let Some(code) = line.strip_prefix("up ") {
                down.retain(|other| *other != code);
            }
        }
        down.is_empty()
    }
}
