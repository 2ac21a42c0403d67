//! What changed between two traversals of one app.
//!
//! Elements are matched by the operating system's own identity, so that a row that moved is the
//! same row. Where one id stands for several elements of a tree, the first is matched with the
//! first, the second with the second, and so on: none is lost.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};

use crate::excerpt::excerpts;
use crate::matching::unmatched;
use crate::{Element, ElementId, Matching, Role, States, Text, Texts, Tree};

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

/// The most characters that a change shows of a text, around what changed.
const SHOWN: usize = 400;

/// An attribute before and after.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Which.
    pub attribute: Attribute,
    /// What it was; of a long text the part around what changed.
    pub old: Value,
    /// What it is, likewise.
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

/// What an agent is told of the change, after the filters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Diff {
    /// Indices into the tree after.
    pub added: Vec<usize>,
    /// Indices into the tree before.
    pub removed: Vec<usize>,
    /// In the order of the tree after.
    pub modified: Vec<Modified>,
    /// Created anew, as they were: index before, index after. Not reported; the ref goes on.
    pub twins: Vec<(usize, usize)>,
    /// One of the trees lacks something.
    pub partial: bool,
}

impl Diff {
    /// Compares two traversals of one app.
    ///
    /// Left out: changes of place and size alone, scroll bars and their parts, rows, cells,
    /// columns and menus without any text, what was created anew as it was, and what only one of
    /// the traversals has read, unless it shows now.
    pub fn between(before: &Tree, after: &Tree) -> Self {
        let mut matching = Matching::between(before, after);
        let twins = matching.match_twins(before, after);
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
            // What shows is new to the agent, also where it was there before and not read: a row
            // of a long list.
            added: is.only_here(&matching.before, before, |element| element.visible),
            // What is not read any more may just have left the view.
            removed: was.only_here(&matching.after, after, |_| false),
            twins,
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
        let was_visible = |b: usize| before.elements.get(b).is_some_and(|e| e.visible);
        let seen_twins = self.twins.iter().filter(|(b, _)| was_visible(*b));
        let told: HashSet<usize> = self
            .added
            .iter()
            .copied()
            .chain(seen_twins.map(|&(_, a)| a))
            .collect();
        let visible = after.elements.iter().enumerate().filter(|(_, e)| e.visible);
        visible
            .filter(|(i, e)| !seen.contains(&e.id) && !told.contains(i))
            .map(|(i, _)| i)
            .collect()
    }

    /// The ids of what was created anew, old and new, for the refs to go on. Left out is an id that
    /// stands for something else too: on the other side, or twice.
    pub fn renamed(&self, before: &Tree, after: &Tree) -> Vec<(ElementId, ElementId)> {
        if self.twins.is_empty() {
            return Vec::new();
        }
        let mut count: HashMap<&ElementId, usize> = HashMap::new();
        for element in before.elements.iter().chain(&after.elements) {
            *count.entry(&element.id).or_default() += 1;
        }
        let once = |id: &ElementId| count.get(id) == Some(&1);
        let pairs = self
            .twins
            .iter()
            .filter_map(|&(b, a)| Some((&before.elements.get(b)?.id, &after.elements.get(a)?.id)));
        pairs
            .filter(|(old, new)| once(old) && once(new))
            .map(|(old, new)| (old.clone(), new.clone()))
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

    /// The elements that are in this tree alone: those whose nearest container in both trees had
    /// all its children read by the other traversal, and of the others those that `new` takes.
    fn only_here(
        &self,
        matched: &[Option<usize>],
        other: &Tree,
        new: impl Fn(&Element) -> bool,
    ) -> Vec<usize> {
        let mut found = Vec::new();
        // Filled for the elements that are here alone; of the others their match is asked.
        let mut looked = vec![true; matched.len()];
        for i in unmatched(matched) {
            let element = &self.tree.elements[i];
            looked[i] = element
                .parent
                .filter(|&p| p < i)
                .is_none_or(|p| match matched[p] {
                    Some(same) => other.elements[same].children_read,
                    None => looked[p],
                });
            if (looked[i] || new(element)) && self.tells(i) && !self.scrolls(i) {
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
            (Some(old), Some(new)) => {
                let (old, new) = match excerpts(old, new, SHOWN) {
                    // What differs was not kept.
                    (a, b) if a == b => (old.clone(), new.clone()),
                    parts => parts,
                };
                (Value::Text(old), Value::Text(new))
            }
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
