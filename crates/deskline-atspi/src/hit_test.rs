//! Finds what lies at a point. Asks the app (`Component.GetAccessibleAtPoint`) if its answer can be
//! trusted, and otherwise decides by the order of the tree.

use std::sync::Arc;
use std::time::{Duration, Instant};

use deskline_contract::{Hit, Result};
use deskline_core::{ElementId, Point, Rect, Role, Tree};

use crate::aimed::Aimed;
use crate::asked::{Asked, Placed};
use crate::atspi::{AtSpi, Located};
use crate::bus;
use crate::connection::{AppConnection, PATIENCE};
use crate::names::{StateSet, role};
use crate::request::Request;
use crate::strategies::table;
use crate::toolkits::{HitTest, Toolkit};
use crate::tree::{element_id, split_id};
use crate::{act, decode};

/// How long Chromium may take to replace its first answer by that of the page's process. The first
/// answer comes from a cache of boxes that ignores elements fixed over a page. In Chromium 148 the
/// second answer comes after 4 to 9 ms, or later if the page's process is busy.
const LATE: Duration = Duration::from_millis(80);

/// Like `LATE`, if another element may be in the way of the target.
const CONFIRMED: Duration = Duration::from_millis(400);

/// How long Firefox 153 ignores clicks on the buttons of its questions after its window has come to
/// the front (`security.notification_enable_delay`).
const ACTIVATED: Duration = Duration::from_millis(550);

/// The maximum number of levels from the object that an app names up to an object of the tree.
const DEPTH: usize = 24;

/// An element has moved if its extents differ by more than this, in pixels.
const STILL: i32 = 2;

/// GTK 4 reports the elements of a popover too far to the right and down, because of the popover's
/// shadow: in 4.24 with libadwaita 1.10, by 10 to 23 pixels. This is the assumed maximum, in
/// pixels. Few compositors tell where the popover's window is.
const SHADOW: i32 = 24;

/// How long an element's bounds are kept to find out whether it still moves or grows under the
/// pointer.
const RECENT: Duration = Duration::from_millis(500);

/// Converts between the screen's coordinates and a toolkit's own, by a toplevel's bounds in both.
pub(crate) struct Space {
    shown: Rect,
    raw: Rect,
    scale: f64,
}

impl Space {
    fn new(shown: Rect, raw: Rect) -> Self {
        let scale = f64::from(shown.w) / f64::from(raw.w.max(1));
        let scale = if shown.is_empty() || raw.is_empty() {
            1.0
        } else {
            (scale * 20.0).round() / 20.0
        };
        Self { shown, raw, scale }
    }

    /// Sets the scale to 1 for a page of Chromium that reports pixels though its window does not.
    /// `known` and `raw` are an element's bounds on the screen and in its own units.
    fn for_element(self, known: Option<Rect>, raw: Option<Rect>) -> Self {
        let same = |(known, raw): (Rect, Rect)| (known.w, known.h) == (raw.w, raw.h);
        let is_pixels = self.scale > 1.0 && known.zip(raw).is_some_and(same);
        let none = Rect::at(0, 0, 0, 0);
        if is_pixels {
            Self::new(none, none)
        } else {
            self
        }
    }

    /// The point to ask about, in the toolkit's units. Firefox 153 reports extents in those units,
    /// but expects this point in pixels.
    fn raw_point(&self, at: Point, in_pixels: bool) -> (i32, i32) {
        let unit = if in_pixels { self.scale } else { 1.0 };
        let raw = |at: i32, shown: i32, raw: i32| {
            let away = f64::from(at.saturating_sub(shown)) / self.scale;
            ((away + f64::from(raw)) * unit) as i32
        };
        let x = raw(at.x, self.shown.x, self.raw.x);
        (x, raw(at.y, self.shown.y, self.raw.y))
    }

    pub(crate) fn on_screen(&self, raw: Rect) -> Rect {
        let size = |v: i32| (f64::from(v) * self.scale).round() as i32;
        let at = |v: i32, raw: i32, shown: i32| size(v.saturating_sub(raw)).saturating_add(shown);
        Rect::at(
            at(raw.x, self.raw.x, self.shown.x),
            at(raw.y, self.raw.y, self.shown.y),
            size(raw.w),
            size(raw.h),
        )
    }
}

