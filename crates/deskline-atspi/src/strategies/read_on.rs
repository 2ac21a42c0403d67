//! Between links: reads the nodes that the last reading had no time for, so that the next reading
//! has them.
//!
//! A batch is small, because a call may be waiting for it. It adds to the nodes of the last
//! reading. Visible nodes, and nodes that events have invalidated, are left to the next reading.

use std::collections::HashMap;

use super::large_list::LargeLists;
use super::reuse::{LastReading, is_managed};
use crate::bus::Result;
use crate::engine::{Engine, Node};
use crate::request::Request;

/// How many nodes are read in one batch: about 40 ms in Chromium.
const BATCH: usize = 300;

/// Reads another batch. Returns whether there is more to read.
pub(crate) fn read_on(engine: &mut Engine<'_>, last: &mut LastReading) -> Result<bool> {
    let (nodes, known) = last.take();
    let before = Extent::new(&nodes);
    engine.resume(nodes);
    // In a list whose children have changed, an index stands for another child. So such lists are
    // left out.
    let (mut lists, mut others) = (Vec::new(), HashMap::new());
    let paths = engine.nodes.iter().enumerate();
    let at: HashMap<&str, usize> = paths.map(|(i, node)| (node.path.as_ref(), i)).collect();
    for (path, list) in known {
        match at.get(&*path).filter(|_| !last.dirty.contains(&path)) {
            Some(&node) => lists.push((node, list)),
            None => drop(others.insert(path, list)),
        }
    }
    let listed = |index: usize, node: &Node| {
        lists.iter().any(|(list, _)| *list == index) || others.contains_key(&node.path)
    };
    let mut unread = Vec::new();
    let mut complete = Vec::new();
    for (index, node) in engine.nodes.iter().enumerate().skip(1) {
        let whole = node.role.is_some() && node.children_read || is_managed(node);
        if whole || node.showing || node.owner.is_some() || listed(index, node) {
            continue;
        }
        // If the role and some children are known, only children can be missing. So the node counts
        // as complete, and `count_unread` takes that back if one of its children is not read.
        if node.role.is_some() && !node.children.is_empty() {
            complete.push(index);
        } else if unread.len() < BATCH {
            unread.push(index);
        }
    }
    for index in complete {
        engine.nodes[index].children_read = true;
    }
    let mut lists = LargeLists::resume(lists);
    if unread.len() < BATCH {
        lists.find_more(engine)?;
    }
    for index in unread {
        if engine.nodes[index].role.is_none() {
            engine.queue.push_back((index, Request::State));
        } else {
            engine.nodes[index].children_read = true;
            engine.ask_facts(index);
        }
    }
    engine.pump(None)?;
    // This batch only finds the children of these nodes. A later one reads them.
    for node in engine.take_hidden().into_iter().take(BATCH) {
        engine.ask_facts(node);
    }
    engine.pump(None)?;
    let fresh = engine.nodes.iter().enumerate();
    let fresh = fresh.filter(|(_, node)| node.role.is_some() && !node.detailed);
    let fresh: Vec<usize> = fresh.map(|(index, _)| index).collect();
    engine.details(0, None)?;
    // If requests were dropped, it is unknown what these nodes lack. They are read again later.
    if engine.unread.cut {
        for index in fresh {
            let node = &mut engine.nodes[index];
            (node.role, node.detailed) = (None, false);
        }
    }
    // The next reading reads embedded objects, together with their containers.
    for (container, ..) in std::mem::take(&mut engine.foreign) {
        engine.nodes[container].children_read = false;
    }
    let (crowded, mut lists) = lists.finish(engine);
    lists.extend(others);
    engine.count_unread();
    let whole = crowded == 0 && engine.unread.nodes == 0;
    let further = Extent::new(&engine.nodes) != before;
    let more = !whole && further;
    last.put(std::mem::take(&mut engine.nodes), lists, more);
    Ok(more)
}

/// The progress of a reading: the numbers of objects found and of objects read.
#[derive(PartialEq)]
struct Extent(usize, usize);

impl Extent {
    fn new(nodes: &[Node]) -> Self {
        let read = nodes.iter().filter(|node| node.role.is_some());
        Self(nodes.len(), read.count())
    }
}
