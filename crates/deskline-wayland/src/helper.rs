//! Small processes of this program that outlive the server.

use std::ffi::OsStr;
use std::io::{self, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use deskline_contract::{Error, Result};
use deskline_unix::{spawn, wait};

use crate::kde::Keeper;
use crate::wlroots::client::Client;
use crate::wlroots::pointer::VirtualPointer;

/// The name of the helper that calls [`hold_pointer`].
pub const HOLD_POINTER: &str = "hold-pointer";

/// The name of the helper that calls [`capture`].
pub const CAPTURE: &str = "capture-input";

/// How long a helper may take to be ready.
const STARTS: Duration = Duration::from_secs(2);

const READY: &str = "ready";

const WHAT: &str = "starting a helper process";

/// Reports to the server that the helper is ready. Ignores a server that has ended.
fn report_ready() {
    let mut out = io::stdout();
    let _ = writeln!(out, "{READY}").and_then(|()| out.flush());
}

/// Keeps a virtual pointer on the seat until the compositor on this socket ends. Without it,
/// wlroots 0.15 (sway 1.7) may crash: when the seat loses its only pointer and a slow client, such
/// as Xwayland at its start, asks for the pointer after that, as in swaywm/sway#6998. wlroots'
/// merge request 3581 fixes this.
///
/// # Errors
///
/// If the compositor does not answer.
pub fn hold_pointer(socket: &Path) -> Result<()> {
    let mut client = Client::connect(socket)?;
    let _pointer = VirtualPointer::new(&mut client)?;
    report_ready();
    client.outlast();
    Ok(())
}

/// Captures the person's input for the KWin that is process `pid`, on the session bus at `address`:
/// see `kde/keeper.rs`.
///
/// # Errors
///
/// If KWin does not answer.
pub fn capture(address: &str, pid: u32) -> Result<()> {
    let mut keeper = Keeper::connect(address, pid)?;
    report_ready();
    let orders = spawn::orders().map_err(Error::system(WHAT))?;
    keeper.serve(orders, io::stdout())
}

/// A process of `sh` that holds copies of two sockets until 100 ms after this process has ended. So
/// a compositor learns of the end of this process first, and of the end of the sockets later.
#[derive(Debug)]
pub(crate) struct Lingering(Child);

impl Lingering {
    pub(crate) fn start(sockets: [OwnedFd; 2]) -> io::Result<Self> {
        let mut command = Command::new("/bin/sh");
        spawn::apart(&mut command).args(["-c", "read _; sleep 0.1"]);
        let [one, other] = sockets;
        command.stdin(Stdio::piped()).stdout(one).stderr(other);
        command.spawn().map(Self)
    }
}

impl Drop for Lingering {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts a helper, by its name and arguments, and waits until it is ready.
pub(crate) fn start<A: AsRef<OsStr>>(arguments: impl IntoIterator<Item = A>) -> Result<Child> {
    let start = || {
        let mut command = spawn::helper(arguments)?;
        command.stdout(Stdio::piped()).spawn()
    };
    let mut child = start().map_err(Error::system(WHAT))?;
    // The helper sends the line in one write, so one read returns all of it.
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
