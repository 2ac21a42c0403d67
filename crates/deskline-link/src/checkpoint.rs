//! Steps 2 and 8: saves the person's front window and pointer, and restores them.
//!
//! While a link acts, it reaches the desktop only through a [`Checkpoint`]. When that is dropped,
//! it restores: so success, error, cancellation and panic all restore. Each step of the restore
//! runs even if a step before it panics.

mod devices;
mod restore;

use std::ops::{Deref, DerefMut};
use std::time::Duration;

use deskline_core::{Key, KeyPress, Modifiers, Point, Rect};

use crate::apps::{Opened, Permit};
use crate::desktop::Desktop;
use crate::display::{Place, Window, WindowId};
use crate::error::{Error, Missing, Result, TargetError};
use crate::guard::Watch;
use crate::subject::Subject;
use crate::wait;
use deskline_input::clock::Instant;
use deskline_input::{Aim, Cancel, Click, Reason};

/// The key that closes a menu or a list in every toolkit.
pub(crate) const CLOSE_KEY: KeyPress = KeyPress::new(Key::Escape, Modifiers::empty());

/// The person's front window and pointer, and the changes that links have made to them since.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Saved {
    /// The person's front window.
    front: Option<Window>,
    /// The person's pointer position, saved before a link first moves the pointer.
    pointer: Option<Point>,
    /// Where links have put the pointer. There can be several places: if a click is refused after
    /// the wheel was turned, the pointer is still where the wheel was turned.
    left: Vec<Point>,
    /// The windows that links have brought to the front, as they were before: on another workspace,
    /// minimised or shaded.
    away: Vec<Window>,
    /// The person's workspace, if a link has left it.
    workspace: Option<u32>,
}

/// A restore that is deferred to a later link.
#[derive(Debug, Clone)]
pub(crate) struct DeferredRestore {
    saved: Saved,
    why: Deferral,
    /// The front window when the restore was deferred.
    front: Option<WindowId>,
    /// The id of the desktop to restore. Window ids are meaningless on another desktop.
    desktop: String,
}

/// Why a restore is deferred.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Deferral {
    /// The restore would close an open menu of the app with this pid.
    Menu(u32),
    /// The restore would close the list that a web page of this app has opened for a field.
    List(u32),
    /// The pointer stays over an element until the next link that acts. Only the pointer is
    /// deferred.
    Hover,
}

/// The window that input was sent to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct InputWindow {
    pub(crate) pid: u32,
    pub(crate) window: WindowId,
    /// Whether the window is a dialog: once a dialog has closed, its parent has the keyboard.
    pub(crate) dialog: bool,
    /// The process's windows when the input was sent.
    pub(crate) beside: Vec<WindowId>,
}

/// The desktop, and the state to restore on it.
pub(crate) struct Checkpoint<'a> {
    desktop: &'a mut dyn Desktop,
    pub(crate) cancel: &'a Cancel,
    saved: Saved,
    /// The front window right before the last input, or at the checkpoint if no input was sent. An
    /// earlier link may have left a window in front that is not the person's.
    pub(crate) front_then: Option<WindowId>,
    /// All windows at the checkpoint, to recognise new ones. The frontmost first.
    windows: Vec<Window>,
    pub(crate) subject: &'a Subject,
    pub(crate) guard: Watch,
    /// Where the link's last input went.
    pub(crate) last_input: Option<InputWindow>,
    /// The window that the link last brought to the front.
    raised: Option<WindowId>,
    /// The window that was brought to the front for the current step.
    pub(crate) raised_now: Option<WindowId>,
    /// The place of the window `raised_now`, if the display has reported it.
    raised_place: Option<Place>,
    /// Where the display was last told that input goes.
    aim: Option<Aim>,
    /// Whether the agent's text may be on the clipboard.
    lends_clipboard: bool,
    /// Where a hover has left the pointer until the next link that acts. `None` if the link's last
    /// pointer input was no hover.
    pub(crate) hovers_at: Option<Point>,
    /// Whether input was sent or a window brought to the front.
    touched: bool,
    /// Whether an action used accessibility alone. The app may have opened a window after it, which
    /// then is in front of the person's.
    pub(crate) quiet: bool,
    /// Whether a window that did not come to the front in time may still come.
    may_come_late: bool,
    /// Whether this link has moved the pointer.
    pointed: bool,
    /// Whether a key or a mouse button was pressed. Only then may a menu be open: a hover opens
    /// tool tips, which some displays do not distinguish from menus.
    pressed: bool,
    /// Whether to restore nothing: after a handoff, or if the restore is deferred.
    keep: bool,
    /// When the link's last input was sent, if the guard has held on since then.
    holds_on: Option<Instant>,
    /// Whether to go on listening to the app after the restore.
    pub(crate) listens_on: bool,
    /// Whether the restore has been made.
    restored: bool,
    /// The pid of the app whose menu an earlier link left open.
    menu_of: Option<u32>,
    /// Whether a list that a web page has opened for a field may still be open.
    pub(crate) list: bool,
    /// Receives the saved state if the restore is deferred because of an open menu.
    deferred: &'a mut Option<DeferredRestore>,
}

