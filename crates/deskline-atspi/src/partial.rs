//! The missing parts of a tree, in the words of its `# partial:` headers.

use deskline_core::escape;

use crate::engine::{self, Failed, Node, Unread};
use crate::names::StateSet;

/// The missing parts of a reading.
#[derive(Debug, Default)]
pub(crate) struct Partial {
    /// The missing parts of the engine's traversal, embedded parts included.
    pub unread: Unread,
    /// The number of unread children of large lists.
    pub crowded: usize,
    /// The number of embedded parts whose process does not answer.
    pub silent: usize,
}

impl Partial {
    /// Adds the missing parts of an embedded part's reading.
    pub fn add(&mut self, other: &Unread) {
        let unread = &mut self.unread;
        unread.nodes += other.nodes;
        unread.cut |= other.cut;
        unread.overfull |= other.overfull;
        unread.heavy |= other.heavy;
        unread.failed.lists += other.failed.lists;
        unread.failed.elements += other.failed.elements;
        unread.failed.texts += other.failed.texts;
    }

    /// Whether the reading is incomplete only because time ran out: the app answers, and could be
    /// read further.
    pub(crate) fn is_for_want_of_time(&self) -> bool {
        let unread = &self.unread;
        !unread.cut && !unread.overfull && unread.nodes + self.crowded > unread.failed.elements
    }

    /// A line for each missing part of the tree of these nodes.
    pub fn words(&self, nodes: &[Node]) -> Vec<String> {
        let mut words = Vec::new();
        let Failed {
            lists,
            elements,
            texts,
        } = self.unread.failed;
        // Nodes that did not report their state or role are counted apart.
        let unread = self.unread.nodes.saturating_sub(elements);
        if self.unread.heavy {
            words.push(format!(
                "not read, as the app's text is too long: {}, not counting descendants",
                escape::count(unread, "element")
            ));
        } else if self.unread.cut {
            words.push(format!(
                "not read, as the app was still answering after {} s: {}, not counting descendants",
                engine::LONGEST.as_secs(),
                escape::count(unread, "element")
            ));
        } else if unread > 0 {
            words.push(format!(
                "not read within the time budget: {}, not counting descendants",
                escape::count(unread, "hidden element")
            ));
        }
        if self.unread.overfull {
            let most = engine::MOST_NODES;
            words.push(format!(
                "the app has more than {most} elements: the others were not read"
            ));
        }
        if self.crowded > 0 {
            let were = match self.crowded {
                1 => "1 child of a container",
                crowded => &format!("{crowded} children of containers"),
            };
            words.push(format!(
                "not read: {were} of more than {}; only visible ones were searched, by their \
                 positions",
                engine::LISTED
            ));
        }
        for (count, thing, what) in [
            (lists, "container", "whose children the app did not list"),
            (elements, "element", "gone or not described by the app"),
            (
                texts,
                "element",
                "whose name or text the app did not report",
            ),
            (
                self.silent,
                "embedded part",
                "whose process does not answer",
            ),
        ] {
            if count > 0 {
                words.push(format!("{} {what}", escape::count(count, thing)));
            }
        }
        let managed = |n: &&Node| n.showing && n.states.has(StateSet::MANAGES_DESCENDANTS);
        if nodes.iter().filter(managed).any(|n| !n.children_read) {
            words.push("not read: cells out of view, in tables that create cells on demand".into());
        }
        words
    }
}
