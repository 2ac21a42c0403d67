//! Windows as apps describe them on the accessibility bus, for compositors that do not report the
//! owners of windows.

use deskline_atspi::{self as atspi, AtSpi, accessibility_bus};
use deskline_contract::{AppToplevel, Error, Result, Scope, WindowId, kept};
use deskline_core::{Rect, Role, Tree};
use deskline_wayland::{OpenMenu, Part, Toplevels};

use crate::menus;

/// Bounds that are not known.
const NOWHERE: Rect = Rect::at(0, 0, 0, 0);

/// The accessibility bus. Connects to it at first use, as the doctor may never need it.
pub(super) struct Described {
    session_bus: String,
    atspi: Option<AtSpi>,
    /// The toplevels that were listed last.
    last: Vec<AppToplevel>,
}

impl Described {
    /// The windows of the session with this bus.
    pub(super) fn on(session_bus: &str) -> Self {
        Self {
            session_bus: session_bus.to_owned(),
            atspi: None,
            last: Vec::new(),
        }
    }

    fn atspi(&mut self) -> Result<&mut AtSpi> {
        let connect = || accessibility(&self.session_bus).map(|(atspi, _)| atspi);
        kept(&mut self.atspi, connect)
    }

    /// The toplevel with this id, as it was listed last.
    fn known(&self, id: WindowId) -> Option<&AppToplevel> {
        self.last.iter().find(|known| known.id == id)
    }
}

/// The windows of the app `pid` among `all`, the active one first.
pub(super) fn described(all: &[AppToplevel], pid: u32) -> atspi::Windows {
    let mut of_app: Vec<_> = all.iter().filter(|t| t.pid == pid).collect();
    of_app.sort_by_key(|t| !t.active);
    let for_tree = |described: &AppToplevel| atspi::Toplevel {
        frame: Some(described.path().to_owned()),
        ..atspi::Toplevel::new(described.id, described.title.clone(), NOWHERE)
    };
    atspi::Windows {
        toplevels: of_app.into_iter().map(for_tree).collect(),
        unplaced: true,
        ..atspi::Windows::default()
    }
}

/// Connects to the accessibility bus of the session that has this session bus. Also returns the
/// address of the accessibility bus.
pub(crate) fn accessibility(session_bus: &str) -> Result<(AtSpi, String)> {
    let address = accessibility_bus::enabled(session_bus)?;
    match AtSpi::connect(&address) {
        Ok(atspi) => Ok((atspi, address)),
        Err(e) => Err(Error::Unavailable(format!(
            "the accessibility bus at {address} does not answer: {e}"
        ))),
    }
}

impl Toplevels for Described {
    fn toplevels(&mut self, stage: bool) -> Result<Vec<AppToplevel>> {
        let listed = self.atspi()?.toplevels(stage);
        let listed = listed.map_err(atspi::on_bus("listing the windows of apps"))?;
        self.last.clone_from(&listed);
        Ok(listed)
    }

    fn open_menu(&mut self, pid: u32, known: Option<bool>) -> Result<Option<OpenMenu>> {
        let windows = described(&self.last, pid);
        let atspi = self.atspi()?;
        let open = match known {
            Some(open) => open,
            None => menus::is_open(&atspi.read(pid, Scope::Showing, &windows)?),
        };
        let placed = atspi.ignores_clicks_in_new_menus(pid);
        Ok(open.then_some(OpenMenu { placed }))
    }

    fn size(&mut self, id: WindowId) -> Result<Option<(i32, i32)>> {
        let Some(toplevel) = self.known(id).cloned() else {
            return Ok(None);
        };
        let extents = self.atspi()?.extents_of(&toplevel);
        let extents = extents.map_err(atspi::on_bus("asking for a window's size"))?;
        Ok(extents.map(|e| (e.w, e.h)))
    }

    fn parts(&mut self, id: WindowId) -> Result<Vec<Part>> {
        let Some(pid) = self.known(id).map(|toplevel| toplevel.pid) else {
            return Ok(Vec::new());
        };
        let windows = described(&self.last, pid);
        let tree = self.atspi()?.read(pid, Scope::Showing, &windows)?;
        Ok(parts(&tree, id))
    }
}

/// The visible elements of a window, without those in menus: to the compositor a menu is a window
/// of its own.
fn parts(tree: &Tree, id: WindowId) -> Vec<Part> {
    let mut its = Vec::new();
    for (index, element) in tree.elements.iter().enumerate() {
        let in_menu = matches!(element.role, Role::MENU | Role::MENU_ITEM);
        let place = element.extents.filter(|place| !place.is_empty());
        let (Some(place), true, false) = (place, element.visible, in_menu) else {
            continue;
        };
        if matches!(tree.windows_of(index)[..], [window] if window.id == id) {
            its.push(Part {
                id: element.id.as_str().to_owned(),
                place,
            });
        }
    }
    its
}
