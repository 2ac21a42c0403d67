//! Turns the wheel until an element shows, or the end is reached.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::mem;
use std::time::Duration;

use deskline_core::search::nearest_of;
use deskline_core::{Element, Point, Rect, Role, Texts, Tree, fold, summary};

use super::action::Act;
use super::reach::not_showing;
use super::wheel::{lines_for, wheel_spots};
use crate::error::{NoEffect, Result, TargetError};
use crate::settle::expected::Effect;
use crate::settle::quiet::{Awaits, await_quiet};
use crate::trees::Sent;
use deskline_input::clock::Instant;

/// The longest time that one call turns the wheel. The guard opens after 30 s, so this is less.
const LONGEST: Duration = Duration::from_secs(25);

/// The largest number of turns of one call.
const TURNS: usize = 400;

/// How long a list that has reached its end may take to load more.
const LOADS: Duration = Duration::from_millis(900);

/// How long an app may take to scroll after a turn of the wheel.
const MOVES: Duration = Duration::from_millis(1_500);

/// The largest number of lines of one turn.
const MOST_LINES: i32 = 30;

/// The largest number of texts that are kept for the error.
const TEXTS: usize = 5_000;

/// How to turn the wheel.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wheel {
    /// The point at which to turn the wheel. If `None`, the middle of the area.
    pub(super) at: Option<Point>,
    pub(super) down: bool,
    /// The longest time to go on turning.
    pub(super) longest: Duration,
    /// How long a list that has reached its end may take to load more.
    pub(super) loads: Duration,
}

/// The result of turning the wheel.
pub(super) struct Turned {
    /// The last reading.
    pub(super) tree: Tree,
    /// The index of the wanted element in `tree`, if it shows.
    pub(super) found: Option<usize>,
    /// How many lines the area was scrolled.
    pub(super) lines: i32,
    /// Whether the area has reached its end.
    pub(super) ended: bool,
    /// The texts that showed.
    pub(super) texts: Vec<String>,
}

impl Act<'_, '_> {
    /// Scrolls until an element with this text shows.
    pub(super) fn scroll_until(&mut self, (at, text): (Point, &str), down: bool) -> Result<()> {
        let read = self.look()?;
        let index = match (self.target.and_then(|target| target.index), self.tree) {
            (Some(index), Some(tree)) => read.find_again(tree, index),
            _ => read.find_at(at),
        };
        let index = index.ok_or_else(|| TargetError::NoElement(at.to_string()))?;
        let area = area_of(&read, index);
        let at = match self.target {
            Some(_) => clear_point(&read, area, at).ok_or_else(|| not_showing(&read, index))?,
            None => at,
        };
        let name = summary::name_of(&read, area);
        let wanted = |tree: &Tree, area: usize| {
            let inside = |i: usize| tree.is_inside(i, area) && !is_area(&tree.elements[i]);
            let found = tree.find_text_among(inside, text, None)?.index;
            let shown = Texts::new(tree).text(tree, found)?.shown.clone();
            (shows_in(tree, found, area) && !cuts_numbers(&shown, text)).then_some(found)
        };
        self.step.done.at = Some(at);
        if let Some(found) = wanted(&read, area) {
            let found = summary::name_of(&read, found);
            let already = format!("scrolled by 0 lines: {found} shows in {name}");
            self.step.done.say(already);
            return Ok(());
        }
        let way = if down { "down" } else { "up" };
        let wheel = Wheel {
            at: Some(at),
            down,
            longest: LONGEST,
            loads: LOADS,
        };
        let turned = self.turn_until((&read, area), wheel, &wanted)?;
        let lines = turned.lines;
        let far = format!("scrolled {way} by {lines} lines in {name}");
        if let Some(found) = turned.found {
            let found = summary::name_of(&turned.tree, found);
            self.step.done.say(format!("{far} until {found} showed"));
            return Ok(());
        }
        let whole = self.look()?;
        if let Some(found) = in_inner_area(&whole, whole.find_again(&read, area), text) {
            self.scroll_to(&whole, found)?;
            let found = summary::name_of(&whole, found);
            let inside = format!("{far}, and brought {found} into view in an area inside it");
            self.step.done.say(inside);
            return Ok(());
        }
        self.step.done.say(far);
        let nearest = nearest_of(text, turned.texts.iter().map(String::as_str));
        Err(NoEffect::not_shown(text, &nearest, turned.ended, down).into())
    }

