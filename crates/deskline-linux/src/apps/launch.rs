//! Starts an app: over D-Bus if its desktop file asks for that, else as a process.

use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use deskline_contract::{OpenError, Result};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use super::origin::{self, Origin};
use super::{Launch, command, trust};
use deskline_atspi::bus::{self, Body, Call, Connection};
use deskline_unix::complaint::Complaint;
use deskline_unix::{spawn, wait};

use crate::session::{Session, environment};

/// How long an app may take to start and answer on the bus.
const ACTIVATION: Duration = Duration::from_secs(10);
/// How long the bus itself may take to answer.
const BUS: Duration = Duration::from_secs(2);

/// The option that makes Chromium expose its pages. Without it, Chromium exposed 7 elements and no
/// page, even when `org.a11y.Status` was set.
const CHROMIUM_TREE: &str = "--force-renderer-accessibility";

/// How often to check the length of an app's standard error.
const CUT: Duration = Duration::from_secs(10);

#[derive(Debug, Clone)]
pub struct Launched {
    /// The process that was started. If it only was a launcher, the app's windows belong to another
    /// pid, such as that of an instance that ran already. `None` if the bus started the app and
    /// reported no pid.
    pub pid: Option<u32>,
    pub name: String,
    origin: Origin,
    complaint: Complaint,
    exit: Arc<OnceLock<ExitStatus>>,
}

impl Launched {
    /// The exit status of the started process, if it has ended. Success means that the process has
    /// handed over to another one. Always `None` for an app that the bus has started.
    pub(crate) fn exited(&self) -> Option<ExitStatus> {
        self.exit.get().copied()
    }

    /// Whether the process `pid` is the one that was started, or descends from it.
    pub fn made(&self, pid: u32) -> bool {
        self.origin.made(pid)
    }

    /// Whether the launch may have handed over to the process `pid`, which it did not start. That
    /// may be another instance of the same program. It may also be an app that an opener, such as
    /// `xdg-open`, has made open something.
    pub(crate) fn may_have_handed_over_to(&self, pid: u32) -> bool {
        let of_session = |own| origin::is_of_the_session(pid, own);
        self.origin.is_same_program(pid)
            || self.origin.is_opener() && self.pid.is_some_and(of_session)
    }

    /// The last lines that the app has written to standard error, joined into one. `None` if it has
    /// written nothing. The text may be hostile, so quote it.
    pub fn complaint(&self) -> Option<String> {
        self.complaint.last_lines()
    }
}

/// Starts an app with the session's environment, in a process session of its own, so that the app
/// outlives this process. The app runs in the home directory, unless its desktop file names another
/// directory.
pub fn launch(launch: &Launch, session: &Session) -> Result<Launched> {
    let activatable = launch.entry.as_ref().filter(|e| e.dbus_activatable);
    if let (Some(entry), Some(address)) = (activatable, &session.session_bus) {
        match activate(&entry.id, launch, address) {
            Ok(pid) => return Ok(launch.launched(pid)),
            Err(e) if launch.argv.is_empty() => {
                let why = format!("over D-Bus: {e}");
                return Err(OpenError::not_started(&launch.name, why).into());
            }
            Err(e) => tracing::debug!("{}: {e}; starting its command instead", entry.id),
        }
    }
    start(launch, session)
}

impl Launch {
    fn launched(&self, pid: Option<u32>) -> Launched {
        Launched {
            pid,
            name: self.name.clone(),
            origin: Origin {
                pid,
                ..Origin::default()
            },
            complaint: Complaint::default(),
            exit: Arc::default(),
        }
    }
}

