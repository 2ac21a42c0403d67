//! Implements the desktop contract on macOS.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use deskline_core::{App, ElementId, KeyPress, Modifiers, Point, Rect, Tree};
use deskline_link::guard::{Grab, Task};
use deskline_link::{
    Aim, Application, Apps, Button, Cancel, Capabilities, Clicks, Desktop, Display, Error, Opened,
    Other, Permit, Picture, Pointer, Progress, Refusal, Result, Scope, Trees, Window, WindowId,
};

use crate::apps;
use crate::ax::act::Acting;
use crate::ax::identity::Identities;
use crate::ax::listen::Listening;
use crate::ax::wake::{self, Woken};
use crate::ax::{failed, name_of, tree};
use crate::guard::Guard;
use crate::input::Input;
use crate::os::Os;
use crate::{picture, windows};

/// How long `LaunchServices` may take to start a process.
const LAUNCHES: Duration = Duration::from_secs(20);

/// A desktop on macOS.
pub struct MacDesktop<O: Os> {
    os: O,
    identities: Identities<O>,
    woken: Woken,
    listening: Option<Listening<O>>,
    guard: Guard<O>,
    input: Input<O>,
    /// The target of keys and clicks.
    aim: Option<Aim>,
    /// The pid and name of the app that was started last.
    starting: Option<(u32, String)>,
    /// The apps that had finished launching when the link began.
    launched: HashSet<u32>,
    asked_to_capture: bool,
}

impl<O: Os> MacDesktop<O> {
    /// Creates the desktop on top of `os`.
    pub fn new(os: O) -> Self {
        Self {
            identities: Identities::default(),
            woken: Woken::default(),
            listening: None,
            guard: Guard::new(os.clone()),
            input: Input::new(os.clone()),
            aim: None,
            starting: None,
            launched: HashSet::new(),
            asked_to_capture: false,
            os,
        }
    }

    fn acting<R>(
        &self,
        id: &ElementId,
        action: &'static str,
        act: impl FnOnce(Acting<'_, O>) -> Result<R>,
    ) -> Result<R> {
        let (pid, element) = self.identities.element(id).ok_or_else(|| {
            Error::Refused(Refusal {
                action,
                why: "it is gone".into(),
                instead: "Call refresh_traversal for what is there".into(),
            })
        })?;
        act(Acting {
            os: &self.os,
            pid,
            element: &element,
            action,
        })
    }

    /// Fails if another app than the target would receive keys.
    fn require_keys(&self) -> Result<()> {
        match (self.aim, self.os.front_pid()) {
            (Some(aim), Some(front)) if aim.pid != front => {
                Err(self.other(front).has_keyboard("Nothing was typed"))
            }
            _ => Ok(()),
        }
    }

    /// Fails if another app's window has moved over the point of a click.
    fn require_place(&self, at: Point) -> Result<()> {
        match self.stranger_at(at) {
            Some(other) => Err(other.lies_over(at)),
            None => Ok(()),
        }
    }

    /// The app that a click at this point would reach, if that is not the target. Only the app is
    /// compared, not the window: to the `WindowServer`, sheets, drawers and popovers are separate
    /// windows, while Accessibility treats them as parts of their window. Background services are
    /// ignored, since they draw part of an app's own dialogs (open and save panels), and the menu
    /// bar belongs to the `WindowServer`.
    fn stranger_at(&self, at: Point) -> Option<Other> {
        let aim = self.aim?;
        let owner = windows::owner_at(&self.os, at, std::process::id())?;
        let is_app = || self.os.apps().iter().any(|a| a.pid == owner && a.regular);
        (owner != aim.pid && is_app()).then(|| self.other(owner))
    }

    fn other(&self, pid: u32) -> Other {
        let title = name_of(&self.os, pid).unwrap_or_default();
        Other { title, pid }
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
        let tree = tree::read(&os, &mut self.identities, pid, scope)?;
        // Wake the app only after it has answered: a hung app would use up its time limit twice.
        if !self.woken.wake(&os, pid) {
            return Ok(tree);
        }
        self.identities
            .retain_processes(|pid| os.process(pid).is_some());
        let start = Instant::now();
        while start.elapsed() < wake::WAKES {
            let tree = tree::read(&os, &mut self.identities, pid, scope)?;
            if wake::has_page(&tree) {
                return Ok(tree);
            }
            std::thread::sleep(wake::LOOK);
        }
        tree::read(&os, &mut self.identities, pid, scope)
    }

    fn listen(&mut self, pid: u32) -> Result<()> {
        self.stop_listening();
        let apps = self.os.apps().into_iter().filter(|a| a.finished);
        self.launched = apps.map(|a| a.pid).collect();
        let listening = Listening::to(&self.os, pid).map_err(|e| failed(&self.os, pid, e))?;
        self.listening = Some(listening);
        Ok(())
    }

    fn stop_listening(&mut self) {
        self.forget_destroyed();
        self.listening = None;
    }

    fn wait_for_change(&mut self, time: Duration) -> Result<bool> {
        if let Some(listening) = &self.listening {
            return Ok(listening.wait(time));
        }
        std::thread::sleep(time);
        Ok(false)
    }

    fn scroll_into_view(&mut self, element: &ElementId) -> Result<bool> {
        self.acting(element, "scrolling", |acting| acting.scroll_into_view())
    }

    fn press(&mut self, element: &ElementId) -> Result<()> {
        self.acting(element, "press_ax", |acting| acting.press())
    }

    fn set_value(&mut self, element: &ElementId, value: &str) -> Result<()> {
        self.acting(element, "set_value", |acting| acting.set_value(value))
    }

    fn set_selected(&mut self, element: &ElementId, selected: bool) -> Result<()> {
        self.acting(element, "set_selected", |acting| {
            acting.set_selected(selected)
        })
    }
}

impl<O: Os> Display for MacDesktop<O> {
    fn capabilities(&self) -> Capabilities {
        Capabilities::ALL
    }

