//! Implements the desktop contract on macOS.

mod apps;
mod display;
mod scene;

use deskline_contract::{
    Cancel, Deed, Desktop, Error, Obstacle, Refusal, Result, Scope, Sign, Trees, wait,
};
use std::collections::HashSet;
use std::time::Duration;

use deskline_core::{Element, ElementId, Point, Role, Tree, Window};
use deskline_input::clock::Instant;
use deskline_input::{Aim, Hands};

use crate::ax::act::Acting;
use crate::ax::identity::Identities;
use crate::ax::listen::Listening;
use crate::ax::reuse::Last;
use crate::ax::tree::{self, Known, Reading};
use crate::ax::wake::{self, Woken};
use crate::ax::{PATIENCE, failed};
use crate::clipboard::Pasteboard;
use crate::guard::Guard;
use crate::input::Input;
use crate::keys::MacKey;
use crate::os::{AxError, Os, ServerWindow, name_of};
use crate::windows::{self, AxWindow};

/// If events have invalidated more elements than this, read everything again.
const MOST_NAMED: usize = 200;

/// A desktop on macOS.
pub struct MacDesktop<O: Os> {
    os: O,
    identities: Identities<O>,
    woken: Woken<O>,
    listening: Option<Listening<O>>,
    /// What the link has read so far of the app whose notifications it gets.
    last: Option<Last<O::Element>>,
    guard: Guard<O>,
    pasteboard: Pasteboard<O>,
    input: Input<O>,
    hands: Hands<MacKey>,
    /// The pid and name of the app that was started last.
    starting: Option<(u32, String)>,
    /// The pids of the apps that ran when the link began. Some apps never finish launching.
    running: HashSet<u32>,
    asked_to_capture: bool,
    no_pictures_until: Option<Instant>,
    /// The pid of an app, and the menus of it that a link has left open.
    opened: Option<(u32, Vec<O::Element>)>,
    /// The pid of the app whose last tree showed the panes where programs get their permissions.
    permissions: Option<u32>,
    /// The screen before the link raised a window.
    before: Option<Before<O::Element>>,
}

/// The screen before a link raised a window.
struct Before<E> {
    /// The windows on the screen, front to back.
    order: Vec<ServerWindow>,
    /// The window with the focus. Its element remains valid while another Space is shown, although
    /// Accessibility does not list the window then.
    front: Option<AxWindow<E>>,
    /// The app whose window was raised.
    raised: u32,
    /// The raised app's windows that were minimised, and the app itself if it was hidden, each with
    /// the attribute that restores this state.
    away: Vec<(E, &'static str)>,
}

impl<O: Os> MacDesktop<O> {
    /// Creates the desktop on top of `os`.
    pub fn new(os: O) -> Self {
        Self {
            identities: Identities::default(),
            woken: Woken::new(os.clone()),
            listening: None,
            last: None,
            guard: Guard::new(os.clone()),
            pasteboard: Pasteboard::new(os.clone()),
            input: Input::new(os.clone()),
            hands: Hands::default(),
            starting: None,
            running: HashSet::new(),
            asked_to_capture: false,
            no_pictures_until: None,
            opened: None,
            permissions: None,
            before: None,
            os,
        }
    }

    /// The window that would get a click at this point, if it belongs to another app than the
    /// target. Compares only the apps, not the windows: to the `WindowServer`, sheets, drawers and
    /// popovers are separate windows, while Accessibility treats them as parts of their window.
    /// Asks Accessibility first: it knows that the Dock's window, which is as large as the screen,
    /// is empty in most places.
    fn stranger_at(&self, at: Point, aim: Aim) -> Option<Window> {
        let own = std::process::id();
        let middle = (f64::from(at.x) + 0.5, f64::from(at.y) + 0.5);
        let seen = self.os.element_at(middle);
        let seen = seen.and_then(|element| self.os.pid_of(&element));
        let owner = match seen.ok().filter(|pid| *pid != own) {
            Some(owner) => owner,
            None => windows::owner_at(&self.os, at, own)?,
        };
        let is_other = owner != aim.pid && self.is_another_app(owner, aim.pid);
        (is_other && !self.is_extra(at, owner, aim.pid)).then(|| self.other(owner))
    }

