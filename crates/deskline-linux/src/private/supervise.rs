//! Runs a private desktop in a separate process, so that the desktop ends when the process that
//! uses it ends, in whatever way.
//!
//! The supervising process is the subreaper of everything that is started on the desktop. So an app
//! that detaches itself becomes its child, and is ended too. A server holds a pipe to the
//! supervisor. When the server ends, even by SIGKILL, the kernel closes the pipe, and the desktop
//! ends.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use deskline_contract::{Error, Result};
use rustix::event::{PollFd, PollFlags};
use rustix::process::{Pid, PidfdFlags, WaitOptions, pidfd_open, set_child_subreaper, waitpid};
use serde_json::json;
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM};

use super::end::Reach;
use super::{DISPLAYS, Options, PrivateDesktop, parts};
use deskline_unix::{process, spawn, wait};

use crate::session::{Environment, Session, environment};

/// How long a supervisor may take until its desktop is up and announced.
const START_LIMIT: Duration = Duration::from_secs(20);

/// How long a supervisor may take to end its desktop: twice the time that apps and programs get.
const END_LIMIT: Duration = Duration::from_secs(5);

/// Variables for apps only: a shell or command that a person runs on the desktop keeps its own.
const OF_APPS: [&str; 2] = ["HOME", "TMPDIR"];

/// Signals that end a supervised desktop.
const STOPPING: [i32; 3] = [SIGTERM, SIGINT, SIGHUP];

/// How to print the desktop's environment on standard output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Announce {
    /// One line: a JSON object of all variables, or `{"error": "…"}`.
    Json,
    /// `export NAME='value'` lines for a shell to evaluate.
    Shell,
    /// Print nothing.
    Nothing,
}

/// When a supervised desktop ends. SIGTERM, SIGINT and SIGHUP always end it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Until {
    /// Only when a signal arrives.
    Signal,
    /// When standard input ends.
    Eof,
    /// When this command, which runs on the desktop, ends. The command keeps the caller's
    /// environment, except for the desktop's own variables.
    Command(Vec<OsString>),
}

/// Runs a private desktop until `until` or a signal ends it. Call this on the main thread of a
/// process that does nothing else: it ends all descendants of the process.
///
/// Returns the exit code for this process: that of the command, 128 plus the signal's number, or 0.
pub fn run_supervised(options: &Options, announce: Announce, until: &Until) -> Result<u8> {
    let outcome = run(options, announce, until);
    if let (Announce::Json, Err(e)) = (announce, &outcome) {
        say(&format!("{}\n", json!({"error": e.to_string()})))?;
        // The error is printed by the reader of the JSON line.
        return Ok(1);
    }
    outcome
}

fn run(options: &Options, announce: Announce, until: &Until) -> Result<u8> {
    const FAILED: &str = "supervising the private desktop";
    // The signals are watched before anything is started, so that none is missed.
    let signals = STOPPING.into_iter().chain([SIGCHLD]).map(watch);
    let signals = signals.collect::<io::Result<Vec<_>>>();
    let signals = signals.map_err(Error::system(FAILED))?;
    set_child_subreaper(Some(rustix::process::getpid())).map_err(Error::system(FAILED))?;
    let mut desktop = PrivateDesktop::start_reaching(options, Reach::Process)?;
    let variables = &desktop.session().environment;
    match announce {
        Announce::Json => say(&format!("{}\n", json!(variables)))?,
        Announce::Shell => say(&exports(&of_shell(variables), desktop.vnc_socket()))?,
        Announce::Nothing => {}
    }
    let mut command = match until {
        Until::Command(command) => Some(start_command(command, of_shell(variables))?),
        _ => None,
    };
    loop {
        let stdin = io::stdin();
        let fds = signals.iter().map(|s| PollFd::new(s, PollFlags::IN));
        let input = (*until == Until::Eof).then(|| PollFd::new(&stdin, PollFlags::IN));
        let mut fds: Vec<_> = fds.chain(input).collect();
        wait::any(&mut fds, None).map_err(Error::system(FAILED))?;
        let ready: Vec<_> = fds.iter().map(|fd| !fd.revents().is_empty()).collect();
        if let Some((signal, _)) = STOPPING.iter().zip(&ready).find(|(_, ready)| **ready) {
            return Ok(128 + *signal as u8);
        }
        if ready[STOPPING.len()] {
            drop((&signals[STOPPING.len()]).read(&mut [0; 64]));
            if let Some(status) = command.as_mut().and_then(|c| c.try_wait().ok().flatten()) {
                return Ok(exit_code(status));
            }
            desktop.check()?;
            let kept = command.as_ref().map(|c| c.id().cast_signed());
            desktop.reap_orphans(kept);
        }
        if ready.len() > signals.len() && ready[signals.len()] && at_end(&stdin)? {
            return Ok(0);
        }
    }
}

/// A socket that becomes readable when the signal arrives.
fn watch(signal: i32) -> io::Result<UnixStream> {
    let (reader, writer) = UnixStream::pair()?;
    reader.set_nonblocking(true)?;
    signal_hook::low_level::pipe::register(signal, writer)?;
    Ok(reader)
}

