//! The differences between two traversals of one app.
//!
//! Elements are matched by the operating system's own identity, so a row that moved is still the
//! same row. If several elements of a tree share one id, they are matched in order: the first with
//! the first, the second with the second.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};

use crate::excerpt::excerpts;
use crate::matching::unmatched;
use crate::{Element, ElementId, Matching, Role, States, Text, Texts, Tree};

/// An attribute that a modification can name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Attribute {
    Value,
    Title,
    Description,
    Focused,
    Selected,
    Checked,
    Expanded,
    Enabled,
}

impl Attribute {
    /// All attributes, in the order of a tree line.
    #[rustfmt::skip]
    pub const ALL: [Self; 8] = [
        Self::Value, Self::Title, Self::Description, Self::Focused, Self::Selected, Self::Checked,
        Self::Expanded, Self::Enabled,
    ];

    /// The AX name, such as `AXValue`.
    pub fn name(self) -> &'static str {
        #[rustfmt::skip]
        const NAMES: [&str; Attribute::ALL.len()] = [
            "AXValue", "AXTitle", "AXDescription", "AXFocused", "AXSelected", "AXChecked", "AXExpanded",
            "AXEnabled",
        ];
        NAMES[self as usize]
    }

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

    /// The text of this attribute; `None` if the attribute is a state.
    fn text(self, element: &Element) -> Option<&Text> {
        match self {
            Self::Value => Some(&element.value),
            Self::Title => Some(&element.title),
            Self::Description => Some(&element.description),
            _ => None,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    Text(Text),
    /// On (`true`) or off.
    Flag(bool),
    /// Neither on nor off.
    Mixed,
}

/// A change shows at most this many characters of a text, around the part that changed.
const SHOWN: usize = 400;

/// An attribute before and after.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    pub attribute: Attribute,
    /// The old value. If it is a long text, an excerpt around what changed.
    pub old: Value,
    /// The new value. If it is a long text, an excerpt around what changed.
    pub new: Value,
}

/// An element that is in both trees and has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Modified {
    /// The element's index in the earlier tree.
    pub before: usize,
    /// The element's index in the later tree.
    pub after: usize,
    /// Never empty.
    pub changes: Vec<Change>,
}

impl Modified {
    /// Whether only the focus changed, as it does when a window is raised.
    pub fn is_focus_alone(&self) -> bool {
        let mut changes = self.changes.iter();
        changes.all(|change| change.attribute == Attribute::Focused)
    }

    /// Whether only the focus or the selection changed.
    pub fn is_selection_alone(&self) -> bool {
        let is =
            |change: &Change| matches!(change.attribute, Attribute::Focused | Attribute::Selected);
        self.changes.iter().all(is)
    }
}

/// The changes to report to an agent: the differences of two trees that pass the filters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Diff {
    /// The added elements, as indices into the later tree.
    pub added: Vec<usize>,
    /// The removed elements, as indices into the earlier tree.
    pub removed: Vec<usize>,
    /// In the order of the later tree.
    pub modified: Vec<Modified>,
    /// Re-created elements, as pairs of their indices in the earlier and the later tree. The new
    /// element keeps the ref of the old one. If its states have changed, it is in `modified` too.
    pub twins: Vec<(usize, usize)>,
    /// Whether one of the trees is incomplete.
    pub partial: bool,
}

impl Diff {
    /// Compares two traversals of one app.
    ///
    /// Leaves out elements whose extents alone have changed, scroll bars and their parts,
    /// re-created elements, and rows, cells, columns and menus without any text. Also leaves out
    /// elements that only one of the two traversals has read, unless they are visible now.
    pub fn between(before: &Tree, after: &Tree) -> Self {
        let mut matching = Matching::between(before, after);
        let twins = matching.match_twins(before, after);
        let (was, is) = (Side::new(before), Side::new(after));
        let modified = matching.before.iter().enumerate();
        let modified = modified.filter_map(|(a, b)| {
            let b = (*b)?;
            let changes = changes(before.elements.get(b)?, after.elements.get(a)?);
            let reported = !changes.is_empty()
                && (is.is_worth_reporting(a) || was.is_worth_reporting(b))
                && !is.is_in_scroll_bar(a);
            reported.then_some(Modified {
                before: b,
                after: a,
                changes,
            })
        });
        Self {
            modified: modified.collect(),
            // A visible element is new to the agent. It may have existed before without being read,
            // such as a row of a long list.
            added: is.only_here(&matching.before, before, |element| element.visible),
            // An element that was read before and not now may only be out of view. So it does not
            // count as removed.
            removed: was.only_here(&matching.after, after, |_| false),
            twins,
            partial: !(before.partial.is_empty() && after.partial.is_empty()),
        }
    }

    /// Elements that became visible without being added, such as the items of an opened menu or the
    /// rows of a scrolled list. In the order of `after`.
    pub fn appeared(&self, before: &Tree, after: &Tree) -> Vec<usize> {
        let seen = before.elements.iter().filter(|e| e.visible);
        let seen: HashSet<&ElementId> = seen.map(|e| &e.id).collect();
        let was_visible = |b: usize| before.elements.get(b).is_some_and(|e| e.visible);
        let seen_twins = self.twins.iter().filter(|(b, _)| was_visible(*b));
        let seen_twins = seen_twins.map(|(_, a)| a);
        let reported: HashSet<&usize> = self.added.iter().chain(seen_twins).collect();
        let visible = after.elements.iter().enumerate().filter(|(_, e)| e.visible);
        visible
            .filter(|(i, e)| !seen.contains(&e.id) && !reported.contains(&i))
            .map(|(i, _)| i)
            .collect()
    }

