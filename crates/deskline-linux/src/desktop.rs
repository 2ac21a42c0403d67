//! The X11 desktop as a link needs it: AT-SPI for the trees, X11 for windows, input and pictures.

use std::time::{Duration, Instant};

use deskline_core::{App, ElementId, KeyPress, Modifiers, Point, Rect, Tree};
use deskline_link::guard::{Kept, Task};
use deskline_link::{
    Application, Button, Cancel, Clicks, Desktop, Error, Permit, Picture, Pointer, Result, Scope,
    Window, WindowId,
};

use crate::apps::{self, Launch, Launched, Running};
use crate::busy::Busy;
use crate::people::People;
use crate::portal::Portal;
use crate::session::Session;
use deskline_atspi::toolkits::mapped;
use deskline_atspi::{self as atspi, AtSpi};
use deskline_unix::process;
use deskline_x11::guard::Guard;
use deskline_x11::{Kind, Shadow, Toplevel, X11};

/// The longest that a started app may take to show a window with a tree: `LibreOffice` takes 5 s on
/// a quiet machine.
const START: Duration = Duration::from_secs(45);

/// How long a window may be there before its app is on the accessibility bus.
const JOINS: Duration = Duration::from_secs(10);

/// How long a toplevel's window may come after its tree: until its first frame is drawn and the
/// window manager has mapped it.
const MAPS: Duration = Duration::from_millis(500);

/// How often to look for the window of a started app. Its process, its window and its tree come by
/// three different ways, of which two send no event.
const LOOK: Duration = Duration::from_millis(30);

/// One connection to everything that an X11 session has.
pub struct LinuxDesktop {
    session: Session,
    atspi: AtSpi,
    x11: X11,
    portal: Option<Portal>,
    guard: Guard,
    people: People,
    busy: Busy,
    /// The front window's process when the link began, to tell whether a pending window has come.
    front_at_start: Option<u32>,
}

impl LinuxDesktop {
    /// Puts the parts together.
    pub(crate) fn new(
        session: Session,
        atspi: AtSpi,
        x11: X11,
        portal: Option<Portal>,
        guard: Guard,
    ) -> Self {
        Self {
            session,
            atspi,
            x11,
            portal,
            guard,
            people: People::default(),
            busy: Busy::default(),
            front_at_start: None,
        }
    }

    /// The windows that a person would call so: no panels, menus or tool tips.
    fn app_windows(&self) -> Result<Vec<Toplevel>> {
        let mut windows = self.x11.toplevels()?;
        windows.retain(|w| {
            matches!(
                w.kind,
                Kind::Normal | Kind::Dialog | Kind::Utility | Kind::Toolbar
            ) && (w.viewable || w.minimised)
        });
        Ok(windows)
    }

    /// The app with a window that has this name in our own answers, or this window title.
    fn called(&mut self, identifier: &str) -> Result<Option<u32>> {
        let wanted = identifier.trim().to_lowercase();
        for window in self.app_windows()? {
            let name = self.atspi.name_of(window.pid);
            if [name, window.title]
                .iter()
                .any(|text| text.to_lowercase() == wanted)
            {
                return Ok(Some(window.pid));
            }
        }
        Ok(None)
    }

    /// The app's name on the accessibility bus, or its process's.
    fn name_of(&mut self, pid: u32) -> String {
        let name = self.atspi.name_of(pid);
        if name.is_empty() {
            process::name(pid)
        } else {
            name
        }
    }

    fn bring_forward(&mut self, pid: u32, cancel: &Cancel) -> Result<()> {
        match self.windows(pid)?.first() {
            Some(window) => self.x11.activate(window.id, cancel),
            None => Ok(()),
        }
    }

    /// The pid of an instance that runs and has a window.
    fn running(&mut self, launch: &Launch) -> Result<Option<u32>> {
        let listed = self
            .atspi
            .apps()
            .map_err(Error::system("listing the apps"))?;
        let windows = self.app_windows()?;
        // The frontmost window's app comes first.
        for window in &windows {
            if listed.iter().all(|app| app.pid != window.pid) {
                continue;
            }
            let name = self.atspi.name_of(window.pid);
            let program = process::name(window.pid);
            let running = Running {
                program: &program,
                accessible_name: &name,
                window_class: "",
            };
            if launch.is_running_as(running) {
                return Ok(Some(window.pid));
            }
        }
        Ok(None)
    }