/// Starts the app over D-Bus. Desktop Entry Specification, "D-Bus Activation".
fn activate(id: &str, launch: &Launch, address: &str) -> Result<Option<u32>, bus::Error> {
    let mut connection = Connection::open(address, BUS)?;
    let path = format!("/{}", id.replace('.', "/").replace('-', "_"));
    let (member, body) = match &launch.document {
        Some(document) => ("Open", Body::new().strs(&[&document.uri()])),
        None => ("Activate", Body::new()),
    };
    let interface = "org.freedesktop.Application";
    let call = Call::new(id, &path, interface, member, body.empty_dict());
    match connection.call(&call, ACTIVATION) {
        // The app has the request, and may only be slow to answer. A second copy must not be
        // started.
        Ok(_) | Err(bus::Error::Timeout) => {}
        Err(e) => return Err(e),
    }
    let whose = Call::to_bus("GetConnectionUnixProcessID", Body::new().str(id));
    let reply = connection.call(&whose, BUS)?;
    Ok(reply.reader().u32().ok())
}

fn start(launch: &Launch, session: &Session) -> Result<Launched> {
    let [name, arguments @ ..] = launch.argv.as_slice() else {
        return Err(OpenError::NoCommand(launch.name.clone()).into());
    };
    let Some(program) = command::in_path(name, session) else {
        return Err(OpenError::command_missing(&launch.name, name).into());
    };
    let directory = launch.entry.as_ref().and_then(|e| e.directory.as_deref());
    let directory = directory
        .or(session.home())
        .filter(|dir| dir.is_dir())
        .unwrap_or(Path::new("/"));
    let mut variables = session.environment.clone();
    environment::make_accessible(&mut variables);
    let complaint = Complaint::new();
    let mark = mark();
    variables.insert(origin::MARK.to_owned(), mark.clone());
    if launch.is_judged {
        // The script starts other programs by their names. So its `PATH` must lead to programs of
        // root's only.
        variables.insert("PATH".to_owned(), trust::roots_path(session));
    }
    let mut command = Command::new(&program);
    command
        .args(arguments)
        .env_clear()
        .envs(&variables)
        .current_dir(directory);
    command
        .env("PWD", directory)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(complaint.stdio());
    if is_chromium(&program) && !arguments.iter().any(|a| a == CHROMIUM_TREE) {
        command.arg(CHROMIUM_TREE);
    }
    let child = spawn::own_session(&mut command).spawn();
    let child = child.map_err(|e| OpenError::not_started(&launch.name, e))?;
    let mut launched = launch.launched(Some(child.id()));
    launched.origin = Origin {
        pid: Some(child.id()),
        mark,
        arguments: arguments.to_vec(),
        program,
    };
    launched.complaint = complaint;
    let (exit, complaint) = (Arc::clone(&launched.exit), launched.complaint.clone());
    thread::spawn(move || mind(child, &exit, &complaint));
    Ok(launched)
}

/// A value that is unique among all launches of all processes.
fn mark() -> String {
    static LAUNCHES: AtomicU32 = AtomicU32::new(0);
    let number = LAUNCHES.fetch_add(1, Ordering::Relaxed);
    format!("{}-{number}", std::process::id())
}

/// Reaps the process when it ends, and limits the length of its standard error.
fn mind(mut child: Child, exit: &OnceLock<ExitStatus>, complaint: &Complaint) {
    let pid = Pid::from_child(&child);
    if let Ok(ended) = pidfd_open(pid, PidfdFlags::empty()) {
        while matches!(wait::readable(&ended, CUT), Ok(false)) {
            complaint.cut();
        }
    }
    if let Ok(status) = child.wait() {
        let _ = exit.set(status);
    }
}

/// Whether the program is Chromium or an Electron app. Looks for one of Chromium's resource files
/// beside the program, in the folder above, or, for a script, where Debian puts the file.
fn is_chromium(program: &Path) -> bool {
    let real = program.canonicalize();
    let real = real.unwrap_or_else(|_| program.to_owned());
    let name = program.file_name().unwrap_or_default();
    let dirs = real.ancestors().skip(1).take(2).map(Path::to_owned);
    dirs.chain([Path::new("/usr/lib").join(name)])
        .any(|dir| dir.join("chrome_100_percent.pak").is_file())
}
