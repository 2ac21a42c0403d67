//! Containers of more children than can be listed.
//!
//! GTK 3 and Chromium take time for a list of children that grows with the square of their number
//! (2.5 s for 10,000), and for one child at most half a millisecond. Laid-out children follow each
//! other on the screen as they do in the list. So those that show are searched for as in a
//! dictionary: some far apart are asked where they are, then some between each two of which one is
//! before and one behind what can be seen. That costs nearly the same whatever the container's size.
//! (Asking Chromium what is at a point takes up to 30 ms, and its answer may be of another point.)
//!
//! The others are read outwards from those, a batch at a time, as far as the budget goes; one of
//! them that shows after all is then known by its state.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;
use std::time::Instant;

use deskline_core::Rect;

use crate::bus::Error;

use super::cells;
use super::peer::Question;
use super::walk::Walk;

/// In so many parts a stretch of children is divided by those that are asked.
const PARTS: i32 = 16;

/// A stretch of so many is read as it is.
const SHORT: i32 = 40;

/// So many on both sides of one that shows are looked at too, wherever they say that they are.
const AROUND: i32 = 4;

/// How many places are asked for at once where nothing shows: each may take half a millisecond.
const BATCH: usize = 64;

/// Up to so many are listed at once where what does not show is read: Chromium takes 0.15 s.
const LISTED_LATER: i32 = 2_500;

/// Reads the showing children of every such container that shows, from crowd `first` on, and of
/// those found in them.
pub fn showing(walk: &mut Walk<'_>, first: usize) -> Result<(), Error> {
    let mut next = first;
    while next < walk.crowds.len() && !walk.is_late() {
        let container = walk.crowds[next].node;
        if walk.nodes[container].showing {
            if let Some(clip) = seen(walk, container) {
                search(walk, next, clip)?;
            } else {
                list(walk, next)?;
                walk.pump(None)?;
            }
        }
        next += 1;
    }
    Ok(())
}

/// What shows of a container, or, of one without a place of its own, of what it is in.
fn seen(walk: &Walk<'_>, container: usize) -> Option<Rect> {
    let mut at = Some(container);
    while let Some(node) = at {
        if let Some(clip) = cells::clip(walk, node).filter(|clip| !clip.is_empty()) {
            return Some(clip);
        }
        at = walk.nodes[node].parent;
    }
    None
}

/// Reads the children of a crowd that are within `clip`.
fn search(walk: &mut Walk<'_>, crowd: usize, clip: Rect) -> Result<(), Error> {
    let mut extents: HashMap<i32, Rect> = HashMap::new();
    let last = walk.crowds[crowd].count - 1;
    let mut places: BTreeSet<i32> = parts(0, last).chain([0, last]).collect();
    while !places.is_empty() && !walk.is_late() {
        let read = read(walk, crowd, &places, None)?;
        let questions: Vec<(Rc<str>, Question)> = read
            .iter()
            .map(|(_, node)| (walk.nodes[*node].path.as_str().into(), walk.extents))
            .collect();
        let answers = walk.ask_each(questions)?;
        places.clear();
        for ((place, node), answer) in read.into_iter().zip(answers) {
            let at = answer.and_then(|m| cells::read_extents(&m));
            extents.extend(at.filter(|at| !at.is_empty()).map(|at| (place, at)));
            if walk.nodes[node].showing {
                places.extend((place - AROUND).max(0)..=(place + AROUND).min(last));
            }
        }
        let known: Vec<i32> = walk.crowds[crowd].children.keys().copied().collect();
        for pair in known.windows(2) {
            let (from, to) = (pair[0], pair[1]);
            if to - from > 1 && hull(extents.get(&from), extents.get(&to), clip) {
                places.extend(parts(from, to));
            }
        }
        let children = &walk.crowds[crowd].children;
        places.retain(|place| !children.contains_key(place));
    }
    Ok(())
}

/// Whether something between these two can be within `clip`.
fn hull(from: Option<&Rect>, to: Option<&Rect>, clip: Rect) -> bool {
    let (Some(from), Some(to)) = (from.or(to), to.or(from)) else {
        return false;
    };
    let (left, top) = (from.x.min(to.x), from.y.min(to.y));
    let right = (from.x + from.w).max(to.x + to.w);
    let bottom = (from.y + from.h).max(to.y + to.h);
    let hull = Rect {
        x: left,
        y: top,
        w: right - left,
        h: bottom - top,
    };
    // What is laid out in lines begins and ends anywhere in them.
    let row = Rect {
        x: clip.x,
        w: clip.w,
        ..hull
    };
    let hull = if top == from.y.max(to.y) { hull } else { row };
    !hull.intersect(&clip).is_empty()
}

/// The places between these two that divide them, or all of them where they are few.
fn parts(from: i32, to: i32) -> impl Iterator<Item = i32> {
    let step = if to - from > SHORT {
        (to - from) / PARTS
    } else {
        1
    };
    (from + 1..to).step_by(step.max(1) as usize)
}

/// Reads the other children, nearest to those that show first, until `until`.
pub fn hidden(walk: &mut Walk<'_>, until: Instant) -> Result<(), Error> {
    let mut next = 0;
    while next < walk.crowds.len() {
        if walk.crowds[next].count <= LISTED_LATER && Instant::now() < until {
            list(walk, next)?;
            walk.pump(Some(until))?;
            walk.levels(until)?;
        }
        while Instant::now() < until {
            let crowd = &walk.crowds[next];
            let places = outwards(&crowd.children.keys().copied().collect(), crowd.count);
            if places.is_empty() {
                break;
            }
            read(walk, next, &places, Some(until))?;
            walk.levels(until)?;
        }
        next += 1;
    }
    Ok(())
}

