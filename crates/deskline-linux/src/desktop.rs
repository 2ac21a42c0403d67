//! A Linux desktop as a link needs it: AT-SPI for the trees, a display system for windows, input
//! and pictures.

mod announcer;
mod display;
mod guarded;

use deskline_contract::{
    AppToplevel, Application, Apps, Cancel, Deed, Desktop, End, Error, Hit, Identity, OpenError,
    Opened, Permit, Place, Progress, Result, Scope, Sent, Sign, Takes, Thread, Trees, Window, wait,
};
use std::sync::Arc;
use std::time::{Duration, Instant};

use deskline_contract::clipboard::ClipboardThread;
use deskline_contract::ocr::Ocr;
use deskline_core::{ElementId, Point, Rect, Role, States, Tree};
use deskline_input::InputError;

use crate::apps::{self, Identities, Launch, Launched, Running};
use crate::display::DisplaySystem;
use crate::exits::Ends;
use crate::input_method::InputMethods;
use crate::menus::{self, Menus, context};
use crate::portal::Portal;
use crate::session::Session;
use crate::tesseract::{self, Tesseract};
use crate::tray::Tray;
use crate::treeless::{Readable, may_join};
use crate::{absent, guard, native};
pub(crate) use announcer::Announcer;
use deskline_atspi::toolkits::mapped;
use deskline_atspi::{self as atspi, AtSpi};
use deskline_unix::family::{self, Family};
use deskline_unix::{flatpak, process};
use deskline_wayland::Compositor;
use deskline_x11::X11Display;

/// How much later than its tree a toplevel's window may come. In between, the app draws a first
/// frame, and the window manager maps the window.
const MAPS: Duration = Duration::from_millis(500);

/// How often to check whether an app has changed, while waiting for a change.
const LOOK: Duration = Duration::from_millis(30);

/// How long an app may take to report that its window has the keyboard.
const CLAIMS: Duration = Duration::from_millis(500);

/// An app that was started, and does not have a window and a tree yet.
struct Starting {
    launch: Launch,
    launched: Launched,
    /// The windows that existed before the start.
    before: Vec<Window>,
    /// When the request reached an instance that was already running. `None` if that is unknown.
    handed: Option<Instant>,
}

impl Starting {
    fn is_new(&self, window: &Window) -> bool {
        self.before.iter().all(|known| known.id != window.id)
    }

    /// Whether a window that existed before the start has another title now. Then it may show
    /// another tab.
    fn is_retitled(&self, window: &Window) -> bool {
        let before = self.before.iter().find(|known| known.id == window.id);
        before.is_some_and(|known| known.title != window.title)
    }

    /// Whether a running instance has had enough time to show something new.
    fn is_late(&self) -> bool {
        self.handed.is_some_and(|since| since.elapsed() > SHOWS)
    }
}

/// How long a running instance may take to show a document in a new window or tab. A browser takes
/// 1 s, and some apps open neither.
const SHOWS: Duration = Duration::from_secs(3);

/// The connections to all parts of a session: its display, its buses and its other services.
pub(crate) struct LinuxDesktop {
    session: Session,
    atspi: AtSpi,
    display: Box<dyn DisplaySystem>,
    /// Whether apps may have windows that the display system does not list.
    has_native: bool,
    portal: Option<Portal>,
    /// The app that was started last.
    starting: Option<Starting>,
    /// The processes of the link and of the window that was in front when the link began. If
    /// another process comes to the front, its window is the portal's dialog.
    before: [Option<u32>; 2],
    ends: Ends,
    readable: Readable,
    tesseract: Option<Arc<Tesseract>>,
    identities: Identities,
    menus: Menus,
    tray: Tray,
    input_methods: InputMethods,
    /// The clipboard of a Wayland compositor. The first paste connects to it.
    clipboard: Option<ClipboardThread>,
    /// The process that the next input is for.
    aimed_at: Option<u32>,
    /// Whether nobody can be sitting at this desktop.
    is_private: bool,
    /// The kernel's guard, if it blocks more of the person's input than the display's guard.
    by_kernel: Option<deskline_evdev::Guard>,
    announcer: Announcer,
}

