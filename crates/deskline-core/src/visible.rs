//! Narrowing the platform's claim that an element shows to what can be seen by geometry.

use crate::{Element, Rect, Role, Tree};

/// What the elements in a container are seen through.
#[derive(Clone, Copy)]
struct Scope {
    /// Where a centre must lie; `None` for anywhere.
    clip: Option<Rect>,
    /// In the open dialog, or in a menu that is a toplevel of its own.
    in_dialog: bool,
    /// In a web page.
    in_web: bool,
    /// How far in it is.
    depth: Depth,
    /// The container's role.
    role: Option<Role>,
}

/// Where an element stands by what contains it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Depth {
    /// In the app: it is a toplevel.
    App,
    /// In a toplevel.
    Toplevel,
    /// Further in.
    Within,
}

impl Tree {
    /// Leaves `visible` only where it is set already, the element's centre is inside its toplevel
    /// and every scrolling container above it, and, where a dialog is open, it is in the dialog.
    ///
    /// A toplevel is an element without a container, or in an `AXApplication`. A nested window, a
    /// menu, a popover and a tool tip may reach beyond their toplevel: what is in them is seen
    /// through their own extents instead. Menus that are toplevels, or right in one, stay visible
    /// beside a dialog, which may have opened them. One pass.
    pub fn scope_visible(&mut self) {
        let dialog = self.dialog.filter(|&d| d < self.elements.len());
        let root = Scope {
            clip: None,
            in_dialog: dialog.is_none(),
            in_web: false,
            depth: Depth::App,
            role: None,
        };
        let mut scopes: Vec<Scope> = Vec::with_capacity(self.elements.len());
        for (i, element) in self.elements.iter_mut().enumerate() {
            let outer = element.parent.and_then(|p| scopes.get(p)).unwrap_or(&root);
            let clip = outer.clip.filter(|_| !pops_up(element, outer));
            let menu_in_front = element.role == Role::MENU && outer.depth != Depth::Within;
            let in_dialog = outer.in_dialog || dialog == Some(i) || menu_in_front;
            let inner = Scope {
                clip: inner_clip(element, outer),
                in_dialog,
                in_web: outer.in_web || element.role == Role::WEB_AREA,
                depth: match outer.depth {
                    Depth::App if element.role == Role::APPLICATION => Depth::App,
                    Depth::App => Depth::Toplevel,
                    Depth::Toplevel | Depth::Within => Depth::Within,
                },
                role: Some(element.role),
            };
            element.visible &= in_dialog
                && element.extents.is_some_and(|extents| {
                    let center = extents.center();
                    !extents.is_empty() && clip.is_none_or(|clip| clip.contains(center))
                });
            scopes.push(inner);
        }
    }
}

/// Whether the element opens over its toplevel and may reach beyond it.
fn pops_up(element: &Element, outer: &Scope) -> bool {
    match element.role {
        // A page's alerts and dialogs are parts of the page; an internal frame is clipped.
        Role::WINDOW => !outer.in_web && element.native_role != "internal frame",
        // AT-SPI's `menu` in another menu or a menu bar is the entry that opens it.
        Role::MENU => !matches!(outer.role, Some(Role::MENU | Role::MENU_BAR)),
        Role::POPOVER | Role::HELP_TAG => true,
        _ => false,
    }
}

/// What the elements in `element` are seen through.
fn inner_clip(element: &Element, outer: &Scope) -> Option<Rect> {
    let own = element.extents.filter(|extents| !extents.is_empty());
    let both = match (outer.clip, own) {
        (Some(clip), Some(own)) => Some(clip.intersect(&own)),
        (clip, own) => clip.or(own),
    };
    match element.role {
        Role::APPLICATION => None,
        // Chromium's menu of a `<select>` keeps the size of the closed control.
        Role::MENU if matches!(outer.role, Some(Role::COMBO_BOX | Role::POP_UP_BUTTON)) => None,
        _ if outer.depth == Depth::App || pops_up(element, outer) => own,
        // Their entries and lists open outside them.
        Role::MENU
        | Role::MENU_BAR_ITEM
        | Role::MENU_ITEM
        | Role::MENU_BUTTON
        | Role::COMBO_BOX
        | Role::POP_UP_BUTTON => None,
        Role::SCROLL_AREA | Role::WEB_AREA => both,
        // In a page these do not scroll what is in them, and submenus are lists outside lists.
        Role::TABLE | Role::OUTLINE | Role::LIST | Role::GRID | Role::BROWSER if !outer.in_web => {
            both
        }
        _ if element.native_role == "viewport" || element.native_role == "internal frame" => both,
        _ => outer.clip,
    }
}
