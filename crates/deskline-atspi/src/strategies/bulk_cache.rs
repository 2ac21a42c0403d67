//! The bulk cache: `Cache.GetItems` returns, in one call, all that an app has in its accessibility
//! cache.
//!
//! The cache may lack objects and list orphans, so it only saves calls: walking from the root
//! decides which objects are in the tree.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::bus::{Error, Message, Result, WireError};
use crate::decode::{self, kept};
use crate::engine::{Engine, Known};
use crate::request::Request;
use crate::strategies::reuse::LastReading;
use crate::toolkits::CacheUse;

/// A cache that was not worth fetching is fetched again after this many readings, because GTK 3
/// fills its cache some time after its start. The number doubles each time, up to `MOST_LATER`.
const LATER: u32 = 16;
const MOST_LATER: u32 = 256;

/// Decides at which readings an app's cache is fetched.
#[derive(Debug)]
pub(crate) struct BulkCache {
    rule: CacheUse,
    /// How many more readings skip the cache. `later`: how many will skip it after the next fetch
    /// that is not worth it.
    skip: u32,
    later: u32,
}

impl BulkCache {
    /// The cache of an app with this rule.
    pub fn new(rule: CacheUse) -> Self {
        Self {
            rule,
            skip: 0,
            later: LATER,
        }
    }

    /// Whether to fetch the cache at this reading.
    pub(crate) fn is_due(&mut self) -> bool {
        let due = self.rule != CacheUse::Never && self.skip == 0;
        self.skip = self.skip.saturating_sub(1);
        due
    }

    /// Records whether the cache was worth fetching.
    pub fn judge(&mut self, worth: bool) {
        if worth || self.rule == CacheUse::Always {
            self.later = LATER;
        } else {
            self.skip = self.later;
            self.later = MOST_LATER.min(2 * self.later);
        }
    }
}

