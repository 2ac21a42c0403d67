//! The guard by the kernel: `EVIOCGRAB` on the person's keyboards and pointers (`linux/input.h`).
//!
//! It works beside any compositor that takes the agent's input through a protocol of its own. A grabbed
//! device's events reach the process that grabbed it and no other. The kernel releases the grab when
//! that process ends, so its death locks nobody out.
//!
//! - [`Guard`]: the handle, as a display's guard. What holds the grabs is the keeper of
//!   `deskline-grab`: on a thread of this process, where the person's user may read `/dev/input`, or in
//!   a process of its own, which was given that right.
//! - [`Helper`]: that process' program.

mod helper;

use std::cell::Cell;
use std::io;
use std::os::fd::OwnedFd;
use std::process::{Child, Command};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use deskline_grab::device::{InputFolder, Source};
pub use deskline_grab::message::Seen;
use deskline_grab::message::{Order, Outcome, Said, hear, pair, say};
use deskline_grab::{InServer, serve};
use deskline_link::Reason;
use deskline_link::guard::{Grab, Task};
use deskline_link::{Cancel, Error, Result};
use rustix::net::{Shutdown, shutdown};

pub use helper::{Distrust, Helper, INSTALLED, NAME, beside};

/// How long the keeper may take to answer an order.
const PATIENCE: Duration = Duration::from_secs(5);

/// How often to look whether a link that waits was cancelled.
const SLICE: Duration = Duration::from_millis(20);

const STARTING: &str = "starting the guard";

/// Counts the devices that this user may read. Grabs nothing and reads no event.
pub fn look() -> Seen {
    deskline_grab::count(&InputFolder::system())
}

/// What holds the grabs.
enum Keeper {
    Thread(JoinHandle<()>),
    Process(Child),
}

/// The link that Esc and the limit cancel.
#[derive(Default)]
struct Link {
    number: u32,
    /// `None` while nothing was grabbed for it.
    cancel: Option<Cancel>,
}

type Shared = Arc<Mutex<Link>>;

/// A handle to the keeper. Dropping it releases the devices and ends the keeper.
pub struct Guard {
    socket: Arc<OwnedFd>,
    answers: Receiver<Said>,
    link: Shared,
    /// An answer was missed: those that come are to earlier questions.
    broken: Cell<bool>,
    /// `None` only during the drop.
    ends: Option<(Keeper, JoinHandle<()>)>,
}

impl Guard {
    /// The keeper on a thread of this process. It opens no device before it is told to.
    ///
    /// # Errors
    ///
    /// [`Error::System`] where the system has no thread or descriptor left.
    pub fn start() -> Result<Self> {
        Self::over(InputFolder::system())
    }

    /// The keeper in a process of its own.
    ///
    /// # Errors
    ///
    /// [`Error::System`] where it does not start.
    pub fn apart(helper: &Helper) -> Result<Self> {
        Self::with(|orders| Ok(Keeper::Process(helper.start(orders)?)))
    }

    /// The keeper as this command, for tests.
    ///
    /// # Errors
    ///
    /// [`Error::System`] where it does not start.
    #[doc(hidden)]
    pub fn as_command(command: &mut Command) -> Result<Self> {
        Self::with(|orders| Ok(Keeper::Process(helper::start(command, orders)?)))
    }

    fn over(source: impl Source + Send + 'static) -> Result<Self> {
        let run = move |orders| {
            if let Err(error) = serve(source, InServer, orders) {
                tracing::warn!(%error, "the guard ended");
            }
        };
        Self::with(|orders| {
            let thread = thread::Builder::new().name("guard".to_owned());
            Ok(Keeper::Thread(thread.spawn(move || run(orders))?))
        })
    }

    fn with(keeper: impl FnOnce(OwnedFd) -> io::Result<Keeper>) -> Result<Self> {
        let start = || {
            let (socket, orders) = pair()?;
            let socket = Arc::new(socket);
            let (sender, answers) = mpsc::channel();
            let link = Shared::default();
            let (heard, shared) = (Arc::clone(&socket), Arc::clone(&link));
            let listener = thread::Builder::new().name("guard's answers".to_owned());
            let keeper = keeper(orders)?;
            let listener = listener.spawn(move || listen(&heard, &shared, &sender))?;
            io::Result::Ok(Self {
                socket,
                answers,
                link,
                broken: Cell::new(false),
                ends: Some((keeper, listener)),
            })
        };
        start().map_err(Error::system(STARTING))
    }

    /// What the keeper can grab. `None` if it does not answer.
    pub fn look(&self) -> Option<Seen> {
        self.ask(Order::Look, |said| match said {
            Said::Seen(seen) => Some(seen),
            _ => None,
        })
    }

