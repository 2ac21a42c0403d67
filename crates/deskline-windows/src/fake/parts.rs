//! The parts that these tests do not try: starting apps, the clipboard, the guard's process.

use std::time::Duration;

use deskline_core::{App, Rect};
use deskline_link::guard::{Grab, Task};
use deskline_link::{
    Application, Cancel, End, OpenError, Opened, Permit, Progress, Result, WindowState,
};

use crate::display::windows::{every, owner};
use crate::os::{self, front, is_minimised, title};

pub(crate) struct Programs;

impl Programs {
    pub(crate) fn follow(&self, _: u32) {}

    pub(crate) fn with_windows() -> Vec<Application> {
        let front = front().map(owner);
        let application = |window: crate::display::windows::Toplevel| {
            let minimised = is_minimised(window.id);
            let state = WindowState {
                minimised,
                ..WindowState::default()
            };
            Application {
                app: App {
                    name: os::process(window.pid).map_or_else(String::new, |app| app.name),
                    pid: window.pid,
                },
                windows: vec![(title(window.id), state)],
                front: front == Some(window.pid),
            }
        };
        every().into_iter().map(application).collect()
    }

    pub(crate) fn open(&self, identifier: &str, _: Permit<'_>) -> Result<Opened> {
        Err(OpenError::EndedSilently(identifier.to_owned()).into())
    }

    pub(crate) fn progress(&self) -> Result<Progress> {
        Ok(Progress::Starting)
    }

    pub(crate) fn complaint(&self) -> Option<String> {
        None
    }

    pub(crate) fn end_of(&self, _: u32) -> Option<End> {
        None
    }
}

pub(crate) mod clipboard {
    use deskline_link::clipboard::ClipboardThread;
    use deskline_link::{Error, Result};

    pub(crate) fn start() -> Result<ClipboardThread> {
        Err(Error::Unavailable("there is no clipboard here".into()))
    }
}

pub struct Guard;

impl Guard {
    pub fn watch(&mut self) {}
    pub fn unwatch(&mut self) {}
    pub fn ungrab(&mut self) {}

    pub fn pressed(&self) -> Option<bool> {
        Some(false)
    }

    pub fn grab(&mut self, _: &Task, _: &Cancel) -> Grab {
        Grab::Held
    }

    pub fn lapse(&mut self) -> Option<String> {
        None
    }

    pub fn show(
        &mut self,
        _: Option<Rect>,
        _: &str,
        _: Duration,
        _: &Cancel,
    ) -> std::result::Result<(), String> {
        Ok(())
    }
}
