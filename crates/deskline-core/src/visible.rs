//! Clears `visible` of elements that the platform reports as visible although they are outside the
//! visible area.

use crate::{Coordinates, Element, Point, Rect, Role, Tree, TreeWindow};

/// The limits of a container's contents.
#[derive(Clone, Copy)]
struct Scope {
    /// The bounds that must contain an element's centre.
    clip: Option<Rect>,
    /// Whether no open dialog covers the container, for example because it is in the dialog, or in
    /// a menu that is a toplevel.
    in_dialog: bool,
    in_web: bool,
    depth: Depth,
    /// The container's role and bounds.
    role: Option<Role>,
    place: Option<Rect>,
    /// The container's bounds, if larger contents scroll in it.
    filler: Option<Rect>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Depth {
    /// A child of the application: a toplevel.
    App,
    /// A child of a toplevel.
    Toplevel,
    /// Further down.
    Within,
}

impl Tree {
    /// Clears `visible` of each element whose centre is outside its toplevel or outside a scrolling
    /// container that it is in, and, if a dialog is open, of each element outside the dialog.
    ///
    /// A toplevel is an element without a parent, or a child of an `AXApplication`. Nested windows,
    /// menus, popovers and tool tips may extend beyond their toplevel: their contents are clipped
    /// to their own bounds. Menus that are toplevels, or children of one, stay visible beside a
    /// dialog, which may have opened them. A dialog in a web page covers the page, not the browser
    /// around it. Before that, the extents of a row that covers other rows are cut to the row's own
    /// line, and the extents of a button that covers its content are cut to the button's title. If
    /// an element is larger than its container, the part that shows counts.
    pub fn scope_visible(&mut self) {
        self.keep_own_lines();
        self.keep_titles();
        let dialog = self.dialog.filter(|&d| d < self.elements.len());
        let page = dialog.and_then(|dialog| self.page_of(dialog));
        let root = Scope {
            clip: None,
            in_dialog: dialog.is_none() || page.is_some(),
            in_web: false,
            depth: Depth::App,
            role: None,
            place: None,
            filler: None,
        };
        let mut scopes: Vec<Scope> = Vec::with_capacity(self.elements.len());
        for (i, element) in self.elements.iter_mut().enumerate() {
            let mut outer = *element.parent.and_then(|p| scopes.get(p)).unwrap_or(&root);
            if let Some(area) = outer.filler.filter(|area| element.is_larger(*area)) {
                outer.clip = Some(outer.clip.map_or(area, |clip| clip.intersect(&area)));
            }
            let outer = &outer;
            let clip = outer.clip.filter(|_| !pops_up(element, outer));
            let menu_in_front = element.role == Role::MENU && outer.depth != Depth::Within;
            let covered = page == Some(i);
            let in_dialog = outer.in_dialog && !covered || dialog == Some(i) || menu_in_front;
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
                place: element.place(),
                filler: element.place().filter(|_| is_filler(element)),
            };
            if let (Some(clip), Some(extents), true) = (clip, element.extents, is_one(element)) {
                element.extents = Some(shown_part(extents, clip));
            }
            element.visible &= in_dialog
                && element.extents.is_some_and(|extents| {
                    let center = extents.center();
                    !extents.is_empty() && clip.is_none_or(|clip| clip.contains(center))
                });
            scopes.push(inner);
        }
    }

    /// Clears `visible` of each element whose centre is off the screen: a pop-up that its toolkit
    /// has put aside, a part of a window that reaches beyond the screen.
    pub(crate) fn hide_beyond(&mut self, screen: Rect) {
        for element in &mut self.elements {
            let on_screen = |place: Rect| screen.contains(place.center());
            element.visible &= element.extents.is_some_and(on_screen);
        }
    }

    /// Whether a point is inside all containers in which an element scrolls, so that it can show
    /// there.
    pub fn is_in_view(&self, index: usize, at: Point) -> bool {
        const OPENS: [Role; 4] = [Role::MENU, Role::POPOVER, Role::HELP_TAG, Role::WINDOW];
        let places = |i: usize| self.elements[i].place();
        let has = |i: usize| places(i).is_none_or(|place| place.contains(at));
        let around = self.outwards(index).zip(self.outwards(index).skip(1));
        let around = around.take_while(|(inner, _)| !OPENS.contains(&self.elements[*inner].role));
        let mut clips = around.filter(|(inner, outer)| {
            let [inner, element] = [*inner, *outer].map(|i| &self.elements[i]);
            clips_contents(element, self.page_around(*outer).is_some())
                || is_filler(element) && places(*outer).is_some_and(|area| inner.is_larger(area))
        });
        clips.all(|(_, outer)| has(outer))
    }

