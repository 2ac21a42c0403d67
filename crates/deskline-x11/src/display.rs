//! X11 as the display of a link: windows, input and pictures over one connection, the guard over
//! another.

use std::path::{Path, PathBuf};

use deskline_contract::clipboard::ClipboardThread;
use deskline_contract::guard::Guards;
use deskline_contract::{
    Aim, Clipboard, Display, KeyInput, Overlay, Pictures, Pointer, PointerInput, Raising, Result,
    Screen, Window, Workspaces, kept, offers,
};
use deskline_core::Point;
use deskline_input::Port;

use crate::guard::Guard;
use crate::{Kind, Toplevel, X11, clipboard};

pub struct X11Display {
    /// The display's name, such as `:0`.
    name: String,
    x11: X11,
    guard: Guard,
    private: bool,
    /// The file with the display's cookie.
    xauthority: Option<PathBuf>,
    /// The clipboard's thread, which the first paste starts.
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
            xauthority: xauthority.map(Path::to_owned),
            clipboard: None,
        })
    }

    /// See [`X11::take_pids`].
    pub fn take_pids(&mut self, ours: Option<u32>) -> bool {
        self.x11.take_pids(ours)
    }

    /// The connection for windows, input and pictures.
    pub fn x11(&self) -> &X11 {
        &self.x11
    }

    /// What a person would call windows: also minimised ones and those on other workspaces, but no
    /// menus, tooltips and splash screens.
    ///
    /// # Errors
    ///
    /// As [`X11::toplevels`].
    pub(crate) fn app_windows(&self) -> Result<Vec<Toplevel>> {
        let mut windows = self.x11.toplevels()?;
        windows.retain(|w| match w.kind {
            Kind::Normal | Kind::Dialog | Kind::Utility | Kind::Toolbar => {
                w.viewable || w.window().is_away()
            }
            Kind::Dock | Kind::Notification | Kind::Desktop => w.viewable,
            _ => false,
        });
        Ok(windows)
    }

    /// The dialogs of other processes that belong to windows of the process `pid`.
    ///
    /// # Errors
    ///
    /// As [`X11::toplevels`].
    pub fn dialogs_of(&self, pid: u32) -> Result<Vec<Window>> {
        let windows = self.app_windows()?;
        let is_for = |w: &&Toplevel| {
            let owner = w.transient_for.filter(|_| w.pid != pid);
            owner.is_some_and(|id| windows.iter().any(|w| w.id == id && w.pid == pid))
        };
        let dialogs = windows.iter().filter(is_for);
        Ok(dialogs.map(Toplevel::window).collect())
    }

    /// The windows of all apps, except those that are minimised or on another workspace.
    ///
    /// # Errors
    ///
    /// As [`X11::toplevels`].
    pub fn mapped_windows(&self) -> Result<Vec<Window>> {
        let windows = self.app_windows()?;
        let mapped = windows.iter().filter(|w| w.viewable);
        Ok(mapped.map(Toplevel::window).collect())
    }
}

impl Display for X11Display {
    fn is_private(&self) -> bool {
        self.private
    }

    fn begin_link(&mut self, _acts: bool) {}

    fn set_aim(&mut self, aim: Aim) {
        self.x11.set_aim(aim);
    }

    fn release_all(&mut self) {
        self.x11.release_all();
    }

    offers!(self => Ok(self); screen Screen);
    offers!(self => Ok(&mut self.x11);
        raising Raising, pointer_input PointerInput, key_input KeyInput, pictures Pictures);
    offers!(self => Ok(&mut self.guard); guard Guards, overlay Overlay);

    fn workspaces(&mut self) -> Option<&mut dyn Workspaces> {
        Some(&mut self.x11)
    }

    fn clipboard(&mut self) -> Result<&mut dyn Clipboard> {
        let start = || clipboard::start(&self.name, self.xauthority.as_deref());
        Ok(kept(&mut self.clipboard, start)?)
    }
}

impl Screen for X11Display {
    fn front(&mut self) -> Result<Option<Window>> {
        Ok(self.x11.front()?.map(|w| w.window()))
    }

    fn every_window(&mut self) -> Result<Vec<Window>> {
        Ok(self.app_windows()?.iter().map(Toplevel::window).collect())
    }

    fn windows_of(&mut self, pid: u32) -> Result<Vec<Window>> {
        let mut windows = self.app_windows()?;
        windows.retain(|w| w.pid == pid);
        // Hidden windows go last.
        windows.sort_by_key(|w| (!w.viewable || w.minimised, w.rank()));
        Ok(windows.iter().map(Toplevel::window).collect())
    }

    fn pointer(&mut self) -> Result<Option<Pointer>> {
        self.x11.pointer().map(Some)
    }

    fn move_pointer(&mut self, to: Point) -> Result<()> {
        Port::go(&mut self.x11, to)
    }
}
