//! Blind spots: areas where the picture of a window shows content but the tree describes none (a
//! canvas, an icon view without children).
//!
//! The picture is taken for the answer anyway. Examining a picture of 1920×1080 takes 0.4 to 1.5
//! ms.

use deskline_core::{Element, Line, Point, Rect, Role, States, Texts, Tree, WindowId};

use crate::display::Picture;
use crate::ocr::is_from_picture;
use crate::picture::area::{Area, scale};

/// The maximum number of blind spots in an answer.
const MOST: usize = 3;

/// The maximum number of areas that are examined.
const LOOKED_AT: usize = 12;

/// The minimum width and height of a blind spot, in pixels.
const SMALLEST: i32 = 64;

/// A blind spot covers at least 1/50 of the picture: 2%.
const SMALLEST_SHARE: i64 = 50;

/// Pixels this close to an element's edge are its frame or its focus ring.
const FRAME: i32 = 6;

pub(crate) struct Spot {
    /// The index of the spot's element.
    pub(crate) element: usize,
    /// The visible part of the element.
    pub(crate) place: Rect,
    /// The parts of the spot that other elements describe, password fields among them.
    pub(crate) described: Vec<Rect>,
}

/// The blind spots of an app's tree in the picture of one of its windows, largest first: `(x,y w×h)
/// [AXGroup (panel)]`.
pub(crate) fn names(tree: &Tree, window: WindowId, picture: &Picture) -> Vec<String> {
    let found = spots(tree, window, picture);
    if found.is_empty() {
        return Vec::new();
    }
    let texts = Texts::new(tree);
    let named = found.into_iter().filter_map(|Spot { element, place, .. }| {
        let line = Line::new(tree, &texts, element)?;
        let role = Line::bare(line.role, line.native_role);
        let Rect { x, y, w, h } = place;
        Some(format!("({x},{y} {w}×{h}) {role}"))
    });
    named.collect()
}

/// The blind spots of an app's tree in the picture of one of its windows, largest first.
pub(crate) fn spots(tree: &Tree, window: WindowId, picture: &Picture) -> Vec<Spot> {
    let mut found: Vec<Spot> = Vec::new();
    if tree.is_picture_only() {
        return found;
    }
    let units = |pixels: u32| (f64::from(pixels) / scale(picture)) as i32;
    let Point { x, y } = picture.origin;
    let whole = Rect::at(x, y, units(picture.width), units(picture.height));
    let seen = Seen {
        tree,
        window,
        whole,
    };
    for (element, place) in seen.silent().into_iter().take(LOOKED_AT) {
        let known = |spot: &Spot| 2 * area(&spot.place.intersect(&place)) > area(&place);
        if found.iter().any(known) {
            continue;
        }
        let described = seen.described_over(element, &place);
        if shows_more(picture, &place, &described) {
            found.push(Spot {
                element,
                place,
                described,
            });
        }
        if found.len() == MOST {
            break;
        }
    }
    found
}

/// Whether a window may have blind spots. Needs no picture.
pub(crate) fn may_have_spots(tree: &Tree, window: WindowId) -> bool {
    tree.window(window).is_some_and(|w| {
        let seen = Seen {
            tree,
            window,
            whole: w.extents,
        };
        !seen.silent().is_empty()
    })
}

/// A tree and one of its windows.
struct Seen<'s> {
    tree: &'s Tree,
    window: WindowId,
    /// The bounds of the window's picture, in screen coordinates.
    whole: Rect,
}

