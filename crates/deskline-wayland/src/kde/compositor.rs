//! KWin as a [`Compositor`].

use deskline_contract::{
    Aim, Cancel, Error, Missing, Offer, Picture, PictureNature, Pictures, Pointer, Raising, Result,
    Window, WindowId, Workspaces, wait,
};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use deskline_contract::doctor::Fix;
use deskline_contract::guard::{Grab, Guards, Task};
use deskline_core::Point;
use deskline_input::Part;

use super::bus::Bus;
use super::guard::{self, Guard};
use super::input_method::InputMethod;
use super::picture::{self, Access};
use super::script::Scripts;
use super::windows::{self, Screen};
use crate::compositor::{
    BoxedPort, Compositor, Findings, Gate, Input, Listing, Located, Manner, await_front, gone, plus,
};
use crate::display::WaylandDisplay;
use crate::eis::Eis;
use crate::events::Sent;
use crate::focus::Keyboard;
use crate::helper::Lingering;
use crate::listed::{Kind, Listed};
use crate::wlroots::client::lost;

/// How long KWin may take to bring a window to the front.
const RAISES: Duration = Duration::from_secs(1);

/// How often to check whether KWin has brought the window to the front.
const LOOK: Duration = Duration::from_millis(5);

/// How long apps may take to bind a device that is the seat's first of its kind.
const ASK: Duration = Duration::from_millis(300);

/// Why an older KWin takes no input, as a clause.
const TOO_OLD: &str = "KWin takes input from other programs as of Plasma 6. For pointer and keys \
    choose Plasma (X11) at login";

/// A KWin session as the display of a link.
pub type KdeDisplay = WaylandDisplay<Kde>;

/// A KWin session.
pub struct Kde {
    bus: Bus,
    /// KWin's socket.
    socket: PathBuf,
    scripts: Scripts,
    /// Created by [`KdeDisplay`]'s `prepare` or when first needed: `doctor` and reading create no
    /// devices.
    events: Option<Eis>,
    lingering: Option<Lingering>,
    method: InputMethod,
    /// When we gave the seat its first device of a kind; `None` once apps have had time to bind it.
    new_since: Option<Instant>,
    /// `Ok` if KWin takes input, otherwise the reason why not.
    input: Offer<()>,
    has_guard: bool,
    pictures: Access,
    guard: Option<Guard>,
    /// Where the link has put the pointer, while the guard keeps the pointer at the screen's edge.
    parked: Point,
    /// The pixel that the last input left the pointer in.
    left: Option<Point>,
    /// The pixel that events have moved the pointer to since the guard was opened.
    went: Option<Point>,
    /// Whether the guard is open for events.
    opened: bool,
    /// Whether there are several screens.
    several: bool,
}

impl KdeDisplay {
    /// Connects to the KWin that is process `pid` and listens on `socket`, over the session bus at
    /// `address`. `folder` is the user's runtime directory.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] if KWin is not on that bus, [`Error::Lost`] if it runs no scripts.
    pub fn connect(address: &str, pid: u32, folder: &Path, socket: &Path) -> Result<Self> {
        let bus = Bus::connect(address, pid)?;
        let mut scripts = Scripts::new(bus.clone(), folder)?;
        Screen::look(&mut scripts)?;
        Ok(Self::new(Kde {
            input: bus.has_input().then_some(()).ok_or(Missing::new(TOO_OLD)),
            has_guard: guard::offered(&bus),
            pictures: Access::ask(&bus.connection, Some(&bus.kwin)),
            bus,
            socket: socket.to_owned(),
            scripts,
            events: None,
            lingering: None,
            method: InputMethod::default(),
            new_since: None,
            guard: None,
            parked: Point { x: 0, y: 0 },
            left: None,
            went: None,
            opened: false,
            several: false,
        }))
    }
}

impl Kde {
    fn screen(&mut self) -> Result<Screen> {
        Screen::look(&mut self.scripts)
    }

