//! GNOME as the display of a link, with what Mutter lets every program do: windows are those that apps
//! describe, and places count from the front window's corner.

use std::time::{Duration, Instant};

use deskline_core::{KeyPress, Modifiers, Point};
use deskline_link::capabilities::Ability;
use deskline_link::{
    Aim, Cancel, Capabilities, Click, Display, Error, LastClick, Other, Picture, Result, Window,
    WindowId,
};

use super::bus::Bus;
use super::devices::Devices;
use super::extension::{self, Extension};
use super::picture;
use super::place;
use super::recency::Recency;
use super::scales;
use super::session::{self, Access, Session, Way};
use crate::described::{self, AppToplevel, OpenMenu, Toplevels};
use crate::pipewire::{self, Frame};
use crate::wlroots::keyboard::typeable;

/// How long Mutter may take to paint a window for its stream: 50 ms on an idle machine.
pub(super) const PAINTS: Duration = Duration::from_secs(2);

/// How long a window may take to claim the keyboard, and how often to look: 30 ms on an idle machine.
const CLAIMS: Duration = Duration::from_millis(500);
const LOOK: Duration = Duration::from_millis(10);

/// How long the app that input goes to may take to answer at all.
const ANSWERS: Duration = Duration::from_secs(2);

/// A GNOME session.
pub(crate) struct PlainDisplay<T> {
    pub(super) bus: Bus,
    way: Way,
    toplevels: T,
    /// Lasts until the link ends, or another window comes to the front.
    session: Option<Session>,
    aim: Option<Aim>,
    last_click: LastClick,
    pub(super) recency: Recency,
    devices: Devices,
    /// The menu that was last seen to have the keyboard, and its window. GTK 3 reports no window as active
    /// then, or the menu itself.
    menu: Option<(WindowId, OpenMenu)>,
}

impl<T: Toplevels> PlainDisplay<T> {
    /// See [`GnomeDisplay::connect`](super::GnomeDisplay::connect).
    pub fn connect(to: &Access<'_>, toplevels: T) -> Result<Self> {
        let bus = session::bus(to.session_bus)?;
        let way = Way::find(&bus, to)?;
        Ok(Self {
            bus,
            way,
            toplevels,
            session: None,
            aim: None,
            last_click: LastClick::default(),
            recency: Recency::default(),
            devices: Devices::on(to.wayland_socket),
            menu: None,
        })
    }

    /// The toplevels that apps describe.
    ///
    /// # Errors
    ///
    /// Of the accessibility bus.
    pub fn toplevels(&mut self) -> Result<Vec<AppToplevel>> {
        self.toplevels.toplevels()
    }

    /// What tells them.
    pub fn source(&self) -> &T {
        &self.toplevels
    }

    /// The same, to change it.
    pub(super) fn source_mut(&mut self) -> &mut T {
        &mut self.toplevels
    }

    /// How input goes in.
    pub fn way(&self) -> &Way {
        &self.way
    }

    /// A link begins: gives the seat the devices that it lacks, if input may follow.
    pub(super) fn look_at_seat(&mut self, acts: bool) {
        self.devices.begin_link(&self.bus, &self.way, acts);
    }

    /// Waits until apps have had the time to ask for devices that are new to the seat.
    pub(super) fn introduce_devices(&self) {
        self.devices.introduce();
    }

    /// Between links. Returns after which time to call it again, if at all.
    pub(super) fn idle(&mut self) -> Option<Duration> {
        self.devices.idle(&self.bus)
    }

    /// The window whose menu was last seen to have the keyboard.
    fn menu_window(&self) -> Option<WindowId> {
        self.menu.as_ref().map(|(window, _)| *window)
    }

