//! Small processes of this program that outlive the server. Each has a session of its own, so that
//! a signal to the server's process group does not end it.

use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::Duration;

use deskline_link::{Error, Result};
use deskline_unix::{spawn, wait};

use crate::sway::Keeper;
use crate::wlroots::client::Client;
use crate::wlroots::pointer::VirtualPointer;

/// The program's hidden command that calls [`Helper::run`].
pub const COMMAND: &str = "wayland-helper";

/// How long a helper may take to be ready.
const STARTS: Duration = Duration::from_secs(2);

const READY: &str = "ready";

const WHAT: &str = "starting a helper process";

/// The task of such a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Helper {
    /// Keeps a virtual pointer on the seat until the compositor on this socket ends. wlroots 0.15
    /// (sway 1.7) crashes if a slow client, such as Xwayland at its start, asks for the pointer of
    /// a seat that has just lost its only one, which would be ours.
    HoldPointer(PathBuf),
    /// Disables and enables the person's devices through sway's IPC socket: see `sway/keeper.rs`.
    KeepDevices(PathBuf),
}

/// Reports to the server that the helper is ready. Ignores a server that has ended.
fn report_ready() {
    let mut out = io::stdout();
    let _ = writeln!(out, "{READY}").and_then(|()| out.flush());
}

impl Helper {
    /// The helper with this name, for this socket.
    ///
    /// # Errors
    ///
    /// If there is no helper with this name.
    pub fn named(name: &str, socket: PathBuf) -> Result<Self, String> {
        match name {
            "hold-pointer" => Ok(Self::HoldPointer(socket)),
            "keep-devices" => Ok(Self::KeepDevices(socket)),
            _ => Err(format!("there is no helper {name:?}")),
        }
    }

    fn parts(&self) -> (&str, &Path) {
        match self {
            Self::HoldPointer(socket) => ("hold-pointer", socket),
            Self::KeepDevices(socket) => ("keep-devices", socket),
        }
    }

    /// Runs the helper in this process until it ends.
    ///
    /// # Errors
    ///
    /// If the compositor does not answer.
    pub fn run(&self) -> Result<()> {
        match self {
            Self::HoldPointer(socket) => {
                let mut client = Client::connect(socket)?;
                let _pointer = VirtualPointer::new(&mut client)?;
                report_ready();
                client.outlast();
                Ok(())
            }
            Self::KeepDevices(socket) => {
                let mut keeper = Keeper::connect(socket)?;
                report_ready();
                let orders = spawn::orders().map_err(Error::system(WHAT))?;
                keeper.serve(orders, io::stdout());
                Ok(())
            }
        }
    }

    /// Starts the helper's process, and waits until it is ready.
    pub(crate) fn start(&self) -> Result<Child> {
        let (name, socket) = self.parts();
        let start = || {
            let mut command = spawn::helper([COMMAND, name])?;
            command.arg(socket).stdout(Stdio::piped()).spawn()
        };
        let mut child = start().map_err(Error::system(WHAT))?;
        // The line is one write, so that a read returns all of it.
        let mut line = [0; READY.len() + 1];
        if let Some(output) = &mut child.stdout
            && wait::readable(&*output, STARTS).map_err(Error::system(WHAT))?
            && output.read(&mut line).is_ok_and(|read| read == line.len())
            && line.starts_with(READY.as_bytes())
        {
            return Ok(child);
        }
        let _ = child.kill();
        let _ = child.wait();
        Err(Error::system(WHAT)("it did not become ready within 2 s"))
    }
}
