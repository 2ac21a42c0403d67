//! GNOME without the extension as a [`Compositor`]. The windows are those that apps describe, and
//! coordinates are relative to the front window's corner.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use deskline_contract::{
    Aim, AppToplevel, Cancel, DisplayError, Error, Offer, Picture, Pictures, Raising, Result,
    Window, WindowId, wait,
};
use deskline_core::Point;

use super::casts::Casts;
use super::extension;
use super::recency::Recency;
use super::session::{self, Access};
use super::sessions::Sessions;
use super::{picture, place, scales};
use crate::compositor::{BoxedPort, Compositor, Findings, Input, Listing, Located, Manner, gone};
use crate::described::{self, OpenMenu, Toplevels};
use crate::focus::Keyboard;
use crate::pipewire;

/// How long Mutter may take to paint a window for its stream. On an idle machine it takes 50 ms.
pub(super) const PAINTS: Duration = Duration::from_secs(2);

/// For this long after a window was opened or raised, Mutter may draw the window at another size
/// than its app reports, and its stream may still show the window that had the focus before.
const FITS: Duration = Duration::from_secs(1);

/// How long a window may take to report that it has the keyboard. On an idle machine, this takes
/// 30 ms.
const CLAIMS: Duration = Duration::from_millis(500);

/// How long the target app may take to answer.
const ANSWERS: Duration = Duration::from_secs(2);

/// How long the origin of a window's content stays valid. A window of the same size changes its
/// shadow only if the person chooses another theme. Each link's picture measures the origin again.
const KNOWN: Duration = Duration::from_secs(60);

/// A GNOME session.
pub(crate) struct Plain<T> {
    pub(super) sessions: Sessions,
    /// Whether the extension is on, for the doctor. If it is on although `Plain` is in use, it has
    /// another version than Deskline.
    pub(super) has_extension: bool,
    casts: Casts,
    pub(super) toplevels: T,
    aim: Option<Aim>,
    /// The window in front at the last check.
    front: Option<AppToplevel>,
    /// The toplevels at the last check, unless an action may have changed them since.
    pub(super) last: Option<(Instant, Vec<AppToplevel>)>,
    pub(super) recency: Recency,
    /// The menu that last had the keyboard, and its window. While the menu has the keyboard, GTK 3
    /// reports the menu or no window as active.
    menu: Option<(WindowId, OpenMenu)>,
    /// The app whose tree was just read, and whether the tree shows an open menu.
    menu_read: Option<(u32, bool)>,
    /// The origins of the pictured windows' contents, each valid for [`KNOWN`].
    known: HashMap<WindowId, Known>,
    /// The scales of the screens; `None` until this link has asked for them.
    screens: Option<Vec<f64>>,
}

/// The origin of a window's content in its last picture.
struct Known {
    offset: (f64, f64),
    /// The size that the window reported, and the scales of the screens.
    size: (i32, i32),
    screens: Vec<f64>,
    since: Instant,
}

impl Known {
    fn is_good(&self, size: (i32, i32), screens: &[f64]) -> bool {
        self.size == size && self.screens == screens && self.since.elapsed() < KNOWN
    }
}

impl<T: Toplevels> Plain<T> {
    /// See [`GnomeDisplay::connect`](super::GnomeDisplay::connect).
    pub fn connect(to: &Access<'_>, toplevels: T) -> Result<Self> {
        session::is_supported(to)?;
        let sessions = Sessions::connect(to, true)?;
        Ok(Self {
            has_extension: false,
            casts: Casts::on(to.session_bus),
            sessions,
            toplevels,
            aim: None,
            front: None,
            last: None,
            recency: Recency::default(),
            menu: None,
            menu_read: None,
            known: HashMap::new(),
            screens: None,
        })
    }

    /// The toplevels that apps describe.
    ///
    /// # Errors
    ///
    /// Errors of the accessibility bus.
    pub fn toplevels(&mut self) -> Result<Vec<AppToplevel>> {
        let all = self.toplevels.toplevels(true)?;
        self.note_front(&all);
        self.last = Some((Instant::now(), all.clone()));
        Ok(all)
    }