/// Fetches the app's cache, so that most requests need not be made.
pub fn fetch(engine: &mut Engine<'_>, last: Option<&LastReading>) -> Result {
    match engine.ask(Request::ITEMS_PATH, Request::Items) {
        Ok(message) => {
            let mut cached = read(&message, &engine.bus_name).unwrap_or_default();
            let last = last.filter(|_| engine.toolkit.counts_unlisted_siblings());
            cached.drop_unlisted(last);
            engine.learn(cached.known);
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

/// Whether most of the cache is in the tree, once the whole tree was read. Of the 1,677 objects in
/// LibreOffice Calc's cache, 306 were in the tree. Fetching it took 33 µs for each object in it,
/// and requesting the same facts takes 40 µs for each object in the tree.
pub fn is_used(engine: &Engine<'_>) -> bool {
    const FEW: usize = 100;
    let nodes = engine.nodes.iter();
    let used = nodes.filter(|node| engine.known(&node.path).is_some());
    engine.known_counts().0 <= 3 * used.count() + FEW
}

/// The content of a cache.
#[derive(Debug, Default)]
struct Cached {
    /// The facts about each object, by path.
    known: HashMap<Arc<str>, Known>,
    /// The containers whose children's indexes have gaps.
    gaps: HashSet<Arc<str>>,
}

impl Cached {
    /// Drops the children of containers whose indexes have gaps, unless the app has listed the same
    /// children before. GTK 4's indexes count siblings that no container lists, and such a sibling
    /// may be in the cache before a listed child.
    fn drop_unlisted(&mut self, last: Option<&LastReading>) {
        let listed = last.map(|last| last.children_of(&self.gaps));
        for path in &self.gaps {
            if let Some(object) = self.known.get_mut(path) {
                let listed = listed.as_ref().and_then(|all| all.get(&**path));
                object.children = object
                    .children
                    .take()
                    .filter(|now| listed.is_some_and(|then| then.iter().copied().eq(now)));
            }
        }
    }
}

/// Decodes the reply. Objects of other bus names are left out.
fn read(message: &Message, bus_name: &str) -> Result<Cached, WireError> {
    // Qt sends lists of children, as at-spi2-core did before its commit b2c8c4c7 (2.17.90). Other
    // toolkits send the index of each object and the number of its children.
    let lists_children = match message.signature.as_str() {
        "a((so)(so)(so)iiassusau)" => false,
        "a((so)(so)(so)a(so)assusau)" => true,
        _ => return Err(WireError),
    };
    let mut known = HashMap::new();
    let mut counts: Vec<(Arc<str>, usize)> = Vec::new();
    let mut below: HashMap<Arc<str>, Vec<(i32, Arc<str>)>> = HashMap::new();
    message.reader().array(8, |r| {
        r.align(8)?;
        let (owner, path) = r.object()?;
        let path = Arc::<str>::from(path);
        r.object()?; // the application
        let (_, parent) = r.object()?;
        let mut children = None;
        if lists_children {
            let all = r.array(8, |r| r.object().map(|(_, path)| path.into()))?;
            children = Some(all);
        } else {
            let index = r.i32()?;
            let count = r.i32()?;
            // A negative count means that the toolkit does not report the number.
            let count = usize::try_from(count).unwrap_or(usize::MAX);
            counts.push((path.clone(), count));
            let siblings = below.entry(parent.into()).or_default();
            siblings.push((index, path.clone()));
        }
        r.array(4, |r| r.str().map(drop))?; // interfaces
        let item = Known {
            name: kept(r.str()?).to_owned(),
            role: r.u32()?,
            description: kept(r.str()?).to_owned(),
            states: decode::states(r)?,
            children,
        };
        if owner == bus_name {
            known.insert(path, item);
        }
        Ok(())
    })?;
    let mut gaps = HashSet::new();
    for (path, count) in counts {
        let mut children = below.remove(&path).unwrap_or_default();
        children.sort_by_key(|(index, _)| *index);
        let indexes = Indexes::new(children.iter().map(|(index, _)| *index));
        if children.len() == count
            && indexes != Indexes::Wrong
            && let Some(object) = known.get_mut(&path)
        {
            object.children = Some(children.into_iter().map(|(_, path)| path).collect());
            if indexes == Indexes::Gaps {
                gaps.insert(path);
            }
        }
    }
    Ok(Cached { known, gaps })
}

/// The pattern of a container's child indexes.
#[derive(Debug, PartialEq, Eq)]
enum Indexes {
    /// Each index from 0 to the last occurs once.
    All,
    /// Some indexes before the last are missing.
    Gaps,
    /// Two children have the same index, or a child has a negative index. The container's children
    /// are then not taken from the cache.
    Wrong,
}

impl Indexes {
    fn new(sorted: impl Iterator<Item = i32>) -> Self {
        let (mut next, mut all) = (0, Self::All);
        for index in sorted {
            match index.cmp(&next) {
                Ordering::Less => return Self::Wrong,
                Ordering::Equal => {}
                Ordering::Greater => all = Self::Gaps,
            }
            next = index + 1;
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;
    use crate::engine::Node;
    use crate::names::StateSet;

    #[test]
    fn gaps_and_errors_in_the_indexes_of_children_are_noticed() {
        let of = |indexes: &[i32]| Indexes::new(indexes.iter().copied());
        assert_eq!([of(&[]), of(&[0, 1, 2])], [Indexes::All, Indexes::All]);
        assert_eq!([of(&[1]), of(&[0, 4])], [Indexes::Gaps, Indexes::Gaps]);
        let wrong = [&[0, 0][..], &[-1, 0], &[2, 2]];
        assert!(wrong.iter().all(|wrong| of(wrong) == Indexes::Wrong));
    }

    #[test]
    fn children_with_gaps_in_their_indexes_count_if_the_app_has_listed_them() {
        let object = |path: &str, children: &[usize]| Node {
            path: path.into(),
            children: children.to_vec(),
            children_read: true,
            ..Node::default()
        };
        let listed = vec![object("window", &[1]), object("box", &[])];
        let last = LastReading::new(1, Instant::now(), listed, HashMap::new(), false);
        let believed = |child: &str, last| {
            let known = Known {
                role: 0,
                name: String::new(),
                description: String::new(),
                states: StateSet::default(),
                children: Some(vec![child.into()]),
            };
            let mut cached = Cached {
                known: [("window".into(), known)].into(),
                gaps: ["window".into()].into(),
            };
            cached.drop_unlisted(last);
            cached.known["window"].children.is_some()
        };
        assert!(believed("box", Some(&last)));
        assert!(!believed("other", Some(&last)));
        assert!(!believed("box", None));
    }

    #[test]
    fn a_useless_cache_is_fetched_again_after_some_readings() {
        let mut cache = BulkCache::new(CacheUse::WhileComplete);
        let fetched = |cache: &mut BulkCache| (0..40).filter(|_| cache.is_due()).count();
        assert_eq!(fetched(&mut cache), 40);
        cache.judge(false);
        assert!(!cache.is_due());
        let again = |cache: &mut BulkCache| (0..40).position(|_| cache.is_due());
        assert_eq!(again(&mut cache), Some(15));
        cache.judge(false);
        assert!(!cache.is_due());
        assert_eq!(again(&mut cache), Some(31));
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