    /// Waits until what was started has a window and a tree. The windows of strangers that come up
    /// meanwhile do not count.
    fn started(
        &mut self,
        launch: &Launch,
        launched: &Launched,
        before: &[u32],
        cancel: &Cancel,
    ) -> Result<u32> {
        let start = Instant::now();
        let mut seen: Option<(Instant, u32)> = None;
        while start.elapsed() < START {
            let windows = self.app_windows()?;
            let came = |w: &&Toplevel| {
                w.viewable
                    && w.pid != 0
                    && (launched.made(w.pid)
                        || !before.contains(&w.id) && is_instance(launch, launched, w.pid))
            };
            let mut pids: Vec<u32> = windows.iter().filter(came).map(|w| w.pid).collect();
            pids.dedup();
            for pid in pids {
                let (since, _) = *seen.get_or_insert((Instant::now(), pid));
                if self
                    .atspi
                    .read(pid, Scope::Showing, &atspi::Windows::default())
                    .is_ok_and(|t| t.elements.len() > 1)
                {
                    return Ok(pid);
                }
                if since.elapsed() > JOINS {
                    return Err(Error::NoWindow {
                        pid,
                        name: launch.name.clone(),
                        hint: mapped::hint(pid),
                    });
                }
            }
            if let Some(status) = launched.exited() {
                // It may have handed over to an instance that ran already.
                if let Some(pid) = self.running(launch)? {
                    return Ok(pid);
                }
                if !status.success() {
                    let why = launched.complaint().map_or_else(
                        || "It has written nothing to its standard error".to_owned(),
                        |said| format!("It has written: {said}"),
                    );
                    return Err(Error::Open(format!(
                        "{} ended at once ({status}). {why}",
                        launch.name
                    )));
                }
            }
            cancel.wait(LOOK)?;
        }
        let said = launched
            .complaint()
            .map(|said| format!(". It has written: {said}"));
        Err(Error::Open(format!(
            "{} was started and showed no window of its own within {} s. Call list_applications: \
             it may be there under another name{}",
            launch.name,
            START.as_secs(),
            said.unwrap_or_default()
        )))
    }

    /// The app's windows, for the coordinates of toolkits that do not know their own.
    fn windows_of(&mut self, pid: u32) -> Result<atspi::Windows> {
        let popups = if self.atspi.needs_popups(pid) {
            self.x11.popups(pid)?
        } else {
            Vec::new()
        };
        let mut toplevels = self.x11.toplevels()?;
        toplevels.retain(|t| t.pid == pid);
        let front = match toplevels.len() {
            // One window is told from no other.
            0 | 1 => None,
            _ => self.x11.front_id()?.map(|id| WindowId(id.into())),
        };
        let toplevels = toplevels
            .into_iter()
            .map(|t| atspi::Toplevel {
                id: WindowId(t.id.into()),
                window: t.raw,
                shadow: t.shadow.map(Shadow::sides),
                border: t.border.sides(),
                modal: t.modal,
                on_screen: t.viewable && !t.minimised,
                title: t.title,
            })
            .collect();
        Ok(atspi::Windows {
            toplevels,
            popups,
            front,
        })
    }
}

/// Whether a process that was not started now is an instance of the app, to which what was
/// started may have handed over.
fn is_instance(launch: &Launch, launched: &Launched, pid: u32) -> bool {
    launched.may_have_handed_over_to(pid)
        || launch.is_running_as(Running {
            program: &process::name(pid),
            ..Running::default()
        })
}

impl Desktop for LinuxDesktop {
    fn id(&self) -> String {
        self.atspi.guid().to_owned()
    }

    fn applications(&mut self) -> Result<Vec<Application>> {
        let front = self.x11.front()?.map(|w| w.pid);
        let mut applications: Vec<Application> = Vec::new();
        for window in self.app_windows()?.into_iter().filter(|w| w.pid != 0) {
            let known = applications.iter_mut().find(|a| a.app.pid == window.pid);
            if let Some(application) = known {
                application.windows.push(window.title);
                continue;
            }
            let name = self.name_of(window.pid);
            applications.push(Application {
                app: App {
                    name,
                    pid: window.pid,
                },
                windows: vec![window.title],
                front: front == Some(window.pid),
            });
        }
        Ok(applications)
    }

    fn open(&mut self, identifier: &str, permit: Permit<'_>, cancel: &Cancel) -> Result<u32> {
        if let Some(pid) = self.called(identifier)? {
            permit(&[&self.name_of(pid)])?;
            self.bring_forward(pid, cancel)?;
            return Ok(pid);
        }
        let launch = apps::find(identifier, &self.session)?;
        permit(&launch.names())?;
        let pid = if let Some(pid) = self.running(&launch)?.filter(|_| !launch.opens_document()) {
            pid
        } else {
            let before: Vec<u32> = self.x11.toplevels()?.iter().map(|w| w.id).collect();
            let launched = apps::launch(&launch, &self.session)?;
            self.started(&launch, &launched, &before, cancel)?
        };
        self.bring_forward(pid, cancel)?;
        Ok(pid)
    }

    fn read(&mut self, pid: u32, scope: Scope) -> Result<Tree> {
        let mut windows = self.windows_of(pid)?;
        let mut tree = self.atspi.read(pid, scope, &windows)?;
        let start = Instant::now();
        while self.atspi.lacks_windows(pid) {
            if start.elapsed() > MAPS {
                self.atspi.give_up_windows(pid);
                break;
            }
            std::thread::sleep(LOOK);
            let now = self.windows_of(pid)?;
            if now.toplevels != windows.toplevels {
                windows = now;
                tree = self.atspi.read(pid, scope, &windows)?;
            }
        }
        Ok(tree)
    }

