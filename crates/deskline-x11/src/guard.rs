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

use std::os::fd::{AsFd as _, OwnedFd};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender, SyncSender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use deskline_core::Rect;
use deskline_link::guard::{Grab, Task};
use deskline_link::{Cancel, Error, Result};
use rustix::event::{EventfdFlags, eventfd};

use crate::connection;

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

/// An order to the guard's thread.
enum Order {
    Close(Task, Cancel, SyncSender<Result<Grab>>),
    Open(SyncSender<()>),
    /// Stop listening for Esc and stop watching the person.
    Rest,
    /// Start noting whether the person presses anything.
    Watch,
    /// Ask whether they have. The reply is `None` if their devices cannot be told from the agent's.
    Pressed(SyncSender<Option<bool>>),
    /// Outline some bounds, show a caption, or both.
    Show(Option<Rect>, String, SyncSender<()>),
    Hide(SyncSender<()>),
}

/// A handle to the guard's thread. Dropping it releases the devices and ends the thread.
pub struct Guard {
    /// `None` only during the drop.
    orders: Option<Sender<Order>>,
    wake: Arc<OwnedFd>,
    thread: Option<JoinHandle<()>>,
}

impl Guard {
    /// Starts the thread, which then connects to the display.
    pub fn start(display: &str, xauthority: Option<&Path>) -> Result<Self> {
        let what = "starting the guard";
        let wake = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK);
        let wake = Arc::new(wake.map_err(Error::system(what))?);
        let (orders, inbox) = mpsc::channel();
        let (display, xauthority) = (display.to_owned(), xauthority.map(Path::to_owned));
        let woken = Arc::clone(&wake);
        let thread = thread::Builder::new()
            .name("guard".into())
            .spawn(move || keeper::run(&display, xauthority.as_deref(), &inbox, &woken))
            .map_err(Error::system(what))?;
        Ok(Self {
            orders: Some(orders),
            wake,
            thread: Some(thread),
        })
    }

    /// As [`deskline_link::Display::grab`].
    pub fn close(&self, task: &Task, cancel: &Cancel) -> Result<Grab> {
        let (reply, done) = mpsc::sync_channel(1);
        self.tell(Order::Close(task.clone(), cancel.clone(), reply));
        answer(&done)?
    }

    /// As [`deskline_link::Display::ungrab`].
    pub fn open(&self) {
        self.tell_and_wait(Order::Open);
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

    /// Stops listening for Esc and watching the person.
    pub fn rest(&self) {
        self.tell(Order::Rest);
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
        waited
    }

    fn tell_and_wait(&self, order: impl FnOnce(SyncSender<()>) -> Order) {
        let (reply, done) = mpsc::sync_channel(1);
        self.tell(order(reply));
        if let Err(error) = answer(&done) {
            tracing::warn!(%error, "the guard");
        }
    }

    fn tell(&self, order: Order) {
        if let Some(orders) = &self.orders {
            // If the thread has ended, the order is dropped together with its reply channel.
            let _ = orders.send(order);
        }
        self.wake();
    }

    fn wake(&self) {
        if let Err(error) = rustix::io::write(self.wake.as_fd(), &1u64.to_ne_bytes()) {
            tracing::warn!(%error, "could not wake the guard");
        }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.orders = None;
        self.wake();
        if self
            .thread
            .take()
            .is_some_and(|thread| thread.join().is_err())
        {
            tracing::error!("the guard's thread panicked");
        }
    }
}

fn answer<T>(done: &Receiver<T>) -> Result<T> {
    done.recv_timeout(PATIENCE).map_err(|_| {
        Error::Unavailable(
            "the guard lost the X server, or it does not answer. Nothing was sent; the next call connects anew".into(),
        )
    })
}