    /// Turns the wheel over an area of `tree` until `wanted` finds an element; `wanted` gets each
    /// reading and the area in it. Holds the person's devices all the time, because a motion of
    /// their pointer would move the wheel to another place.
    pub(super) fn turn_until(
        &mut self,
        (tree, area): (&Tree, usize),
        wheel: Wheel,
        wanted: &dyn Fn(&Tree, usize) -> Option<usize>,
    ) -> Result<Turned> {
        let place = place_of(tree, area);
        let at = wheel.at.or(place.map(|place| place.center()));
        let no_place = || TargetError::NoBounds(summary::name_of(tree, area));
        let mut at = at.ok_or_else(no_place)?;
        self.front(self.wanted_at(at))?;
        let mut step = lines_for(place);
        // The largest distance, in pixels, by which one line of the wheel has moved the rows.
        let mut pixels = 0;
        let start = Instant::now();
        let mut turned = Turned {
            tree: tree.clone(),
            found: None,
            lines: 0,
            ended: false,
            texts: texts_in(tree, area),
        };
        let mut last = look_of(tree, area);
        let mut still = 0;
        for _ in 0..TURNS {
            if start.elapsed() > wheel.longest {
                break;
            }
            let lines = if wheel.down { step } else { -step };
            self.turn_wheel(at, (0, lines))?;
            let was = mem::replace(&mut turned.tree, self.moved(Some(Sent::Scroll))?);
            let now = &turned.tree;
            let Some(area) = now.find_again(tree, area) else {
                break;
            };
            turned.found = wanted(now, area);
            let look = look_of(now, area);
            if turned.found.is_some() || look != last {
                turned.lines += step;
                still = 0;
                pixels = pixels.max(shift(&was, (now, area)) / step);
            } else {
                still += 1;
            }
            if turned.found.is_some() {
                break;
            }
            if turned.texts.len() < TEXTS {
                turned.texts.extend(texts_in(now, area));
            }
            if still > 0 && self.target.is_some() {
                // Scrolling may have brought an inner area under the pointer, which would take the
                // wheel.
                let clear = clear_point(now, area, at).unwrap_or(at);
                still *= i32::from(clear == at);
                at = clear;
            }
            if still > 1 {
                turned.ended = true;
                break;
            }
            if still > 0 && !wheel.loads.is_zero() {
                self.desk.wait_for_change(wheel.loads)?;
                self.cancel.check()?;
            }
            last = look;
            if let (Some(place), 1..) = (place, pixels) {
                // Turns by half of the visible part, because the app may still be scrolling.
                step = (place.h / 2 / pixels).clamp(1, MOST_LINES);
            }
        }
        Ok(turned)
    }

    /// The tree once a turn of the wheel has had its effect.
    pub(super) fn moved(&mut self, sent: Option<Sent>) -> Result<Tree> {
        let awaits = Awaits {
            effect: Effect::Motion,
            sent,
            most: MOVES,
            ..Awaits::default()
        };
        await_quiet(self.desk, self.pid, awaits).map(|(_, tree)| tree)
    }
}

/// The area in which the element at `index` scrolls: the element itself, or a container of it.
pub(super) fn area_of(tree: &Tree, index: usize) -> usize {
    let scrolls = |at: &usize| is_area(&tree.elements[*at]) || overflows(tree, *at);
    let mut area = tree.outwards(index).find(scrolls).unwrap_or(index);
    // A list inside a viewport may be as tall as all of its rows. The viewport is the area then.
    let height = |at: usize| place_of(tree, at).map_or(0, |place| place.h);
    let is_port = |at: usize| matches!(tree.elements[at].role, Role::SCROLL_AREA | Role::GROUP);
    while let Some(outer) = tree.parent(area)
        && is_port(outer)
        && (1..height(area)).contains(&height(outer))
    {
        area = outer;
    }
    area
}

/// The point of an area that is nearest to `at` and where the wheel neither changes a control nor
/// scrolls an inner area: a list in the middle of a page takes the wheel for itself.
fn clear_point(tree: &Tree, area: usize, at: Point) -> Option<Point> {
    let place = place_of(tree, area)?;
    let is_clear = |point: &Point| {
        let found = tree.find_at(*point);
        found.is_some_and(|i| i == area || inner_areas(tree, i, area).is_some_and(|n| n == 0))
    };
    let spots = || wheel_spots(tree, area, place, at);
    let far = |point: &Point| (point.x.abs_diff(at.x)).max(point.y.abs_diff(at.y));
    let clear = spots().filter(is_clear).min_by_key(far);
    clear.or_else(|| spots().next())
}

/// The number of scrolling areas between an element and `area`, which is around it. `None` if the
/// element is not inside `area`.
fn inner_areas(tree: &Tree, index: usize, area: usize) -> Option<usize> {
    let scrolls = |at: &usize| is_area(&tree.elements[*at]) || overflows(tree, *at);
    let inside = tree.is_inside(index, area);
    inside.then(|| {
        let around = tree.outwards(index).take_while(|at| *at != area);
        around.filter(scrolls).count()
    })
}

/// The element with this text that is scrolled away in an area inside `area`.
fn in_inner_area(tree: &Tree, area: Option<usize>, text: &str) -> Option<usize> {
    let area = area?;
    let inside = |i: usize| inner_areas(tree, i, area).is_some_and(|n| n > 0);
    let found = tree.find_text_among(inside, text, None)?.index;
    let shown = Texts::new(tree).text(tree, found)?.shown.clone();
    (!tree.elements[found].visible && !cuts_numbers(&shown, text)).then_some(found)
}

