//! The process of the keeper, which the server starts with a socket as its standard input.

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::time::Duration;

use deskline_unix::socket;
use rustix::net::SocketType;
use rustix::net::sockopt::socket_type;
use rustix::process::{DumpableBehavior, Pid, getppid, getuid, set_dumpable_behavior};

use crate::device::{InputFolder, Source};
use crate::keeper::serve;
use crate::place::Place;
use crate::seat::Seats;

/// Runs the keeper for a user who may read the devices without a setgid program, until the server
/// has gone.
///
/// # Errors
///
/// The reason why it did not start or has ended, in one line.
pub fn run_for_reader() -> Result<(), String> {
    run(InputFolder::system(), None, Duration::MAX)
}

/// Runs the keeper until the server has gone. A grab lasts for at most `most`. If there are
/// `seats`, the keeper grabs only for the user at the seat.
///
/// # Errors
///
/// The reason why it did not start or has ended, in one line.
pub fn run(source: impl Source, seats: Option<Seats>, most: Duration) -> Result<(), String> {
    let failed = |what: &'static str| move |error: io::Error| format!("{what}: {error}");
    // No core file and no debugger. For a setgid program the kernel ensures both.
    set_dumpable_behavior(DumpableBehavior::NotDumpable)
        .map_err(|error| failed("prctl")(error.into()))?;
    let socket =
        orders().ok_or("it is started by Deskline's server, and does nothing by itself")?;
    let place = Place::new(seats, getuid().as_raw(), most).map_err(failed("no timer"))?;
    serve(source, place, socket).map_err(failed("it has ended"))
}

/// The socket to our parent. `None` if standard input is anything else.
fn orders() -> Option<OwnedFd> {
    let stdin = io::stdin();
    if socket_type(&stdin).ok()? != SocketType::SEQPACKET {
        return None;
    }
    // The peer has to be our parent, which created the pair: an inherited socket does not count.
    let peer = socket::peer(&stdin).ok()?;
    let parent = getppid().map(|pid| Pid::as_raw_pid(pid).cast_unsigned());
    let ours = peer.pid.is_some() && peer.pid == parent && peer.uid == getuid().as_raw();
    ours.then(|| stdin.as_fd().try_clone_to_owned().ok())?
}