impl<'a> Checkpoint<'a> {
    /// Saves the person's front window. Takes over a restore that an earlier link deferred, unless
    /// the menu that it was deferred for has closed, or the person has gone on to another window
    /// since.
    ///
    /// With `watch`, watches the person's key and button presses from here on, so that the person's
    /// switch to another window is not taken for a handoff.
    ///
    /// # Errors
    /// Errors of the desktop. A deferred restore then stays deferred.
    pub(crate) fn save(
        desktop: &'a mut dyn Desktop,
        subject: &'a Subject,
        watch: bool,
        deferred: &'a mut Option<DeferredRestore>,
        cancel: &'a Cancel,
    ) -> Result<Self> {
        let mut desk = Self {
            desktop,
            cancel,
            saved: Saved::default(),
            front_then: None,
            windows: Vec::new(),
            subject,
            guard: Watch::default(),
            last_input: None,
            raised: None,
            raised_now: None,
            raised_place: None,
            aim: None,
            lends_clipboard: false,
            hovers_at: None,
            touched: false,
            quiet: false,
            may_come_late: false,
            pointed: false,
            pressed: false,
            keep: false,
            holds_on: None,
            listens_on: false,
            restored: false,
            menu_of: None,
            list: false,
            deferred,
        };
        if watch && !desk.desktop.is_private() {
            desk.watch();
        }
        desk.note_desktop(watch)?;
        Ok(desk)
    }

    fn note_desktop(&mut self, acts: bool) -> Result<()> {
        let front = self.desktop.front()?;
        self.front_then = front.as_ref().map(|front| front.id);
        self.windows = self.desktop.every_window()?;
        if self.desktop.is_private() && self.subject.home().is_some() {
            self.saved.front = front;
            return Ok(());
        }
        let why = match &*self.deferred {
            Some(deferred) if deferred.desktop == self.desktop.id() => Some(deferred.why),
            _ => None,
        };
        // If a panel's menu was left open, the person's window was in front at that time.
        let then = self.deferred.as_ref().and_then(|deferred| deferred.front);
        let owns_front = |pid| {
            let front = front.as_ref();
            front.is_some_and(|front| front.pid == Some(pid) || then == Some(front.id))
        };
        match why {
            Some(Deferral::Menu(pid) | Deferral::List(pid))
                if owns_front(pid)
                    && (why == Some(Deferral::List(pid)) || self.desktop.popup_open(pid)?) =>
            {
                if let Some(deferred) = self.deferred.take() {
                    self.touched = true;
                    self.list = deferred.why == Deferral::List(pid);
                    self.menu_of = Some(pid).filter(|_| !self.list);
                    self.saved = deferred.saved;
                    self.leave_moved_pointer();
                }
            }
            Some(Deferral::Hover) if !acts => self.saved.front = front,
            Some(Deferral::Hover) => {
                let pointer = self.deferred.take().map(|deferred| deferred.saved);
                self.saved = Saved {
                    front,
                    ..pointer.unwrap_or_default()
                };
                self.leave_moved_pointer();
            }
            _ => {
                *self.deferred = None;
                self.saved.front = front;
            }
        }
        Ok(())
    }

    /// If the person has moved the pointer since an earlier link moved it, forgets where that link
    /// found it: this link then saves the present position before its first move.
    fn leave_moved_pointer(&mut self) {
        if let Ok(Some(now)) = self.desktop.pointer()
            && !self.saved.left.contains(&now.at)
        {
            self.saved.pointer = None;
            self.saved.left.clear();
        }
    }

