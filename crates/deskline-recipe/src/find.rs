//! Finds a step's target on a screen: by role and text, by its label, or by its place.

use deskline_core::{Line, Ref, Role, RoleFilter, fold};

use crate::Target;
use crate::check::matches;

/// How a target was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// The same role and text; it is the only such element, or in the same place among them.
    Same,
    /// The same role and text, between other texts.
    Moved,
    /// The same role and text, but in another row, or on a screen without the texts that were
    /// beside it.
    Elsewhere,
    /// The same text except for a colon or an asterisk; or the same text and place, but another
    /// role.
    Label,
    /// Another text, in the same place.
    Place,
}

/// How many texts around an element are looked at for its place.
const AROUND: usize = 6;

/// The index of the element that `target`, with its inputs filled in, means now.
///
/// # Errors
/// How many elements match the target, if nothing tells which of them is meant.
pub fn find(target: &Target, lines: &[Line]) -> Result<(usize, Way), usize> {
    let role = has_role(target);
    let Some(element) = &target.element else {
        return of_same(target, lines, shown(lines, &role));
    };
    let same = |line: &Line| matches(element, text_of(line));
    let like = shown(lines, |line| role(line) && same(line));
    if !like.is_empty() {
        return of_same(target, lines, like);
    }
    let spelled = |line: &Line| role(line) && label(text_of(line)) == label(element);
    let spelled = shown(lines, spelled);
    if !spelled.is_empty() {
        return one(&spelled, Way::Label);
    }
    // An element with only the same text, or only the same place, may do something else.
    let acts = shown(lines, |line| line.role.is_interactive() && same(line));
    if let Some(index) = placed(target, lines, &acts) {
        return one(&[index], Way::Label);
    }
    let like = shown(lines, &role);
    let like = placed(target, lines, &like).filter(|_| target.role.is_some());
    one(like.as_slice(), Way::Place)
}

/// The only element whose text contains the target's text: agents name targets by a part of their
/// text, and tools accept that.
pub fn find_part(target: &Target, lines: &[Line]) -> Option<usize> {
    let part = fold(target.element.as_deref()?);
    let role = has_role(target);
    let has = |line: &Line| role(line) && fold(text_of(line)).contains(&*part);
    match acting(lines, shown(lines, has))[..] {
        [index] => Some(index),
        _ => None,
    }
}

/// Chooses among `same`, the elements with the target's role and text: the element in the target's
/// place, or the only element.
fn of_same(target: &Target, lines: &[Line], same: Vec<usize>) -> Result<(usize, Way), usize> {
    if !has_place(target) {
        return by_number(target, &acting(lines, same));
    }
    if let Some(index) = placed(target, lines, &same) {
        return one(&[index], Way::Same);
    }
    if target.nth.is_some() {
        // The target was one of several elements, and it is no longer known which.
        return Err(same.len());
    }
    let visible = || lines.iter().filter(|line| line.visible);
    let mut around = target.after.iter().chain(&target.before);
    let known = around.any(|wanted| visible().any(|line| matches(wanted, text_of(line))));
    let (index, way) = one(&acting(lines, same), Way::Moved)?;
    let is_part = !matches!(lines[index].role, Role::ROW | Role::CELL);
    // The same button in another row is about something else.
    let elsewhere = !known || is_part && row(lines, index).is_some();
    Ok((index, if elsewhere { Way::Elsewhere } else { way }))
}

/// Finds the target by its number among similar elements, if there are as many as there were.
fn by_number(target: &Target, like: &[usize]) -> Result<(usize, Way), usize> {
    match nth(target, like) {
        Some(index) => one(&[index], Way::Same),
        None if target.nth.is_some() => Err(like.len()),
        None => one(like, Way::Same),
    }
}

/// Of several elements, the interactive ones, if any: a check box rather than its label. A tool's
/// own search prefers them too.
fn acting(lines: &[Line], like: Vec<usize>) -> Vec<usize> {
    let acts = |i: &usize| lines[*i].role.is_interactive();
    let (acting, other): (Vec<_>, Vec<_>) = like.into_iter().partition(acts);
    if acting.is_empty() { other } else { acting }
}

fn one(like: &[usize], way: Way) -> Result<(usize, Way), usize> {
    match like {
        [index] => Ok((*index, way)),
        several => Err(several.len()),
    }
}

/// The elements that `is` admits. If any of them is visible, only the visible ones.
fn shown(lines: &[Line], is: impl Fn(&Line) -> bool) -> Vec<usize> {
    let all = (0..lines.len()).filter(|i| is(&lines[*i]));
    let (visible, hidden): (Vec<_>, Vec<_>) = all.partition(|i| lines[*i].visible);
    if visible.is_empty() { hidden } else { visible }
}