    /// Takes the keys of this app from KWin's input method. Returns whether that took some time.
    fn take_keys(&mut self, app: u32) -> Result<bool> {
        self.method.take_keys(app, (&self.bus, &self.socket))
    }

    /// Keeps this connection's D-Bus and EIS sockets open for a while after this process has ended.
    /// When they close, KWin releases the keys that are down. But if the guard's process is killed
    /// at the same moment, KWin learns of that later, and until then the capture would swallow the
    /// releases.
    fn linger(&self, socket: BorrowedFd<'_>) -> Option<Lingering> {
        let bus = self.bus.socket.as_ref().filter(|_| self.has_guard)?;
        let bus = bus.try_clone().map(OwnedFd::from);
        let started = bus.and_then(|bus| Lingering::start([bus, socket.try_clone_to_owned()?]));
        started
            .inspect_err(|e| tracing::warn!("keys may stay down if this process is killed: {e}"))
            .ok()
    }

    fn events(&mut self) -> Result<&mut Eis> {
        let events = if let Some(events) = self.events.take() {
            events
        } else {
            let had = self.bus.has_devices();
            let socket = self.bus.input()?;
            self.lingering = self.linger(socket.as_fd());
            let mut eis = Eis::connect(socket.into(), true)?;
            // The EIS of KWin 6.1 to 6.3 does not report the keymap's active group.
            let bus = self.bus.clone();
            if !had {
                self.new_since = Some(Instant::now());
            }
            eis.group = Some(Box::new(move || bus.layout()));
            eis
        };
        Ok(self.events.insert(events))
    }

    /// Waits until apps have had time to bind devices that are new to the seat.
    fn introduce(&mut self) {
        if let Some(since) = self.new_since.take() {
            // No event reports that apps have bound a device.
            wait::pause(ASK.saturating_sub(since.elapsed()));
        }
    }

    /// Whether the person's input is captured, so that the gate must be opened for our input.
    fn guards(&self) -> bool {
        self.guard.as_ref().is_some_and(Guard::holds)
    }

    /// The pixel of the pointer. KWin rounds, so it reports a pointer in the middle of a pixel at
    /// the next pixel.
    fn pixel(&self, reported: Point) -> Point {
        let left = self.left.filter(|left| next(*left) == reported);
        left.unwrap_or(reported)
    }

    /// The exact position of a pointer in this pixel.
    fn place(&self, at: Point) -> (f64, f64) {
        let middle = self.left == Some(at);
        let offset = if middle {
            Located::MIDDLE.offset
        } else {
            (0.0, 0.0)
        };
        plus(at, offset)
    }
}

/// The pixel diagonally below this one, to the right.
fn next(at: Point) -> Point {
    Point::at(at.x + 1, at.y + 1)
}

impl Gate for Kde {
    fn open(&mut self) -> Result<()> {
        if !self.guards() {
            return Ok(());
        }
        self.events()?;
        self.introduce();
        let at = self.place(self.parked);
        if let Some(guard) = &mut self.guard {
            guard.open(at)?;
            self.opened = true;
        }
        Ok(())
    }

    fn close(&mut self) -> Result<()> {
        if let Some(at) = self.went.take() {
            (self.left, self.parked) = (Some(at), at);
        }
        let opened = std::mem::take(&mut self.opened);
        match (&mut self.guard, self.events.as_mut()) {
            (Some(guard), Some(events)) if opened => guard.close(events),
            _ => Ok(()),
        }
    }

    /// Moves the pointer to the pixel's corner. In the middle, KWin would report the next pixel.
    fn put_pointer(&mut self, to: Point) -> Result<()> {
        let opened = self.open();
        let moved = opened.and_then(|()| self.devices((0.0, 0.0))?.go(to));
        let closed = self.close();
        self.left = None;
        moved.and(closed)
    }
}