    /// The person's front window at the checkpoint. `None` on a private desktop once the link has
    /// brought its target to the front: no window there is the person's.
    pub(crate) fn front_before(&self) -> Option<&Window> {
        let nobodys = self.raised.is_some() && self.desktop.is_private();
        self.saved.front.as_ref().filter(|_| !nobodys)
    }

    /// Fails if the window manager has put `front` in place of a window that has closed: the window
    /// of the last input, or the app's last window. `front` was open before the link. If `keys` are
    /// to be sent, also fails if it is unknown why `front` came to the front.
    pub(crate) fn refuse_substitute(
        &mut self,
        app: u32,
        (front, pid): (&Window, u32),
        keys: bool,
    ) -> Result<()> {
        if !self.was_there(front.id) {
            return Ok(());
        }
        let gone = self.desktop.windows_of(app)?.is_empty();
        let why = if gone || self.is_substitute(app, front)? {
            "is in front now, because the app has closed its own window"
        } else if keys {
            "has come to the front, and was open before"
        } else {
            return Ok(());
        };
        Err(Error::Elsewhere {
            title: front.title.clone(),
            pid,
            why: format!(
                "{why}. Nothing more was sent. Call again with pid {pid} to act in that app"
            ),
            unsent: false,
        })
    }

    /// Whether the window of the last input has closed and `front`, which was open before, has
    /// taken its place although the app has another window.
    pub(crate) fn is_substitute(&mut self, app: u32, front: &Window) -> Result<bool> {
        let last = self.last_input.as_ref().filter(|last| last.pid == app);
        let Some(last) = last
            .map(|last| last.window)
            .filter(|_| self.was_there(front.id))
        else {
            return Ok(false);
        };
        let windows = self.desktop.windows_of(app)?;
        Ok(!windows.is_empty() && windows.iter().all(|w| w.id != last))
    }

    /// Whether `front` is in front for another reason than the link's last input. There are two
    /// such reasons: it was in front before that input; or the link acts in the background, the
    /// person's window has closed, and the window manager has put `front` in its place.
    pub(crate) fn is_no_effect(&mut self, front: &Window) -> Result<bool> {
        if self.front_then == Some(front.id) {
            return Ok(true);
        }
        if self.raised.is_some() {
            return Ok(false);
        }
        let theirs = self.saved.front.as_ref();
        let theirs = theirs.filter(|theirs| !self.is_targets(theirs));
        let theirs = theirs.map(|theirs| theirs.id);
        let Some(theirs) = theirs.filter(|id| self.was_there(*id) && self.was_there(front.id))
        else {
            return Ok(false);
        };
        Ok(self.desktop.every_window()?.iter().all(|w| w.id != theirs))
    }

    /// Whether the window existed at the checkpoint.
    pub(crate) fn was_there(&self, window: WindowId) -> bool {
        self.windows.iter().any(|w| w.id == window)
    }

    /// Whether the restore will bring back a window of another app than the call's.
    pub(crate) fn brings_back_another_app(&self) -> bool {
        let theirs = self.saved.front.as_ref().and_then(|front| front.pid);
        let is_another = theirs.is_some_and(|pid| Some(pid) != self.subject.home());
        self.touched && is_another && !self.desktop.is_private()
    }

    /// Restores nothing, because another process took over.
    pub(crate) fn hand_off(&mut self) {
        self.keep = true;
        self.ungrab();
    }

    /// Defers the restore to a later link if it would close an open menu or list of the app `pid`,
    /// or a menu that an earlier link left open.
    pub(crate) fn hold_for_menu(&mut self, pid: u32) {
        if self.desktop.is_private() {
            return;
        }
        let open = |desktop: &mut dyn Desktop, pid| desktop.popup_open(pid).unwrap_or(false);
        let menu_of = self.menu_of.filter(|of| *of != pid);
        let may_be_menu = self.pressed || self.menu_of.is_some() || self.hovers_at.is_none();
        let of = if may_be_menu && open(self.desktop, pid) {
            Some(pid)
        } else {
            menu_of.filter(|of| open(self.desktop, *of))
        };
        let list = self.list.then_some(Deferral::List(pid));
        let why = of.map(Deferral::Menu).or(list);
        if let Some(why) = why.filter(|_| self.touched) {
            *self.deferred = Some(DeferredRestore {
                front: self.desktop.front().ok().flatten().map(|front| front.id),
                saved: std::mem::take(&mut self.saved),
                why,
                desktop: self.desktop.id(),
            });
            self.keep = true;
        }
    }

