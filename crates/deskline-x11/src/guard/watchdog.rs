//! Releases the person's devices if Deskline's server cannot. A process that is stopped (SIGSTOP, a
//! debugger, a frozen container) keeps its grabs, and its own watchdog thread is stopped with it.
//!
//! This watchdog is a process of its own. The server reports each grab with its limit, and the end
//! of each grab. If a grab outlasts its limit, or goes on too long after Esc, the watchdog ends the
//! server's connection that has the grabs. After the server has ended, the watchdog frees the key
//! codes that the agent has left bound.

use std::io::{self, Read as _, Write as _};
use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};

use deskline_contract::{Cancel, Error, Result};
use deskline_input::guard::{BEHIND, Event as Press, Machine, Role};
use deskline_unix::{spawn, wait};
use rustix::event::{PollFd, PollFlags};
use rustix::io::ioctl_fionbio;
use x11rb::connection::Connection as _;
use x11rb::protocol::Event;
use x11rb::protocol::xinput::{ConnectionExt as _, Device, EventMask, XIEventMask};
use x11rb::protocol::xkb::ConnectionExt as _;
use x11rb::protocol::xproto::{ConnectionExt as _, Window};
use x11rb::wrapper::ConnectionExt as _;

use super::held_keys::release_synthetic;
use super::{devices, escape};
use crate::connection::{self, Connection};
use crate::{Answer as _, During as _, X11};

/// The name of the helper that calls [`run`].
pub const COMMAND: &str = "x11-watchdog";

/// How long after the limit Deskline's server may still release the devices itself.
const SERVER: Duration = Duration::from_millis(300);

/// How long the X server may take to notice that Deskline's server has ended.
const GONE: Duration = Duration::from_secs(1);

const WHAT: &str = "watching over the input lock";

/// The handle to the watchdog's process. Dropping it ends the process.
pub(super) struct Watchdog(Child);

impl Watchdog {
    /// Starts the process, which watches over the grabs of the connection that has the window
    /// `mark`.
    pub(super) fn start(mark: Window, display: &str, xauthority: Option<&Path>) -> Result<Self> {
        let start = || {
            let arguments = [COMMAND, display, &mark.to_string()];
            spawn::helper(arguments)?.args(xauthority).spawn()
        };
        let child = Self(start().map_err(Error::system(WHAT))?);
        if let Some(orders) = &child.0.stdin {
            // A process that does not read its orders must not block the guard.
            ioctl_fionbio(orders, true).map_err(Error::system(WHAT))?;
        }
        Ok(child)
    }

    /// Reports that the devices are grabbed for at most `limit` or, if it is `None`, released.
    pub(super) fn note(&mut self, limit: Option<Duration>) -> io::Result<()> {
        let order = limit.map_or("free\n".to_owned(), |limit| {
            format!("hold {}\n", limit.as_millis())
        });
        let orders = self.0.stdin.as_mut();
        orders.map_or(Ok(()), |orders| orders.write_all(order.as_bytes()))
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs the watchdog until Deskline's server has ended, or until the watchdog has ended a grab of
/// the connection that has `window`.
///
/// # Errors
///
/// If the X server does not answer.
pub fn run(display: &str, window: Window, xauthority: Option<&Path>) -> Result<()> {
    let (c, screen) = connection::open(display, xauthority)?;
    let root = connection::root_of(&c, screen)?;
    c.xkb_use_extension(1, 0).answer(WHAT)?;
    let mut orders = spawn::orders().map_err(Error::system(WHAT))?;
    let mut line = Vec::new();
    let mut machine = Machine::default();
    let mut own = vec![];
    // Its clock is late by `BEHIND`, so that after Esc the server acts first.
    let now = || {
        let now = Instant::now();
        now.checked_sub(BEHIND).unwrap_or(now)
    };
    loop {
        let heard = Instant::now();
        while let Some(event) = c.poll_for_event().during(WHAT)? {
            if let Event::XinputRawKeyPress(key) = event
                && !own.contains(&key.sourceid)
                && escape::is_plain(&c, key.sourceid, key.detail)?
            {
                let (code, role, down) = (key.detail, Role::Escape, true);
                let _ = machine.event(Press::Key { code, role, down }, heard);
            }
        }
        if machine.expire(now()).is_some() {
            c.kill_client(window).during(WHAT)?;
            c.sync().during(WHAT)?;
            release_synthetic(&c)?;
            return c.sync().during(WHAT);
        }
        c.flush().during(WHAT)?;
        let events = PollFd::new(c.stream(), PollFlags::IN);
        let mut fds = [events, PollFd::new(&orders, PollFlags::IN)];
        wait::any(&mut fds, machine.left(now())).map_err(Error::system(WHAT))?;
        if fds[1].revents().is_empty() {
            continue;
        }
        let mut byte = [0];
        if orders.read(&mut byte).map_err(Error::system(WHAT))? == 0 {
            let mut x11 = X11::connect(display, xauthority)?;
            x11.wait_until(GONE, &Cancel::new(), |x11| x11.reclaim_keycodes())?;
            return Ok(());
        }
        if byte != *b"\n" {
            line.extend(byte);
            continue;
        }
        let order = String::from_utf8_lossy(&std::mem::take(&mut line)).into_owned();
        machine.release(Instant::now());
        let limit = order.strip_prefix("hold ").and_then(|ms| ms.parse().ok());
        if let Some(limit) = limit.map(Duration::from_millis) {
            let xtest = devices::slaves(&c)?.unwrap_or_default().into_iter();
            own = xtest.filter(|slave| slave.xtest).map(|s| s.id).collect();
            let _ = machine.begin((), Instant::now());
            machine.take(limit + SERVER, Instant::now());
        }
        listen(&c, root, machine.is_held())?;
    }
}

/// Selects the events of the person's keys if the devices are held, else none.
fn listen(c: &Connection, root: Window, held: bool) -> Result<()> {
    let keys = if held {
        XIEventMask::RAW_KEY_PRESS
    } else {
        XIEventMask::from(0u32)
    };
    let mask = EventMask {
        deviceid: Device::ALL.into(),
        mask: vec![keys],
    };
    c.xinput_xi_select_events(root, &[mask]).sent(WHAT)
}
