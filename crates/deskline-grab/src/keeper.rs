//! The keeper opens the person's devices while a link needs them, and grabs and releases them as
//! ordered on a socket.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::{Duration, Instant};

use deskline_guard::{Machine, Role};
use deskline_unix::codes::{self, BUTTONS};
use deskline_unix::wait;
use rustix::event::{PollFd, PollFlags};

use crate::device::{Device, Node, Opened, Source, Stroke};
use crate::message::{Order, Outcome, Report, Seen, receive, send};
use crate::place::Place;

/// How long a grab waits for the person to release held keys. On a grabbed device the compositor
/// would not see the release, so it would keep repeating the key.
const RELEASE_WAIT: Duration = Duration::from_millis(500);

/// How often to look for newly plugged devices, and to check that the grab is still allowed.
const LOOK: Duration = Duration::from_millis(250);

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
    pointer: bool,
    limit: Duration,
    /// When to stop waiting, and to grab only the devices on which no key is held.
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
    machine: Machine<u32>,
    /// No grab before this time.
    pause: Option<Instant>,
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
        machine: Machine::default(),
        pause: None,
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
            if let Some(escaped) = self.machine.expire(Instant::now()) {
                self.expire(escaped)?;
            }
            if self.machine.is_held() && looked.elapsed() >= LOOK {
                looked = Instant::now();
                self.look()?;
            }
            self.wait()?;
        }
    }

    /// Waits for a stroke, an order, a deadline, or the time to look at the devices.
    fn wait(&self) -> io::Result<()> {
        let now = Instant::now();
        let hold = self.machine.left(now).map(|left| left.min(LOOK));
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
                let allowed = self.place.allowed();
                if allowed {
                    self.find();
                }
                self.machine.watch(allowed && !self.devices.is_empty());
                Ok(())
            }
            Order::Pressed => {
                if !self.place.allowed() {
                    self.machine.watch(false);
                }
                self.report(Report::Pressed(self.machine.pressed()))
            }
            Order::Rest => {
                self.release();
                self.machine.end();
                self.devices.clear();
                Ok(())
            }
        }
    }

    fn want(&mut self, link: u32, pointer: bool, limit: Duration) -> io::Result<()> {
        if self.machine.is_held() {
            return self.report(Report::Grabbed(self.outcome()));
        }
        if !self.place.allowed() {
            return self.report(Report::Grabbed(Outcome::NotAtSeat));
        }
        self.find();
        self.read()?;
        for theirs in self.devices.values_mut() {
            // The strokes may be incomplete: the kernel drops those that were not read in time.
            theirs.down = theirs.device.down().unwrap_or_default();
        }
        let now = Instant::now();
        if !self.machine.begin(link, now) {
            return self.report(Report::Grabbed(Outcome::Escaped));
        }
        self.wanted = Some(Wanted {
            pointer,
            limit,
            until: now + RELEASE_WAIT,
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
        if let Some(outcome) = self.grab(&wanted, paused)? {
            return self.report(Report::Grabbed(outcome));
        }
        self.wanted = Some(wanted);
        Ok(())
    }

    /// Grabs the devices. `None`: the person has just pressed a key, so the grab waits for its
    /// release.
    fn grab(&mut self, wanted: &Wanted, paused: bool) -> io::Result<Option<Outcome>> {
        if paused {
            return Ok(Some(Outcome::Escaped));
        }
        let pressed = |theirs: &Theirs| theirs.down.iter().any(|key| BUTTONS.contains(key));
        if wanted.pointer && self.devices.values().any(pressed) {
            return Ok(Some(Outcome::ButtonDown));
        }
        let limit = wanted.limit.min(self.place.most);
        self.place.holds(Some(limit))?;
        let now = Instant::now();
        if self.grab_new() && now < wanted.until {
            self.ungrab();
            return Ok(None);
        }
        if self.devices.values().any(|theirs| theirs.grabbed) {
            self.machine.take(limit, now);
        } else {
            self.place.holds(None)?;
        }
        Ok(Some(self.outcome()))
    }

    /// Which devices are grabbed, and why the others are not.
    fn outcome(&self) -> Outcome {
        let grabbed = self.devices.values().filter(|d| d.grabbed).count();
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

    /// Called during a grab. Grabs devices that were plugged in, and checks that the grab is still
    /// allowed.
    fn look(&mut self) -> io::Result<()> {
        if self.place.allowed() {
            self.find();
            self.grab_new();
            return Ok(());
        }
        let link = self.machine.link().copied();
        self.release();
        link.map_or(Ok(()), |link| self.report(Report::Lost(link)))
    }

    /// Grabs every device on which no key is held. Closes a device that another process, such as a
    /// key remapper, has grabbed: apps see only the remapper's virtual device. Returns whether a
    /// key went down before a grab took effect: the compositor has seen that press, and must see
    /// the release.
    fn grab_new(&mut self) -> bool {
        let mut late = false;
        self.devices.retain(|_, theirs| {
            if theirs.grabbed || !theirs.down.is_empty() {
                return true;
            }
            if theirs.device.grab().is_err() {
                return false;
            }
            theirs.down = theirs.device.down().unwrap_or_default();
            theirs.grabbed = theirs.down.is_empty();
            late |= !theirs.grabbed;
            theirs.grabbed || theirs.device.ungrab().is_ok()
        });
        late
    }

    /// Ends the grab, or the wait for a grab.
    fn release(&mut self) {
        self.wanted = None;
        if self.machine.release(Instant::now()) {
            self.ungrab();
        }
    }

    fn ungrab(&mut self) {
        self.devices.retain(|_, theirs| {
            // A device that cannot be ungrabbed is closed, which releases it too.
            !std::mem::take(&mut theirs.grabbed) || theirs.device.ungrab().is_ok()
        });
        // If the timer cannot be stopped, it kills this process, which holds no grab any more.
        let _ = self.place.holds(None);
    }

    /// Ends the grab at the limit, whatever the link does.
    fn expire(&mut self, escaped: bool) -> io::Result<()> {
        self.wanted = None;
        self.ungrab();
        let link = self.machine.link().filter(|_| !escaped);
        link.map_or(Ok(()), |link| self.report(Report::Limit(*link)))
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

    /// Handles a stroke. The caller passes strokes in their order, because only the modifiers held
    /// at the time of an Esc count.
    fn stroke(&mut self, node: &Node, stroke: Stroke) -> io::Result<()> {
        let Some(theirs) = self.devices.get_mut(node) else {
            return Ok(());
        };
        if stroke.down {
            theirs.down.insert(stroke.key);
        } else {
            theirs.down.remove(&stroke.key);
        }
        if stroke.down && !theirs.grabbed {
            self.machine.press_passed();
        }
        let (now, event) = (Instant::now(), codes::event(stroke.key, stroke.down));
        self.machine.hold_modifiers(self.modifiers());
        if !self.machine.event(event, now).cancel || !self.place.allowed() {
            return Ok(());
        }
        self.pause = Some(now + PAUSE);
        let link = self.machine.link();
        link.map_or(Ok(()), |link| self.report(Report::Escape(*link)))
    }

    /// The modifiers that the person holds on any device.
    fn modifiers(&self) -> u16 {
        let down = self.devices.values().flat_map(|theirs| &theirs.down);
        down.fold(0, |held, key| match codes::role(*key) {
            Role::Modifier(bit) => held | bit,
            _ => held,
        })
    }
}
