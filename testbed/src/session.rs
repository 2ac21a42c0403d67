//! A session for one test, with native apps: a headless Wayland compositor without X11, or Debian
//! 13's X11.

mod apps;
pub(crate) mod elsewhere;
mod folder;
mod guarded;
mod panel;
mod paste;
pub(crate) mod promises;
mod restart;
mod running;
pub(crate) mod setup;
mod shared;
mod treeless;
mod widgets;

use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::process::Signal;

use crate::native::NativeApp;
use crate::place::Place;
use crate::{Answer, Client, Toolkit, program, signal, until};
use running::Running;
use setup::{Compositor, HIDDEN, Setup};

/// A Wayland session. The session ends with the test program, even if the program is killed,
/// because the kernel then closes a pipe. Sessions of Debian 13 are shared; see
/// `session/shared.rs`.
#[derive(Debug)]
pub struct Session {
    /// `Some` until `Drop`.
    running: Option<Running>,
    /// The kind of session that may replace this one, if it is shared.
    kind: Option<String>,
}

impl Deref for Session {
    type Target = Running;

    fn deref(&self) -> &Running {
        self.running
            .as_ref()
            .expect("a session until it is dropped")
    }
}

impl DerefMut for Session {
    fn deref_mut(&mut self) -> &mut Running {
        self.running
            .as_mut()
            .expect("a session until it is dropped")
    }
}

impl Setup {
    /// Starts the session.
    pub fn start(self) -> Session {
        let kind = self.shared_kind();
        let idle = kind.as_deref().and_then(shared::take);
        let running = idle.unwrap_or_else(|| Running::start(&self));
        let mut session = Session {
            running: Some(running),
            kind,
        };
        if self.is_unknown_with_xwayland() {
            let display = session.xwayland();
            session.environment.insert("DISPLAY".to_owned(), display);
        }
        session
    }
}

impl Session {
    /// Starts a session with one of Debian 13's compositors, in the root that `testbed/trixie/make`
    /// makes.
    pub fn new(compositor: Compositor) -> Self {
        Setup::debian_13(compositor).start()
    }

    /// Ends the session with this test, because the test leaves more behind than files. No other
    /// test gets it.
    #[must_use]
    pub fn ends_with_the_test(mut self) -> Self {
        self.kind = None;
        self
    }

    /// Starts a [`Session::command`] of an app that writes to this log.
    pub fn app(&self, command: Command, log: PathBuf) -> NativeApp {
        NativeApp::start(&self.place, command, log)
    }

    /// Whether its programs are those of this machine, not of a root.
    pub(crate) fn is_here(&self) -> bool {
        matches!(self.place, Place::Here)
    }

    /// A temporary folder for files. It has the same path in the session.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The compositor's process, by its number in the session.
    pub fn compositor(&self) -> u32 {
        self.environment["COMPOSITOR_PID"].parse().unwrap()
    }

    /// The address of its bus.
    pub fn bus(&self) -> &str {
        &self.environment["DBUS_SESSION_BUS_ADDRESS"]
    }

