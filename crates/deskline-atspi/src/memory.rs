//! What was read before, for the second traversal of a link.
//!
//! What shows is always read anew. Of what does not show, a part is taken from the reading before
//! where three things agree: no event told of anything in it since that reading began; it still
//! does not show, with the same states; and it has its place, size and number of children. So an
//! event alone is never the evidence, and an app that has moved its content is read again.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use crate::bus::Error;

use super::cells;
use super::names::StateSet;
use super::peer::Question;
use super::walk::{Node, Walk};

/// One reading of an app, and what the app has told of since that began.
#[derive(Debug)]
pub struct Memory {
    pub pid: u32,
    nodes: Vec<Node>,
    /// Where the hidden nodes are, by their paths.
    hidden: HashMap<String, usize>,
    /// The paths of the objects of which events came.
    told: HashSet<String>,
}

impl Memory {
    /// Remembers a reading.
    pub fn of(pid: u32, nodes: Vec<Node>) -> Self {
        let all = nodes.iter().enumerate();
        let hidden = all.filter(|(_, node)| !node.showing && node.owner.is_none());
        let hidden = hidden.map(|(i, node)| (node.path.clone(), i)).collect();
        Self {
            pid,
            nodes,
            hidden,
            told: HashSet::new(),
        }
    }

    /// Takes note of objects of which events have come.
    pub fn hear(&mut self, paths: impl Iterator<Item = String>) {
        self.told.extend(paths);
    }

    /// The node that was there, if it and all that was in it was read and is not told of.
    fn part(&self, path: &str) -> Option<usize> {
        let top = *self.hidden.get(path)?;
        let mut todo = vec![top];
        while let Some(at) = todo.pop() {
            let node = &self.nodes[at];
            let plain = node.owner.is_none() && node.place.is_none();
            let whole = node.children_read || is_managed(node);
            if !plain || !whole || node.role.is_none() || self.told.contains(&node.path) {
                return None;
            }
            todo.extend(&node.children);
        }
        Some(top)
    }
}

/// Tables that make their cells as they are asked are never asked for them.
fn is_managed(node: &Node) -> bool {
    node.states.has(StateSet::MANAGES_DESCENDANTS)
}

/// Takes from memory what can be; gives the hidden nodes that are to be read.
pub fn recall(walk: &mut Walk<'_>, hidden: Vec<usize>) -> Result<Vec<usize>, Error> {
    let Some(memory) = walk.memory else {
        return Ok(hidden);
    };
    let (mut known, mut unknown) = (Vec::new(), Vec::new());
    for node in hidden {
        let now = &walk.nodes[node];
        let then = memory.part(&now.path);
        match then.filter(|&then| memory.nodes[then].states == now.states) {
            Some(then) => known.push((node, then)),
            None => unknown.push(node),
        }
    }
    let extents = walk.extents;
    let questions: Vec<(Rc<str>, Question)> = known
        .iter()
        .map(|(node, _)| Rc::<str>::from(walk.nodes[*node].path.as_str()))
        .flat_map(|path| [(path.clone(), extents), (path, Question::ChildCount)])
        .collect();
    let answers = walk.ask_each(questions)?;
    // Fewer where the reading has become too long.
    let mut answers = answers.into_iter();
    for (node, then) in known {
        let old = &memory.nodes[then];
        let at = answers.next().flatten();
        let at = at.and_then(|m| cells::read_extents(&m));
        let count = answers.next().flatten();
        let count = count.and_then(|m| m.reader().variant_i32().ok());
        let counted = count.is_some_and(|count| {
            is_managed(old) || usize::try_from(count) == Ok(old.children.len())
        });
        if counted && at == old.extents {
            take(walk, memory, node, then);
        } else {
            unknown.push(node);
        }
    }
    Ok(unknown)
}

/// Puts what was in a node then into the tree as it is now.
fn take(walk: &mut Walk<'_>, memory: &Memory, node: usize, then: usize) {
    let mut todo = vec![(node, then)];
    while let Some((node, then)) = todo.pop() {
        let old = &memory.nodes[then];
        walk.nodes[node] = Node {
            parent: walk.nodes[node].parent,
            children: vec![],
            path: old.path.clone(),
            owner: None,
            place: None,
            name: old.name.clone(),
            description: old.description.clone(),
            label: old.label.clone(),
            value: old.value.clone(),
            ..*old
        };
        for &child in &old.children {
            // What is in the tree already has moved there.
            if walk.seen.insert(memory.nodes[child].path.clone()) {
                let index = walk.nodes.len();
                walk.nodes.push(Node {
                    parent: Some(node),
                    ..Node::default()
                });
                walk.nodes[node].children.push(index);
                todo.push((index, child));
            }
        }
    }
}
