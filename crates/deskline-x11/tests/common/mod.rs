//! A desktop for one test: an X server, optionally a window manager, a session bus and apps, all
//! ended by `Drop`; and a plain window that records its events.
#![allow(clippy::unwrap_used, clippy::expect_used)]
// Each test program uses only a part of this.
#![allow(
    dead_code,
    unused_imports,
    unreachable_pub,
    clippy::unused_self,
    clippy::too_many_lines
)]

use std::io::{BufRead as _, BufReader};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use deskline_x11::X11;
use rustix::process::{Pid, Signal, kill_process_group};
use tempfile::TempDir;

mod plain_window;

pub use plain_window::{Look, PlainWindow, Seen};

pub struct TestDesktop {
    pub display: String,
    bus: String,
    dir: TempDir,
    children: Vec<(String, Child)>,
    /// The connection that waited for the window manager. It stays open to keep its window: xfwm4
    /// queries all windows as it starts, and exits with `BadWindow` if one is destroyed meanwhile.
    waited: Option<X11>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manager {
    None,
    Plain,
    Compositing,
}

impl TestDesktop {
    pub fn start(manager: Manager) -> Self {
        Self::start_with(manager, &["-screen", "0", "1280x800x24"])
    }

    pub fn start_with(manager: Manager, server: &[&str]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut desktop = Self {
            display: String::new(),
            bus: String::new(),
            dir,
            children: vec![],
            waited: None,
        };
        let number = desktop.first_line(
            Command::new("Xvfb")
                .args(["-displayfd", "1", "-noreset", "-nolisten", "tcp"])
                .args(server),
        );
        desktop.display = format!(":{number}");
        let config = desktop.bus_config();
        desktop.bus = desktop.first_line(Command::new("dbus-daemon").args([
            &format!("--config-file={}", config.display()),
            "--print-address=1",
            "--nofork",
            "--nopidfile",
        ]));
        if manager != Manager::None {
            let compositor = if manager == Manager::Compositing {
                "on"
            } else {
                "off"
            };
            desktop.spawn("xfwm4", &[&format!("--compositor={compositor}")]);
            let x11 = desktop.connect();
            eventually("a window manager", || x11.has_window_manager().unwrap());
            desktop.waited = Some(x11);
        }
        desktop
    }

    pub fn connect(&self) -> X11 {
        X11::connect(&self.display, None).unwrap()
    }

    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// Starts an app and returns its pid.
    pub fn spawn(&mut self, program: &str, args: &[&str]) -> u32 {
        let log = std::fs::File::create(self.dir().join(format!("{program}.log"))).unwrap();
        let child = self
            .command(Command::new(program).args(args))
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn()
            .unwrap();
        let pid = child.id();
        self.children.push((program.to_owned(), child));
        pid
    }

    /// Stops a program of the desktop, so that it hangs.
    pub fn stop(&mut self, program: &str) {
        self.signal(program, Signal::STOP);
    }

    pub fn resume(&mut self, program: &str) {
        self.signal(program, Signal::CONT);
    }

    fn signal(&self, program: &str, signal: Signal) {
        let (_, child) = self
            .children
            .iter()
            .find(|(name, _)| name == program)
            .unwrap();
        kill_process_group(Pid::from_child(child), signal).unwrap();
    }

    /// Runs a tool to its end and returns its output.
    pub fn run(&self, program: &str, args: &[&str]) -> String {
        let mut command = Command::new(program);
        let output = self.command(command.args(args)).output().unwrap();
        assert!(output.status.success(), "{program}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// A bus that starts only xfwm4's settings service: no portals, no dconf.
    fn bus_config(&self) -> PathBuf {
        let services = self.dir().join("services");
        std::fs::create_dir(&services).unwrap();
        let xfconf = "org.xfce.Xfconf.service";
        let installed = Path::new("/usr/share/dbus-1/services").join(xfconf);
        std::fs::copy(installed, services.join(xfconf)).unwrap();
        let config = self.dir().join("bus.conf");
        let text = format!(
            "<busconfig><listen>unix:dir={}</listen><servicedir>{}</servicedir>\
             <policy context='default'><allow send_destination='*' eavesdrop='true'/>\
             <allow eavesdrop='true'/><allow own='*'/></policy></busconfig>",
            self.dir().display(),
            services.display()
        );
        std::fs::write(&config, text).unwrap();
        config
    }

    fn first_line(&mut self, command: &mut Command) -> String {
        let mut child = self
            .command(command)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let mut reader = BufReader::new(child.stdout.take().unwrap());
        reader.read_line(&mut line).unwrap();
        let program = command.get_program().to_string_lossy().into_owned();
        self.children.push((program, child));
        line.trim().to_owned()
    }

    fn command<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        let path = std::env::var_os("PATH").unwrap_or_default();
        command
            .env_clear()
            .env("PATH", path)
            .env("LANG", "C.UTF-8")
            .env("HOME", self.dir())
            .env("XDG_RUNTIME_DIR", self.dir())
            .env("DISPLAY", &self.display)
            .env("DBUS_SESSION_BUS_ADDRESS", &self.bus)
            .env("NO_AT_BRIDGE", "1")
            .env("GSETTINGS_BACKEND", "memory")
            .env("GSK_RENDERER", "cairo")
            .env("SAL_USE_VCLPLUGIN", "gtk3")
            .process_group(0)
    }
}

impl Drop for TestDesktop {
    fn drop(&mut self) {
        for (_, child) in self.children.iter_mut().rev() {
            let group = Pid::from_child(child);
            let _ = kill_process_group(group, Signal::KILL);
            let _ = child.wait();
        }
    }
}

/// Waits for a condition, for at most 20 s: the machine may be busy.
pub fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let until = Instant::now() + Duration::from_secs(20);
    while !holds() {
        assert!(Instant::now() < until, "timed out waiting for {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
