//! Brings targets into view, and finds the points to click and to drag between.

use std::time::Duration;

use deskline_core::{Element, Point, Rect, Role, Tree, TreeWindow, summary, tag};

use super::action::Act;
use super::front::{Wanted, in_menu_bar};
use super::wheel::{LINE, scrollers, showing_alike, wheel};
use crate::call::Target;
use crate::checkpoint::Checkpoint;
use crate::display::{Window, WindowId};
use crate::error::{Error, Result, TargetError};
use crate::ocr::is_from_picture;
use crate::reader::WHOLE;
use crate::resolve::lookup::{self, Resolved};
use crate::resolve::targets::DropOn;
use crate::settle::readback::LATE;
use crate::trees::{Deed, Scope, Sent};
use crate::wait;
use deskline_input::clock::Instant;

/// The maximum number of wheel turns to bring an element into view.
const WHEEL_TURNS: usize = 60;

const WHEEL_TIME: Duration = Duration::from_secs(10);

/// How long to wait before a click until an element stops moving.
pub(super) const MOVES: Duration = Duration::from_secs(1);

/// A target that is in front and in view.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Reached {
    /// The point to click.
    pub(crate) point: Point,
    /// The bounds of the element that the point is in.
    pub(super) place: Option<Rect>,
    /// The target's name for the summary.
    pub(crate) name: String,
    /// Whether the target had to be scrolled into view, which may have moved other elements.
    pub(super) scrolled: bool,
    /// Where the pointer was moved to for this target, and when.
    pub(super) arrived: Option<(Point, Instant)>,
    /// The target's window, and the window's bounds when the point was found.
    pub(super) window: Option<(WindowId, Rect)>,
}

impl Reached {
    pub(super) fn at(self, point: Point, place: Rect) -> Self {
        Self {
            point,
            place: Some(place),
            ..self
        }
    }
}

/// How many times to look for a target whose window moves. A display that can tell that a window
/// still moves refuses input to it.
const AGAIN: usize = 4;

impl Act<'_, '_> {
    /// Brings the target to the front and into view, for input right afterwards.
    pub(crate) fn reach(&mut self, target: &Resolved) -> Result<Reached> {
        let reached = self.bring(target)?;
        self.where_now(target, reached)
    }

    /// Brings the target to the front and into view. [`Act::where_now`] has to follow before any
    /// input.
    pub(super) fn bring(&mut self, target: &Resolved) -> Result<Reached> {
        let at = |point, place, name: &str, scrolled| Reached {
            point,
            place,
            name: name.to_owned(),
            scrolled,
            arrived: None,
            window: None,
        };
        if target.given {
            let point = target.point.ok_or_else(|| no_place(&target.name))?;
            let name = self.front_at(target, point)?;
            return Ok(at(point, None, &name, false));
        }
        let (Some(index), Some(tree)) = (target.index, self.tree) else {
            return Err(no_place(&target.name));
        };
        let middle = |place| lookup::click_point(tree, index, place);
        if tree.elements[index].visible {
            let reread = self.front(Wanted::Element(index))?;
            // A tree that is read after raising lacks the elements from the picture, so they keep
            // their old bounds.
            let can_reread = !is_from_picture(&tree.elements[index].id);
            let reread = reread.filter(|_| can_reread);
            let (place, window) = if let Some(now) = &reread {
                // Take the bounds from the new reading.
                let seen = seen_in(now, tree, index);
                seen.map_or_else(|| self.look_for(tree, index), Ok)?
            } else {
                let place = tree.elements[index].place();
                let place = place.ok_or_else(|| no_place(&target.name))?;
                (place, window_of(tree, index).filter(|_| can_reread))
            };
            let free = || beside_windows((tree, index), reread.as_ref(), place, middle(place));
            let point = self.words(target, place).unwrap_or_else(free);
            let mut reached = at(point, Some(place), &target.name, false);
            reached.window = window;
            self.arrive(target, &mut reached)?;
            return Ok(reached);
        }
        // Raising the window may make the element visible: the screen shows the menu bar of the
        // front app, and a minimised window has no visible elements (on Windows none at all).
        let windows = tree.windows_of(index);
        let is_away = !windows.is_empty() && windows.iter().all(|window| !window.on_screen);
        let comes = in_menu_bar(tree, index) || is_away;
        let in_page = tree.page_around(index).is_some();
        if !comes && !in_page && scrollers(tree, index).next().is_none() {
            return Err(not_showing(tree, index));
        }
        self.front(Wanted::Element(index))?;
        self.desk.ungrab();
        let place = if comes {
            let now = self.desk.read(self.pid, Scope::Showing)?;
            seen(&now, tree, index).ok_or_else(|| not_showing(tree, index))?
        } else {
            self.scroll_to(tree, index)?
        };
        self.front(Wanted::Element(index))?;
        Ok(at(middle(place), Some(place), &target.name, !comes))
    }

