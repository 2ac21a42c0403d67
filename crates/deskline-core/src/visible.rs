//! Clears `visible` of elements that the platform reports as visible although they are outside the
//! visible area.

use std::collections::BTreeSet;

use crate::{Coordinates, Element, Point, Rect, Role, Tree, TreeWindow};

/// The limits of a container's contents.
#[derive(Clone, Copy, Default)]
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
    /// The container's bounds, if it has contents that are larger, and so scroll in it.
    filler: Option<Rect>,
}

/// The elements that open above others.
const OPENS: [Role; 4] = [Role::MENU, Role::POPOVER, Role::HELP_TAG, Role::WINDOW];

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Depth {
    /// A child of the application: a toplevel.
    #[default]
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
    /// around it. If an element is larger than its container, the part that shows counts. Before
    /// all this, the extents of a row that covers other rows are cut to its own line, and those of
    /// a button that covers its content to its title.
    pub fn scope_visible(&mut self) {
        self.keep_own_lines();
        self.keep_titles();
        let dialog = self.dialog.filter(|&d| d < self.elements.len());
        let page = dialog.and_then(|dialog| self.page_of(dialog));
        let root = Scope {
            in_dialog: dialog.is_none() || page.is_some(),
            ..Scope::default()
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
        self.hide_under_headers();
    }

    /// Clears `visible` of rows and cells that have scrolled under the column headers of their
    /// table: Qt reports these as visible, and a click there is one on the header.
    fn hide_under_headers(&mut self) {
        let heads = self.elements.iter().filter(|e| is_column_header(e));
        let tables: BTreeSet<usize> = heads.filter_map(|head| head.parent).collect();
        let area = |table| Some((table, self.below_headers(table)?));
        let areas: Vec<(usize, Rect)> = tables.into_iter().filter_map(area).collect();
        let items = self.elements.iter_mut();
        for item in items.filter(|e| matches!(e.role, Role::ROW | Role::CELL)) {
            let area = areas.iter().find(|(table, _)| item.parent == Some(*table));
            let beyond = |(_, area): &(usize, Rect)| {
                let place = item.extents;
                place.is_some_and(|place| place.center().y < area.y)
            };
            item.visible &= !area.is_some_and(beyond);
        }
    }

    /// The bounds of an element, if it is a table without the column headers at its top.
    pub fn below_headers(&self, index: usize) -> Option<Rect> {
        let area = self.elements.get(index)?.place()?;
        let own = |e: &&Element| e.parent == Some(index) && e.visible && is_column_header(e);
        let heads = self.elements.iter().filter(own);
        let heads = heads.filter_map(Element::place);
        let heads = heads.filter(|head| head.y.saturating_sub(area.y) < head.h);
        let low = heads.map(|head| head.y.saturating_add(head.h)).max();
        let cut = low.map_or(0, |low| low.saturating_sub(area.y));
        let cut = cut.clamp(0, area.h.max(0));
        Some(Rect::at(area.x, area.y + cut, area.w, area.h - cut))
    }

    /// Clears `visible` of each element whose centre is off the screen, such as a pop-up that its
    /// toolkit has moved away. In a window that is partly off the screen, the part of an element
    /// that shows counts.
    pub(crate) fn hide_beyond(&mut self, screen: Rect) {
        let on_screen = |place: Rect| screen.contains(place.center());
        for element in &mut self.elements {
            let beyond = element.extents.filter(|place| !on_screen(*place));
            if let Some(place) = beyond.filter(|_| is_one(element)) {
                let part = place.intersect(&screen);
                element.extents = Some(if part.is_empty() { place } else { part });
            }
            element.visible &= element.extents.is_some_and(on_screen);
        }
    }

    /// Whether a point is inside all containers in which an element scrolls, so that it can show
    /// there.
    pub fn is_in_view(&self, index: usize, at: Point) -> bool {
        self.clips(index).all(|clip| clip.contains(at))
    }

    /// The part of `place`, an element's bounds, that is inside all containers in which the element
    /// scrolls.
    pub fn part_in_view(&self, index: usize, place: Rect) -> Rect {
        let clips = self.clips(index);
        clips.fold(place, |part, clip| part.intersect(&clip))
    }

    /// The bounds of the containers in which an element scrolls.
    fn clips(&self, index: usize) -> impl Iterator<Item = Rect> {
        let around = self.outwards(index).zip(self.outwards(index).skip(1));
        let around =
            around.take_while(move |(inner, _)| !OPENS.contains(&self.elements[*inner].role));
        around.filter_map(move |(inner, outer)| {
            let [inner, element] = [inner, outer].map(|i| &self.elements[i]);
            let area = element.place()?;
            let clips = clips_contents(element, self.page_around(outer).is_some());
            (clips || is_filler(element) && inner.is_larger(area)).then_some(area)
        })
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
            let nested = self.toplevel(at) != Some(at);
            nested && OPENS.contains(&self.elements[at].role)
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

/// Whether an element is used as a whole, and is not only there to hold others.
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
    let [across, down] =
        [place.w > clip.w, place.h > clip.h].map(|cut| if cut { part } else { place });
    let (x, w) = (across.x, across.w);
    let (y, h) = (down.y, down.h);
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

fn is_column_header(element: &Element) -> bool {
    element.native_role == "table column header"
}

fn clips_contents(element: &Element, in_web: bool) -> bool {
    let native = element.native_role.as_ref();
    match element.role {
        Role::SCROLL_AREA | Role::WEB_AREA => true,
        // A `list box` in a page is a `<select>` that shows several choices, and scrolls.
        _ if matches!(native, "viewport" | "internal frame" | "list box") => true,
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
