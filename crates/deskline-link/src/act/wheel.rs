//! Where to turn the wheel, and by how many lines, to bring an element into view. Computed from the
//! tree alone.

use deskline_core::{Point, Rect, Role, Tree};

/// The approximate distance of one line of the wheel, in pixels, in any toolkit. A list of Qt may
/// scroll by three rows of any height.
pub(super) const LINE: i32 = 50;

pub(super) fn is_holder(tree: &Tree, at: usize) -> bool {
    matches!(
        tree.elements[at].role,
        Role::SCROLL_AREA | Role::LIST | Role::TABLE | Role::OUTLINE | Role::WEB_AREA
    )
}

/// The candidates for scrolling an element: its visible ancestors whose bounds do not contain the
/// element's centre, the innermost first, each with its bounds.
pub(super) fn scrollers(tree: &Tree, index: usize) -> impl Iterator<Item = (usize, Rect)> + '_ {
    let place = tree.elements[index].place();
    let around = move || tree.outwards(index).skip(1);
    around()
        .zip(tree.outwards(index))
        .filter_map(move |(at, inner)| {
            let element = &tree.elements[at];
            // Qt's lists, tables and trees scroll themselves.
            let scrolls = is_holder(tree, at);
            // Firefox's lists of choices are menus.
            let outer = element.parent.and_then(|outer| tree.elements.get(outer));
            let in_combo = outer.is_some_and(|outer| outer.role == Role::COMBO_BOX);
            let scrolls = scrolls || element.role == Role::MENU && in_combo;
            // In a page any part may scroll without being reported as scrollable.
            let part = place.is_some() && tree.page_around(at).is_some();
            let area = tree.below_headers(at).filter(|_| element.visible)?;
            // Qt has no role for its other scroll areas. They are smaller than their content.
            let larger = element.role != Role::WINDOW && tree.elements[inner].is_larger(area);
            if !scrolls && !part && !larger {
                return None;
            }
            let shows = place.is_some_and(|place| area.contains(place.center()));
            (!shows).then_some((at, area))
        })
}

/// The first and the last visible element of the same role as `index`, in the container at `level`.
/// If there are no such elements, the first and the last visible part of the content that scrolls
/// there: GTK 3 gives no place to what is scrolled away.
pub(super) fn showing_alike(tree: &Tree, index: usize, level: usize) -> Option<(usize, usize)> {
    let (area, bounds) = scrollers(tree, index).nth(level)?;
    let inside = || tree.inside(area).filter(|i| tree.elements[*i].visible);
    let ends = |mut alike: Box<dyn Iterator<Item = usize> + '_>| {
        let first = alike.next()?;
        Some((first, alike.last().unwrap_or(first)))
    };
    let role = tree.elements[index].role;
    let alike = ends(Box::new(
        inside().filter(|i| tree.elements[*i].role == role),
    ));
    let content = || {
        let placed = |at: &usize| tree.elements[*at].place().is_some();
        let content = tree.outwards(index).skip(1).find(placed)?;
        let parts = inside().filter(|i| tree.elements[*i].parent == Some(content));
        tree.elements[content]
            .is_larger(bounds)
            .then(|| ends(Box::new(parts)))?
    };
    alike.or_else(content)
}

/// Where to turn the wheel to bring an element into view, and by how many lines to the right and
/// down. The distance comes from the bounds of the element. GTK 3 reports no bounds for elements
/// that are scrolled away: then the index of the element among those of the visible elements gives
/// the direction, and the distance in pages.
pub(super) fn wheel(
    tree: &Tree,
    (index, level): (usize, usize),
    line: i32,
) -> Option<(Point, (i32, i32))> {
    const MOST_LINES: i32 = 10;
    let (holder, area) = scrollers(tree, index).nth(level)?;
    let by = |distance: i32| (distance.abs() / line).clamp(1, MOST_LINES) * distance.signum();
    let lines = match (
        tree.elements[index].place(),
        showing_alike(tree, index, level),
    ) {
        (Some(place), _) => {
            let (at, middle) = (place.center(), area.center());
            match by(at.y - middle.y) {
                _ if area.contains(Point { x: middle.x, ..at }) => (by(at.x - middle.x), 0),
                down => (0, down),
            }
        }
        (None, Some((first, last))) => {
            let page = (last - first).max(1);
            let (pages, sign) = if index < first {
                ((first - index) / page, -1)
            } else if index > last {
                ((index - last) / page, 1)
            } else {
                return None;
            };
            // One page less: the last turn could go too far.
            let pages = i32::try_from(pages).unwrap_or(i32::MAX).saturating_sub(1);
            let is_row = content(tree, index).is_some_and(|row| row.w > area.w && row.h <= area.h);
            let page = if is_row { area.w } else { area.h };
            let some = if is_row {
                page / LINE / 2
            } else {
                lines_for(Some(area))
            };
            let far = pages.saturating_mul(page) / LINE;
            let lines = far.min(MOST_LINES).max(some) * sign;
            if is_row { (lines, 0) } else { (0, lines) }
        }
        (None, None) => return None,
    };
    Some((wheel_spot(tree, holder, area)?, lines))
}