    /// Whether an element is visible, and its centre is not behind another window of the app. A
    /// menu or another pop-up is in front of all windows.
    pub fn is_seen(&self, index: usize) -> bool {
        let Some(element) = self.elements.get(index).filter(|element| element.visible) else {
            return false;
        };
        let (Some(extents), Coordinates::Screen) = (element.extents, self.coordinates) else {
            return true;
        };
        let in_front = || {
            let top = self.toplevel(index)?;
            let own = self.windows.iter().position(|w| w.elements == [top])?;
            Some(&self.windows[..own])
        };
        let pops_up = |at: usize| {
            let role = self.elements[at].role;
            let nested = self.toplevel(at) != Some(at);
            nested
                && matches!(
                    role,
                    Role::MENU | Role::POPOVER | Role::HELP_TAG | Role::WINDOW
                )
        };
        let center = extents.center();
        let covers = |w: &&TreeWindow| w.on_screen && w.extents.contains(center);
        let covered = self.windows.len() > 1
            && in_front().is_some_and(|windows| windows.iter().any(|w| covers(&w)))
            && !self.outwards(index).any(pops_up);
        !covered
    }

    /// The number of elements that are seen; see [`Tree::is_seen`].
    pub fn seen(&self) -> usize {
        (0..self.elements.len())
            .filter(|&i| self.is_seen(i))
            .count()
    }

    /// The outermost web page that an element is in.
    fn page_of(&self, index: usize) -> Option<usize> {
        let is_page = |at: &usize| self.elements[*at].role == Role::WEB_AREA;
        self.outwards(index).filter(is_page).last()
    }
}

/// Whether an element is used as a whole, and does not merely hold others.
fn is_one(element: &Element) -> bool {
    let role = element.role;
    role.is_interactive() || matches!(role, Role::ROW | Role::CELL | Role::STATIC_TEXT)
}

/// The part that a container shows of an element that is wider or higher than the container, such
/// as a long row.
fn shown_part(place: Rect, clip: Rect) -> Rect {
    let part = place.intersect(&clip);
    if part.is_empty() {
        return place;
    }
    let (x, w) = if place.w > clip.w {
        (part.x, part.w)
    } else {
        (place.x, place.w)
    };
    let (y, h) = if place.h > clip.h {
        (part.y, part.h)
    } else {
        (place.y, place.h)
    };
    Rect { x, y, w, h }
}

/// Whether the element opens above its toplevel and may extend beyond it.
fn pops_up(element: &Element, outer: &Scope) -> bool {
    match element.role {
        // Alerts and dialogs in a web page are part of the page; an internal frame is clipped.
        Role::WINDOW => !outer.in_web && element.native_role != "internal frame",
        // In another menu or a menu bar, AT-SPI's `menu` is the item that opens the menu.
        Role::MENU => !matches!(outer.role, Some(Role::MENU | Role::MENU_BAR)),
        // GTK 3's menu button is a toggle button, which has the items of its menu as children.
        Role::MENU_ITEM => outer.role == Some(Role::CHECK_BOX),
        Role::POPOVER | Role::HELP_TAG => true,
        // GTK 4.8 has no role for the popover of a button.
        Role::GROUP if is_filler(element) => {
            let is_beside = |own: Rect| outer.place.is_some_and(|at| !at.contains(own.center()));
            outer.role.is_some_and(Role::is_interactive) && element.place().is_some_and(is_beside)
        }
        _ => false,
    }
}

/// The bounds that clip the contents of `element`.
fn inner_clip(element: &Element, outer: &Scope) -> Option<Rect> {
    let own = element.place();
    let both = match (outer.clip, own) {
        (Some(clip), Some(own)) => Some(clip.intersect(&own)),
        (clip, own) => clip.or(own),
    };
    match element.role {
        Role::APPLICATION | Role::MENU_ITEM => None,
        // Chromium's menu of a `<select>` keeps the size of the closed control.
        Role::MENU if matches!(outer.role, Some(Role::COMBO_BOX | Role::POP_UP_BUTTON)) => None,
        _ if outer.depth == Depth::App || pops_up(element, outer) => own,
        // The items and lists of these roles open outside of the element's bounds.
        Role::MENU
        | Role::MENU_BAR_ITEM
        | Role::MENU_BUTTON
        | Role::COMBO_BOX
        | Role::POP_UP_BUTTON => None,
        _ if clips_contents(element, outer.in_web) => both,
        _ => outer.clip,
    }
}

fn clips_contents(element: &Element, in_web: bool) -> bool {
    match element.role {
        Role::SCROLL_AREA | Role::WEB_AREA => true,
        // A `list box` in a page is a `<select>` that shows several choices, and scrolls.
        _ if matches!(
            element.native_role.as_ref(),
            "viewport" | "internal frame" | "list box"
        ) =>
        {
            true
        }
        // In a page, elements of these roles do not scroll, and a submenu is a list outside of its
        // parent list.
        Role::TABLE | Role::OUTLINE | Role::LIST | Role::GRID | Role::BROWSER => !in_web,
        _ => false,
    }
}

/// Whether the element may be a scroll area of Qt, which has no role of its own.
fn is_filler(element: &Element) -> bool {
    element.native_role == "filler"
}

impl Element {
    /// Whether the element is wider or higher than `area`, and at least partly in it.
    pub fn is_larger(&self, area: Rect) -> bool {
        let place = self.place();
        let place = place.filter(|place| !place.intersect(&area).is_empty());
        place.is_some_and(|place| place.h > area.h || place.w > area.w)
    }
}
