//! The parts that these tests do not use: starting apps, the clipboard, the guard's process.

use deskline_contract::guard::{Grab, Guards, Task};
use deskline_contract::{Cancel, End, OpenError, Opened, Overlay, Permit, Progress, Result, Shown};

#[derive(Default)]
pub(crate) struct Programs(());

impl Programs {
    pub(crate) fn follow(&self, _: u32) {}

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
    use deskline_contract::clipboard::ClipboardThread;
    use deskline_contract::{Error, Result};

    pub(crate) fn start() -> Result<ClipboardThread> {
        Err(Error::Unavailable("there is no clipboard here".into()))
    }
}

pub struct Guard;

impl Guards for Guard {
    fn ungrab(&mut self) {}

    fn pressed(&mut self) -> Option<bool> {
        Some(false)
    }

    fn grab(&mut self, _: &Task, _: &Cancel) -> Result<Grab> {
        Ok(Grab::Held)
    }
}

impl Overlay for Guard {
    fn show(&mut self, _: Shown<'_>, _: &Cancel) -> Result<()> {
        Ok(())
    }
}