    /// The middle of the words that the call names, if they are a part of a longer text. The other
    /// words of the text may be links.
    fn words(&mut self, target: &Resolved, place: Rect) -> Option<Point> {
        let (tree, index) = self.tree.zip(target.index.filter(|_| target.is_part))?;
        let element = &tree.elements[index];
        let wanted = lookup::target_of(self.action).filter(|_| element.role == Role::STATIC_TEXT);
        let Some(Target::Text { text, .. }) = wanted else {
            return None;
        };
        let (all, part) = (
            element.title.shown.to_lowercase(),
            text.trim().to_lowercase(),
        );
        let (head, _) = all.split_once(&*part)?;
        let at = head.chars().count() + part.chars().count() / 2;
        let words = self.desk.character(tree, index, at).ok()??.center();
        place.contains(words).then_some(words)
    }

    /// Finds the target again if its window has moved since `reached` was found: the pictures
    /// before input and the questions to the app take a while.
    pub(super) fn where_now(&mut self, target: &Resolved, mut reached: Reached) -> Result<Reached> {
        let (Some(tree), Some(index)) = (self.tree, target.index) else {
            return Ok(reached);
        };
        for _ in 0..AGAIN {
            if !self.has_moved(reached.window)? {
                reached = self.received(target, reached)?;
                if !self.has_moved(reached.window)? {
                    break;
                }
            }
            self.desk.ungrab();
            let (place, window) = self.look_for(tree, index)?;
            self.front(Wanted::Element(index))?;
            reached.point = lookup::click_point(tree, index, place);
            (reached.place, reached.window) = (Some(place), window);
        }
        self.desk.expect_at(reached.window.map(|(_, place)| place));
        Ok(reached)
    }

    /// Whether the window has other bounds now: the person may have moved it, or a window manager
    /// has started, which puts new frames around all windows.
    pub(super) fn has_moved(&mut self, window: Option<(WindowId, Rect)>) -> Result<bool> {
        let Some((id, known)) = window else {
            return Ok(false);
        };
        let windows = self.desk.windows_of(self.pid)?;
        let now = windows.iter().find(|window| window.id == id);
        Ok(now.is_some_and(|now| now.extents.is_some_and(|now| now != known)))
    }

    /// Brings the window at a given point to the front. Returns the name of the element there, for
    /// the summary.
    fn front_at(&mut self, target: &Resolved, point: Point) -> Result<String> {
        self.front(self.wanted_at(point))?;
        let sure = |tree: &Tree, index| tree.windows_of(index).len() < 2;
        if let (Some(tree), Some(index)) = (self.tree, target.index)
            && !sure(tree, index)
        {
            // The app has similar windows, so the element may be in another of them.
            let window = tree.window_at(point).map(|window| window.id);
            let now = window.map(|window| self.known(window)).transpose()?;
            let now = now.flatten();
            let index = now.as_ref().and_then(|now| now.find_at(point));
            return Ok(match now {
                Some(now) => lookup::name_at(&now, index, point),
                None => lookup::name_at(tree, None, point),
            });
        }
        Ok(target.name.clone())
    }

