//! sway as the display of a link.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use deskline_core::{KeyPress, Modifiers, Point, Rect};
use deskline_link::capabilities::Ability;
use deskline_link::guard::{Grab, Task};
use deskline_link::no_keyboard;
use deskline_link::{
    Aim, Cancel, Capabilities, Click, Display, Error, LastClick, Other, Picture, Result, Window,
    WindowId,
};

use crate::sway::devices::{Devices, NO_DEVICES};
use crate::sway::guard::Guard;
use crate::sway::ipc::{Ipc, Output, SwayWindow};
use crate::sway::own_seat::{self, Own};
use crate::wlroots::client::{Client, Seat};
use crate::wlroots::input::Input;
use crate::wlroots::picture;
use crate::wlroots::reader::Typing;
use crate::wlroots::screens;

/// How long sway may take to give a window the keyboard.
const RAISES: Duration = Duration::from_secs(1);

/// How long it may take where several windows have one title.
const TWIN: Duration = Duration::from_millis(100);

/// How often to look for it: sway's events would need a second connection.
const LOOK: Duration = Duration::from_millis(5);

/// The first version of sway that was seen to survive a client that asks for a pointer which has just
/// left the seat. 1.7 does not.
const SURVIVES: (u32, u32) = (1, 10);

/// A sway session.
pub struct SwayDisplay {
    ipc: Ipc,
    client: Client,
    /// Where the compositor listens, and where sway's own socket is.
    socket: PathBuf,
    ipc_socket: PathBuf,
    input: Input,
    guard: Option<Guard>,
    own: Option<Own>,
    aim: Option<Aim>,
    last_click: LastClick,
}

impl SwayDisplay {
    /// Connects to the compositor that listens on `wayland`, and to its own socket `ipc`.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] or [`Error::Lost`] where one does not answer within 2 s, or the
    /// compositor lacks a protocol.
    pub fn connect(wayland: &Path, ipc_socket: &Path, seat: Seat) -> Result<Self> {
        let mut ipc = Ipc::connect(ipc_socket)?;
        ipc.outputs()?;
        let survives = seat == Seat::Own || ipc.version()? >= SURVIVES;
        let mut display = Self {
            ipc,
            own: (seat == Seat::Own).then(Own::new),
            ipc_socket: ipc_socket.to_owned(),
            guard: None,
            client: has_all(Client::connect(wayland, seat)?)?,
            socket: wayland.to_owned(),
            input: Input::new(wayland, survives),
            aim: None,
            last_click: LastClick::default(),
        };
        if seat == Seat::Own {
            display.input.make(&mut display.client)?;
        }
        Ok(display)
    }

    /// Makes the devices that the seat lacks. Returns whether this has any.
    ///
    /// # Errors
    ///
    /// [`Error::Lost`] where the compositor does not answer.
    pub fn prepare(&mut self) -> Result<bool> {
        // A seat of its own was given both when it was made.
        Ok(self.own.is_some() || self.input.make_missing(&mut self.client)?)
    }

    /// All windows, the frontmost first.
    ///
    /// # Errors
    ///
    /// [`Error::Lost`] where sway does not answer.
    pub fn sway_windows(&mut self) -> Result<Vec<SwayWindow>> {
        self.listed()
    }

    /// All windows, with the focus of the agent's seat.
    fn listed(&mut self) -> Result<Vec<SwayWindow>> {
        let mut windows = self.ipc.windows()?;
        if self.own.is_some() {
            let focus = self.ipc.focus_of(&self.client.heard.own.seat)?;
            for window in &mut windows {
                window.focused = focus == Some(window.id);
            }
        }
        Ok(windows)
    }

    /// Whether there is one seat, the person's. With several, an app reports the focus of the seat that has
    /// changed last.
    pub fn has_one_seat(&mut self) -> bool {
        self.own.is_none() && self.ipc.seats().is_ok_and(|seats| seats.len() == 1)
    }

    /// Whether the agent has a seat of its own.
    pub fn has_own_seat(&self) -> bool {
        self.own.is_some()
    }

