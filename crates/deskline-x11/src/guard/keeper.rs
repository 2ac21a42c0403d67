//! The guard's thread, which owns the connection that has the grabs.
//!
//! It never waits for a link, so the time limit holds even if a link hangs. If the thread itself
//! fails, its connection closes, and that releases the devices.

use std::path::{Path, PathBuf};
use std::sync::mpsc::SyncSender;
use std::time::{Duration, Instant};

use deskline_contract::guard::{Grab, Task};
use deskline_contract::{Cancel, Error, Reason, Result, TargetError};
use deskline_core::Rect;
use deskline_input::guard::Machine;
use deskline_unix::alarm::Alarm;
use deskline_unix::wait;
use deskline_unix::worker::Inbox;
use rustix::event::{PollFd, PollFlags};
use x11rb::connection::Connection as _;
use x11rb::protocol::xkb::ConnectionExt as _;
use x11rb::protocol::xproto::Window;
use x11rb::wrapper::ConnectionExt as _;

use super::devices::{self, Slave};
use super::held_keys;
use super::watchdog::Watchdog;
use crate::connection::{self, Connection, SLICE};
use crate::overlay::Overlay;
use crate::{Answer as _, During as _};

/// How long to wait for another program, such as another agent's guard, to release the devices.
const OTHERS: Duration = Duration::from_secs(3);

/// How long the thread, before it ends, may wait for the person to release a modifier.
const LEAVE: Duration = Duration::from_secs(1);

pub(super) const WHAT: &str = "blocking your devices";

pub(super) struct Keeper {
    pub(super) c: Connection,
    pub(super) root: Window,
    /// The known devices; `None` after they have changed.
    pub(super) slaves: Option<Vec<Slave>>,
    pub(super) machine: Machine<Cancel>,
    /// The grabbed devices.
    pub(super) grabbed: Vec<u16>,
    /// Modifiers that XTEST has pressed for the person, who still holds them.
    pub(super) pressed: Vec<u8>,
    pub(super) overlay: Overlay,
    /// The display's name, and the file with its cookie.
    place: (String, Option<PathBuf>),
    /// The process that watches this one. Started by the first grab.
    watchdog: Option<Watchdog>,
    /// The mark by which the watchdogs identify this connection.
    mark: Option<Window>,
    /// Wakes this process at the time limit if it is stopped (`SIGSTOP`), alone or together with
    /// the watchdog, so that it releases the devices.
    alarm: Alarm,
}

/// An order to the guard's thread.
pub(super) enum Order {
    Close(Task, Cancel, SyncSender<Result<Grab>>),
    Open(SyncSender<()>),
    /// Stop listening for Esc, and stop watching the person.
    Rest,
    /// Start recording whether the person presses anything.
    Watch,
    /// Ask whether the person has pressed anything. The reply is `None` if their devices cannot be
    /// distinguished from the agent's.
    Pressed(SyncSender<Option<bool>>),
    /// Outline some bounds, show a caption, or both.
    Show(Option<Rect>, String, SyncSender<()>),
    Hide(SyncSender<()>),
}

/// Runs the thread until the handle is dropped or the connection is lost.
pub(super) fn run(display: &str, xauthority: Option<&Path>, inbox: &Inbox<Order>) {
    let mut keeper = match Keeper::connect(display, xauthority) {
        Ok(keeper) => keeper,
        Err(error) => {
            tracing::warn!(%error, "no guard");
            return;
        }
    };
    let ended = keeper.serve(inbox);
    if keeper.machine.release(Instant::now()) {
        keeper.cancel(Reason::Unguarded);
    }
    if let Err(error) = ended {
        tracing::warn!(%error, "the guard ended");
    }
}