    /// The window in front, or the one whose menu has the keyboard: as the shell says, where it has the
    /// extension, else as apps say.
    fn front_of<'t>(&self, all: &'t [AppToplevel]) -> Option<&'t AppToplevel> {
        let with_menu = self.menu_window();
        let of_menu = || {
            let nobody = all.iter().all(|t| !t.active);
            all.iter().find(|t| nobody && Some(t.id) == with_menu)
        };
        let as_told = || described::front(all).or_else(of_menu);
        let Some(windows) = Extension::find(&self.bus).and_then(|it| it.toplevels().ok()) else {
            return as_told();
        };
        let focused = extension::focused(all, &windows);
        match focused[..] {
            // The shell itself, or an app that assistive technology does not know.
            [] => as_told(),
            [one] => Some(one),
            // Windows of one app with one title.
            _ => {
                let ids: Vec<WindowId> = focused.iter().map(|t| t.id).collect();
                let active = focused.iter().find(|t| t.active).copied();
                active.or_else(|| {
                    let latest = with_menu.or_else(|| self.recency.latest(&ids));
                    focused.iter().find(|t| Some(t.id) == latest).copied()
                })
            }
        }
    }

    /// The toplevels, once they say which has the keyboard (bounded): while it goes from one to another, none
    /// does, and an app that is late with its answer says nothing. The target gets longer: it may be busy.
    fn settled(&mut self) -> Result<Vec<AppToplevel>> {
        let start = Instant::now();
        loop {
            let all = self.toplevels.toplevels()?;
            let front = self.front_of(&all);
            // The app itself says so a little later than the shell.
            let known = front.is_some_and(|t| t.active || Some(t.id) == self.menu_window());
            let target = self.aim.map(|aim| aim.pid);
            let silent = all.iter().any(|t| t.silent && Some(t.pid) == target);
            let most = match silent {
                // No app claims it then.
                _ if !self.devices.has_keyboard() => Duration::ZERO,
                true => ANSWERS,
                false => CLAIMS,
            };
            if known || start.elapsed() >= most {
                return Ok(all);
            }
            std::thread::sleep(LOOK);
        }
    }

    /// Looks whether the app has a menu open, and notes whose it is.
    fn find_menu(&mut self, pid: u32) -> Result<bool> {
        let all = self.settled()?;
        self.menu = None;
        let ids: Vec<WindowId> = all.iter().filter(|t| t.pid == pid).map(|t| t.id).collect();
        // An open menu has the keyboard: a window of another app that has it rules one out.
        let window = match described::front(&all) {
            Some(front) => Some(front.id).filter(|id| ids.contains(id)),
            None if all.iter().any(|t| t.active) => None,
            None => self.recency.latest(&ids).or(ids.first().copied()),
        };
        let Some(window) = window else {
            return Ok(false);
        };
        self.menu = self.toplevels.open_menu(pid)?.map(|menu| (window, menu));
        Ok(self.menu.is_some())
    }

    /// Whether a menu is open whose place in the window below it is known.
    fn menu_is_placed(&self) -> bool {
        self.menu.is_some_and(|(_, menu)| menu.placed)
    }

    /// The window in front, which must be the target's. `progress` says how far the input came.
    fn check_front(&mut self, progress: impl FnOnce() -> String) -> Result<AppToplevel> {
        let all = self.settled()?;
        let Some(front) = self.front_of(&all) else {
            return Err(Error::Input(format!(
                "no app says that it has the keyboard, or several do: GNOME's overview or a dialog of its own may be open. {}",
                progress()
            )));
        };
        match self.aim {
            Some(aim) if front.pid != aim.pid => {
                return Err(Other {
                    title: front.title.clone(),
                    pid: front.pid,
                }
                .has_keyboard(&progress()));
            }
            Some(aim) => aim.check_window(front.id, &front.title, &progress())?,
            None => {}
        }
        Ok(front.clone())
    }

    /// The session, whose stream need not be the front window's.
    pub(super) fn session(&mut self) -> Result<&mut Session> {
        let session = match self.session.take() {
            Some(session) => session,
            None => Session::start(&self.bus, &self.way, None)?,
        };
        Ok(self.session.insert(session))
    }

    /// Sends input through the session.
    fn inject<R>(&mut self, send: impl FnOnce(&mut Session) -> Result<R>) -> Result<R> {
        send(self.session()?)
    }

    /// The session whose pointer counts from the corner of the front window's content, which must be the
    /// target's.
    fn at_front(&mut self) -> Result<&mut Session> {
        let nothing = || "Nothing was sent".to_owned();
        let front = self.check_front(nothing)?;
        if !front.active && !self.menu_is_placed() {
            return Err(Error::Input(
                "a menu of the app is open, and it is not known where on the screen. Nothing was sent. Use press_ax_and_traverse on its items, or press_key_and_traverse with Up, Down, Return or Escape".into(),
            ));
        }
        let open = self.session.take();
        let session = match open {
            Some(session) if session.points_at(front.id) => session,
            other => {
                if let Some(other) = other {
                    other.stop(&self.bus);
                }
                let mut session = Session::start(&self.bus, &self.way, Some(front.id))?;
                let offset = self.offset(&session, &front);
                // Mutter records what is focused: that must be the same window as before.
                let still = self.check_front(nothing).and_then(|now| {
                    if now.id == front.id {
                        return Ok(());
                    }
                    Err(Error::Input(
                        "the front window has just changed. Nothing was sent; try again".into(),
                    ))
                });
                match still.and(offset) {
                    Ok(offset) => session.offset = offset,
                    Err(e) => {
                        session.stop(&self.bus);
                        return Err(e);
                    }
                }
                session
            }
        };
        Ok(self.session.insert(session))
    }

    /// Where the content of the session's window begins in its stream. Mutter streams the window below an
    /// open menu, also where the menu says that it has the keyboard.
    fn offset(&mut self, session: &Session, front: &AppToplevel) -> Result<(f64, f64)> {
        let frame = session.frame()?;
        let screens = scales::of_screens(&self.bus);
        let mut of = vec![front.id];
        if self.menu_is_placed() {
            let all = self.toplevels.toplevels()?;
            of.extend(all.iter().filter(|t| t.pid == front.pid).map(|t| t.id));
        }
        for window in of {
            let size = self.toplevels.size(window)?;
            tracing::debug!(
                "the window has {size:?}, the frame {}x{}, of which {:?} is opaque; the screens {screens:?}",
                frame.width,
                frame.height,
                frame.opaque()
            );
            if let Some(content) = size.and_then(|size| place::content(&frame, size, &screens)) {
                return Ok(content.offset);
            }
        }
        Err(Error::Input(
            "this window is translucent, or does not say how large it is, so it is not known where its content begins. Nothing was sent. Use press_ax_and_traverse, or keys".into(),
        ))
    }
}

