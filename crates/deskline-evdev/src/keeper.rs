//! The guard's thread: opens the person's devices while a link needs them, grabs and releases them.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::mpsc::{SyncSender, TryRecvError};
use std::time::{Duration, Instant};

use deskline_link::cancel::Reason;
use deskline_link::guard::{Grab, Task};
use deskline_link::{Cancel, Error, Result};
use deskline_unix::wait;
use deskline_unix::worker::Inbox;
use rustix::event::{PollFd, PollFlags};

use crate::Order;
use crate::device::{Device, Opened, Source, Stroke};

/// `KEY_ESC`
pub(crate) const ESCAPE: u16 = 1;

/// Control, Shift, Alt and Super, on both sides.
const MODIFIERS: [u16; 8] = [29, 97, 42, 54, 56, 100, 125, 126];

/// `BTN_LEFT` to `BTN_TASK`
const BUTTONS: std::ops::RangeInclusive<u16> = 0x110..=0x117;

/// How long the person may take to release what they hold. The compositor would not see the release
/// of a key on a grabbed device, and would take it for held.
const LETS_GO: Duration = Duration::from_millis(500);

/// How often to look for devices that were plugged in.
const LOOK: Duration = Duration::from_millis(250);

/// One of the person's devices.
struct Theirs {
    device: Box<dyn Device>,
    grabbed: bool,
    down: BTreeSet<u16>,
}

impl Theirs {
    fn poll(&self) -> PollFd<'_> {
        PollFd::from_borrowed_fd(self.device.fd(), PollFlags::IN)
    }
}

/// An active grab.
struct Hold {
    cancel: Cancel,
    /// When the guard releases the devices by itself.
    until: Instant,
    /// Whether the person has pressed Esc. If so, reaching `until` only means that the link is slow.
    escaped: bool,
}

struct Keeper<S> {
    source: S,
    devices: BTreeMap<String, Theirs>,
    /// What is neither a keyboard nor a pointer, and need not be opened again.
    others: BTreeSet<String>,
    /// How many devices this user may not read.
    closed: usize,
    hold: Option<Hold>,
    /// The link to cancel if the person presses Esc while nothing is grabbed.
    on_escape: Option<Cancel>,
    /// Whether the person has pressed something since the link began to watch them; `None` if it
    /// does not watch.
    watched: Option<bool>,
}

/// Runs the thread until the handle is dropped.
pub(crate) fn run(source: impl Source, inbox: &Inbox<Order>) {
    let mut keeper = Keeper {
        source,
        devices: BTreeMap::new(),
        others: BTreeSet::new(),
        closed: 0,
        hold: None,
        on_escape: None,
        watched: None,
    };
    if let Err(error) = keeper.serve(inbox) {
        tracing::warn!(%error, "the guard ended");
        keeper.release();
        if let Some(hold) = keeper.hold.take() {
            hold.cancel.cancel(Reason::Unguarded);
        }
    }
}

impl<S: Source> Keeper<S> {
    fn serve(&mut self, inbox: &Inbox<Order>) -> io::Result<()> {
        let mut looked = Instant::now();
        loop {
            self.read();
            match inbox.next() {
                Ok(order) => {
                    self.obey(order);
                    continue;
                }
                Err(TryRecvError::Empty) => {}
                Err(TryRecvError::Disconnected) => {
                    self.open();
                    return Ok(());
                }
            }
            let over = |hold: &Hold| Instant::now() >= hold.until;
            if self.hold.as_ref().is_some_and(over) {
                self.expire();
            }
            if self.hold.is_some() && looked.elapsed() >= LOOK {
                looked = Instant::now();
                self.find();
                self.grab_new();
            }
            self.wait(inbox)?;
        }
    }

    /// Waits for a stroke, an order, the limit, or the time to look for new devices.
    fn wait(&self, inbox: &Inbox<Order>) -> io::Result<()> {
        let left = |hold: &Hold| hold.until.saturating_duration_since(Instant::now());
        let left = self.hold.as_ref().map(|hold| left(hold).min(LOOK));
        let mut fds = vec![inbox.poll()];
        fds.extend(self.devices.values().map(Theirs::poll));
        wait::any(&mut fds, left)?;
        inbox.awake();
        Ok(())
    }

    fn obey(&mut self, order: Order) {
        // The receiver of a reply may no longer wait.
        match order {
            Order::Close(task, cancel, reply) => self.close(&task, &cancel, &reply),
            Order::Open(reply) => {
                self.open();
                let _ = reply.send(());
            }
            Order::Watch => {
                self.find();
                self.watched = (!self.devices.is_empty()).then_some(false);
            }
            Order::Pressed(reply) => {
                let _ = reply.send(self.watched);
            }
            Order::Rest => {
                self.open();
                self.on_escape = None;
                self.watched = None;
                self.devices.clear();
            }
        }
    }

    fn close(&mut self, task: &Task, cancel: &Cancel, reply: &SyncSender<Result<Grab>>) {
        let grab = match &self.hold {
            Some(_) => Ok(self.describe()),
            None => self.grab(task, cancel),
        };
        // Nobody would release what nobody knows to be grabbed.
        if reply.send(grab).is_err() {
            self.open();
        }
    }

    fn grab(&mut self, task: &Task, cancel: &Cancel) -> Result<Grab> {
        self.find();
        self.read();
        for theirs in self.devices.values_mut() {
            // The kernel drops strokes that were not read in time.
            theirs.down = theirs.device.down().unwrap_or_default();
        }
        self.await_released(cancel)?;
        let pressed = |theirs: &Theirs| theirs.down.iter().any(|key| BUTTONS.contains(key));
        if task.pointer && self.devices.values().any(pressed) {
            return Err(Error::Input(
                "the user is holding a mouse button down, and a click would become part of what they are doing. Nothing was sent; try again in a moment".into(),
            ));
        }
        self.on_escape = Some(cancel.clone());
        self.grab_new();
        if self.devices.values().any(|theirs| theirs.grabbed) {
            self.hold = Some(Hold {
                cancel: cancel.clone(),
                until: Instant::now() + task.limit,
                escaped: false,
            });
        }
        Ok(self.describe())
    }