/// Adds all children at once.
fn list(walk: &mut Walk<'_>, crowd: usize) -> Result<(), Error> {
    let container = walk.crowds[crowd].node;
    let path = walk.nodes[container].path.clone();
    let answer = walk.ask_all(&path, [Question::Children])?.pop().flatten();
    let Some(children) = answer.and_then(|m| walk.own_objects(&m)) else {
        return Ok(());
    };
    let nodes = walk.crowds[crowd].children.values().flatten();
    let known: HashMap<String, usize> = nodes
        .map(|&node| (walk.nodes[node].path.clone(), node))
        .collect();
    let mut in_order = BTreeMap::new();
    for (place, child) in (0..).zip(children) {
        let node = known.get(&child).copied();
        let node = node.or_else(|| walk.add(Some(container), child));
        in_order.insert(place, node);
    }
    let crowd = &mut walk.crowds[crowd];
    crowd.count = in_order.len() as i32;
    crowd.children = in_order;
    Ok(())
}

/// The next places on both sides of those that are known, a batch in all.
fn outwards(known: &BTreeSet<i32>, count: i32) -> BTreeSet<i32> {
    let side = BATCH as i32 / 2;
    let (first, last) = match (known.first(), known.last()) {
        (Some(first), Some(last)) => (*first, *last),
        _ => (0, -1),
    };
    let gaps = (first..=last).filter(|place| !known.contains(place));
    let inside: BTreeSet<i32> = gaps.take(BATCH).collect();
    if !inside.is_empty() {
        return inside;
    }
    let before = (first - side).max(0)..first;
    let after = last + 1..(last + 1 + side).min(count);
    before.chain(after).collect()
}

/// Puts the children in order, and says of each container whether it is complete. Gives how many
/// children were not read.
pub fn finish(walk: &mut Walk<'_>) -> usize {
    let mut unread = 0;
    for crowd in std::mem::take(&mut walk.crowds) {
        let missing = (crowd.count as usize).saturating_sub(crowd.children.len());
        unread += missing;
        let node = &mut walk.nodes[crowd.node];
        node.children = crowd.children.into_values().flatten().collect();
        node.children_read = missing == 0;
    }
    unread
}

/// Reads the children in these places; gives those that are there, with their places.
fn read(
    walk: &mut Walk<'_>,
    crowd: usize,
    places: &BTreeSet<i32>,
    until: Option<Instant>,
) -> Result<Vec<(i32, usize)>, Error> {
    let container = walk.crowds[crowd].node;
    let path = walk.nodes[container].path.clone();
    let questions = places.iter().map(|&place| Question::ChildAt(place));
    let answers = walk.ask_all(&path, questions)?;
    let mut read = Vec::new();
    for (&place, answer) in places.iter().zip(&answers) {
        let child = answer.as_ref().and_then(|m| m.reader().object().ok());
        walk.failed.elements += usize::from(child.is_none());
        let node = match child {
            Some((owner, child)) if walk.is_own(owner) => {
                walk.add(Some(container), child.to_owned())
            }
            _ => None,
        };
        walk.crowds[crowd].children.insert(place, node);
        read.extend(node.map(|node| (place, node)));
    }
    walk.pump(until)?;
    Ok(read)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_places_nearest_to_what_is_known_come_first_and_all_come() {
        let mut known: BTreeSet<i32> = (4_000..4_010).collect();
        let next = outwards(&known, 5_000);
        assert_eq!((next.first(), next.last()), (Some(&3_968), Some(&4_041)));
        assert_eq!(next.len(), BATCH);
        loop {
            let next = outwards(&known, 5_000);
            if next.is_empty() {
                break;
            }
            assert!(next.iter().all(|place| known.insert(*place)));
        }
        assert_eq!(known, (0..5_000).collect());
        assert_eq!(outwards(&BTreeSet::new(), 3), (0..3).collect());
    }

    #[test]
    fn a_stretch_is_searched_where_what_is_seen_can_be_in_it() {
        let rect = |x, y, w, h| Rect { x, y, w, h };
        let clip = rect(0, 1_000, 800, 600);
        let line = |y| rect(10, y, 100, 20);
        assert!(hull(Some(&line(0)), Some(&line(5_000)), clip));
        assert!(hull(Some(&line(1_500)), Some(&line(5_000)), clip));
        assert!(!hull(Some(&line(0)), Some(&line(900)), clip));
        assert!(!hull(Some(&line(1_600)), Some(&line(5_000)), clip));
        // From the end of a line to the start of one further down there are whole lines between.
        let (end, start) = (rect(2_000, 900, 50, 20), rect(-3_000, 1_700, 50, 20));
        assert!(hull(Some(&end), Some(&start), clip));
        // A single line that goes from left to right.
        assert!(hull(
            Some(&rect(-900, 1_100, 50, 20)),
            Some(&rect(900, 1_100, 50, 20)),
            clip
        ));
        assert!(!hull(
            Some(&rect(900, 1_100, 50, 20)),
            Some(&rect(1_900, 1_100, 50, 20)),
            clip
        ));
        assert!(!hull(None, None, clip));
    }
}