    /// Whether the app `pid` has a menu extra at this point: since macOS 26 Control Center owns the
    /// places of all menu extras (jordanbaird/Ice #903), and passes clicks on to the apps.
    fn is_extra(&self, at: Point, owner: u32, pid: u32) -> bool {
        let owner = self.os.app(owner);
        let bar = || {
            let bar = self
                .os
                .element(&self.os.application(pid), "AXExtrasMenuBar")?;
            windows::ax_window(&self.os, bar)?.extents
        };
        owner.is_some_and(|app| app.bundle_id == CONTROL_CENTER)
            && bar().is_some_and(|bar| bar.contains(at))
    }

    /// Whether the process `owner` is an app of its own, not a part of the app `pid`. The Dock is
    /// an app; services that draw parts of an app's dialogs (open and save panels) are not, nor are
    /// helpers, which are in the app's bundle.
    fn is_another_app(&self, owner: u32, pid: u32) -> bool {
        let Some(other) = self.os.app(owner) else {
            return false;
        };
        let target = self.os.app(pid).map(|app| app.path).unwrap_or_default();
        let is_part = !target.as_os_str().is_empty() && other.path.starts_with(&target);
        let is_bundle = other.path.extension().is_some_and(|kind| kind == "app");
        other.regular || is_bundle && !is_part
    }

    fn other(&self, pid: u32) -> Window {
        Window {
            title: name_of(&self.os, pid).unwrap_or_default(),
            ..windows::app(pid)
        }
    }

    /// One traversal. If the link gets the app's notifications, the result is saved for the link's
    /// next traversal.
    fn traverse(&mut self, pid: u32, scope: Scope) -> Result<Tree> {
        Error::unless_own(pid)?;
        self.forget_changed(pid);
        let again = matches!(scope, Scope::Again { .. });
        let last = self.last.as_ref().filter(|last| again && last.pid == pid);
        let menus = self.menus(pid);
        let known = Known { last, menus };
        let reading = tree::read(&self.os, &mut self.identities, pid, scope, known)?;
        let Reading {
            tree,
            last: read,
            helpers,
        } = reading;
        if is_permissions(&self.os, &tree, &helpers) {
            self.permissions = Some(pid);
        } else {
            self.permissions.take_if(|of| *of == pid);
        }
        let listens = self.listening.as_ref().is_some_and(|l| l.pid == pid);
        if listens && scope != Scope::Showing {
            self.last = Some(read);
        }
        Ok(tree)
    }

    /// The app's open menus, whether they opened in this link or in an earlier one.
    fn menus(&self, pid: u32) -> Vec<O::Element> {
        let listening = self.listening.as_ref().filter(|l| l.pid == pid);
        let mut menus = listening.map(Listening::menus).unwrap_or_default();
        if let Some((_, before)) = self.opened.as_ref().filter(|(of, _)| *of == pid) {
            menus.extend_from_slice(before);
        }
        menus.retain(|_| windows::popup_open(&self.os, pid));
        menus
    }

    /// Drops from the last traversal the elements that events have named since.
    fn forget_changed(&mut self, pid: u32) {
        let Some(listening) = self.listening.as_ref().filter(|l| l.pid == pid) else {
            return;
        };
        let named = listening.named();
        let Some(last) = &mut self.last else { return };
        let Some(named) = named.filter(|named| named.len() <= MOST_NAMED) else {
            self.last = None;
            return;
        };
        let os = &self.os;
        for element in &named {
            last.forget(element, || os.element(element, "AXParent"));
        }
    }

