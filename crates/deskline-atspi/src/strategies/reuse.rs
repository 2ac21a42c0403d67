//! Reusing the last reading: in the second traversal of a link, and in the first one if the app
//! stayed subscribed since the link before.
//!
//! Visible nodes are always read again. A hidden subtree is taken from the last reading if three
//! things are true: no event has named one of its nodes since that reading began; it is still
//! hidden, with the same states; and its extents and its number of children are the same. So events
//! alone never decide, and an app that has moved its content is read again. If the app's cache was
//! fetched, it must agree about the role, name, description, states and children of each object in
//! the subtree. Editable nodes are always read, and so is the document of a frame.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use deskline_core::Rect;

use crate::bus::Result;
use crate::decode;
use crate::engine::{Engine, Node};
use crate::names::{StateSet, role};
use crate::request::Request;
use crate::toolkits::Prose;

/// A reading that is older is not reused. Toolkits omit some events, and a hidden node must not
/// stay wrong for ever.
const OLDEST: Duration = Duration::from_secs(60);

/// The event that a container's children have changed.
const CHILDREN_CHANGED: &str = "ChildrenChanged";

/// A large list as a reading left it.
#[derive(Debug, Default)]
pub(crate) struct KnownList {
    /// The reported number of children.
    pub count: i32,
    /// The requested children, by index. `None` if there was no child at the index, or if the child
    /// was in the tree already.
    pub children: BTreeMap<i32, Option<usize>>,
    /// The extents of the children that the search has probed.
    pub(super) probed: HashMap<i32, Rect>,
    /// Whether each child has a hyperlink; `None` until that is known.
    pub(super) linked: Option<bool>,
}

/// One reading of an app, and the objects that events have named since the reading began.
#[derive(Debug)]
pub(crate) struct LastReading {
    pub pid: u32,
    /// When the oldest part of the reading was read.
    pub since: Instant,
    nodes: Vec<Node>,
    /// The indexes of the hidden nodes, by their paths.
    hidden: HashMap<Arc<str>, usize>,
    /// The large lists, by their paths.
    lists: HashMap<Arc<str>, KnownList>,
    /// The paths of hidden objects that events named, and of large lists whose children have
    /// changed.
    pub(crate) dirty: HashSet<Arc<str>>,
    /// Whether the time budget kept the reading from going further.
    pub cut_short: bool,
    /// Whether the app has more nodes than one reading has time for: its reading is, or was,
    /// continued between links.
    pub outgrows_budget: bool,
}

