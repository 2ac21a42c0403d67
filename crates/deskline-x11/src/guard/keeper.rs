//! The guard's thread: it alone holds the connection that the devices are grabbed on.
//!
//! It waits for nothing that a link does. Whatever becomes of the link, the limit passes here, and
//! where the thread itself fails its connection goes with it, which frees the devices.

use std::os::fd::{AsFd as _, OwnedFd};
use std::path::Path;
use std::sync::mpsc::{Receiver, TryRecvError};
use std::time::{Duration, Instant};

use deskline_link::cancel::Reason;
use deskline_link::guard::{Grab, Task};
use deskline_link::{Cancel, Error, Result};
use deskline_unix::wait;
use rustix::event::{PollFd, PollFlags};
use x11rb::connection::Connection as _;
use x11rb::protocol::xkb::ConnectionExt as _;
use x11rb::protocol::xproto::Window;
use x11rb::wrapper::ConnectionExt as _;

use super::Order;
use super::devices::{self, Slave};
use super::held;
use crate::connection::{self, Connection};
use crate::overlay::Overlay;
use crate::{During as _, SLICE};

/// How long another program, such as another agent's guard, may have the devices grabbed.
const OTHERS: Duration = Duration::from_secs(3);

/// How long the end of the thread may wait for the person to let go of a modifier.
const LEAVE: Duration = Duration::from_secs(1);

/// An Esc that came when its link was over counts against the next, if that comes within this time.
const LATE: Duration = Duration::from_secs(10);

pub(super) const WHAT: &str = "guarding the person's devices";

/// Holding the person's devices.
pub(super) struct Hold {
    pub(super) grabbed: Vec<u16>,
    pub(super) cancel: Cancel,
    /// When the guard opens by itself.
    pub(super) until: Instant,
    /// Whether the person has pressed Esc, and `until` is no more than that the link is slow.
    pub(super) escaped: bool,
}

pub(super) struct Keeper {
    pub(super) c: Connection,
    pub(super) root: Window,
    /// What is known of the devices, until they change.
    pub(super) slaves: Option<Vec<Slave>>,
    pub(super) hold: Option<Hold>,
    /// Raised by Esc while nothing is held, until the link is over.
    pub(super) ear: Option<Cancel>,
    /// When the guard was last opened.
    pub(super) opened: Option<Instant>,
    /// When the person pressed Esc after the link that they meant was over.
    pub(super) late: Option<Instant>,
    /// Whether the person has pressed a key or a button since the link asked to watch them; `None`
    /// while it does not.
    pub(super) watched: Option<bool>,
    /// Modifiers that were pressed for the person by XTEST and that they still hold.
    pub(super) pressed: Vec<u8>,
    pub(super) overlay: Overlay,
}

/// The thread. Ends when the other side of `inbox` is dropped or the connection is lost.
pub(super) fn run(
    display: &str,
    xauthority: Option<&Path>,
    inbox: &Receiver<Order>,
    wake: &OwnedFd,
) {
    let mut keeper = match Keeper::connect(display, xauthority) {
        Ok(keeper) => keeper,
        Err(error) => {
            tracing::warn!(%error, "no guard");
            return;
        }
    };
    let ended = keeper.serve(inbox, wake);
    if let Some(hold) = keeper.hold.take() {
        hold.cancel.cancel(Reason::Unguarded);
    }
    if let Err(error) = ended {
        tracing::warn!(%error, "the guard ended");
    }
}

impl Keeper {
    fn connect(display: &str, xauthority: Option<&Path>) -> Result<Self> {
        let (c, screen) = connection::open(display, xauthority)?;
        let screen = c.setup().roots.get(screen).or(c.setup().roots.first());
        let root = screen.ok_or_else(|| Error::Unavailable(format!("{display} has no screen")))?;
        let root = root.root;
        c.xkb_use_extension(1, 0)
            .during(WHAT)?
            .reply()
            .during(WHAT)?;
        let mut keeper = Self {
            overlay: Overlay::new(root),
            root,
            slaves: None,
            hold: None,
            ear: None,
            opened: None,
            late: None,
            watched: None,
            pressed: vec![],
            c,
        };
        // The first link is not to wait for this.
        if let Ok(slaves) = devices::slaves(&keeper.c)? {
            keeper.slaves = Some(slaves);
            keeper.select()?;
        }
        keeper.overlay.warm();
        Ok(keeper)
    }

    fn serve(&mut self, inbox: &Receiver<Order>, wake: &OwnedFd) -> Result<()> {
        loop {
            while let Some(event) = self.c.poll_for_event().during(WHAT)? {
                self.event(&event)?;
            }
            match inbox.try_recv() {
                Ok(order) => {
                    self.obey(order)?;
                    continue;
                }
                Err(TryRecvError::Empty) => {}
                Err(TryRecvError::Disconnected) => return self.leave(),
            }
            if self
                .hold
                .as_ref()
                .is_some_and(|hold| Instant::now() >= hold.until)
            {
                self.expire()?;
            }
            self.c.flush().during(WHAT)?;
            self.wait(wake)?;
        }
    }

