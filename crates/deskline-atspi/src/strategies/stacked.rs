//! Hides pages of a stack that were in front before.
//!
//! GTK 4 reports each page of a stack as visible, and a page that is no longer in front keeps its
//! size. The stack's page itself is an object without extents around its content. So if the
//! contents of several pages have a size, the app is asked for the element at the middle of the
//! stack.

use crate::bus::Error;
use crate::decode;
use crate::engine::{Engine, Node};
use crate::request::Request;

/// Marks the pages that are not in front as hidden, with all their descendants.
pub fn hide(engine: &mut Engine<'_>) -> Result<(), Error> {
    if !engine.toolkit.hides_by_size() {
        return Ok(());
    }
    for stack in 0..engine.nodes.len() {
        let pages = pages(engine, stack);
        let Some(extents) = engine.nodes[stack].extents.filter(|_| pages.len() > 1) else {
            continue;
        };
        let (x, y) = (extents.x + extents.w / 2, extents.y + extents.h / 2);
        let path = engine.nodes[stack].path.clone();
        let reply = engine.try_ask(&path, Request::AtPointInWindow(x, y))?;
        let Some(at) = reply.as_ref().and_then(decode::object) else {
            continue;
        };
        let subtrees: Vec<Vec<usize>> = pages.iter().map(|p| subtree(&engine.nodes, *p)).collect();
        let has_it = |all: &Vec<usize>| all.iter().any(|node| engine.nodes[*node].path == at);
        let Some(front) = subtrees.iter().position(has_it) else {
            continue;
        };
        for (page, nodes) in subtrees.iter().enumerate() {
            for node in nodes.iter().filter(|_| page != front) {
                engine.nodes[*node].hide();
            }
        }
    }
    Ok(())
}

/// The pages of a stack that may be visible.
fn pages(engine: &Engine<'_>, stack: usize) -> Vec<usize> {
    let nodes = &engine.nodes;
    let has_size = |node: &usize| {
        let node = &nodes[*node];
        node.showing && node.extents.is_some_and(|extents| !extents.is_empty())
    };
    let is_page = |page: &usize| {
        let page = &nodes[*page];
        page.showing && page.extents.is_none() && page.children.iter().any(has_size)
    };
    if !has_size(&stack) {
        return vec![];
    }
    nodes[stack]
        .children
        .iter()
        .copied()
        .filter(is_page)
        .collect()
}

/// A node and all its descendants.
pub(super) fn subtree(nodes: &[Node], top: usize) -> Vec<usize> {
    let mut all = vec![top];
    let mut next = 0;
    while let Some(node) = all.get(next).copied() {
        all.extend(&nodes[node].children);
        next += 1;
    }
    all
}
