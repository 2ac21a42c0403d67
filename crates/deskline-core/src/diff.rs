//! What changed between two traversals of one app.
//!
//! Elements are matched by the operating system's own identity, so that a row that moved is the
//! same row. Where one id stands for several elements of a tree, the first is matched with the
//! first, the second with the second, and so on: none is lost.

use std::cell::OnceCell;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use foldhash::fast::RandomState;

use crate::{Element, ElementId, Role, States, Text, Texts, Tree};

/// An attribute that a modification can name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Attribute {
    /// `AXValue`
    Value,
    /// `AXTitle`
    Title,
    /// `AXDescription`
    Description,
    /// `AXFocused`
    Focused,
    /// `AXSelected`
    Selected,
    /// `AXChecked`
    Checked,
    /// `AXExpanded`
    Expanded,
    /// `AXEnabled`
    Enabled,
}

impl Attribute {
    /// All of them, in the order in which a line names them.
    pub const ALL: [Self; 8] = [
        Self::Value,
        Self::Title,
        Self::Description,
        Self::Focused,
        Self::Selected,
        Self::Checked,
        Self::Expanded,
        Self::Enabled,
    ];

    /// Its AX name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Value => "AXValue",
            Self::Title => "AXTitle",
            Self::Description => "AXDescription",
            Self::Focused => "AXFocused",
            Self::Selected => "AXSelected",
            Self::Checked => "AXChecked",
            Self::Expanded => "AXExpanded",
            Self::Enabled => "AXEnabled",
        }
    }

    /// What the attribute is where it is not a text.
    fn state(self, states: States) -> Value {
        Value::Flag(match self {
            Self::Checked if states.contains(States::MIXED) => return Value::Mixed,
            Self::Checked => states.contains(States::CHECKED),
            Self::Focused => states.contains(States::FOCUSED),
            Self::Selected => states.contains(States::SELECTED),
            Self::Expanded => states.contains(States::EXPANDED),
            Self::Enabled => !states.contains(States::DISABLED),
            Self::Value | Self::Title | Self::Description => false,
        })
    }

    /// The attribute where it is a text.
    fn text(self, element: &Element) -> Option<&Text> {
        match self {
            Self::Value => Some(&element.value),
            Self::Title => Some(&element.title),
            Self::Description => Some(&element.description),
            _ => None,
        }
    }
}

/// The value of an attribute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// A text.
    Text(Text),
    /// On or off.
    Flag(bool),
    /// Neither on nor off.
    Mixed,
}

/// An attribute before and after.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Which.
    pub attribute: Attribute,
    /// What it was.
    pub old: Value,
    /// What it is.
    pub new: Value,
}

/// An element that is in both trees and has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Modified {
    /// Its index in the tree before.
    pub before: usize,
    /// Its index in the tree after.
    pub after: usize,
    /// What changed of it; never empty.
    pub changes: Vec<Change>,
}

/// Which elements of two trees are the same, by identity alone and unfiltered: the tree before,
/// less the removed, plus the added, is the tree after.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Matching {
    /// For each element before, where it is after.
    pub after: Vec<Option<usize>>,
    /// For each element after, where it was before.
    pub before: Vec<Option<usize>>,
}

impl Matching {
    /// Matches two trees in linear time.
    pub fn between(before: &Tree, after: &Tree) -> Self {
        // Most changes leave a tree's start as it is. What stands there is matched by its place,
        // also where an id occurs twice: as many of it came before on either side.
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
        // The first unmatched element of each id, and from each element the next of its id. An app
        // chooses its ids, but never sees a hash, and the seed is another one each time.
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

    /// The elements of the tree after that were not before.
    pub fn added(&self) -> impl Iterator<Item = usize> {
        unmatched(&self.before)
    }

    /// The elements of the tree before that are no more.
    pub fn removed(&self) -> impl Iterator<Item = usize> {
        unmatched(&self.after)
    }
}

fn unmatched(side: &[Option<usize>]) -> impl Iterator<Item = usize> {
    let sides = side.iter().enumerate();
    sides.filter_map(|(i, other)| other.is_none().then_some(i))
}

/// What an agent is told of the change, after the filters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Diff {
    /// Indices into the tree after.
    pub added: Vec<usize>,
    /// Indices into the tree before.
    pub removed: Vec<usize>,
    /// In the order of the tree after.
    pub modified: Vec<Modified>,
    /// One of the trees lacks something.
    pub partial: bool,
}