impl LinuxDesktop {
    /// Puts the parts together.
    pub(crate) fn new(
        session: Session,
        atspi: AtSpi,
        mut display: Box<dyn DisplaySystem>,
        portal: Option<Portal>,
        attended: bool,
    ) -> Self {
        let by_kernel = guard::by_kernel(&session).map(|kernels| kernels.guard);
        let is_private = !attended && (display.is_private() || session.is_private_wayland());
        let input_methods = InputMethods::new(&session);
        let tesseract = Tesseract::find(&session);
        let tray = Tray::new(session.session_bus.clone());
        Self {
            announcer: Announcer::new(session.wayland_socket()),
            has_native: session.wayland_display.is_some() && display.wayland().is_none(),
            session,
            atspi,
            display,
            portal,
            starting: None,
            before: [None; 2],
            ends: Ends::default(),
            readable: Readable::default(),
            tesseract,
            identities: Identities::default(),
            menus: Menus::default(),
            tray,
            input_methods,
            clipboard: None,
            aimed_at: None,
            is_private,
            by_kernel,
        }
    }

    /// All windows that an agent may know: the display system's, then native ones.
    fn known_windows(&mut self) -> Result<Vec<Window>> {
        let mut windows = self.display.every_window()?;
        windows.extend(self.native_windows(&windows)?);
        Ok(windows)
    }

    /// The windows of apps that have no window among `known`.
    fn native_windows(&mut self, known: &[Window]) -> Result<Vec<Window>> {
        if !self.has_native {
            return Ok(Vec::new());
        }
        Ok(native::beside(known, self.toplevels()?))
    }

    /// Fails if the app that keys are for reports that none of its windows has the keyboard.
    fn check_keyboard(
        &mut self,
        progress: deskline_input::Progress,
        cancel: &Cancel,
    ) -> Result<()> {
        let wayland = self.display.wayland();
        let misses = wayland.and_then(|wayland| wayland.misses_launchers().then_some(wayland));
        let (Some(wayland), Some(pid)) = (misses, self.aimed_at) else {
            return Ok(());
        };
        // Without a keyboard device on the seat, no app reports that it has the keyboard. So there
        // has to be one.
        wayland.prepare()?;
        let claims = wait::holds(cancel, CLAIMS, LOOK, || {
            let all = self.toplevels()?;
            let mut its = all.iter().filter(|t| t.pid == pid).peekable();
            // An app that is not on the bus reports nothing.
            Ok(its.peek().is_none() || its.any(|t| t.active || t.silent))
        })?;
        if claims {
            return Ok(());
        }
        // GTK 3 reports no window as active while a menu is open.
        self.read(pid, Scope::Showing)?;
        if self.menus.is_open(pid) {
            return Ok(());
        }
        Err(InputError::NoKeyboard { progress }.into())
    }

    /// Whether this app has the keyboard, and an element that takes text has the focus, as far as
    /// the app reports it.
    fn keys_go_to_text(&mut self, pid: u32) -> bool {
        let front = self.display.front().ok().flatten();
        if front.and_then(|front| front.pid) != Some(pid) {
            return false;
        }
        let Ok(tree) = self.read(pid, Scope::Showing) else {
            return true;
        };
        let focused = tree.focused_in(tree.active_toplevel());
        focused.is_none_or(|at| tree.elements[at].states.contains(States::EDITABLE))
    }

    fn toplevels(&mut self) -> Result<Vec<AppToplevel>> {
        let listed = self.atspi.toplevels(false);
        listed.map_err(atspi::on_bus("listing the windows of apps"))
    }

    /// Whether the app has windows, and the display system lists none of them.
    fn is_native(&mut self, pid: u32) -> Result<bool> {
        let listed = self.display.every_window()?;
        let native = self.native_windows(&listed)?;
        let has = |windows: &[Window]| windows.iter().any(|window| window.pid == Some(pid));
        Ok(!has(&listed) && has(&native))
    }

