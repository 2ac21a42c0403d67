//! Apps: which ones run, how to start one, and the progress of a start.

use std::path::{Path, PathBuf};
use std::time::Duration;

use deskline_core::{App, escape, nearest};

use crate::display::Window;
use crate::end::End;
use crate::error::{OpenError, Result, WindowHint};
pub use crate::identity::Identity;

/// A thread of an app, or all threads of the app together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Thread {
    /// Identifies the thread.
    pub id: u64,
    /// How long the thread has run, or waited for a processor in waits that are over.
    pub ran: Duration,
    /// How often the thread has slept. `None` if it sleeps now, or if the number is unknown.
    pub sleeps: Option<u64>,
}

impl Thread {
    /// For how long this thread has computed since `before` was read, which was `elapsed` ago.
    pub fn computed(self, before: &[Self], elapsed: Duration) -> Duration {
        match before.iter().find(|thread| thread.id == self.id) {
            Some(then) if then.sleeps.is_some() && then.sleeps == self.sleeps => elapsed,
            then => self
                .ran
                .saturating_sub(then.map_or(Duration::ZERO, |then| then.ran)),
        }
    }
}

/// A running app with windows, for `list_applications`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Application {
    /// Name and pid.
    pub app: App,
    pub windows: Vec<Window>,
    /// Whether one of the app's windows is the front window.
    pub front: bool,
}

impl Application {
    /// The apps that have these windows, in the order of the windows.
    pub fn of_windows(
        windows: impl IntoIterator<Item = Window>,
        front: Option<u32>,
        mut name: impl FnMut(u32) -> String,
    ) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        for window in windows {
            let Some(pid) = window.pid else { continue };
            match all.iter_mut().find(|known| known.app.pid == pid) {
                Some(known) => known.windows.push(window),
                None => all.push(Self {
                    app: App::new(pid, name(pid)),
                    windows: vec![window],
                    front: front == Some(pid),
                }),
            }
        }
        all
    }
}

/// The names of a running process. `own` is the name that the process gives itself.
pub fn identify(apps: &mut dyn Apps, own: &str, pid: u32) -> Identity {
    let mut app = apps.known_as(pid);
    app.claims.push(own.to_owned());
    app
}

/// Checks whether this app may be opened. If the identity has no names, it is unknown which app
/// would open.
pub type Permit<'a> = &'a dyn Fn(&Identity) -> Result<()>;

/// The result of [`Apps::open`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Opened {
    /// The app runs and has a window. Holds its pid.
    Running(u32),
    /// The app was started under this name. [`Apps::progress`] reports whether it is ready.
    Started(String),
}

/// The progress of an app that was started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Progress {
    /// The app has no window yet.
    Starting,
    /// The app should be ready by now, but has no window or no tree. Holds its pid and a hint.
    Waiting(u32, WindowHint),
    /// The app has a window and a tree. Holds its pid.
    Ready(u32),
}

/// The paths of the files that describe installed apps, sorted by name: those in `folder`, and
/// those in its subfolders down to a depth of `levels`.
pub fn installed(folder: &Path, levels: usize, is_app: fn(&Path) -> bool) -> Vec<PathBuf> {
    /// Look at most at this many entries of a folder.
    const MOST: usize = 10_000;

    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    let mut found = Vec::new();
    for path in paths.into_iter().take(MOST) {
        if is_app(&path) {
            found.push(path);
        } else if levels > 0 && path.is_dir() {
            found.extend(installed(&path, levels - 1, is_app));
        }
    }
    found
}

/// The app whose name has this word, if it is the only one: "chrome" is Google Chrome, unless
/// another app has that word in its name too.
pub fn by_word<'a>(
    apps: &'a [PathBuf],
    wanted: &str,
    name: impl Fn(&Path) -> String,
) -> Option<&'a PathBuf> {
    let has = |path: &&PathBuf| name(path).split(' ').any(|word| word == wanted);
    let mut all = apps.iter().filter(has);
    all.next().filter(|_| all.next().is_none())
}

/// The error for an identifier that no app has. `forms` lists the accepted identifiers.
pub fn not_found(identifier: &str, wanted: &str, names: &[String], forms: &str) -> OpenError {
    let near = nearest(wanted, names.iter().map(String::as_str));
    let near = near.map_or_else(String::new, |near| {
        format!("The nearest is '{}'. ", escape::short(near, 40))
    });
    OpenError::NotFound {
        identifier: identifier.to_owned(),
        nearest: format!("{near}Give {forms}"),
    }
}

/// Apps. Each method is one bounded step; the link decides how long a start may take.
pub trait Apps {
    /// The running apps that have windows.
    fn applications(&mut self) -> Result<Vec<Application>>;

    /// Finds a running app, or else starts it. The identifier is a name, a desktop-file or bundle
    /// id, a path or a command. Does not wait for a window. Asks `permit` before it starts
    /// anything.
    fn open(&mut self, identifier: &str, permit: Permit<'_>) -> Result<Opened>;

    /// The progress of the app that was started last. Windows of other apps that open meanwhile do
    /// not count. Fails if the app has ended.
    fn progress(&mut self) -> Result<Progress>;

    /// The standard error of the last started app, in short.
    fn complaint(&mut self) -> Option<String> {
        None
    }

    /// How long the app's processes have run so far, waits for a processor included; `None` if
    /// unknown.
    fn computed(&mut self, pid: u32) -> Option<Duration>;

    /// The threads of the app's own process that may compute while its main thread answers. They
    /// are reported one by one without the main thread, or all together as one.
    fn threads(&mut self, pid: u32) -> Vec<Thread> {
        let all = self.computed(pid).map(|ran| Thread {
            id: 0,
            ran,
            sleeps: None,
        });
        all.into_iter().collect()
    }

    /// The system's names for the process. What the process says about itself does not count.
    fn known_as(&mut self, pid: u32) -> Identity;

    /// Whether the process may show the MCP client's questions: it is an ancestor of this server,
    /// or was started by one at most `within` ago.
    fn may_be_clients(&mut self, _pid: u32, _within: Duration) -> bool {
        false
    }

    /// Whether the app shows the settings in which a person grants programs their permissions.
    fn shows_permissions(&mut self, _pid: u32) -> bool {
        false
    }

    /// How the process ended; `None` while it runs, or if no call has been about this process.
    fn end_of(&mut self, _pid: u32) -> Option<End> {
        None
    }

    /// Whether the last action is known to bring something to the screen soon: a portal dialog was
    /// requested, or a process is starting.
    fn handoff_pending(&mut self) -> Result<bool> {
        Ok(false)
    }
}
