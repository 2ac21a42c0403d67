//! Apps: which run, starting one, and how far a started one has come.

use std::time::Duration;

use deskline_core::App;

use crate::display::WindowState;
use crate::end::End;
use crate::error::{Result, WindowHint};

/// A running app with windows, for `list_applications`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Application {
    /// Name and pid.
    pub app: App,
    /// Each with its state.
    pub windows: Vec<(String, WindowState)>,
    /// Whether one of them is the front window.
    pub front: bool,
}

/// The names that `--allow-app` and `--deny-app` match.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Identity {
    /// The system's names for it: its executable and its path, the script that it runs, the id and
    /// the names of its desktop file or bundle. Empty if the system reports nothing.
    pub names: Vec<String>,
    /// Its own name for itself, and other programs that a command line may start. These deny an app
    /// and allow none.
    pub claims: Vec<String>,
    /// What a grant for it is kept under: the path of its executable or script, or the id of its
    /// desktop file, package or bundle. `None` if the system reports none that is its own.
    pub key: Option<String>,
}

impl Identity {
    /// An app that is known by this name.
    pub fn named(name: impl Into<String>) -> Self {
        let name = name.into();
        Self {
            names: vec![name.clone()],
            claims: Vec::new(),
            key: Some(name),
        }
    }
}

/// Whether this app may be opened. If it has no names, it is unknown which app would open.
pub type Permit<'a> = &'a dyn Fn(&Identity) -> Result<()>;

/// The result of [`Apps::open`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Opened {
    /// The app runs, with a window: its pid.
    Running(u32),
    /// The app was started under this name. [`Apps::progress`] says how far it has come.
    Started(String),
}

/// How far an app that was started has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Progress {
    /// No window yet.
    Starting,
    /// It should be ready by now and has no window, or no tree: its pid, and a hint.
    Waiting(u32, WindowHint),
    /// It has a window and a tree: its pid.
    Ready(u32),
}

/// Apps. Each method is one bounded step; how long a start may take is the link's to decide.
pub trait Apps {
    /// The running apps that have windows.
    fn applications(&mut self) -> Result<Vec<Application>>;

    /// Finds a running app by name, desktop-file or bundle id, path or command, or starts it,
    /// without waiting for its window. `permit` is asked before anything is started.
    fn open(&mut self, identifier: &str, permit: Permit<'_>) -> Result<Opened>;

    /// How far the app that was started last has come. The windows of strangers that come up
    /// meanwhile do not count. An error where it has ended.
    fn progress(&mut self) -> Result<Progress>;

    /// The standard error of the last started app, in short.
    fn complaint(&mut self) -> Option<String>;

    /// For how long the app's processes have run so far, waits for a processor included; `None`
    /// where that is not known.
    fn computed(&mut self, pid: u32) -> Option<Duration>;

    /// The same for all threads of the app's own process, and for no other process.
    fn threads_computed(&mut self, pid: u32) -> Option<Duration>;

    /// The system's names for the process, without what the process claims about itself.
    fn known_as(&mut self, pid: u32) -> Identity;

    /// Whether the app shows where a person gives programs their permissions.
    fn shows_permissions(&mut self, pid: u32) -> bool;

    /// How the process ended; `None` while it runs, and for one that no call has been about.
    fn end_of(&mut self, pid: u32) -> Option<End>;

    /// Whether something is known to be on its way to the screen because of the last action: a
    /// portal dialog that was asked for, a process that is starting.
    fn handoff_pending(&mut self) -> Result<bool>;
}
