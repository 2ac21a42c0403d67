//! Hyprland's request socket, `.socket.sock`: a connection for each request, answers in JSON.
//! Tested with Hyprland 0.56 in an emulated machine, as Hyprland does not start without a GPU.

use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use deskline_contract::{Error, Result};
use deskline_core::Rect;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::ipc::{Ipc, LONGEST, SwayWindow, Workspace, open};
use crate::listed::{Corner, Kind, Listed, ListedWindow};

/// The failed operation, for errors.
const ASKING: &str = "asking Hyprland";

/// The prefix in the name of a special workspace, which is shown over another workspace.
const SPECIAL: &str = "special:";

/// Hyprland, reached through the request socket at this path.
pub(super) struct Hyprland(PathBuf);

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
struct Named {
    /// Negative if the workspace has only a name.
    id: i64,
    name: String,
}

impl Named {
    /// The workspace as dispatchers accept it as an argument.
    fn selector(&self) -> String {
        match self.id {
            1.. => self.id.to_string(),
            _ => format!("name:{}", self.name),
        }
    }

    fn number(&self) -> u32 {
        u32::try_from(self.id.unsigned_abs()).unwrap_or(u32::MAX)
    }

    fn is_special(&self) -> bool {
        self.name.starts_with(SPECIAL)
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Monitor {
    id: i64,
    active_workspace: Named,
    special_workspace: Named,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Client {
    address: String,
    /// Whether the window is hidden behind another one of its group.
    hidden: bool,
    at: [i32; 2],
    size: [i32; 2],
    workspace: Named,
    floating: bool,
    monitor: i64,
    title: String,
    pid: i64,
    xwayland: bool,
    pinned: bool,
    fullscreen: u8,
    #[serde(default)]
    allowed_over_fullscreen: bool,
    /// 0 for the window that had the keyboard last.
    #[serde(rename = "focusHistoryID")]
    recency: i64,
}

impl Client {
    fn id(&self) -> u64 {
        let digits = self.address.trim_start_matches("0x");
        u64::from_str_radix(digits, 16).unwrap_or(0)
    }

    /// What windows are sorted by, so that the topmost comes first.
    fn rank(&self) -> (bool, u8) {
        let rank = match (self.fullscreen, self.floating) {
            (0, true) if self.allowed_over_fullscreen || self.pinned => 0,
            (1.., _) => 1,
            (0, true) => 2,
            (0, false) => 3,
        };
        (!self.workspace.is_special(), rank)
    }

    fn window(&self, focused: bool, on: Option<&Monitor>) -> SwayWindow {
        let is_on = |on: &Monitor| {
            self.pinned || [&on.active_workspace, &on.special_workspace].contains(&&self.workspace)
        };
        let shown = on.is_some_and(is_on);
        let away = !shown && self.workspace.is_special();
        let hidden = on.filter(|_| !shown && !away).map(|on| Workspace {
            number: self.workspace.number(),
            name: self.workspace.selector(),
            instead: on.active_workspace.selector(),
        });
        let ([x, y], [w, h]) = (self.at, self.size);
        let content = Rect::at(x, y, w.max(0), h.max(0));
        let window = ListedWindow {
            id: self.id(),
            pid: u32::try_from(self.pid).unwrap_or(0),
            title: self.title.clone(),
            kind: Kind::Toplevel,
            native: !self.xwayland,
            focused,
            visible: shown && !self.hidden,
            minimised: away,
            workspace: hidden.as_ref().map_or(0, |hidden| hidden.number),
            modal: false,
            content,
            frame: content,
            buffer: content,
            corner: Corner::NotTold,
        };
        let own = hidden;
        Listed { window, own }
    }
}

impl Hyprland {
    /// # Errors
    ///
    /// [`Error::Unavailable`] if Hyprland does not answer as expected.
    pub(super) fn connect(path: &Path) -> Result<Self> {
        let mut hyprland = Self(path.to_owned());
        hyprland.windows().map_err(|e| {
            Error::Unavailable(format!(
                "Hyprland's socket does not answer as expected: {e}"
            ))
        })?;
        Ok(hyprland)
    }

    fn ask(&self, request: &str) -> Result<Vec<u8>> {
        let exchange = || -> io::Result<Vec<u8>> {
            let mut stream = open(&self.0)?;
            stream.write_all(request.as_bytes())?;
            let mut answer = Vec::new();
            stream.take(LONGEST.into()).read_to_end(&mut answer)?;
            Ok(answer)
        };
        exchange().map_err(Error::lost(ASKING))
    }

    fn get<T: DeserializeOwned>(&self, what: &str) -> Result<T> {
        let answer = self.ask(&format!("j/{what}"))?;
        serde_json::from_slice(&answer).map_err(Error::system(ASKING))
    }

    /// Calls a dispatcher. `lua` is the call if Hyprland's configuration is in Lua. If that fails,
    /// the configuration is in the older format, and the call is `older`.
    fn dispatch(&self, lua: &str, older: &str) -> Result<()> {
        let mut said = Vec::new();
        for call in [lua, older] {
            said = self.ask(&format!("/dispatch {call}"))?;
            if said.starts_with(b"ok") {
                return Ok(());
            }
        }
        let said = String::from_utf8_lossy(&said).into_owned();
        Err(Error::system(ASKING)(said))
    }
}

impl Ipc for Hyprland {
    fn windows(&mut self) -> Result<Vec<SwayWindow>> {
        #[derive(Deserialize)]
        struct Active {
            address: Option<String>,
        }
        let mut clients: Vec<Client> = self.get("clients")?;
        let monitors: Vec<Monitor> = self.get("monitors")?;
        let active: Active = self.get("activewindow")?;
        // Later floating windows are above earlier ones; tiled windows do not overlap.
        clients.reverse();
        clients.sort_by_key(|c| (c.rank(), if c.floating { 0 } else { c.recency }));
        let windows = clients.iter().map(|c| {
            let on = monitors.iter().find(|m| m.id == c.monitor);
            c.window(active.address.as_ref() == Some(&c.address), on)
        });
        Ok(windows.collect())
    }

    fn workspace(&mut self) -> Result<Option<(u32, String)>> {
        let active: Named = self.get("activeworkspace")?;
        Ok(Some((active.number(), active.selector())))
    }

    fn show(&mut self, workspace: &str) -> Result<()> {
        // Lua's strings have the same escapes as Rust's.
        let lua = format!("hl.dsp.focus({{ workspace = {workspace:?} }})");
        self.dispatch(&lua, &format!("workspace {workspace}"))
    }

    /// Also raises the window: a floating window that only gets the keyboard stays below others.
    fn focus(&mut self, id: u64) -> Result<()> {
        let which = format!("address:0x{id:x}");
        let lua = format!("hl.dsp.focus({{ window = '{which}' }})");
        self.dispatch(&lua, &format!("focuswindow {which}"))?;
        let lua = format!("hl.dsp.window.alter_zorder({{ mode = 'top', window = '{which}' }})");
        self.dispatch(&lua, &format!("alterzorder top,{which}"))
    }

    /// Hides a special workspace again, which is shown over another one, if the window is on it.
    fn put_away(&mut self, id: u64) -> Result<()> {
        let clients: Vec<Client> = self.get("clients")?;
        let window = clients.iter().find(|c| c.id() == id);
        let Some(name) = window.and_then(|w| w.workspace.name.strip_prefix(SPECIAL)) else {
            return Ok(());
        };
        let lua = format!("hl.dsp.workspace.toggle_special({name:?})");
        self.dispatch(&lua, &format!("togglespecialworkspace {name}"))
    }
}