impl LastReading {
    /// Keeps a reading whose oldest part was read at `since`.
    pub fn new(
        pid: u32,
        since: Instant,
        nodes: Vec<Node>,
        lists: HashMap<Arc<str>, KnownList>,
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
            outgrows_budget: cut_short,
        }
    }

    /// Lends the nodes and large lists to `read_on`, which puts them back.
    pub fn take(&mut self) -> (Vec<Node>, HashMap<Arc<str>, KnownList>) {
        self.hidden.clear();
        (
            std::mem::take(&mut self.nodes),
            std::mem::take(&mut self.lists),
        )
    }

    /// Takes the lent nodes and large lists back, with the nodes read since.
    pub fn put(&mut self, nodes: Vec<Node>, lists: HashMap<Arc<str>, KnownList>, cut_short: bool) {
        self.hidden = index_hidden(&nodes);
        self.nodes = nodes;
        self.lists = lists;
        self.cut_short = cut_short;
    }

    /// The children of those containers whose children were all read, by the containers' paths.
    pub(crate) fn children_of(
        &self,
        containers: &HashSet<Arc<str>>,
    ) -> HashMap<&str, Vec<&Arc<str>>> {
        let nodes = self.nodes.iter();
        let nodes = nodes.filter(|node| node.children_read && containers.contains(&node.path));
        let children = |node: &Node| -> Vec<&Arc<str>> {
            let all = node.children.iter();
            all.map(|child| &self.nodes[*child].path).collect()
        };
        nodes
            .map(|node| (node.path.as_ref(), children(node)))
            .collect()
    }

    /// Records an event: the path of its object, and its name.
    pub fn invalidate(&mut self, path: &str, event: &str) {
        // A visible node is read again anyway. The hidden children of a visible large list are not,
        // so this records that they have changed.
        let relists = event == CHILDREN_CHANGED && self.lists.contains_key(path);
        if relists || self.hidden.contains_key(path) {
            self.dirty.insert(path.into());
        }
    }

    /// The large list with that path, unless an event has named it.
    pub fn list(&self, path: &str) -> Option<&KnownList> {
        self.lists.get(path).filter(|_| !self.dirty.contains(path))
    }

    /// Whether a child of a large list is unchanged. It is the same object, and either still
    /// visible, or hidden with the same states. If there was no child, there still is none.
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

    /// Whether the reading is young enough for another link to reuse it.
    pub(crate) fn may_outlive_a_link(&self) -> bool {
        self.since.elapsed() < OLDEST
    }

    /// The number of nodes of the reading.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The node of that path, if its whole subtree was read, is hidden, not editable and not dirty,
    /// and each of its nodes is still the same, as far as `engine` knows.
    fn clean_subtree(&self, engine: &Engine<'_>, path: &str) -> Option<usize> {
        let top = *self.hidden.get(path)?;
        let mut todo = vec![top];
        while let Some(at) = todo.pop() {
            let node = &self.nodes[at];
            let plain = node.owner.is_none() && node.id.is_none();
            let whole = node.children_read || is_managed(node);
            let read = plain && whole && node.role.is_some();
            // Two kinds of hidden nodes change without an event. LibreOffice Calc reports its input
            // line, whose text changes, as hidden. Firefox loads the page of the next tab in a
            // hidden frame: that frame's document is listed each time, and may be reused after
            // that.
            let may_change = node.showing
                || node.states.has(StateSet::EDITABLE)
                || node.role == Some(role::INTERNAL_FRAME);
            if !read
                || may_change
                || self.dirty.contains(&node.path)
                || !self.is_confirmed(engine, node)
            {
                return None;
            }
            todo.extend(&node.children);
        }
        Some(top)
    }

    /// Whether the app's cache agrees with the node's facts. `true` if no cache was fetched.
    fn is_confirmed(&self, engine: &Engine<'_>, node: &Node) -> bool {
        if engine.known_counts().0 == 0 {
            return true;
        }
        let Some(now) = engine.known(&node.path) else {
            return false;
        };
        let children = || node.children.iter().map(|child| &self.nodes[*child].path);
        node.role == Some(now.role)
            && node.states == now.states
            && node.name == now.name
            && node.description == now.description
            && (is_managed(node) || now.children.as_ref().is_some_and(|now| children().eq(now)))
    }
}

/// The indexes of the app's own hidden nodes, by their paths.
fn index_hidden(nodes: &[Node]) -> HashMap<Arc<str>, usize> {
    let all = nodes.iter().enumerate();
    let hidden = all.filter(|(_, node)| !node.showing && node.owner.is_none());
    hidden.map(|(i, node)| (node.path.clone(), i)).collect()
}

/// Whether the node manages its descendants: the children of such a container are never listed.
pub(crate) fn is_managed(node: &Node) -> bool {
    node.states.has(StateSet::MANAGES_DESCENDANTS)
}

