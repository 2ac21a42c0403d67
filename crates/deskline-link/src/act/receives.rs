//! Right before a pointer event, asks the app what lies at the point. If that is not the target,
//! tries other points within the target's bounds, then turns the wheel to bring the target out.

use std::borrow::Cow;
use std::time::Duration;

use deskline_core::{Element, Point, Rect, Role, States, Tree, summary, tag};

use super::action::Act;
use super::reach::{MOVES, Reached, look_again, not_showing, seen_in, spots};
use super::wheel::{changes_by_wheel, is_holder, wheel_spot, wheel_spots};
use crate::checkpoint::Checkpoint;
use crate::error::{Error, Result, TargetError};
use crate::ocr::is_from_picture;
use crate::resolve::lookup::{self, Resolved};
use crate::settle::readback::LATE;
use crate::trees::{Deed, Hit, Sent};
use deskline_input::clock::Instant;

/// The time between two questions to an app that does not know its answer yet.
const ASKS: Duration = Duration::from_millis(3);

/// How long to go on asking an app that does not know its answer yet.
const ANSWERS: Duration = Duration::from_millis(1_200);

/// The polling interval while an element moves before a click.
const LOOK: Duration = Duration::from_millis(30);

/// How long an app may take to show what changes when the pointer arrives (one frame).
const ARRIVES: Duration = Duration::from_millis(20);

/// How long a menu may take to highlight the item that the pointer comes to.
const HIGHLIGHTS: Duration = Duration::from_millis(90);

/// How long a menu may take to move the highlight to another item. It takes longer right after one
/// page of the menu has slid over another.
const LEAVES: Duration = Duration::from_millis(400);

/// The maximum number of wheel turns to bring a covered element out.
const TURNS: usize = 6;

/// How many points to try within the bounds of a cover, which may not fill its bounds.
const UNDER: usize = 3;

/// How many points of an element to try for the wheel.
const SPOTS: usize = 8;

/// The most pixels by which one line of the wheel scrolls in any toolkit. Chromium scrolls this
/// far.
const LINE: i32 = 120;

/// The target in a reading.
struct Seen<'t> {
    tree: Cow<'t, Tree>,
    index: usize,
    place: Rect,
}

impl Seen<'_> {
    /// Whether the target is a menu item and `under` is another menu item or a menu.
    fn is_beside(&self, under: usize) -> bool {
        let role = |at: usize| self.tree.elements[at].role;
        let is_menus = matches!(role(under), Role::MENU | Role::MENU_ITEM);
        role(self.index) == Role::MENU_ITEM && is_menus
    }

    /// The element that lies over the target and does not contain it.
    fn cover(&self, receiver: &Receiver) -> Option<usize> {
        match receiver {
            Receiver::Other(Some(over)) if !self.tree.is_inside(self.index, *over) => Some(*over),
            _ => None,
        }
    }
}

/// What receives a click at one of the target's points.
enum Receiver {
    Target(Point),
    /// Perhaps the target: the app names an element around the target, or the given part of the
    /// target, which may act differently.
    Perhaps(Point, Option<usize>),
    /// The app cannot tell what receives the click.
    Unknown(Point),
    /// Another element: one of the tree, or one that the tree does not list (`None`).
    Other(Option<usize>),
    /// The target has moved since it was read, or something else begins or ceases to cover it.
    Moved,
    /// The reading is older than the raise of the target's window.
    Old,
}