impl AtSpi {
    /// The topmost element of `tree` at the point `at`, where the element `index` is to be clicked.
    ///
    /// # Errors
    /// The connection to the bus is lost.
    pub fn hit_test(&mut self, tree: &Tree, index: usize, at: Point) -> Result<Hit> {
        let asked = self.asked.take();
        let Some((element, top)) = tree.elements.get(index).zip(tree.toplevel(index)) else {
            return Ok(Hit::Unknown);
        };
        let is_cell =
            split_id(&element.id).is_none_or(|(_, path)| table::parse_cell_id(path).is_some());
        if !is_cell && element.role == Role::MENU_ITEM {
            return self.item_under_pointer(tree, index);
        }
        if is_cell || tree.is_in_pop_up(index) {
            return Ok(Hit::Unknown);
        }
        if let Some(hit) = self.in_popover(tree, index, at) {
            return Ok(hit);
        }
        let bus_name = split_id(&element.id).map_or("", |(bus_name, _)| bus_name);
        let mut located = self.locate(&element.id)?;
        let toolkit = located.toolkit;
        let kind = toolkit.map_or(HitTest::Nowhere, Toolkit::hit_test);
        let space = if matches!(kind, HitTest::ByOrder { .. }) {
            let path = located.path.clone();
            // Over the bus the reply comes after the events that the app has sent before it.
            let mut app = AppConnection::by_bus(&mut self.bus, bus_name);
            space((&mut app, toolkit, path), tree, top)
        } else {
            located.space(tree, top)
        };
        let Ok((space, now)) = space else {
            return Ok(Hit::Unknown);
        };
        let space = space.for_element(element.extents, now);
        if self.grows(&element.id, now) || has_moved(&space, element.extents, now) {
            return Ok(Hit::Moved);
        }
        let asked = asked.filter(|asked| asked.element == element.id && asked.at == at);
        let new = |first| Asked {
            element: element.id.clone(),
            at,
            first,
            since: Instant::now(),
        };
        if toolkit == Some(Toolkit::Gecko) && tree.is_in_question(index) {
            let asked = asked.unwrap_or_else(|| new(None));
            let waited = asked.since.elapsed() >= ACTIVATED;
            self.asked = Some(asked);
            return Ok(if waited { Hit::Unknown } else { Hit::Later });
        }
        let mut located = self.locate(&element.id)?;
        if matches!(kind, HitTest::ByOrder { .. }) {
            let hit = in_order(kind, (tree, index), at);
            let stays = located.toolkit.is_some_and(Toolkit::tells_states);
            let toolkit = located.toolkit.filter(|_| hit == index);
            self.aimed = toolkit.and_then(|toolkit| Aimed::new(tree, index, at, toolkit));
            // The order is from the last reading. It is still valid if no event since then says
            // that something was shown, hidden or moved.
            let stays = stays && self.shows_the_same(bus_name);
            return Ok(if stays {
                Hit::Topmost(hit)
            } else {
                Hit::InOrder(hit)
            });
        }
        // An element over the target may have a surface of its own, above the window's.
        let over = match kind {
            HitTest::InWindow => tree.bubble_over(index, at),
            HitTest::OfPages { .. } => tree.drawn_window_over(index, at),
            _ => None,
        };
        if let Some(over) = over {
            return Ok(Hit::Topmost(over));
        }
        let is_page = |at: &usize| tree.elements[*at].role == Role::WEB_AREA;
        let page = tree.outwards(index).filter(is_page).last();
        let point = space.raw_point(at, toolkit == Some(Toolkit::Gecko));
        let Some((root, request)) = question(kind, (top, page), point) else {
            return Ok(Hit::Unknown);
        };
        let answer = located.topmost(&tree.elements[root].id, request);
        if answer.is_none() && located.toolkit == Some(Toolkit::Gecko) {
            // Firefox has just loaded the page, and cannot answer yet.
            return Ok(Hit::Later);
        }
        let part = tree.control_inside(index, at);
        let hit = match located.listed(tree, index, answer.as_deref()) {
            // If GTK 4 names an element around the target, it knows nothing more precise. An object
            // in a page is as imprecise if it leads to no element of the tree.
            Hit::Unknown if page.is_some() => Hit::Around,
            // GTK 4 has no object for the icon of a button, such as the one that closes a tab.
            Hit::Unknown => part.map_or(Hit::Unknown, Hit::Topmost),
            Hit::Topmost(around) if page.is_none() && tree.is_inside(index, around) => Hit::Around,
            // From 4.16 on, GTK names the last object that contains the point, even an object that
            // is scrolled away (gtkatspicomponent.c, `accessible_at_point`).
            Hit::Topmost(hit) if kind == HitTest::InWindow && !tree.is_in_view(hit, at) => {
                Hit::InOrder(in_order(kind, (tree, index), at))
            }
            Hit::Topmost(hit) => Hit::Topmost(tree.area_at(hit, at)),
            hit => hit,
        };
        if !matches!(kind, HitTest::OfPages { late: true }) {
            return Ok(hit);
        }
        let patience = patience(tree, index, at, hit);
        match asked {
            Some(asked) if asked.since.elapsed() >= patience => Ok(hit),
            Some(asked) if asked.first != answer && patience == LATE => Ok(hit),
            asked => {
                self.asked = Some(asked.unwrap_or_else(|| new(answer)));
                Ok(Hit::Later)
            }
        }
    }