    /// The two ends of a drag, both in view, with the window of the start in front.
    pub(crate) fn reach_both(&mut self, from: &Resolved, to: &Resolved) -> Result<(Point, Point)> {
        let start = self.reach(from)?;
        let (start, end) = match (self.tree, to.index.filter(|_| !to.given)) {
            (Some(tree), Some(index)) if start.scrolled || !tree.elements[index].visible => {
                self.desk.ungrab();
                self.bring_end(tree, (from, start.point), index)?
            }
            _ => {
                let end = to.point.ok_or_else(|| no_place(&to.name))?;
                (start.point, self.takes_drop(to, end)?)
            }
        };
        // A reading may have released the grab.
        self.front(self.wanted(from))?;
        self.check_end(to, end)?;
        Ok((start, end))
    }

    /// The two ends of a drag that ends in another app, both in view. The window dragged from is in
    /// front, because the press of the button would raise it anyway, and the other app's window is
    /// right behind it.
    pub(crate) fn reach_across(&mut self, from: &Resolved, to: &DropOn) -> Result<(Point, Point)> {
        let end = self.on(to.pid, &to.tree, &to.target).reach(&to.target)?;
        let onto = self.desk.front()?;
        let start = self.reach(from)?;
        let end = match onto {
            Some(onto) => uncovered(self.desk, &end, &onto)?,
            None => end.point,
        };
        Ok((start.point, end))
    }

    /// Brings the end of a drag into view, and checks that its start is still in view.
    fn bring_end(
        &mut self,
        tree: &Tree,
        (from, start): (&Resolved, Point),
        to: usize,
    ) -> Result<(Point, Point)> {
        let mut now = self.look()?;
        if seen(&now, tree, to).is_none() {
            let again = now.find_again(tree, to);
            let index = again.ok_or(TargetError::DragEndGone)?;
            self.scroll_to(&now, index)?;
            now = self.look()?;
        }
        let start = match from.index.filter(|_| !from.given) {
            Some(index) => seen(&now, tree, index).map(|place| place.center()),
            None => Some(start),
        };
        match (start, seen(&now, tree, to)) {
            (Some(start), Some(end)) => Ok((start, end.center())),
            _ => Err(TargetError::DragTooFar(from.name.clone()).into()),
        }
    }

    /// Fails if another window of the app covers the end of a drag.
    fn check_end(&mut self, to: &Resolved, end: Point) -> Result<()> {
        let index = to.index.filter(|_| !to.given);
        let (Some(tree), Some(index)) = (self.tree, index) else {
            return Ok(());
        };
        let its: Vec<WindowId> = tree.windows_of(index).iter().map(|w| w.id).collect();
        let windows = self.desk.windows_of(self.pid)?;
        match windows
            .iter()
            .find(|w| w.extents.is_some_and(|place| place.contains(end)))
        {
            Some(top) if !its.is_empty() && !its.contains(&top.id) => {
                Err(TargetError::drag_end_covered(&top.title, &to.name).into())
            }
            _ => Ok(()),
        }
    }

    /// Turns the wheel. Over a thin scroll bar of GTK, first waits until the bar has grown under
    /// the pointer: a thin bar ignores the wheel.
    pub(super) fn turn_wheel(&mut self, at: Point, lines: (i32, i32)) -> Result<()> {
        /// A thin bar has 6 units and a grown one 15, each of one or two pixels.
        const THIN: i32 = 14;
        const GROWS: Duration = Duration::from_millis(500);
        let is_thin = |tree: &Tree| {
            tree.elements.iter().any(|e| {
                let bar = e.place().filter(|bar| bar.w < THIN && bar.h > bar.w);
                e.visible
                    && e.role == Role::SCROLL_BAR
                    && bar.is_some_and(|bar| bar.grown(THIN).contains(at))
            })
        };
        if self.tree.is_some_and(is_thin) {
            self.desk.hover(at)?;
            let tree = self.desk.read(self.pid, Scope::Showing)?;
            self.read_until(tree, GROWS, |tree| !is_thin(tree))?;
        }
        self.desk.scroll(at, lines)
    }