impl<'a> Act<'a, '_> {
    /// Moves the pointer to the target if the app can be asked what lies at a point. So whatever
    /// moves or opens under the pointer does so before the app is asked, and a web page starts to
    /// work out its answer.
    pub(super) fn arrive(&mut self, target: &Resolved, reached: &mut Reached) -> Result<()> {
        let Some((tree, index)) = self.checked(target) else {
            return Ok(());
        };
        let in_page = tree.page_around(index).is_some();
        // Any other app is asked only after the pointer has moved there: right after its window was
        // raised, each answer takes a frame.
        let asks = in_page || tree.is_in_pop_up(index) || !self.desk.asks_apps();
        let mut ask = || self.desk.hit_test(tree, index, reached.point);
        if asks && matches!(ask(), Ok(Hit::Unknown) | Err(_)) {
            return Ok(());
        }
        self.desk.hover(reached.point)?;
        reached.arrived = Some((reached.point, Instant::now()));
        if in_page {
            let _ = self.desk.hit_test(tree, index, reached.point);
        }
        Ok(())
    }

    /// The target, if the app can be asked about it.
    fn checked(&self, target: &Resolved) -> Option<(&'a Tree, usize)> {
        let (tree, index) = self.tree.zip(target.index.filter(|_| !target.given))?;
        let element = tree.elements.get(index)?;
        let has_place = element.place().is_some() && element.visible;
        let is_disabled = element.states.contains(States::DISABLED);
        (has_place && !is_disabled && !is_from_picture(&element.id)).then_some((tree, index))
    }

    /// A point at which the target receives the click.
    ///
    /// # Errors
    /// [`TargetError::covered`] if something else of the app lies over the target.
    pub(super) fn received(&mut self, target: &Resolved, reached: Reached) -> Result<Reached> {
        let known = self.checked(target).or_else(|| {
            let scrolled = self.tree.zip(target.index);
            scrolled.filter(|_| reached.scrolled)
        });
        let Some(((tree, index), place)) = known.zip(reached.place) else {
            return Ok(reached);
        };
        let seen = if tree.elements[index].place() == Some(place) {
            let tree = Cow::Borrowed(tree);
            Seen { tree, index, place }
        } else {
            self.see_again((tree, index))?
        };
        self.received_at((tree, index), seen, reached, place)
    }

    /// [`Act::received`] for a target as it was `seen`. `shared` is the part of the target's bounds
    /// that is common to the last two readings.
    fn received_at(
        &mut self,
        (tree, index): (&'a Tree, usize),
        mut seen: Seen<'a>,
        mut reached: Reached,
        mut shared: Rect,
    ) -> Result<Reached> {
        let mut start = Instant::now();
        let (mut turns, mut comes, mut shifts, mut shift) = (0, 0, 0_usize, false);
        let is_item = tree.elements[index].role == Role::MENU_ITEM;
        let mut stays = if is_item { HIGHLIGHTS } else { ARRIVES };
        if is_item {
            let still = self.come_from_another((tree, index), &mut reached)?;
            seen = still.unwrap_or(seen);
        }
        // Waits until the app shows what the arrival of the pointer has changed.
        if reached.arrived.is_some() {
            self.has_come(&mut reached, stays)?;
        }
        loop {
            match self.receiver(&seen, reached.point)? {
                Receiver::Unknown(point) => return Ok(reached.at(point, seen.place)),
                Receiver::Target(point) | Receiver::Perhaps(point, _) => {
                    reached.point = point;
                    if self.has_come(&mut reached, stays)? {
                        return Ok(reached.at(point, seen.place));
                    }
                    if comes > TURNS {
                        return Err(moves(&seen));
                    }
                    comes += 1;
                    continue;
                }
                Receiver::Old => {}
                Receiver::Moved if start.elapsed() < MOVES => {
                    (stays, reached.arrived) = (LOOK, None);
                    self.cancel.wait(LOOK)?;
                }
                // The target may move so slowly that the point is still in it.
                Receiver::Moved if shared.contains(reached.point) => {
                    let point = reached.point;
                    return Ok(reached.at(point, seen.place));
                }
                Receiver::Moved => return Err(moves(&seen)),
                Receiver::Other(Some(under)) if shifts <= TURNS && seen.is_beside(under) => {
                    shift = self.has_come(&mut reached, stays)?;
                    if !shift {
                        continue;
                    }
                }
                Receiver::Other(cover) if turns < TURNS => {
                    let is_out = self.bring_out(&seen, cover)?;
                    turns = if is_out { turns + 1 } else { TURNS };
                    if !is_out {
                        self.leave(&seen, &mut reached)?;
                    }
                    start = Instant::now();
                }
                // The cover may go away, as a veil does once a page has loaded.
                Receiver::Other(Some(_)) if start.elapsed() < MOVES => self.cancel.wait(LOOK)?,
                Receiver::Other(cover) => return Err(covered(tree, &seen, cover).into()),
            }
            let now = self.see_again((tree, index))?;
            reached.point = if std::mem::take(&mut shift) && now.place == seen.place {
                shifts += 1;
                half_rows(seen.place, shifts)
            } else {
                lookup::click_point(&now.tree, now.index, now.place)
            };
            shared = seen.place.intersect(&now.place);
            seen = now;
        }
    }

    /// Waits until a menu that reports the item under the pointer stands still, and moves the
    /// pointer to another item. The target may be highlighted from the start: as the first item, or
    /// because the menu opened under the pointer. Only a highlight that follows the pointer to the
    /// target counts. `None` if the menu does not report the item under the pointer.
    fn come_from_another(
        &mut self,
        of: (&Tree, usize),
        reached: &mut Reached,
    ) -> Result<Option<Seen<'static>>> {
        let hit = self.desk.hit_test(of.0, of.1, reached.point);
        if matches!(hit, Ok(Hit::Unknown) | Err(_)) {
            return Ok(None);
        }
        let (start, mut seen) = (Instant::now(), self.see_again(of)?);
        // One page of the menu may slide over another.
        loop {
            self.cancel.wait(LOOK)?;
            let was = std::mem::replace(&mut seen, self.see_again(of)?);
            if was.place == seen.place || start.elapsed() >= MOVES {
                break;
            }
        }
        let item = seen.place;
        // The menu's other items, also those of its other sections, have the same width and left
        // edge.
        let is_other = |at: &Rect| (at.x, at.w) == (item.x, item.w) && at.y != item.y;
        let items = seen.tree.elements.iter();
        let items = items.filter(|e| e.role == Role::MENU_ITEM && e.visible);
        let others = items.filter_map(Element::place).filter(is_other);
        if let Some(other) = others.min_by_key(|other| other.y.abs_diff(item.y)) {
            // The side of the other item that is away from the target: even if the items are half a
            // row off, this point is not on the target.
            let eighths = if other.y < item.y { 1 } else { 7 };
            let y = other.y.saturating_add(other.h / 8 * eighths);
            let point = Point { y, ..item.center() };
            self.desk.hover(point)?;
            self.desk.until(LEAVES, LOOK, |desk| {
                let hit = desk.hit_test(&seen.tree, seen.index, point);
                let stays =
                    matches!(hit, Ok(Hit::Topmost(at)) if seen.tree.receives_for(at, seen.index));
                Ok((!stays).then_some(()))
            })?;
        }
        reached.point = lookup::click_point(&seen.tree, seen.index, seen.place);
        reached.arrived = None;
        Ok(Some(seen))
    }

    /// Whether the pointer has been at the point for `stays`, so that the app shows the effect of
    /// its arrival. If not, moves the pointer there and waits.
    fn has_come(&mut self, reached: &mut Reached, stays: Duration) -> Result<bool> {
        let point = reached.point;
        let arrived = reached.arrived.filter(|(at, _)| *at == point);
        if arrived.is_none() {
            self.desk.hover(point)?;
        }
        let since = arrived.map_or_else(Instant::now, |(_, since)| since);
        reached.arrived = Some((point, since));
        let wait = stays.saturating_sub(since.elapsed());
        self.cancel.wait(wait)?;
        Ok(wait.is_zero())
    }

    /// Moves the pointer to the window's corner: what covers the target may show only while the
    /// pointer is over it, as a tool tip does.
    fn leave(&mut self, seen: &Seen<'_>, reached: &mut Reached) -> Result<()> {
        let top = seen.tree.toplevel(seen.index);
        let top = top.and_then(|top| seen.tree.elements[top].place());
        if let Some(Rect { x, y, .. }) = top.filter(|_| reached.arrived.take().is_some())
            && let Err(e) = self.desk.hover(Point { x, y })
        {
            // A round corner may show another window.
            tracing::debug!("the pointer stays: {e}");
            self.cancel.check()?;
        }
        Ok(())
    }

    /// A point at which the target receives what is dropped there.
    ///
    /// # Errors
    /// [`TargetError::covered`] if something else of the app lies over the target.
    pub(super) fn takes_drop(&mut self, target: &Resolved, end: Point) -> Result<Point> {
        let known = self.checked(target);
        let Some((tree, index, place)) =
            known.and_then(|(tree, index)| Some((tree, index, tree.elements[index].place()?)))
        else {
            return Ok(end);
        };
        let seen = self.seen((tree, index), place)?;
        match self.receiver(&seen, end)? {
            Receiver::Target(point) | Receiver::Perhaps(point, _) | Receiver::Unknown(point) => {
                Ok(point)
            }
            Receiver::Moved | Receiver::Old => Ok(end),
            Receiver::Other(cover) => Err(covered(&seen.tree, &seen, cover).into()),
        }
    }

    /// The point over the target at which to turn the wheel. A click at `first` reaches the target.
    pub(super) fn wheel_over(
        &mut self,
        target: &Resolved,
        (area, first): (Rect, Point),
    ) -> Result<Point> {
        let Some((tree, index)) = self.tree.zip(target.index.filter(|_| !target.given)) else {
            return Ok(first);
        };
        let seen = self.seen((tree, index), area)?;
        // The wheel also carries what lies beside the target past the pointer, so the whole
        // container counts. Browsers do not change a control that is carried past the pointer.
        let holder = tree.outwards(index).find(|at| is_holder(tree, *at));
        let is_own =
            changes_by_wheel(tree.elements[index].role) || tree.page_around(index).is_some();
        let holder = holder.filter(|_| !is_own).unwrap_or(index);
        for spot in wheel_spots(tree, holder, area, first).take(SPOTS) {
            let asks = spot != first && area.contains(spot);
            let receiver = asks.then(|| self.at_point(&seen, spot));
            if !matches!(receiver.transpose()?, Some(Receiver::Other(_))) {
                return Ok(spot);
            }
        }
        Ok(first)
    }

    /// Finds the target in a new reading, if its window has just come to the front.
    fn seen(&mut self, (tree, index): (&'a Tree, usize), place: Rect) -> Result<Seen<'a>> {
        if self.desk.raised_now.is_some() {
            return self.see_again((tree, index));
        }
        let tree = Cow::Borrowed(tree);
        Ok(Seen { tree, index, place })
    }

    /// The target in a new reading, with its window in front as before.
    fn see_again(&mut self, (tree, index): (&Tree, usize)) -> Result<Seen<'static>> {
        let pid = self.pid;
        let seen = self.desk.until(MOVES, LOOK, |desk| {
            let seen = look_again(desk, pid, (tree, index))?;
            Ok(seen.and_then(|(now, (place, _))| {
                let index = now.find_again(tree, index)?;
                let tree = Cow::Owned(now);
                Some(Seen { tree, index, place })
            }))
        })?;
        seen.ok_or_else(|| not_showing(tree, index))
    }

    /// What receives a click on the target at `point`. If that is not the target, tries other
    /// points of the target, and takes the first point at which the target receives the click.
    fn receiver(&mut self, seen: &Seen<'_>, point: Point) -> Result<Receiver> {
        let is_spin = seen.tree.elements[seen.index].role == Role::INCREMENTOR;
        let text = |desk: &mut Checkpoint<'_>| {
            let text = desk.character(&seen.tree, seen.index, 0).ok().flatten();
            let text = text.map(|text| text.center());
            text.filter(|text| seen.place.contains(*text))
        };
        // In a right-to-left window the arrows of a spin button are at its left: take its text.
        let own_text = if is_spin { text(self.desk) } else { None };
        let first = own_text.unwrap_or(point);
        let shown = shown((&seen.tree, seen.index), seen.place, self.tree);
        // A menu item may lie half a row away from the place that its app reports.
        let is_cut = !shown.is_empty() && seen.place.contains(first) && !shown.contains(first);
        let first = if is_cut { shown.center() } else { first };
        let receiver = self.at_point(seen, first)?;
        if !matches!(receiver, Receiver::Other(_) | Receiver::Perhaps(..)) {
            return Ok(receiver);
        }
        let mut cover = seen.cover(&receiver);
        let mut left = UNDER;
        let points = text(self.desk).into_iter().chain(spots(shown));
        for point in points.filter(|point| *point != first && shown.contains(*point)) {
            self.cancel.check()?;
            let over = cover.and_then(|cover| seen.tree.elements[cover].place());
            if over.is_some_and(|over| over.contains(point)) {
                if left == 0 {
                    continue;
                }
                left -= 1;
            }
            match self.at_point(seen, point)? {
                other @ (Receiver::Other(_) | Receiver::Perhaps(..)) => {
                    cover = cover.or(seen.cover(&other));
                }
                other => return Ok(other),
            }
        }
        Ok(match receiver {
            Receiver::Perhaps(_, Some(part)) if !seen.tree.only_holds(seen.index) => {
                Receiver::Other(Some(part))
            }
            Receiver::Other(around) => Receiver::Other(cover.or(around)),
            receiver => receiver,
        })
    }

    fn at_point(&mut self, seen: &Seen<'_>, at: Point) -> Result<Receiver> {
        let is_old = matches!(seen.tree, Cow::Borrowed(_)) && self.desk.raised_now.is_some();
        let hit = self.desk.until(ANSWERS, ASKS, |desk| {
            let hit = desk.hit_test(&seen.tree, seen.index, at);
            let hit = hit.unwrap_or(Hit::Unknown);
            Ok((hit != Hit::Later).then_some(hit))
        })?;
        Ok(match hit.unwrap_or(Hit::Unknown) {
            Hit::Unknown | Hit::Later => Receiver::Unknown(at),
            Hit::Around => Receiver::Perhaps(at, None),
            Hit::InOrder(_) if is_old => Receiver::Old,
            Hit::InOrder(hit)
                if seen.tree.receives_for(hit, seen.index) && self.changes(seen, at) =>
            {
                Receiver::Moved
            }
            Hit::Topmost(hit) | Hit::InOrder(hit) => {
                let hit = seen.tree.over_cell(hit, seen.index, at);
                if seen.tree.receives_for(hit, seen.index) {
                    Receiver::Target(at)
                } else if seen.tree.is_around(hit, seen.index, at) {
                    Receiver::Perhaps(at, None)
                } else if seen.tree.is_inside(hit, seen.index) {
                    Receiver::Perhaps(at, Some(hit))
                } else {
                    Receiver::Other(Some(hit))
                }
            }
            Hit::Unlisted => Receiver::Other(None),
            Hit::Moved => Receiver::Moved,
        })
    }

    /// Whether another element has come to a point since the link's first reading, as when one page
    /// of a stack fades into another. It is then unknown which of the two is above.
    fn changes(&self, seen: &Seen<'_>, at: Point) -> bool {
        let known = self.tree.zip(self.target.and_then(|target| target.index));
        seen.tree.has_another_at(seen.index, at)
            && known.is_some_and(|(tree, index)| !tree.has_another_at(index, at))
    }

    /// Turns the wheel by as much as the target is covered. If an element around the target shows
    /// no part of the target, has the app scroll the target into view instead. Returns whether the
    /// target has moved.
    fn bring_out(&mut self, seen: &Seen<'_>, cover: Option<usize>) -> Result<bool> {
        let (tree, place) = (&seen.tree, seen.place);
        let has_moved = |now: &Tree| {
            let after = seen_in(now, tree, seen.index);
            after.map_or(tree.elements[seen.index].visible, |(now, _)| now != place)
        };
        let around = cover.filter(|around| tree.is_inside(seen.index, *around));
        let id = &tree.elements[seen.index].id;
        if around.is_some() && self.desk.act(id, Deed::ScrollIntoView)? {
            let now = self.moved(Some(Sent::Scroll))?;
            if has_moved(&self.read_until(now, LATE, has_moved)?) {
                return Ok(true);
            }
        }
        let outline = cover.and_then(|cover| outline(tree, cover, seen.index));
        let Some((over, is_beside)) = outline else {
            return Ok(false);
        };
        // In a web page any part may scroll, and shows only where all the parts around it show.
        let holds = |at: &usize| is_holder(tree, *at) || tree.page_around(*at).is_some();
        let holders: Vec<usize> = tree.outwards(seen.index).skip(1).filter(holds).collect();
        let mut last = None;
        for (nth, holder) in holders.iter().enumerate() {
            let areas = holders[nth..].iter();
            let areas = areas.filter_map(|at| tree.elements[*at].place());
            let area = areas.reduce(|area, outer| area.intersect(&outer));
            let area = area.filter(|area| !area.is_empty());
            let along = |rect: Rect| if is_beside { turned(rect) } else { rect };
            let by = |area: Rect| lines(along(area), along(place), along(over));
            let Some((area, lines)) = area.and_then(|area| Some((area, by(area)?))) else {
                continue;
            };
            let Some(at) = wheel_spot(tree, *holder, area) else {
                continue;
            };
            let turn = (at, if is_beside { (lines, 0) } else { (0, lines) });
            // At the same point the same part of a page takes the wheel.
            if last.replace(turn) == Some(turn) {
                continue;
            }
            self.turn_wheel(turn.0, turn.1)?;
            let now = self.moved(Some(Sent::Scroll))?;
            // Firefox sends no event for the scrolling.
            if has_moved(&self.read_until(now, LATE, has_moved)?) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// The bounds of the cover (of the whole bar if the cover is a control in a bar), and whether the
/// cover lies in the target's row, as a column that stays at the left does.
fn outline(tree: &Tree, cover: usize, target: usize) -> Option<(Rect, bool)> {
    let of = |at: usize| tree.elements[at].place();
    let (place, first) = (of(target)?, of(cover)?);
    let is_bar = |outer: &Rect| outer.h / 3 < place.h.max(first.h);
    let is_apart = |at: &usize| !tree.is_inside(target, *at);
    let around = tree.outwards(cover);
    let bars = around
        .take_while(is_apart)
        .filter_map(of)
        .take_while(is_bar);
    let over = bars.reduce(|bar, outer| outer.union(&bar))?;
    let shared = tree.outwards(cover).find(|at| !is_apart(at)).and_then(of);
    Some((
        over,
        shared.is_some_and(|shared| is_bar(&shared) && shared.w > over.w),
    ))
}

/// The rectangle with its axes exchanged.
fn turned(Rect { x, y, w, h }: Rect) -> Rect {
    Rect::at(y, x, h, w)
}

/// By how many lines to turn the wheel so that `place` is no longer under `over`, but still in
/// `area`. A positive number moves `place` up. `None` if there is no room.
fn lines(area: Rect, place: Rect, over: Rect) -> Option<i32> {
    let end = |rect: Rect| rect.y.saturating_add(rect.h);
    let up = end(place).saturating_sub(over.y);
    let down = end(over).saturating_sub(place.y);
    let fits_above = over.y.saturating_sub(place.h) >= area.y;
    let fits_below = end(over).saturating_add(place.h) <= end(area);
    let turn = |distance: i32| distance / LINE + 1;
    // There may be a bar at each edge: move the target away from the edge with the covering bar.
    let is_low = over.center().y > area.center().y;
    match (fits_above, fits_below) {
        (true, true) if is_low => Some(turn(up)),
        (true, false) => Some(turn(up)),
        (_, true) => Some(-turn(down)),
        (false, false) => None,
    }
}

/// The part of an element that the pages and scroll areas around it show. Leaves out the edges of a
/// page, and of a part of it that scrolls: the browser may not report what lies there, such as
/// Firefox's scroll bars over the content. `known` is an earlier tree, which may also have what is
/// scrolled away.
fn shown((tree, index): (&Tree, usize), place: Rect, known: Option<&Tree>) -> Rect {
    const BAR: i32 = 16;
    let mut part = tree.part_in_view(index, place);
    for at in tree.outwards(index).skip(1) {
        let Element { role, extents, .. } = &tree.elements[at];
        let Some(area) = *extents else { continue };
        let is_page = *role == Role::WEB_AREA;
        if tree.page_around(at).is_none() || part.intersect(&area) != part {
            continue;
        }
        let sizes = |tree: &Tree, at: usize| {
            let own = tree.elements[at].extents.unwrap_or(area);
            let inner = tree.inside(at).map(|inner| &tree.elements[inner]);
            let inner = inner.filter(|inner| inner.parent == Some(at));
            let all = inner.filter_map(|inner| inner.extents);
            let all = all.fold(own, |all, inner| all.union(&inner));
            [all.h > own.h, all.w > own.w]
        };
        let before = known.and_then(|known| Some(sizes(known, known.find_again(tree, at)?)));
        let [high, wide] = before.unwrap_or_else(|| sizes(tree, at));
        let bar = |scrolls: bool| if is_page || scrolls { BAR } else { 0 };
        let (right, low) = (bar(high), bar(wide));
        let free = Rect::at(area.x, area.y, area.w - right, area.h - low);
        let free = part.intersect(&free);
        if free.w.min(free.h) > BAR / 4 {
            part = free;
        }
    }
    part
}

/// The `n`th point to try for a menu item that is not where its app reports it: by half rows
/// further and further away, above and below in turn.
fn half_rows(place: Rect, n: usize) -> Point {
    let away = place.h / 2 * n.div_ceil(2) as i32;
    let middle = place.center();
    let y = middle
        .y
        .saturating_add(if n % 2 == 1 { -away } else { away });
    Point { y, ..middle }
}

fn moves(seen: &Seen<'_>) -> Error {
    TargetError::Moves(summary::name_of(&seen.tree, seen.index)).into()
}

/// The error for a covered target. The refs come from `known`, the tree that the call began with:
/// later readings have none.
fn covered(known: &Tree, seen: &Seen<'_>, cover: Option<usize>) -> TargetError {
    let mut around = seen.tree.outwards(seen.index);
    if cover.is_none() && around.any(|at| seen.tree.is_popover(at)) {
        return TargetError::MenuPlaceUnknown(seen.place.center());
    }
    let over = cover.map(|cover| {
        let control = seen.tree.control_around(cover);
        let name = summary::name_of(&seen.tree, control);
        let id = &seen.tree.elements[control].id;
        let known = known.elements.iter().find(|e| e.id == *id);
        name + &tag(known.and_then(|e| e.reference))
    });
    let name = summary::name_of(&seen.tree, seen.index);
    let is_around = cover.is_none_or(|cover| seen.tree.is_inside(seen.index, cover));
    if is_around && !seen.tree.elements[seen.index].visible {
        return TargetError::not_showing(&name, over.as_deref());
    }
    TargetError::covered(&name, over.as_deref())
}
