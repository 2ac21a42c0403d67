//! KWin as the display of a link.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use deskline_core::{KeyPress, Modifiers, Point};
use deskline_link::capabilities::Ability;
use deskline_link::guard::{Grab, Task};
use deskline_link::no_keyboard;
use deskline_link::{
    Aim, Cancel, Capabilities, Click, Display, Error, LastClick, Other, Picture, Pointer, Result,
    Window, WindowId,
};

use super::Input;
use super::bus::Bus;
use super::fake::{self, Fake};
use super::guard::{self, Guard};
use super::picture::{self, Pictures};
use super::script::Scripts;
use super::windows::{self, KdeWindow, Screen};
use crate::eis::Eis;
use crate::sender::{Port, Sender};
use crate::wlroots::keyboard;

/// How long KWin may take to bring a window to the front.
const RAISES: Duration = Duration::from_secs(1);

/// How often to look for it.
const LOOK: Duration = Duration::from_millis(5);

/// How long apps may take to ask for a device that is the seat's first of its kind.
const ASK: Duration = Duration::from_millis(300);

/// How many characters go in between two looks at which window is in front: as many, and as many more
/// as the word has, up to the most.
const PART: usize = 48;
const MOST: usize = 80;

/// Why there is no pointer and no keyboard.
const NO_INPUT: &str = "KWin before Plasma 6 takes input only from programs that it knows by a .desktop file; `deskline doctor --fix` writes it";

/// How KWin takes input.
#[derive(Debug)]
enum Way {
    /// Over a socket that it hands out.
    Eis,
    /// By the fake input protocol, over this Wayland socket.
    Fake(PathBuf),
}

impl Way {
    /// `None` where a `.desktop` file is missing. Plasma 5 takes up to 0.5 s to look for one.
    fn of(bus: &Bus, socket: &Path) -> Option<Self> {
        if bus.has_input() {
            return Some(Self::Eis);
        }
        fake::offered(socket).then(|| Self::Fake(socket.to_owned()))
    }
}

/// A session of KWin's.
pub struct KdeDisplay {
    bus: Bus,
    scripts: Scripts,
    way: Option<Way>,
    /// Made by [`KdeDisplay::prepare`] or when it is first needed: a doctor or a reader must not make devices.
    sender: Option<Input>,
    /// Since when the seat has a device that is its first of its kind, until apps have asked for it.
    new_since: Option<Instant>,
    has_guard: bool,
    pictures: Pictures,
    guard: Option<Guard>,
    /// Where the pointer is for the link while the guard keeps it at the edge of the screen.
    parked: Point,
    /// Where input has left the pointer: in the middle of this pixel.
    left: Option<Point>,
    /// Whether there are several screens.
    several: bool,
    aim: Option<Aim>,
    last_click: LastClick,
}

impl KdeDisplay {
    /// Connects to the KWin that is process `pid` and listens on `socket`, over the session bus at
    /// `address`. `folder` is the user's runtime directory.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] where it is not on that bus, [`Error::Lost`] where it runs no scripts.
    pub fn connect(address: &str, pid: u32, folder: &Path, socket: &Path) -> Result<Self> {
        let bus = Bus::connect(address, pid)?;
        let mut scripts = Scripts::new(bus.clone(), folder)?;
        Screen::look(&mut scripts)?;
        Ok(Self {
            way: Way::of(&bus, socket),
            has_guard: guard::offered(&bus),
            pictures: Pictures::ask(&bus.connection, Some(&bus.kwin)),
            bus,
            scripts,
            sender: None,
            new_since: None,
            guard: None,
            parked: Point { x: 0, y: 0 },
            left: None,
            several: false,
            aim: None,
            last_click: LastClick::default(),
        })
    }

    /// The app's toplevels and its pop-ups, or everybody's, frontmost first.
    ///
    /// # Errors
    ///
    /// [`Error::Lost`] where KWin does not answer.
    pub fn kde_windows(&mut self, pid: Option<u32>) -> Result<Vec<KdeWindow>> {
        let mut windows = self.look()?.windows;
        let is = |w: &KdeWindow| pid.is_none_or(|pid| w.pid == pid) && (w.toplevel || w.popup);
        windows.retain(is);
        Ok(windows)
    }

    /// Whether only a `.desktop` file is missing for pictures.
    pub fn pictures_need_a_file(&self) -> bool {
        self.pictures == Pictures::NotKnown
    }