    /// The bounds of the target in a new reading, and the window that they are in.
    fn look_for(&mut self, tree: &Tree, index: usize) -> Result<Placed> {
        let seen = look_again(self.desk, self.pid, (tree, index))?;
        seen.map(|(_, placed)| placed)
            .ok_or_else(|| not_showing(tree, index))
    }

    pub(super) fn look(&mut self) -> Result<Tree> {
        self.desk.read(self.pid, WHOLE)
    }

    /// Scrolls the element into view: through the toolkit if it can, else with the wheel over its
    /// scroll area. Finds the element again in each new reading.
    pub(super) fn scroll_to(&mut self, tree: &Tree, index: usize) -> Result<Rect> {
        let element = &tree.elements[index].id;
        if self.desk.act(element, Deed::ScrollIntoView)? {
            let now = self.moved(Some(Sent::Scroll))?;
            // A part of a page may be opening or scroll smoothly.
            if tree.page_around(index).is_some() {
                let comes = |now: &Tree| {
                    let at = now.find_again(tree, index);
                    at.is_some_and(|at| shows_middle(now, at))
                };
                self.read_until(now, MOVES, comes)?;
            }
        }
        let start = Instant::now();
        let mut last = None::<(usize, Option<Rect>, _)>;
        let (mut line, mut turned) = (LINE, 1);
        // The number of containers around the element, from the innermost, in which the wheel moved
        // nothing.
        let mut level = 0;
        for _ in 0..WHEEL_TURNS {
            let now = self.look()?;
            let Some(at) = now.find_again(tree, index) else {
                break;
            };
            let place = now.elements[at].place();
            // What is fixed at the edge of a page stays there.
            let stays = last.is_none() && place == tree.elements[index].place();
            let is_there = shows_middle(&now, at) || stays && shows(&now, at);
            if let Some(place) = place.filter(|_| is_there) {
                return Ok(place);
            }
            if let (Some((_, Some(was), _)), Some(now)) = (last, place) {
                let far = (now.x - was.x).abs().max((now.y - was.y).abs());
                line = line.max(far / turned);
            }
            // Of what is larger than its container, only the place changes.
            let showing = showing_alike(&now, at, level);
            let showing = showing.map(|ends| (ends, now.elements[ends.0].extents));
            if last == Some((level, place, showing)) {
                // The wheel moved nothing there, or the app reports the motion late.
                if self.desk.wait_for_change(LATE)?.is_some() {
                    last = None;
                    continue;
                }
                level += 1;
            }
            let Some((area, lines)) = wheel(&now, (at, level), line) else {
                break;
            };
            if start.elapsed() > WHEEL_TIME {
                break;
            }
            last = Some((level, place, showing));
            self.grab()?;
            self.turn_wheel(area, lines)?;
            self.desk.ungrab();
            self.moved(None)?;
            turned = (lines.0 + lines.1).abs().max(1);
        }
        let focused = self.scroll_by_focus(tree, index)?;
        focused.ok_or_else(|| not_showing(tree, index))
    }

    /// Scrolls a control into view by giving it the focus: that works also where the wheel would
    /// change a control. Returns the bounds that it has then.
    fn scroll_by_focus(&mut self, tree: &Tree, index: usize) -> Result<Option<Rect>> {
        let Element { id, role, .. } = &tree.elements[index];
        if !role.is_interactive() || self.desk.act(id, Deed::Focus).is_err() {
            return Ok(None);
        }
        let now = self.moved(Some(Sent::Scroll))?;
        let now = self.read_until(now, LATE, |now| seen(now, tree, index).is_some())?;
        Ok(seen(&now, tree, index))
    }
}