impl Diff {
    /// Compares two traversals of one app.
    ///
    /// Left out: changes of place and size alone, scroll bars and their parts, rows, cells,
    /// columns and menus without any text, and what only one of the traversals has read.
    pub fn between(before: &Tree, after: &Tree) -> Self {
        let matching = Matching::between(before, after);
        let (was, is) = (Side::of(before), Side::of(after));
        let modified = matching.before.iter().enumerate();
        let modified = modified.filter_map(|(a, b)| {
            let b = (*b)?;
            let changes = changes(before.elements.get(b)?, after.elements.get(a)?);
            let told = !changes.is_empty() && (is.tells(a) || was.tells(b)) && !is.scrolls(a);
            told.then_some(Modified {
                before: b,
                after: a,
                changes,
            })
        });
        Self {
            modified: modified.collect(),
            added: is.only_here(&matching.before, before),
            removed: was.only_here(&matching.after, after),
            partial: !(before.partial.is_empty() && after.partial.is_empty()),
        }
    }

    /// The elements that can be seen now and could not before, without being added: what a menu, a
    /// tab or a scroll has brought into view. In the order of the tree after.
    pub fn appeared(&self, before: &Tree, after: &Tree) -> Vec<usize> {
        let seen: HashSet<&ElementId> = before
            .elements
            .iter()
            .filter(|e| e.visible)
            .map(|e| &e.id)
            .collect();
        let added: HashSet<usize> = self.added.iter().copied().collect();
        let visible = after.elements.iter().enumerate().filter(|(_, e)| e.visible);
        visible
            .filter(|(i, e)| !seen.contains(&e.id) && !added.contains(i))
            .map(|(i, _)| i)
            .collect()
    }

    /// Whether nothing changed.
    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty() && self.modified.is_empty()
    }

    /// The elements that changed, for the settle step: progress indicators do not count.
    pub fn changed_ids<'a>(&self, before: &'a Tree, after: &'a Tree) -> Vec<&'a ElementId> {
        let added = self.added.iter().map(|&i| after.elements.get(i));
        let removed = self.removed.iter().map(|&i| before.elements.get(i));
        let modified = self.modified.iter().map(|m| after.elements.get(m.after));
        added
            .chain(removed)
            .chain(modified)
            .flatten()
            .filter(|element| !element.role.is_progress())
            .map(|element| &element.id)
            .collect()
    }
}

/// One tree of the two, and what the filters ask of it.
struct Side<'a> {
    tree: &'a Tree,
    /// Computed when a filter first asks: only what may be empty has to be looked into.
    texts: OnceCell<Texts>,
}

impl<'a> Side<'a> {
    fn of(tree: &'a Tree) -> Self {
        Self {
            tree,
            texts: OnceCell::new(),
        }
    }

    /// Whether the element is a scroll bar or in one.
    fn scrolls(&self, index: usize) -> bool {
        let elements = &self.tree.elements;
        let Some(element) = elements.get(index) else {
            return false;
        };
        let parent = element.parent.and_then(|p| elements.get(p));
        element.role.is_scroll_bar_part() || parent.is_some_and(|p| p.role == Role::SCROLL_BAR)
    }

    /// Whether it is more than an empty row, cell, column or menu.
    fn tells(&self, index: usize) -> bool {
        let role = self.tree.elements.get(index).map(|element| element.role);
        !matches!(
            role,
            Some(Role::ROW | Role::CELL | Role::COLUMN | Role::MENU)
        ) || {
            let texts = self.texts.get_or_init(|| Texts::of(self.tree));
            texts.source(index).is_some()
        }
    }

    /// The elements that are in this tree alone although the other traversal looked: the children
    /// of their nearest ancestor that is in both were read there too.
    fn only_here(&self, matched: &[Option<usize>], other: &Tree) -> Vec<usize> {
        let mut found = Vec::new();
        // Filled for the elements that are here alone; of the others their twin is asked.
        let mut looked = vec![true; matched.len()];
        for i in unmatched(matched) {
            let parent = self.tree.elements[i].parent.filter(|&p| p < i);
            looked[i] = parent.is_none_or(|p| match matched[p] {
                Some(twin) => other.elements[twin].children_read,
                None => looked[p],
            });
            if looked[i] && self.tells(i) && !self.scrolls(i) {
                found.push(i);
            }
        }
        found
    }
}

/// What differs between two readings of one element, in the order of [`Attribute::ALL`].
fn changes(before: &Element, after: &Element) -> Vec<Change> {
    let secret = (before.states | after.states).contains(States::SECURE);
    let same_texts = before.value.same(&after.value)
        && before.title.same(&after.title)
        && before.description.same(&after.description);
    if same_texts && before.states == after.states {
        return Vec::new();
    }
    let changes = Attribute::ALL.into_iter().filter_map(|attribute| {
        let (old, new) = match (attribute.text(before), attribute.text(after)) {
            (Some(_), Some(_)) if secret && attribute == Attribute::Value => return None,
            (Some(old), Some(new)) if old.agrees(new) => return None,
            (Some(old), Some(new)) => (Value::Text(old.clone()), Value::Text(new.clone())),
            _ => (
                attribute.state(before.states),
                attribute.state(after.states),
            ),
        };
        (old != new).then_some(Change {
            attribute,
            old,
            new,
        })
    });
    changes.collect()
}
