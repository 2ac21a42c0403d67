//! What a tree lacks, in the words of its `# partial:` headers.

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
                "the app is too busy: after {} s of answers {unread} elements and what is in them were not read",
                walk::LONGEST.as_secs()
            ));
        } else if unread > 0 {
            words.push(format!(
                "{unread} elements that do not show, and what is in them, were not read within the time budget"
            ));
        }
        if self.overfull {
            words.push(format!(
                "the app has more than {} elements: the others were not read",
                walk::MOST_NODES
            ));
        }
        if self.crowded > 0 {
            words.push(format!(
                "{} children of containers of more than {} were not read: those that show were searched for by their places",
                self.crowded,
                walk::LISTED
            ));
        }
        for (count, what) in [
            (lists, "containers whose children the app did not list"),
            (
                elements,
                "elements that the app would not describe, or that have gone",
            ),
            (
                texts,
                "elements without their name or text, which the app did not tell",
            ),
            (self.silent, "embedded parts whose process does not answer"),
        ] {
            if count > 0 {
                words.push(format!("{count} {what}"));
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
