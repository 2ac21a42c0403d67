//! Finds the line that an element itself fills, if its box also covers other rows.
//!
//! The box of an expanded tree item includes all its descendants in Gecko (Thunderbird's folders)
//! and in Chromium. So the centre of the box is on another row. That also happens to a list item
//! with a list in it, and to a menu item whose submenu opens inside it. The button of an open GTK
//! expander, and Qt's group box with a check box, have a box around their whole content, so the
//! centre is on another control.

use crate::{Rect, Role, States, Tree};

/// A part of a box that is less high than this, in pixels, is a margin, not a line.
const LEAST: i32 = 4;

/// A row is cut out of at most this many rows around it. That bounds the time, and real trees are
/// not nested deeper.
const LEVELS: usize = 16;

impl Tree {
    /// Cuts the extents of each row and menu item to the part that is not covered by descendants of
    /// the same role. That is its first line, or the part beside the descendants if they begin at
    /// its top. A row without such a part gets the line of its first descendant: Thunderbird has
    /// all accounts in one row. Idempotent.
    pub(crate) fn keep_own_lines(&mut self) {
        let holders = self.holders();
        let own = |tree: &Self, i: usize| {
            let place = tree.elements[i].place();
            place.filter(|_| is_kind(tree.elements[i].role))
        };
        let mut covered: Vec<Option<Inside>> = vec![None; self.elements.len()];
        // Descendants have larger indices, and must be cut before their ancestors. So this goes
        // backwards.
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

    /// Cuts the extents of each button or check box whose content covers its centre to the extents
    /// of its title. Idempotent.
    pub(crate) fn keep_titles(&mut self) {
        let mut content: Vec<Option<Inside>> = vec![None; self.elements.len()];
        // Descendants have larger indices, so this goes backwards.
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
    /// content only if the outer element is expanded or is a group box of Qt, and only if it is not
    /// the title.
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
        let (all, first) = before.map_or((line, line), |inside| (inside.all, inside.first));
        Self {
            all: all.union(&line),
            first: if line.y <= first.y { line } else { first },
        }
    }
}

fn is_kind(role: Role) -> bool {
    matches!(role, Role::ROW | Role::MENU_ITEM)
}

/// The part of `whole` above `inside`. If there is none, the wider one of the parts to the left and
/// the right, if it is at least as wide as a line is high. The part below is never taken: it is a
/// margin.
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