    /// The apps that have a window, and that Deskline's answers call by this name; and the apps
    /// with a window of this title.
    fn called(&mut self, identifier: &str) -> Result<Vec<u32>> {
        let wanted = identifier.trim().to_lowercase();
        let mut pids = Vec::new();
        for window in self.known_windows()? {
            let Some(pid) = window.pid else { continue };
            let mut names = [self.atspi.name_of(pid), window.title].into_iter();
            if names.any(|text| text.to_lowercase() == wanted) && !pids.contains(&pid) {
                pids.push(pid);
            }
        }
        Ok(pids)
    }

    /// Fails if this process may not be opened.
    fn permit_running(&mut self, pid: u32, permit: Permit<'_>) -> Result<()> {
        if is_unbounded(permit) {
            return Ok(());
        }
        let own = self.name_of(pid);
        permit(&deskline_contract::identify(self, &own, pid))
    }

    /// The app's name on the accessibility bus or, if it has none there, the name of its process.
    fn name_of(&mut self, pid: u32) -> String {
        let name = self.atspi.name_of(pid);
        if name.is_empty() {
            process::app_name(pid)
        } else {
            name
        }
    }

    /// The pid of a running instance with a window. `permit` has to allow it, because any app can
    /// use the name of the requested one.
    fn running(&mut self, launch: &Launch, permit: Permit<'_>) -> Result<Option<u32>> {
        let listed = self
            .atspi
            .apps()
            .map_err(atspi::on_bus("listing the apps"))?;
        let windows = self.known_windows()?;
        // The frontmost window's app comes first.
        for pid in windows.iter().filter_map(|window| window.pid) {
            // An app without a tree is not used if it would have a tree after a new start.
            if listed.iter().all(|app| app.pid != pid) && mapped::toolkit_of(pid).is_some() {
                continue;
            }
            let name = self.atspi.name_of(pid);
            let program = process::app_name(pid);
            let running = Running {
                program: &program,
                accessible_name: &name,
                flatpak: &flatpak::id(pid).unwrap_or_default(),
            };
            if launch.is_running_as(running) && self.permit_running(pid, permit).is_ok() {
                return Ok(Some(pid));
            }
        }
        Ok(None)
    }

    /// The progress of the started app. The app may have handed over to a running instance.
    fn advance(&mut self, starting: &mut Starting) -> Result<Progress> {
        let mut windows = match self.display.x11() {
            Some(x11) => x11.mapped_windows()?,
            None => self.display.every_window()?,
        };
        windows.extend(self.native_windows(&windows)?);
        let handed_over = starting.launched.exited().is_some_and(|s| s.success());
        // The bus may have woken an instance that already had its windows before the start.
        let ran = |w: &Window| w.pid.is_some_and(|pid| starting.launched.made(pid));
        if handed_over || starting.before.iter().any(ran) {
            starting.handed.get_or_insert_with(Instant::now);
        }
        let starting = &*starting;
        let (launch, launched) = (&starting.launch, &starting.launched);
        let made = windows.iter().map(|window| {
            let its = if process::are_elsewhere() {
                let x11 = self.display.x11();
                x11.and_then(|x11| X11Display::x11(x11).claimed_pid(window.id).ok().flatten())
            } else {
                window.pid
            };
            its.is_some_and(|pid| launched.made(pid))
        });
        let made: Vec<bool> = made.collect();
        let came = |(window, its): (&Window, bool)| {
            let pid = window.pid?;
            let came = if starting.is_new(window) {
                its || is_instance(launch, launched, pid)
            } else if starting.is_retitled(window) {
                its || handed_over && is_instance(launch, launched, pid)
            } else {
                its && starting.is_late()
            };
            came.then_some(pid)
        };
        let mut pids: Vec<u32> = windows.iter().zip(made).filter_map(came).collect();
        pids.dedup();
        for &pid in &pids {
            let windows = atspi::Windows::default();
            let showing = self.atspi.read(pid, Scope::Showing, &windows);
            if showing.is_ok_and(|tree| tree.elements.len() > 1) {
                return Ok(Progress::Ready(pid));
            }
        }
        if let Some(status) = launched.exited() {
            let waits = status.success() && launch.opens_document() && !starting.is_late();
            if let Some(pid) = self.running(launch, &|_| Ok(()))?.filter(|_| !waits) {
                return Ok(Progress::Ready(pid));
            }
            if !status.success() {
                let (status, written) = (format!(" ({status})"), launched.complaint());
                let ended = OpenError::ended_at_once(&launch.name, &status, written.as_deref());
                return Err(ended.into());
            }
        }
        Ok(pids.first().map_or(Progress::Starting, |&pid| {
            Progress::Waiting(pid, absent::hint(pid, self.atspi.address(), &self.session))
        }))
    }

