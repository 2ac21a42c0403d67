//! Finds an element again in a later reading, even if its app has re-created it.
//!
//! Qt 5 creates a new object for a row that is selected or scrolled, and a web page may render a
//! part of itself again. [`Matching`](crate::Matching) does not find these, because it pairs only
//! elements that look exactly the same.

use crate::{Element, Tree};

impl Tree {
    /// The element in this tree that was at `index` of the earlier reading `before`: the element
    /// with the same id, or else with the same role and text. If several elements have the same
    /// role and text, the n-th of them in `before` is the n-th in this tree, provided that their
    /// number has not changed.
    pub fn find_again(&self, before: &Self, index: usize) -> Option<usize> {
        let was = before.elements.get(index)?;
        let same = self.elements.iter().position(|e| e.id == was.id);
        same.or_else(|| {
            let (then, now) = (before.all_like(was), self.all_like(was));
            let place = then.iter().position(|i| *i == index)?;
            now.get(place).copied().filter(|_| then.len() == now.len())
        })
    }

    /// Whether an element is where another one was in an earlier reading: in the same window and
    /// page, and with the same parent or the same extents. An equal text is not enough: another
    /// page may have a button with that text.
    pub fn is_at_same_place(&self, index: usize, before: &Self, was: usize) -> bool {
        let frame = |tree: &Self, at: usize| {
            let ends = [tree.page_around(at), tree.toplevel(at)];
            ends.map(|end| end.map(|end| tree.elements[end].id.clone()))
        };
        let parent =
            |tree: &Self, at: usize| tree.parent(at).map(|at| tree.elements[at].id.clone());
        let same_box = self.elements[index].extents == before.elements[was].extents;
        frame(self, index) == frame(before, was)
            && (same_box || parent(self, index) == parent(before, was))
    }

    /// The only element with the role and text of the element at `index` of `before`. `None` if
    /// either reading has several.
    pub fn only_like(&self, before: &Self, index: usize) -> Option<usize> {
        let was = before.elements.get(index)?;
        match (
            before.all_like(was).as_slice(),
            self.all_like(was).as_slice(),
        ) {
            ([_], [now]) => Some(*now),
            _ => None,
        }
    }

    fn all_like(&self, other: &Element) -> Vec<usize> {
        let text = |e: &Element| {
            let text = [&e.title, &e.description, &e.value];
            text.into_iter().find(|text| !text.is_blank()).cloned()
        };
        let Some(wanted) = text(other) else {
            return Vec::new();
        };
        let like = |e: &Element| {
            e.role == other.role
                && e.native_role == other.native_role
                && text(e).is_some_and(|text| text == wanted)
        };
        let all = self.elements.iter().enumerate();
        all.filter(|(_, e)| like(e)).map(|(i, _)| i).collect()
    }
}