impl Seen<'_> {
    /// The large visible elements that have no text and nothing visible in them, largest first.
    /// Each has its bounds, clipped to those of its ancestors.
    fn silent(&self) -> Vec<(usize, Rect)> {
        let elements = &self.tree.elements;
        // Containers precede their children.
        let mut clips: Vec<Rect> = Vec::with_capacity(elements.len());
        let mut in_text: Vec<bool> = Vec::with_capacity(elements.len());
        for element in elements {
            let parent = element.parent.filter(|&p| p < in_text.len());
            in_text.push(parent.is_some_and(|p| in_text[p] || is_text(&elements[p])));
            let outer = element.parent.and_then(|p| clips.get(p));
            let outer = outer.copied().unwrap_or(self.whole);
            let own = element.place();
            clips.push(own.map_or(outer, |own| own.intersect(&outer)));
        }
        let holds_visible = self.holds_visible();
        let smallest = area(&self.whole) / SMALLEST_SHARE;
        let silent = elements.iter().enumerate().filter(|&(i, element)| {
            let place = clips[i];
            let is_big = place.w >= SMALLEST && place.h >= SMALLEST && area(&place) >= smallest;
            // A window's title does not describe its content.
            let says = has_text(element) && element.role != Role::WINDOW;
            is_big
                && element.visible
                && element.children_read
                && !holds_visible[i]
                && !says
                && !in_text[i]
                && can_show_more(element.role)
                && !element.states.contains(States::SECURE)
                && self.is_in_window(i)
        });
        let mut silent: Vec<_> = silent.map(|(i, _)| (i, clips[i])).collect();
        silent.sort_by_key(|(_, place)| std::cmp::Reverse(area(place)));
        silent
    }

    /// For each element, whether anything in its subtree is visible. Scroll bars do not count.
    fn holds_visible(&self) -> Vec<bool> {
        let mut holds = vec![false; self.tree.elements.len()];
        for (i, element) in self.tree.elements.iter().enumerate().rev() {
            let shows = holds[i] || element.visible && !is_from_picture(&element.id);
            if let Some(parent) = element.parent.filter(|&p| p < i)
                && !element.role.is_scroll_bar_part()
            {
                holds[parent] |= shows;
            }
        }
        holds
    }

    /// Whether the element is in the pictured window. `true` too if the tree has no windows.
    fn is_in_window(&self, index: usize) -> bool {
        match self.tree.windows_of(index).as_slice() {
            [window] => window.id == self.window,
            _ => self.tree.windows.is_empty(),
        }
    }

    /// The parts of an area that other elements describe.
    fn described_over(&self, index: usize, place: &Rect) -> Vec<Rect> {
        let elements = &self.tree.elements;
        // Ancestors do not describe the area of a descendant.
        let mut contains = vec![false; elements.len()];
        for at in self.tree.outwards(index) {
            contains[at] = true;
        }
        let mut is_in_it = vec![false; elements.len()];
        let mut described = Vec::new();
        for (i, element) in elements.iter().enumerate() {
            let parent = element.parent.filter(|&p| p < i);
            is_in_it[i] = i == index || parent.is_some_and(|p| is_in_it[p]);
            // A descendant that does not count as visible may still show in part: a long label
            // whose centre is scrolled away.
            let shows = element.visible || is_in_it[i];
            let is_secret = element.states.contains(States::SECURE);
            let says = element.role == Role::SCROLL_BAR || has_text(element) || is_secret;
            let over = element.extents.map(|e| e.intersect(place));
            if let Some(over) = over.filter(|over| !over.is_empty())
                && (shows || is_secret)
                && says
                && !contains[i]
                && !is_from_picture(&element.id)
                && (self.is_in_window(i) || self.tree.windows_of(i).is_empty())
            {
                described.push(over);
            }
        }
        described
    }
}

/// Whether the picture shows detail at a place, apart from the parts that elements describe.
fn shows_more(picture: &Picture, place: &Rect, described: &[Rect]) -> bool {
    let inner = place.grown(-FRAME);
    let Some(area) = Area::new(picture, inner) else {
        return false;
    };
    let pixels = |place: &Rect| Area::new(picture, place.intersect(&inner));
    let described: Vec<Area> = described.iter().filter_map(pixels).collect();
    area.is_detailed(picture, &described)
}

fn has_text(element: &Element) -> bool {
    let texts = [&element.title, &element.value, &element.description];
    texts.iter().any(|text| !text.is_blank())
}

/// Whether the element's own text fills its bounds, so that its children need no text. In Qt, a
/// text area has a child of the same size without text. Tabs are excluded: some toolkits put the
/// page of a tab inside the tab.
fn is_text(element: &Element) -> bool {
    element.role.is_interactive() && element.role != Role::TAB && has_text(element)
}

/// Whether an element of this role can show content that the tree may miss.
fn can_show_more(role: Role) -> bool {
    let menu = matches!(role, Role::MENU | Role::MENU_ITEM);
    let bar = matches!(role, Role::MENU_BAR | Role::MENU_BAR_ITEM | Role::SPLITTER);
    let shows = !menu && !bar && role != Role::APPLICATION;
    shows && !role.is_scroll_bar_part() && !role.is_progress()
}

fn area(place: &Rect) -> i64 {
    i64::from(place.w) * i64::from(place.h)
}

#[cfg(test)]
mod tests;
