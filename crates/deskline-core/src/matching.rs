//! Matches the elements of two traversals.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::hash::Hash;

use foldhash::fast::RandomState;

use crate::{Rect, Role, States, Text, Tree};

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
        // Most changes leave the start of a tree as it is. So the elements of that part are matched
        // by index. Duplicate ids are no problem: up to there both trees have them equally often.
        let pairs = before.elements.iter().zip(&after.elements);
        let same = pairs.take_while(|(b, a)| b.id == a.id).count();
        let mut matching = Self {
            after: (0..same).map(Some).collect(),
            before: (0..same).map(Some).collect(),
        };
        matching.after.resize(before.elements.len(), None);
        matching.before.resize(after.elements.len(), None);
        matching.pair(
            |b| Some(before.elements[b].id.as_str()),
            |_, a| Some(after.elements[a].id.as_str()),
        );
        matching
    }

    /// Pairs the unmatched elements with the same key, in the order of the trees: `was` has the
    /// keys of the earlier tree, `is` those of the later one. Returns the pairs (index before,
    /// index after).
    fn pair<K: Eq + Hash>(
        &mut self,
        was: impl Fn(usize) -> Option<K>,
        is: impl Fn(&Self, usize) -> Option<K>,
    ) -> Vec<(usize, usize)> {
        let gone: Vec<usize> = self.removed().collect();
        let new: Vec<usize> = self.added().collect();
        if gone.is_empty() || new.is_empty() {
            return Vec::new();
        }
        // The first unmatched element of each key, and for each element the next one with the same
        // key. An app chooses its ids: a hash with a random seed keeps it from making them collide.
        let mut first: HashMap<K, usize, RandomState> =
            HashMap::with_capacity_and_hasher(gone.len(), RandomState::default());
        let mut next: HashMap<usize, usize, RandomState> = HashMap::default();
        for &b in gone.iter().rev() {
            if let Some(key) = was(b)
                && let Some(later) = first.insert(key, b)
            {
                next.insert(b, later);
            }
        }
        let mut pairs = Vec::new();
        // Parents come before their children, so a parent is matched before its children's keys.
        for a in new {
            let Some(key) = is(self, a) else {
                continue;
            };
            if let Entry::Occupied(mut entry) = first.entry(key) {
                let b = *entry.get();
                match next.get(&b) {
                    Some(later) => drop(entry.insert(*later)),
                    None => drop(entry.remove()),
                }
                self.before[a] = Some(b);
                self.after[b] = Some(a);
                pairs.push((b, a));
            }
        }
        pairs
    }

    /// Matches a removed and an added element that look the same, as re-created. They agree in
    /// role, native role, texts, states and extents, and their parents are matched. Both traversals
    /// have read all children of these parents, so neither element was merely out of view. After
    /// that, matches elements with a text and a place that differ only in states, such as a row
    /// that was re-created when it was selected. Returns pairs (index before, index after).
    pub(crate) fn match_twins(&mut self, before: &Tree, after: &Tree) -> Vec<(usize, usize)> {
        let mut twins = Vec::new();
        for any_state in [false, true] {
            let was = |b: usize| Look::new(before, b, before.elements[b].parent, any_state);
            let is = |matching: &Self, a: usize| {
                let twin = |parent: usize| matching.before.get(parent).copied().flatten();
                let parent = after.elements[a].parent;
                let known = parent.is_none_or(|parent| twin(parent).is_some());
                known.then(|| Look::new(after, a, parent.and_then(twin), any_state))?
            };
            twins.extend(self.pair(was, is));
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
    /// `None` if not all children of the element's parent were read. With `any_state`, the look
    /// without the states, and `None` for an element without a title or a place: many others may
    /// look the same.
    fn new(tree: &'a Tree, index: usize, parent: Option<usize>, any_state: bool) -> Option<Self> {
        let element = &tree.elements[index];
        let all_read = |parent: usize| tree.elements.get(parent).is_some_and(|e| e.children_read);
        let distinct = !element.title.is_blank() && element.place().is_some();
        let counts = element.parent.is_none_or(all_read) && (distinct || !any_state);
        counts.then(|| Self {
            parent,
            role: element.role,
            native_role: &element.native_role,
            texts: [&element.title, &element.value, &element.description],
            states: if any_state {
                States::empty()
            } else {
                element.states
            },
            extents: element.extents,
        })
    }
}

pub(crate) fn unmatched(side: &[Option<usize>]) -> impl Iterator<Item = usize> {
    let sides = side.iter().enumerate();
    sides.filter_map(|(i, other)| other.is_none().then_some(i))
}