/// How many lines to turn the wheel at first, so that nothing is skipped: two thirds of the visible
/// part. A line has at most 60 pixels in any toolkit.
pub(super) fn lines_for(place: Option<Rect>) -> i32 {
    const LINE: i32 = 60;
    place.map_or(3, |place| (place.h * 2 / 3 / LINE).clamp(1, 10))
}

/// The bounds of the innermost ancestor that has bounds.
fn content(tree: &Tree, index: usize) -> Option<Rect> {
    tree.outwards(index)
        .skip(1)
        .find_map(|at| tree.elements[at].place())
}

/// The first of [`wheel_spots`], starting at the middle of `area`.
pub(super) fn wheel_spot(tree: &Tree, holder: usize, area: Rect) -> Option<Point> {
    wheel_spots(tree, holder, area, area.center()).next()
}

/// The points at which to turn the wheel over an area, the best first: `first`, then those near the
/// middle. No point is over a control that the wheel would change. Points to which the scrolling
/// would carry such a control come last, after a scroll bar, and only in a web page.
pub(super) fn wheel_spots(
    tree: &Tree,
    holder: usize,
    area: Rect,
    first: Point,
) -> impl Iterator<Item = Point> {
    const STEPS: [i32; 7] = [4, 3, 5, 2, 6, 1, 7];
    /// The distance from the edge, to miss controls that fill the width, in pixels.
    const EDGE: i32 = 3;
    /// The padding of sliders, which GTK 4 does not report as part of them, in pixels.
    const PADDING: i32 = 16;
    let takers = tree.inside(holder).map(|i| &tree.elements[i]);
    let takers = takers.filter(|e| changes_by_wheel(e.role));
    let takers = takers.filter_map(|e| Some((e.extents?, e.visible)));
    let takers: Vec<(Rect, bool)> = takers.collect();
    let columns = STEPS.into_iter().map(|x| area.w / 8 * x);
    let columns = columns.chain([EDGE, area.w.saturating_sub(EDGE)]);
    let at = |x: i32, y: i32| Point {
        x: area.x.saturating_add(x),
        y: area.y.saturating_add(area.h / 8 * y),
    };
    let spots = columns.flat_map(|x| STEPS.into_iter().map(move |y| at(x, y)));
    let holds = |(place, shows): &(Rect, bool), spot: &Point| *shows && place.contains(*spot);
    let is_free = |spot: &Point| !takers.iter().any(|taker| holds(taker, spot));
    let spots = std::iter::once(first).chain(spots).filter(is_free);
    let spots: Vec<Point> = spots.collect();
    let carried = |spot: &Point| {
        let columns = takers.iter().map(|(place, _)| place.grown(PADDING));
        let mut columns = columns.map(|r| r.contains(Point { y: r.y, ..*spot }));
        columns.any(|holds| holds)
    };
    // Browsers do not change a control that the scrolling carries under the pointer.
    let in_page = tree.page_around(holder).is_some();
    let (carried, beside): (Vec<Point>, Vec<Point>) = spots.into_iter().partition(carried);
    let bar = scroll_bar(tree, holder, area);
    beside
        .into_iter()
        .chain(bar)
        .chain(carried.into_iter().filter(move |_| in_page))
}

pub(super) fn changes_by_wheel(role: Role) -> bool {
    let number = matches!(role, Role::SLIDER | Role::INCREMENTOR | Role::TAB);
    number || matches!(role, Role::COMBO_BOX | Role::POP_UP_BUTTON)
}

/// The middle of the area's vertical scroll bar. Qt has it beside the area.
fn scroll_bar(tree: &Tree, holder: usize, area: Rect) -> Option<Point> {
    let around = tree.elements[holder].parent.unwrap_or(holder);
    let bars = tree.inside(around).map(|i| &tree.elements[i]);
    let mut bars = bars.filter(|e| e.role == Role::SCROLL_BAR && e.visible);
    let place = bars.find_map(|e| e.place().filter(|bar| bar.h > bar.w && bar.h >= area.h / 2))?;
    Some(place.center())
}
