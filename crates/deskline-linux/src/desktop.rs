//! The X11 desktop as a link needs it: AT-SPI for the trees, X11 for windows, input and pictures.

use std::time::{Duration, Instant};

use deskline_core::{App, ElementId, KeyPress, Modifiers, Point, Rect, Tree};
use deskline_link::guard::{Grab, Task};
use deskline_link::{
    Aim, Application, Apps, Button, Cancel, Capabilities, Clicks, Desktop, Display, Error, Opened,
    Permit, Picture, Pointer, Progress, Result, Scope, Trees, Window, WindowId,
};

use crate::apps::{self, Launch, Launched, Running};
use crate::busy;
use crate::people::People;
use crate::portal::Portal;
use crate::session::Session;
use deskline_atspi::toolkits::mapped;
use deskline_atspi::{self as atspi, AtSpi};
use deskline_unix::process;
use deskline_x11::guard::Guard;
use deskline_x11::{Kind, Shadow, Toplevel, X11};

/// How long a toplevel's window may come after its tree: until its first frame is drawn and the
/// window manager has mapped it.
const MAPS: Duration = Duration::from_millis(500);

/// How often to look for it.
const LOOK: Duration = Duration::from_millis(30);

/// An app that was started, until it has a window and a tree.
struct Starting {
    launch: Launch,
    launched: Launched,
    /// The windows that there were before.
    before: Vec<u32>,
}

/// One connection to everything that an X11 session has.
pub struct LinuxDesktop {
    session: Session,
    atspi: AtSpi,
    x11: X11,
    portal: Option<Portal>,
    guard: Guard,
    people: People,
    /// What was started last.
    starting: Option<Starting>,
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
            starting: None,
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

    /// The pid of an instance that runs and has a window.
    fn running(&mut self, launch: &Launch) -> Result<Option<u32>> {
        let listed = self
            .atspi
            .apps()
            .map_err(atspi::on_bus("listing the apps"))?;
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

    /// How far what was started has come. It may have handed over to an instance that ran already.
    fn come(&mut self, starting: &Starting) -> Result<Progress> {
        let Starting {
            launch,
            launched,
            before,
        } = starting;
        let windows = self.app_windows()?;
        let came = |w: &&Toplevel| {
            w.viewable
                && w.pid != 0
                && (launched.made(w.pid)
                    || !before.contains(&w.id) && is_instance(launch, launched, w.pid))
        };
        let mut pids: Vec<u32> = windows.iter().filter(came).map(|w| w.pid).collect();
        pids.dedup();
        for &pid in &pids {
            let showing = self
                .atspi
                .read(pid, Scope::Showing, &atspi::Windows::default());
            if showing.is_ok_and(|tree| tree.elements.len() > 1) {
                return Ok(Progress::Ready(pid));
            }
        }
        if let Some(status) = launched.exited() {
            if let Some(pid) = self.running(launch)? {
                return Ok(Progress::Ready(pid));
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
        Ok(pids.first().map_or(Progress::Starting, |&pid| {
            Progress::Waiting(pid, mapped::hint(pid))
        }))
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
}

impl Trees for LinuxDesktop {
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
        self.atspi.stop_listening();
    }

    fn wait_for_change(&mut self, time: Duration) -> Result<bool> {
        self.atspi.wait_for_change(time)
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
}

impl Display for LinuxDesktop {
    fn capabilities(&self) -> Capabilities {
        Capabilities::ALL
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

    fn popup_open(&mut self, pid: u32) -> Result<bool> {
        self.x11.popup_open(pid)
    }

    fn pointer(&mut self) -> Result<Option<Pointer>> {
        self.x11.pointer().map(Some)
    }

    fn move_pointer(&mut self, to: Point) -> Result<()> {
        self.x11.move_pointer(to)
    }

    fn watch_person(&mut self) {
        self.guard.watch();
    }

    fn unwatch_person(&mut self) {
        self.guard.rest();
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
        self.guard.show(place, caption, time, cancel)
    }

    fn grab(&mut self, task: &Task, cancel: &Cancel) -> Result<Grab> {
        let display = self.session.display.as_deref().unwrap_or_default();
        let people = self.people.on(display).join(", ");
        let kept = self.guard.close(task, cancel)?;
        if kept == Grab::Held && !people.is_empty() {
            return Ok(Grab::Partly(format!(
                "someone at {people}, whose input arrives like the agent's own"
            )));
        }
        Ok(kept)
    }

    fn ungrab(&mut self) {
        self.guard.open();
    }

    fn aim(&mut self, aim: Aim) {
        self.x11.aim(aim);
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

    fn release_all(&mut self) {
        self.x11.release_all();
    }

    fn picture(&mut self, window: WindowId) -> Result<Picture> {
        self.x11.picture(window)
    }
}

impl Apps for LinuxDesktop {
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

    fn open(&mut self, identifier: &str, permit: Permit<'_>) -> Result<Opened> {
        if let Some(pid) = self.called(identifier)? {
            permit(&[&self.name_of(pid)])?;
            return Ok(Opened::Running(pid));
        }
        let launch = apps::find(identifier, &self.session)?;
        permit(&launch.names())?;
        if let Some(pid) = self.running(&launch)?.filter(|_| !launch.opens_document()) {
            return Ok(Opened::Running(pid));
        }
        let before = self.x11.toplevels()?.iter().map(|w| w.id).collect();
        let launched = apps::launch(&launch, &self.session)?;
        let name = launch.name.clone();
        self.starting = Some(Starting {
            launch,
            launched,
            before,
        });
        Ok(Opened::Started(name))
    }

    fn progress(&mut self) -> Result<Progress> {
        let Some(starting) = self.starting.take() else {
            return Ok(Progress::Starting);
        };
        let progress = self.come(&starting);
        if !matches!(progress, Ok(Progress::Ready(_))) {
            self.starting = Some(starting);
        }
        progress
    }

    fn complaint(&mut self) -> Option<String> {
        self.starting.as_ref()?.launched.complaint()
    }

    fn computed(&mut self, pid: u32) -> Option<Duration> {
        Some(busy::ran(pid))
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
}
