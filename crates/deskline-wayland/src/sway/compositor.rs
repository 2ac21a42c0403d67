//! sway and Hyprland as a [`Compositor`].

use std::path::{Path, PathBuf};
use std::time::Duration;

use deskline_contract::guard::Guards;
use deskline_contract::{
    Aim, Cancel, Error, Missing, Offer, Picture, PictureNature, Pictures, Raising, Result, Window,
    WindowId, Workspaces,
};
use deskline_core::Point;

use crate::compositor::{BoxedPort, Compositor, Listing, Located, Manner, await_front, gone};
use crate::display::WaylandDisplay;
use crate::focus::Keyboard;
use crate::sway::hyprland::Hyprland;
use crate::sway::ipc::{self, Ipc};
use crate::wlroots::client::Client;
use crate::wlroots::input::Input;
use crate::wlroots::{picture, screens};

/// How long the compositor may take to give a window the keyboard.
const RAISES: Duration = Duration::from_secs(1);

/// How often to check whether the window has the keyboard. Events would need a second connection.
const LOOK: Duration = Duration::from_millis(5);

/// The first version of sway that was seen to survive when the seat loses its last pointer and a
/// client asks for the pointer right after. sway 1.7 crashes: see `helper::hold_pointer`.
const SURVIVES: (u32, u32) = (1, 10);

/// The socket of the compositor's own IPC protocol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OwnSocket {
    Sway(PathBuf),
    Hyprland(PathBuf),
}

/// A session of sway or Hyprland as the display of a link.
pub type SwayDisplay = WaylandDisplay<Sway>;

/// A session of sway or Hyprland.
pub struct Sway {
    ipc: Box<dyn Ipc>,
    client: Client,
    /// The Wayland socket.
    socket: PathBuf,
    input: Input,
    /// The number and name of the workspace that [`Workspaces::workspace`] returned last.
    workspace: Option<(u32, String)>,
    /// The workspaces that raising windows has hidden.
    hidden: Vec<String>,
}

impl SwayDisplay {
    /// Connects to the Wayland socket `wayland` and to the IPC socket `own`.
    ///
    /// # Errors
    ///
    /// [`Error::Unavailable`] or [`Error::Lost`] if one of the sockets does not answer within 2 s,
    /// or the compositor lacks a protocol.
    pub fn connect(wayland: &Path, own: &OwnSocket) -> Result<Self> {
        let (ipc, survives): (Box<dyn Ipc>, bool) = match own {
            OwnSocket::Sway(path) => {
                let mut sway = ipc::Sway::connect(path)?;
                let survives = sway.version()? >= SURVIVES;
                (Box::new(sway), survives)
            }
            OwnSocket::Hyprland(path) => (Box::new(Hyprland::connect(path)?), false),
        };
        let client = Client::connect(wayland)?;
        // sway has offered these three protocols since 1.0.
        client.pointers()?;
        client.keyboards()?;
        client.screencopy()?;
        Ok(Self::new(Sway {
            ipc,
            client,
            socket: wayland.to_owned(),
            input: Input::new(wayland, survives),
            workspace: None,
            hidden: Vec::new(),
        }))
    }
}

impl Raising for Sway {
    fn activate(&mut self, id: WindowId, cancel: &Cancel) -> Result<()> {
        let windows = self.ipc.windows()?;
        let its = windows.into_iter().find(|w| w.id == id.0);
        if let Some(workspace) = its.and_then(|w| w.own)
            && !self.hidden.contains(&workspace.instead)
        {
            self.hidden.insert(0, workspace.instead);
        }
        self.ipc.focus(id.0)?;
        let failure = "the compositor did not bring the window to the front";
        await_front(id, (failure, RAISES, LOOK), cancel, || {
            let windows = self.ipc.windows()?;
            let window = windows.iter().find(|w| w.id == id.0).ok_or_else(gone)?;
            Ok(window.focused.then_some(id))
        })
    }
}

