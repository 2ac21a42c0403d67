//! Matches the elements of two traversals.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use foldhash::fast::RandomState;

use crate::{Element, Rect, Role, States, Text, Tree};

/// The pairs of elements that are the same in two trees, by identity and unfiltered. The earlier
/// tree, minus [`removed`](Self::removed), plus [`added`](Self::added), is the later tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Matching {
    /// For each element of the earlier tree, its index in the later tree.
    pub after: Vec<Option<usize>>,
    /// For each element of the later tree, its index in the earlier tree.
    pub before: Vec<Option<usize>>,
}

impl Matching {
    /// Matches two trees in linear time.
    pub fn between(before: &Tree, after: &Tree) -> Self {
        // Most changes leave the start of a tree as it is: match the common prefix by index. This
        // is right for duplicate ids too: the prefix has the same number of them in both trees.
        let pairs = before.elements.iter().zip(&after.elements);
        let same = pairs.take_while(|(b, a)| b.id == a.id).count();
        let mut matching = Self {
            after: (0..same).map(Some).collect(),
            before: (0..same).map(Some).collect(),
        };
        matching.after.resize(before.elements.len(), None);
        matching.before.resize(after.elements.len(), None);
        matching.by_id(before, after, same);
        matching
    }

    /// Matches the elements from index `start` on by their ids.
    fn by_id(&mut self, before: &Tree, after: &Tree, start: usize) {
        let (Some(was), Some(is)) = (before.elements.get(start..), after.elements.get(start..))
        else {
            return;
        };
        if was.is_empty() || is.is_empty() {
            return;
        }
        // The first unmatched element of each id, and for each element the next one with the same
        // id. Ids are chosen by the app: a randomly seeded hash keeps the app from forcing
        // collisions.
        let mut first: HashMap<&str, usize, RandomState> =
            HashMap::with_capacity_and_hasher(was.len(), RandomState::default());
        let mut next: Vec<Option<usize>> = vec![None; was.len()];
        for (i, element) in was.iter().enumerate().rev() {
            next[i] = first.insert(element.id.as_str(), i);
        }
        for (a, element) in is.iter().enumerate() {
            if let Entry::Occupied(mut entry) = first.entry(element.id.as_str()) {
                let b = *entry.get();
                self.before[start + a] = Some(start + b);
                self.after[start + b] = Some(start + a);
                match next[b] {
                    Some(b) => drop(entry.insert(b)),
                    None => drop(entry.remove()),
                }
            }
        }
    }

    /// Matches re-created elements: a removed element and an added one that look the same. They
    /// agree in role, native role, texts, states and extents, their parents are matched, and both
    /// traversals have read all children of these parents, so neither element was merely out of
    /// view. Then matches those that have a text and a place and differ only in their states, such
    /// as a row that the app re-creates when it is selected. Returns pairs (index before, index
    /// after).
    pub(crate) fn match_twins(&mut self, before: &Tree, after: &Tree) -> Vec<(usize, usize)> {
        let mut twins = self.match_alike(before, after, Look::new);
        twins.extend(self.match_alike(before, after, Look::of_any_state));
        twins
    }

    fn match_alike<'t>(
        &mut self,
        before: &'t Tree,
        after: &'t Tree,
        look: impl Fn(&'t Element, Option<usize>) -> Option<Look<'t>>,
    ) -> Vec<(usize, usize)> {
        let gone: Vec<usize> = self.removed().collect();
        let new: Vec<usize> = self.added().collect();
        if gone.is_empty() || new.is_empty() {
            return Vec::new();
        }
        // The first unmatched element of each appearance, and for each element the next one with
        // the same appearance.
        let mut first: HashMap<Look<'_>, usize, RandomState> =
            HashMap::with_capacity_and_hasher(gone.len(), RandomState::default());
        let mut next: HashMap<usize, usize, RandomState> = HashMap::default();
        for &b in gone.iter().rev() {
            let element = &before.elements[b];
            if all_children_read(before, element.parent)
                && let Some(look) = look(element, element.parent)
                && let Some(later) = first.insert(look, b)
            {
                next.insert(b, later);
            }
        }
        let mut twins = Vec::new();
        // Parents come before their children, so a parent's twin is already matched.
        for a in new {
            let element = &after.elements[a];
            let parent = match element
                .parent
                .map(|p| self.before.get(p).copied().flatten())
            {
                Some(None) => continue,
                Some(parent) => parent,
                None => None,
            };
            if !all_children_read(after, element.parent) {
                continue;
            }
            let Some(look) = look(element, parent) else {
                continue;
            };
            if let Entry::Occupied(mut entry) = first.entry(look) {
                let b = *entry.get();
                match next.get(&b) {
                    Some(later) => drop(entry.insert(*later)),
                    None => drop(entry.remove()),
                }
                self.before[a] = Some(b);
                self.after[b] = Some(a);
                twins.push((b, a));
            }
        }
        twins
    }

    /// The elements that only the later tree has.
    pub fn added(&self) -> impl Iterator<Item = usize> {
        unmatched(&self.before)
    }

    /// The elements that only the earlier tree has.
    pub fn removed(&self) -> impl Iterator<Item = usize> {
        unmatched(&self.after)
    }
}

/// The appearance of an element: the key for matching re-created elements.
#[derive(PartialEq, Eq, Hash)]
struct Look<'a> {
    /// The parent's index in the earlier tree.
    parent: Option<usize>,
    role: Role,
    native_role: &'a str,
    texts: [&'a Text; 3],
    states: States,
    extents: Option<Rect>,
}

impl<'a> Look<'a> {
    // Never `None`, but has the signature of `of_any_state`, which is passed to the same function.
    #[allow(clippy::unnecessary_wraps)]
    fn new(element: &'a Element, parent: Option<usize>) -> Option<Self> {
        Some(Self {
            parent,
            role: element.role,
            native_role: &element.native_role,
            texts: [&element.title, &element.value, &element.description],
            states: element.states,
            extents: element.extents,
        })
    }

    /// The look without the states. `None` for an element without a title or without a place, as
    /// nothing would distinguish it from others.
    fn of_any_state(element: &'a Element, parent: Option<usize>) -> Option<Self> {
        let distinct = !element.title.is_blank() && element.place().is_some();
        let states = States::empty();
        let look = Self::new(element, parent).filter(|_| distinct)?;
        Some(Self { states, ..look })
    }
}

fn all_children_read(tree: &Tree, parent: Option<usize>) -> bool {
    parent.is_none_or(|p| tree.elements.get(p).is_some_and(|e| e.children_read))
}

pub(crate) fn unmatched(side: &[Option<usize>]) -> impl Iterator<Item = usize> {
    let sides = side.iter().enumerate();
    sides.filter_map(|(i, other)| other.is_none().then_some(i))
}
