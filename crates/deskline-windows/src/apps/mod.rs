//! Apps: lists the running ones, starts one and follows its start, and reports how one has ended.

mod find;
#[allow(unsafe_code)] // each call has a SAFETY comment
mod shell;

use std::collections::HashMap;
use std::io;
use std::os::windows::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use deskline_core::App;
use deskline_link::{
    Application, End, Exit, Identity, OpenError, Opened, Permit, Progress, Result, WindowState,
};
use find::Program;
use windows::Win32::Foundation::ERROR_ELEVATION_REQUIRED;

use crate::display::windows::{every, front, is_minimised, owner, title};
use crate::process::{self, Process, name};

/// How long to wait for a window after the started process has ended: some programs hand over to a
/// running instance, or start another process.
const PASSES_ON: Duration = Duration::from_secs(5);

/// The maximum number of processes to follow.
const MOST: usize = 64;

/// The programs that links have started or read.
#[derive(Default)]
pub(crate) struct Programs {
    starting: Option<Starting>,
    /// By pid, with their names.
    followed: HashMap<u32, (Process, String)>,
}

/// The program that was started last.
struct Starting {
    pid: u32,
    name: String,
    /// The name of its executable: some programs hand over to another process of the same one.
    stem: String,
    process: Option<Process>,
    ended: Option<Instant>,
}

impl Programs {
    /// Keeps a handle to this process, to report its exit status.
    pub(crate) fn follow(&mut self, pid: u32) {
        if self.followed.contains_key(&pid) {
            return;
        }
        if self.followed.len() >= MOST {
            self.followed
                .retain(|_, (process, _)| process.status().is_none());
        }
        if let Some(process) = Process::open(pid).filter(|_| self.followed.len() < MOST) {
            self.followed.insert(pid, (process, name(pid)));
        }
    }

    pub(crate) fn end_of(&self, pid: u32) -> Option<End> {
        let (process, app) = self.followed.get(&pid)?;
        Some(End {
            app: app.clone(),
            exit: Exit::Status(process.status()?),
            wrote: None,
        })
    }

    /// The running apps that have windows.
    pub(crate) fn with_windows(&self) -> Vec<Application> {
        let front = front().map(owner);
        let mut applications: Vec<Application> = Vec::new();
        for window in every() {
            let state = WindowState {
                minimised: is_minimised(window.handle),
                ..WindowState::default()
            };
            let titled = (title(window.handle), state);
            match applications
                .iter_mut()
                .find(|known| known.app.pid == window.pid)
            {
                Some(known) => known.windows.push(titled),
                None => applications.push(Application {
                    app: App {
                        name: name(window.pid),
                        pid: window.pid,
                    },
                    windows: vec![titled],
                    front: front == Some(window.pid),
                }),
            }
        }
        applications
    }

    pub(crate) fn open(&mut self, identifier: &str, permit: Permit<'_>) -> Result<Opened> {
        let identifier = identifier.trim();
        if let Some(pid) = running(identifier) {
            let path = Process::open(pid).and_then(|process| process.path());
            permit(&path.as_deref().map(process::identity).unwrap_or_default())?;
            return Ok(Opened::Running(pid));
        }
        let program = find::find(identifier)?;
        permit(&Identity {
            claims: vec![program.name.clone()],
            ..process::identity(&program.path)
        })?;
        let pid = start(&program).map_err(|why| OpenError::NotStarted {
            name: program.name.clone(),
            why,
        })?;
        self.follow(pid);
        self.starting = Some(Starting {
            pid,
            stem: stem(&program),
            name: program.name.clone(),
            process: Process::open(pid),
            ended: None,
        });
        Ok(Opened::Started(program.name))
    }

    pub(crate) fn progress(&mut self) -> Result<Progress> {
        let Some(starting) = &mut self.starting else {
            return Ok(Progress::Starting);
        };
        let ended = starting.process.as_ref().and_then(Process::status);
        if let Some(pid) = starting.window(ended.is_some()) {
            return Ok(Progress::Ready(pid));
        }
        let Some(status) = ended else {
            return Ok(Progress::Starting);
        };
        let name = starting.name.clone();
        if status != 0 {
            return Err(OpenError::EndedAtOnce {
                name,
                status: format!(" (exit status {status})"),
                written: None,
            }
            .into());
        }
        if starting.ended.get_or_insert_with(Instant::now).elapsed() < PASSES_ON {
            return Ok(Progress::Starting);
        }
        Err(OpenError::EndedSilently(name).into())
    }
}

impl Starting {
    /// The process with the app's window: this one, a descendant, or, once this one has ended,
    /// another of the same executable.
    fn window(&self, ended: bool) -> Option<u32> {
        let parents = process::parents();
        let is_descendant = |pid: u32| {
            let mut line = std::iter::successors(Some(pid), |pid| parents.get(pid).copied());
            line.by_ref().take(16).any(|pid| pid == self.pid)
        };
        let is_heir = |pid: u32| ended && name(pid).eq_ignore_ascii_case(&self.stem);
        let pids = every().into_iter().map(|window| window.pid);
        let mut pids = pids.filter(|pid| is_descendant(*pid) || is_heir(*pid));
        pids.next()
    }
}

fn stem(program: &Program) -> String {
    let stem = program.path.file_stem().unwrap_or_default();
    stem.to_string_lossy().into_owned()
}

/// The app with a window whose executable has this name, frontmost first.
fn running(identifier: &str) -> Option<u32> {
    let wanted = find::without_exe(identifier);
    let mut windows = every().into_iter();
    let found = windows.find(|window| name(window.pid).eq_ignore_ascii_case(wanted));
    found
        .filter(|_| !wanted.is_empty())
        .map(|window| window.pid)
}

fn start(program: &Program) -> std::result::Result<u32, String> {
    let mut command = Command::new(&program.path);
    if !program.arguments.is_empty() {
        command.raw_arg(&program.arguments);
    }
    if let Some(folder) = &program.folder {
        command.current_dir(folder);
    }
    command.stdin(Stdio::null());
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let started = command.spawn();
    started.map(|child| child.id()).map_err(|error| why(&error))
}

fn why(error: &io::Error) -> String {
    if error.raw_os_error() == Some(ERROR_ELEVATION_REQUIRED.0.cast_signed()) {
        return "it runs only as administrator, and Windows asks the user for that on a screen \
                that no program reaches: have them start it"
            .into();
    }
    format!("Windows says {error}")
}