/// Takes nodes from the last reading where possible; returns the hidden nodes that must be read.
pub(crate) fn recall(
    engine: &mut Engine<'_>,
    last: Option<&LastReading>,
    hidden: Vec<usize>,
) -> Result<Vec<usize>> {
    let Some(last) = last else {
        return Ok(hidden);
    };
    let (mut same, mut unknown) = (Vec::new(), Vec::new());
    for node in hidden {
        let now = &engine.nodes[node];
        let then = last.clean_subtree(engine, &now.path);
        match then.filter(|&then| last.nodes[then].states == now.states) {
            Some(then) => same.push((node, then)),
            None => unknown.push(node),
        }
    }
    // The bulk cache, if it was fetched, has already confirmed the numbers of children.
    let counts = engine.known_counts().0 == 0;
    let mut requests: Vec<(Arc<str>, Request)> = Vec::new();
    for (node, _) in &same {
        let path = engine.nodes[*node].path.clone();
        if !engine.is_sizeless(*node) {
            requests.push((path.clone(), engine.toolkit.extents()));
        }
        if counts {
            requests.push((path, Request::ChildCount));
        }
    }
    // There are fewer replies than requests if the traversal is late.
    let mut replies = engine.ask_each(requests)?.into_iter();
    for (node, then) in same {
        let old = &last.nodes[then];
        let is_there = if engine.is_sizeless(node) {
            old.extents.is_none()
        } else {
            let extents = replies.next().flatten();
            extents.as_ref().and_then(decode::extents) == old.extents
        };
        let counted = !counts || {
            let count = replies.next().flatten();
            let count = count.as_ref().and_then(decode::number_property);
            count.is_some_and(|count| {
                is_managed(old) || usize::try_from(count) == Ok(old.children.len())
            })
        };
        if counted && is_there {
            take(engine, last, node, then);
        } else {
            unknown.push(node);
        }
    }
    Ok(unknown)
}

/// Copies a hidden child of a large list, with its subtree, into the arena, and returns its index
/// there. `None` if the child has to be read, because it is dirty or is elsewhere in the tree.
pub(crate) fn take_child(
    engine: &mut Engine<'_>,
    last: &LastReading,
    container: usize,
    then: usize,
) -> Option<usize> {
    let old = &last.nodes[then];
    last.clean_subtree(engine, &old.path)
        .filter(|clean| *clean == then)?;
    let node = engine.insert_read(copy(old, Some(container)))?;
    engine.reused += 1;
    take_below(engine, last, node, then);
    Some(node)
}

/// Copies the subtree `then` of the last reading into the arena, as `node`, which is the same
/// object.
fn take(engine: &mut Engine<'_>, last: &LastReading, node: usize, then: usize) {
    engine.nodes[node] = copy(&last.nodes[then], engine.nodes[node].parent);
    engine.reused += 1;
    take_below(engine, last, node, then);
}

fn take_below(engine: &mut Engine<'_>, last: &LastReading, node: usize, then: usize) {
    let mut todo = vec![(node, then)];
    while let Some((node, then)) = todo.pop() {
        for &child in &last.nodes[then].children {
            // An object that is in the tree already has moved there.
            if let Some(index) = engine.insert_read(copy(&last.nodes[child], Some(node))) {
                engine.reused += 1;
                todo.push((index, child));
            }
        }
    }
}

/// A copy of a node without its children, with `parent` as its parent.
pub(super) fn copy(node: &Node, parent: Option<usize>) -> Node {
    Node {
        parent,
        children: Vec::new(),
        path: node.path.clone(),
        owner: node.owner.clone(),
        id: node.id.clone(),
        name: node.name.clone(),
        description: node.description.clone(),
        label: node.label.clone(),
        labelled_by: String::new(),
        chosen: None,
        value: node.value.clone(),
        ..*node
    }
}

// Reads hidden nodes, level by level.

/// Reads the hidden nodes that were found and their descendants, a level at a time, until `until`.
/// Reuses the nodes that are still valid in `last`.
pub(crate) fn read_hidden(
    engine: &mut Engine<'_>,
    last: Option<&LastReading>,
    until: Instant,
) -> Result {
    let mut hidden = engine.take_hidden();
    while !hidden.is_empty() && Instant::now() < until {
        for node in recall(engine, last, hidden)? {
            engine.ask_facts(node);
        }
        engine.pump(Some(until))?;
        // If most elements have text, the texts get a share of the time, so that some of both are
        // read.
        if engine.toolkit.prose() == Prose::InParents {
            engine.details(0, Some(until))?;
        }
        hidden = engine.take_hidden();
    }
    engine.hidden.extend(hidden);
    Ok(())
}
