//! Signs that a tree is older than the window's picture.

use std::time::Duration;

use deskline_core::{Element, Matching, Rect, Role, States, Tree};

use crate::desktop::Desktop;
use crate::error::Result;
use crate::settle::readback::LATE;
use crate::trees::Scope;

/// How long to wait for the tree of a browser that shows no effect although the window's picture
/// has changed, and for elements that move without an event.
pub(crate) const AGREE: Duration = Duration::from_millis(500);

/// The places that change in the picture with any action: the clicked element, and the elements
/// that have or had the focus.
pub(crate) fn expected_places(
    before: Option<&Tree>,
    now: &Tree,
    target: Option<&Element>,
) -> Vec<Rect> {
    let focused = |tree: &Tree| {
        let focused = |e: &&Element| e.states.contains(States::FOCUSED);
        let places: Vec<_> = tree.elements.iter().filter(focused).collect();
        places.into_iter().filter_map(|e| e.extents).collect()
    };
    let mut places: Vec<Rect> = focused(now);
    places.extend(before.into_iter().flat_map(focused));
    places.extend(target.and_then(|target| target.extents));
    // A focused window or page has no focus ring.
    let page = |place: &Rect| {
        now.elements
            .iter()
            .any(|e| is_page(e) && e.extents == Some(*place))
    };
    places.retain(|place| !page(place));
    places
}

/// Whether this tree may be older than the picture. A browser makes trees in one process and
/// pictures in another.
pub(crate) fn may_be_stale(tree: &Tree) -> bool {
    tree.elements
        .iter()
        .any(|e| e.visible && e.role == Role::WEB_AREA)
}

/// Whether something visible has moved and kept its size: it was scrolled, or makes room for
/// another element. Only such motions go on for a while; an element that is resized is laid out at
/// once. Elements that have no text and take no clicks do not count, because they may move for
/// ever: GTK 4's spinner is a box around a turning arrow.
pub(crate) fn has_slid(before: &Tree, now: &Tree) -> bool {
    let matching = Matching::between(before, now);
    let slid = |(now, was): (&Element, &Option<usize>)| {
        let was = was.and_then(|was| before.elements.get(was));
        let matters = now.role.is_interactive() || !now.title.is_blank() && !now.role.is_progress();
        let was = was.filter(|was| matters && was.visible && now.visible);
        let places = was.and_then(|was| was.extents.zip(now.extents));
        places.is_some_and(|(was, now)| was != now && (was.w, was.h) == (now.w, now.h))
    };
    now.elements.iter().zip(&matching.before).any(slid)
}

/// Whether the app has moved something since the last reading, or is going to.
pub(crate) fn may_slide(last: Option<&Tree>, before: Option<&Tree>, now: &Tree) -> bool {
    last.is_some_and(|last| has_slid(last, now)) || before.is_some_and(|b| will_slide(b, now))
}

/// Whether the focus has moved to an element that its scroll area shows only in part, or not at
/// all: the area is going to scroll to the element.
fn will_slide(before: &Tree, now: &Tree) -> bool {
    let id = |tree: &Tree| Some(tree.elements[tree.focus()?].id.clone());
    let Some(focus) = now.focus().filter(|_| id(before) != id(now)) else {
        return false;
    };
    let area = |at: &usize| now.elements[*at].role == Role::SCROLL_AREA;
    let area = now.outwards(focus).skip(1).find(area);
    let [own, area] = [Some(focus), area].map(|at| now.elements[at?].extents);
    let (Some(own), Some(area)) = (own, area) else {
        return false;
    };
    let shown = own.intersect(&area);
    (shown.w, shown.h) != (own.w.min(area.w), own.h.min(area.h))
}

/// Whether an element is as large as a window.
fn is_page(element: &Element) -> bool {
    element.parent.is_none() || matches!(element.role, Role::WINDOW | Role::WEB_AREA)
}

/// Whether a visible web page, or the page that has the focus, has no content yet. Chromium's new
/// tab gives the focus to a page without a size, which is replaced once it has loaded.
pub(crate) fn lacks_page(tree: &Tree) -> bool {
    let is_blank = |at: usize| {
        let page = &tree.elements[at];
        page.role == Role::WEB_AREA && page.children_read && page.extents.is_some_and(|r| r.w == 0)
    };
    if tree.focus().is_some_and(is_blank) {
        return true;
    }
    let mut elements = tree.elements.iter().enumerate();
    elements.any(|(at, e)| {
        let is_page = e.role == Role::WEB_AREA && e.visible && e.children_read;
        is_page && e.place().is_some() && tree.inside(at).next().is_none()
    })
}

/// Whether a browser's frame shows no page yet: Firefox shows its bars first.
pub(crate) fn has_empty_frame(tree: &Tree) -> bool {
    let mut elements = tree.elements.iter().enumerate();
    elements.any(|(at, e)| {
        let is_frame = e.visible && e.native_role == "internal frame" && e.children_read;
        let shows = || tree.inside(at).any(|at| tree.elements[at].visible);
        is_frame && !shows() && tree.page_around(at).is_none()
    })
}

/// The tree with the number that the pointer or the page has given to a slider: Chromium reports
/// the number only when it is asked what lies at the slider.
pub(crate) fn slid(
    desktop: &mut dyn Desktop,
    (pid, scope): (u32, Scope),
    target: Option<&Element>,
    tree: Tree,
) -> Result<Tree> {
    let slider = target.and_then(|was| tree.elements.iter().position(|e| e.id == was.id));
    let is_slider = |at: &usize| tree.elements[*at].role == Role::SLIDER;
    let slider = slider.filter(|at| is_slider(at) && tree.page_around(*at).is_some());
    let place = slider.and_then(|at| tree.elements[at].place());
    let Some((slider, place)) = slider.zip(place) else {
        return Ok(tree);
    };
    desktop.hit_test(&tree, slider, place.center())?;
    desktop.wait_for_change(LATE)?;
    Ok(desktop.read(pid, scope).unwrap_or(tree))
}