impl Keeper {
    fn connect(display: &str, xauthority: Option<&Path>) -> Result<Self> {
        let (c, screen) = connection::open(display, xauthority)?;
        let root = connection::root_of(&c, screen)?;
        c.xkb_use_extension(1, 0).answer(WHAT)?;
        let mut keeper = Self {
            overlay: Overlay::new(root),
            root,
            slaves: None,
            machine: Machine::default(),
            grabbed: vec![],
            pressed: vec![],
            place: (display.to_owned(), xauthority.map(Path::to_owned)),
            watchdog: None,
            mark: None,
            alarm: Alarm::wakes().map_err(Error::system(WHAT))?,
            c,
        };
        // List the devices now, so that the first link need not wait for the list.
        if let Ok(slaves) = devices::slaves(&keeper.c)? {
            keeper.slaves = Some(slaves);
            keeper.select()?;
        }
        keeper.overlay.warm();
        Ok(keeper)
    }

    fn serve(&mut self, inbox: &Inbox<Order>) -> Result<()> {
        inbox.serve(|order| {
            self.hear()?;
            if let Some(order) = order {
                return self.obey(order);
            }
            if let Some(escaped) = self.machine.expire(Instant::now()) {
                self.expire(escaped)?;
            }
            self.c.flush().during(WHAT)?;
            self.wait(inbox)
        })?;
        self.leave()
    }

    /// Handles pending events.
    fn hear(&mut self) -> Result<()> {
        while let Some(event) = self.c.poll_for_event().during(WHAT)? {
            self.event(&event)?;
        }
        Ok(())
    }

    /// Releases the devices. Waits a moment until the person has released the modifiers that the
    /// guard has pressed for them. Those that are left after that are released here, because
    /// XTEST's own device must not keep them down.
    fn leave(&mut self) -> Result<()> {
        self.open()?;
        let whose = (&Cancel::new(), WHAT);
        connection::until(
            self,
            |it| &it.c,
            (LEAVE, LEAVE),
            whose,
            |it| {
                it.hear()?;
                Ok(it.pressed.is_empty().then_some(()))
            },
        )?;
        for code in std::mem::take(&mut self.pressed) {
            held_keys::let_go(&self.c, code)?;
        }
        self.c.sync().during(WHAT)
    }

    /// Waits for an event, an order or the time limit.
    fn wait(&self, inbox: &Inbox<Order>) -> Result<()> {
        let left = self.machine.left(Instant::now());
        let mut fds = [PollFd::new(self.c.stream(), PollFlags::IN), inbox.poll()];
        wait::any(&mut fds, left)
            .map(drop)
            .map_err(Error::system(WHAT))
    }

    fn obey(&mut self, order: Order) -> Result<()> {
        // Ignore failed replies: the receiver may no longer wait.
        match order {
            Order::Close(task, cancel, reply) => {
                let kept = self.close(&task, &cancel);
                if kept.is_err() {
                    self.open()?;
                }
                let lost = self.c.stream().lost();
                let _ = reply.send(kept);
                if lost {
                    return Err(Error::Unavailable("the X server is gone".into()));
                }
            }
            Order::Open(reply) => {
                let opened = self.open();
                let _ = reply.send(());
                opened?;
            }
            Order::Watch => {
                self.machine.watch(true);
                self.select()?;
                // Discard earlier presses.
                self.c.sync().during(WHAT)?;
                self.hear()?;
                self.machine.watch(true);
            }
            Order::Pressed(reply) => {
                self.c.sync().during(WHAT)?;
                self.hear()?;
                let known = self.slaves.is_some() || devices::slaves(&self.c)?.is_ok();
                let _ = reply.send(self.machine.pressed().filter(|_| known));
            }
            Order::Rest => {
                self.machine.end();
                self.select()?;
            }
            Order::Show(place, caption, reply) => {
                self.overlay.point_out(&self.c, place, &caption)?;
                let _ = reply.send(());
            }
            Order::Hide(reply) => {
                self.overlay.hide(&self.c)?;
                self.c.sync().during(WHAT)?;
                let _ = reply.send(());
            }
        }
        Ok(())
    }