/// The point of a drag's end that no other window covers once the window dragged from is raised. Of
/// several points, the one nearest to the middle of `end`.
fn uncovered(desk: &mut Checkpoint<'_>, end: &Reached, onto: &Window) -> Result<Point> {
    /// The number of points to try on each side.
    const GRID: i32 = 16;
    /// How far outside its bounds a window may also take drops: in its shadow, and in a title bar
    /// above its bounds.
    const NEAR: [(i32, i32); 5] = [(-8, 0), (8, 0), (0, -8), (0, 8), (0, 48)];
    /// How long GNOME may list windows in their old order. It updates the order with its next
    /// frame.
    const RESTACKS: Duration = Duration::from_millis(300);
    const LOOK: Duration = Duration::from_millis(10);
    let from = desk.front()?;
    let (mut windows, mut at) = (Vec::new(), 0);
    wait::holds(desk.cancel, RESTACKS, LOOK, || {
        windows = desk.every_window()?;
        let place = |id| windows.iter().position(|w| w.id == id);
        let hidden = || TargetError::DragEndHidden(onto.title.clone());
        at = place(onto.id).ok_or_else(hidden)?;
        let above = from.as_ref().and_then(|from| place(from.id));
        Ok(above.is_some_and(|above| above + 1 == at))
    })?;
    let over = |point: Point| {
        let holds = |w: &&Window| w.extents.is_some_and(|place| place.contains(point));
        windows[..at].iter().find(holds)
    };
    let beside = |point: Point| {
        NEAR.into_iter().any(|(x, y)| {
            let x = point.x.saturating_add(x);
            let y = point.y.saturating_add(y);
            over(Point { x, y }).is_some()
        })
    };
    let shows = end.place.zip(onto.extents);
    let shows = shows.map(|(place, window)| place.intersect(&window));
    let places = shows.into_iter().flat_map(|Rect { x, y, w, h }| {
        let nth = |from: i32, length: i32, n: i32| from + length * (2 * n + 1) / (2 * GRID);
        let row = move |j| (0..GRID).map(move |i| (nth(x, w, i), nth(y, h, j)));
        (0..GRID).flat_map(row).map(|(x, y)| Point { x, y })
    });
    let places = [end.point].into_iter().chain(places);
    let free = places.filter(|point| over(*point).is_none());
    let way = |point: &Point| {
        let (dx, dy) = (point.x - end.point.x, point.y - end.point.y);
        (beside(*point), i64::from(dx).pow(2) + i64::from(dy).pow(2))
    };
    free.min_by_key(way).ok_or_else(|| {
        let title = over(end.point).map_or("", |top| top.title.as_str());
        TargetError::drag_end_covered(title, &end.name).into()
    })
}

/// The point, or another one of the element's bounds if a window of the app that stays above lies
/// over it, such as a window of tools.
fn beside_windows(
    (known, index): (&Tree, usize),
    reread: Option<&Tree>,
    place: Rect,
    point: Point,
) -> Point {
    /// How far the frame and the title bar of a window may reach beyond its bounds.
    const FRAME: i32 = 8;
    const TITLE: i32 = 40;
    let tree = reread.unwrap_or(known);
    let top = tree.find_again(known, index);
    let top = top.and_then(|index| tree.toplevel(index));
    let is_own = |window: &TreeWindow| top.is_some_and(|top| window.elements == [top]);
    let own = tree.windows.iter().position(is_own).unwrap_or(0);
    let over = tree.windows[..own].iter().filter(|window| window.on_screen);
    let framed = |Rect { x, y, w, h }| {
        let (x, y) = (i32::saturating_sub(x, FRAME), i32::saturating_sub(y, TITLE));
        Rect::at(x, y, w + 2 * FRAME, h + TITLE + FRAME)
    };
    let over: Vec<Rect> = over.map(|window| framed(window.extents)).collect();
    let is_free = |at: &Point| !over.iter().any(|window| window.contains(*at));
    let mut points = [point].into_iter().chain(spots(place));
    points.find(is_free).unwrap_or(point)
}

