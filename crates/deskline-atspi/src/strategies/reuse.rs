//! Reusing the last reading: in the second traversal of a link, and in the first if the app stayed
//! subscribed since the link before.
//!
//! What shows is always read again. A hidden subtree is taken from the last reading where three
//! things agree: no event came for anything in it since that reading began; it is still hidden, with
//! the same states; and its extents and number of children are the same. So an event is never the
//! only evidence, and an app that has moved its content is read again.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use std::time::{Duration, Instant};

use super::large_list::KnownList;
use crate::bus::Error;
use crate::decode;
use crate::engine::{Engine, Node};
use crate::names::StateSet;
use crate::request::Request;

/// An older reading is not carried over to another link: toolkits forget some events, and what is
/// hidden must not stay wrong.
const OLDEST: Duration = Duration::from_secs(60);

/// A larger reading is not kept between links: a node takes about 400 bytes.
const MOST_KEPT: usize = 50_000;

/// The event of a container that has other children than before.
const CHILDREN_CHANGED: &str = "ChildrenChanged";

/// One reading of an app, and the objects that events came for since that began.
#[derive(Debug)]
pub struct LastReading {
    pub pid: u32,
    /// When the oldest part was read.
    pub since: Instant,
    nodes: Vec<Node>,
    /// The indexes of the hidden nodes, by their paths.
    hidden: HashMap<String, usize>,
    /// The large lists, by their paths.
    lists: HashMap<String, KnownList>,
    /// The paths of the hidden objects that events came for, and of the large lists whose children
    /// have changed.
    dirty: HashSet<String>,
    /// Whether the time budget kept it from reading more.
    pub cut_short: bool,
}

impl LastReading {
    /// Keeps a reading whose oldest part is from `since`.
    pub fn of(
        pid: u32,
        since: Instant,
        nodes: Vec<Node>,
        lists: HashMap<String, KnownList>,
        cut_short: bool,
    ) -> Self {
        Self {
            pid,
            since,
            hidden: index_hidden(&nodes),
            nodes,
            lists,
            dirty: HashSet::new(),
            cut_short,
        }
    }

    /// Lends its nodes and large lists to what reads on, which puts them back.
    pub fn take(&mut self) -> (Vec<Node>, HashMap<String, KnownList>) {
        self.hidden.clear();
        (
            std::mem::take(&mut self.nodes),
            std::mem::take(&mut self.lists),
        )
    }

    /// Puts them back, with what was read on.
    pub fn put(&mut self, nodes: Vec<Node>, lists: HashMap<String, KnownList>, cut_short: bool) {
        self.hidden = index_hidden(&nodes);
        self.nodes = nodes;
        self.lists = lists;
        self.cut_short = cut_short;
    }

    /// Whether an event came for the object of that path.
    pub fn is_dirty(&self, path: &str) -> bool {
        self.dirty.contains(path)
    }

    /// Notes the objects that events have come for: the path and the name of each event.
    pub fn invalidate(&mut self, events: impl Iterator<Item = (String, String)>) {
        let Self {
            hidden,
            lists,
            dirty,
            ..
        } = self;
        // What showed is read again in any case; of a large list that shows, all but its hidden children.
        let concerns = |(path, event): &(String, String)| {
            let relists = event == CHILDREN_CHANGED && lists.contains_key(path);
            relists || hidden.contains_key(path)
        };
        dirty.extend(events.filter(concerns).map(|(path, _)| path));
    }

    /// The large list of that path, unless an event came for it.
    pub fn list(&self, path: &str) -> Option<&KnownList> {
        self.lists.get(path).filter(|_| !self.dirty.contains(path))
    }

    /// Whether a child of a large list is the same now as then: the same object or none, hidden in the
    /// same way if it was hidden.
    pub fn is_same(&self, then: Option<&usize>, now: Option<&Node>) -> bool {
        match (then.map(|then| &self.nodes[*then]), now) {
            (None, None) => true,
            (Some(then), Some(now)) => {
                let hidden = !then.showing && !now.showing && then.states == now.states;
                then.path == now.path && (hidden || then.showing && now.showing)
            }
            _ => false,
        }
    }

    /// Whether another link may reuse it.
    pub fn may_outlive_a_link(&self) -> bool {
        self.since.elapsed() < OLDEST && self.nodes.len() <= MOST_KEPT
    }

