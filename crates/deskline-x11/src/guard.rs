//! The guard on X11 (the contract, §8): grabs the person's devices while the agent's input is sent.
//!
//! It calls `XIGrabDevice` for every slave device except XTEST's. A grabbed slave floats: its
//! events do not reach the master pointer and keyboard that apps listen to. XTEST's slaves stay
//! attached, so the agent's input arrives. The X server releases the grabs when the connection
//! ends, so the death of this process locks nobody out.
//!
//! The guard has its own thread and connection, [`keeper`], which no link can block. The thread is
//! also the watchdog.

mod devices;
mod escape;
mod events;
mod held_keys;
mod keeper;

use std::path::Path;
use std::sync::mpsc::SyncSender;
use std::time::Duration;

use deskline_core::Rect;
use deskline_link::guard::{Grab, Task};
use deskline_link::{Cancel, Error, Result};
use deskline_unix::worker::Worker;

use crate::connection;
use keeper::Order;

/// How long the thread may take to answer an order. It may wait for another program to release the
/// devices, and for a slow server.
const PATIENCE: Duration = Duration::from_secs(8);

/// The names of the devices that the guard would grab, or why it cannot. Grabs nothing.
pub fn look(display: &str, xauthority: Option<&Path>) -> Result<Result<Vec<String>, String>> {
    let (connection, _) = connection::open(display, xauthority)?;
    Ok(devices::slaves(&connection)?.map(|slaves| {
        let theirs = slaves.into_iter().filter(|slave| !slave.xtest);
        theirs.map(|slave| slave.name).collect()
    }))
}

/// Releases the keys and buttons that XTEST's devices hold, if the server has such devices.
pub(crate) fn release_synthetic(c: &connection::Connection) -> Result<()> {
    match devices::slaves(c)? {
        Ok(slaves) => held_keys::release_synthetic(c, &slaves),
        Err(_) => Ok(()),
    }
}

/// A handle to the guard's thread. Dropping it releases the devices and ends the thread.
pub struct Guard(Worker<Order>);

impl Guard {
    /// Starts the thread, which then connects to the display.
    pub fn start(display: &str, xauthority: Option<&Path>) -> Result<Self> {
        let (display, xauthority) = (display.to_owned(), xauthority.map(Path::to_owned));
        let run = move |inbox| keeper::run(&display, xauthority.as_deref(), &inbox);
        let worker = Worker::start("guard", run);
        Ok(Self(worker.map_err(Error::system("starting the guard"))?))
    }

    /// As [`deskline_link::Display::grab`].
    pub fn close(&self, task: &Task, cancel: &Cancel) -> Result<Grab> {
        let close = |reply| Order::Close(task.clone(), cancel.clone(), reply);
        self.0.ask(PATIENCE, close).unwrap_or_else(|| Err(silent()))
    }

    /// As [`deskline_link::Display::ungrab`].
    pub fn open(&self) {
        self.tell_and_wait(Order::Open);
    }

    /// As [`deskline_link::Display::watch_person`].
    pub fn watch(&self) {
        self.0.send(Order::Watch);
    }

    /// As [`deskline_link::Display::person_pressed`].
    pub fn pressed(&self) -> Option<bool> {
        self.0.ask(PATIENCE, Order::Pressed).flatten()
    }

    /// Stops listening for Esc and watching the person.
    pub fn rest(&self) {
        self.0.send(Order::Rest);
    }

    /// As [`deskline_link::Display::show`].
    pub fn show(
        &self,
        place: Option<Rect>,
        caption: &str,
        time: Duration,
        cancel: &Cancel,
    ) -> Result<()> {
        self.tell_and_wait(|reply| Order::Show(place, caption.to_owned(), reply));
        let waited = cancel.wait(time);
        self.tell_and_wait(Order::Hide);
        Ok(waited?)
    }

    fn tell_and_wait(&self, order: impl FnOnce(SyncSender<()>) -> Order) {
        if self.0.ask(PATIENCE, order).is_none() {
            tracing::warn!("{}", silent());
        }
    }
}

fn silent() -> Error {
    Error::Unavailable(
        "the guard lost the X server, or it does not answer. Nothing was sent; the next call connects anew".into(),
    )
}
