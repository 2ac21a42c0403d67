//! The desktop as a link needs it.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use deskline_core::{App, ElementId, KeyPress, Modifiers, Point, Rect, Tree};
use deskline_link::guard::{Kept, Task};
use deskline_link::{
    Application, Button, Cancel, Clicks, Desktop, Error, Permit, Picture, Pointer, Result, Scope,
    Window, WindowId,
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

/// The longest that a started app may take to show a window with a tree.
const START: Duration = Duration::from_secs(45);

/// How long `LaunchServices` may take to start a process.
const LAUNCHES: Duration = Duration::from_secs(20);

/// How long an app that has finished launching may take to show a window. Some have none.
const SHOWS: Duration = Duration::from_secs(10);

/// How often to look for a started app's window: its process, window and tree come three ways.
const LOOK: Duration = Duration::from_millis(30);

/// How long a button that the person holds is waited for, before input that uses the pointer.
const LETS_GO: Duration = Duration::from_secs(2);

/// An app that ran for this part of the time is computing.
const BUSY: u32 = 4;

/// One desktop.
pub struct MacDesktop<O: Os> {
    os: O,
    identities: Identities<O>,
    woken: Woken,
    listening: Option<Listening<O>>,
    guard: Guard<O>,
    input: Input<O>,
    /// Whose keys and clicks these are.
    aim: Option<u32>,
    /// The apps that had finished launching when the link began.
    launched: HashSet<u32>,
    busy: Option<(u32, Instant, Duration)>,
    asked_to_capture: bool,
}

impl<O: Os> MacDesktop<O> {
    /// The desktop that this system gives.
    pub fn new(os: O) -> Self {
        Self {
            identities: Identities::default(),
            woken: Woken::default(),
            listening: None,
            guard: Guard::new(os.clone()),
            input: Input::new(os.clone()),
            aim: None,
            launched: HashSet::new(),
            busy: None,
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
        let (pid, element) = self.identities.element(id).ok_or_else(|| Error::Refused {
            element: String::new(),
            action,
            why: "it is gone".into(),
            instead: "Call refresh_traversal for what is there".into(),
        })?;
        act(Acting {
            os: &self.os,
            pid,
            element: &element,
            action,
        })
    }

    /// Keys must not go to another app than the one that they are for.
    fn require_keys(&self) -> Result<()> {
        let front = self.os.front_pid();
        match (self.aim, front) {
            (Some(aim), Some(front)) if aim != front => Err(self.taken_over(front)),
            _ => Ok(()),
        }
    }

    /// Nor clicks: another app's window may have come over the place. Services draw their part of
    /// an app's own dialogs (open and save panels), and the menu bar is the `WindowServer`'s.
    fn require_place(&self, at: Point) -> Result<()> {
        let (Some(aim), Some(owner)) = (
            self.aim,
            windows::owner_at(&self.os, at, std::process::id()),
        ) else {
            return Ok(());
        };
        let app = owner != aim && self.os.apps().iter().any(|a| a.pid == owner && a.regular);
        if app {
            Err(self.taken_over(owner))
        } else {
            Ok(())
        }
    }

    fn taken_over(&self, other: u32) -> Error {
        let name = name_of(&self.os, other).unwrap_or_default();
        Error::Input(format!(
            "{name} (pid {other}) has come to where the input was to go, so it was stopped. Call \
             refresh_traversal to see how far it got"
        ))
    }

    /// Forgets what the app says it has destroyed.
    fn forget_destroyed(&mut self) {
        let Some(listening) = &self.listening else {
            return;
        };
        let pid = listening.pid;
        for element in listening.destroyed() {
            self.identities.forget(pid, &element);
        }
    }

    fn wait_for_window(&mut self, pid: u32, name: &str, cancel: &Cancel) -> Result<()> {
        let start = Instant::now();
        let mut finished: Option<Instant> = None;
        while start.elapsed() < START {
            let app = self.os.apps().into_iter().find(|a| a.pid == pid);
            if app.is_none() && self.os.process(pid).is_none() {
                return Err(Error::Open(format!(
                    "{name} ended at once. Open it by hand to see why"
                )));
            }
            let has_window = windows::of_app(&self.os, pid)
                .iter()
                .any(|(_, known)| known.is_some());
            if has_window {
                return Ok(());
            }
            if app.is_some_and(|a| a.finished) {
                let since = *finished.get_or_insert_with(Instant::now);
                if since.elapsed() > SHOWS {
                    return Err(Error::NoWindow {
                        pid,
                        name: name.to_owned(),
                        hint: "It runs without a window: try its menu bar with refresh_traversal, \
                               or open a document with it"
                            .into(),
                    });
                }
            }
            cancel.wait(LOOK)?;
        }
        Err(Error::Open(format!(
            "{name} was started and showed no window within {} s. Call list_applications",
            START.as_secs()
        )))
    }
}

impl<O: Os> Desktop for MacDesktop<O> {
    fn id(&self) -> String {
        self.os.session()
    }

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

    fn open(&mut self, identifier: &str, permit: Permit<'_>, cancel: &Cancel) -> Result<u32> {
        let launch = apps::find(&self.os, identifier)?;
        let stem = launch.path.file_stem().unwrap_or_default();
        let stem = stem.to_string_lossy();
        // Which app opens a document is macOS's choice.
        let names: &[&str] = &[&stem];
        permit(if launch.document { &[] } else { names })?;
        cancel.check()?;
        let name = launch.path.file_stem().unwrap_or_default();
        let name = name.to_string_lossy().into_owned();
        // An app that runs already is told to open again, which makes a window where it has none.
        let pid = self
            .os
            .launch(&launch, LAUNCHES)
            .map_err(|why| Error::Open(format!("macOS did not open {name}: {why}")))?;
        self.wait_for_window(pid, &name, cancel)?;
        if let Some((window, _)) = windows::of_app(&self.os, pid).first() {
            windows::activate(&self.os, window.id, cancel)?;
        }
        Ok(pid)
    }

    fn read(&mut self, pid: u32, scope: Scope) -> Result<Tree> {
        self.forget_destroyed();
        let os = self.os.clone();
        let tree = tree::read(&os, &mut self.identities, pid, scope)?;
        // Only an app that has answered: a hung one would cost its patience twice.
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
        self.guard.end();
        self.aim = None;
    }

    fn wait_for_change(&mut self, time: Duration) -> Result<bool> {
        if let Some(listening) = &self.listening {
            return Ok(listening.wait(time));
        }
        std::thread::sleep(time);
        Ok(false)
    }

    fn is_busy(&mut self, pid: u32) -> Result<bool> {
        let (now, ran) = (Instant::now(), self.os.computed(pid).unwrap_or_default());
        let before = self.busy.replace((pid, now, ran));
        Ok(before
            .filter(|(was, ..)| *was == pid)
            .is_some_and(|(_, at, before)| ran.saturating_sub(before) > (now - at) / BUSY))
    }

    fn handoff_pending(&mut self) -> Result<bool> {
        let apps = self.os.apps();
        // A link that listens to nobody has not looked.
        Ok(self.listening.is_some()
            && apps
                .iter()
                .any(|a| a.regular && !a.finished && !self.launched.contains(&a.pid)))
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

    fn watch_person(&mut self) {
        // The guard's tap does, from when it lets them in.
    }

    fn person_pressed(&mut self) -> Option<bool> {
        self.guard.pressed()
    }

    fn popup_open(&mut self, pid: u32) -> Result<bool> {
        Ok(windows::popup_open(&self.os, pid))
    }

    fn pointer(&mut self) -> Result<Pointer> {
        Ok(Pointer {
            at: self.input.pointer(),
            pressed: self.os.button_held(),
        })
    }

    fn move_pointer(&mut self, to: Point) -> Result<()> {
        self.input.move_pointer(to);
        Ok(())
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

    fn keep_out(&mut self, task: &Task, cancel: &Cancel) -> Result<Kept> {
        if self.guard.holds() {
            return Ok(Kept::Out);
        }
        let start = Instant::now();
        while task.pointer && self.os.button_held() {
            if start.elapsed() >= LETS_GO {
                return Err(Error::Input(
                    "the user is holding a mouse button down. Nothing was touched; try again"
                        .into(),
                ));
            }
            cancel.wait(LOOK)?;
        }
        let kept = self.guard.keep_out(task, cancel);
        if kept == Kept::Out {
            self.input.release_the_persons();
            let displays = self.os.displays();
            let caption = task.caption.as_deref().unwrap_or_default();
            self.os
                .overlay(&windows::panels(&displays, task.place, caption, false));
        }
        Ok(kept)
    }

    fn let_in(&mut self) {
        if self.guard.holds() {
            self.guard.let_in();
        }
        self.os.overlay(&[]);
    }

    /// The window is not looked at: sheets, drawers and popovers are windows of their own to the
    /// `WindowServer`, and parts of their window to Accessibility.
    fn aim(&mut self, pid: u32, _window: Option<WindowId>, _menu: bool) {
        self.aim = Some(pid);
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
        self.require_place(to)?;
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

    fn picture(&mut self, window: WindowId) -> Result<Picture> {
        if !self.os.may_capture() && !std::mem::replace(&mut self.asked_to_capture, true) {
            self.os.ask_to_capture();
        }
        picture::take(&self.os, window)
    }

    fn release_all(&mut self) {
        self.input.release_all();
    }
}