impl Session {
    /// A frame of its stream.
    fn frame(&self) -> Result<Frame> {
        let stream = self.stream.as_ref();
        let stream = stream.ok_or_else(|| Error::Input("the session has no stream".into()))?;
        pipewire::frame(stream.node, PAINTS)
    }

    /// A place in the window's content, as one of its stream.
    fn in_stream(&self, at: Point) -> (f64, f64) {
        in_stream(self.offset, at)
    }
}

/// A place in a window's content, as one of its stream, in which the content begins at `offset`.
fn in_stream((x, y): (f64, f64), at: Point) -> (f64, f64) {
    // The middle of a pixel: the stream may be shown at another scale.
    let of = |at: i32, offset: f64| f64::from(at) + offset + 0.5;
    (of(at.x, x), of(at.y, y))
}

pub(crate) const NO_GUARD: &str =
    "GNOME keeps no input from apps without taking the agent's as well";

const NO_EXTENTS: &str = "GNOME tells no program where windows are";

impl<T: Toplevels> Display for PlainDisplay<T> {
    fn capabilities(&self) -> Capabilities {
        let no = |why: &'static str| Ability::No(why.into());
        let keys = self.way.keys();
        let frames = self.way.frames();
        let raises = keys.is_there() || Extension::find(&self.bus).is_some();
        Capabilities {
            extents: no(NO_EXTENTS),
            locate_pointer: no("Wayland does not say where the pointer is"),
            raise: if raises { Ability::Yes } else { keys.clone() },
            pointer: frames.clone(),
            keys,
            pictures: frames,
            guard: no(NO_GUARD),
            ..Capabilities::ALL
        }
    }

    fn front(&mut self) -> Result<Option<Window>> {
        let all = self.settled()?;
        Ok(self.front_of(&all).cloned().map(described::window))
    }

