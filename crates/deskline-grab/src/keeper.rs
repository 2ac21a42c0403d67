//! The keeper: opens the person's devices while a link needs them, grabs and releases them, as
//! ordered on a socket.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use deskline_unix::codes::{BUTTONS, ESCAPE, MODIFIERS};
use deskline_unix::hold::{Expired, Holding};
use deskline_unix::wait;
use rustix::event::{PollFd, PollFlags};

use crate::device::{Device, Node, Opened, Source, Stroke};
use crate::message::{Order, Outcome, Report, Seen, receive, send};
use crate::place::Place;

/// How long the person may take to release held keys. The compositor does not see the release of a
/// key on a grabbed device, so it would keep repeating the key.
const RELEASE_WAIT: Duration = Duration::from_millis(500);

/// How often to look for devices that were plugged in, and whether the grab is still allowed.
const LOOK: Duration = Duration::from_millis(250);

/// How long the server may take after Esc to restore the desktop. Then the devices are released,
/// whatever the server does.
const RESTORE_TIME: Duration = Duration::from_millis(500);

/// Nothing is grabbed for this long after Esc.
const PAUSE: Duration = Duration::from_secs(1);

/// One of the person's devices.
struct Theirs {
    device: Box<dyn Device>,
    grabbed: bool,
    down: BTreeSet<u32>,
}

impl Theirs {
    fn poll(&self) -> PollFd<'_> {
        PollFd::from_borrowed_fd(self.device.fd(), PollFlags::IN)
    }
}

/// A grab that waits until the person holds no key and no button.
struct Wanted {
    link: u32,
    pointer: bool,
    limit: Duration,
    /// When to grab without the devices with held keys.
    until: Instant,
}

struct Keeper<S> {
    source: S,
    place: Place,
    socket: OwnedFd,
    devices: BTreeMap<Node, Theirs>,
    /// Devices that are neither keyboards nor pointers, and need not be opened again.
    others: BTreeSet<Node>,
    /// How many devices may not be read.
    closed: usize,
    wanted: Option<Wanted>,
    /// The grab, for a link.
    hold: Holding<u32>,
    /// The link that Esc cancels, whether or not a grab is held.
    link: Option<u32>,
    /// No grab before this time.
    pause: Option<Instant>,
    /// Whether the person has pressed a key or button since the link began to watch; `None` if it
    /// does not watch.
    watched: Option<bool>,
}

/// Executes orders until the server has gone.
///
/// # Errors
///
/// If the server sends an invalid order or reads no answers, or if the system fails. The devices
/// are released and closed in each case.
pub(crate) fn serve(source: impl Source, place: Place, socket: OwnedFd) -> io::Result<()> {
    let mut keeper = Keeper {
        source,
        place,
        socket,
        devices: BTreeMap::new(),
        others: BTreeSet::new(),
        closed: 0,
        wanted: None,
        hold: Holding::default(),
        link: None,
        pause: None,
        watched: None,
    };
    let served = keeper.serve();
    keeper.release();
    match served {
        Err(end) if end.kind() == io::ErrorKind::UnexpectedEof => Ok(()),
        served => served,
    }
}

/// Counts the devices. Grabs no device and reads no event.
pub fn count(source: &dyn Source) -> Seen {
    let (mut readable, mut closed) = (0_u16, 0_u16);
    for node in source.nodes().unwrap_or_default() {
        match source.open(&node.name) {
            Opened::Theirs(_) => readable = readable.saturating_add(1),
            Opened::Closed => closed = closed.saturating_add(1),
            Opened::Other | Opened::Gone => {}
        }
    }
    Seen {
        readable,
        closed,
        allowed: true,
    }
}

impl<S: Source> Keeper<S> {
    fn serve(&mut self) -> io::Result<()> {
        let mut looked = Instant::now();
        loop {
            self.read()?;
            if let Some(order) = receive(&self.socket, false)? {
                self.obey(order)?;
                continue;
            }
            self.grab_wanted()?;
            if let Some(expired) = self.hold.expire(Instant::now()) {
                self.expire(&expired)?;
            }
            if self.hold.is_held() && looked.elapsed() >= LOOK {
                looked = Instant::now();
                self.look()?;
            }
            self.wait()?;
        }
    }