    /// A tree of an app that is not on the accessibility bus, made from its windows or tray items.
    fn read_windows(&mut self, pid: u32, e: Error) -> Result<Tree> {
        let Error::NoWindow { hint, .. } = &e else {
            return Err(e);
        };
        let windows = self.display.windows_for_tree(pid, true)?;
        let tree = if let Some(tree) = self.readable.instead(pid, hint, &windows) {
            tree
        } else {
            let name = self.name_of(pid);
            self.tray.tree_of(&name, pid).ok_or(e)?
        };
        self.ends.remember(pid, &tree.app.name, None);
        Ok(tree)
    }

    /// The app's windows, for toolkits that do not know the coordinates of their own windows.
    fn windows_of(&mut self, pid: u32) -> Result<atspi::Windows> {
        let popups = self.atspi.needs_popups(pid);
        let windows = self.display.windows_for_tree(pid, popups)?;
        Ok(atspi::Windows {
            unplaced: windows.unplaced || self.has_native && windows.toplevels.is_empty(),
            ..windows
        })
    }
}

/// Whether all apps may be opened, even unknown ones.
fn is_unbounded(permit: Permit<'_>) -> bool {
    permit(&Identity::default()).is_ok()
}

/// The process of the front window.
fn front_pid(display: &mut dyn DisplaySystem) -> Result<Option<u32>> {
    Ok(display.front()?.and_then(|window| window.pid))
}

/// Whether a process that was running before is an instance of the app, to which the started
/// process may have handed over.
fn is_instance(launch: &Launch, launched: &Launched, pid: u32) -> bool {
    launched.may_have_handed_over_to(pid)
        || launch.is_running_as(Running {
            program: &process::app_name(pid),
            flatpak: &flatpak::id(pid).unwrap_or_default(),
            ..Running::default()
        })
}

impl Desktop for LinuxDesktop {
    fn id(&self) -> String {
        self.atspi.guid().to_owned()
    }

    fn ocr(&self) -> Result<Arc<dyn Ocr>, &'static str> {
        match &self.tesseract {
            Some(engine) => Ok(engine.clone()),
            None => Err(tesseract::LACKING),
        }
    }
}

/// Writes the methods of [`Trees`] that AT-SPI answers alone.
macro_rules! by_atspi {
    ($($method:ident($($name:ident: $type:ty),*) $(-> $result:ty)?;)*) => {
        $(fn $method(&mut self $(, $name: $type)*) $(-> $result)? {
            self.atspi.$method($($name),*)
        })*
    };
}