/// The numbers in `2 of 3`.
pub(crate) fn numbers(nth: &str) -> Option<(usize, usize)> {
    let (nth, of) = nth.split_once(" of ")?;
    let (nth, of) = (nth.parse().ok()?, of.parse().ok()?);
    (1..=of).contains(&nth).then_some((nth, of))
}

fn nth(target: &Target, like: &[usize]) -> Option<usize> {
    let (nth, of) = numbers(target.nth.as_deref()?)?;
    let own = like.get(nth - 1);
    own.copied().filter(|_| like.len() == of)
}

fn has_place(target: &Target) -> bool {
    target.after.is_some() || target.before.is_some()
}

/// The element between the target's neighbours. If there are several, the one with the target's
/// number.
fn placed(target: &Target, lines: &[Line], like: &[usize]) -> Option<usize> {
    if !has_place(target) {
        return None;
    }
    let is_there = |i: &usize| {
        let (after, before) = neighbours(lines, *i);
        let is = |wanted: &Option<String>, is: Option<String>| {
            let mut wanted = wanted.iter();
            wanted.all(|wanted| is.as_ref().is_some_and(|is| matches(wanted, is)))
        };
        is(&target.after, after) && is(&target.before, before)
    };
    match like.iter().copied().filter(is_there).collect::<Vec<_>>()[..] {
        [index] => Some(index),
        ref several => nth(target, like).filter(|index| several.contains(index)),
    }
}

fn has_role(target: &Target) -> impl Fn(&Line) -> bool + use<> {
    let wanted = RoleFilter::new(target.role.as_deref());
    move |line| wanted.fits(line.role, line.native_role.as_deref().unwrap_or_default())
}

/// The text of a line; empty if there is none.
pub fn text_of(line: &Line) -> &str {
    line.text.as_ref().map_or("", |text| text.shown.as_str())
}

/// A text without the colon, asterisks and spaces that a form adds to a label.
fn label(text: &str) -> String {
    let text = fold(text);
    let text = text.trim_end_matches([':', '*', ' ']);
    text.trim_start_matches(['*', ' ']).to_owned()
}

/// An element and those that contain it, the innermost first.
pub(crate) fn outwards<'l>(lines: &'l [Line], line: &'l Line) -> impl Iterator<Item = &'l Line> {
    let around = move |line: &&'l Line| {
        let up = line.parent?;
        lines.iter().find(|line| line.reference == Some(up))
    };
    std::iter::successors(Some(line), around).take(64)
}

/// The row that an element is in: the row's ref, or the ref of its table and the row's number.
fn row(lines: &[Line], index: usize) -> Option<(Option<Ref>, u32)> {
    outwards(lines, lines.get(index)?).find_map(|line| match line.cell {
        Some(cell) => Some((line.parent, cell.row)),
        None => (line.role == Role::ROW).then_some((line.reference, 0)),
    })
}

/// The texts that stand before and after an element. Only texts of visible elements that a person
/// cannot edit count. Elements inside the given element or around it do not count and, if it is in
/// a row, elements of other rows do not either.
pub(crate) fn neighbours(lines: &[Line], index: usize) -> (Option<String>, Option<String>) {
    let is_inside = |inner: &Line, outer: &Line| {
        let is = |line: &Line| line.reference == outer.reference;
        outer.reference.is_some() && outwards(lines, inner).skip(1).any(is)
    };
    let Some(own) = lines.get(index) else {
        return (None, None);
    };
    let tells = |line: &&Line| {
        let editable = line.states.contains(deskline_core::States::EDITABLE);
        line.visible && !editable && !text_of(line).is_empty()
    };
    let is_part = !matches!(own.role, Role::ROW | Role::CELL);
    let own_row = row(lines, index).filter(|_| is_part);
    let first = |around: &mut dyn Iterator<Item = usize>| {
        let around = around.map(|i| (i, &lines[i]));
        let mut around = around.filter(|(_, line)| tells(line)).take(AROUND);
        let beside = around.find(|(i, line)| {
            let apart = !is_inside(own, line) && !is_inside(line, own);
            apart && (own_row.is_none() || row(lines, *i) == own_row)
        });
        beside.map(|(_, line)| text_of(line).to_owned())
    };
    (
        first(&mut (0..index).rev()),
        first(&mut (index + 1..lines.len())),
    )
}

impl Target {
    /// Notes where the element is, to find it even if its text changes or others are like it.
    pub fn note(&mut self, lines: &[Line], index: usize) {
        (self.after, self.before) = neighbours(lines, index);
        if let Some(line) = lines.get(index) {
            self.role.get_or_insert_with(|| line.role.ax().to_owned());
        }
    }
}