    /// Like [`Self::toplevels`], but may return the toplevels of a moment ago, so it does not serve
    /// for a check before input.
    ///
    /// # Errors
    ///
    /// Errors of the accessibility bus.
    pub fn recent(&mut self) -> Result<Vec<AppToplevel>> {
        match &self.last {
            Some((at, all)) if at.elapsed() < extension::RECENT => Ok(all.clone()),
            _ => self.toplevels(),
        }
    }

    /// The window whose menu last had the keyboard.
    fn menu_window(&self) -> Option<WindowId> {
        self.menu.as_ref().map(|(window, _)| *window)
    }

    /// The front window, or the window whose menu has the keyboard.
    fn front_of<'t>(&self, all: &'t [AppToplevel]) -> Option<&'t AppToplevel> {
        let with_menu = self.menu_window();
        let of_menu = || {
            let nobody = all.iter().all(|t| !t.active);
            all.iter().find(|t| nobody && Some(t.id) == with_menu)
        };
        described::front(all).or_else(of_menu)
    }

    /// Waits until a toplevel or a menu of the target reports the keyboard focus, and returns the
    /// toplevels. Waits up to [`CLAIMS`], because no window reports the focus while it moves to
    /// another window. Waits up to [`ANSWERS`] if the target app does not answer: it may be busy.
    fn settled(&mut self, cancel: &Cancel) -> Result<Vec<AppToplevel>> {
        let start = Instant::now();
        let mut looked = false;
        loop {
            let all = self.recent()?;
            let front = self.front_of(&all);
            // The app reports the keyboard a little later than the shell.
            let known = front.is_some_and(|t| t.active || Some(t.id) == self.menu_window());
            let target = self.aim.map(|aim| aim.pid);
            let silent = all.iter().any(|t| t.silent && Some(t.pid) == target);
            let most = match silent {
                // If the seat has no keyboard device, no app reports the keyboard focus.
                _ if !self.sessions.has_keyboard => Duration::ZERO,
                true => ANSWERS,
                false => CLAIMS,
            };
            if known || start.elapsed() >= most {
                return Ok(all);
            }
            let found = match target {
                Some(pid) if !std::mem::replace(&mut looked, true) => self.note_menu(pid, &all)?,
                _ => false,
            };
            if !found {
                cancel.wait(wait::LOOK)?;
            }
        }
    }

    /// Checks whether the app has a menu open, and remembers the menu's window.
    pub(super) fn find_menu(&mut self, pid: u32) -> Result<bool> {
        let all = self.settled(&Cancel::new())?;
        self.note_menu(pid, &all)
    }

    fn note_menu(&mut self, pid: u32, all: &[AppToplevel]) -> Result<bool> {
        self.menu = None;
        let ids: Vec<WindowId> = all.iter().filter(|t| t.pid == pid).map(|t| t.id).collect();
        // An open menu has the keyboard, so no menu is open if another app's window has the
        // keyboard.
        let window = match described::front(all) {
            Some(front) => Some(front.id).filter(|id| ids.contains(id)),
            None if all.iter().any(|t| t.active) => None,
            None => ids.iter().copied().min_by_key(|id| self.recency.place(*id)),
        };
        let Some(window) = window else {
            return Ok(false);
        };
        // If the app's tree was just read, it is not read again.
        let read = self.menu_read.take().filter(|(of, _)| *of == pid);
        let menu = self.toplevels.open_menu(pid, read.map(|(_, open)| open))?;
        self.menu = menu.map(|menu| (window, menu));
        Ok(self.menu.is_some())
    }

    fn note(&mut self, window: WindowId, size: (i32, i32), screens: Vec<f64>, offset: (f64, f64)) {
        self.known.retain(|_, known| known.since.elapsed() < KNOWN);
        let since = Instant::now();
        let known = Known {
            offset,
            size,
            screens,
            since,
        };
        self.known.insert(window, known);
    }

    /// The scales of the screens.
    fn screens(&mut self) -> Vec<f64> {
        let ask = || scales::of_screens(&self.sessions.bus);
        self.screens.get_or_insert_with(ask).clone()
    }

    /// Whether a menu is open whose position in the window below it is known.
    fn menu_is_placed(&self) -> bool {
        self.menu.is_some_and(|(_, menu)| menu.placed)
    }

    /// The origin of the front window's content in its stream, and whether finding it took a frame.
    /// Mutter streams the window below an open menu, even if the menu reports the keyboard focus.
    /// `None` if the frame shows another window, or the window at another size.
    fn offset(
        &mut self,
        node: u32,
        front: &AppToplevel,
        size: (i32, i32),
    ) -> Result<Option<((f64, f64), bool)>> {
        let screens = self.screens();
        let mut of = vec![(front.id, Some(size))];
        if self.menu_is_placed() {
            let all = self.recent()?;
            for toplevel in all.iter().filter(|t| t.pid == front.pid) {
                of.push((toplevel.id, self.toplevels.size(toplevel.id)?));
            }
        } else if let Some(known) = self.known.get(&front.id)
            && known.is_good(size, &screens)
        {
            return Ok(Some((known.offset, false)));
        }
        let frame = pipewire::frame(node, None, PAINTS)?;
        for (window, size) in of {
            tracing::debug!(
                "the window has {size:?}, the frame {}x{}, of which {:?} is opaque; the screens {screens:?}",
                frame.width,
                frame.height,
                frame.opaque()
            );
            let Some(size) = size else { continue };
            if let Some(content) = place::content(&frame, size, &screens) {
                if !self.menu_is_placed() {
                    self.note(window, size, screens, content.offset);
                }
                return Ok(Some((content.offset, true)));
            }
        }
        Ok(None)
    }

    /// The origin of the front window's content in its stream, and whether this had to wait for a
    /// frame or a new stream.
    fn placed(&mut self, front: &AppToplevel, new: bool) -> Result<Option<((f64, f64), bool)>> {
        let Some(size) = self.toplevels.size(front.id)? else {
            return Ok(None);
        };
        let kept = self.sessions.stream_of(front.id, size).filter(|_| !new);
        let is_new = kept.is_none();
        let (node, known) = match kept {
            Some(stream) => (stream.node, stream.offset),
            None => (self.sessions.point_at(front.id, size)?.node, None),
        };
        let measured = || self.offset(node, front, size);
        let at = known.map_or_else(measured, |at| Ok(Some((at, false))))?;
        let stream = self.sessions.stream_of(front.id, size);
        if let Some((stream, (at, _))) = stream.zip(at) {
            stream.offset = Some(at);
            if stream.early.is_none() {
                stream.early = pipewire::Stream::connect(stream.node).unwrap_or_default();
            }
        }
        Ok(at.map(|(at, awaited)| (at, awaited || is_new)))
    }
}