    /// The window in front, of any app.
    ///
    /// # Errors
    ///
    /// [`Error::Lost`] where KWin does not answer.
    pub fn look_at_front(&mut self) -> Result<Option<KdeWindow>> {
        Ok(self.look()?.active().cloned())
    }

    fn look(&mut self) -> Result<Screen> {
        Screen::look(&mut self.scripts)
    }

    /// Whether only a `.desktop` file is missing for pointer and keys.
    pub fn input_needs_a_file(&self) -> bool {
        self.way.is_none()
    }

    fn sender(&mut self) -> Result<&mut Input> {
        let sender = if let Some(sender) = self.sender.take() {
            sender
        } else {
            let had = self.bus.has_devices();
            let port: Box<dyn Port> = match &self.way {
                Some(Way::Eis) => Box::new(Eis::connect(self.bus.input()?.into())?),
                Some(Way::Fake(socket)) => Box::new(Fake::open(socket, self.bus.clone())?),
                None => return Err(Error::Unavailable(NO_INPUT.into())),
            };
            if !had {
                self.new_since = Some(Instant::now());
            }
            Sender::over(port)
        };
        Ok(self.sender.insert(sender))
    }

    /// Makes the devices if the seat has none. Returns whether it did.
    ///
    /// # Errors
    ///
    /// As for input.
    pub fn prepare(&mut self) -> Result<bool> {
        if self.way.is_none() || self.bus.has_devices() {
            return Ok(false);
        }
        self.sender().map(|_| true)
    }

    /// Waits until apps have had the time to ask for devices that are new to the seat.
    fn introduce(&mut self) {
        if let Some(since) = self.new_since.take() {
            // Nothing tells when they have.
            std::thread::sleep(ASK.saturating_sub(since.elapsed()));
        }
    }

    /// An error if the window in front is not the target's.
    fn check_front(&mut self, progress: impl FnOnce() -> String) -> Result<()> {
        let Some(aim) = self.aim else { return Ok(()) };
        let screen = self.look()?;
        match screen.active() {
            Some(window) if window.pid != aim.pid => Err(other(window).has_keyboard(&progress())),
            None => Err(no_keyboard(&progress())),
            // KWin leaves a window active below its lock screen.
            Some(_) if self.bus.is_locked() => Err(no_keyboard(&progress())),
            Some(window) if window.toplevel => {
                Ok(aim.check_window(WindowId(window.id), &window.title, &progress())?)
            }
            Some(_) => Ok(()),
        }
    }

    /// The other app's window that lies at this point.
    fn over(&mut self, at: Point) -> Result<Option<Other>> {
        let Some(aim) = self.aim else { return Ok(None) };
        let screen = self.look()?;
        let there = screen.at(at).filter(|w| w.pid != aim.pid);
        Ok(there.map(other))
    }

    /// Whether the person's input is captured, and ours must be let in.
    fn guards(&self) -> bool {
        self.guard.as_ref().is_some_and(Guard::holds)
    }

    /// The pixel of a pointer that KWin tells to be there: it tells the middle of a pixel as the next one.
    fn pixel(&self, told: Point) -> Point {
        let left = self.left.filter(|left| next(*left) == told);
        left.unwrap_or(told)
    }

    /// Where exactly the pointer is that KWin tells scripts to be there: it rounds.
    fn place(&self, at: Point) -> (f64, f64) {
        if self.left == Some(at) {
            middle(at)
        } else {
            (f64::from(at.x), f64::from(at.y))
        }
    }

    /// Sends input that belongs together: the guard is open for as long as it takes. It leaves the
    /// pointer at `end`, if it moves it.
    fn burst<T>(
        &mut self,
        end: Option<Point>,
        send: impl FnOnce(&mut Input) -> Result<T>,
    ) -> Result<T> {
        let (parked, at) = (self.parked, self.place(self.parked));
        let guards = self.guards();
        self.sender()?;
        self.introduce();
        self.left = end.or(self.left);
        let (Some(sender), guard) = (&mut self.sender, &mut self.guard) else {
            return Err(Error::Input("there is no sender".into()));
        };
        let Some(guard) = guard.as_mut().filter(|_| guards) else {
            return send(sender);
        };
        guard.open(at)?;
        let result = send(sender);
        if result.is_err() {
            // What is pressed would stay so while the capture holds.
            let _ = sender.release();
        }
        let closed = guard.close(sender);
        self.parked = end.unwrap_or(parked);
        let done = result?;
        closed.map(|()| done)
    }
}

fn go(sender: &mut Input, to: Point) -> Result<()> {
    let (x, y) = middle(to);
    sender.go(x, y)
}

