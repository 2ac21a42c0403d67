//! Implements the desktop contract on macOS.

mod apps;
mod display;
mod scene;

use std::collections::HashSet;
use std::time::{Duration, Instant};

use deskline_core::{ElementId, Point, Tree};
use deskline_input::{Aim, Hands, Other};
use deskline_link::{Desktop, Error, Obstacle, QuietAction, Refusal, Result, Scope, Sign, Trees};

use crate::ax::act::Acting;
use crate::ax::identity::Identities;
use crate::ax::listen::Listening;
use crate::ax::reuse::Last;
use crate::ax::wake::{self, Woken};
use crate::ax::{PATIENCE, failed, tree};
use crate::clipboard::Pasteboard;
use crate::guard::Guard;
use crate::input::Input;
use crate::keys::MacKey;
use crate::os::{AxError, Os, ServerWindow, Value, name_of};
use crate::windows;

/// Of more elements that events have named than this, read all again instead.
const MOST_NAMED: usize = 200;

/// A desktop on macOS.
pub struct MacDesktop<O: Os> {
    os: O,
    identities: Identities<O>,
    woken: Woken,
    listening: Option<Listening<O>>,
    /// What the link has read so far of the app that is listened to.
    last: Option<Last<O::Element>>,
    guard: Guard<O>,
    pasteboard: Pasteboard<O>,
    input: Input<O>,
    hands: Hands<MacKey>,
    /// The pid and name of the app that was started last.
    starting: Option<(u32, String)>,
    /// The processes of apps that there were when the link began. Some never finish launching.
    running: HashSet<u32>,
    asked_to_capture: bool,
    /// The windows on the screen, front to back, before the link raised one, and whose it was.
    order: Option<(Vec<ServerWindow>, u32)>,
}

impl<O: Os> MacDesktop<O> {
    /// Creates the desktop on top of `os`.
    pub fn new(os: O) -> Self {
        Self {
            identities: Identities::default(),
            woken: Woken::default(),
            listening: None,
            last: None,
            guard: Guard::new(os.clone()),
            pasteboard: Pasteboard::new(os.clone()),
            input: Input::new(os.clone()),
            hands: Hands::default(),
            starting: None,
            running: HashSet::new(),
            asked_to_capture: false,
            order: None,
            os,
        }
    }

    fn acting<R>(
        &self,
        id: &ElementId,
        action: QuietAction,
        act: impl FnOnce(Acting<'_, O>) -> Result<R>,
    ) -> Result<R> {
        let (pid, element) = self.identities.element(id).ok_or_else(|| {
            Error::Refused(Refusal {
                action,
                obstacle: Obstacle::Gone,
            })
        })?;
        act(Acting {
            os: &self.os,
            pid,
            element: &element,
            action,
        })
    }

    /// The app that a click at this point would reach, if that is not the target. Only the app is
    /// compared, not the window: to the `WindowServer`, sheets, drawers and popovers are separate
    /// windows, while Accessibility treats them as parts of their window. Background services are
    /// ignored, since they draw part of an app's own dialogs (open and save panels), and the menu
    /// bar belongs to the `WindowServer`.
    fn stranger_at(&self, at: Point, aim: Aim) -> Option<Other> {
        let owner = windows::owner_at(&self.os, at, std::process::id())?;
        let is_app = || self.os.app(owner).is_some_and(|app| app.regular);
        (owner != aim.pid && is_app()).then(|| self.other(owner))
    }

    fn other(&self, pid: u32) -> Other {
        let title = name_of(&self.os, pid).unwrap_or_default();
        Other { title, pid }
    }

    /// One traversal. Where the app is listened to, what it reads is kept for the link's next one.
    fn traverse(&mut self, pid: u32, scope: Scope) -> Result<Tree> {
        self.forget_changed(pid);
        let again = matches!(scope, Scope::Again { .. });
        let last = self.last.as_ref().filter(|last| again && last.pid == pid);
        let (tree, read) = tree::read(&self.os, &mut self.identities, pid, scope, last)?;
        let listens = self.listening.as_ref().is_some_and(|l| l.pid == pid);
        if listens && scope != Scope::Showing {
            self.last = Some(read);
        }
        Ok(tree)
    }

    /// Drops from the last traversal what events have named since.
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
            last.forget(element, || {
                let parent = os.attributes(element, &["AXParent"]).ok()?.pop();
                match parent? {
                    Value::Element(parent) => Some(parent),
                    _ => None,
                }
            });
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

impl<O: Os> Desktop for MacDesktop<O> {
    fn id(&self) -> String {
        self.os.session()
    }
}

impl<O: Os> Trees for MacDesktop<O> {
    fn read(&mut self, pid: u32, scope: Scope) -> Result<Tree> {
        self.forget_destroyed();
        let os = self.os.clone();
        let tree = self.traverse(pid, scope)?;
        // Wake the app only after it has answered: a hung app would use up its time limit twice.
        if !self.woken.wake(&os, pid) || wake::has_page(&tree) {
            return Ok(tree);
        }
        self.identities
            .retain_processes(|pid| os.process(pid).is_some());
        let start = Instant::now();
        while start.elapsed() < wake::WAKES {
            std::thread::sleep(wake::LOOK);
            if wake::has_page(&self.traverse(pid, Scope::Showing)?) {
                break;
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
        self.listening = None;
        self.last = None;
    }

    fn wait_for_change(&mut self, time: Duration) -> Result<Option<Sign>> {
        if let Some(listening) = &self.listening {
            return Ok(listening.wait(time));
        }
        std::thread::sleep(time);
        Ok(None)
    }

    fn scroll_into_view(&mut self, element: &ElementId) -> Result<bool> {
        self.acting(element, QuietAction::ScrollIntoView, |acting| {
            acting.scroll_into_view()
        })
    }

    fn press(&mut self, element: &ElementId) -> Result<()> {
        self.acting(element, QuietAction::Press, |acting| acting.press())
    }

    fn set_value(&mut self, element: &ElementId, value: &str) -> Result<()> {
        self.acting(element, QuietAction::SetValue, |acting| {
            acting.set_value(value)
        })
    }

    fn set_selected(&mut self, element: &ElementId, selected: bool) -> Result<()> {
        self.acting(element, QuietAction::SetSelected, |acting| {
            acting.set_selected(selected)
        })
    }
}