    fn activate(&mut self, window: WindowId, cancel: &Cancel) -> Result<()> {
        self.raise(window, cancel)
    }

    fn windows(&mut self, pid: u32) -> Result<Vec<Window>> {
        let mut all = self.toplevels.toplevels()?;
        all.retain(|t| t.pid == pid);
        Ok(described::windows(all))
    }

    fn every_window(&mut self) -> Result<Vec<Window>> {
        Ok(described::windows(self.toplevels.toplevels()?))
    }

    fn popup_open(&mut self, pid: u32) -> Result<bool> {
        self.find_menu(pid)
    }

    fn aim(&mut self, aim: Aim) {
        self.aim = Some(aim);
    }

    fn move_pointer(&mut self, to: Point) -> Result<()> {
        self.at_front()?;
        self.inject(|session| {
            let (x, y) = session.in_stream(to);
            session.sender.go(x, y)
        })
    }

    fn click(&mut self, click: Click, cancel: &Cancel) -> Result<()> {
        let Click {
            at, button, clicks, ..
        } = click;
        self.last_click.wait_before(at, button, clicks, cancel)?;
        cancel.check()?;
        self.at_front()?;
        let clicked = self.inject(|session| {
            let (x, y) = session.in_stream(at);
            session.sender.go(x, y)?;
            session.sender.click(button, clicks, cancel)
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
        self.at_front()?;
        self.inject(|session| {
            let offset = session.offset;
            let place = |at| in_stream(offset, at);
            session.sender.drag([from, to], modifiers, place, cancel)
        })
    }

    fn type_text(&mut self, text: &str, cancel: &Cancel) -> Result<()> {
        let text = typeable(text)?;
        let strokes = self.session()?.sender.strokes(&text)?;
        for (number, part) in strokes.chunks(PART).enumerate() {
            self.check_front(|| match number * PART {
                0 => "Nothing was typed".to_owned(),
                typed => format!("The first {typed} of {} characters were typed", text.len()),
            })?;
            self.inject(|session| session.sender.strike(part, cancel))?;
        }
        Ok(())
    }

    fn press_key(&mut self, press: KeyPress, _held: Duration, cancel: &Cancel) -> Result<()> {
        cancel.check()?;
        self.session()?;
        self.check_front(|| "The key was not pressed".to_owned())?;
        self.inject(|session| session.sender.press(press))
    }

    fn scroll(&mut self, at: Point, right: i32, down: i32, cancel: &Cancel) -> Result<()> {
        cancel.check()?;
        self.at_front()?;
        self.inject(|session| {
            let (x, y) = session.in_stream(at);
            session.sender.go(x, y)?;
            session.sender.scroll(right, down, cancel)
        })
    }

    fn release_all(&mut self) {
        if let Some(mut session) = self.session.take() {
            // A lost connection has released them.
            let _ = session.sender.release();
            session.stop(&self.bus);
        }
    }

    fn picture(&mut self, window: WindowId) -> Result<Picture> {
        let failed = |why: &str| Error::system("taking a picture")(why.to_owned());
        let behind = "the window is not in front, and GNOME shows no other";
        let is_front =
            |it: &mut Self| Ok::<_, Error>(it.front()?.is_some_and(|front| front.id == window));
        if !is_front(self)? {
            return Err(failed(behind));
        }
        let frame = match &self.session {
            Some(session) if session.points_at(window) => session.frame()?,
            _ => {
                let session = Session::start(&self.bus, &self.way, Some(window))?;
                let frame = session.frame();
                session.stop(&self.bus);
                frame?
            }
        };
        if !is_front(self)? {
            return Err(failed(behind));
        }
        let size = self.toplevels.size(window)?;
        let size = size.ok_or_else(|| failed("the app does not say how large its window is"))?;
        let content = place::content(&frame, size, &scales::of_screens(&self.bus));
        let content = content.ok_or_else(|| failed("the window is translucent"))?;
        picture::content(&frame, content, size).ok_or_else(|| failed("the frame is too small"))
    }
}

/// How many characters go in between two looks at who has the keyboard.
pub(crate) const PART: usize = 8;
