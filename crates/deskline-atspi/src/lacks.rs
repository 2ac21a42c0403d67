//! What a tree lacks, in the words of its `# partial:` headers.

use deskline_core::escape;

use super::names::StateSet;
use super::walk::{self, Failed, Node, Walk};

/// What a reading did not get.
#[derive(Debug, Default)]
pub struct Lacks {
    /// Elements that were found and not read.
    pub unread: usize,
    /// Whether the reading was given up, as it took too long.
    pub cut: bool,
    /// Whether there are more elements than are read of any app.
    pub overfull: bool,
    /// Children of large containers that were not read.
    pub crowded: usize,
    /// What was answered with an error.
    pub failed: Failed,
    /// Embedded parts whose processes do not answer.
    pub silent: usize,
}

impl Lacks {
    /// Adds what the walk of an embedded part lacks.
    pub fn add(&mut self, walk: &Walk<'_>) {
        self.unread += walk.unread;
        self.cut |= walk.cut;
        self.overfull |= walk.overfull;
        self.failed.lists += walk.failed.lists;
        self.failed.elements += walk.failed.elements;
        self.failed.texts += walk.failed.texts;
    }

    /// A line for each thing that the tree of these nodes lacks.
    pub fn words(&self, nodes: &[Node]) -> Vec<String> {
        let mut words = Vec::new();
        let Failed {
            lists,
            elements,
            texts,
        } = self.failed;
        // What did not say its state or role is among those that were not read.
        let unread = self.unread.saturating_sub(elements);
        if self.cut {
            words.push(format!(
                "the app is too busy: after {} s of answers {} and what is below were not read",
                walk::LONGEST.as_secs(),
                escape::count(unread, "element")
            ));
        } else if unread > 0 {
            words.push(match unread {
                1 => "1 element that does not show, and what is in it, was not read within the time budget".into(),
                _ => format!(
                    "{unread} elements that do not show, and what is in them, were not read within the time budget"
                ),
            });
        }
        if self.overfull {
            words.push(format!(
                "the app has more than {} elements: the others were not read",
                walk::MOST_NODES
            ));
        }
        if self.crowded > 0 {
            let were = match self.crowded {
                1 => "1 child of a container",
                crowded => &format!("{crowded} children of containers"),
            };
            words.push(format!(
                "not read: {were} of more than {}; those that show were searched for by their places",
                walk::LISTED
            ));
        }
        for (count, thing, what) in [
            (lists, "container", "whose children the app did not list"),
            (elements, "element", "gone or not described by the app"),
            (
                texts,
                "element",
                "without its name or text, which the app did not tell",
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
            words.push(
                "of tables that manage their own cells only the visible cells were read".into(),
            );
        }
        words
    }
}
