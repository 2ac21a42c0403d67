//! A private desktop for one test, or for the tests of one file.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};

use crate::{Client, PATIENCE, Screen, deskline, until, xorg};

/// The width and height of a bed's screen in pixels.
pub const SIZE: (u16, u16) = (1920, 1080);

/// A private desktop with a folder for files and a journal. The desktop ends when this value is
/// dropped, and also if the test panics or is killed, because the kernel then closes a pipe.
#[derive(Debug)]
pub struct Bed {
    desktop: Child,
    stdin: Option<ChildStdin>,
    environment: BTreeMap<String, String>,
    folder: tempfile::TempDir,
    screen: Screen,
}

impl Bed {
    pub fn new() -> Self {
        Self::with(&[])
    }

    /// A bed with a server on it, as if a person sat at the desktop.
    pub fn with_server() -> (Self, Client) {
        let bed = Self::new();
        let server = bed.server(&[]);
        (bed, server)
    }

    /// Starts a bed with additional arguments to `deskline desktop`.
    pub fn with(args: &[&str]) -> Self {
        Self::start(folder(), args, Command::new(deskline()))
    }

    /// Starts a bed in a process namespace of its own, as in a container.
    pub fn apart() -> Self {
        let mut command = Command::new("unshare");
        command.args(["--pid", "--fork", "--kill-child", "--mount-proc"]);
        command.arg(deskline());
        Self::start(folder(), &[], command)
    }

    /// A command for a program in the namespaces of [`Bed::apart`].
    pub fn command_inside(&self, program: &str) -> Command {
        let outer = self.desktop.id();
        let children = format!("/proc/{outer}/task/{outer}/children");
        let inside = std::fs::read_to_string(children).unwrap();
        let mut command = self.command("nsenter");
        command.args(["--target", inside.trim(), "--pid", "--mount", "--"]);
        command.arg(program);
        command
    }

    /// Starts a bed on Xorg, with a keyboard and a mouse that look like hardware.
    pub fn on_xorg() -> Self {
        let folder = folder();
        let path = xorg::install(folder.path(), SIZE);
        let mut command = Command::new(deskline());
        command.env("PATH", path);
        Self::start(folder, &[], command)
    }

    /// Starts a bed whose window manager can be ended: see [`Bed::end_manager`].
    pub fn with_other_managers(args: &[&str]) -> Self {
        let folder = folder();
        let pid = folder.path().join("manager");
        let script = format!(
            "#!/bin/sh\n/usr/bin/xfwm4 \"$@\" &\necho $! >{}\nwait\nexec sleep infinity\n",
            pid.display()
        );
        let path = xorg::in_path(folder.path(), "xfwm4", &script);
        let mut command = Command::new(deskline());
        command.env("PATH", path);
        Self::start(folder, args, command)
    }

    /// Ends xfwm4. Another window manager can take its place.
    pub fn end_manager(&self) {
        let pid = std::fs::read_to_string(self.path("manager")).unwrap();
        self.run("kill", &[pid.trim()]);
        let process = Path::new("/proc").join(pid.trim());
        until("the end of xfwm4", || !process.exists());
    }

    fn start(folder: tempfile::TempDir, args: &[&str], mut desktop: Command) -> Self {
        let (width, height) = SIZE;
        let mut desktop = desktop
            .args(["desktop", "--json", "--until-eof"])
            .arg(format!("--size={width}x{height}"))
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|e| panic!("{}: {e}", deskline().display()));
        let stdin = desktop.stdin.take();
        let mut line = String::new();
        BufReader::new(desktop.stdout.take().unwrap())
            .read_line(&mut line)
            .unwrap();
        let environment: BTreeMap<String, String> =
            serde_json::from_str(&line).unwrap_or_else(|e| panic!("{line:?}: {e}"));
        assert!(!environment.contains_key("error"), "{environment:?}");
        let screen = Screen::connect(&environment);
        Self {
            desktop,
            stdin,
            environment,
            folder,
            screen,
        }
    }

    /// The first process of the desktop.
    pub fn first(&self) -> u32 {
        self.desktop.id()
    }

    /// The environment of apps on the desktop.
    pub fn environment(&self) -> &BTreeMap<String, String> {
        &self.environment
    }

    /// A command for a program on the desktop.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .envs(&self.environment)
            .current_dir(self.folder());
        command
    }

    /// A command for a script of the testbed in the distribution's Python, which has the toolkits'
    /// modules.
    pub(crate) fn python(&self, script: &str) -> Command {
        let mut command = self.command("/usr/bin/python3");
        command.arg("-B").arg(source(script));
        command
    }

    /// Runs a program on the desktop to its end, and returns its output.
    pub fn run(&self, program: &str, args: &[&str]) -> String {
        let output = self.command(program).args(args).output();
        let output = output.unwrap_or_else(|e| panic!("{program}: {e}"));
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{program} {args:?}: {complaint}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    /// The address of the accessibility bus, found in the same way as apps find it.
    pub fn accessibility(&self) -> String {
        let what = ["--session", "--print-reply=literal", "--dest=org.a11y.Bus"];
        let get = ["/org/a11y/bus", "org.a11y.Bus.GetAddress"];
        let complaint = self.run("dbus-send", &[&what[..], &get[..]].concat());
        complaint.trim().to_owned()
    }

    /// A temporary folder for files.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The path of a file in that folder.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder().join(name)
    }

    /// The journal of the bed's servers.
    pub fn journal(&self) -> PathBuf {
        self.path("journal")
    }

    /// The lines of the journal's log.
    pub fn journal_lines(&self) -> Vec<serde_json::Value> {
        let log = std::fs::read_to_string(self.journal().join("journal.jsonl"));
        let log = log.unwrap_or_default();
        log.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// The X server, through the test's own connection.
    pub fn screen(&self) -> &Screen {
        &self.screen
    }

    /// Starts `deskline serve` as if a person sat at this desktop, with a client that is connected
    /// to it.
    pub fn server(&self, args: &[&str]) -> Client {
        Client::start(self.serve(args))
    }

    pub fn serve(&self, args: &[&str]) -> Command {
        let mut command = self.serve_alone(args);
        command.arg("--attended");
        command
    }

    /// A command for `deskline serve` on this desktop, for a desktop at which nobody sits.
    pub fn serve_alone(&self, args: &[&str]) -> Command {
        let mut command = self.command(deskline());
        command.arg("serve").arg("--dir").arg(self.journal());
        command.args(args);
        command
    }
}

/// A file of the testbed's folder.
pub(crate) fn source(part: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(part)
}

fn folder() -> tempfile::TempDir {
    tempfile::Builder::new()
        .prefix("deskline-bed-")
        .tempdir()
        .unwrap()
}

impl Default for Bed {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Bed {
    fn drop(&mut self) {
        drop(self.stdin.take());
        if std::thread::panicking() {
            // Do not panic again: that would hide the first panic.
            let deadline = std::time::Instant::now() + PATIENCE;
            while matches!(self.desktop.try_wait(), Ok(None))
                && std::time::Instant::now() < deadline
            {
                std::thread::sleep(std::time::Duration::from_millis(10));
            }
        } else {
            until("the desktop's end", || self.desktop.try_wait().unwrap());
        }
        let _ = self.desktop.kill();
        let _ = self.desktop.wait();
    }
}