    fn front(&mut self) -> Result<Option<Window>> {
        Ok(windows::front(&self.os))
    }

    fn activate(&mut self, window: WindowId, cancel: &Cancel) -> Result<()> {
        windows::activate(&self.os, window, cancel)
    }

    fn windows(&mut self, pid: u32) -> Result<Vec<Window>> {
        let windows = windows::of_app(&self.os, pid);
        Ok(windows.into_iter().map(|(window, _)| window).collect())
    }

    fn every_window(&mut self) -> Result<Vec<Window>> {
        Ok(windows::all(&self.os))
    }

    fn popup_open(&mut self, pid: u32) -> Result<bool> {
        Ok(windows::popup_open(&self.os, pid))
    }

    fn pointer(&mut self) -> Result<Option<Pointer>> {
        Ok(Some(Pointer {
            at: self.input.pointer(),
            pressed: self.os.button_held(),
        }))
    }

    fn move_pointer(&mut self, to: Point) -> Result<()> {
        self.input.move_pointer(to);
        Ok(())
    }

    fn watch_person(&mut self) {
        // The guard's tap watches the person from the moment it releases their input.
    }

    fn unwatch_person(&mut self) {
        self.guard.end();
        self.aim = None;
    }

    fn person_pressed(&mut self) -> Option<bool> {
        self.guard.pressed()
    }

    fn show(
        &mut self,
        place: Option<Rect>,
        caption: &str,
        time: Duration,
        cancel: &Cancel,
    ) -> Result<()> {
        let displays = self.os.displays();
        self.os
            .overlay(&windows::panels(&displays, place, caption, true));
        let waited = cancel.wait(time);
        self.os.overlay(&[]);
        waited
    }

    fn grab(&mut self, task: &Task, cancel: &Cancel) -> Result<Grab> {
        if self.guard.holds() {
            return Ok(Grab::Held);
        }
        let kept = self.guard.grab(task, cancel);
        if kept == Grab::Held {
            self.input.release_the_persons();
            let displays = self.os.displays();
            let caption = task.caption.as_deref().unwrap_or_default();
            self.os
                .overlay(&windows::panels(&displays, task.place, caption, false));
        }
        Ok(kept)
    }

    fn ungrab(&mut self) {
        if self.guard.holds() {
            self.guard.ungrab();
        }
        self.os.overlay(&[]);
    }

    fn aim(&mut self, aim: Aim) {
        self.aim = Some(aim);
    }