    /// What is grabbed, and what is not.
    fn describe(&self) -> Grab {
        let grabbed = self
            .devices
            .values()
            .filter(|theirs| theirs.grabbed)
            .count();
        let free = self.devices.len() - grabbed;
        if grabbed == 0 {
            let why = match (free, self.closed) {
                (0, 0) => "No keyboard or pointer in /dev/input could be grabbed",
                (0, _) => "This user may not read the devices in /dev/input",
                _ => "The user holds a key down",
            };
            return Grab::Unable(why.to_owned());
        }
        if free > 0 {
            return Grab::Partly(
                "A device of the user's was not kept out, because a key was held down on it".into(),
            );
        }
        match self.closed {
            0 => Grab::Held,
            closed => Grab::Partly(format!(
                "{closed} of the devices in /dev/input may not be read by this user, and were not kept out"
            )),
        }
    }

    /// Opens the devices that are not open yet.
    fn find(&mut self) {
        let names = match self.source.names() {
            Ok(names) => names,
            Err(error) => {
                tracing::debug!(%error, "/dev/input");
                Vec::new()
            }
        };
        self.devices.retain(|name, _| names.contains(name));
        self.others.retain(|name| names.contains(name));
        self.closed = 0;
        for name in names {
            if self.devices.contains_key(&name) || self.others.contains(&name) {
                continue;
            }
            match self.source.open(&name) {
                Opened::Theirs(device) => {
                    let down = device.down().unwrap_or_default();
                    let theirs = Theirs {
                        device,
                        grabbed: false,
                        down,
                    };
                    self.devices.insert(name, theirs);
                }
                Opened::Other => {
                    self.others.insert(name);
                }
                Opened::Closed => self.closed += 1,
                Opened::Gone => {}
            }
        }
    }

    /// Waits until the person holds no key and no button, for [`LETS_GO`] at most.
    fn await_released(&mut self, cancel: &Cancel) -> Result<()> {
        let until = Instant::now() + LETS_GO;
        loop {
            self.read();
            cancel.check()?;
            let left = until.saturating_duration_since(Instant::now());
            let holds = self.devices.values().any(|theirs| !theirs.down.is_empty());
            if !holds || left.is_zero() {
                return Ok(());
            }
            let mut fds: Vec<_> = self.devices.values().map(Theirs::poll).collect();
            // In slices, so that a cancelled link does not wait.
            wait::any(&mut fds, Some(left.min(Duration::from_millis(20))))
                .map_err(Error::system("guarding the person's devices"))?;
        }
    }

    /// Grabs every device on which nothing is held. One that another process has grabbed reaches
    /// no app by itself either: a key remapper passes its keys on by a device of its own.
    fn grab_new(&mut self) {
        self.devices.retain(|name, theirs| {
            if theirs.grabbed || !theirs.down.is_empty() {
                return true;
            }
            match theirs.device.grab() {
                Ok(()) => {
                    theirs.grabbed = true;
                    true
                }
                Err(error) => {
                    tracing::debug!(%error, name, "not grabbed");
                    false
                }
            }
        });
    }

    /// Ends the hold.
    fn open(&mut self) {
        self.hold = None;
        self.release();
    }

    fn release(&mut self) {
        self.devices.retain(|name, theirs| {
            if !std::mem::take(&mut theirs.grabbed) {
                return true;
            }
            // Closing the device releases it too.
            let released = theirs.device.ungrab();
            released
                .inspect_err(|error| tracing::debug!(%error, name, "closed instead"))
                .is_ok()
        });
    }

    /// The limit has come, whatever the link does.
    fn expire(&mut self) {
        let Some(hold) = self.hold.take() else { return };
        tracing::warn!("the guard has held for its limit, and opens");
        self.release();
        if !hold.escaped {
            hold.cancel.cancel(Reason::Watchdog);
        }
    }

    /// Reads what the person has pressed and released. A device that fails is gone.
    fn read(&mut self) {
        let mut strokes = Vec::new();
        self.devices
            .retain(|name, theirs| match theirs.device.strokes() {
                Ok(new) => {
                    strokes.extend(new.into_iter().map(|stroke| (name.clone(), stroke)));
                    true
                }
                Err(_) => false,
            });
        for (name, stroke) in strokes {
            self.stroke(&name, stroke);
        }
    }

    /// In the order of the strokes: a modifier may be up again before Esc is looked at.
    fn stroke(&mut self, name: &str, stroke: Stroke) {
        let Some(theirs) = self.devices.get_mut(name) else {
            return;
        };
        if !stroke.down {
            theirs.down.remove(&stroke.key);
            return;
        }
        theirs.down.insert(stroke.key);
        if !theirs.grabbed {
            self.watched = self.watched.map(|_| true);
        }
        if stroke.key == ESCAPE && !self.modified() {
            self.escape();
        }
    }

    /// Whether the person holds a modifier.
    fn modified(&self) -> bool {
        let mut down = self.devices.values().flat_map(|theirs| &theirs.down);
        down.any(|key| MODIFIERS.contains(key))
    }

    fn escape(&mut self) {
        if let Some(hold) = &mut self.hold {
            hold.escaped = true;
        }
        if let Some(cancel) = &self.on_escape {
            cancel.cancel(Reason::Person);
        }
    }
}