    /// Waits for a stroke, an order, a deadline, or the time to look at the devices.
    fn wait(&self) -> io::Result<()> {
        let now = Instant::now();
        let hold = self.hold.left(now).map(|left| left.min(LOOK));
        let wanted = self.wanted.as_ref();
        let wanted = wanted.map(|wanted| wanted.until.saturating_duration_since(now));
        let mut fds = vec![PollFd::from_borrowed_fd(self.socket.as_fd(), PollFlags::IN)];
        fds.extend(self.devices.values().map(Theirs::poll));
        wait::any(&mut fds, hold.into_iter().chain(wanted).min()).map(drop)
    }

    fn report(&self, report: Report) -> io::Result<()> {
        send(&self.socket, report)
    }

    fn obey(&mut self, order: Order) -> io::Result<()> {
        match order {
            Order::Look => {
                let seen = Seen {
                    allowed: self.place.allowed(),
                    ..count(&self.source)
                };
                self.report(Report::Seen(seen))
            }
            Order::Grab {
                link,
                pointer,
                limit,
            } => self.want(link, pointer, limit),
            Order::Release => {
                self.release();
                self.report(Report::Released)
            }
            Order::Watch => {
                self.watched = None;
                if self.place.allowed() {
                    self.find();
                    self.watched = (!self.devices.is_empty()).then_some(false);
                }
                Ok(())
            }
            Order::Pressed => {
                self.watched = self.watched.filter(|_| self.place.allowed());
                self.report(Report::Pressed(self.watched))
            }
            Order::Rest => {
                self.release();
                self.link = None;
                self.watched = None;
                self.devices.clear();
                Ok(())
            }
        }
    }

    fn want(&mut self, link: u32, pointer: bool, limit: Duration) -> io::Result<()> {
        if self.hold.is_held() {
            return self.report(Report::Grabbed(self.outcome()));
        }
        if !self.place.allowed() {
            return self.report(Report::Grabbed(Outcome::NotAtSeat));
        }
        self.find();
        self.read()?;
        for theirs in self.devices.values_mut() {
            // The kernel drops strokes that were not read in time.
            theirs.down = theirs.device.down().unwrap_or_default();
        }
        self.link = Some(link);
        self.wanted = Some(Wanted {
            link,
            pointer,
            limit,
            until: Instant::now() + RELEASE_WAIT,
        });
        Ok(())
    }

    /// Grabs the devices if a grab is pending and the person holds no key any more, or has held a
    /// key for too long.
    fn grab_wanted(&mut self) -> io::Result<()> {
        let holds = self.devices.values().any(|theirs| !theirs.down.is_empty());
        let now = Instant::now();
        let paused = self.pause.is_some_and(|pause| now < pause);
        let ripe = |wanted: &mut Wanted| paused || !holds || now >= wanted.until;
        let Some(wanted) = self.wanted.take_if(ripe) else {
            return Ok(());
        };
        let outcome = self.grab(&wanted, paused)?;
        self.report(Report::Grabbed(outcome))
    }

    fn grab(&mut self, wanted: &Wanted, paused: bool) -> io::Result<Outcome> {
        if paused {
            return Ok(Outcome::Escaped);
        }
        let pressed = |theirs: &Theirs| theirs.down.iter().any(|key| BUTTONS.contains(key));
        if wanted.pointer && self.devices.values().any(pressed) {
            return Ok(Outcome::ButtonDown);
        }
        let limit = wanted.limit.min(self.place.most);
        self.place.holds(Some(limit))?;
        self.grab_new();
        if self.devices.values().any(|theirs| theirs.grabbed) {
            self.hold.grab(wanted.link, limit, Instant::now());
        } else {
            self.place.holds(None)?;
        }
        Ok(self.outcome())
    }

    /// Which devices are grabbed, and why not all.
    fn outcome(&self) -> Outcome {
        let grabbed = self
            .devices
            .values()
            .filter(|theirs| theirs.grabbed)
            .count();
        let free = self.devices.len() - grabbed;
        match (grabbed, free, self.closed) {
            (0, 0, 0) => Outcome::NoDevice,
            (0, 0, _) => Outcome::Unreadable,
            (0, ..) => Outcome::KeyDown,
            (_, 0, 0) => Outcome::Held,
            (_, 0, closed) => Outcome::Closed(closed.try_into().unwrap_or(u16::MAX)),
            _ => Outcome::HeldBut,
        }
    }