    /// The item of GTK 4's open menu that the pointer is on: the item that has the focus. On sway
    /// the menu's place is unknown, and because of the menu's shadow GTK reports a wrong one (by 19
    /// pixels in 4.24 with libadwaita 1.10).
    fn item_under_pointer(&mut self, tree: &Tree, index: usize) -> Result<Hit> {
        let mut located = self.locate(&tree.elements[index].id)?;
        let mut around = tree.outwards(index).skip(1);
        let menu = around.find(|at| tree.elements[*at].role == Role::MENU);
        let Some(menu) = menu.filter(|_| located.toolkit == Some(Toolkit::Gtk4)) else {
            return Ok(Hit::Unknown);
        };
        let is_item = |at: &usize| tree.elements[*at].role == Role::MENU_ITEM;
        for at in tree.inside(menu).filter(is_item) {
            let path = split_id(&tree.elements[at].id).map_or("", |(_, path)| path);
            let states = act::state(&mut located.app, path).ok().flatten();
            if states.is_some_and(|states| states.has(StateSet::FOCUSED)) {
                return Ok(Hit::Topmost(at));
            }
        }
        // If no item has the focus, the pointer is beside the items.
        Ok(Hit::Topmost(menu))
    }

    /// The hit in a popover of GTK 4 on Wayland: the target, if the point is certain to be on it.
    /// `None` outside of such popovers.
    fn in_popover(&self, tree: &Tree, index: usize, at: Point) -> Option<Hit> {
        let app = self.apps.get(&tree.app.pid);
        let gtk4 = app.filter(|app| app.peer.toolkit == Toolkit::Gtk4)?;
        let told = gtk4.windows.tells_popups?;
        tree.outwards(index).find(|at| tree.is_popover(*at))?;
        let moved = tree.elements[index].place()?.offset(-SHADOW, -SHADOW);
        let hit = if moved.contains(at) {
            Hit::Topmost(index)
        } else {
            Hit::Unlisted
        };
        Some(if told { Hit::Unknown } else { hit })
    }

    /// Whether the element has moved or grown since its last hit test.
    fn grows(&mut self, element: &ElementId, now: Option<Rect>) -> bool {
        let placed = self.placed.take();
        let placed = placed.filter(|p| p.element == *element && p.since.elapsed() < RECENT);
        let known = placed.as_ref().map(|placed| placed.raw);
        let grows = known
            .zip(now)
            .is_some_and(|(known, now)| differ(known, now));
        let new = |raw| Placed {
            element: element.clone(),
            raw,
            since: Instant::now(),
        };
        self.placed = placed.filter(|_| !grows).or(now.map(new));
        grows
    }
}

/// The topmost element at a point by the order of the tree: the target, if nothing lies over it.
fn in_order(kind: HitTest, (tree, index): (&Tree, usize), at: Point) -> usize {
    let (first_on_top, texts_cover) = match kind {
        HitTest::ByOrder {
            first_on_top,
            texts_cover,
        } => (first_on_top, texts_cover),
        _ => (false, true),
    };
    let over = tree.drawn_over((index, first_on_top), at, texts_cover);
    let part = || tree.control_inside(index, at);
    over.or_else(part).unwrap_or(index)
}

/// How long to repeat the question. If another element lies at the point too, an answer that names
/// the target has to stand longer: the page's process may be busy, as after its window was raised,
/// and a later answer may come from the cache.
fn patience(tree: &Tree, index: usize, at: Point, hit: Hit) -> Duration {
    let is_target = matches!(hit, Hit::Topmost(hit) if tree.receives_for(hit, index));
    if is_target && tree.has_another_at(index, at) {
        CONFIRMED
    } else {
        LATE
    }
}