/// Whether standard input, which is ready to read, is at its end. Its content does not matter.
fn at_end(stdin: &io::Stdin) -> Result<bool> {
    match rustix::io::read(stdin, &mut [0; 4096]) {
        Ok(n) => Ok(n == 0),
        Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => Ok(false),
        Err(e) => Err(Error::system("reading standard input")(e)),
    }
}

fn say(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    let said = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    said.map_err(Error::system("announcing the private desktop"))
}

/// The desktop's variables that a shell or command gets: the addresses of the desktop and what its
/// apps need, but nothing that replaces the caller's own.
fn of_shell(variables: &Environment) -> Environment {
    let own = environment::own();
    let mut variables = variables.clone();
    variables
        .retain(|name, value| !OF_APPS.contains(&name.as_str()) && own.get(name) != Some(value));
    variables
}

fn exports(variables: &Environment, vnc: Option<&Path>) -> String {
    let line = |(name, value): (&String, &String)| {
        format!("export {name}='{}'\n", value.replace('\'', r"'\''"))
    };
    let watch = vnc.map(|socket| format!("# watch it: vncviewer {}\n", socket.display()));
    variables.iter().map(line).chain(watch).collect()
}

fn start_command(command: &[OsString], variables: Environment) -> Result<Child> {
    let [program, arguments @ ..] = command else {
        return Err(Error::Unavailable(
            "there is no command to run on the private desktop".to_owned(),
        ));
    };
    let mut command = Command::new(program);
    for other in DISPLAYS {
        command.env_remove(other);
    }
    let started = command.args(arguments).envs(variables).spawn();
    started.map_err(|e| Error::Unavailable(format!("cannot start {}: {e}", program.display())))
}

fn exit_code(status: ExitStatus) -> u8 {
    let by_signal = || status.signal().map(|signal| 128 + signal);
    let code = status.code().or_else(by_signal);
    code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}

impl PrivateDesktop {
    /// Reaps orphans that became children of this process, except those that other code waits for.
    fn reap_orphans(&self, kept: Option<i32>) {
        let us = std::process::id().cast_signed();
        let parts = self.parts.children.iter();
        let parts: Vec<i32> = parts.map(|(_, child)| child.id().cast_signed()).collect();
        let own = |pid| Some(pid) == kept || parts.contains(&pid);
        let uid = rustix::process::getuid().as_raw();
        for orphan in process::of_user(Path::new("/proc"), uid) {
            if orphan.ended && orphan.parent == us && !own(orphan.pid) {
                let _ = waitpid(Pid::from_raw(orphan.pid), WaitOptions::NOHANG);
            }
        }
    }
}

/// A private desktop in a separate process, as a server holds it. It ends when this is dropped or
/// when this process ends.
#[derive(Debug)]
pub struct Supervised {
    session: Session,
    supervisor: Child,
}

impl Supervised {
    /// Runs `exe desktop --json --until-eof` with `options` and waits until its desktop is up.
    pub fn spawn(exe: &Path, options: &Options) -> Result<Self> {
        let mut command = Command::new(exe);
        command.args(["desktop", "--json", "--until-eof"]);
        command.args(options.to_args());
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let name = exe.display();
        let supervisor = spawn::own_session(&mut command).spawn();
        let supervisor =
            supervisor.map_err(|e| Error::Unavailable(format!("cannot start {name}: {e}")))?;
        let mut supervised = Self {
            session: Session::default(),
            supervisor,
        };
        let mut out = supervised.supervisor.stdout.take();
        let line = match &mut out {
            Some(out) => parts::read_line(out, Instant::now() + START_LIMIT)?,
            None => String::new(),
        };
        let unannounced = format!("{name} desktop did not announce a desktop");
        let variables: Environment =
            serde_json::from_str(&line).map_err(|_| Error::Unavailable(unannounced))?;
        if let Some(error) = variables.get("error") {
            return Err(Error::Unavailable(error.clone()));
        }
        supervised.session = Session::from_environment(&variables);
        Ok(supervised)
    }

    /// The desktop's session. Apps that are launched with it run there, and end with the desktop.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Returns a function that blocks until the desktop has ended. To be called on a thread of its
    /// own.
    pub fn end(&self) -> io::Result<impl FnOnce() + Send + use<>> {
        let supervisor = pidfd_open(Pid::from_child(&self.supervisor), PidfdFlags::empty())?;
        Ok(move || {
            let end = PollFd::new(&supervisor, PollFlags::IN);
            drop(wait::any(&mut [end], None));
        })
    }
}

impl Drop for Supervised {
    fn drop(&mut self) {
        drop(self.supervisor.stdin.take());
        let pid = Pid::from_child(&self.supervisor);
        if let Ok(process) = pidfd_open(pid, PidfdFlags::empty()) {
            let _ = wait::readable(&process, END_LIMIT);
        }
        drop(self.supervisor.kill());
        drop(self.supervisor.wait());
    }
}
