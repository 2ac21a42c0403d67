//! Containers with too many children to list in one call.
//!
//! In GTK 3 (`gtk_container_accessible_ref_child` lists all children for each) and Chromium, the
//! time for a list of children grows with the square of their number (2.5 s for 10,000). The time
//! for one child grows with its index (Chromium: 0.4 to 4 ms), unless the child can be requested by
//! its hyperlink ([`linked`]). Children are laid out on the screen in their order, so a search
//! finds the visible ones: probe the extents of some children far apart, then probe between two
//! neighbours if one is before and one is after the visible part. That costs nearly the same
//! whatever the container's size. (Asking Chromium for the element at a point takes up to 30 ms,
//! and its answer may be for another point.)
//!
//! The other children are read outwards from the visible ones, a batch at a time, as far as the
//! budget goes. If a visible child is among them, it is recognised by its state.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Instant;

use deskline_core::Rect;

use super::linked;
use super::reuse::{self, KnownList, LastReading};
use crate::bus::Result;
use crate::decode;
use crate::engine::{self, Engine, LongList};
use crate::request::Request;

/// Into how many parts the probes split an index range.
const PARTS: i32 = 16;

/// A range of at most this many children is read whole.
const SHORT: i32 = 40;

/// How many neighbours on each side of a visible child are read, whatever their extents.
const AROUND: i32 = 4;

/// How many hidden children are requested at once.
const BATCH: usize = 64;

/// Containers of at most this many children are listed in one call, after the visible nodes:
/// Chromium takes 0.15 s for this many.
const LISTED_LATER: i32 = 2_500;

#[derive(Debug, Default)]
pub(crate) struct LargeLists(Vec<LargeList>);

/// A container of more than [`engine::LISTED`] children.
#[derive(Debug)]
struct LargeList {
    node: usize,
    its: KnownList,
}

impl From<LongList> for LargeList {
    fn from(LongList { node, count }: LongList) -> Self {
        let its = KnownList {
            count,
            ..KnownList::default()
        };
        Self { node, its }
    }
}

impl LargeLists {
    /// The lists of a reading that is continued: the index of each container's node, and what is
    /// known of the list.
    pub fn resume(known: Vec<(usize, KnownList)>) -> Self {
        let list = |(node, its)| LargeList { node, its };
        Self(known.into_iter().map(list).collect())
    }

    /// Finds more children of the first incomplete list, and requests only their states. Skips long
    /// lists without hyperlinks: their children would cost the app seconds.
    pub(crate) fn find_more(&mut self, engine: &mut Engine<'_>) -> Result {
        let cheap = |list: &&mut LargeList| {
            list.its.linked == Some(true) || list.missing() <= BATCH || list.is_listed_at_once()
        };
        let lacking = self.0.iter_mut().filter(|list| list.missing() > 0);
        let Some(list) = lacking.into_iter().find(cheap) else {
            return Ok(());
        };
        if list.is_listed_at_once() {
            list.list(engine)?;
            return engine.pump(None);
        }
        let known = list.its.children.keys().copied().collect();
        let indexes = outwards(&known, list.its.count);
        list.read(engine, &indexes, None).map(drop)
    }

    /// Reads the showing children of each showing large list that the engine has found since the
    /// last call, and of the large lists inside those lists.
    pub(crate) fn read_showing(&mut self, engine: &mut Engine<'_>) -> Result {
        let mut next = self.0.len();
        self.collect(engine);
        while next < self.0.len() && !engine.is_late() {
            let list = &mut self.0[next];
            if engine.nodes[list.node].showing {
                if let Some(clip) = visible_part(engine, list.node) {
                    list.search(engine, clip)?;
                } else {
                    list.list(engine)?;
                    engine.pump(None)?;
                }
            }
            self.collect(engine);
            next += 1;
        }
        Ok(())
    }

    /// Reads the `count` children of a container, with the large lists inside them.
    pub(crate) fn read_counted(
        &mut self,
        engine: &mut Engine<'_>,
        node: usize,
        count: i32,
    ) -> Result {
        self.collect(engine);
        let first = engine.nodes.len();
        engine.list_counted(node, count)?;
        self.read_showing(engine)?;
        engine.details(first, None)
    }

