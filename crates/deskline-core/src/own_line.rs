//! Finds the line that an element itself fills, if its box also covers other rows.
//!
//! Gecko (Thunderbird's folders) and Chromium give an expanded tree item the box of all its
//! descendants, so its centre lies on another row. The same holds for a list item with a list in
//! it, and for a menu item whose submenu opens inside it. The button of an open GTK expander and
//! Qt's group box with a check box have a box around their whole content, so their centre lies on
//! another control.

use crate::{Rect, Role, States, Tree};

/// A part of a box that is less high than this, in pixels, is a margin, not a line.
const LEAST: i32 = 4;

/// A row is cut out of at most this many enclosing rows. Real trees are not nested deeper, and the
/// limit keeps the time linear.
const LEVELS: usize = 16;

impl Tree {
    /// Cuts the extents of each row and menu item to the part that its descendants of the same role
    /// do not cover: its first line, or, if the descendants begin at its top, the part beside them.
    /// A row without such a part gets the line of its first descendant: in Thunderbird all accounts
    /// are in one row. Idempotent.
    pub(crate) fn keep_own_lines(&mut self) {
        let holders = self.holders();
        let own = |tree: &Self, i: usize| {
            let place = tree.elements[i].place();
            place.filter(|_| is_kind(tree.elements[i].role))
        };
        let mut covered: Vec<Option<Inside>> = vec![None; self.elements.len()];
        // Go backwards: descendants come later, and are to be cut before their ancestors.
        for i in (0..self.elements.len()).rev() {
            let Some(whole) = own(self, i) else { continue };
            let line = covered[i].map_or(whole, |inside| {
                beside(whole, inside).unwrap_or_else(|| whole.intersect(&inside.first))
            });
            self.elements[i].extents = Some(line);
            let around = std::iter::successors(holders[i], |outer| holders[*outer]);
            for outer in around.take(LEVELS) {
                let inside = own(self, outer).is_some_and(|box_| box_.contains(line.center()));
                if inside {
                    covered[outer] = Some(Inside::with(covered[outer], line));
                }
            }
        }
    }

    /// Cuts the extents of each button or check box whose content covers its centre: the extents of
    /// its title remain. Idempotent.
    pub(crate) fn keep_titles(&mut self) {
        let mut content: Vec<Option<Inside>> = vec![None; self.elements.len()];
        // Go backwards, because descendants come later.
        for i in (0..self.elements.len()).rev() {
            let element = &self.elements[i];
            let Some(place) = element.place() else {
                continue;
            };
            let is_text = element.role == Role::STATIC_TEXT;
            if is_text || element.role.is_interactive() || is_kind(element.role) {
                self.note_content(&mut content, i, place);
            }
            let covered = |inside: &Inside| inside.all.contains(place.center());
            let inside = content[i].filter(covered);
            if let Some(title) = inside.and_then(|inside| beside(place, inside)) {
                self.elements[i].extents = Some(title);
            }
        }
    }

    /// Records this element as content of each button and check box around it. A text counts as
    /// content only if the outer element is expanded or is a group box of Qt, and if the text is
    /// not its title.
    fn note_content(&self, content: &mut [Option<Inside>], index: usize, place: Rect) {
        let is_text = self.elements[index].role == Role::STATIC_TEXT;
        for outer in self.outwards(index).skip(1).take(LEVELS) {
            let holder = &self.elements[outer];
            let has_title = matches!(holder.role, Role::BUTTON | Role::CHECK_BOX);
            let is_part = has_title && (!is_text || self.is_text_content(index, outer));
            let whole = holder.extents.filter(|_| is_part);
            if whole.is_some_and(|whole| whole.contains(place.center())) {
                content[outer] = Some(Inside::with(content[outer], place));
            }
        }
    }

    /// Whether a text is content of `holder`, an expanded element or a group box of Qt, and not its
    /// title. The title has the same words as the holder, or if the holder has no words, is the
    /// first text inside it.
    fn is_text_content(&self, text: usize, holder: usize) -> bool {
        let outer = &self.elements[holder];
        let opened = outer.states.contains(States::EXPANDED);
        let is_group_box = outer.role == Role::CHECK_BOX && outer.native_role == "check box";
        let words = |at: usize| &self.elements[at].title;
        let is_text = |at: &usize| self.elements[*at].role == Role::STATIC_TEXT;
        let is_title = if words(holder).is_blank() {
            (holder + 1..text).find(is_text).is_none()
        } else {
            words(holder) == words(text)
        };
        (opened || is_group_box) && !is_title
    }

    /// For each row and menu item, the nearest ancestor of the same role.
    fn holders(&self) -> Vec<Option<usize>> {
        let mut nearest: Vec<[Option<usize>; 2]> = Vec::with_capacity(self.elements.len());
        let mut holders = Vec::with_capacity(self.elements.len());
        for (i, element) in self.elements.iter().enumerate() {
            let parent = element.parent.filter(|p| *p < i);
            let mut around = parent.map_or([None; 2], |parent| nearest[parent]);
            let kind = usize::from(element.role == Role::MENU_ITEM);
            let holder = is_kind(element.role).then(|| around[kind].replace(i));
            holders.push(holder.flatten());
            nearest.push(around);
        }
        holders
    }
}

/// The bounds of the rows inside a row.
#[derive(Debug, Clone, Copy)]
struct Inside {
    all: Rect,
    /// The bounds of the topmost row.
    first: Rect,
}

impl Inside {
    fn with(before: Option<Self>, line: Rect) -> Self {
        before.map_or(
            Self {
                all: line,
                first: line,
            },
            |inside| Self {
                all: inside.all.union(&line),
                first: if line.y <= inside.first.y {
                    line
                } else {
                    inside.first
                },
            },
        )
    }
}

fn is_kind(role: Role) -> bool {
    matches!(role, Role::ROW | Role::MENU_ITEM)
}

/// The part of `whole` above `inside`. If there is none, the wider one of the parts to its left and
/// right, if that is at least as wide as a line is high. The part below is only a margin.
fn beside(whole: Rect, inside: Inside) -> Option<Rect> {
    let inner = whole.intersect(&inside.all);
    let end = |start: i32, length: i32| start.saturating_add(length);
    let (right, inner_right) = (end(whole.x, whole.w), end(inner.x, inner.w));
    let above = Rect {
        h: inner.y.saturating_sub(whole.y),
        ..whole
    };
    if above.h >= LEAST {
        return Some(above);
    }
    let left = Rect {
        w: inner.x.saturating_sub(whole.x),
        ..whole
    };
    let beyond = Rect {
        x: inner_right,
        w: right.saturating_sub(inner_right),
        ..whole
    };
    let wider = if beyond.w > left.w { beyond } else { left };
    (wider.w >= LEAST.max(inside.first.h)).then_some(wider)
}
