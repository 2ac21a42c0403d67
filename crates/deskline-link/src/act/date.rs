//! Types dates and times in ISO form into the date fields of web pages. Such a field consists of
//! parts in the order of the user's language, and each part is typed into separately.

use deskline_core::{Element, ElementId, Role, States, Tree, summary};
use deskline_input::Click;

use super::action::Act;
use crate::error::{Mismatch, NoEffect, Result};
use crate::settle::readback::LATE;
use crate::trees::Scope;

/// What a part of a date field holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Year,
    Month,
    Week,
    Day,
    Hour,
    Minute,
    Second,
    /// Before or after noon.
    Half,
}

/// The English names of the parts, for Firefox 140: it reports no ranges. In browsers that report
/// ranges, these tell the kinds of the parts in every language.
#[rustfmt::skip]
const NAMES: [(&str, Kind); 6] = [
    ("Year", Kind::Year), ("Month", Kind::Month), ("Day", Kind::Day), ("Hours", Kind::Hour),
    ("Minutes", Kind::Minute), ("Seconds", Kind::Second),
];

/// A part of a field, in `tree`.
#[derive(Debug, Clone, Copy)]
struct Part {
    index: usize,
    kind: Option<Kind>,
    /// The range of the part's value. Firefox reports none.
    range: Option<(f64, f64)>,
}

impl Act<'_, '_> {
    /// Types an ISO date or time into the date field that has the focus. Returns `false`, and types
    /// nothing, if the text is no date or the focus is in no date field.
    ///
    /// # Errors
    ///
    /// The kinds of the parts are unknown, or the field shows something else afterwards.
    pub(super) fn type_date(&mut self, text: &str) -> Result<bool> {
        let Some(wanted) = parse(text) else {
            return Ok(false);
        };
        let tree = self.desk.read(self.pid, Scope::Showing)?;
        let Some((field, parts)) = parts_in_focus(&tree) else {
            return Ok(false);
        };
        let parts = kinds(&tree, parts, &wanted, |id| {
            self.desk.range(id).ok().flatten()
        });
        let Some(keys) = keys(&parts, &wanted) else {
            self.step.done.underway = false;
            let names = parts
                .iter()
                .map(|part| tree.elements[part.index].title.shown.trim());
            let field = summary::name_of(&tree, field);
            let parts = names.collect::<Vec<_>>().join(", ");
            return Err(NoEffect::from(Mismatch::InParts { field, parts }).into());
        };
        for (index, digits) in &keys {
            let Some(at) = tree.elements[*index].place().map(|place| place.center()) else {
                continue;
            };
            self.desk.click(Click::left(at))?;
            self.desk.type_text(digits)?;
        }
        self.step.done.text("typed", text);
        let now = self.pause()?;
        let shows = |now: &Tree, (index, digits): &(usize, String)| {
            let at = now.find_again(&tree, *index);
            let value = at.map(|at| now.elements[at].value.shown.trim());
            value.is_none_or(|value| match value.parse::<u32>() {
                Ok(number) => digits.parse().is_ok_and(|typed: u32| typed == number),
                // A part whose value is not a number has the name of a month.
                Err(_) => !value.is_empty(),
            })
        };
        let shows_all = |now: &Tree| keys.iter().all(|key| shows(now, key));
        let now = self.read_until(now, LATE, shows_all)?;
        if shows_all(&now) {
            return Ok(true);
        }
        let at = now.find_again(&tree, field);
        let text = at.map_or_else(String::new, |at| now.elements[at].value.shown.clone());
        let name = summary::name_of(&tree, field);
        Err(NoEffect::from(Mismatch::OtherDate { name, text }).into())
    }
}

/// The numbers of `2026-03-14`, `2026-03`, `2026-W11`, `18:55`, `18:55:30` and `2026-03-14T18:55`.
fn parse(text: &str) -> Option<Vec<(Kind, u32)>> {
    let text = text.trim();
    let (date, time) = match text.split_once(['T', ' ']) {
        Some((date, time)) => (Some(date), Some(time)),
        None if text.contains(':') => (None, Some(text)),
        None => (Some(text), None),
    };
    let number = |kind, text: &str| {
        let digits = if kind == Kind::Year { 4 } else { 2 };
        let is_number = text.len() == digits && text.bytes().all(|b| b.is_ascii_digit());
        Some((kind, text.parse().ok().filter(|_| is_number)?))
    };
    // At least the first two of the three kinds.
    let numbers = |kinds: [Kind; 3], texts: Vec<&str>| {
        let fits = (2..=kinds.len()).contains(&texts.len());
        let each = kinds.into_iter().zip(texts);
        let numbers = each.map(|(kind, text)| number(kind, text));
        numbers.collect::<Option<Vec<_>>>().filter(|_| fits)
    };
    let date = date.map(|date| match date.split_once("-W") {
        Some((year, week)) => Some(vec![number(Kind::Year, year)?, number(Kind::Week, week)?]),
        None => numbers(
            [Kind::Year, Kind::Month, Kind::Day],
            date.split('-').collect(),
        ),
    });
    let clock = [Kind::Hour, Kind::Minute, Kind::Second];
    let time = time.map(|time| numbers(clock, time.split(':').collect()));
    let parts = [date, time].into_iter().flatten();
    Some(parts.collect::<Option<Vec<_>>>()?.concat())
}

