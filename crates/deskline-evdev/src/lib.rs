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

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender, SyncSender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use deskline_link::guard::{Grab, Task};
use deskline_link::{Cancel, Error, Result};
use rustix::event::{EventfdFlags, eventfd};

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
pub struct Guard {
    /// `None` only during the drop.
    orders: Option<Sender<Order>>,
    wake: Arc<OwnedFd>,
    thread: Option<JoinHandle<()>>,
}

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
        let what = "starting the guard";
        let wake = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK);
        let wake = Arc::new(wake.map_err(|e| Error::system(what)(io::Error::from(e)))?);
        let (orders, inbox) = mpsc::channel();
        let woken = Arc::clone(&wake);
        let thread = thread::Builder::new()
            .name("guard".into())
            .spawn(move || keeper::run(source, &inbox, &woken))
            .map_err(Error::system(what))?;
        Ok(Self {
            orders: Some(orders),
            wake,
            thread: Some(thread),
        })
    }

    /// As [`deskline_link::Display::grab`].
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] where the thread does not answer: nothing may be sent then.
    pub fn close(&self, task: &Task, cancel: &Cancel) -> Result<Grab> {
        let (reply, done) = mpsc::sync_channel(1);
        self.tell(Order::Close(task.clone(), cancel.clone(), reply));
        answer(&done)?
    }

    /// As [`deskline_link::Display::ungrab`].
    pub fn open(&self) {
        let (reply, done) = mpsc::sync_channel(1);
        self.tell(Order::Open(reply));
        if let Err(error) = answer(&done) {
            tracing::warn!(%error, "the guard");
        }
    }

    /// As [`deskline_link::Display::watch_person`].
    pub fn watch(&self) {
        self.tell(Order::Watch);
    }

    /// As [`deskline_link::Display::person_pressed`].
    pub fn pressed(&self) -> Option<bool> {
        let (reply, done) = mpsc::sync_channel(1);
        self.tell(Order::Pressed(reply));
        answer(&done).ok().flatten()
    }

    /// As [`deskline_link::Display::unwatch_person`].
    pub fn rest(&self) {
        self.tell(Order::Rest);
    }

    fn tell(&self, order: Order) {
        if let Some(orders) = &self.orders {
            // If the thread has ended, the order is dropped together with its reply channel.
            let _ = orders.send(order);
        }
        if let Err(error) = rustix::io::write(self.wake.as_fd(), &1_u64.to_ne_bytes()) {
            tracing::warn!(%error, "could not wake the guard");
        }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.tell(Order::Rest);
        self.orders = None;
        let _ = rustix::io::write(self.wake.as_fd(), &1_u64.to_ne_bytes());
        let ended = self.thread.take().map(JoinHandle::join);
        if ended.is_some_and(|ended| ended.is_err()) {
            tracing::error!("the guard's thread panicked");
        }
    }
}

fn answer<T>(done: &Receiver<T>) -> Result<T> {
    done.recv_timeout(PATIENCE).map_err(|_| {
        Error::Unavailable(
            "the guard of the devices in /dev/input does not answer. Nothing was sent; the next call starts it anew"
                .into(),
        )
    })
}

#[cfg(test)]
mod tests;