/// The lengths of a text's parts: each ends after a word, unless that is too long.
fn parts(text: &[char]) -> Vec<usize> {
    let (mut parts, mut length) = (Vec::new(), 0);
    for char in text {
        length += 1;
        if length >= MOST || length >= PART && char.is_whitespace() {
            parts.push(std::mem::take(&mut length));
        }
    }
    parts.extend(Some(length).filter(|length| *length > 0));
    parts
}

/// The middle of a pixel: with fractional scales its corner may be another one's.
fn middle(at: Point) -> (f64, f64) {
    (f64::from(at.x) + 0.5, f64::from(at.y) + 0.5)
}

/// The pixel below it to the right.
fn next(at: Point) -> Point {
    Point {
        x: at.x + 1,
        y: at.y + 1,
    }
}

fn other(window: &KdeWindow) -> Other {
    Other {
        title: window.title.clone(),
        pid: window.pid,
    }
}

fn window(window: KdeWindow) -> Window {
    Window {
        id: WindowId(window.id),
        pid: Some(window.pid).filter(|pid| *pid > 0),
        title: window.title,
        extents: Some(window.content),
    }
}

impl Display for KdeDisplay {
    fn capabilities(&self) -> Capabilities {
        let no = |why: &'static str| Ability::No(why.into());
        let input = if self.way.is_some() {
            Ability::Yes
        } else {
            no(NO_INPUT)
        };
        Capabilities {
            pointer: input.clone(),
            keys: input,
            pictures: self.pictures.ability(),
            guard: if self.has_guard {
                Ability::Yes
            } else {
                no("this KWin has no org.kde.KWin.EIS.InputCapture: it comes with Plasma 6")
            },
            ..Capabilities::ALL
        }
    }

    fn front(&mut self) -> Result<Option<Window>> {
        Ok(self.look_at_front()?.map(window))
    }

    fn activate(&mut self, id: WindowId, cancel: &Cancel) -> Result<()> {
        let gone = || Error::Input("the window is gone".into());
        let screen = self.look()?;
        let wanted = screen.windows.iter().find(|w| w.id == id.0);
        let wanted = wanted.ok_or_else(gone)?;
        if !windows::raise(&mut self.scripts, wanted)? {
            return Err(gone());
        }
        let start = Instant::now();
        loop {
            match self.look()?.active() {
                Some(window) if window.id == id.0 => return Ok(()),
                _ if start.elapsed() < RAISES => cancel.wait(LOOK)?,
                _ => {
                    return Err(Error::Input(
                        "KWin did not bring the window to the front within 1 s. Nothing was sent"
                            .into(),
                    ));
                }
            }
        }
    }

    fn windows(&mut self, pid: u32) -> Result<Vec<Window>> {
        let toplevels = self.look()?.into_toplevels();
        Ok(toplevels.filter(|w| w.pid == pid).map(window).collect())
    }

    fn every_window(&mut self) -> Result<Vec<Window>> {
        Ok(self.look()?.into_toplevels().map(window).collect())
    }

    /// A tooltip is told from no menu. Toolkits close theirs at a click and show it only when the pointer
    /// has moved again.
    fn popup_open(&mut self, pid: u32) -> Result<bool> {
        let windows = self.look()?.windows;
        Ok(windows.iter().any(|w| w.popup && w.pid == pid))
    }

    fn pointer(&mut self) -> Result<Option<Pointer>> {
        let at = if self.guards() {
            self.parked
        } else {
            let told = self.look()?.pointer;
            self.pixel(told)
        };
        // KWin tells no script which buttons are down.
        Ok(Some(Pointer { at, pressed: false }))
    }

    /// Not to its middle: KWin would tell the next pixel.
    fn move_pointer(&mut self, to: Point) -> Result<()> {
        let (x, y) = (f64::from(to.x), f64::from(to.y));
        let moved = self.burst(Some(to), |sender| sender.go(x, y));
        self.left = None;
        moved
    }

    /// Without the app's pop-ups, which are windows of their own.
    fn picture(&mut self, id: WindowId) -> Result<Picture> {
        let screen = self.look()?;
        let window = screen.windows.iter().find(|w| w.id == id.0);
        let window = window.ok_or_else(|| Error::Input("it has been closed".into()))?;
        let content = window.content;
        let origin = Point {
            x: content.x,
            y: content.y,
        };
        let Bus { connection, kwin } = &self.bus;
        picture::take(connection, Some(kwin), &window.uuid, origin)
    }