/// The date field of a web page that has the focus, and its parts in their order.
fn parts_in_focus(tree: &Tree) -> Option<(usize, Vec<usize>)> {
    let focus = tree.focused_in(None)?;
    let is_part = |e: &Element| e.role == Role::INCREMENTOR && !e.states.contains(States::EDITABLE);
    let focused = &tree.elements[focus];
    if !is_part(focused) && focused.role != Role::DATE_FIELD {
        return None;
    }
    let in_page = tree.page_around(focus).is_some();
    let has_parts = |at: &usize| {
        tree.inside(*at)
            .filter(|i| is_part(&tree.elements[*i]))
            .count()
            > 1
    };
    let inner = tree.outwards(focus).find(has_parts).filter(|_| in_page)?;
    let field = tree
        .outwards(inner)
        .find(|at| tree.elements[*at].role == Role::DATE_FIELD);
    // In Firefox the part for AM or PM is a text field.
    let is_half = |e: &Element| e.role == Role::TEXT_FIELD;
    let parts = tree
        .inside(inner)
        .filter(|i| is_part(&tree.elements[*i]) || is_half(&tree.elements[*i]));
    Some((field.unwrap_or(inner), parts.collect()))
}

/// The kind of each part, found by the range of its value. If no ranges are reported, the parts of
/// a time are found by their order, which is the same in every language, and the parts of a date by
/// their English names.
fn kinds(
    tree: &Tree,
    parts: Vec<usize>,
    wanted: &[(Kind, u32)],
    mut range: impl FnMut(&ElementId) -> Option<(f64, f64)>,
) -> Vec<Part> {
    let ranges: Vec<_> = parts.iter().map(|i| range(&tree.elements[*i].id)).collect();
    let highs = ranges
        .iter()
        .map(|range| range.map_or(0, |(_, high)| high as u32));
    let highs: Vec<u32> = highs.collect();
    let is_time = |(kind, _): &_| matches!(kind, Kind::Hour | Kind::Minute | Kind::Second);
    let only_time = wanted.iter().all(is_time);
    let mut times = [Kind::Hour, Kind::Minute, Kind::Second].into_iter();
    let mut minute = false;
    let mut kind = |at: usize, index: usize| {
        let element = &tree.elements[index];
        if element.role == Role::TEXT_FIELD {
            return Some(Kind::Half);
        }
        let name = element.title.shown.trim();
        let by_name = || {
            NAMES
                .iter()
                .find(|(known, _)| *known == name)
                .map(|known| known.1)
        };
        Some(match highs[at] {
            1000.. => Kind::Year,
            52 | 53 => Kind::Week,
            28..=31 => Kind::Day,
            59 if std::mem::replace(&mut minute, true) => Kind::Second,
            59 => Kind::Minute,
            23 | 24 | 11 => Kind::Hour,
            12 if highs.get(at + 1) == Some(&59) => Kind::Hour,
            12 => Kind::Month,
            2 => Kind::Half,
            0 if only_time => times.next()?,
            0 => return by_name(),
            _ => return None,
        })
    };
    let parts = parts.into_iter().zip(ranges).enumerate();
    let part = |(at, (index, range))| {
        let kind = kind(at, index);
        Part { index, kind, range }
    };
    parts.map(part).collect()
}

/// What to type into each part. `None` if the part for a number is not known.
fn keys(parts: &[Part], wanted: &[(Kind, u32)]) -> Option<Vec<(usize, String)>> {
    let part = |kind| {
        let mut found = parts.iter().filter(move |part| part.kind == Some(kind));
        found.next().filter(|_| found.next().is_none())
    };
    let half = parts.iter().find(|part| part.kind == Some(Kind::Half));
    let mut keys = Vec::new();
    for &(kind, number) in wanted {
        let text = match kind {
            Kind::Year => format!("{number:04}"),
            Kind::Hour if half.is_some() => format!("{:02}", (number + 11) % 12 + 1),
            _ => format!("{number:02}"),
        };
        keys.push((part(kind)?.index, text));
        if let (Kind::Hour, Some(half)) = (kind, half) {
            // In every language Chromium takes `1` (AM) or `2` (PM). Firefox takes `a` or `p`.
            let key = match (half.range.is_some(), number >= 12) {
                (true, false) => "1",
                (true, true) => "2",
                (false, false) => "a",
                (false, true) => "p",
            };
            keys.push((half.index, key.to_owned()));
        }
    }
    Some(keys)
}
