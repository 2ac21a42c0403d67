//! Connects to the desktop.

use std::process::Command;

use deskline_contract::{Desktop, Error, Platform, Result};

use crate::desktop::WinDesktop;
use crate::guard::Guard;
use crate::os::become_aware;
use crate::tree::{self, answers};
use crate::{facts, private, process};

/// The desktop of the user who is logged in. Each login session has a desktop of its own.
pub struct WinPlatform(());

impl WinPlatform {
    /// To be called before any other call about windows: makes coordinates physical pixels.
    pub fn new() -> Self {
        become_aware();
        Self(())
    }
}

impl Default for WinPlatform {
    fn default() -> Self {
        Self::new()
    }
}

/// The command `deskline guard`, which starts the guard of this process.
pub(crate) fn guard() -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap_or_else(|_| "deskline".into()));
    command.args(["guard", &std::process::id().to_string()]);
    command
}

impl Platform for WinPlatform {
    fn connect(&self) -> Result<Box<dyn Desktop>> {
        if process::session() == Some(0) {
            return Err(Error::Unavailable(
                "this process runs as a service, in a session without a desktop. Start deskline \
                 from a program of the user who is logged in"
                    .into(),
            ));
        }
        let guard = Guard::new(Box::new(guard));
        let desktop = WinDesktop::new(tree::connect()?, guard, private::name());
        Ok(Box::new(desktop))
    }

    fn facts(&self) -> Vec<String> {
        facts::read()
    }

    fn ping(&self, pid: u32) -> Result<()> {
        answers(&tree::connect()?, pid)
    }
}