    fn click(&mut self, at: Point, button: Button, clicks: Clicks, cancel: &Cancel) -> Result<()> {
        self.require_place(at)?;
        self.input.click(at, button, clicks, cancel)
    }

    fn drag(
        &mut self,
        from: Point,
        to: Point,
        modifiers: Modifiers,
        cancel: &Cancel,
    ) -> Result<()> {
        self.require_place(from)?;
        if let Some(other) = self.stranger_at(to) {
            return Err(other.lies_over_end(to));
        }
        self.input.drag(from, to, modifiers, cancel)
    }

    fn type_text(&mut self, text: &str, cancel: &Cancel) -> Result<()> {
        self.require_keys()?;
        self.input.type_text(text, cancel)
    }

    fn press_key(&mut self, press: KeyPress, cancel: &Cancel) -> Result<()> {
        self.require_keys()?;
        self.input.press_key(press, cancel)
    }

    fn scroll(&mut self, at: Point, delta_x: i32, delta_y: i32, cancel: &Cancel) -> Result<()> {
        self.require_place(at)?;
        self.input.scroll(at, delta_x, delta_y, cancel)
    }

    fn release_all(&mut self) {
        self.input.release_all();
    }

    fn picture(&mut self, window: WindowId) -> Result<Picture> {
        if !self.os.may_capture() && !std::mem::replace(&mut self.asked_to_capture, true) {
            self.os.ask_to_capture();
        }
        picture::take(&self.os, window)
    }
}

impl<O: Os> Apps for MacDesktop<O> {
    fn applications(&mut self) -> Result<Vec<Application>> {
        let front = self.os.front_pid();
        let mut applications = Vec::new();
        for app in self.os.apps().into_iter().filter(|a| a.regular) {
            let windows = windows::of_app(&self.os, app.pid);
            if windows.is_empty() {
                continue;
            }
            applications.push(Application {
                front: front == Some(app.pid),
                app: App {
                    name: app.name,
                    pid: app.pid,
                },
                windows: windows.into_iter().map(|(w, _)| w.title).collect(),
            });
        }
        applications.sort_by_key(|a| !a.front);
        Ok(applications)
    }

    fn open(&mut self, identifier: &str, permit: Permit<'_>) -> Result<Opened> {
        let launch = apps::find(&self.os, identifier)?;
        let name = launch.path.file_stem().unwrap_or_default();
        let name = name.to_string_lossy().into_owned();
        // macOS chooses the app that opens a document.
        let names: &[&str] = &[&name];
        permit(if launch.document { &[] } else { names })?;
        // An app that already runs is asked to reopen, which creates a window if it has none.
        let pid = self
            .os
            .launch(&launch, LAUNCHES)
            .map_err(|why| Error::Open(format!("macOS did not open {name}: {why}")))?;
        self.starting = Some((pid, name.clone()));
        Ok(Opened::Started(name))
    }

    fn progress(&mut self) -> Result<Progress> {
        let Some((pid, name)) = &self.starting else {
            return Ok(Progress::Starting);
        };
        let (pid, os) = (*pid, &self.os);
        let app = os.apps().into_iter().find(|a| a.pid == pid);
        if app.is_none() && os.process(pid).is_none() {
            return Err(Error::Open(format!(
                "{name} ended at once. Open it by hand to see why"
            )));
        }
        let mut windows = windows::of_app(os, pid).into_iter();
        if windows.any(|(_, known)| known.is_some()) {
            return Ok(Progress::Ready(pid));
        }
        if app.is_some_and(|a| a.finished) {
            let hint = "It runs without a window: try its menu bar with refresh_traversal, or open a \
                        document with it";
            return Ok(Progress::Waiting(pid, hint.into()));
        }
        Ok(Progress::Starting)
    }

    fn computed(&mut self, pid: u32) -> Option<Duration> {
        self.os.computed(pid)
    }

    fn handoff_pending(&mut self) -> Result<bool> {
        let apps = self.os.apps();
        // Without a subscription, `launched` was not recorded.
        Ok(self.listening.is_some()
            && apps
                .iter()
                .any(|a| a.regular && !a.finished && !self.launched.contains(&a.pid)))
    }
}