impl Raising for Kde {
    fn activate(&mut self, id: WindowId, cancel: &Cancel) -> Result<()> {
        let screen = self.screen()?;
        let wanted = screen.windows.iter().find(|w| w.id == id.0);
        let wanted = wanted.ok_or_else(gone)?;
        if wanted.kind.stays_behind() {
            return Ok(());
        }
        if !windows::done_to(&mut self.scripts, wanted, windows::RAISE)? {
            return Err(gone());
        }
        let failure = "KWin did not bring the window to the front";
        await_front(id, (failure, RAISES, LOOK), cancel, || {
            Ok(self.screen()?.active().map(|window| WindowId(window.id)))
        })
    }
}

impl Workspaces for Kde {
    fn workspace(&mut self) -> Result<Option<u32>> {
        Ok(Some(self.screen()?.desktop))
    }

    fn put_away(&mut self, window: &Window) -> Result<()> {
        let screen = self.screen()?;
        if let Some(window) = screen.windows.iter().find(|w| w.id == window.id.0) {
            windows::done_to(&mut self.scripts, window, windows::MINIMISE)?;
        }
        Ok(())
    }

    fn show_workspace(&mut self, workspace: u32, _: &Cancel) -> Result<()> {
        if !windows::show_desktop(&mut self.scripts, workspace)? {
            return Err(Error::system("switching desktops")("KWin did not switch"));
        }
        Ok(())
    }
}

impl Pictures for Kde {
    /// The picture has no pop-ups of the app, because they are windows of their own.
    fn picture(&mut self, id: WindowId) -> Result<Picture> {
        let screen = self.screen()?;
        let window = screen.windows.iter().find(|w| w.id == id.0);
        let window = window.ok_or_else(|| Error::NoPicture("the window has been closed".into()))?;
        let content = window.content;
        let origin = Point::at(content.x, content.y);
        let kwin = Some(self.bus.kwin.as_str());
        picture::take(&self.bus.connection, kwin, &window.own, origin)
    }

    fn nature(&self) -> PictureNature {
        PictureNature::Quick
    }
}

impl Compositor for Kde {
    fn takes(&self, _: Input) -> Offer<()> {
        self.input.clone()
    }

