//! The guard on X11: grabs the person's devices while the agent's input is sent.
//!
//! It calls `XIGrabDevice` for every slave device except XTEST's. A grabbed slave floats: its
//! events do not reach the master pointer and keyboard that apps listen to. XTEST's slaves stay
//! attached, so the agent's input arrives. The X server releases the grabs when the connection
//! ends, so the death of this process locks nobody out.
//!
//! The guard has its own thread and connection, [`keeper`], which no link can block. The thread is
//! also the watchdog while this process runs. If the process is stopped, [`watchdog`] takes over.

pub(crate) mod devices;
mod escape;
mod events;
pub(crate) mod held_keys;
mod keeper;
pub mod watchdog;

use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, SyncSender};
use std::time::Duration;

use deskline_contract::guard::{Grab, Guards, Task};
use deskline_contract::{Cancel, Error, Overlay, Result, Shown};
use deskline_unix::worker::Worker;

use crate::connection;
use crate::people::People;
use keeper::Order;

/// How long the thread may take to answer an order: it may have to wait for another program to
/// release the devices, and for a slow server.
const PATIENCE: Duration = Duration::from_secs(8);

/// The names of the devices that the guard would grab, or why it cannot. Grabs nothing.
pub fn look(display: &str, xauthority: Option<&Path>) -> Result<Result<Vec<String>, String>> {
    let (connection, _) = connection::open(display, xauthority)?;
    Ok(devices::slaves(&connection)?.map(|slaves| {
        let theirs = slaves.into_iter().filter(|slave| !slave.xtest);
        theirs.map(|slave| slave.name).collect()
    }))
}

/// A handle to the guard's thread. Dropping it releases the devices and ends the thread.
pub struct Guard {
    worker: Worker<Order>,
    /// The display's name, such as `:0`.
    display: String,
    xauthority: Option<PathBuf>,
    people: People,
}

impl Guard {
    /// Starts the thread, which then connects to the display.
    pub fn start(display: &str, xauthority: Option<&Path>) -> Result<Self> {
        Ok(Self {
            worker: work(display, xauthority)?,
            display: display.to_owned(),
            xauthority: xauthority.map(Path::to_owned),
            people: People::default(),
        })
    }

    fn order_and_wait(&self, order: impl FnOnce(SyncSender<()>) -> Order) {
        if self.worker.ask(PATIENCE, order).is_none() {
            tracing::warn!("{}", silent());
        }
    }
}

/// Starts the guard's thread.
fn work(display: &str, xauthority: Option<&Path>) -> Result<Worker<Order>> {
    let (display, xauthority) = (display.to_owned(), xauthority.map(Path::to_owned));
    let run = move |inbox| keeper::run(&display, xauthority.as_deref(), &inbox);
    Worker::start("guard", run).map_err(Error::system("starting the input lock"))
}

impl Guards for Guard {
    fn watch(&mut self) {
        self.worker.send(Order::Watch);
    }

    fn unwatch(&mut self) {
        self.worker.send(Order::Rest);
    }

    fn pressed(&mut self) -> Option<bool> {
        self.worker.ask(PATIENCE, Order::Pressed).flatten()
    }

    fn grab(&mut self, task: &Task, cancel: &Cancel) -> Result<Grab> {
        if self.worker.has_ended() {
            // The watchdog has closed the thread's connection, or the X server was restarted.
            self.worker = work(&self.display, self.xauthority.as_deref())?;
        }
        let people = self.people.on(&self.display).join(", ");
        let close = |reply| Order::Close(task.clone(), cancel.clone(), reply);
        let grab = self.worker.ask(PATIENCE, close).unwrap_or_else(|| {
            // The thread may still grab the devices, for a link that no longer waits.
            self.worker.send(Order::Open(mpsc::sync_channel(1).0));
            Err(silent())
        })?;
        if grab == Grab::Held && !people.is_empty() {
            return Ok(Grab::Partly(format!(
                "input of someone at {people} arrives like the agent's own"
            )));
        }
        Ok(grab)
    }

    fn ungrab(&mut self) {
        self.order_and_wait(Order::Open);
    }

    fn holds_on(&mut self) -> bool {
        true
    }
}

impl Overlay for Guard {
    fn show(&mut self, what: Shown<'_>, cancel: &Cancel) -> Result<()> {
        self.order_and_wait(|reply| Order::Show(what.place, what.caption.to_owned(), reply));
        let waited = cancel.wait(what.time);
        self.order_and_wait(Order::Hide);
        Ok(waited?)
    }
}

fn silent() -> Error {
    Error::Unavailable(String::from(
        "the input lock does not answer, or has lost the X server. Nothing was sent. The next call \
         reconnects",
    ))
}
