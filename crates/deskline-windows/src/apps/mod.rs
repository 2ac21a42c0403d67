//! Lists the running apps, starts an app and follows its start, and reports how an app has ended.

mod find;
#[allow(unsafe_code)] // each call has a SAFETY comment
pub(crate) mod shell;

use std::collections::{HashMap, HashSet};
use std::io;
use std::os::windows::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use deskline_contract::{End, Exit, OpenError, Opened, Permit, Progress, Result};
use deskline_core::WindowId;
use deskline_unix::complaint::Complaint;
use find::Program;
use windows::Win32::Foundation::ERROR_ELEVATION_REQUIRED;

use crate::display::windows::{every, owner};
use crate::process::{self, Process, name};
use crate::{os, private};

/// How long to wait for a window after the started process has ended: some programs hand over to a
/// running instance, or start another process.
const PASSES_ON: Duration = Duration::from_secs(5);

/// The programs whose windows show the programs of the console.
const CONSOLES: [&str; 3] = ["conhost", "OpenConsole", "WindowsTerminal"];

/// The maximum number of processes to follow.
const MOST: usize = 64;

/// The programs that links have started or read.
#[derive(Default)]
pub(crate) struct Programs {
    starting: Option<Starting>,
    /// The programs, by pid.
    followed: HashMap<u32, Followed>,
}

struct Followed {
    process: Process,
    name: String,
    /// The program's standard error, if Deskline has started the program.
    complaint: Complaint,
}

/// The program that was started last.
struct Starting {
    /// `None` until Explorer has started the program.
    pid: Option<u32>,
    name: String,
    /// The program's executable: some programs hand over to another process of the same executable.
    path: PathBuf,
    process: Option<Process>,
    /// When the program was started, and when it was first found to have ended.
    at: u64,
    ended: Option<Instant>,
    /// The windows that existed before the start.
    before: HashSet<WindowId>,
}

impl Programs {
    /// Keeps a handle to this process, to report its exit status.
    pub(crate) fn follow(&mut self, pid: u32) {
        match self.followed.get(&pid) {
            Some(known) => known.complaint.cut(),
            None => self.keep(pid, Complaint::default()),
        }
    }

    fn keep(&mut self, pid: u32, complaint: Complaint) {
        if self.followed.len() >= MOST {
            self.followed
                .retain(|_, known| known.process.status().is_none());
        }
        if let Some(process) = Process::open(pid).filter(|_| self.followed.len() < MOST) {
            let name = name(pid);
            let known = Followed {
                process,
                name,
                complaint,
            };
            self.followed.insert(pid, known);
        }
    }

    /// The last lines of the standard error of the app that was started last.
    pub(crate) fn complaint(&self) -> Option<String> {
        let pid = self.starting.as_ref()?.pid?;
        self.followed.get(&pid)?.complaint.last_lines()
    }

    pub(crate) fn end_of(&self, pid: u32) -> Option<End> {
        let known = self.followed.get(&pid)?;
        let status = known.process.status()?;
        Some(End {
            app: known.name.clone(),
            exit: Exit::Status(status),
            wrote: known.complaint.last_lines().filter(|_| status != 0),
        })
    }

    pub(crate) fn open(&mut self, identifier: &str, permit: Permit<'_>) -> Result<Opened> {
        let identifier = identifier.trim();
        if let Some(pid) = running(identifier) {
            permit(&os::known_as(pid))?;
            return Ok(Opened::Running(pid));
        }
        let program = find::find(identifier)?;
        permit(&program.identity())?;
        let before = every().into_iter().collect();
        let at = process::now();
        let started = start(&program);
        let (pid, complaint) = started.map_err(|why| OpenError::not_started(&program.name, why))?;
        if let Some(pid) = pid {
            self.keep(pid, complaint);
        }
        self.starting = Some(Starting {
            pid,
            name: program.name.clone(),
            path: program.path,
            process: pid.and_then(Process::open),
            at,
            ended: None,
            before,
        });
        Ok(Opened::Started(program.name))
    }