    // The input of a link. Each method records what the restore needs.

    /// Like [`Apps::open`](crate::Apps::open).
    pub(crate) fn open(&mut self, identifier: &str, permit: Permit<'_>) -> Result<Opened> {
        self.touched = true;
        self.desktop.open(identifier, permit)
    }

    /// Like [`AppWindows::reveal`](crate::AppWindows::reveal).
    pub(crate) fn reveal(&mut self, pid: u32) -> Result<()> {
        self.touched = true;
        self.desktop.reveal(pid, self.cancel)
    }

    /// Brings a window of the target to the front. If the person has turned to another window since
    /// the checkpoint, the restore will bring that window back.
    pub(crate) fn raise(&mut self, window: WindowId, cancel: &Cancel) -> Result<()> {
        let front = self.desktop.front()?;
        if front.as_ref().is_some_and(|front| front.id == window) {
            return Ok(());
        }
        if let Err(Missing(why)) = self.desktop.raising() {
            return Err(TargetError::CannotRaise(why.into_owned()).into());
        }
        let theirs = |front: &Window| !self.touched || !self.is_targets(front);
        if let Some(front) = front.filter(theirs) {
            // The person's window is now above all others. If it closes, they get the window below
            // it, so the order is recorded.
            if let Some(at) = self.windows.iter().position(|w| w.id == front.id) {
                self.windows[..=at].rotate_right(1);
            }
            self.saved.front = Some(front);
        }
        self.touched = true;
        self.raised = Some(window);
        self.raised_now = Some(window);
        self.raised_place = None;
        self.front_then = Some(window);
        self.save_state(window)?;
        let raised = self.desktop.raising()?.activate(window, cancel);
        self.may_come_late |= matches!(
            raised,
            Err(Error::Target(TargetError::HeldBack { manager: None, .. }))
        );
        raised
    }

    /// Saves what raising a window changes besides the order of windows.
    fn save_state(&mut self, window: WindowId) -> Result<()> {
        if self.desktop.is_private() {
            return Ok(());
        }
        let window = self.listed(window)?;
        self.raised_place = Some(window.place);
        if !window.is_away() || self.saved.away.iter().any(|known| known.id == window.id) {
            return Ok(());
        }
        if window.workspace.is_some() && self.saved.workspace.is_none() {
            self.saved.workspace = self.desktop.workspace()?;
        }
        self.saved.away.push(window);
        Ok(())
    }

    /// The window as the display lists it now, or a default one if it is not listed.
    fn listed(&mut self, id: WindowId) -> Result<Window> {
        let mut windows = self.desktop.every_window()?.into_iter();
        let window = windows.find(|w| w.id == id);
        Ok(window.unwrap_or_default())
    }

    /// The place of the window that was brought to the front for the current step.
    pub(crate) fn raised_place(&mut self) -> Result<Option<Place>> {
        let Some(window) = self.raised_now else {
            return Ok(None);
        };
        let place = match self.raised_place {
            Some(place) => place,
            None => self.listed(window)?.place,
        };
        Ok(Some(place))
    }

    /// Whether a window belongs to a process that the link drives, or whose menu an earlier link
    /// has left open. On a display that does not report owners, whether the link has raised this
    /// window.
    fn is_targets(&self, window: &Window) -> bool {
        match (window.pid, self.subject.home()) {
            (Some(pid), Some(_)) => self.subject.has(pid) || self.menu_of == Some(pid),
            _ => self.raised == Some(window.id),
        }
    }

    pub(crate) fn set_aim(&mut self, aim: Aim) {
        self.aim = Some(aim);
        self.desktop.set_aim(aim);
    }

    /// Tells the display that the next pointer input is for a window with these bounds.
    pub(crate) fn expect_at(&mut self, place: Option<Rect>) {
        if let Some(aim) = self.aim.filter(|aim| aim.place != place) {
            self.set_aim(Aim { place, ..aim });
        }
    }

    pub(crate) fn click(&mut self, click: Click) -> Result<()> {
        self.points_at(click.at)?;
        self.pressed = true;
        self.desktop
            .pointer_input()?
            .click(click, &mut || None, self.cancel)
    }

