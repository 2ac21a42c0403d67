//! Checks that input still reaches its target. While text is typed, the person, the app or a screen
//! lock may bring another window to the front.

use std::time::Duration;

use deskline_contract::Result;
use deskline_core::Rect;
use deskline_input::{Aim, Cancel, Receiver};
use x11rb::protocol::shape::{self, ConnectionExt as _};
use x11rb::protocol::xproto::{Rectangle, Window};

use super::grab_probe::Grabbable;
use super::toplevel::{Kind, Toplevel};
use super::{Answer as _, X11};

/// How long the focus may be on no window while it moves from one to another, and how long another
/// client's grab may last: see `grabs`.
const MOVING: Duration = Duration::from_millis(300);

const WHAT: &str = "checking where input goes";

impl X11 {
    /// Sets the target of keys and clicks.
    pub fn set_aim(&mut self, aim: Aim) {
        self.hands.aim = Some(aim);
        self.sure_focus = None;
    }

    /// The window that has the keyboard. Takes one round trip, unless the focus has moved or is
    /// about to move, or a client has grabbed the keyboard. Needs [`X11::watch_root`].
    pub(super) fn receiver(&mut self, aim: Option<Aim>, cancel: &Cancel) -> Result<Receiver> {
        let Some(aim) = aim else {
            return Ok(Receiver::Target);
        };
        let mut goes = Receiver::Nobody;
        self.wait_until(MOVING, cancel, |x11| {
            goes = x11.keyboard_goes(aim)?;
            // Another client may request the front meanwhile.
            for _ in 0..8 {
                if !x11.may_move(aim)? {
                    break;
                }
                x11.await_manager(MOVING, cancel)?;
                goes = x11.keyboard_goes(aim)?;
            }
            Ok(!matches!(goes, Receiver::Nobody | Receiver::Grab(_)))
        })?;
        Ok(goes)
    }

    /// The owner of the window under the pointer. Another window of the target's process does not
    /// count as the target, unless it is override-redirect, such as an open menu or a tooltip.
    pub(super) fn pointed_at(&self, window: Window, aim: Aim) -> Result<Receiver> {
        let goes = self.owner(window, aim.pid)?;
        let may_be = matches!(goes, Receiver::Target | Receiver::Nobody);
        let Some(wanted) = aim.window.filter(|_| may_be) else {
            return Ok(goes);
        };
        let around = self.ancestry(window)?;
        if around.iter().any(|id| u64::from(*id) == wanted.0) {
            return Ok(goes);
        }
        if matches!(goes, Receiver::Nobody) {
            // If the X server knows the process of the target's window, a window without a process
            // belongs to a client on another machine or is the root window.
            let known = u32::try_from(wanted.0).is_ok_and(|id| {
                let pids = self.res_pids(&[id]);
                pids.is_ok_and(|pids| !pids.is_empty())
            });
            let outermost = self.facts(&around)?.pop().filter(|_| known);
            return Ok(outermost.map_or(goes, |f| Receiver::Other(f.window())));
        }
        let mut others = self.toplevels()?.into_iter();
        let found = others.find(|other| around.contains(&other.id));
        Ok(found.map_or(goes, |found| Receiver::Other(found.window())))
    }

    /// Whether a client has asked the window manager to bring another window to the front since the
    /// last call. The focus moves only later, when the window manager handles that request. The
    /// first call returns `true`, because a client may have asked before it.
    fn may_move(&mut self, aim: Aim) -> Result<bool> {
        self.hear()?;
        let wanted = aim.window.map(|window| window.0);
        let mut asked_for = std::mem::take(&mut self.heard.asked_for).into_iter();
        Ok(asked_for.any(|window| Some(u64::from(window)) != wanted))
    }

    fn keyboard_goes(&mut self, aim: Aim) -> Result<Receiver> {
        // Send both requests in one round trip.
        let probe = self.probe(Grabbable::Keyboard)?;
        let focus = self.focus()?;
        if probe.grabbed()? {
            if let Some(holder) = self.stranger(aim)? {
                return Ok(Receiver::Grab(holder));
            }
            // A panel's menu has the keys, though another window has the focus.
            if aim.menu && self.popup_open(aim.pid)? {
                return Ok(Receiver::Target);
            }
        }
        let Some(focus) = focus else {
            return Ok(Receiver::Nobody);
        };
        let popup_mapped = std::mem::take(&mut self.heard.popup_mapped);
        if self.sure_focus == Some(focus) && !popup_mapped {
            return Ok(Receiver::Target);
        }
        self.sure_focus = None;
        let goes = match self.owner(focus, aim.pid)? {
            Receiver::Target => self.in_wanted(focus, aim)?,
            goes => goes,
        };
        if !matches!(goes, Receiver::Target) {
            return Ok(goes);
        }
        if let Some(lock) = self.covering(focus, aim.pid)? {
            return Ok(Receiver::Other(lock.window()));
        }
        self.sure_focus = Some(focus);
        Ok(Receiver::Target)
    }