    pub(crate) fn progress(&mut self) -> Result<Progress> {
        let Some(mut starting) = self.starting.take() else {
            return Ok(Progress::Starting);
        };
        if starting.process.is_none()
            && let Some((pid, process)) = process::started_since(starting.at, &starting.path)
        {
            self.keep(pid, Complaint::default());
            (starting.pid, starting.process) = (Some(pid), Some(process));
        }
        let starting = self.starting.insert(starting);
        // A missing process counts as ended: Explorer may have handed the document to a running
        // app.
        let ended = starting.process.as_ref().map_or(Some(0), Process::status);
        if let Some(pid) = starting.window(ended.is_some()) {
            return Ok(Progress::Ready(pid));
        }
        let Some(status) = ended else {
            return Ok(Progress::Starting);
        };
        let name = starting.name.clone();
        // Explorer ends with 1 when it hands over to the process that shows the desktop.
        if status != 0 && !starting.stem().eq_ignore_ascii_case("explorer") {
            let (status, written) = (format!(" (exit status {status})"), self.complaint());
            return Err(OpenError::ended_at_once(&name, &status, written.as_deref()).into());
        }
        if starting.ended.get_or_insert_with(Instant::now).elapsed() < PASSES_ON {
            return Ok(Progress::Starting);
        }
        Err(OpenError::EndedSilently(name).into())
    }
}

impl Starting {
    fn stem(&self) -> String {
        process::stem(&self.path)
    }

    /// The process that owns the app's window: the started process, one of its descendants or, for
    /// a console program, the console that shows it. If the started process has ended, then also
    /// another process of the same executable or, failing that, any process that has started since:
    /// `calc` has Windows start an app with another name.
    fn window(&self, ended: bool) -> Option<u32> {
        let parents = process::parents();
        let is_descendant = |pid: u32| {
            let mut line = std::iter::successors(Some(pid), |pid| parents.get(pid).copied());
            line.by_ref().take(16).any(|pid| Some(pid) == self.pid)
        };
        let windows = every();
        let find = |is_it: &dyn Fn(WindowId) -> bool| {
            let mut windows = windows.iter().copied();
            windows.find(|window| is_it(*window)).map(owner)
        };
        let is_new = |window: WindowId| !self.before.contains(&window);
        let is_later = |pid: u32| {
            let times = Process::open(pid).and_then(|process| process.times());
            times.is_some_and(|times| times.started >= self.at)
        };
        let named =
            |window: WindowId, wanted: &str| name(owner(window)).eq_ignore_ascii_case(wanted);
        find(&|window| is_descendant(owner(window)))
            .or_else(|| {
                let consoles = |window: WindowId| CONSOLES.iter().any(|of| named(window, of));
                find(&|window| is_new(window) && consoles(window))
            })
            .or_else(|| {
                let stem = self.stem();
                let heir = find(&|window| named(window, &stem));
                let heir =
                    heir.or_else(|| find(&|window| is_new(window) && is_later(owner(window))));
                heir.filter(|_| ended)
            })
    }
}

/// The frontmost app that has a window, and whose executable has this name.
fn running(identifier: &str) -> Option<u32> {
    let wanted = find::without_exe(identifier);
    let mut pids = every().into_iter().map(owner);
    let found = pids.find(|pid| name(*pid).eq_ignore_ascii_case(wanted));
    found.filter(|_| !wanted.is_empty())
}

/// Starts the program. Returns its pid if that is known yet, and its standard error.
fn start(program: &Program) -> std::result::Result<(Option<u32>, Complaint), String> {
    let says = |e| format!("Windows says {e}");
    if let Some(id) = program
        .id
        .as_ref()
        .filter(|_| program.path.as_os_str().is_empty())
    {
        let pid = shell::activate(id).map_err(says)?;
        return Ok((Some(pid), Complaint::default()));
    }
    // Explorer runs on the person's desktop, so it cannot start a program on a private desktop.
    if private::name().is_none() {
        let folder = program.folder.as_deref();
        match shell::by_explorer(&program.path, &program.arguments, folder) {
            Ok(()) => return Ok((None, Complaint::default())),
            Err(error) if program.id.is_some() => return Err(says(error)),
            Err(error) => tracing::warn!(%error, "Explorer starts nothing"),
        }
    }
    let complaint = Complaint::new();
    let mut command = Command::new(&program.path);
    if !program.arguments.is_empty() {
        command.raw_arg(&program.arguments);
    }
    if let Some(folder) = &program.folder {
        command.current_dir(folder);
    }
    command.stdin(Stdio::null());
    command.stdout(Stdio::null()).stderr(complaint.stdio());
    let started = command.spawn().map_err(|error| why(&error))?;
    Ok((Some(started.id()), complaint))
}

fn why(error: &io::Error) -> String {
    if error.raw_os_error() == Some(ERROR_ELEVATION_REQUIRED.0.cast_signed()) {
        return "it runs only as administrator, and Windows asks the user for permission on a \
            screen that no program reaches. Ask the user to start the program"
            .into();
    }
    format!("Windows says {error}")
}
