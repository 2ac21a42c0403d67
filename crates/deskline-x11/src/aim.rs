//! The target of input, and checks that input still goes there: while a text is typed, the person,
//! the app or a screen lock may put something else in front.

use std::time::Duration;

use deskline_core::Point;
use deskline_link::{Aim, Cancel, Error, Other, Result};
use x11rb::protocol::shape::{self, ConnectionExt as _};
use x11rb::protocol::xproto::Window;

use super::grab_probe::Grabbable;
use super::grabs;
use super::toplevel::{Kind, Toplevel};
use super::{During as _, Present as _, X11};

/// How long the focus may be on no window while it moves between two, and how long an unexplained
/// grab may last: see [`grabs`].
const MOVING: Duration = Duration::from_millis(300);

const WHAT: &str = "looking where input goes";

/// The target of input.
#[derive(Debug, Default)]
pub(super) struct Target {
    aim: Option<Aim>,
    /// The focused window, known to be the target's and uncovered.
    focus: Option<Window>,
}

impl Target {
    pub(super) fn pid(&self) -> Option<u32> {
        self.aim.map(|aim| aim.pid)
    }

    pub(super) fn has_menu(&self) -> bool {
        self.aim.is_some_and(|aim| aim.menu)
    }
}

/// The receiver of input.
enum Goes {
    ToTarget,
    To(Toplevel),
    /// To the client that has grabbed the device, described in words.
    ToGrab(String),
    Nowhere,
}

fn other(toplevel: Toplevel) -> Other {
    Other {
        title: toplevel.title,
        pid: toplevel.pid,
    }
}

impl X11 {
    /// Sets the target of keys and clicks.
    pub fn aim(&mut self, aim: Aim) {
        self.target = Target {
            aim: Some(aim),
            focus: None,
        };
    }

    /// Fails if the keyboard focus is no longer the target's. `progress` says how much was sent, as
    /// a sentence without its full stop. Takes one round trip, unless the focus has moved or a
    /// client has grabbed the keyboard. Needs [`X11::watching_root`].
    pub(super) fn check_keyboard(
        &mut self,
        cancel: &Cancel,
        progress: impl Fn() -> String,
    ) -> Result<()> {
        let Some(pid) = self.target.pid() else {
            return Ok(());
        };
        let mut goes = Goes::Nowhere;
        self.wait_until(MOVING, cancel, |x11| {
            goes = x11.keyboard_goes(pid)?;
            Ok(!matches!(goes, Goes::Nowhere | Goes::ToGrab(_)))
        })?;
        match goes {
            Goes::ToTarget => Ok(()),
            Goes::To(toplevel) => Err(other(toplevel).has_keyboard(&progress())),
            Goes::ToGrab(holder) => Err(grabs::grabbed(Grabbable::Keyboard, &holder, &progress())),
            Goes::Nowhere => Err(Error::Input(format!(
                "no window has the keyboard: the target's was closed, or a program keeps it. {}",
                progress()
            ))),
        }
    }

    /// Fails if the window at a point is not the target's, or if a client has grabbed the pointer
    /// and would get the click.
    pub(super) fn check_pointer(&mut self, at: Point, cancel: &Cancel) -> Result<()> {
        self.check_place(at)?;
        self.check_grab(Grabbable::Pointer, cancel, || {
            "Nothing was sent there".to_owned()
        })
    }

    fn check_place(&self, at: Point) -> Result<()> {
        let Some(pid) = self.target.pid() else {
            return Ok(());
        };
        let Some(window) = self.window_at(at)? else {
            return Ok(());
        };
        match self.pointed_at(window, pid)? {
            Goes::To(toplevel) => Err(other(toplevel).lies_over(at)),
            Goes::ToTarget | Goes::ToGrab(_) | Goes::Nowhere => Ok(()),
        }
    }

    /// Fails if the window at the drop point is another app's. Another window of the target is
    /// fine.
    pub(super) fn check_drop(&self, at: Point) -> Result<()> {
        let (Some(pid), Some(window)) = (self.target.pid(), self.window_at(at)?) else {
            return Ok(());
        };
        match self.owner(window, pid)? {
            Goes::To(toplevel) => Err(other(toplevel).lies_over_end(at)),
            Goes::ToTarget | Goes::ToGrab(_) | Goes::Nowhere => Ok(()),
        }
    }

    /// The owner of the window under the pointer. Another window of the target's process is not the
    /// target, unless it is override-redirect, such as an open menu or a tooltip.
    fn pointed_at(&self, window: Window, pid: u32) -> Result<Goes> {
        let goes = self.owner(window, pid)?;
        let (Goes::ToTarget, Some(wanted)) = (&goes, self.target.aim.and_then(|aim| aim.window))
        else {
            return Ok(goes);
        };
        let around = self.ancestry(window)?;
        if around.iter().any(|id| u64::from(*id) == wanted.0) {
            return Ok(goes);
        }
        let mut others = self.toplevels()?.into_iter();
        let other = others.find(|other| around.contains(&other.id));
        Ok(other.map_or(goes, Goes::To))
    }