fn is_area(element: &Element) -> bool {
    #[rustfmt::skip]
    const AREAS: [Role; 10] = [
        Role::SCROLL_AREA, Role::LIST, Role::TABLE, Role::OUTLINE, Role::GRID, Role::MENU,
        Role::WEB_AREA, Role::TEXT_AREA, Role::WINDOW, Role::POPOVER,
    ];
    AREAS.contains(&element.role)
}

/// Whether a child of the element lies below or above the element's bounds. Parts of web pages that
/// scroll have no role of their own.
fn overflows(tree: &Tree, index: usize) -> bool {
    let Some(place) = place_of(tree, index) else {
        return false;
    };
    let outside = |e: &Element| {
        e.place()
            .is_some_and(|c| c.y >= place.y + place.h || c.y + c.h <= place.y)
    };
    let mut children = tree.elements.iter().skip(index + 1);
    children.any(|e| e.parent == Some(index) && outside(e))
}

fn place_of(tree: &Tree, index: usize) -> Option<Rect> {
    tree.elements[index].place()
}

fn shows_in(tree: &Tree, index: usize, area: usize) -> bool {
    let element = &tree.elements[index];
    let center = place_of(tree, index).map(|place| place.center());
    let inside = |center| place_of(tree, area).is_none_or(|area| area.contains(center));
    element.visible && center.is_none_or(inside)
}

/// The texts that show in an area.
fn texts_in(tree: &Tree, area: usize) -> Vec<String> {
    let texts = Texts::new(tree);
    let showing = (area + 1..tree.elements.len())
        .filter(|i| tree.elements[*i].visible && tree.is_inside(*i, area));
    let text = |i| Some(texts.text(tree, i)?.shown.trim().to_owned());
    showing.filter_map(text).collect()
}

/// A hash of the visible elements of an area and their places.
fn look_of(tree: &Tree, area: usize) -> u64 {
    let mut hasher = DefaultHasher::new();
    for (i, e) in tree.elements.iter().enumerate().skip(area + 1) {
        if e.visible && !e.role.is_scroll_bar_part() && tree.is_inside(i, area) {
            e.id.hash(&mut hasher);
            e.extents.map(|r| (r.x, r.y)).hash(&mut hasher);
            e.title.shown.hash(&mut hasher);
        }
    }
    hasher.finish()
}

/// Whether a text contains the wanted one only as a part of a longer number, as "Line 30" contains
/// "Line 3". Scrolling continues past such a text.
fn cuts_numbers(shown: &str, wanted: &str) -> bool {
    let (shown, wanted) = (fold(shown), fold(wanted));
    let is_digit = |c: Option<char>| c.is_some_and(char::is_numeric);
    let digits = |sides: [Option<char>; 2]| sides.into_iter().all(is_digit);
    let mut found = shown.match_indices(&*wanted).peekable();
    found.peek().is_some()
        && found.all(|(at, part)| {
            let (before, after) = (&shown[..at], &shown[at + part.len()..]);
            digits([part.chars().next(), before.chars().next_back()])
                || digits([part.chars().next_back(), after.chars().next()])
        })
}

/// The largest distance, in pixels, by which a row has moved between two readings that both show
/// it. A row is known by its title too, because a list may show other rows in the same elements.
fn shift(was: &Tree, (now, area): (&Tree, usize)) -> i32 {
    let row = |e: &Element| Some((e.id.clone(), e.title.shown.clone(), e.extents?.y));
    let shows = |e: &&Element| e.visible && !e.title.is_blank();
    let before: HashMap<_, _> = (was.elements.iter().filter(shows).filter_map(row))
        .map(|(id, title, y)| ((id, title), y))
        .collect();
    let inside = now.elements.iter().enumerate().skip(area + 1);
    let inside = inside.filter(|(i, e)| shows(e) && now.is_inside(*i, area));
    let moved = inside.filter_map(|(_, e)| {
        let (id, title, y) = row(e)?;
        Some((before.get(&(id, title))? - y).abs())
    });
    moved.max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::cuts_numbers;

    #[test]
    fn a_part_of_a_longer_number_does_not_match() {
        for (shown, wanted) in [("Line 30", "line 3"), ("115 kB", "15 kB"), ("v1.25", "1.2")] {
            assert!(cuts_numbers(shown, wanted), "{shown:?} {wanted:?}");
        }
        for (shown, wanted) in [
            ("Line 3", "line 3"),
            ("Lines", "Line"),
            ("Total: 42 €", "Total"),
            ("30, then Line 3", "line 3"),
            ("Line 3a", "Line 3"),
            ("no such text", "Line"),
        ] {
            assert!(!cuts_numbers(shown, wanted), "{shown:?} {wanted:?}");
        }
    }
}