    /// As [`deskline_link::Display::grab`].
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] where the keeper does not answer: nothing may be sent then.
    pub fn close(&self, task: &Task, cancel: &Cancel) -> Result<Grab> {
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
        if self.broken.get() || say(&*self.socket, order).is_err() {
            return Err(silent());
        }
        loop {
            if let Err(cancelled) = cancel.check() {
                // It may be grabbed already.
                self.open();
                return Err(cancelled.into());
            }
            match self.answers.recv_timeout(SLICE) {
                Ok(Said::Grabbed(outcome)) => return grab(outcome),
                // To an earlier order.
                Ok(_) => {}
                Err(RecvTimeoutError::Timeout) if Instant::now() < until => {}
                Err(_) => break,
            }
        }
        self.broken.set(true);
        Err(silent())
    }

    /// As [`deskline_link::Display::ungrab`].
    pub fn open(&self) {
        let released = self.ask(Order::Release, |said| {
            matches!(said, Said::Released).then_some(())
        });
        if released.is_none() {
            // The kernel releases what a keeper has grabbed that ends, and it ends without us.
            let _ = shutdown(&*self.socket, Shutdown::Both);
            tracing::warn!("{}", silent());
        }
    }

    /// As [`deskline_link::Display::watch_person`].
    pub fn watch(&self) {
        self.tell(Order::Watch);
    }

    /// As [`deskline_link::Display::person_pressed`].
    pub fn pressed(&self) -> Option<bool> {
        self.ask(Order::Pressed, |said| match said {
            Said::Pressed(pressed) => Some(pressed),
            _ => None,
        })?
    }

    /// As [`deskline_link::Display::unwatch_person`].
    pub fn rest(&self) {
        {
            let mut link = lock(&self.link);
            link.cancel = None;
            // What is still said of this link is not about the next.
            link.number = link.number.wrapping_add(1);
        }
        self.tell(Order::Rest);
    }

    /// A keeper that has gone says so when it is asked.
    fn tell(&self, order: Order) {
        let _ = say(&*self.socket, order);
    }

    /// Orders are answered one after the other, so what comes before the answer is to an earlier one.
    fn ask<T>(&self, order: Order, answer: impl Fn(Said) -> Option<T>) -> Option<T> {
        let until = Instant::now() + PATIENCE;
        if self.broken.get() || say(&*self.socket, order).is_err() {
            return None;
        }
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let Ok(said) = self.answers.recv_timeout(left) else {
                self.broken.set(true);
                return None;
            };
            if let Some(answer) = answer(said) {
                return Some(answer);
            }
        }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        // Ends both threads, or the thread and the process.
        let _ = shutdown(&*self.socket, Shutdown::Both);
        let Some((keeper, listener)) = self.ends.take() else {
            return;
        };
        let _ = listener.join();
        match keeper {
            Keeper::Thread(thread) => {
                // A panic of the thread has been printed by its hook.
                let _ = thread.join();
            }
            Keeper::Process(mut process) => {
                // If it is stopped it does not see its end.
                let _ = process.kill();
                let _ = process.wait();
            }
        }
    }
}

/// Cancels the link at what comes unasked, and passes the answers on.
fn listen(socket: &OwnedFd, link: &Shared, answers: &Sender<Said>) {
    loop {
        let (number, reason) = match hear(socket, true) {
            Ok(Some(Said::Escape(number))) => (number, Reason::Person),
            Ok(Some(Said::Limit(number))) => (number, Reason::Watchdog),
            Ok(Some(Said::Lost(number))) => (number, Reason::Unguarded),
            Ok(Some(said)) => {
                if answers.send(said).is_err() {
                    return;
                }
                continue;
            }
            // The keeper has gone, or is no keeper.
            Ok(None) | Err(_) => {
                let _ = shutdown(socket, Shutdown::Both);
                if let Some(cancel) = &lock(link).cancel {
                    cancel.cancel(Reason::Unguarded);
                }
                return;
            }
        };
        if reason != Reason::Person {
            tracing::warn!(?reason, "the guard has opened by itself");
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

/// In the words of a link.
fn grab(outcome: Outcome) -> Result<Grab> {
    let unable = |why: &str| Ok(Grab::Unable(why.to_owned()));
    let refused = |why: &str| {
        let text = format!("the user {why}. Nothing was sent; try again in a moment");
        Err(Error::Input(text))
    };
    match outcome {
        Outcome::Held => Ok(Grab::Held),
        Outcome::HeldBut => Ok(Grab::Partly(
            "A device of the user's was not kept out, because a key was held down on it".into(),
        )),
        Outcome::Closed(closed) => Ok(Grab::Partly(format!(
            "{closed} of the devices in /dev/input may not be read by this user, and were not kept out"
        ))),
        Outcome::NoDevice => unable("No keyboard or pointer in /dev/input could be grabbed"),
        Outcome::Unreadable => unable("This user may not read the devices in /dev/input"),
        Outcome::KeyDown => unable("The user holds a key down"),
        Outcome::NotAtSeat => unable(
            "This user's session is not the one in front on the machine's own screen, so that its devices are not this user's",
        ),
        Outcome::ButtonDown => refused(
            "is holding a mouse button down, and a click would become part of what they are doing",
        ),
        Outcome::Escaped => refused("has just pressed Esc"),
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
