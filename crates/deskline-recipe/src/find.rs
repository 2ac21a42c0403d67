//! Finds a step's target on a screen: by role and text, by its label, or by its place.

use deskline_core::{Line, fold};

use crate::Target;
use crate::check::matches;

/// How a target was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// The same role and text, and the only such one or where it was among them.
    Same,
    /// The same role and text, between other texts.
    Moved,
    /// The same text but for its punctuation, or in another role.
    Label,
    /// Another text, in the same place.
    Place,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Found {
    /// An index into the lines.
    pub index: usize,
    pub way: Way,
}

/// Why no target was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    None,
    /// So many are like it, and nothing tells them apart.
    Several(usize),
}

/// How many texts around an element are looked at for its place.
const AROUND: usize = 6;

/// The element that `target`, with its inputs filled in, means now.
pub fn find(target: &Target, lines: &[Line]) -> Result<Found, Missing> {
    let role = |line: &Line| {
        target
            .role
            .as_deref()
            .is_none_or(|role| has_role(line, role))
    };
    let Some(element) = &target.element else {
        let like = shown(lines, role);
        return match by_place(target, lines, &like).or_else(|| nth(target, &like)) {
            Some(index) => Ok(Found {
                index,
                way: Way::Same,
            }),
            None => one(&like, Way::Same),
        };
    };
    let same = |line: &Line| matches(element, text(line));
    let like = shown(lines, |line| role(line) && same(line));
    if !like.is_empty() {
        let placed = by_place(target, lines, &like).or_else(|| nth(target, &like));
        let way = if placed.is_some() || !has_place(target) {
            Way::Same
        } else {
            Way::Moved
        };
        return match placed {
            Some(index) => Ok(Found { index, way }),
            // It was one of several, and which one is not known any more.
            None if target.nth.is_some() => Err(Missing::Several(like.len())),
            None => one(&acting(lines, like), way),
        };
    }
    let spelled = |line: &Line| role(line) && label(text(line)) == label(element);
    let acts = |line: &Line| line.role.is_interactive() && same(line);
    for like in [shown(lines, spelled), shown(lines, acts)] {
        if !like.is_empty() {
            return one(&like, Way::Label);
        }
    }
    let like = shown(lines, role);
    let placed = by_place(target, lines, &like).filter(|_| target.role.is_some());
    placed
        .map(|index| Found {
            index,
            way: Way::Place,
        })
        .ok_or(Missing::None)
}

/// Of several, those that act, as a tool's own search prefers: a check box and not its label.
fn acting(lines: &[Line], like: Vec<usize>) -> Vec<usize> {
    let (acting, other): (Vec<_>, Vec<_>) = like
        .into_iter()
        .partition(|i| lines[*i].role.is_interactive());
    if acting.is_empty() { other } else { acting }
}

fn one(like: &[usize], way: Way) -> Result<Found, Missing> {
    match like {
        [] => Err(Missing::None),
        [index] => Ok(Found { index: *index, way }),
        several => Err(Missing::Several(several.len())),
    }
}

/// Those that `is` admits: the visible ones, if any is.
fn shown(lines: &[Line], is: impl Fn(&Line) -> bool) -> Vec<usize> {
    let all = (0..lines.len()).filter(|i| is(&lines[*i]));
    let (visible, hidden): (Vec<_>, Vec<_>) = all.partition(|i| lines[*i].visible);
    if visible.is_empty() { hidden } else { visible }
}

fn nth(target: &Target, like: &[usize]) -> Option<usize> {
    let (nth, of) = target.nth?;
    like.get(nth.checked_sub(1)?)
        .copied()
        .filter(|_| like.len() == of)
}

fn has_place(target: &Target) -> bool {
    target.after.is_some() || target.before.is_some()
}

/// The only one between the target's neighbours.
fn by_place(target: &Target, lines: &[Line], like: &[usize]) -> Option<usize> {
    if !has_place(target) {
        return None;
    }
    let is_there = |i: &&usize| {
        let (after, before) = neighbours(lines, **i);
        let is = |wanted: &Option<String>, is: &Option<String>| match (wanted, is) {
            (Some(wanted), Some(is)) => matches(wanted, is),
            (None, _) => true,
            _ => false,
        };
        is(&target.after, &after) && is(&target.before, &before)
    };
    let mut there = like.iter().filter(is_there);
    there.next().copied().filter(|_| there.next().is_none())
}

fn has_role(line: &Line, role: &str) -> bool {
    let starts = |name: &str| {
        name.get(..role.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(role))
    };
    let native = line.native_role.as_deref();
    starts(line.role.ax()) || starts(line.role.short()) || native.is_some_and(|n| n == role)
}

pub(crate) fn text(line: &Line) -> &str {
    line.text.as_ref().map_or("", |text| text.shown.as_str())
}

/// A text without what a designer adds to it.
fn label(text: &str) -> String {
    let text = fold(text);
    text.trim_end_matches([':', '.', '*', ' '])
        .trim_start_matches(['*', ' '])
        .to_owned()
}

/// The texts that stand before and after an element: of what shows, is no part of it, contains it
/// not, and is nothing that a person fills in.
pub(crate) fn neighbours(lines: &[Line], index: usize) -> (Option<String>, Option<String>) {
    let is_inside = |inner: &Line, outer: &Line| {
        let mut parent = inner.parent;
        let mut steps = 0;
        while let Some(up) = parent.filter(|_| steps < 64) {
            if outer.reference == Some(up) {
                return true;
            }
            parent = lines
                .iter()
                .find(|line| line.reference == Some(up))
                .and_then(|l| l.parent);
            steps += 1;
        }
        false
    };
    let Some(own) = lines.get(index) else {
        return (None, None);
    };
    let tells = |line: &&Line| {
        let editable = line.states.contains(deskline_core::States::EDITABLE);
        line.visible && !editable && !text(line).is_empty()
    };
    let told = |line: &Line| text(line).to_owned();
    let before = lines[..index].iter().rev().filter(tells).take(AROUND);
    let after = lines[index + 1..].iter().filter(tells).take(AROUND);
    let first = |mut around: Box<dyn Iterator<Item = &Line> + '_>| {
        around
            .find(|line| !is_inside(own, line) && !is_inside(line, own))
            .map(told)
    };
    (first(Box::new(before)), first(Box::new(after)))
}

impl Target {
    /// Notes where the element is, for when its text changes or others are like it.
    pub fn note(&mut self, lines: &[Line], index: usize) {
        (self.after, self.before) = neighbours(lines, index);
        if let Some(line) = lines.get(index) {
            self.role.get_or_insert_with(|| line.role.ax().to_owned());
        }
    }
}
