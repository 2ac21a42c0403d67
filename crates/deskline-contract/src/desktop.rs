//! The contract between the link transaction (`deskline-link`) and an operating system's backend,
//! in four parts.

use deskline_core::Point;
use deskline_input::Cancel;

use std::path::PathBuf;
use std::sync::Arc;

use crate::apps::Apps;
use crate::display::{Display, Pointer, Screen, Window, Workspaces};
use crate::error::Result;
use crate::ocr::Ocr;
use crate::question::{Approval, Question};
use crate::trees::Trees;

/// Connects to a desktop when a call first needs it, and again after the connection is lost. So a
/// server can start before the desktop does.
pub trait Platform: Send + Sync {
    /// Connects.
    ///
    /// # Errors
    ///
    /// The missing part, with the way to get it.
    fn connect(&self) -> Result<Box<dyn Desktop>>;

    /// Prepares everything that would delay the first link. Called when a server starts, on a
    /// thread of its own.
    fn prepare(&self) {}

    /// Facts for a bug report that only this system's port can find out: one fact a line, collected
    /// within a second, without titles and names.
    fn facts(&self) -> Vec<String> {
        Vec::new()
    }

    /// The files with translated texts (gettext's `.mo`) of the app and of its libraries. Empty if
    /// the app reads no such files.
    fn catalogues(&self, _pid: u32) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Fails unless the app answers within 2 s. Called before a link waits for its turn, on a
    /// connection of its own: a hung app delays no call about another one.
    fn ping(&self, pid: u32) -> Result<()>;

    /// Asks the person at the desktop, if the MCP client cannot ask them. They answer by keys of
    /// their own devices. Takes at most 50 s, and blocks no other call meanwhile. `None` if they do
    /// not answer.
    ///
    /// # Errors
    ///
    /// Why the person cannot be asked, as a clause.
    fn ask(&self, _: &Question, _: &Cancel) -> Result<Option<Approval>, String> {
        Err("here Deskline cannot ask them itself".to_owned())
    }
}

/// A connected desktop.
///
/// The link decides the order of calls, and what to restore after a failure. An implementation only
/// carries out the calls.
pub trait Desktop: Trees + Display + AppWindows + Apps + Send {
    /// A unique name for this desktop, which is the same in the next server process on this
    /// desktop. Refs belong to this name.
    fn id(&self) -> String;

    /// The engine that reads texts from pictures.
    ///
    /// # Errors
    /// How to get an engine: a sentence to append to another one, or an empty text.
    fn ocr(&self) -> Result<Arc<dyn Ocr>, &'static str> {
        Err("")
    }
}

/// What is known about an app's windows beyond the display's list.
pub trait AppWindows {
    /// A window that stands for the app itself. Needed on systems where an app can be in front
    /// without a window, with a menu bar that is in no window. Activating it brings the app to the
    /// front. `None` where input needs a window.
    fn app_itself(&mut self, _pid: u32) -> Result<Option<Window>> {
        Ok(None)
    }

    /// Switches to the virtual desktop of the app's windows, if accessibility lists them only
    /// there. Waits for a limited time until they are listed.
    fn reveal(&mut self, _pid: u32, _cancel: &Cancel) -> Result<()> {
        Ok(())
    }

    /// The windows of other processes that belong to the app, frontmost first: those that a process
    /// of the app draws (a plug-in), and dialogs of the app's windows.
    fn helper_windows(&mut self, _pid: u32) -> Result<Vec<Window>> {
        Ok(Vec::new())
    }

    /// Why some of the app's windows are not on the display's list; `None` if all are.
    fn unseen(&mut self, _pid: u32) -> Option<&'static str> {
        None
    }

    /// Whether a menu, pop-up or drop-down of the app is open that would close if the pointer or
    /// the front window changed.
    fn popup_open(&mut self, pid: u32) -> Result<bool>;

    /// Whether an open pop-up of the app takes a click at this point although it does not contain
    /// the point. Such a click only closes the pop-up.
    fn popup_takes(&mut self, _pid: u32, _at: Point) -> Result<bool> {
        Ok(false)
    }
}

/// Without a screen, there is no window and no pointer position.
impl dyn Desktop + '_ {
    fn ask<T: Default>(&mut self, about: impl FnOnce(&mut dyn Screen) -> Result<T>) -> Result<T> {
        self.screen().map_or_else(|_| Ok(T::default()), about)
    }

    pub fn front(&mut self) -> Result<Option<Window>> {
        self.ask(|screen| screen.front())
    }

    pub fn workspace(&mut self) -> Result<Option<u32>> {
        let workspaces = self.workspaces();
        workspaces.map_or(Ok(None), Workspaces::workspace)
    }

    pub fn every_window(&mut self) -> Result<Vec<Window>> {
        self.ask(|screen| screen.every_window())
    }

    pub fn windows_of(&mut self, pid: u32) -> Result<Vec<Window>> {
        self.ask(|screen| screen.windows_of(pid))
    }

    pub fn pointer(&mut self) -> Result<Option<Pointer>> {
        self.ask(|screen| screen.pointer())
    }
}