    /// A command for a program of the session. In a root of its own, the started process waits for
    /// the program: see [`Session::pid_of`].
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = self.place.command(program.as_ref(), self.folder());
        command.env_clear().envs(&self.environment);
        command.current_dir(self.folder());
        command
    }

    /// A command for `deskline` in the session.
    pub fn deskline(&self, args: &[&str]) -> Command {
        let mut command = self.command(self.folder().join("deskline"));
        command.args(args);
        command
    }

    /// Runs the doctor, which must report that `can` works and `lacks` is missing. Returns its
    /// output.
    #[track_caller]
    pub fn doctor_says(&self, options: &[&str], can: &[&str], lacks: &[&str]) -> String {
        let args = [&["doctor", "--dir", "j"], options].concat();
        let output = self.deskline(&args).output().unwrap();
        let printed = [output.stdout, output.stderr].concat();
        let printed = String::from_utf8_lossy(&printed).into_owned();
        for (sign, rows) in [('✓', can), ('!', lacks)] {
            for row in rows {
                assert!(
                    printed.contains(&format!("{sign} {row}")),
                    "{sign} {row}\n{printed}"
                );
            }
        }
        printed
    }

    /// Starts `deskline serve` in the session, with a client that is connected to it.
    pub fn server(&self) -> Client {
        self.server_with(&[])
    }

    /// [`Session::server`] with additional arguments.
    pub fn server_with(&self, args: &[&str]) -> Client {
        let mut command = self.deskline(&["serve", "--dir"]);
        command.arg(self.folder().join("journal")).args(args);
        Client::start(command)
    }

    /// Sends commands to sway.
    pub fn sway(&self, commands: &str) {
        self.swaymsg(&["--", commands]);
    }

    /// The output of sway's own client.
    pub fn swaymsg(&self, args: &[&str]) -> String {
        let run = fs::read_dir(self.folder().join("run")).unwrap();
        let usual = run.map(|entry| entry.unwrap().path());
        let hidden = self.folder().join(HIDDEN);
        let mut sockets = usual.chain([hidden].into_iter().filter(|path| path.exists()));
        let is_its = |path: &PathBuf| {
            let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
            name.starts_with("sway-ipc.") || name == HIDDEN
        };
        let mut command = self.command("/usr/bin/swaymsg");
        command.env("SWAYSOCK", sockets.find(is_its).expect("sway's socket"));
        let output = command.args(args).output().unwrap();
        assert!(output.status.success(), "{args:?}: {output:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// Runs JavaScript in KWin, which calls `say(text)`. Returns the text.
    pub fn kwin(&self, script: &str) -> String {
        let mut command = self.command("/usr/bin/python3");
        let folder = self.folder();
        command.arg(folder.join("kwin.py")).arg(folder).arg(script);
        let output = command.output().unwrap();
        assert!(output.status.success(), "{script}: {output:?}");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    /// The position of KWin's pointer.
    pub fn kwin_pointer(&self) -> (i32, i32) {
        let said = self.kwin("say(workspace.cursorPos.x + ' ' + workspace.cursorPos.y);");
        let at = said.split_once(' ');
        let at = at.and_then(|(x, y)| Some((x.parse().ok()?, y.parse().ok()?)));
        at.unwrap_or_else(|| panic!("{said:?}"))
    }

    /// Runs a client that asks for the seat's pointer whether or not it has one. Returns whether
    /// the compositor survives.
    pub fn survives_a_late_client(&self) -> bool {
        let mut command = self.command("/usr/bin/python3");
        command.arg(self.folder().join("late.py"));
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.stderr.is_empty() || said.is_empty(), "{output:?}");
        said.trim() == "alive"
    }

    /// The process that a [`Session::command`] has started: its pid for the test, which can signal
    /// it, and its pid in the session.
    pub fn pid_of(&self, started: u32) -> (u32, u32) {
        self.place.pid_of(started)
    }

    /// The first process of the session, for the test.
    pub fn first(&self) -> u32 {
        self.child.id()
    }

    /// The person's keyboard and mouse, of a [`Setup::person`]: see `apps/person.py` for its lines.
    pub fn person(&self, compositor: &str) -> program::Running {
        let mut command = self.command("/usr/bin/python3");
        command.arg("-B").arg(self.folder().join("person.py"));
        command.arg(compositor).stdin(Stdio::piped());
        let mut person = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut said = String::new();
        let output = person.stdout.as_mut().unwrap();
        BufReader::new(output).read_line(&mut said).unwrap();
        assert_eq!(said, "ready\n");
        program::Running(person)
    }

    /// Ends a server of the session at once, by SIGKILL.
    pub fn kill(&self, server: &Client) {
        self.signal(server, Signal::KILL);
    }

    /// Sends the server a signal.
    pub fn signal(&self, server: &Client, what: Signal) {
        let (outside, _) = self.pid_of(server.pid);
        signal(outside, what);
    }

    /// The test app with one of each widget, once it is ready and Deskline reports its window and
    /// tree.
    pub fn widgets(&self, toolkit: Toolkit, server: &Client) -> NativeApp {
        self.widgets_with(toolkit, server, "", &[])
    }

    /// Like [`Session::widgets`], but through Xwayland.
    pub fn widgets_in_xwayland(&self, toolkit: Toolkit, server: &Client) -> NativeApp {
        let display = self.xwayland();
        let x11 = [
            ("DISPLAY", display.as_str()),
            ("GDK_BACKEND", "x11"),
            ("QT_QPA_PLATFORM", "xcb"),
        ];
        self.widgets_with(toolkit, server, "-x11", &x11)
    }

    /// The display of the session's Xwayland.
    fn xwayland(&self) -> String {
        let file = self.folder().join("display");
        self.sway(&format!("exec echo $DISPLAY > {}", file.display()));
        until("the display of Xwayland", || {
            let display = fs::read_to_string(&file).ok()?;
            Some(display.trim().to_owned()).filter(|display| display.starts_with(':'))
        })
    }

    /// Like [`Session::widgets`], with this suffix of the log's name and further environment
    /// variables.
    pub fn widgets_with(
        &self,
        toolkit: Toolkit,
        server: &Client,
        suffix: &str,
        environment: &[(&str, &str)],
    ) -> NativeApp {
        let log = self.folder().join(format!("{toolkit:?}{suffix}.log"));
        let mut command = self.command("/usr/bin/python3");
        command.envs(environment.iter().copied());
        command.arg("-B").arg(self.folder().join(toolkit.file()));
        command.arg(&log);
        let app = self.app(command, log);
        app.wait_for("ready");
        let pid = serde_json::json!({"pid": app.pid()});
        until("its window and its tree", || {
            let answer = server.call("refresh_traversal", pid.clone());
            let shown = |a: &Answer| a.find("AXButton", "OK").is_some_and(|ok| ok.visible);
            let listed = server.call("list_applications", serde_json::json!({}));
            let listed = listed.text.contains(&format!("(PID: {})", app.pid()));
            (!answer.is_error && shown(&answer) && listed).then_some(())
        });
        app
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let running = self.running.take();
        if let (Some(running), Some(kind)) = (running, self.kind.take())
            && !std::thread::panicking()
        {
            shared::give(kind, running);
        }
    }
}