    /// Reads the hidden children until `until`, beginning with those nearest to the visible ones.
    pub(crate) fn read_hidden(
        &mut self,
        engine: &mut Engine<'_>,
        reuse: Option<&LastReading>,
        until: Instant,
    ) -> Result {
        let mut next = 0;
        self.collect(engine);
        while next < self.0.len() {
            let list = &mut self.0[next];
            if let Some(last) = reuse {
                list.recall(engine, last);
            }
            if list.is_listed_at_once() && Instant::now() < until {
                list.list(engine)?;
                engine.pump(Some(until))?;
                reuse::read_hidden(engine, reuse, until)?;
            }
            while Instant::now() < until {
                let known = list.its.children.keys().copied().collect();
                let indexes = outwards(&known, list.its.count);
                if indexes.is_empty() {
                    break;
                }
                list.read(engine, &indexes, Some(until))?;
                reuse::read_hidden(engine, reuse, until)?;
            }
            self.collect(engine);
            next += 1;
        }
        Ok(())
    }

    /// Puts the children in order, and marks each container as complete or not. Returns the number
    /// of children that were not read, and the lists by their paths.
    pub fn finish(mut self, engine: &mut Engine<'_>) -> (usize, HashMap<Arc<str>, KnownList>) {
        self.collect(engine);
        let mut unread = 0;
        let mut lists = HashMap::new();
        for list in self.0 {
            let missing = list.missing();
            unread += missing;
            let node = &mut engine.nodes[list.node];
            node.children = list.its.children.values().flatten().copied().collect();
            node.children_read = missing == 0;
            lists.insert(node.path.clone(), list.its);
        }
        (unread, lists)
    }

    /// Takes over the long lists that the engine has found.
    fn collect(&mut self, engine: &mut Engine<'_>) {
        self.0
            .extend(engine.long_lists.drain(..).map(LargeList::from));
    }
}

impl LargeList {
    /// How many children of the list were not requested.
    fn missing(&self) -> usize {
        (self.its.count as usize).saturating_sub(self.its.children.len())
    }

    /// Whether the missing children are listed in one call.
    fn is_listed_at_once(&self) -> bool {
        self.missing() > BATCH && self.its.count <= LISTED_LATER && self.its.linked != Some(true)
    }

    /// Reads the children that are within `clip`.
    fn search(&mut self, engine: &mut Engine<'_>, clip: Rect) -> Result {
        let last = self.its.count - 1;
        let mut indexes: BTreeSet<i32> = probes(0, last).chain([0, last]).collect();
        while !indexes.is_empty() && !engine.is_late() {
            let read = self.read(engine, &indexes, None)?;
            let request = engine.toolkit.extents();
            let requests: Vec<(Arc<str>, Request)> = read
                .iter()
                .map(|(_, node)| (engine.nodes[*node].path.clone(), request))
                .collect();
            let replies = engine.ask_each(requests)?;
            indexes.clear();
            for ((index, node), reply) in read.into_iter().zip(replies) {
                let at = reply.as_ref().and_then(decode::extents);
                self.its
                    .probed
                    .extend(at.filter(|at| !at.is_empty()).map(|at| (index, at)));
                if engine.nodes[node].showing {
                    indexes.extend((index - AROUND).max(0)..=(index + AROUND).min(last));
                }
            }
            let known: Vec<i32> = self.its.children.keys().copied().collect();
            for pair in known.windows(2) {
                let (from, to) = (pair[0], pair[1]);
                if to - from > 1
                    && may_show(self.its.probed.get(&from), self.its.probed.get(&to), clip)
                {
                    indexes.extend(probes(from, to));
                }
            }
            indexes.retain(|index| !self.its.children.contains_key(index));
        }
        Ok(())
    }

    /// Reuses the last reading for the hidden children that this reading has not requested. That is
    /// done only if each requested child is the same object at the same place as before: an
    /// insertion, a removal, a resize or a scroll would have moved the children behind it, and the
    /// requested ones are spread over the whole list.
    fn recall(&mut self, engine: &mut Engine<'_>, last: &LastReading) {
        let path = &engine.nodes[self.node].path;
        let Some(then) = last.list(path).filter(|then| then.count == self.its.count) else {
            return;
        };
        let agrees = |(index, node): (&i32, &Option<usize>)| {
            let now = node.map(|node| &engine.nodes[node]);
            // Visible children are read again, so only hidden ones have to be where they were.
            let shows = now.is_some_and(|node| node.showing);
            let (at, was) = (self.its.probed.get(index), then.probed.get(index));
            let stayed = shows || at.zip(was).is_none_or(|(at, was)| at == was);
            let child = then.children.get(index);
            stayed && child.is_none_or(|then| last.is_same(then.as_ref(), now))
        };
        let compared = self
            .its
            .probed
            .keys()
            .filter(|i| then.probed.contains_key(i));
        if compared.count() < 2 || !self.its.children.iter().all(agrees) {
            return;
        }
        for (&index, child) in &then.children {
            if self.its.children.contains_key(&index) {
                continue;
            }
            let taken = child.map(|child| reuse::take_child(engine, last, self.node, child));
            // `Some(None)`: the child has to be read.
            if taken != Some(None) {
                self.its.children.insert(index, taken.flatten());
            }
        }
    }

