//! X11 as the display of a link: windows, input and pictures over one connection, the guard over
//! another.

use std::path::{Path, PathBuf};
use std::time::Duration;

use deskline_core::{KeyPress, Modifiers, Point, Rect};
use deskline_input::Port;
use deskline_link::clipboard::ClipboardThread;
use deskline_link::guard::{Grab, Task};
use deskline_link::{
    Aim, Cancel, Capabilities, Click, Clipboard, Display, Picture, Pointer, Result, Window,
    WindowId,
};

use crate::clipboard;
use crate::guard::Guard;
use crate::people::People;
use crate::{Kind, Toplevel, X11};

/// An X display and its guard.
pub struct X11Display {
    /// `:0`
    name: String,
    x11: X11,
    guard: Guard,
    people: People,
    private: bool,
    /// The file with the display's cookie.
    xauthority: Option<PathBuf>,
    /// Started by the first paste.
    clipboard: Option<ClipboardThread>,
}

impl X11Display {
    /// Connects to the display of this name, with the cookie in `xauthority` if that file has one.
    ///
    /// # Errors
    ///
    /// As [`X11::connect`] and [`Guard::start`].
    pub fn connect(name: &str, xauthority: Option<&Path>) -> Result<Self> {
        let x11 = X11::connect(name, xauthority)?;
        Ok(Self {
            name: name.to_owned(),
            private: x11.is_private()?,
            x11,
            guard: Guard::start(name, xauthority)?,
            people: People::default(),
            xauthority: xauthority.map(Path::to_owned),
            clipboard: None,
        })
    }

    /// The connection for windows, input and pictures.
    pub fn x11(&self) -> &X11 {
        &self.x11
    }

    /// The windows that a person would call so, minimised ones too: no panels, menus or tool tips.
    ///
    /// # Errors
    ///
    /// As [`X11::toplevels`].
    pub fn app_windows(&self) -> Result<Vec<Toplevel>> {
        let mut windows = self.x11.toplevels()?;
        windows.retain(|w| {
            let kind = matches!(
                w.kind,
                Kind::Normal | Kind::Dialog | Kind::Utility | Kind::Toolbar
            );
            kind && (w.viewable || w.minimised)
        });
        Ok(windows)
    }
}

impl Display for X11Display {
    fn capabilities(&self) -> Capabilities {
        Capabilities::ALL
    }

    fn is_private(&self) -> bool {
        self.private
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
        Port::go(&mut self.x11, to)
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
        let people = self.people.on(&self.name).join(", ");
        let grab = self.guard.close(task, cancel)?;
        if grab == Grab::Held && !people.is_empty() {
            return Ok(Grab::Partly(format!(
                "someone at {people}, whose input arrives like the agent's own"
            )));
        }
        Ok(grab)
    }

    fn ungrab(&mut self) {
        self.guard.open();
    }

    fn aim(&mut self, aim: Aim) {
        self.x11.aim(aim);
    }

    fn click(&mut self, click: Click, cancel: &Cancel) -> Result<()> {
        deskline_input::click(&mut self.x11, click, cancel)
    }

    fn hover(&mut self, at: Point, cancel: &Cancel) -> Result<()> {
        deskline_input::hover(&mut self.x11, at, cancel)
    }

    fn drag(
        &mut self,
        from: Point,
        to: Point,
        modifiers: Modifiers,
        cancel: &Cancel,
    ) -> Result<()> {
        deskline_input::drag(&mut self.x11, [from, to], modifiers, cancel)
    }

    fn type_text(&mut self, text: &str, cancel: &Cancel) -> Result<()> {
        deskline_input::type_text(&mut self.x11, text, cancel)
    }

    fn press_key(&mut self, press: KeyPress, held: Duration, cancel: &Cancel) -> Result<()> {
        deskline_input::press_key(&mut self.x11, press, held, cancel)
    }

    fn clipboard(&mut self) -> Result<&mut dyn Clipboard> {
        let clipboard = match self.clipboard.take() {
            Some(clipboard) => clipboard,
            None => clipboard::start(&self.name, self.xauthority.as_deref())?,
        };
        Ok(self.clipboard.insert(clipboard))
    }

    fn scroll(&mut self, at: Point, right: i32, down: i32, cancel: &Cancel) -> Result<()> {
        deskline_input::scroll(&mut self.x11, at, (right, down), cancel)
    }

    fn release_all(&mut self) {
        self.x11.release_all();
    }

    fn picture(&mut self, window: WindowId) -> Result<Picture> {
        self.x11.picture(window)
    }
}
