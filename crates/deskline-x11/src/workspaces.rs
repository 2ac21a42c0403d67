//! Workspaces, and windows that are minimised or shaded: EWMH and ICCCM §4.1.4.

use std::time::Duration;

use deskline_contract::{Cancel, Result, Window, Workspaces};
use x11rb::connection::Connection as _;
use x11rb::protocol::xproto::{AtomEnum, ClientMessageEvent, ConnectionExt as _, EventMask};

use super::{During as _, X11};

/// How long a window manager may take to switch workspaces.
const LIMIT: Duration = Duration::from_secs(1);

/// `WM_STATE` of a minimised window.
const ICONIC: u32 = 3;

/// The actions of a `_NET_WM_STATE` message.
const REMOVE: u32 = 0;
const ADD: u32 = 1;

/// Source indication: a pager, which acts for the user.
const FROM_USER: u32 = 2;

const WHAT: &str = "switching workspaces";

impl Workspaces for X11 {
    fn workspace(&mut self) -> Result<Option<u32>> {
        let property = self.atoms._NET_CURRENT_DESKTOP;
        let shown = self.number(self.root, property, AtomEnum::CARDINAL)?;
        Ok(shown.map(|n| n.saturating_add(1)))
    }

    /// Waits up to a second for the switch.
    fn show_workspace(&mut self, workspace: u32, cancel: &Cancel) -> Result<()> {
        if self.workspace()? == Some(workspace) {
            return Ok(());
        }
        self.watching_root(|x11| {
            let time = x11.server_time()?;
            let property = x11.atoms._NET_CURRENT_DESKTOP;
            let index = workspace.saturating_sub(1);
            x11.tell_manager(x11.root, property, [index, time, 0, 0, 0])?;
            x11.wait_until(LIMIT, cancel, |x11| Ok(x11.workspace()? == Some(workspace)))
        })?;
        Ok(())
    }

    fn put_away(&mut self, window: &Window) -> Result<()> {
        let Ok(id) = u32::try_from(window.id.0) else {
            return Ok(());
        };
        if window.shaded {
            self.set_shaded(id, ADD)?;
        }
        if window.minimised {
            self.tell_manager(id, self.atoms.WM_CHANGE_STATE, [ICONIC, 0, 0, 0, 0])?;
        }
        Ok(())
    }
}

impl X11 {
    pub(super) fn unshade(&self, window: u32) -> Result<()> {
        self.set_shaded(window, REMOVE)
    }

    fn set_shaded(&self, window: u32, action: u32) -> Result<()> {
        let shaded = self.atoms._NET_WM_STATE_SHADED;
        let data = [action, shaded, 0, FROM_USER, 0];
        self.tell_manager(window, self.atoms._NET_WM_STATE, data)
    }

    /// Sends a message about a window to the window manager.
    pub(super) fn tell_manager(&self, window: u32, kind: u32, data: [u32; 5]) -> Result<()> {
        let c = &self.connection;
        let message = ClientMessageEvent::new(32, window, kind, data);
        let to_manager = EventMask::SUBSTRUCTURE_NOTIFY | EventMask::SUBSTRUCTURE_REDIRECT;
        c.send_event(false, self.root, to_manager, message)
            .during(WHAT)?;
        c.flush().during(WHAT)
    }
}