impl Workspaces for Sway {
    fn workspace(&mut self) -> Result<Option<u32>> {
        self.workspace = self.ipc.workspace()?;
        self.hidden.clear();
        Ok(self.workspace.as_ref().map(|(number, _)| *number))
    }

    fn put_away(&mut self, window: &Window) -> Result<()> {
        self.ipc.put_away(window.id.0)
    }

    /// Shows on each screen the workspace that it showed before windows were raised.
    fn show_workspace(&mut self, workspace: u32, _: &Cancel) -> Result<()> {
        let last = self
            .workspace
            .take()
            .filter(|(number, _)| *number == workspace);
        let last = last.map_or_else(|| workspace.to_string(), |(_, name)| name);
        for name in std::mem::take(&mut self.hidden).into_iter().chain([last]) {
            self.ipc.show(&name)?;
        }
        Ok(())
    }
}

impl Pictures for Sway {
    fn picture(&mut self, id: WindowId) -> Result<Picture> {
        let windows = self.ipc.windows()?;
        let failed = |why: &str| Error::system("taking a screenshot")(why.to_owned());
        let window = windows.iter().find(|w| w.id == id.0 && w.visible);
        let window = window.ok_or_else(|| failed("the window is on no workspace that shows"))?;
        let screens = self.client.screens()?;
        let shown = screens::showing(screens, |screen| screen.place, window.content);
        let (screen, part) = shown.ok_or_else(|| failed("the window is on no output"))?;
        picture::take(&mut self.client, &screen.output, screen.place, part)
    }

    fn nature(&self) -> PictureNature {
        PictureNature::QuickOfScreen
    }
}

impl Compositor for Sway {
    fn manner(&self) -> Manner<'_> {
        Manner {
            ends_slow_readers: Some(&self.socket),
            ..Manner::PLAIN
        }
    }

    fn set_aim(&mut self, aim: Aim) {
        self.input.pid = Some(aim.pid);
    }

    fn prepare(&mut self) -> Result<bool> {
        self.input.make_missing(&mut self.client)
    }

    fn windows(&mut self) -> Result<Listing> {
        self.ipc.windows().map(Listing::listed)
    }

    /// sway (1.10) reports a window as focused even while the screen is locked. If there are
    /// several seats, apps do not help: they report the focus of the seat whose focus has changed
    /// last.
    fn misses_launchers(&mut self) -> bool {
        self.ipc.has_one_seat()
    }

    /// While a menu is open, the window that it was opened from keeps the keyboard.
    fn keyboard(&mut self, _: Option<Aim>, _: &Cancel) -> Result<Keyboard> {
        let windows = self.ipc.windows()?;
        let front = windows.iter().find(|w| w.focused);
        Ok(front.map_or(Keyboard::Nobody, |w| w.keyboard()))
    }

    fn over(&mut self, at: Point, aim: Aim) -> Result<Option<Window>> {
        // The target's menu may cover the other window, but the compositor does not report menus.
        if aim.menu {
            return Ok(None);
        }
        let windows = self.ipc.windows()?;
        let mut there = windows.iter().filter(|w| w.visible);
        let there = there.find(|w| w.content.contains(at));
        Ok(there.filter(|w| w.pid != aim.pid).map(|w| w.window()))
    }

    fn locate(&mut self, _: Option<Aim>, places: &[Point], _: &Cancel) -> Result<Located> {
        self.input.reach(&mut self.client, places)?;
        Ok(Located {
            offset: (0.0, 0.0),
            late: false,
        })
    }

    fn devices(&mut self, offset: (f64, f64)) -> Result<BoxedPort<'_>> {
        Ok(self.input.port(&mut self.client, offset))
    }

    fn workspaces(&mut self) -> Option<&mut dyn Workspaces> {
        Some(self)
    }

    fn pictures(&mut self) -> Offer<&mut dyn Pictures> {
        Ok(self)
    }

    fn guard(&mut self) -> Offer<&mut dyn Guards> {
        Err(Missing::new(
            "the compositor can only disable the user's devices, and then Esc could not stop the agent",
        ))
    }
}