    /// Opens the devices that are not open yet.
    fn find(&mut self) {
        let nodes = self.source.nodes().unwrap_or_default();
        self.devices.retain(|node, _| nodes.contains(node));
        self.others.retain(|node| nodes.contains(node));
        self.closed = 0;
        for node in nodes {
            if self.devices.contains_key(&node) || self.others.contains(&node) {
                continue;
            }
            match self.source.open(&node.name) {
                Opened::Theirs(device) => {
                    let down = device.down().unwrap_or_default();
                    let theirs = Theirs {
                        device,
                        grabbed: false,
                        down,
                    };
                    self.devices.insert(node, theirs);
                }
                Opened::Other => {
                    self.others.insert(node);
                }
                Opened::Closed => self.closed += 1,
                Opened::Gone => {}
            }
        }
    }

    /// During a grab: grabs devices that were plugged in, and checks that the grab is still
    /// allowed.
    fn look(&mut self) -> io::Result<()> {
        if self.place.allowed() {
            self.find();
            self.grab_new();
            return Ok(());
        }
        let link = self.hold.link().copied();
        self.release();
        link.map_or(Ok(()), |link| self.report(Report::Lost(link)))
    }

    /// Grabs every device on which no key is held. Closes a device that another process has
    /// grabbed, such as a key remapper: apps see only the remapper's own virtual device.
    fn grab_new(&mut self) {
        self.devices.retain(|_, theirs| {
            if !theirs.grabbed && theirs.down.is_empty() {
                theirs.grabbed = theirs.device.grab().is_ok();
                return theirs.grabbed;
            }
            true
        });
    }

    /// Ends the grab, or the wait for one.
    fn release(&mut self) {
        self.wanted = None;
        if self.hold.release().is_some() {
            self.ungrab();
        }
    }

    fn ungrab(&mut self) {
        self.devices.retain(|_, theirs| {
            // Closing the device releases it too.
            !std::mem::take(&mut theirs.grabbed) || theirs.device.ungrab().is_ok()
        });
        // If the timer cannot be stopped, it kills a process that holds no grab.
        let _ = self.place.holds(None);
    }

    /// Ends the grab at the limit, whatever the link does.
    fn expire(&mut self, expired: &Expired<u32>) -> io::Result<()> {
        self.wanted = None;
        self.ungrab();
        if expired.escaped {
            return Ok(());
        }
        self.report(Report::Limit(expired.link))
    }

    /// Reads the person's strokes. Drops a device that fails.
    fn read(&mut self) -> io::Result<()> {
        let mut strokes = Vec::new();
        self.devices
            .retain(|node, theirs| match theirs.device.strokes() {
                Ok(new) => {
                    strokes.extend(new.into_iter().map(|stroke| (node.clone(), stroke)));
                    true
                }
                Err(_) => false,
            });
        for (node, stroke) in strokes {
            self.stroke(&node, stroke)?;
        }
        Ok(())
    }

    /// Handles a stroke. Strokes come in order, because only the modifiers held at the time of an
    /// Esc count.
    fn stroke(&mut self, node: &Node, stroke: Stroke) -> io::Result<()> {
        let Some(theirs) = self.devices.get_mut(node) else {
            return Ok(());
        };
        if !stroke.down {
            theirs.down.remove(&stroke.key);
            return Ok(());
        }
        theirs.down.insert(stroke.key);
        if !theirs.grabbed {
            self.watched = self.watched.map(|_| true);
        }
        if stroke.key == ESCAPE && !self.modified() {
            return self.escape();
        }
        Ok(())
    }

    /// Whether the person holds a modifier.
    fn modified(&self) -> bool {
        let mut down = self.devices.values().flat_map(|theirs| &theirs.down);
        down.any(|key| MODIFIERS.contains(key))
    }

    fn escape(&mut self) -> io::Result<()> {
        let Some(link) = self.link.filter(|_| self.place.allowed()) else {
            return Ok(());
        };
        let now = Instant::now();
        self.pause = Some(now + PAUSE);
        self.hold.escape(RESTORE_TIME, now);
        self.report(Report::Escape(link))
    }
}
