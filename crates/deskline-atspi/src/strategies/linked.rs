//! Finds children by their hyperlinks.
//!
//! A container with text has a hyperlink for each child that is embedded in it. If the container
//! has no text of its own between the children, the n-th hyperlink belongs to the n-th child.

use std::sync::Arc;

use crate::bus::{Message, Result};
use crate::decode;
use crate::engine::Engine;
use crate::request::Request;

/// Whether each of a container's `count` children has a hyperlink. Checks the number of hyperlinks,
/// and the last child.
pub fn has_all(engine: &mut Engine<'_>, container: &str, count: i32) -> Result<bool> {
    if !engine.toolkit.links_its_children() {
        return Ok(false);
    }
    let links = engine.try_ask(container, Request::LinkCount)?;
    if links.and_then(|links| links.reader().i32().ok()) != Some(count) {
        return Ok(false);
    }
    let last = count - 1;
    let by_link = children(engine, container, [last])?.pop().flatten();
    let by_index = engine.try_ask(container, Request::ChildAt(last))?;
    let [by_link, by_index] = [by_link, by_index].map(|child| decode::object(&child?));
    Ok(by_link.is_some() && by_link == by_index)
}

/// Requests the children with these indexes. The replies are like those of [`Request::ChildAt`].
pub fn children(
    engine: &mut Engine<'_>,
    container: &str,
    indexes: impl IntoIterator<Item = i32>,
) -> Result<Vec<Option<Message>>> {
    let requests = indexes.into_iter().map(Request::LinkAt);
    let links = engine.ask_all(container, requests)?;
    let paths: Vec<Option<Arc<str>>> = links
        .iter()
        .map(|link| decode::object(link.as_ref()?))
        .collect();
    let found = paths.iter().flatten();
    let requests = found.map(|path| (path.clone(), Request::Linked));
    let mut objects = engine.ask_each(requests)?.into_iter();
    let replies = paths.iter().map(|path| {
        path.as_ref()?;
        objects.next().flatten()
    });
    Ok(replies.collect())
}
