//! Reads windows: their EWMH and ICCCM properties, bounds and processes.

use std::collections::HashMap;

use deskline_contract::{Result, WindowId};
use deskline_core::Rect;
use x11rb::connection::{Connection as _, RequestConnection};
use x11rb::cookie::Cookie;
use x11rb::protocol::res::{ClientIdMask, ClientIdSpec, ConnectionExt as _};
use x11rb::protocol::xproto::{
    Atom, AtomEnum, ConnectionExt as _, GetGeometryReply, GetPropertyReply,
    GetWindowAttributesReply, MapState, TranslateCoordinatesReply, Window, WindowClass,
};

use super::connection::Connection;
use super::toplevel::{Kind, Sides, Toplevel, inside};
use super::{Answer as _, During as _, Present as _, X11};

/// How much to read of a title, and (`MAX_NUMBERS`) of a list of windows, in units of 4 bytes.
const MAX_TITLE: u32 = 1024;
const MAX_NUMBERS: u32 = 4096;

/// `WM_STATE` of a minimised window (ICCCM §4.1.3.1).
const ICONIC: u32 = 3;

/// `_NET_WM_DESKTOP` of a window that is on all workspaces.
const ALL_WORKSPACES: u32 = u32::MAX;

/// Requests in flight about one window. All windows are requested before the first reply is read.
struct Asked<'c> {
    id: Window,
    attributes: Cookie<'c, Connection, GetWindowAttributesReply>,
    geometry: Cookie<'c, Connection, GetGeometryReply>,
    place: Cookie<'c, Connection, TranslateCoordinatesReply>,
    /// The title (`_NET_WM_NAME`), and the title that older programs set (`WM_NAME`).
    names: [Cookie<'c, Connection, GetPropertyReply>; 2],
    /// The properties that hold numbers, in the order in which `answer` takes them apart.
    numbers: [Cookie<'c, Connection, GetPropertyReply>; 8],
}

const WHAT: &str = "reading windows";

impl X11 {
    /// All toplevel windows, with minimised ones, frontmost first.
    pub fn toplevels(&self) -> Result<Vec<Toplevel>> {
        let managed = self.has_window_manager()?;
        let mut ids = self.children_of_root()?;
        if managed {
            // _NET_CLIENT_LIST_STACKING is not used, because xfwm4 sometimes does not set it.
            let clients = self.numbers(self.root, self.atoms._NET_CLIENT_LIST, AtomEnum::WINDOW)?;
            let mut notifications = self.notifications(&ids)?;
            notifications.retain(|id| !clients.contains(id));
            ids = self.stacked(&clients, &ids)?;
            ids.extend(notifications);
        }
        ids.reverse();
        let mut found = self.facts(&ids)?;
        found.retain(|t| managed || t.viewable && !t.override_redirect && !t.input_only);
        Ok(found)
    }

    /// The window with this id; `None` if it has gone.
    pub fn toplevel(&self, id: WindowId) -> Result<Option<Toplevel>> {
        let Ok(id) = u32::try_from(id.0) else {
            return Ok(None);
        };
        Ok(self.facts(&[id])?.pop())
    }

    /// The front window: the window manager's active one or, without a window manager, the toplevel
    /// with the input focus.
    pub fn front(&self) -> Result<Option<Toplevel>> {
        let Some(id) = self.front_id()? else {
            return Ok(None);
        };
        Ok(self.toplevel(WindowId(id.into()))?.filter(|t| t.viewable))
    }

    /// The front window's id, even if it is not viewable.
    pub fn front_id(&self) -> Result<Option<u32>> {
        if self.has_window_manager()? {
            let active = self.atoms._NET_ACTIVE_WINDOW;
            let active = self.number(self.root, active, AtomEnum::WINDOW)?;
            return Ok(active.filter(|id| *id != x11rb::NONE));
        }
        match self.focus()? {
            Some(focus) => Ok(self.ancestry(focus)?.pop()),
            None => Ok(None),
        }
    }

    /// All children of the root, mapped or not, bottom first.
    pub(super) fn children_of_root(&self) -> Result<Vec<Window>> {
        let tree = self.connection.query_tree(self.root).answer(WHAT)?;
        Ok(tree.children)
    }

    /// The notifications among these windows. The window manager does not list the notifications of
    /// some daemons.
    fn notifications(&self, ids: &[Window]) -> Result<Vec<Window>> {
        let (c, a) = (&self.connection, &self.atoms);
        let kind = |id: &Window| {
            let kind = c.get_property(false, *id, a._NET_WM_WINDOW_TYPE, AtomEnum::ATOM, 0, 1);
            Ok((*id, kind.during(WHAT)?))
        };
        let kinds: Vec<_> = ids.iter().map(kind).collect::<Result<_>>()?;
        let mut found = Vec::new();
        for (id, kind) in kinds {
            let kind = kind.reply().present(WHAT)?;
            let kind = kind.and_then(|kind| kind.value32()?.next());
            found.extend(Some(id).filter(|_| kind == Some(a._NET_WM_WINDOW_TYPE_NOTIFICATION)));
        }
        Ok(found)
    }

    /// Sorts the windows by the stacking order of their outermost frames, bottom first.
    fn stacked(&self, windows: &[Window], stack: &[Window]) -> Result<Vec<Window>> {
        let mut frames: Vec<(Window, Window)> = windows.iter().map(|id| (*id, *id)).collect();
        // Window managers put one to three frames around a window.
        for _ in 0..4 {
            let parents = frames
                .iter()
                .map(|(_, frame)| self.connection.query_tree(*frame).during(WHAT))
                .collect::<Result<Vec<_>>>()?;
            let mut moved = false;
            for ((_, frame), tree) in frames.iter_mut().zip(parents) {
                let tree = tree.reply().present(WHAT)?;
                if let Some(tree) =
                    tree.filter(|tree| ![self.root, x11rb::NONE].contains(&tree.parent))
                {
                    *frame = tree.parent;
                    moved = true;
                }
            }
            if !moved {
                break;
            }
        }
        frames.sort_by_key(|(_, frame)| stack.iter().position(|id| id == frame));
        Ok(frames.into_iter().map(|(id, _)| id).collect())
    }

    /// The window manager's name; empty without a window manager.
    pub(super) fn manager_name(&self) -> Result<String> {
        let (c, a) = (&self.connection, &self.atoms);
        let check = self.number(self.root, a._NET_SUPPORTING_WM_CHECK, AtomEnum::WINDOW)?;
        let Some(manager) = check else {
            return Ok(String::new());
        };
        let name = c.get_property(false, manager, a._NET_WM_NAME, a.UTF8_STRING, 0, MAX_TITLE);
        Ok(String::from_utf8_lossy(&bytes(name.during(WHAT)?)?).into_owned())
    }

    /// The numbers of a property, at most 4,096. Empty if the property is not set or the window is
    /// gone.
    pub(super) fn numbers(
        &self,
        window: Window,
        property: Atom,
        kind: AtomEnum,
    ) -> Result<Vec<u32>> {
        let c = &self.connection;
        let property = c.get_property(false, window, property, kind, 0, MAX_NUMBERS);
        numbers(property.during(WHAT)?)
    }

    /// The first number of a property.
    pub(super) fn number(
        &self,
        window: Window,
        property: Atom,
        kind: AtomEnum,
    ) -> Result<Option<u32>> {
        Ok(self.numbers(window, property, kind)?.first().copied())
    }

    /// The facts about these windows, in one batch. Skips windows that have gone.
    pub(super) fn facts(&self, ids: &[Window]) -> Result<Vec<Toplevel>> {
        let asked = ids
            .iter()
            .map(|id| self.ask(*id))
            .collect::<Result<Vec<_>>>()?;
        let (c, shown) = (&self.connection, self.atoms._NET_CURRENT_DESKTOP);
        let shown = c.get_property(false, self.root, shown, AtomEnum::CARDINAL, 0, 1);
        let shown = shown.during(WHAT)?;
        let pids = self.client_pids(ids)?;
        let shown = numbers(shown)?.first().copied();
        let answers = asked.into_iter().map(|asked| self.answer(asked, &pids));
        let mut facts: Vec<Toplevel> = answers
            .filter_map(Result::transpose)
            .collect::<Result<_>>()?;
        for workspace in facts.iter_mut().map(|facts| &mut facts.workspace) {
            let elsewhere = workspace.filter(|_| shown.is_some() && *workspace != shown);
            *workspace = elsewhere.map(|n| n.saturating_add(1));
        }
        Ok(facts)
    }

    fn ask(&self, id: Window) -> Result<Asked<'_>> {
        let c = &self.connection;
        let property = |atom: u32, kind: u32, length: u32| {
            c.get_property(false, id, atom, kind, 0, length)
                .during(WHAT)
        };
        let kinds = [AtomEnum::CARDINAL, AtomEnum::ATOM, AtomEnum::WINDOW];
        let [cardinal, atom, window] = kinds.map(u32::from);
        let a = &self.atoms;
        Ok(Asked {
            id,
            attributes: c.get_window_attributes(id).during(WHAT)?,
            geometry: c.get_geometry(id).during(WHAT)?,
            place: c.translate_coordinates(id, self.root, 0, 0).during(WHAT)?,
            names: [
                property(a._NET_WM_NAME, a.UTF8_STRING, MAX_TITLE)?,
                property(AtomEnum::WM_NAME.into(), AtomEnum::ANY.into(), MAX_TITLE)?,
            ],
            numbers: [
                property(a._NET_WM_PID, cardinal, 1)?,
                property(a._GTK_FRAME_EXTENTS, cardinal, 4)?,
                property(a._NET_FRAME_EXTENTS, cardinal, 4)?,
                property(a._NET_WM_STATE, atom, 64)?,
                property(a.WM_STATE, a.WM_STATE, 1)?,
                property(a._NET_WM_DESKTOP, cardinal, 1)?,
                property(a._NET_WM_WINDOW_TYPE, atom, 16)?,
                property(AtomEnum::WM_TRANSIENT_FOR.into(), window, 1)?,
            ],
        })
    }

    fn answer(&self, asked: Asked<'_>, pids: &HashMap<u32, u32>) -> Result<Option<Toplevel>> {
        // Read all replies, even for a window that has gone: an unread reply would stay in the
        // connection's queue.
        let attributes = asked.attributes.reply().present(WHAT)?;
        let geometry = asked.geometry.reply().present(WHAT)?;
        let place = asked.place.reply().present(WHAT)?;
        let [name, old_name] = asked.names.map(bytes);
        #[rustfmt::skip]
        let [pid, shadow, border, net_state, wm_state, workspace, kinds, owner] =
            asked.numbers.map(numbers);
        let (name, net_state, kinds) = (name?, net_state?, kinds?);
        let [pid, wm_state, workspace, transient_for] =
            [pid?, wm_state?, workspace?, owner?].map(|numbers| numbers.first().copied());
        let (Some(attributes), Some(geometry), Some(place)) = (attributes, geometry, place) else {
            return Ok(None);
        };
        let (w, h) = (geometry.width.into(), geometry.height.into());
        let raw = Rect::at(place.dst_x.into(), place.dst_y.into(), w, h);
        let shadow = shadow_of(&shadow?);
        let transient_for = transient_for.filter(|window| *window != x11rb::NONE);
        let title = if name.is_empty() {
            latin1_or_utf8(&old_name?)
        } else {
            String::from_utf8_lossy(&name).into_owned()
        };
        let kind = kinds.iter().find_map(|atom| self.kind(*atom));
        let is_list = attributes.override_redirect && title.is_empty();
        let of_client = pids.get(&self.client(asked.id)).copied();
        Ok(Some(Toplevel {
            id: asked.id,
            pid: of_client.or(pid).unwrap_or(0),
            title,
            raw,
            shadow,
            border: shadow_of(&border?).unwrap_or_default(),
            extents: inside(shadow.unwrap_or_default(), raw),
            minimised: net_state.contains(&self.atoms._NET_WM_STATE_HIDDEN)
                || wm_state == Some(ICONIC),
            shaded: net_state.contains(&self.atoms._NET_WM_STATE_SHADED),
            workspace: workspace.filter(|n| *n != ALL_WORKSPACES),
            viewable: attributes.map_state == MapState::VIEWABLE,
            transient_for,
            modal: net_state.contains(&self.atoms._NET_WM_STATE_MODAL),
            kind: match kind {
                // Chromium's lists of suggestions claim to be notifications, without titles.
                Some(Kind::Notification) if is_list => Kind::Popup,
                Some(kind) => kind,
                None if transient_for.is_some() => Kind::Dialog,
                None => Kind::Normal,
            },
            override_redirect: attributes.override_redirect,
            input_only: attributes.class == WindowClass::INPUT_ONLY,
        }))
    }

    /// The part of an XID that identifies its client.
    pub(super) fn client(&self, id: Window) -> u32 {
        id & !self.connection.setup().resource_id_mask
    }

    /// From now on, uses the X server's pids if the server and the accessibility bus are in one pid
    /// namespace, and otherwise the pids that apps report. `ours` is this process's pid on the bus.
    /// Returns whether the server's pids are used.
    pub fn take_pids(&mut self, ours: Option<u32>) -> bool {
        let own = self.res_pids(&[self.own]).unwrap_or_default();
        self.has_pids = self.has_res && own.into_values().next() == ours;
        self.has_pids
    }

    /// The pid that the window's app reports, in the app's own pid namespace.
    pub fn claimed_pid(&self, window: WindowId) -> Result<Option<u32>> {
        let Ok(id) = u32::try_from(window.0) else {
            return Ok(None);
        };
        self.number(id, self.atoms._NET_WM_PID, AtomEnum::CARDINAL)
    }

    /// The real pids of the clients that created these windows. An app sets `_NET_WM_PID` itself,
    /// in a sandbox to a pid of another namespace.
    fn client_pids(&self, ids: &[Window]) -> Result<HashMap<u32, u32>> {
        if !self.has_pids {
            return Ok(HashMap::new());
        }
        self.res_pids(ids)
    }

    /// The pids of clients in the server's pid namespace (X-Resource 1.2), without processes
    /// outside that namespace.
    pub(super) fn res_pids(&self, ids: &[Window]) -> Result<HashMap<u32, u32>> {
        if !self.has_res || ids.is_empty() {
            return Ok(HashMap::new());
        }
        let mut clients: Vec<u32> = ids.iter().map(|id| self.client(*id)).collect();
        clients.sort_unstable();
        clients.dedup();
        let mask = ClientIdMask::LOCAL_CLIENT_PID;
        let specs: Vec<_> = clients
            .into_iter()
            .map(|client| ClientIdSpec { client, mask })
            .collect();
        let answer = self.connection.res_query_client_ids(&specs).during(WHAT)?;
        let ids = answer.reply().present(WHAT)?.map(|reply| reply.ids);
        let ids = ids.unwrap_or_default();
        let pids = ids
            .iter()
            .filter_map(|id| Some((id.spec.client, *id.value.first()?)));
        let known = pids.filter(|(_, pid)| *pid != 0);
        Ok(known.map(|(id, pid)| (self.client(id), pid)).collect())
    }

    fn kind(&self, atom: u32) -> Option<Kind> {
        let a = &self.atoms;
        #[rustfmt::skip]
        let kinds = [
            (a._NET_WM_WINDOW_TYPE_NORMAL, Kind::Normal), (a._NET_WM_WINDOW_TYPE_DIALOG, Kind::Dialog),
            (a._NET_WM_WINDOW_TYPE_UTILITY, Kind::Utility), (a._NET_WM_WINDOW_TYPE_TOOLBAR, Kind::Toolbar),
            (a._NET_WM_WINDOW_TYPE_SPLASH, Kind::Splash), (a._NET_WM_WINDOW_TYPE_DESKTOP, Kind::Desktop),
            (a._NET_WM_WINDOW_TYPE_DOCK, Kind::Dock), (a._NET_WM_WINDOW_TYPE_MENU, Kind::Menu),
            (a._NET_WM_WINDOW_TYPE_POPUP_MENU, Kind::Popup), (a._NET_WM_WINDOW_TYPE_COMBO, Kind::Popup),
            (a._NET_WM_WINDOW_TYPE_DROPDOWN_MENU, Kind::Popup), (a._NET_WM_WINDOW_TYPE_DND, Kind::Dnd),
            (a._NET_WM_WINDOW_TYPE_TOOLTIP, Kind::Tooltip),
            (a._NET_WM_WINDOW_TYPE_NOTIFICATION, Kind::Notification),
        ];
        kinds
            .into_iter()
            .find_map(|(known, kind)| (known == atom).then_some(kind))
    }
}

