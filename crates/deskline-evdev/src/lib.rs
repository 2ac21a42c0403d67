//! The evdev guard: `EVIOCGRAB` on the person's keyboards and pointers (`linux/input.h`).
//!
//! It works with every compositor that receives the agent's input through a protocol instead of
//! through input devices. A grabbed device's events reach only the process that grabbed it. The
//! kernel releases the grab when that process ends, so its death locks nobody out.
//!
//! - [`Guard`]: the handle that a display uses as its guard. The keeper of `deskline-grab` holds
//!   the grabs, in a process of its own.
//! - [`Helper`]: the setgid program of that process, for users who may not read `/dev/input`.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod helper;
mod strokes;

use std::cell::Cell;
use std::io;
use std::os::fd::OwnedFd;
use std::process::Child;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use deskline_contract::guard::{Grab, Guards, Task};
use deskline_contract::{Cancel, DisplayError, Error, Reason, Result};
use deskline_grab::device::InputFolder;
pub use deskline_grab::device::Stroke;
pub use deskline_grab::message::Seen;
use deskline_grab::message::{Order, Outcome, Report, pair, receive, send};
pub use deskline_grab::program::run_for_reader;
use deskline_unix::alarm::Alarm;
use deskline_unix::{spawn, wait};
use rustix::net::{Shutdown, shutdown};

pub use helper::{Distrust, Helper, INSTALLED, NAME, beside};
pub use strokes::Strokes;

/// How long the keeper may take to answer an order.
const PATIENCE: Duration = Duration::from_secs(5);

/// How often a waiting link checks for cancellation.
const SLICE: Duration = Duration::from_millis(20);

/// The name of the helper process that calls [`run_for_reader`].
pub const COMMAND: &str = "grab-devices";

const STARTING: &str = "starting the input lock";

/// Counts the devices that this user may read. Grabs no device and reads no event.
pub fn look() -> Seen {
    deskline_grab::count(&InputFolder::system())
}

/// The link that Esc or the time limit cancels.
#[derive(Default)]
struct Link {
    number: u32,
    /// The link's cancel flag; `None` until a device is grabbed for the link.
    cancel: Option<Cancel>,
}

type Shared = Arc<Mutex<Link>>;

/// A handle to the keeper. Dropping it releases the devices and ends the keeper.
pub struct Guard {
    socket: Arc<OwnedFd>,
    answers: Receiver<Report>,
    link: Shared,
    /// Wakes this process at the time limit if it is stopped (`SIGSTOP`), so that it releases its
    /// keys.
    alarm: Alarm,
    /// Whether an answer has timed out. The next answer might then belong to the earlier order.
    broken: Cell<bool>,
    /// The keeper's process, and the thread that listens to it; `None` only during the drop.
    running: Option<(Child, JoinHandle<()>)>,
}

impl Guard {
    /// Starts the keeper as a helper of this program.
    ///
    /// # Errors
    ///
    /// [`Error::System`] if it does not start.
    pub fn start() -> Result<Self> {
        Self::with(|orders| spawn::helper([COMMAND])?.stdin(orders).spawn())
    }

    /// Starts the keeper by `keeper`, whose argument is the standard input of the keeper.
    ///
    /// # Errors
    ///
    /// [`Error::System`] if it does not start.
    pub fn with(keeper: impl FnOnce(OwnedFd) -> io::Result<Child>) -> Result<Self> {
        let start = || {
            let (socket, orders) = pair()?;
            let socket = Arc::new(socket);
            let (sender, answers) = mpsc::channel();
            let link = Shared::default();
            let (heard, shared) = (Arc::clone(&socket), Arc::clone(&link));
            let listener = thread::Builder::new().name("guard's answers".to_owned());
            // Start this thread before the keeper: if it cannot be started, no keeper is left
            // behind.
            let listener = listener.spawn(move || listen(&heard, &shared, &sender))?;
            let keeper = keeper(orders)?;
            io::Result::Ok(Self {
                socket,
                answers,
                link,
                alarm: Alarm::wakes()?,
                broken: Cell::new(false),
                running: Some((keeper, listener)),
            })
        };
        start().map_err(Error::system(STARTING))
    }

    /// The devices that the keeper can grab. `None` if the keeper does not answer.
    pub fn look(&self) -> Option<Seen> {
        self.ask(Order::Look, |report| match report {
            Report::Seen(seen) => Some(seen),
            _ => None,
        })
    }

    /// Sends an order. Ignores an error if the keeper has ended: the next `ask` reports that.
    fn order(&self, order: Order) {
        let _ = send(&*self.socket, order);
    }

    /// Sends an order and waits for its answer. Skips answers to earlier orders, which arrive
    /// first.
    fn ask<T>(&self, order: Order, answer: impl Fn(Report) -> Option<T>) -> Option<T> {
        if self.broken.get() || send(&*self.socket, order).is_err() {
            return None;
        }
        let answer = wait::received(&self.answers, PATIENCE, answer);
        self.broken.set(answer.is_none());
        answer
    }
}