impl Trees for LinuxDesktop {
    fn read(&mut self, pid: u32, scope: Scope) -> Result<Tree> {
        let mut windows = self.windows_of(pid)?;
        let mut tree = loop {
            match self.atspi.read(pid, scope, &windows) {
                Ok(tree) => break tree,
                Err(e) => {
                    let e = absent::explain(e, self.atspi.address(), &self.session);
                    if !may_join(pid, &e) || Cancel::current().wait(LOOK).is_err() {
                        return self.read_windows(pid, e);
                    }
                }
            }
            windows = self.windows_of(pid)?;
        };
        if tree.app.name.is_empty() {
            tree.app.name = self.name_of(pid);
        }
        self.ends.remember(pid, &tree.app.name, None);
        if tree.elements.len() > 1 {
            self.readable.note(pid);
        } else {
            // Qt 5 registers an app whose accessibility is off too, with an empty tree.
            let hint = absent::hint(pid, self.atspi.address(), &self.session);
            let windows = self.display.windows_for_tree(pid, true)?;
            if let Some(tree) = self.readable.instead(pid, &hint, &windows) {
                return Ok(tree);
            }
        }
        let mut looked = false;
        let has_all = wait::holds(&Cancel::current(), MAPS, LOOK, || {
            if std::mem::replace(&mut looked, true) {
                let now = self.windows_of(pid)?;
                if now != windows {
                    windows = now;
                    tree = self.atspi.read(pid, scope, &windows)?;
                }
            }
            Ok(!self.atspi.lacks_windows(pid))
        });
        match has_all {
            Ok(false) => self.atspi.give_up_windows(pid),
            Ok(true) | Err(Error::Cancelled(_)) => {}
            Err(e) => return Err(e),
        }
        let native = windows.unplaced || windows.toplevels.iter().any(|t| t.in_buffer.is_some());
        // GTK 3 alone reports the places of menus from the wrong corner.
        let lost = if native && self.atspi.ignores_clicks_in_new_menus(pid) {
            menus::place_in_bars(&mut tree);
            context::place(&mut tree, &windows.popups)
        } else {
            native && !self.atspi.knows_the_screen(pid) && context::has_lost(&tree)
        };
        let lives = |pid| !process::is_gone(pid);
        self.menus.read(pid, &tree, lost, lives);
        if let Some(wayland) = self.display.wayland() {
            wayland.menu_read(pid, self.menus.is_open(pid));
        }
        self.tray.add_to(&mut tree);
        Ok(tree)
    }

    fn listen(&mut self, pid: u32) -> Result<()> {
        self.before = [Some(pid), front_pid(&mut *self.display)?];
        if let Some(portal) = &mut self.portal {
            portal.forget();
        }
        let listens = self.atspi.listen(pid);
        listens.map_err(|e| absent::explain(e, self.atspi.address(), &self.session))
    }

    by_atspi! {
        act_in(toplevel: &ElementId);
        rest();
        lag(pid: u32, after: Sent) -> Duration;
        toolkit(pid: u32) -> Option<String>;
        moves_silently(pid: u32) -> bool;
        may_fade(pid: u32) -> bool;
        watch(control: &ElementId) -> bool;
        switched(element: &ElementId) -> Option<(Duration, bool)>;
        is_loading(pid: u32) -> bool;
        ignores_presses(tree: &Tree, index: usize) -> bool;
        wait_for_change(time: Duration) -> Result<Option<Sign>>;
        character(tree: &Tree, index: usize, at: usize) -> Result<Option<Rect>>;
        range(element: &ElementId) -> Result<Option<(f64, f64)>>;
        takes(element: &ElementId) -> Result<Takes>;
    }

    fn asks_apps(&self) -> bool {
        true
    }

    fn hit_test(&mut self, tree: &Tree, index: usize, at: Point) -> Result<Hit> {
        let element = tree.elements.get(index);
        // X11 knows where the windows of menus are, so the app need not be asked.
        if self.display.wayland().is_none() && element.is_some_and(|e| e.role == Role::MENU_ITEM) {
            return Ok(Hit::Unknown);
        }
        self.atspi.hit_test(tree, index, at)
    }

    fn idle(&mut self) -> Option<Duration> {
        let display = self.display.wayland().and_then(Compositor::idle);
        let trees = self.atspi.idle();
        trees.into_iter().chain(display).min()
    }

    fn act(&mut self, element: &ElementId, deed: Deed<'_>) -> Result<bool> {
        let in_tray = (deed == Deed::Press).then(|| self.tray.press(element));
        match in_tray.flatten() {
            Some(pressed) => pressed.map(|()| true),
            None => self.atspi.act(element, deed),
        }
    }
}