    /// Forgets the elements that the app has reported as destroyed.
    fn forget_destroyed(&mut self) {
        let Some(listening) = &self.listening else {
            return;
        };
        let pid = listening.pid;
        for element in listening.destroyed() {
            self.identities.forget(pid, &element);
        }
    }
}

const CONTROL_CENTER: &str = "com.apple.controlcenter";

/// System Settings, and System Preferences before macOS 13.
const SETTINGS: &str = "com.apple.systempreferences";

/// Part of the name of the process that draws the panes of Privacy & Security:
/// `SecurityPrivacyExtension`, and `com.apple.preference.security.…` before macOS 13. These names
/// are a guess, so the English titles of the panes are checked too.
const PANES: [&str; 2] = ["SecurityPrivacy", "preference.security"];
const PANE_TITLES: [&str; 2] = ["Privacy & Security", "Security & Privacy"];

/// Whether a tree shows the settings in which the person gives programs their permissions.
fn is_permissions<O: Os>(os: &O, tree: &Tree, helpers: &HashSet<u32>) -> bool {
    let is_pane = |pid: &u32| {
        let name = os.process(*pid).map(|process| process.name);
        name.is_some_and(|name| PANES.iter().any(|pane| name.contains(pane)))
    };
    let is_settings = || {
        let app = os.app(tree.app.pid);
        app.is_some_and(|app| app.bundle_id == SETTINGS)
    };
    let titled =
        |e: &Element| e.role == Role::WINDOW && PANE_TITLES.contains(&e.title.shown.as_str());
    is_settings() && (helpers.iter().any(is_pane) || tree.elements.iter().any(titled))
}

impl<O: Os> Desktop for MacDesktop<O> {
    fn id(&self) -> String {
        self.os.session()
    }
}

impl<O: Os> Trees for MacDesktop<O> {
    fn read(&mut self, pid: u32, scope: Scope) -> Result<Tree> {
        self.forget_destroyed();
        let tree = self.traverse(pid, scope)?;
        let has_page = wake::has_page(&tree);
        if has_page {
            self.woken.renew(pid, true);
        }
        // Wake the app only after it has answered: a hung app would use up its time limit twice.
        if has_page || !self.woken.wake(pid) {
            return Ok(tree);
        }
        self.identities
            .retain_processes(|pid| self.os.process(pid).is_some());
        let start = Instant::now();
        let cancel = Cancel::current();
        while start.elapsed() < wake::WAKES && cancel.wait(wake::LOOK).is_ok() {
            match self.traverse(pid, Scope::Showing) {
                Ok(tree) if wake::has_page(&tree) => {
                    self.woken.renew(pid, true);
                    break;
                }
                // The app is still building its tree, and may not answer meanwhile.
                Ok(_) | Err(Error::NotAnswering { .. }) => {}
                Err(e) => return Err(e),
            }
        }
        self.traverse(pid, scope)
    }

    fn listen(&mut self, pid: u32) -> Result<()> {
        self.rest();
        self.running = self.os.apps().into_iter().map(|a| a.pid).collect();
        let asked = Instant::now();
        let listening = Listening::to(&self.os, pid).map_err(|e| match e {
            AxError::CANNOT_COMPLETE if asked.elapsed() < PATIENCE / 2 => {
                Error::system("listening to the app")(e)
            }
            e => failed(&self.os, pid, e),
        })?;
        self.listening = Some(listening);
        Ok(())
    }

    fn rest(&mut self) {
        self.forget_destroyed();
        if let Some(pid) = self.listening.as_ref().map(|listening| listening.pid) {
            self.opened = Some((pid, self.menus(pid)));
        }
        self.listening = None;
        self.last = None;
        self.woken.rest();
    }

    fn wait_for_change(&mut self, time: Duration) -> Result<Option<Sign>> {
        if let Some(listening) = &self.listening {
            return Ok(listening.signs.wait(time));
        }
        wait::pause(time);
        Ok(None)
    }

    fn act(&mut self, id: &ElementId, deed: Deed<'_>) -> Result<bool> {
        let action = deed.action();
        let refused = |obstacle| Error::Refused(Refusal { action, obstacle });
        if matches!(deed, Deed::Choose(_)) {
            return Err(refused(Obstacle::ChoiceNotSettable));
        }
        let known = self.identities.element(id);
        let (pid, element) = known.ok_or_else(|| refused(Obstacle::Gone))?;
        let acting = Acting {
            os: &self.os,
            pid,
            element: &element,
            action,
        };
        match deed {
            Deed::ScrollIntoView | Deed::Focus | Deed::Choose(_) => {
                return acting.scroll_into_view();
            }
            Deed::Press => acting.press()?,
            Deed::SetValue(value) => acting.set_value(value)?,
            Deed::SetSelected(selected) => acting.set_selected(selected)?,
        }
        Ok(true)
    }
}