    /// Why this process does not hear the agent's own seat; `None` if it does, or there is none.
    pub fn unserved(&self, pid: u32) -> Option<&'static str> {
        self.own.as_ref()?.unserved(pid)
    }

    /// An error if the target does not hear the agent's seat.
    fn check_served(&mut self) -> Result<()> {
        let (Some(own), Some(aim)) = (&self.own, self.aim) else {
            return Ok(());
        };
        let native = |ipc: &mut Ipc| -> Result<bool> {
            let windows = ipc.windows()?;
            Ok(windows.iter().all(|w| w.pid != aim.pid || w.native))
        };
        let why = match own.unserved(aim.pid) {
            None if !native(&mut self.ipc)? => Some(own_seat::XWAYLAND),
            why => why,
        };
        match why {
            Some(why) => Err(Error::Input(format!(
                "the agent's own seat does not reach this app: {why}. Nothing was sent. Use press_ax_and_traverse, set_value_and_traverse and set_selected_and_traverse, start the app anew with open_application_and_traverse, or serve with --seat shared"
            ))),
            None => Ok(()),
        }
    }

    /// The names of the devices that the guard keeps out.
    ///
    /// # Errors
    ///
    /// [`Error::Lost`] where sway does not answer.
    pub fn guarded(&mut self) -> Result<Vec<String>> {
        let devices = Devices::look(&mut self.ipc)?;
        Ok(devices.physical.into_iter().map(|d| d.name).collect())
    }

    /// The bounds of all outputs. An error if a point is on none.
    fn layout_around(&mut self, points: &[Point]) -> Result<Rect> {
        let outputs = self.ipc.outputs()?;
        let screens: Vec<Rect> = outputs.iter().map(Output::place).collect();
        screens::layout_around(&screens, points)
    }

    /// An error if the window with the keyboard is not the target's.
    fn check_keyboard(&mut self, progress: impl FnOnce() -> String) -> Result<()> {
        let Some(aim) = self.aim else { return Ok(()) };
        let windows = self.listed()?;
        // A menu of the target takes the keyboard from no window.
        match windows.iter().find(|w| w.focused) {
            Some(window) if window.pid != aim.pid => Err(other(window).has_keyboard(&progress())),
            Some(window) => {
                Ok(aim.check_window(WindowId(window.id), &window.title, &progress())?)
            }
            None => Err(no_keyboard(&progress())),
        }
    }

    /// The other app's window that lies at this point.
    fn over(&mut self, at: Point) -> Result<Option<Other>> {
        // A menu of the target may lie over the other window, which sway does not tell.
        let Some(aim) = self.aim.filter(|aim| !aim.menu) else {
            return Ok(None);
        };
        let windows = self.listed()?;
        let there = windows.iter().find(|w| w.visible && w.content.contains(at));
        Ok(there.filter(|w| w.pid != aim.pid).map(other))
    }
}

/// The agent's own seat.
impl SwayDisplay {
    /// Gives the window the keyboard of the agent's seat. Only its title tells it among wlroots'
    /// toplevels: of several with one title each is tried.
    fn focus_on_own_seat(&mut self, id: WindowId, cancel: &Cancel) -> Result<()> {
        let windows = self.listed()?;
        let window = windows.iter().find(|w| w.id == id.0);
        let window = window.ok_or_else(|| Error::Input("the window is gone".into()))?;
        let its = self.aim.is_some_and(|aim| aim.pid == window.pid);
        // A window that the person has put away since is not brought back for the sake of order.
        if window.focused || !window.visible && !its {
            return Ok(());
        }
        let title = window.title.clone();
        for toplevel in self.client.toplevels(&title)? {
            self.client.focus(&toplevel)?;
            let start = Instant::now();
            while start.elapsed() < RAISES {
                let focus = self.ipc.focus_of(&self.client.heard.own.seat)?;
                if focus == Some(id.0) {
                    return Ok(());
                }
                // It went to a twin.
                if start.elapsed() > TWIN {
                    break;
                }
                cancel.wait(LOOK)?;
            }
        }
        Err(Error::Input(
            "sway did not give the window to the agent's seat. Nothing was sent".into(),
        ))
    }
}

/// The client, if the compositor offers all that is used of it: sway does since 1.0.
fn has_all(client: Client) -> Result<Client> {
    client.pointers()?;
    client.keyboards()?;
    client.screencopy()?;
    Ok(client)
}

fn other(window: &SwayWindow) -> Other {
    Other {
        title: window.title.clone(),
        pid: window.pid,
    }
}

fn window(window: SwayWindow) -> Window {
    Window {
        id: WindowId(window.id),
        pid: Some(window.pid),
        title: window.title,
        extents: Some(window.content),
    }
}

impl Display for SwayDisplay {
    fn capabilities(&self) -> Capabilities {
        let no = |why: &'static str| Ability::No(why.into());
        Capabilities {
            locate_pointer: no("Wayland does not say where the pointer is"),
            ..Capabilities::ALL
        }
    }

    fn front(&mut self) -> Result<Option<Window>> {
        let windows = self.listed()?;
        Ok(windows.into_iter().find(|w| w.focused).map(window))
    }

    fn activate(&mut self, id: WindowId, cancel: &Cancel) -> Result<()> {
        if self.own.is_some() {
            return self.focus_on_own_seat(id, cancel);
        }
        self.ipc.focus(id.0)?;
        let start = Instant::now();
        loop {
            let windows = self.listed()?;
            match windows.iter().find(|w| w.id == id.0) {
                Some(window) if window.focused => return Ok(()),
                Some(_) if start.elapsed() < RAISES => cancel.wait(LOOK)?,
                Some(_) => {
                    return Err(Error::Input(
                        "sway did not bring the window to the front within 1 s. Nothing was sent"
                            .into(),
                    ));
                }
                None => return Err(Error::Input("the window is gone".into())),
            }
        }
    }