    fn keyboard_goes(&mut self, pid: u32) -> Result<Goes> {
        // Send both requests in one round trip.
        let probe = self.probe(Grabbable::Keyboard)?;
        let focus = self.focus()?;
        if probe.grabbed()?
            && let Some(holder) = self.stranger(pid)?
        {
            return Ok(Goes::ToGrab(holder));
        }
        let Some(focus) = focus else {
            return Ok(Goes::Nowhere);
        };
        let came_up = std::mem::take(&mut self.heard.came_up);
        if self.target.focus == Some(focus) && !came_up {
            return Ok(Goes::ToTarget);
        }
        self.target.focus = None;
        let goes = match self.owner(focus, pid)? {
            Goes::ToTarget => self.in_wanted(focus)?,
            goes => goes,
        };
        if !matches!(goes, Goes::ToTarget) {
            return Ok(goes);
        }
        if let Some(lock) = self.covering(focus, pid)? {
            return Ok(Goes::To(lock));
        }
        self.target.focus = Some(focus);
        Ok(Goes::ToTarget)
    }

    /// Whether a window of the target's process may have the keys: the wanted one, a menu, or a
    /// dialog of the wanted one. Another document of the process may not.
    fn in_wanted(&self, focus: Window) -> Result<Goes> {
        let Some(wanted) = self.target.aim.and_then(|aim| aim.window) else {
            return Ok(Goes::ToTarget);
        };
        let around = self.ancestry(focus)?;
        let is_wanted = |id: Window| u64::from(id) == wanted.0;
        if around.iter().any(|id| is_wanted(*id)) {
            return Ok(Goes::ToTarget);
        }
        let toplevels = self.toplevels()?;
        let Some(has) = toplevels.iter().find(|t| around.contains(&t.id)) else {
            // No window manager lists it: a menu, or a window that an app draws over its own.
            return Ok(Goes::ToTarget);
        };
        let mut over = has.transient_for;
        // As many steps as there are windows, should they be transient for each other.
        for _ in 0..toplevels.len() {
            let Some(id) = over else { break };
            if is_wanted(id) {
                return Ok(Goes::ToTarget);
            }
            let next = toplevels.iter().find(|t| t.id == id);
            over = next.and_then(|t| t.transient_for);
        }
        // A dialog of no window, or of all windows of its app.
        let of_app = has.transient_for.is_none_or(|id| id == self.root);
        let of_app = of_app && (has.kind == Kind::Dialog || has.modal);
        Ok(if of_app {
            Goes::ToTarget
        } else {
            Goes::To(has.clone())
        })
    }

    /// The owner of a window. A window inside the target's window counts as the target's: helper
    /// processes create windows there.
    fn owner(&self, window: Window, pid: u32) -> Result<Goes> {
        let facts = self.facts(&self.ancestry(window)?)?;
        let mut around = facts.into_iter().map(|f| f.toplevel).filter(|t| t.pid != 0);
        let Some(innermost) = around.next() else {
            return Ok(Goes::Nowhere);
        };
        if innermost.pid == pid || around.any(|t| t.pid == pid) {
            return Ok(Goes::ToTarget);
        }
        Ok(Goes::To(innermost))
    }

    /// An override-redirect window of another client that covers the whole focused window and takes
    /// input. That is how a screen lock looks, which does not move the focus.
    fn covering(&self, focus: Window, pid: u32) -> Result<Option<Toplevel>> {
        let Some(outer) = self.ancestry(focus)?.pop() else {
            return Ok(None);
        };
        let stack = self.children_of_root()?;
        let above = stack.iter().skip_while(|id| **id != outer).copied();
        let facts = self.facts(&above.collect::<Vec<_>>())?;
        let mut facts = facts.into_iter();
        let Some(target) = facts.next().map(|f| f.toplevel.raw) else {
            return Ok(None);
        };
        for f in facts {
            let window = f.toplevel;
            let over = f.override_redirect
                && window.viewable
                && window.raw.intersect(&target) == target
                && ![0, pid, std::process::id()].contains(&window.pid);
            if over && self.takes_input(window.id)? {
                return Ok(Some(window));
            }
        }
        Ok(None)
    }

    /// `false` for windows that are transparent to input, such as a compositor's.
    pub(super) fn takes_input(&self, window: Window) -> Result<bool> {
        let shape = self
            .connection
            .shape_get_rectangles(window, shape::SK::INPUT)
            .during(WHAT)?
            .reply()
            .present(WHAT)?;
        Ok(shape.is_none_or(|shape| !shape.rectangles.is_empty()))
    }
}
