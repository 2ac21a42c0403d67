//! The guard by the kernel: `EVIOCGRAB` on the person's keyboards and pointers (`linux/input.h`).
//!
//! It works beside any compositor that takes the agent's input through a protocol of its own, where
//! the person's user may read `/dev/input`. A grabbed device's events reach this process and no
//! other. The kernel releases the grab when the process ends, so its death locks nobody out.
//!
//! - [`Guard`]: the handle, as a display's guard.
//! - `keeper`: the thread that holds the grabs, sees Esc and releases at the limit. No link can block
//!   it.
//! - `device`: the devices of `/dev/input`.

mod device;
mod keeper;

use std::sync::mpsc::SyncSender;
use std::time::Duration;

use deskline_link::guard::{Grab, Task};
use deskline_link::{Cancel, Error, Result};
use deskline_unix::worker::Worker;

use device::{InputFolder, Source};
pub use device::{Seen, look};

/// How long the thread may take to answer an order.
const PATIENCE: Duration = Duration::from_secs(5);

/// An order to the guard's thread.
enum Order {
    Close(Task, Cancel, SyncSender<Result<Grab>>),
    Open(SyncSender<()>),
    /// Start noting whether the person presses anything.
    Watch,
    Pressed(SyncSender<Option<bool>>),
    /// Stop listening for Esc, stop watching the person, and close the devices.
    Rest,
}

/// A handle to the guard's thread. Dropping it releases the devices and ends the thread.
pub struct Guard(Worker<Order>);

impl Guard {
    /// Starts the thread. It opens no device before it is told to.
    ///
    /// # Errors
    ///
    /// [`Error::System`] where the system has no thread or descriptor left.
    pub fn start() -> Result<Self> {
        Self::over(InputFolder::system())
    }

    fn over(source: impl Source + 'static) -> Result<Self> {
        let worker = Worker::start("guard", move |inbox| keeper::run(source, &inbox));
        Ok(Self(worker.map_err(Error::system("starting the guard"))?))
    }

    /// As [`deskline_link::Display::grab`].
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] where the thread does not answer: nothing may be sent then.
    pub fn close(&self, task: &Task, cancel: &Cancel) -> Result<Grab> {
        let close = |reply| Order::Close(task.clone(), cancel.clone(), reply);
        self.0.ask(PATIENCE, close).unwrap_or_else(|| Err(silent()))
    }

    /// As [`deskline_link::Display::ungrab`].
    pub fn open(&self) {
        if self.0.ask(PATIENCE, Order::Open).is_none() {
            tracing::warn!("{}", silent());
        }
    }

    /// As [`deskline_link::Display::watch_person`].
    pub fn watch(&self) {
        self.0.tell(Order::Watch);
    }

    /// As [`deskline_link::Display::person_pressed`].
    pub fn pressed(&self) -> Option<bool> {
        self.0.ask(PATIENCE, Order::Pressed).flatten()
    }

    /// As [`deskline_link::Display::unwatch_person`].
    pub fn rest(&self) {
        self.0.tell(Order::Rest);
    }
}

fn silent() -> Error {
    Error::Unavailable(
        "the guard of the devices in /dev/input does not answer. Nothing was sent; the next call starts it anew"
            .into(),
    )
}

#[cfg(test)]
mod tests;