    /// Opens, and waits a moment for the person to let go of what was pressed for them: XTEST's own
    /// device must not keep it down.
    fn leave(&mut self) -> Result<()> {
        self.open()?;
        let until = Instant::now() + LEAVE;
        while !self.pressed.is_empty() && Instant::now() < until {
            while let Some(event) = self.c.poll_for_event().during(WHAT)? {
                self.event(&event)?;
            }
            let left = until.saturating_duration_since(Instant::now());
            wait::readable(self.c.stream(), left).map_err(Error::system(WHAT))?;
        }
        for code in std::mem::take(&mut self.pressed) {
            held::let_go(&self.c, code)?;
        }
        self.c.sync().during(WHAT)
    }

    /// Waits for an event, an order or the limit.
    fn wait(&self, wake: &OwnedFd) -> Result<()> {
        let hold = self.hold.as_ref();
        let left = hold.map(|hold| hold.until.saturating_duration_since(Instant::now()));
        let mut fds = [
            PollFd::from_borrowed_fd(self.c.stream().as_fd(), PollFlags::IN),
            PollFd::from_borrowed_fd(wake.as_fd(), PollFlags::IN),
        ];
        wait::any(&mut fds, left).map_err(Error::system(WHAT))?;
        // The counter is all there is to read; that there is none is what it usually says.
        let _ = rustix::io::read(wake, &mut [0; 8]);
        Ok(())
    }

    fn obey(&mut self, order: Order) -> Result<()> {
        // That nobody waits for a reply any more is not the thread's concern.
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
                self.watched = Some(false);
                self.select()?;
                // What was pressed before this does not count.
                self.c.sync().during(WHAT)?;
                while let Some(event) = self.c.poll_for_event().during(WHAT)? {
                    self.event(&event)?;
                }
                self.watched = Some(false);
            }
            Order::Pressed(reply) => {
                self.c.sync().during(WHAT)?;
                while let Some(event) = self.c.poll_for_event().during(WHAT)? {
                    self.event(&event)?;
                }
                let known = self.slaves.is_some() || devices::slaves(&self.c)?.is_ok();
                let _ = reply.send(self.watched.filter(|_| known));
            }
            Order::Rest => {
                self.ear = None;
                let watched = self.watched.take().is_some();
                if !self.in_grace() {
                    self.opened = None;
                    self.select()?;
                } else if watched {
                    self.select()?;
                }
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

    /// Keeps the person's input out.
    fn close(&mut self, task: &Task, cancel: &Cancel) -> Result<Grab> {
        if self.hold.is_some() {
            return Ok(Grab::Held);
        }
        if self.late.take().is_some_and(|late| late.elapsed() < LATE) {
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
        let grabbed = self.grab(&ids, cancel)?;
        self.ear = None;
        self.opened = None;
        self.pressed.clear();
        self.hold = Some(Hold {
            grabbed,
            cancel: cancel.clone(),
            until: Instant::now() + task.limit,
            escaped: false,
        });
        held::release(&self.c, &slaves)?;
        // Raw events of the agent's own keys would only wake this thread.
        self.select()?;
        self.c.sync().during(WHAT)?;
        Ok(Grab::Held)
    }

    /// Grabs the devices, all of them or none.
    fn grab(&self, ids: &[u16], cancel: &Cancel) -> Result<Vec<u16>> {
        let start = Instant::now();
        loop {
            let (grabbed, all) = devices::grab(&self.c, self.root, ids)?;
            if all {
                return Ok(grabbed);
            }
            devices::ungrab(&self.c, &grabbed)?;
            self.c.flush().during(WHAT)?;
            if start.elapsed() >= OTHERS {
                return Err(Error::Input(format!(
                    "another program, perhaps another agent, has held the user's keyboard or pointer for {} s, so that they could not be kept apart from this input. Nothing was sent; try again",
                    OTHERS.as_secs()
                )));
            }
            // The server does not tell when another client lets go.
            cancel.wait(SLICE)?;
        }
    }

    /// Lets the person's input in, and listens for their Esc from here on.
    fn open(&mut self) -> Result<()> {
        self.overlay.hide(&self.c)?;
        let Some(hold) = self.hold.take() else {
            return self.c.flush().during(WHAT);
        };
        devices::ungrab(&self.c, &hold.grabbed)?;
        self.ear = Some(hold.cancel);
        self.opened = Some(Instant::now());
        self.select()?;
        let slaves = self.slaves.take().unwrap_or_default();
        self.pressed = held::put_back(&self.c, self.root, &slaves)?;
        self.slaves = Some(slaves).filter(|slaves| !slaves.is_empty());
        if !self.pressed.is_empty() {
            self.select()?;
        }
        self.c.sync().during(WHAT)
    }

    /// The limit has passed: the link is stopped, and whatever hangs, the guard opens.
    fn expire(&mut self) -> Result<()> {
        if let Some(hold) = &self.hold {
            hold.cancel.cancel(Reason::Watchdog);
            if !hold.escaped {
                tracing::warn!("the guard has held for its limit, and opens");
            }
        }
        self.open()
    }
}