/// Which element to ask about a point, and how.
fn question(
    kind: HitTest,
    (top, page): (usize, Option<usize>),
    (x, y): (i32, i32),
) -> Option<(usize, Request)> {
    match kind {
        HitTest::InWindow => Some((top, Request::AtPointInWindow(x, y))),
        HitTest::OfPages { .. } => Some((page?, Request::AtPoint(x, y))),
        HitTest::ByOrder { .. } | HitTest::Nowhere => None,
    }
}

/// Whether an element with the bounds `known` is elsewhere now. Bounds of another size do not
/// count: they are those of a part, such as a row's own line.
fn has_moved(space: &Space, known: Option<Rect>, now: Option<Rect>) -> bool {
    known.zip(now).is_some_and(|(known, now)| {
        let now = space.on_screen(now);
        let of_its_size = |rect: Rect| Rect::at(known.x, known.y, rect.w, rect.h);
        !differ(known, of_its_size(now)) && differ(known, Rect::at(now.x, now.y, known.w, known.h))
    })
}

fn differ(a: Rect, b: Rect) -> bool {
    let pairs = [(a.x, b.x), (a.y, b.y), (a.w, b.w), (a.h, b.h)];
    pairs
        .into_iter()
        .any(|(a, b)| a.saturating_sub(b).saturating_abs() > STILL)
}

/// The coordinates of a toplevel, and the element's own bounds in them. Both are requested at once,
/// as an app whose window was just raised answers only once per frame.
fn space(
    (app, toolkit, own): (&mut AppConnection<'_>, Option<Toolkit>, Arc<str>),
    tree: &Tree,
    top: usize,
) -> bus::Result<(Space, Option<Rect>)> {
    let top = &tree.elements[top];
    let path = split_id(&top.id).map_or("", |(_, path)| path);
    let request = toolkit.map_or(Request::Extents, Toolkit::extents);
    let asked = [path.into(), own].map(|path| (path, request));
    let (replies, _) = app.ask_each(asked, Instant::now() + PATIENCE)?;
    let mut places = replies.iter().map(|reply| decode::extents(reply.as_ref()?));
    let (raw, own) = (places.next().flatten(), places.next().flatten());
    let none = Rect::at(0, 0, 0, 0);
    let (shown, raw) = top.extents.zip(raw).unwrap_or((none, none));
    Ok((Space::new(shown, raw), own))
}

impl Located<'_> {
    pub(crate) fn space(&mut self, tree: &Tree, top: usize) -> bus::Result<(Space, Option<Rect>)> {
        let path = self.path.clone();
        space((&mut self.app, self.toolkit, path), tree, top)
    }

    /// The path of the topmost object, as the app answers. `None` if a window names itself. A page
    /// may name itself: where it shows nothing else, and on its scroll bars.
    fn topmost(&mut self, root: &ElementId, request: Request) -> Option<Box<str>> {
        let (_, root) = split_id(root)?;
        let reply = self.app.ask(root, request).ok();
        let found = decode::object(&reply?)?;
        let is_other = *found != *root || matches!(request, Request::AtPoint(..));
        is_other.then(|| (*found).into())
    }

    /// The element of the tree that an object is, or is a part of. The arrows of GTK 4's spin
    /// buttons are buttons that the tree does not list.
    fn listed(&mut self, tree: &Tree, index: usize, object: Option<&str>) -> Hit {
        let Some((bus_name, _)) = split_id(&tree.elements[index].id) else {
            return Hit::Unknown;
        };
        let mut path: Option<Box<str>> = object.map(Into::into);
        let mut through_button = false;
        for _ in 0..DEPTH {
            let Some(object) = path else {
                break;
            };
            let id = element_id(bus_name, &object);
            if let Some(at) = tree.elements.iter().position(|e| e.id == id) {
                let is_spin = tree.elements[at].role == Role::INCREMENTOR;
                return if through_button && is_spin {
                    Hit::Unlisted
                } else {
                    Hit::Topmost(at)
                };
            }
            let kind = self.app.ask(&object, Request::Role).ok();
            let kind = kind.and_then(|message| message.reader().u32().ok());
            through_button |= kind == Some(role::PUSH_BUTTON);
            let parent = self.app.ask(&object, Request::Parent).ok();
            path = parent
                .and_then(|message| decode::object_property(&message))
                .map(|path| (*path).into());
        }
        Hit::Unknown
    }
}