    fn windows(&mut self, pid: u32) -> Result<Vec<Window>> {
        let mut windows = self.listed()?;
        windows.retain(|w| w.pid == pid);
        Ok(windows.into_iter().map(window).collect())
    }

    fn every_window(&mut self) -> Result<Vec<Window>> {
        Ok(self.listed()?.into_iter().map(window).collect())
    }

    fn move_pointer(&mut self, to: Point) -> Result<()> {
        self.check_served()?;
        let layout = self.layout_around(&[to])?;
        self.input.go(&mut self.client, layout, to)
    }

    fn watch_person(&mut self) {
        if let Some(own) = &mut self.own {
            own.note(&mut self.ipc);
        }
    }

    fn unwatch_person(&mut self) {
        if let Some(own) = &mut self.own {
            own.give_back(&mut self.ipc, self.aim.map(|aim| aim.pid));
        }
    }

    fn grab(&mut self, task: &Task, cancel: &Cancel) -> Result<Grab> {
        if self.own.is_some() {
            // Two seats cannot mix.
            return Ok(Grab::Held);
        }
        if Devices::look(&mut self.ipc)?.physical.is_empty() {
            return Ok(Grab::Unable(NO_DEVICES.into()));
        }
        let mut guard = match self.guard.take().and_then(Guard::if_alive) {
            Some(guard) => guard,
            None => Guard::start(&self.ipc_socket)?,
        };
        let own = self.input.keyboards();
        let grabbed = guard.grab(task.limit, cancel, own);
        self.guard = Some(guard);
        grabbed
    }

    fn ungrab(&mut self) {
        if let Some(guard) = &mut self.guard {
            guard.release();
        }
    }

    fn guard_lapse(&mut self) -> Option<String> {
        self.guard.as_mut()?.lapse()
    }

    fn aim(&mut self, aim: Aim) {
        self.aim = Some(aim);
    }

    fn click(&mut self, click: Click, cancel: &Cancel) -> Result<()> {
        let Click {
            at, button, clicks, ..
        } = click;
        self.last_click.wait_before(at, button, clicks, cancel)?;
        cancel.check()?;
        if let Some(other) = self.over(at)? {
            return Err(other.lies_over(at));
        }
        self.move_pointer(at)?;
        let clicked = self.input.click(&mut self.client, button, clicks, cancel);
        self.last_click.note(at, button);
        clicked
    }

    fn drag(
        &mut self,
        from: Point,
        to: Point,
        modifiers: Modifiers,
        cancel: &Cancel,
    ) -> Result<()> {
        cancel.check()?;
        if let Some(other) = self.over(from)? {
            return Err(other.lies_over(from));
        }
        if let Some(other) = self.over(to)? {
            return Err(other.lies_over_end(to));
        }
        self.check_served()?;
        let layout = self.layout_around(&[from, to])?;
        let client = &mut self.client;
        self.input
            .drag(client, layout, [from, to], modifiers, cancel)
    }

    fn type_text(&mut self, text: &str, cancel: &Cancel) -> Result<()> {
        self.check_served()?;
        let typing = Typing::of(text, self.aim, &self.socket)?;
        self.input.prepare(&mut self.client, &typing.text)?;
        for (part, so_far) in typing.parts() {
            typing.await_reader(&so_far, cancel)?;
            self.check_keyboard(|| so_far)?;
            self.input.type_part(&mut self.client, part, cancel)?;
        }
        Ok(())
    }

    fn press_key(&mut self, press: KeyPress, _held: Duration, cancel: &Cancel) -> Result<()> {
        cancel.check()?;
        self.check_served()?;
        self.check_keyboard(|| "The key was not pressed".to_owned())?;
        self.input.press(&mut self.client, press)
    }

    fn scroll(&mut self, at: Point, right: i32, down: i32, cancel: &Cancel) -> Result<()> {
        cancel.check()?;
        if let Some(other) = self.over(at)? {
            return Err(other.lies_over(at));
        }
        self.move_pointer(at)?;
        self.input.scroll(&mut self.client, right, down, cancel)
    }

    fn release_all(&mut self) {
        // A lost connection has released them.
        let _ = self.input.release(&mut self.client);
    }

    fn picture(&mut self, id: WindowId) -> Result<Picture> {
        let windows = self.listed()?;
        let failed = |why: &str| Error::system("taking a picture")(why.to_owned());
        let window = windows.iter().find(|w| w.id == id.0 && w.visible);
        let window = window.ok_or_else(|| failed("the window is on no workspace that shows"))?;
        let outputs = self.ipc.outputs()?;
        let part = |output: &Output| output.place().intersect(&window.content);
        let output = outputs.iter().max_by_key(|o| part(o).w * part(o).h);
        let output = output.filter(|o| !part(o).is_empty());
        let output = output.ok_or_else(|| failed("the window is on no output"))?;
        let screen = self.client.heard.screens.named(&output.name);
        let screen = screen.ok_or_else(|| failed("the window's output is not known"))?;
        picture::take(&mut self.client, &screen, output.place(), part(output))
    }
}
