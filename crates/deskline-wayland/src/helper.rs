//! Small processes of this program that outlive the server, in a session of their own: what ends
//! the server, or all of its process group, does not end them.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::os::fd::AsFd as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
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
    /// Keeps a virtual pointer on the seat until the compositor on this socket ends. wlroots 0.15,
    /// as in sway 1.7, crashes when a client that is slow, such as Xwayland at its start, asks for
    /// a pointer of a seat that has just lost its only one: our pointer would be that one.
    HoldPointer(PathBuf),
    /// Disables the person's devices on sway's own socket, and enables them again: see
    /// `sway/keeper.rs`.
    KeepDevices(PathBuf),
}

/// Ignores a server that has ended already.
fn say_ready() {
    let mut out = io::stdout();
    let _ = writeln!(out, "{READY}").and_then(|()| out.flush());
}

impl Helper {
    /// The helper with this name, for this socket.
    ///
    /// # Errors
    ///
    /// If no server has this name.
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

    /// Does its work in this process.
    ///
    /// # Errors
    ///
    /// Where the compositor does not answer.
    pub fn run(&self) -> Result<()> {
        match self {
            Self::HoldPointer(socket) => {
                let mut client = Client::connect(socket)?;
                let _pointer = VirtualPointer::new(&mut client)?;
                say_ready();
                client.outlast();
                Ok(())
            }
            Self::KeepDevices(socket) => {
                let mut keeper = Keeper::connect(socket)?;
                say_ready();
                // Not the buffered standard input: what it has read already cannot be waited for.
                let orders = io::stdin().as_fd().try_clone_to_owned();
                keeper.serve(
                    File::from(orders.map_err(Error::system(WHAT))?),
                    io::stdout(),
                );
                Ok(())
            }
        }
    }

    /// Starts it, and waits until it is ready.
    pub(crate) fn start(&self) -> Result<Child> {
        let exe = std::env::current_exe().map_err(Error::system(WHAT))?;
        let (name, socket) = self.parts();
        let mut command = Command::new(exe);
        command
            .args([COMMAND, name])
            .arg(socket)
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = spawn::own_session(&mut command)
            .spawn()
            .map_err(Error::system(WHAT))?;
        let mut line = String::new();
        if let Some(output) = &mut child.stdout
            && wait::readable(&*output, STARTS).map_err(Error::system(WHAT))?
        {
            let read = BufReader::with_capacity(READY.len() + 1, output).read_line(&mut line);
            read.map_err(Error::system(WHAT))?;
        }
        if line.trim_end() == READY {
            return Ok(child);
        }
        let _ = child.kill();
        let _ = child.wait();
        Err(Error::system(WHAT)("it did not become ready within 2 s"))
    }
}