    fn grab(&mut self, task: &Task, cancel: &Cancel) -> Result<Grab> {
        if self.guards() {
            return Ok(Grab::Held);
        }
        let screen = self.look()?;
        let leftmost = screen.screens.iter().min_by_key(|s| s.x).copied();
        (self.parked, self.several) = (self.pixel(screen.pointer), screen.screens.len() > 1);
        self.sender()?;
        let guard = match self.guard.take() {
            Some(guard) => Ok(guard),
            None => Guard::new(&self.bus),
        };
        let (guard, leftmost, sender) = match (guard, leftmost, &mut self.sender) {
            (Ok(guard), Some(leftmost), Some(sender)) => (guard, leftmost, sender),
            (Err(e), ..) => return Ok(Grab::Unable(e.to_string())),
            _ => return Ok(Grab::Unable("KWin lists no screen".into())),
        };
        let guard = self.guard.insert(guard);
        match guard.begin(sender, leftmost, task.limit, cancel) {
            Ok(()) => Ok(Grab::Held),
            Err(e) => {
                self.ungrab();
                // One that has failed is not used again.
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
        // KWin puts it back short of its place where that is on another screen.
        if let (true, Some(sender)) = (self.several, &mut self.sender)
            && let Err(e) = sender.go(x, y)
        {
            tracing::warn!("the pointer was not put back: {e}");
        }
    }

    fn guard_lapse(&mut self) -> Option<String> {
        self.guard.as_mut()?.lapse()
    }

    fn aim(&mut self, aim: Aim) {
        self.aim = Some(aim);
    }

    fn click(&mut self, click: Click, cancel: &Cancel) -> Result<()> {
        let Click {
            at, button, clicks, ..
        } = click;
        self.last_click.wait_before(at, button, clicks, cancel)?;
        cancel.check()?;
        if let Some(other) = self.over(at)? {
            return Err(other.lies_over(at));
        }
        let clicked = self.burst(Some(at), |sender| {
            go(sender, at)?;
            sender.click(button, clicks, cancel)
        });
        self.last_click.note(at, button);
        clicked
    }

    fn drag(
        &mut self,
        from: Point,
        to: Point,
        modifiers: Modifiers,
        cancel: &Cancel,
    ) -> Result<()> {
        cancel.check()?;
        if let Some(other) = self.over(from)? {
            return Err(other.lies_over(from));
        }
        if let Some(other) = self.over(to)? {
            return Err(other.lies_over_end(to));
        }
        let dragged = self.burst(Some(to), |sender| {
            sender.drag([from, to], modifiers, middle, cancel)
        });
        if dragged.is_err() {
            (self.parked, self.left) = (from, Some(from));
        }
        dragged
    }

    fn type_text(&mut self, text: &str, cancel: &Cancel) -> Result<()> {
        let text = keyboard::typeable(text)?;
        let strokes = self.sender()?.strokes(&text)?;
        let mut typed = 0;
        for part in parts(&text) {
            self.check_front(|| match typed {
                0 => "Nothing was typed".to_owned(),
                typed => format!("The first {typed} of {} characters were typed", text.len()),
            })?;
            let strokes = &strokes[typed..typed + part];
            if self.guards() {
                let pause = self.burst(None, |sender| sender.burst(strokes))?;
                cancel.wait(pause)?;
            } else {
                self.introduce();
                self.sender()?.strike(strokes, cancel)?;
            }
            typed += part;
        }
        Ok(())
    }

    fn press_key(&mut self, press: KeyPress, _held: Duration, cancel: &Cancel) -> Result<()> {
        cancel.check()?;
        self.check_front(|| "The key was not pressed".to_owned())?;
        self.burst(None, |sender| sender.press(press))
    }

    fn scroll(&mut self, at: Point, right: i32, down: i32, cancel: &Cancel) -> Result<()> {
        cancel.check()?;
        if let Some(other) = self.over(at)? {
            return Err(other.lies_over(at));
        }
        self.burst(Some(at), |sender| {
            go(sender, at)?;
            sender.scroll(right, down, cancel)
        })
    }

    fn release_all(&mut self) {
        // A lost connection has released them.
        if let Some(sender) = &mut self.sender {
            let _ = sender.release();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_parted_after_words() {
        let parts_of = |text: &str| parts(&text.chars().collect::<Vec<_>>());
        assert_eq!(parts_of("short"), [5]);
        assert_eq!(parts_of(""), [0_usize; 0]);
        assert_eq!(parts_of(&"word ".repeat(20)), [50, 50]);
        assert_eq!(parts_of(&"x".repeat(170)), [80, 80, 10]);
    }
}