impl Guards for Guard {
    fn grab(&mut self, task: &Task, cancel: &Cancel) -> Result<Grab> {
        let link = {
            let mut link = lock(&self.link);
            link.cancel = Some(cancel.clone());
            link.number
        };
        let order = Order::Grab {
            link,
            pointer: task.pointer,
            limit: task.limit,
        };
        let until = Instant::now() + PATIENCE;
        if self.broken.get() || send(&*self.socket, order).is_err() {
            return Err(silent());
        }
        loop {
            if let Err(cancelled) = cancel.check() {
                // The devices may be grabbed already.
                self.ungrab();
                return Err(cancelled.into());
            }
            match self.answers.recv_timeout(SLICE) {
                Ok(Report::Grabbed(outcome)) => {
                    let grabbed = grab(outcome)?;
                    if !matches!(grabbed, Grab::Unable(_)) {
                        let _ = self.alarm.set(Some(task.limit));
                    }
                    return Ok(grabbed);
                }
                // An answer to an earlier order.
                Ok(_) => {}
                Err(RecvTimeoutError::Timeout) if Instant::now() < until => {}
                Err(_) => break,
            }
        }
        self.broken.set(true);
        Err(silent())
    }

    fn ungrab(&mut self) {
        let _ = self.alarm.set(None);
        let released = self.ask(Order::Release, |report| {
            matches!(report, Report::Released).then_some(())
        });
        if released.is_none() {
            // End the keeper: the kernel then releases its devices.
            let _ = shutdown(&*self.socket, Shutdown::Both);
            tracing::warn!("{}", silent());
        }
    }

    fn watch(&mut self) {
        self.order(Order::Watch);
    }

    fn pressed(&mut self) -> Option<bool> {
        self.ask(Order::Pressed, |report| match report {
            Report::Pressed(pressed) => Some(pressed),
            _ => None,
        })?
    }

    fn unwatch(&mut self) {
        {
            let mut link = lock(&self.link);
            link.cancel = None;
            // Later messages about this link carry the old number, and are ignored.
            link.number = link.number.wrapping_add(1);
        }
        self.order(Order::Rest);
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        // Closing the connection ends the listener thread and the keeper.
        let _ = shutdown(&*self.socket, Shutdown::Both);
        let Some((mut process, listener)) = self.running.take() else {
            return;
        };
        let _ = listener.join();
        // A stopped process does not notice the closed socket.
        let _ = process.kill();
        let _ = process.wait();
    }
}

/// Cancels the link at unsolicited reports, and forwards answers.
fn listen(socket: &OwnedFd, link: &Shared, answers: &Sender<Report>) {
    loop {
        let (number, reason) = match receive(socket, true) {
            Ok(Some(Report::Escape(number))) => (number, Reason::Person),
            Ok(Some(Report::Limit(number))) => (number, Reason::Watchdog),
            Ok(Some(Report::Lost(number))) => (number, Reason::Unguarded),
            Ok(Some(report)) => {
                if answers.send(report).is_err() {
                    return;
                }
                continue;
            }
            // The keeper has ended, or sent an invalid message.
            Ok(None) | Err(_) => {
                let _ = shutdown(socket, Shutdown::Both);
                if let Some(cancel) = &lock(link).cancel {
                    cancel.cancel(Reason::Unguarded);
                }
                return;
            }
        };
        if reason != Reason::Person {
            tracing::warn!(?reason, "the guard released the devices by itself");
        }
        let link = lock(link);
        if let Some(cancel) = link.cancel.as_ref().filter(|_| link.number == number) {
            cancel.cancel(reason);
        }
    }
}

fn lock(link: &Shared) -> std::sync::MutexGuard<'_, Link> {
    link.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Converts the keeper's outcome.
fn grab(outcome: Outcome) -> Result<Grab> {
    let unable = |why: &str| Ok(Grab::Unable(why.to_owned()));
    let refused = |why| Err(DisplayError::PersonBusy(why).into());
    match outcome {
        Outcome::Held => Ok(Grab::Held),
        Outcome::HeldBut => Ok(Grab::Partly(
            "a device of the user's was not blocked, because a key was held down on it".into(),
        )),
        Outcome::Closed(closed) => Ok(Grab::Partly(format!(
            "{closed} of the devices in /dev/input were not blocked, as this user may not read them"
        ))),
        Outcome::NoDevice => unable("no keyboard or pointer in /dev/input could be grabbed"),
        Outcome::Unreadable => unable("this user may not read the devices in /dev/input"),
        Outcome::KeyDown => unable("the user holds a key down"),
        Outcome::NotAtSeat => unable(
            "this user's session is not in front on the machine's own screen, so keyboard and \
            pointer do not belong to this user",
        ),
        Outcome::ButtonDown => refused(
            "is holding a mouse button down, and a click would become part of what they are doing",
        ),
        Outcome::Escaped => refused("has just pressed Esc"),
    }
}

fn silent() -> Error {
    Error::Unavailable(String::from(
        "the input lock does not answer. Nothing was sent. The next call restarts it",
    ))
}
