//! Hides pages of a stack that are no longer in front.
//!
//! GTK 4 reports each page of a stack as visible, and a page that is no longer in front keeps its
//! size. The page is an object without extents, around its content. If the contents of several
//! pages have a size, the page in front is the one that a selected tab or row controls. If none is
//! controlled, the app is asked for the element at the middle of the stack. While a stack fades to
//! another page, for 200 ms, that element is in the page that lies on top.

use std::sync::Arc;

use crate::bus::{Message, Result};
use crate::decode;
use crate::engine::{Engine, Node};
use crate::names::{CONTROLLER_FOR, StateSet};
use crate::request::Request;

/// The maximum number of selected elements that are asked which page they control.
const MOST: usize = 100;

/// Marks the pages that are not in front as hidden, with all their descendants. Returns whether a
/// stack may have been read before it had finished fading to another page.
pub fn hide(engine: &mut Engine<'_>) -> Result<bool> {
    let mut may_fade = false;
    let mut chosen: Option<Vec<Arc<str>>> = None;
    for stack in 0..engine.nodes.len() {
        let pages = pages(engine, stack);
        let Some(extents) = engine.nodes[stack].extents.filter(|_| pages.len() > 1) else {
            continue;
        };
        let chosen = match &chosen {
            Some(chosen) => chosen,
            None => chosen.insert(controlled(engine)?),
        };
        let subtrees: Vec<Vec<usize>> = pages.iter().map(|p| subtree(&engine.nodes, *p)).collect();
        let is_chosen = |page: &usize| chosen.contains(&engine.nodes[*page].path);
        let front = if let Some(front) = pages.iter().position(is_chosen) {
            Some(front)
        } else {
            may_fade = true;
            let at = engine.in_middle(stack, extents)?;
            let is_there = |node: &usize| Some(&engine.nodes[*node].path) == at.as_ref();
            subtrees.iter().position(|all| all.iter().any(is_there))
        };
        let Some(front) = front else {
            continue;
        };
        for (page, nodes) in subtrees.iter().enumerate() {
            for node in nodes.iter().filter(|_| page != front) {
                engine.nodes[*node].hide();
            }
        }
    }
    Ok(may_fade)
}

/// The paths of the objects that the selected elements control.
fn controlled(engine: &mut Engine<'_>) -> Result<Vec<Arc<str>>> {
    let selected = |node: &&Node| node.showing && node.states.has(StateSet::SELECTED);
    let asked = engine.nodes.iter().filter(selected).take(MOST);
    let asked: Vec<_> = asked
        .map(|node| (node.path.clone(), Request::Relations))
        .collect();
    let replies = engine.ask_each(asked)?;
    let page = |reply: Option<Message>| {
        let controls = decode::relation(&mut reply?.reader(), CONTROLLER_FOR);
        Some(controls.ok()??.into())
    };
    Ok(replies.into_iter().filter_map(page).collect())
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
    let children = nodes[stack].children.iter().copied();
    children.filter(is_page).collect()
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
