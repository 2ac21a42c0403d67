//! The own line of a row whose box covers other rows.
//!
//! Gecko (Thunderbird's folders) and Chromium give an expanded tree item the box of all its
//! descendants, so its centre is another row. The same holds for a list item with a list in it, and
//! for a menu item whose submenu opens inside it.

use crate::{Rect, Role, Tree};

/// A part of a box that is thinner than this, in pixels, is a margin and no line.
const LEAST: i32 = 4;

/// How many rows around a row are cut by it: trees are not deeper, and the time stays linear.
const LEVELS: usize = 16;

impl Tree {
    /// Cuts the extents of each row and menu item to the part that no other of its kind inside it
    /// covers: its first line, or where others begin at its top the thickest part beside them. What
    /// is covered entirely keeps its extents. Doing it twice changes nothing.
    pub(crate) fn keep_own_lines(&mut self) {
        let holders = self.holders();
        let own = |tree: &Self, i: usize| {
            let extents = tree.elements[i].extents;
            extents.filter(|e| is_kind(tree.elements[i].role) && !e.is_empty())
        };
        let mut covered: Vec<Option<Rect>> = vec![None; self.elements.len()];
        // What is inside comes after what it is in, and is cut first.
        for i in (0..self.elements.len()).rev() {
            let Some(whole) = own(self, i) else { continue };
            let line = covered[i]
                .and_then(|inner| beside(whole, inner))
                .unwrap_or(whole);
            self.elements[i].extents = Some(line);
            let around = std::iter::successors(holders[i], |outer| holders[*outer]);
            for outer in around.take(LEVELS) {
                let inside = own(self, outer).is_some_and(|box_| box_.contains(line.center()));
                if inside {
                    let all = covered[outer].map_or(line, |inner| union(inner, line));
                    covered[outer] = Some(all);
                }
            }
        }
    }

    /// For each row and menu item the nearest one of the same role that it is in.
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

fn is_kind(role: Role) -> bool {
    matches!(role, Role::ROW | Role::MENU_ITEM)
}

/// The part of `whole` above `inner`, or else the thickest one below or beside it.
fn beside(whole: Rect, inner: Rect) -> Option<Rect> {
    let inner = whole.intersect(&inner);
    let end = |start: i32, length: i32| start.saturating_add(length);
    let (right, bottom) = (end(whole.x, whole.w), end(whole.y, whole.h));
    let (inner_right, inner_bottom) = (end(inner.x, inner.w), end(inner.y, inner.h));
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
    let below = Rect {
        y: inner_bottom,
        h: bottom.saturating_sub(inner_bottom),
        ..whole
    };
    let thickness = |part: &Rect| part.w.min(part.h);
    let parts = [left, below, beyond].into_iter().rev();
    let thickest = parts.max_by_key(thickness);
    thickest.filter(|part| thickness(part) >= LEAST)
}

fn union(a: Rect, b: Rect) -> Rect {
    let (x, y) = (a.x.min(b.x), a.y.min(b.y));
    let right = a.x.saturating_add(a.w).max(b.x.saturating_add(b.w));
    let bottom = a.y.saturating_add(a.h).max(b.y.saturating_add(b.h));
    Rect {
        x,
        y,
        w: right.saturating_sub(x),
        h: bottom.saturating_sub(y),
    }
}