    /// The parts of a text are long, because a check of the focus and the opening of the guard take
    /// KWin some milliseconds each.
    fn manner(&self) -> Manner<'_> {
        Manner {
            part: Part {
                least: 48,
                most: 80,
            },
            types_at_once: self.guards(),
            ..Manner::PLAIN
        }
    }

    fn prepare(&mut self) -> Result<bool> {
        if self.input.is_err() || self.bus.has_devices() {
            return Ok(false);
        }
        self.events().map(|_| true)
    }

    fn windows(&mut self) -> Result<Listing> {
        Ok(Listing::listed(self.screen()?.windows))
    }

    fn popup_open(&mut self, pid: u32) -> Result<Option<bool>> {
        let windows = self.screen()?.windows;
        let is = |w: &Listed<String>| w.kind == Kind::Popup && w.pid == pid;
        Ok(Some(windows.iter().any(is)))
    }

    fn keys_taken_in(&self) -> Option<u32> {
        self.method.taken_in
    }

    fn give_keys_back(&mut self, to_text: bool) {
        self.method.give_back(&self.bus, to_text);
    }

    fn keyboard(&mut self, aim: Option<Aim>, _: &Cancel) -> Result<Keyboard> {
        let mut screen = self.screen()?;
        let pid = screen.active().map(|active| active.pid);
        if let Some(pid) = pid.filter(|pid| aim.is_some_and(|aim| aim.pid == *pid))
            && self.take_keys(pid)?
        {
            screen = self.screen()?;
        }
        let Some(active) = screen.active() else {
            return Ok(Keyboard::Nobody);
        };
        // A window stays active under KWin's lock screen.
        if aim.is_none_or(|aim| aim.pid == active.pid) && self.bus.is_locked() {
            return Ok(Keyboard::Nobody);
        }
        Ok(active.keyboard())
    }

    fn pointer(&mut self) -> Result<Option<Pointer>> {
        let at = if self.guards() {
            self.parked
        } else {
            let reported = self.screen()?.pointer;
            self.pixel(reported)
        };
        // KWin does not report pressed buttons to scripts.
        Ok(Some(Pointer { at, pressed: false }))
    }

    fn over(&mut self, at: Point, aim: Aim) -> Result<Option<Window>> {
        let screen = self.screen()?;
        let there = screen.at(at).filter(|w| w.pid != aim.pid);
        Ok(there.map(|w| w.window()))
    }

    fn ready(&mut self) -> Result<()> {
        self.method.find(&self.bus);
        self.events().map(drop)
    }

    fn devices(&mut self, offset: (f64, f64)) -> Result<BoxedPort<'_>> {
        self.events()?;
        self.introduce();
        let events = self.events.as_mut();
        Ok(Box::new(Sent {
            events: events.ok_or_else(|| lost("KWin took no devices"))?,
            offset,
            went: Some(&mut self.went),
        }))
    }

    fn workspaces(&mut self) -> Option<&mut dyn Workspaces> {
        Some(self)
    }

    fn pictures(&mut self) -> Offer<&mut dyn Pictures> {
        self.pictures.offered()?;
        Ok(self)
    }

    fn gate(&mut self) -> Option<&mut dyn Gate> {
        Some(self)
    }

    fn guard(&mut self) -> Offer<&mut dyn Guards> {
        if !self.has_guard {
            return Err(Missing::new(
                "this KWin lacks org.kde.KWin.EIS.InputCapture, which comes with Plasma 6",
            ));
        }
        Ok(self)
    }

    fn findings(&mut self) -> Findings {
        let no_pictures = self.pictures == Access::NotKnown;
        let found = Findings::by_protocols(self.guard());
        Findings {
            guard: found.guard.map(|_| {
                "KWin's input capture. Esc cancels, Super+Shift+Esc ends it; while an \
                agent's own input is sent, a few milliseconds at a time, the user's passes too"
                    .into()
            }),
            has_reasons: self.input.is_err(),
            mends_pictures: no_pictures.then_some(Fix::KwinFile),
            ..found
        }
    }
}

impl Guards for Kde {
    fn grab(&mut self, task: &Task, cancel: &Cancel) -> Result<Grab> {
        if self.guards() {
            return Ok(Grab::Held);
        }
        let screen = self.screen()?;
        let leftmost = screen.screens.iter().min_by_key(|s| s.x).copied();
        (self.parked, self.several) = (self.pixel(screen.pointer), screen.screens.len() > 1);
        self.events()?;
        let alive = self.guard.take().and_then(Guard::if_alive);
        let guard = alive.map_or_else(|| Guard::start(&self.bus), Ok);
        let (guard, leftmost, events) = match (guard, leftmost, self.events.as_mut()) {
            (Ok(guard), Some(leftmost), Some(events)) => (guard, leftmost, events),
            (Err(e), ..) => return Ok(Grab::Unable(e.to_string())),
            _ => return Ok(Grab::Unable("KWin lists no screen".into())),
        };
        let guard = self.guard.insert(guard);
        match guard.begin(events, leftmost, task.limit, cancel) {
            Ok(()) => Ok(Grab::Held),
            Err(e) => {
                self.ungrab();
                // Do not use a failed guard again.
                self.guard = None;
                match e {
                    Error::Cancelled(_) => Err(e),
                    e => Ok(Grab::Unable(e.to_string())),
                }
            }
        }
    }

    fn ungrab(&mut self) {
        let (x, y) = self.place(self.parked);
        let Some(guard) = &mut self.guard else {
            return;
        };
        guard.end((x, y));
        // If the position is on another screen, KWin does not move the pointer far enough.
        if let (true, Some(events)) = (self.several, &mut self.events)
            && let Err(e) = events.go(x, y)
        {
            tracing::warn!("the pointer was not put back: {e}");
        }
    }

    fn lapse(&mut self) -> Option<String> {
        self.guard.as_mut()?.lapse()
    }
}
