//! The bulk answer: `Cache.GetItems`, everything an app has in its accessibility cache, in one call.
//!
//! It may lack objects and list orphans, so it only saves calls: what is in the tree is still
//! decided by walking from the root.

use std::collections::HashMap;

use crate::bus::{Message, WireError};

use super::names::StateSet;
use super::walk::read_states;

/// What the cache says of one object.
#[derive(Debug)]
pub struct Item {
    pub role: u32,
    pub name: String,
    pub description: String,
    pub states: StateSet,
    /// The paths of its children, in order; `None` where the cache does not list them all.
    pub children: Option<Vec<String>>,
}

/// Reads the answer: path → what the cache says of it. Objects of other bus names are left out.
pub fn read(message: &Message, bus_name: &str) -> Result<HashMap<String, Item>, WireError> {
    // at-spi2-core before 2.40 and old Qt listed the children themselves.
    let lists_children = match message.signature.as_str() {
        "a((so)(so)(so)iiassusau)" => false,
        "a((so)(so)(so)a(so)assusau)" => true,
        _ => return Err(WireError),
    };
    let mut items = HashMap::new();
    let mut counts: Vec<(String, usize)> = Vec::new();
    let mut below: HashMap<String, Vec<(i32, String)>> = HashMap::new();
    message.reader().array(8, |r| {
        r.align(8)?;
        let (owner, path) = r.object()?;
        r.object()?; // the application
        let (_, parent) = r.object()?;
        let mut children = None;
        if lists_children {
            let all = r.array(8, |r| r.object().map(|(_, path)| path.to_owned()))?;
            children = Some(all);
        } else {
            let index = r.i32()?;
            let count = r.i32()?;
            // A negative count is the toolkit's "I do not say".
            counts.push((
                path.to_owned(),
                usize::try_from(count).unwrap_or(usize::MAX),
            ));
            below
                .entry(parent.to_owned())
                .or_default()
                .push((index, path.to_owned()));
        }
        r.array(4, |r| r.str().map(drop))?; // interfaces
        let item = Item {
            name: r.str()?.to_owned(),
            role: r.u32()?,
            description: r.str()?.to_owned(),
            states: read_states(r)?,
            children,
        };
        if owner == bus_name {
            items.insert(path.to_owned(), item);
        }
        Ok(())
    })?;
    for (path, count) in counts {
        let mut children = below.remove(&path).unwrap_or_default();
        // The index of each child must be its own: a cache that disagrees with itself is not used.
        children.sort_by_key(|(index, _)| *index);
        let in_order = children
            .iter()
            .enumerate()
            .all(|(i, (index, _))| *index == i as i32);
        if children.len() == count
            && in_order
            && let Some(item) = items.get_mut(&path)
        {
            item.children = Some(children.into_iter().map(|(_, path)| path).collect());
        }
    }
    Ok(items)
}