    /// The node of that path, if its whole subtree was read and is not dirty.
    fn clean_subtree(&self, path: &str) -> Option<usize> {
        let top = *self.hidden.get(path)?;
        let mut todo = vec![top];
        while let Some(at) = todo.pop() {
            let node = &self.nodes[at];
            let plain = node.owner.is_none() && node.id.is_none();
            let whole = node.children_read || is_managed(node);
            if !plain || !whole || node.role.is_none() || self.dirty.contains(&node.path) {
                return None;
            }
            todo.extend(&node.children);
        }
        Some(top)
    }
}

/// The indexes of the app's own hidden nodes, by their paths.
fn index_hidden(nodes: &[Node]) -> HashMap<String, usize> {
    let all = nodes.iter().enumerate();
    let hidden = all.filter(|(_, node)| !node.showing && node.owner.is_none());
    hidden.map(|(i, node)| (node.path.clone(), i)).collect()
}

/// The children of a container that manages its descendants are never listed.
pub fn is_managed(node: &Node) -> bool {
    node.states.has(StateSet::MANAGES_DESCENDANTS)
}

/// Takes from the last reading what can be; gives the hidden nodes that are to be read.
pub fn recall(
    engine: &mut Engine<'_>,
    last: Option<&LastReading>,
    hidden: Vec<usize>,
) -> Result<Vec<usize>, Error> {
    let Some(last) = last else {
        return Ok(hidden);
    };
    let (mut same, mut unknown) = (Vec::new(), Vec::new());
    for node in hidden {
        let now = &engine.nodes[node];
        let then = last.clean_subtree(&now.path);
        match then.filter(|&then| last.nodes[then].states == now.states) {
            Some(then) => same.push((node, then)),
            None => unknown.push(node),
        }
    }
    let extents = engine.toolkit.extents();
    let requests: Vec<(Rc<str>, Request)> = same
        .iter()
        .map(|(node, _)| Rc::<str>::from(engine.nodes[*node].path.as_str()))
        .flat_map(|path| [(path.clone(), extents), (path, Request::ChildCount)])
        .collect();
    // Fewer where the traversal is late.
    let mut replies = engine.ask_each(requests)?.into_iter();
    for (node, then) in same {
        let old = &last.nodes[then];
        let extents = replies.next().flatten();
        let count = replies.next().flatten();
        let count = count.as_ref().and_then(decode::number_property);
        let counted = count.is_some_and(|count| {
            is_managed(old) || usize::try_from(count) == Ok(old.children.len())
        });
        if counted && extents.as_ref().and_then(decode::extents) == old.extents {
            take(engine, last, node, then);
        } else {
            unknown.push(node);
        }
    }
    Ok(unknown)
}

/// Copies a hidden child of a large list, with its subtree, into the arena; gives its index there.
/// `None` if it has to be read: it is dirty, or has moved to where it is in the tree already.
pub fn take_child(
    engine: &mut Engine<'_>,
    last: &LastReading,
    container: usize,
    then: usize,
) -> Option<usize> {
    let old = &last.nodes[then];
    last.clean_subtree(&old.path)
        .filter(|clean| *clean == then)?;
    let node = engine.insert_read(copy(old, Some(container)))?;
    take_below(engine, last, node, then);
    Some(node)
}

/// Copies a subtree of the last reading into the arena: `then`, whose object is `node` now.
fn take(engine: &mut Engine<'_>, last: &LastReading, node: usize, then: usize) {
    engine.nodes[node] = copy(&last.nodes[then], engine.nodes[node].parent);
    take_below(engine, last, node, then);
}

fn take_below(engine: &mut Engine<'_>, last: &LastReading, node: usize, then: usize) {
    let mut todo = vec![(node, then)];
    while let Some((node, then)) = todo.pop() {
        for &child in &last.nodes[then].children {
            // An object that is in the tree already has moved there.
            if let Some(index) = engine.insert_read(copy(&last.nodes[child], Some(node))) {
                todo.push((index, child));
            }
        }
    }
}

/// A node without its children, in that container.
fn copy(node: &Node, parent: Option<usize>) -> Node {
    Node {
        parent,
        children: Vec::new(),
        path: node.path.clone(),
        owner: None,
        id: None,
        name: node.name.clone(),
        description: node.description.clone(),
        label: node.label.clone(),
        labelled_by: String::new(),
        value: node.value.clone(),
        ..*node
    }
}