    /// Lists all children in one call, and adds them.
    fn list(&mut self, engine: &mut Engine<'_>) -> Result {
        let path = engine.nodes[self.node].path.clone();
        let reply = engine.ask_all(&path, [Request::Children])?.pop().flatten();
        let Some(children) = reply.and_then(|m| engine.own_objects(&m)) else {
            return Ok(());
        };
        let nodes = self.its.children.values().flatten();
        let known: HashMap<Arc<str>, usize> = nodes
            .map(|&node| (engine.nodes[node].path.clone(), node))
            .collect();
        let mut in_order = BTreeMap::new();
        for (index, child) in (0..).zip(children) {
            let node = known.get(&child).copied();
            let node = node.or_else(|| engine.add(Some(self.node), child));
            in_order.insert(index, node);
        }
        self.its.count = in_order.len() as i32;
        self.its.children = in_order;
        Ok(())
    }

    /// Reads the children with these indexes. Returns those that exist, with their indexes.
    fn read(
        &mut self,
        engine: &mut Engine<'_>,
        indexes: &BTreeSet<i32>,
        until: Option<Instant>,
    ) -> Result<Vec<(i32, usize)>> {
        let path = engine.nodes[self.node].path.clone();
        let linked = match self.its.linked {
            Some(linked) => linked,
            None => linked::has_all(engine, &path, self.its.count)?,
        };
        self.its.linked = Some(linked);
        let asked = indexes.iter().copied();
        let replies = if linked {
            linked::children(engine, &path, asked)?
        } else {
            engine.ask_all(&path, asked.map(Request::ChildAt))?
        };
        let mut read = Vec::new();
        for (&index, reply) in indexes.iter().zip(&replies) {
            let child = reply.as_ref().and_then(|m| m.reader().object().ok());
            engine.unread.failed.elements += usize::from(child.is_none());
            let node = match child {
                Some((owner, child)) if engine.is_own(owner) => {
                    engine.add(Some(self.node), child.into())
                }
                _ => None,
            };
            self.its.children.insert(index, node);
            read.extend(node.map(|node| (index, node)));
        }
        engine.pump(until)?;
        Ok(read)
    }
}

/// The visible part of a container, or of its nearest ancestor that has a visible part.
fn visible_part(engine: &Engine<'_>, container: usize) -> Option<Rect> {
    let mut at = Some(container);
    while let Some(node) = at {
        if let Some(clip) = engine::clip(&engine.nodes, node).filter(|clip| !clip.is_empty()) {
            return Some(clip);
        }
        at = engine.nodes[node].parent;
    }
    None
}

/// Whether a child between two probed children, with the extents `from` and `to`, can overlap
/// `clip`.
fn may_show(from: Option<&Rect>, to: Option<&Rect>, clip: Rect) -> bool {
    let (Some(from), Some(to)) = (from.or(to), to.or(from)) else {
        return false;
    };
    let (left, top) = (from.x.min(to.x), from.y.min(to.y));
    let right = (from.x + from.w).max(to.x + to.w);
    let bottom = (from.y + from.h).max(to.y + to.h);
    let hull = Rect::at(left, top, right - left, bottom - top);
    // Text that is laid out in lines may begin and end anywhere in a line. So a child of it counts
    // with its whole lines.
    let row = Rect {
        x: clip.x,
        w: clip.w,
        ..hull
    };
    let hull = if top == from.y.max(to.y) { hull } else { row };
    !hull.intersect(&clip).is_empty()
}

/// The indexes to probe after `from` and before `to`: all of them if they are few.
fn probes(from: i32, to: i32) -> impl Iterator<Item = i32> {
    let step = if to - from > SHORT {
        (to - from) / PARTS
    } else {
        1
    };
    (from + 1..to).step_by(step.max(1) as usize)
}

/// The next batch of indexes to request: first the gaps between known indexes, and once there are
/// no gaps, indexes on both sides.
fn outwards(known: &BTreeSet<i32>, count: i32) -> BTreeSet<i32> {
    let side = BATCH as i32 / 2;
    let (first, last) = match (known.first(), known.last()) {
        (Some(first), Some(last)) => (*first, *last),
        _ => (0, -1),
    };
    let gaps = (first..=last).filter(|index| !known.contains(index));
    let inside: BTreeSet<i32> = gaps.take(BATCH).collect();
    if !inside.is_empty() {
        return inside;
    }
    let before = (first - side).max(0)..first;
    let after = last + 1..(last + 1 + side).min(count);
    before.chain(after).collect()
}

#[cfg(test)]
mod tests;