    fn listen(&mut self, pid: u32) -> Result<()> {
        self.front_at_start = self.x11.front()?.map(|w| w.pid);
        if let Some(portal) = &mut self.portal {
            portal.forget();
        }
        self.atspi.listen(pid)
    }

    fn stop_listening(&mut self) {
        self.guard.rest();
        self.atspi.stop_listening();
    }

    fn wait_for_change(&mut self, time: Duration) -> Result<bool> {
        self.atspi.wait_for_change(time)
    }

    fn is_busy(&mut self, pid: u32) -> Result<bool> {
        Ok(self.busy.since_last(pid))
    }

    fn handoff_pending(&mut self) -> Result<bool> {
        let Some(portal) = &mut self.portal else {
            return Ok(false);
        };
        if !portal.pending() {
            return Ok(false);
        }
        // What was asked for has come when another process is in front.
        let front = self.x11.front()?.map(|w| w.pid);
        if front.is_some() && front != self.front_at_start {
            let has_tree = front.is_some_and(|pid| self.atspi.answers(pid).unwrap_or(true));
            if has_tree {
                portal.arrived();
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn front(&mut self) -> Result<Option<Window>> {
        Ok(self.x11.front()?.map(|w| w.window()))
    }

    fn activate(&mut self, window: WindowId, cancel: &Cancel) -> Result<()> {
        self.x11.activate(window, cancel)
    }

    fn windows(&mut self, pid: u32) -> Result<Vec<Window>> {
        let mut windows = self.app_windows()?;
        windows.retain(|w| w.pid == pid);
        // One that is minimised is not in front of anything.
        windows.sort_by_key(|w| w.minimised);
        Ok(windows.iter().map(Toplevel::window).collect())
    }

    fn every_window(&mut self) -> Result<Vec<Window>> {
        Ok(self.app_windows()?.iter().map(Toplevel::window).collect())
    }

    fn watch_person(&mut self) {
        self.guard.watch();
    }

    fn person_pressed(&mut self) -> Option<bool> {
        self.guard.pressed()
    }

    fn popup_open(&mut self, pid: u32) -> Result<bool> {
        self.x11.popup_open(pid)
    }

    fn pointer(&mut self) -> Result<Pointer> {
        self.x11.pointer()
    }

    fn move_pointer(&mut self, to: Point) -> Result<()> {
        self.x11.move_pointer(to)
    }

    fn show(
        &mut self,
        place: Option<Rect>,
        caption: &str,
        time: Duration,
        cancel: &Cancel,
    ) -> Result<()> {
        self.guard.show(place, caption, time, cancel)
    }

    fn keep_out(&mut self, task: &Task, cancel: &Cancel) -> Result<Kept> {
        let display = self.session.display.as_deref().unwrap_or_default();
        let people = self.people.on(display).join(", ");
        let kept = self.guard.close(task, cancel)?;
        if kept == Kept::Out && !people.is_empty() {
            return Ok(Kept::Partly(format!(
                "someone at {people}, whose input arrives like the agent's own"
            )));
        }
        Ok(kept)
    }

    fn let_in(&mut self) {
        self.guard.open();
    }

    fn aim(&mut self, pid: u32, window: Option<WindowId>, menu: bool) {
        self.x11.aim(pid, window, menu);
    }

    fn click(&mut self, at: Point, button: Button, clicks: Clicks, cancel: &Cancel) -> Result<()> {
        self.x11
            .click(at, button, clicks, Modifiers::empty(), cancel)
    }

    fn drag(
        &mut self,
        from: Point,
        to: Point,
        modifiers: Modifiers,
        cancel: &Cancel,
    ) -> Result<()> {
        self.x11.drag(from, to, modifiers, cancel)
    }

    fn type_text(&mut self, text: &str, cancel: &Cancel) -> Result<()> {
        self.x11.type_text(text, cancel)
    }

    fn press_key(&mut self, press: KeyPress, cancel: &Cancel) -> Result<()> {
        self.x11.press_key(press, cancel)
    }

    fn scroll(&mut self, at: Point, delta_x: i32, delta_y: i32, cancel: &Cancel) -> Result<()> {
        self.x11.scroll(at, delta_x, delta_y, cancel)
    }

    fn scroll_into_view(&mut self, element: &ElementId) -> Result<bool> {
        self.atspi.scroll_into_view(element)
    }

    fn press(&mut self, element: &ElementId) -> Result<()> {
        self.atspi.press(element)
    }

    fn set_value(&mut self, element: &ElementId, value: &str) -> Result<()> {
        self.atspi.set_value(element, value)
    }

    fn set_selected(&mut self, element: &ElementId, selected: bool) -> Result<()> {
        self.atspi.set_selected(element, selected)
    }

    fn picture(&mut self, window: WindowId) -> Result<Picture> {
        self.x11.picture(window)
    }

    fn release_all(&mut self) {
        self.x11.release_all();
    }
}