    /// Whether a window of the target's process counts as the target. The wanted window, its
    /// dialogs and menus do; the window of another document does not.
    fn in_wanted(&self, focus: Window, aim: Aim) -> Result<Receiver> {
        let Some(wanted) = aim.window else {
            return Ok(Receiver::Target);
        };
        let around = self.ancestry(focus)?;
        let is_wanted = |id: Window| u64::from(id) == wanted.0;
        if around.iter().any(|id| is_wanted(*id)) {
            return Ok(Receiver::Target);
        }
        let toplevels = self.toplevels()?;
        let Some(has) = toplevels.iter().find(|t| around.contains(&t.id)) else {
            // A window that the window manager does not list is a menu or an overlay of the app.
            return Ok(Receiver::Target);
        };
        let mut over = has.transient_for;
        // WM_TRANSIENT_FOR may have a cycle.
        for _ in 0..toplevels.len() {
            let Some(id) = over else { break };
            if is_wanted(id) {
                return Ok(Receiver::Target);
            }
            let next = toplevels.iter().find(|t| t.id == id);
            over = next.and_then(|t| t.transient_for);
        }
        // A dialog without an owner, or of the whole app (transient for the root).
        let of_app = has.transient_for.is_none_or(|id| id == self.root);
        let of_app = of_app && (has.kind == Kind::Dialog || has.modal);
        Ok(if of_app {
            Receiver::Target
        } else {
            Receiver::Other(has.window())
        })
    }

    /// The owner of a window. A window inside the target's window counts as the target's: helper
    /// processes create windows there.
    pub(super) fn owner(&self, window: Window, pid: u32) -> Result<Receiver> {
        let facts = self.facts(&self.ancestry(window)?)?;
        let mut around = facts.into_iter().filter(|t| t.pid != 0);
        let Some(innermost) = around.next() else {
            return Ok(Receiver::Nobody);
        };
        if innermost.pid == pid || around.any(|t| t.pid == pid) {
            return Ok(Receiver::Target);
        }
        Ok(Receiver::Other(innermost.window()))
    }

    /// Finds a screen lock: an override-redirect window of another client that covers the whole
    /// focused window and takes input. A lock does not move the focus.
    fn covering(&self, focus: Window, pid: u32) -> Result<Option<Toplevel>> {
        let Some(outer) = self.ancestry(focus)?.pop() else {
            return Ok(None);
        };
        let stack = self.children_of_root()?;
        let above = stack.iter().skip_while(|id| **id != outer).copied();
        let facts = self.facts(&above.collect::<Vec<_>>())?;
        let mut facts = facts.into_iter();
        let Some(target) = facts.next().map(|f| f.raw) else {
            return Ok(None);
        };
        for window in facts {
            let over = window.override_redirect
                && window.viewable
                && window.raw.intersect(&target) == target
                && ![0, pid, std::process::id()].contains(&window.pid);
            if over && self.takes_input_over(&window, target)? {
                return Ok(Some(window));
            }
        }
        Ok(None)
    }

    /// Whether the window takes all input over this place. KWin's resize handles do not: they are a
    /// window that covers a whole client window, but takes input only at the edges.
    pub(super) fn takes_input_over(&self, window: &Toplevel, place: Rect) -> Result<bool> {
        let Some(shape) = self.input_shape(window.id)? else {
            return Ok(true);
        };
        Ok(shape.iter().any(|part| {
            let part = Rect {
                x: window.raw.x + i32::from(part.x),
                y: window.raw.y + i32::from(part.y),
                w: part.width.into(),
                h: part.height.into(),
            };
            part.intersect(&place) == place
        }))
    }

    /// Whether the window takes input. Some windows, such as a compositor's, are transparent to it.
    pub(super) fn takes_input(&self, window: Window) -> Result<bool> {
        let shape = self.input_shape(window)?;
        Ok(shape.is_none_or(|shape| !shape.is_empty()))
    }

    /// The rectangles where the window takes input, relative to the window; `None` if it has gone.
    fn input_shape(&self, window: Window) -> Result<Option<Vec<Rectangle>>> {
        let shape = self
            .connection
            .shape_get_rectangles(window, shape::SK::INPUT)
            .answer_if_present(WHAT)?;
        Ok(shape.map(|shape| shape.rectangles))
    }
}