/// Points of a box, the likeliest first. Some lie in the middles of the lines of a wrapped text,
/// others at the ends of its first and last line.
pub(super) fn spots(place: Rect) -> impl Iterator<Item = Point> {
    const EIGHTHS: [i32; 5] = [4, 7, 1, 6, 2];
    let at = move |x: i32, y: i32| Point {
        x: place.x.saturating_add(place.w.saturating_mul(x) / 8),
        y: place.y.saturating_add(place.h.saturating_mul(y) / 8),
    };
    let lines = [4, 2, 6, 1, 7];
    lines
        .into_iter()
        .flat_map(move |y| EIGHTHS.into_iter().map(move |x| at(x, y)))
}

/// The window of an element, if it is known, and the window's bounds when the tree was read.
fn window_of(tree: &Tree, index: usize) -> Option<(WindowId, Rect)> {
    match tree.windows_of(index)[..] {
        [window] => Some((window.id, window.extents)),
        _ => None,
    }
}

/// The bounds that an element of an earlier tree has now, if it is visible.
fn seen(now: &Tree, tree: &Tree, index: usize) -> Option<Rect> {
    seen_in(now, tree, index).map(|(place, _)| place)
}

/// The bounds of an element, and the window that they are in.
type Placed = (Rect, Option<(WindowId, Rect)>);

/// The bounds that [`seen`] returns, and the window that they are in.
pub(super) fn seen_in(now: &Tree, tree: &Tree, index: usize) -> Option<Placed> {
    let index = now.find_again(tree, index)?;
    let place = now.elements[index].place();
    let place = place.filter(|_| shows(now, index))?;
    Some((place, window_of(now, index)))
}

/// A new reading in which the target shows, with its bounds and the window that they are in.
pub(super) fn look_again(
    desk: &mut Checkpoint<'_>,
    pid: u32,
    (tree, index): (&Tree, usize),
) -> Result<Option<(Tree, Placed)>> {
    for scope in [Scope::Showing, WHOLE] {
        let now = desk.read(pid, scope)?;
        if let Some(placed) = seen_in(&now, tree, index) {
            return Ok(Some((now, placed)));
        }
        if tree.page_around(index).is_none() {
            break;
        }
    }
    Ok(None)
}

/// Whether an element shows, or a part of it is in the part of a page that shows: what something
/// else covers wholly, Firefox reports as scrolled away.
fn shows(tree: &Tree, index: usize) -> bool {
    let page = tree.page_around(index);
    let in_page = page.is_some_and(|page| tree.elements[page].visible);
    let place = tree.elements[index].place().filter(|_| in_page);
    let fits = |place| lookup::fits(tree.part_in_view(index, place));
    tree.elements[index].visible || place.is_some_and(fits)
}

/// Whether an element [`shows`] with its middle.
fn shows_middle(tree: &Tree, index: usize) -> bool {
    let place = tree.elements[index].place().filter(|_| shows(tree, index));
    tree.elements[index].visible
        || place.is_some_and(|place| tree.is_in_view(index, place.center()))
}

/// The error for an element that is not in view. Names the call that scrolls it into view, or else
/// the element that contains it.
pub(super) fn not_showing(tree: &Tree, index: usize) -> Error {
    let name = summary::name_of(tree, index);
    if let Some((area, _)) = scrollers(tree, index).next()
        && let Some((at, (0, lines))) = wheel(tree, (index, 0), LINE)
    {
        let holder = summary::name_of(tree, area) + &tag(tree.elements[area].reference);
        return TargetError::scrolled_away(&name, &holder, at, lines).into();
    }
    let mut around = tree.outwards(index).skip(1);
    let holder = around.find(|at| tree.elements[*at].visible);
    let holder = holder.map(|at| summary::name_of(tree, at));
    TargetError::not_showing(&name, holder.as_deref()).into()
}

fn no_place(name: &str) -> Error {
    TargetError::NoBounds(name.to_owned()).into()
}