impl Apps for LinuxDesktop {
    fn applications(&mut self) -> Result<Vec<Application>> {
        let front = self.display.front()?.filter(|w| w.place == Place::App);
        let mut front = front.and_then(|window| window.pid);
        if front.is_none() && self.has_native {
            front = native::active(&self.toplevels()?);
        }
        let mut windows = self.known_windows()?;
        windows.extend(self.tray.listed().into_iter().map(|(pid, title)| Window {
            pid: Some(pid),
            title,
            place: Place::Tray,
            ..Window::default()
        }));
        Ok(Application::of_windows(windows, front, |pid| {
            self.name_of(pid)
        }))
    }

    fn open(&mut self, identifier: &str, permit: Permit<'_>) -> Result<Opened> {
        let mut refused = None;
        for pid in self.called(identifier)? {
            if let Err(e) = self.permit_running(pid, permit) {
                refused.get_or_insert(e);
                continue;
            }
            return Ok(Opened::Running(pid));
        }
        let mut launch = match (apps::find(identifier, &self.session), refused) {
            (Ok(launch), None) => launch,
            // Another program has the name of an installed app. The installed app is started.
            (Ok(launch), Some(_)) if launch.has_name(identifier) => launch,
            (_, Some(refused)) => return Err(refused),
            (Err(e), None) => return Err(e),
        };
        if !is_unbounded(permit) {
            permit(&launch.judge(&self.session))?;
        }
        if let Some(pid) = self
            .running(&launch, permit)?
            .filter(|_| !launch.opens_document())
        {
            return Ok(Opened::Running(pid));
        }
        let before = self.known_windows()?;
        let launched = apps::launch(&launch, &self.session)?;
        let name = launch.name.clone();
        self.starting = Some(Starting {
            launch,
            launched,
            before,
            handed: None,
        });
        Ok(Opened::Started(name))
    }

    fn progress(&mut self) -> Result<Progress> {
        let Some(mut starting) = self.starting.take() else {
            return Ok(Progress::Starting);
        };
        let progress = self.advance(&mut starting);
        if let Ok(Progress::Ready(pid) | Progress::Waiting(pid, _)) = progress {
            let made = Some(&starting.launched).filter(|launched| launched.made(pid));
            self.ends.remember(pid, &starting.launch.name, made);
        }
        self.starting = Some(starting);
        progress
    }

    fn complaint(&mut self) -> Option<String> {
        self.starting.as_ref()?.launched.complaint()
    }

    fn computed(&mut self, pid: u32) -> Option<Duration> {
        (!process::are_elsewhere()).then(|| Family::new(pid).ran())
    }

    fn threads(&mut self, pid: u32) -> Vec<Thread> {
        if process::are_elsewhere() {
            return Vec::new();
        }
        let threads = family::threads(pid).into_iter();
        threads
            .map(|(id, ran, sleeps)| Thread { id, ran, sleeps })
            .collect()
    }

    fn known_as(&mut self, pid: u32) -> Identity {
        self.identities.known_as(pid, &self.session)
    }

    fn may_be_clients(&mut self, pid: u32, within: Duration) -> bool {
        !process::are_elsewhere() && process::is_of_parents(pid, within)
    }

    fn end_of(&mut self, pid: u32) -> Option<End> {
        self.ends.end_of(pid)
    }

    fn handoff_pending(&mut self) -> Result<bool> {
        let Some(portal) = &mut self.portal else {
            return Ok(false);
        };
        // The process of the front window is the only sign that the dialog has opened.
        if !portal.pending() || self.display.screen().is_err() {
            return Ok(false);
        }
        // The requested dialog is open once another process is in front.
        let front = front_pid(&mut *self.display)?;
        if front.is_some() && !self.before.contains(&front) {
            let has_tree = front.is_some_and(|pid| self.atspi.answers(pid).unwrap_or(true));
            if has_tree {
                portal.arrived();
                return Ok(false);
            }
        }
        Ok(true)
    }
}