fn numbers<C: RequestConnection>(cookie: Cookie<'_, C, GetPropertyReply>) -> Result<Vec<u32>> {
    let reply = cookie.reply().present(WHAT)?;
    let numbers = reply.as_ref().and_then(GetPropertyReply::value32);
    Ok(numbers.map(Iterator::collect).unwrap_or_default())
}

fn bytes<C: RequestConnection>(cookie: Cookie<'_, C, GetPropertyReply>) -> Result<Vec<u8>> {
    let reply = cookie.reply().present(WHAT)?;
    Ok(reply
        .filter(|reply| reply.format == 8)
        .map(|reply| reply.value)
        .unwrap_or_default())
}

/// `WM_NAME` is Latin-1 by the ICCCM; some apps use UTF-8.
fn latin1_or_utf8(bytes: &[u8]) -> String {
    let latin1 = |_| bytes.iter().map(|byte| char::from(*byte)).collect();
    str::from_utf8(bytes).map_or_else(latin1, str::to_owned)
}

/// Parses `_GTK_FRAME_EXTENTS` or `_NET_FRAME_EXTENTS`: left, right, top, bottom. Rejects
/// implausible sizes.
fn shadow_of(numbers: &[u32]) -> Option<Sides> {
    let pixels = |n: &u32| i32::try_from(*n).ok().filter(|n| *n < 1 << 12);
    let sides: Vec<i32> = numbers.iter().map_while(pixels).collect();
    sides.try_into().ok().filter(|_| numbers.len() == 4)
}
