//! The server's side of the guard: starts the keeper and sends it orders. If the keeper ends first,
//! this enables the devices in its place.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use deskline_link::Reason;
use deskline_link::guard::Grab;
use deskline_link::{Cancel, Error, Result};

use crate::helper;
use crate::sway::devices::Device;
use crate::sway::keeper::{self, Order, Report};

/// How long the keeper may take to answer an order.
const OBEYS: Duration = Duration::from_secs(5);

/// How long the keeper may take to end.
const ENDS: Duration = Duration::from_secs(1);

const WHAT: &str = "guarding the person's devices";

/// A handle to a keeper process.
pub(super) struct Guard {
    child: Child,
    /// Closed after the keeper has failed an order: it then enables the devices and ends.
    orders: Option<ChildStdin>,
    answers: Receiver<Report>,
    hold: Arc<Mutex<Hold>>,
    /// The reason if some of the person's input may have reached an app.
    lapse: Option<String>,
}

/// The state shared with the thread that listens to the keeper.
#[derive(Default)]
struct Hold {
    devices: Vec<Device>,
    cancel: Option<Cancel>,
}

impl Guard {
    /// Starts a keeper for the sway on this socket.
    pub(super) fn start(socket: &Path) -> Result<Self> {
        let mut child = helper::start(helper::KEEP_DEVICES, socket)?;
        let (orders, message) = (child.stdin.take(), child.stdout.take());
        let hold = Arc::new(Mutex::new(Hold::default()));
        let (sender, answers) = mpsc::channel();
        let message = message.ok_or_else(|| Error::system(WHAT)("no pipe"))?;
        let (shared, socket) = (Arc::clone(&hold), socket.to_owned());
        std::thread::spawn(move || listen(message, &sender, &shared, &socket));
        Ok(Self {
            child,
            orders,
            answers,
            hold,
            lapse: None,
        })
    }

    /// Disables the person's devices. `own` is the number of the agent's virtual keyboards.
    pub(super) fn grab(&mut self, limit: Duration, cancel: &Cancel, own: usize) -> Result<Grab> {
        lock(&self.hold).cancel = Some(cancel.clone());
        let limit = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
        match self.order(&Order::Hold(limit))? {
            Report::Held {
                spared,
                virtual_keyboards,
            } => Ok(match others(&spared, virtual_keyboards > own) {
                Some(who) => Grab::Partly(who),
                None => Grab::Held,
            }),
            Report::Unable(why) => Ok(Grab::Unable(why)),
            other => Err(Error::system(WHAT)(format!(
                "the keeper answered {other:?}"
            ))),
        }
    }

    /// Enables the person's devices.
    pub(super) fn release(&mut self) {
        let message = self.order(&Order::Release);
        lock(&self.hold).cancel = None;
        match message {
            Ok(Report::Released { came }) if came.is_empty() => {}
            Ok(Report::Released { came }) => {
                self.lapse = Some(format!("{} was plugged in meanwhile", came.join(", ")));
            }
            message => tracing::warn!("the keeper of the devices answered {message:?}"),
        }
    }

    /// The reason if some of the person's input may have reached an app; returned once.
    pub(super) fn lapse(&mut self) -> Option<String> {
        self.lapse.take()
    }

    /// Returns this handle if the keeper still works.
    pub(super) fn if_alive(mut self) -> Option<Self> {
        let lives = self.orders.is_some() && matches!(self.child.try_wait(), Ok(None));
        lives.then_some(self)
    }

    fn order(&mut self, order: &Order) -> Result<Report> {
        let message = self.ask(order);
        if message.is_err() {
            self.orders = None;
        }
        message
    }

    fn ask(&mut self, order: &Order) -> Result<Report> {
        let orders = self.orders.as_mut();
        let orders = orders.ok_or_else(|| Error::system(WHAT)("the keeper has ended"))?;
        while self.answers.try_recv().is_ok() {}
        let mut line = serde_json::to_vec(order).map_err(Error::system(WHAT))?;
        line.push(b'\n');
        orders.write_all(&line).map_err(Error::system(WHAT))?;
        let message = self.answers.recv_timeout(OBEYS);
        message.map_err(|_| Error::system(WHAT)("the keeper does not answer"))
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.orders = None;
        let deadline = Instant::now() + ENDS;
        while matches!(self.child.try_wait(), Ok(None)) && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// The devices that the guard does not block, for the note in the answer.
fn others(spared: &[String], keyboards: bool) -> Option<String> {
    let typist =
        "someone at another virtual keyboard, such as a remote desktop's or an input method's";
    let mut who: Vec<&str> = spared.iter().map(String::as_str).collect();
    who.extend(keyboards.then_some(typist));
    (!who.is_empty()).then(|| who.join(", "))
}

fn lock(hold: &Mutex<Hold>) -> std::sync::MutexGuard<'_, Hold> {
    hold.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Listens to the keeper until it ends.
fn listen(message: ChildStdout, sender: &Sender<Report>, hold: &Mutex<Hold>, socket: &Path) {
    for line in BufReader::new(message).lines() {
        let Some(message) = line.ok().and_then(|line| serde_json::from_str(&line).ok()) else {
            break;
        };
        match message {
            Report::Takes(devices) => lock(hold).devices = devices,
            Report::Limit => {
                let mut hold = lock(hold);
                hold.devices.clear();
                if let Some(cancel) = &hold.cancel {
                    tracing::warn!("the guard enables the devices at its time limit");
                    cancel.cancel(Reason::Watchdog);
                }
            }
            message => {
                if !matches!(message, Report::Held { .. }) {
                    lock(hold).devices.clear();
                }
                if sender.send(message).is_err() {
                    break;
                }
            }
        }
    }
    let devices = std::mem::take(&mut lock(hold).devices);
    if !devices.is_empty() {
        tracing::warn!("the keeper of the devices has ended, and the server enables them");
        if let Some(cancel) = &lock(hold).cancel {
            cancel.cancel(Reason::Unguarded);
        }
        keeper::restore(socket, &devices);
    }
}