    pub(crate) fn hover(&mut self, at: Point) -> Result<()> {
        self.points_at(at)?;
        self.desktop.pointer_input()?.hover(at, self.cancel)?;
        self.hovers_at = Some(at);
        Ok(())
    }

    pub(crate) fn drag(&mut self, way: [Point; 2], held: Modifiers) -> Result<()> {
        self.points_at(way[0])?;
        self.points_at(way[1])?;
        self.pressed = true;
        self.desktop.pointer_input()?.drag(way, held, self.cancel)
    }

    pub(crate) fn scroll(&mut self, at: Point, lines: (i32, i32)) -> Result<()> {
        self.points_at(at)?;
        self.desktop.pointer_input()?.scroll(at, lines, self.cancel)
    }

    pub(crate) fn type_text(&mut self, text: &str) -> Result<()> {
        self.presses();
        self.desktop.key_input()?.type_text(text, self.cancel)
    }

    pub(crate) fn press_key(&mut self, press: KeyPress, hold: Duration) -> Result<()> {
        self.presses();
        self.desktop
            .key_input()?
            .press_key(press, hold, self.cancel)
    }

    /// Presses Escape to close a menu or a list, even in a link that Esc has cancelled.
    pub(crate) fn press_close(&mut self) -> Result<()> {
        self.presses();
        let keys = self.desktop.key_input()?;
        keys.press_key(CLOSE_KEY, Duration::ZERO, &Cancel::new())
    }

    fn presses(&mut self) {
        self.touched = true;
        self.pressed = true;
    }

    /// Like [`Clipboard::offer`](crate::Clipboard::offer).
    pub(crate) fn lend_clipboard(&mut self, text: &str, app: u32) -> Result<()> {
        self.lends_clipboard = true;
        self.desktop.clipboard()?.offer(text, app, self.cancel)
    }

    /// Like [`Clipboard::give_back`](crate::Clipboard::give_back).
    pub(crate) fn give_back_clipboard(&mut self) -> Result<()> {
        if self.lends_clipboard {
            self.desktop.clipboard()?.give_back()?;
            self.lends_clipboard = false;
        }
        Ok(())
    }

    /// Saves the person's pointer position before the first move, and records the new position.
    fn points_at(&mut self, at: Point) -> Result<()> {
        if self.saved.pointer.is_none() && !self.desktop.is_private() {
            self.saved.pointer = self.desktop.pointer()?.map(|now| now.at);
        }
        self.hovers_at = None;
        self.touched = true;
        self.pointed = true;
        self.saved.left.push(at);
        Ok(())
    }
}

impl Checkpoint<'_> {
    /// [`wait::until`], on this desktop.
    pub(crate) fn until<T>(
        &mut self,
        limit: Duration,
        every: Duration,
        mut ask: impl FnMut(&mut Self) -> Result<Option<T>>,
    ) -> Result<Option<T>> {
        wait::until(self.cancel, limit, every, || ask(self))
    }

    fn watch(&mut self) {
        if let Ok(guard) = self.desktop.guard() {
            guard.watch();
        }
    }

    /// Whether the person has pressed a key or a button since the checkpoint; `None` if that is
    /// unknown.
    pub(crate) fn person_pressed(&mut self) -> Option<bool> {
        self.desktop.guard().ok()?.pressed()
    }

    fn unwatch(&mut self) {
        if !self.desktop.is_private()
            && let Ok(guard) = self.desktop.guard()
        {
            guard.unwatch();
        }
    }

    /// Gives the clipboard back after an error, a cancellation or a panic in the middle of a paste.
    pub(crate) fn restore_clipboard(&mut self) {
        if let Err(e) = self.give_back_clipboard() {
            tracing::warn!("the clipboard was not given back: {e}");
        }
    }

    /// Leaves a menu open that an earlier link left open, if this link fails. After the person's
    /// Esc, the menu is closed.
    fn keep_menu(&mut self) {
        let list_of = self.subject.home().filter(|_| self.list);
        if let Some(pid) = self.menu_of.or(list_of).filter(|_| !self.keep)
            && self.cancel.reason() != Some(Reason::Person)
        {
            self.hold_for_menu(pid);
        }
    }
}

impl<'a> Deref for Checkpoint<'a> {
    type Target = dyn Desktop + 'a;

    fn deref(&self) -> &Self::Target {
        self.desktop
    }
}

impl DerefMut for Checkpoint<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        self.desktop
    }
}