impl<T: Toplevels> Raising for Plain<T> {
    fn activate(&mut self, window: WindowId, cancel: &Cancel) -> Result<()> {
        self.bring_to_front(window, cancel)
    }
}

impl<T: Toplevels> Pictures for Plain<T> {
    fn picture(&mut self, window: WindowId) -> Result<Picture> {
        let failed = |why: &str| Error::system("taking a screenshot")(why.to_owned());
        let behind =
            "the window is not in front, and GNOME gives screenshots of the front window only";
        let is_front =
            |it: &mut Self| Ok::<_, Error>(it.front()?.is_some_and(|front| front.id == window));
        if !is_front(self)? {
            return Err(failed(behind));
        }
        let size = self.toplevels.size(window)?;
        let size = size.ok_or_else(|| failed("the app does not report the size of its window"))?;
        let frame = if let Some(stream) = self.sessions.stream_of(window, size) {
            pipewire::frame(stream.node, stream.early.take(), PAINTS)?
        } else {
            let frame = self.casts.frame(None, (0, 0), PAINTS)?;
            if !is_front(self)? {
                return Err(failed(behind));
            }
            frame
        };
        let screens = self.screens();
        let content = place::content(&frame, size, &screens);
        let content = content.ok_or_else(|| failed("the window is translucent"))?;
        self.note(window, size, screens, content.offset);
        picture::content(&frame, content, size).ok_or_else(|| failed("the frame is too small"))
    }
}