    /// Grabs the person's devices.
    fn close(&mut self, task: &Task, cancel: &Cancel) -> Result<Grab> {
        if self.machine.is_held() {
            return Ok(Grab::Held);
        }
        if !self.machine.begin(cancel.clone(), Instant::now()) {
            cancel.cancel(Reason::Person);
            return Err(Error::Cancelled(Reason::Person));
        }
        let slaves = match self.slaves.take() {
            Some(slaves) => slaves,
            None => match devices::slaves(&self.c)? {
                Ok(slaves) => slaves,
                Err(why) => return Ok(Grab::Unable(why)),
            },
        };
        self.slaves = Some(slaves.clone());
        if let Some(caption) = &task.caption {
            self.overlay.announce(&self.c, caption, task.place)?;
        }
        let ids: Vec<u16> = slaves.iter().filter(|s| !s.xtest).map(|s| s.id).collect();
        let _ = self.alarm.set(Some(task.limit));
        self.grabbed = self.grab(&ids, cancel)?;
        self.watch_over(task.limit);
        self.pressed.clear();
        self.machine.take(task.limit, Instant::now());
        held_keys::release(&self.c, &slaves)?;
        // While the devices are grabbed, raw events of the agent's own keys would only wake this
        // thread.
        self.select()?;
        self.c.sync().during(WHAT)?;
        Ok(Grab::Held)
    }

    /// Has the watchdog release the devices in case this process cannot.
    fn watch_over(&mut self, limit: Duration) {
        for _ in 0..2 {
            self.attend();
            let gone = |dog: &mut Watchdog| dog.note(Some(limit)).is_err();
            if self.watchdog.take_if(gone).is_none() {
                return;
            }
        }
    }

    /// Starts the watchdog, if there is none.
    fn attend(&mut self) {
        if self.watchdog.is_some() {
            return;
        }
        let (display, xauthority) = &self.place;
        let mark = || connection::mark(&self.c, self.root);
        let mark = self.mark.map_or_else(mark, Ok);
        self.mark = mark.as_ref().ok().copied();
        let started = mark.and_then(|mark| Watchdog::start(mark, display, xauthority.as_deref()));
        self.watchdog = started
            .inspect_err(|error| tracing::warn!(%error, "no watchdog"))
            .ok();
    }

    /// Grabs all devices or none.
    fn grab(&self, ids: &[u16], cancel: &Cancel) -> Result<Vec<u16>> {
        // The server does not report when another client releases its grab.
        let grabbed = deskline_contract::wait::until(cancel, OTHERS, SLICE, || {
            let (grabbed, all) = devices::grab(&self.c, self.root, ids)?;
            if all {
                return Ok(Some(grabbed));
            }
            devices::ungrab(&self.c, &grabbed)?;
            self.c.flush().during(WHAT)?;
            Ok(None)
        })?;
        grabbed.ok_or_else(|| TargetError::DevicesHeld(OTHERS.as_secs()).into())
    }

    /// Releases the person's devices. After that, listens for Esc.
    fn open(&mut self) -> Result<()> {
        // The alarm is reset after a failed grab too.
        let _ = self.alarm.set(None);
        self.overlay.hide(&self.c)?;
        if self.machine.release(Instant::now()) {
            return self.ungrab();
        }
        self.c.flush().during(WHAT)
    }

    fn ungrab(&mut self) -> Result<()> {
        let _ = self.alarm.set(None);
        devices::ungrab(&self.c, &std::mem::take(&mut self.grabbed))?;
        self.watchdog.take_if(|dog| dog.note(None).is_err());
        self.select()?;
        let slaves = self.slaves.take().unwrap_or_default();
        self.pressed = held_keys::put_back(&self.c, self.root, &slaves)?;
        self.slaves = Some(slaves).filter(|slaves| !slaves.is_empty());
        if !self.pressed.is_empty() {
            self.select()?;
        }
        self.c.sync().during(WHAT)
    }

    /// Cancels the link at the time limit and releases the devices, whatever hangs.
    fn expire(&mut self, escaped: bool) -> Result<()> {
        self.cancel(Reason::Watchdog);
        if !escaped {
            tracing::warn!("the guard releases the devices at its time limit");
        }
        self.overlay.hide(&self.c)?;
        self.ungrab()
    }

    pub(super) fn cancel(&self, reason: Reason) {
        if let Some(link) = self.machine.link() {
            link.cancel(reason);
        }
    }
}
