//! The bulk cache: `Cache.GetItems`, everything an app has in its accessibility cache, in one call.
//!
//! It may lack objects and list orphans, so it only saves calls: what is in the tree is still
//! decided by walking from the root.

use std::collections::HashMap;

use crate::bus::{Error, Message, WireError};
use crate::decode;
use crate::engine::{Engine, Known};
use crate::request::Request;
use crate::toolkits::CacheUse;

/// After how many readings a cache that lacked much is tried again: GTK 3 fills its cache some time
/// after it has started.
const LATER: u32 = 16;

/// Whether an app's cache is worth fetching.
#[derive(Debug)]
pub struct BulkCache {
    rule: CacheUse,
    /// How many readings do without it.
    skip: u32,
}

impl BulkCache {
    /// Of an app of that toolkit.
    pub fn new(rule: CacheUse) -> Self {
        Self { rule, skip: 0 }
    }

    /// Whether it is to be fetched at this reading.
    pub fn is_due(&mut self) -> bool {
        let due = self.rule != CacheUse::Never && self.skip == 0;
        self.skip = self.skip.saturating_sub(1);
        due
    }

    /// Notes whether it was worth fetching.
    pub fn judge(&mut self, worth: bool) {
        let worth = worth || self.rule == CacheUse::Always;
        self.skip = if worth { 0 } else { LATER };
    }
}

/// Fetches the app's cache, so that most requests need not be made.
pub fn fetch(engine: &mut Engine<'_>) -> Result<(), Error> {
    match engine.ask(Request::ITEMS_PATH, Request::Items) {
        Ok(message) => {
            let known = read(&message, engine.bus_name()).unwrap_or_default();
            engine.learn(known);
            Ok(())
        }
        Err(Error::Remote { .. }) => Ok(()),
        Err(e) => Err(e),
    }
}

/// Whether the cache had most of the nodes that were read.
pub fn is_complete(engine: &Engine<'_>) -> bool {
    let (_, known, unknown) = engine.known_counts();
    3 * unknown <= known
}

/// Whether the cache has much that is not in the tree, once all of the tree was read.
pub fn has_orphans(engine: &Engine<'_>) -> bool {
    const FEW: usize = 1_000;
    let (known, ..) = engine.known_counts();
    known > 2 * engine.nodes.len() + FEW
}

/// Decodes the reply: path → what the cache says of it. Objects of other bus names are left out.
fn read(message: &Message, bus_name: &str) -> Result<HashMap<String, Known>, WireError> {
    // at-spi2-core before 2.40 and old Qt listed the children themselves.
    let lists_children = match message.signature.as_str() {
        "a((so)(so)(so)iiassusau)" => false,
        "a((so)(so)(so)a(so)assusau)" => true,
        _ => return Err(WireError),
    };
    let mut known = HashMap::new();
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
        let item = Known {
            name: r.str()?.to_owned(),
            role: r.u32()?,
            description: r.str()?.to_owned(),
            states: decode::states(r)?,
            children,
        };
        if owner == bus_name {
            known.insert(path.to_owned(), item);
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
            && let Some(object) = known.get_mut(&path)
        {
            object.children = Some(children.into_iter().map(|(_, path)| path).collect());
        }
    }
    Ok(known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cache_that_was_not_worth_it_is_fetched_again_later() {
        let mut cache = BulkCache::new(CacheUse::WhileComplete);
        let fetched = |cache: &mut BulkCache| (0..40).filter(|_| cache.is_due()).count();
        assert_eq!(fetched(&mut cache), 40);
        cache.judge(false);
        assert!(!cache.is_due());
        let again = (0..40).position(|_| cache.is_due());
        assert_eq!(again, Some(15));
        cache.judge(true);
        assert_eq!(fetched(&mut cache), 40);
        let mut never = BulkCache::new(CacheUse::Never);
        never.judge(true);
        assert_eq!(fetched(&mut never), 0);
        let mut always = BulkCache::new(CacheUse::Always);
        always.judge(false);
        assert_eq!(fetched(&mut always), 40);
    }
}