impl<T: Toplevels> Compositor for Plain<T> {
    fn takes(&self, input: Input) -> Offer<()> {
        match input {
            Input::Keys => Ok(()),
            Input::Pointer => session::frames(),
        }
    }

    fn manner(&self) -> Manner<'_> {
        Manner {
            counts_from_window: true,
            ..Manner::PLAIN
        }
    }

    fn begin_link(&mut self, acts: bool) {
        self.screens = None;
        self.sessions.begin_link(acts);
    }

    fn set_aim(&mut self, aim: Aim) {
        self.aim = Some(aim);
    }

    fn windows(&mut self) -> Result<Listing> {
        let mut all = self.recent()?;
        all.sort_by_key(|toplevel| self.recency.place(toplevel.id));
        Ok(Listing::Described(all))
    }

    fn popup_open(&mut self, pid: u32) -> Result<Option<bool>> {
        self.find_menu(pid).map(Some)
    }

    fn menu_read(&mut self, pid: u32, open: bool) {
        self.menu_read = Some((pid, open));
    }

    fn front(&mut self) -> Result<Option<Window>> {
        let all = self.settled(&Cancel::new())?;
        let front = self.front_of(&all).or_else(|| self.dialog(&all));
        Ok(front.cloned().map(AppToplevel::window))
    }

    /// Input follows, so this first gives apps the time to bind new devices.
    fn keyboard(&mut self, _: Option<Aim>, cancel: &Cancel) -> Result<Keyboard> {
        self.sessions.introduce();
        self.last = None;
        let all = self.settled(cancel)?;
        self.front = self.front_of(&all).cloned();
        Ok(match &self.front {
            Some(front) => Keyboard::toplevel(front.clone().window()),
            None => Keyboard::Unclear(String::from(
                "no app or more than one app reports that it has the keyboard: GNOME's overview or \
                one of GNOME Shell's own dialogs may be open",
            )),
        })
    }

    fn over(&mut self, _: Point, _: Aim) -> Result<Option<Window>> {
        self.sessions.introduce();
        Ok(None)
    }

    /// The origin of the front window's stream. A stream shows the window that is focused when it
    /// starts.
    fn locate(&mut self, _: Option<Aim>, _: &[Point], cancel: &Cancel) -> Result<Located> {
        let front = self.front.clone().ok_or_else(gone)?;
        if !front.active && !self.menu_is_placed() {
            return Err(DisplayError::MenuSomewhere.into());
        }
        // No event tells that Mutter has drawn the window at the size that its app reports.
        let mut tries = 0..;
        let found = wait::until(cancel, FITS, wait::LOOK, || {
            self.placed(&front, tries.next() > Some(0))
        })?;
        let ((x, y), late) = found.ok_or(DisplayError::ContentUnknown)?;
        // Aims at the middle of the pixel: the stream may be shown at another scale.
        let offset = (x + 0.5, y + 0.5);
        Ok(Located { offset, late })
    }

    fn ready(&mut self) -> Result<()> {
        self.sessions.get().map(drop)
    }

    fn devices(&mut self, offset: (f64, f64)) -> Result<BoxedPort<'_>> {
        self.last = None;
        Ok(Box::new(self.sessions.get()?.port(offset)))
    }

    fn release(&mut self) {
        self.sessions.release();
    }

    fn end_input(&mut self) {
        self.sessions.end_input();
    }

    fn pictures(&mut self) -> Offer<&mut dyn Pictures> {
        session::frames()?;
        Ok(self)
    }

    fn idle(&mut self) -> Option<Duration> {
        self.sessions.idle()
    }

    fn findings(&mut self) -> Findings {
        let raise = if self.has_extension {
            "by Alt+Esc. Deskline's extension is of another version than Deskline: install it again \
            from extensions/gnome in Deskline's source"
        } else {
            "by Alt+Esc. Deskline's extension (extensions/gnome in its source) is faster and more \
            reliable, and reports positions on the screen"
        };
        Findings {
            raise,
            ..Findings::by_protocols(self.guard())
        }
    }
}