    /// Adds the elements that are hidden in `before`, visible in `after`, and not in `last`, the
    /// tree of the last answer. The agent does not know them yet.
    pub fn add_unknown(&mut self, (before, last): (&Tree, &Tree), after: &Tree) {
        let known: HashSet<&ElementId> = last.elements.iter().map(|e| &e.id).collect();
        let is = Side::new(after);
        let new = |at: &usize| {
            let told = known.contains(&after.elements[*at].id);
            !told && is.is_worth_reporting(*at) && !is.is_in_scroll_bar(*at)
        };
        let appeared = self.appeared(before, after);
        self.added.extend(appeared.into_iter().filter(new));
        self.added.sort_unstable();
    }

    /// Old and new ids of re-created elements, so that the new element inherits the old one's ref.
    /// Skips ids that occur more than once in the two trees.
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

    /// How many visible elements have another place in their window, or another size, than before.
    /// Elements that move along with another one, such as its label or the rows of a list, count
    /// too. Windows do not.
    pub fn moved(&self, before: &Tree, after: &Tree) -> usize {
        let mut matching = Matching::between(before, after);
        matching.match_twins(before, after);
        // By how much each window has moved. `None` until its first part is known: a window's own
        // bounds may include a frame.
        let mut shifts: HashMap<usize, Option<(i32, i32)>> = HashMap::new();
        let mut moved = 0;
        for (now, was) in matching.before.iter().enumerate() {
            let was = was.and_then(|was| before.elements[was].shown());
            let places = was.zip(after.elements[now].shown());
            let (Some((was, is)), Some(top)) = (places, after.toplevel(now)) else {
                continue;
            };
            let by = (is.x - was.x, is.y - was.y);
            if top == now {
                shifts.insert(top, (was == is).then_some((0, 0)));
                continue;
            }
            let shift = shifts.entry(top).or_insert(Some((0, 0)));
            moved += usize::from(*shift.get_or_insert(by) != by || (was.w, was.h) != (is.w, is.h));
        }
        moved
    }

    pub fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty() && self.modified.is_empty()
    }

    /// The ids of all changed elements except progress indicators. If the list is not empty, the
    /// app has not settled.
    pub fn changed_ids<'a>(&self, before: &'a Tree, after: &'a Tree) -> Vec<&'a ElementId> {
        let added = self.added.iter().map(|&i| after.elements.get(i));
        let removed = self.removed.iter().map(|&i| before.elements.get(i));
        let modified = self.modified.iter().map(|m| after.elements.get(m.after));
        let changed = added.chain(removed).chain(modified).flatten();
        let changed = changed.filter(|element| !element.role.is_progress());
        changed.map(|element| &element.id).collect()
    }
}

/// One of the two trees, with its texts for the filters.
struct Side<'a> {
    tree: &'a Tree,
    /// Computed on first use: only rows, cells, columns and menus are checked for text.
    texts: OnceCell<Texts>,
}

impl<'a> Side<'a> {
    fn new(tree: &'a Tree) -> Self {
        Self {
            tree,
            texts: OnceCell::new(),
        }
    }

    /// Whether the element is, or is in, a scroll bar.
    fn is_in_scroll_bar(&self, index: usize) -> bool {
        let elements = &self.tree.elements;
        let Some(element) = elements.get(index) else {
            return false;
        };
        let parent = element.parent.and_then(|p| elements.get(p));
        element.role.is_scroll_bar_part() || parent.is_some_and(|p| p.role == Role::SCROLL_BAR)
    }

    /// Whether the element is worth reporting: not a row, cell, column or menu without text.
    fn is_worth_reporting(&self, index: usize) -> bool {
        let role = self.tree.elements.get(index).map(|element| element.role);
        !matches!(
            role,
            Some(Role::ROW | Role::CELL | Role::COLUMN | Role::MENU)
        ) || {
            let texts = self.texts.get_or_init(|| Texts::new(self.tree));
            texts.source(index).is_some()
        }
    }

    /// The unmatched elements that pass `new`, or that have appeared or gone: the other traversal
    /// has read all children of their nearest matched ancestor, and so would have read them.
    fn only_here(
        &self,
        matched: &[Option<usize>],
        other: &Tree,
        new: impl Fn(&Element) -> bool,
    ) -> Vec<usize> {
        let mut found = Vec::new();
        // For unmatched elements: whether the other traversal would have read them.
        let mut other_read = vec![true; matched.len()];
        for i in unmatched(matched) {
            let element = &self.tree.elements[i];
            other_read[i] = element
                .parent
                .filter(|&p| p < i)
                .is_none_or(|p| match matched[p] {
                    Some(same) => other.elements[same].children_read,
                    None => other_read[p],
                });
            if (other_read[i] || new(element))
                && self.is_worth_reporting(i)
                && !self.is_in_scroll_bar(i)
            {
                found.push(i);
            }
        }
        found
    }
}

/// The attributes that differ between two readings of one element, in the order of
/// [`Attribute::ALL`].
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
                    // Only parts that were cut off differ.
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
