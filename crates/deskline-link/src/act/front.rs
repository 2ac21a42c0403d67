//! Finds the window that input is for, and brings it to the front: the window that contains the
//! target element, not a window that merely covers the same point.

use std::time::Duration;

use deskline_core::{Element, Point, Rect, Role, States, Tree, escape};

use super::action::Act;
use crate::call::{Action, Input};
use crate::checkpoint::{CLOSE_KEY, Checkpoint};
use crate::display::{Window, WindowId};
use crate::error::{Error, Result, TargetError, WindowHint};
use crate::resolve::lookup::Resolved;
use crate::trees::Scope;
use deskline_input::{Aim, Cancel};

/// How long an app may take to report which of its toplevels is active.
const SAYS_ACTIVE: Duration = Duration::from_secs(1);

/// The polling interval until an app reports its active toplevel. GTK 4 sends no event for the
/// change.
const LOOK: Duration = Duration::from_millis(20);

/// The largest number of nested menus to close before a click, and how long each may take to close.
const NESTED: usize = 4;
const CLOSES: Duration = Duration::from_millis(400);

/// The roles of menus and their parts.
#[rustfmt::skip]
const MENUS: [Role; 4] = [Role::MENU_BAR, Role::MENU_BAR_ITEM, Role::MENU, Role::MENU_ITEM];

/// The window that has to be in front.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// The window of the element at this index, in the tree that the target was resolved on.
    Element(usize),
    /// The app's topmost window at a point.
    Place(Point),
    /// The open dialog, or the app's frontmost window.
    App,
}

impl Act<'_, '_> {
    /// The window for a click on a target. For a point from the call, the topmost window there.
    pub(crate) fn wanted(&self, target: &Resolved) -> Wanted {
        match (target.index, target.point) {
            (_, Some(point)) if target.given => self.wanted_at(point),
            (Some(index), _) => Wanted::Element(index),
            (None, Some(point)) => self.wanted_at(point),
            (None, None) => self.wanted_for_keys(),
        }
    }

    /// The window for a click at a point: the window that the call names, or the topmost one there.
    pub(crate) fn wanted_at(&self, point: Point) -> Wanted {
        self.window.map_or(Wanted::Place(point), Wanted::Element)
    }

    /// The window that keys are for.
    pub(crate) fn wanted_for_keys(&self) -> Wanted {
        self.window.map_or(Wanted::App, Wanted::Element)
    }

    /// Brings the wanted window to the front and checks that it is there, because input must not go
    /// to another window. Grabs the person's devices. If several similar windows had to be raised
    /// until the app reported the wanted one as active, returns the tree with that report.
    pub(crate) fn front(&mut self, wanted: Wanted) -> Result<Option<Tree>> {
        self.cancel.check()?;
        // A question of Firefox's own stays open while its window is behind, but ignores input
        // until the window is in front. An open menu gets the input by itself, and would close if a
        // window were raised.
        let known = self.tree.zip(self.target.and_then(|target| target.index));
        let asks = known.is_some_and(|(tree, index)| tree.is_in_question(index));
        if !asks && self.desk.popup_open(self.pid)? {
            let aim = self.aim(None);
            self.desk.set_aim(Aim { menu: true, ..aim });
            self.grab()?;
            self.close_pop_ups()?;
            if self.desk.popup_open(self.pid)? {
                return Ok(None);
            }
        }
        let windows = self.candidates(wanted)?;
        self.grab()?;
        let shared = |window: &WindowId| {
            let window = self.tree.and_then(|tree| tree.window(*window));
            windows.len() > 1 || window.is_some_and(|w| w.elements.len() > 1)
        };
        match (windows.as_slice(), wanted, self.tree) {
            ([first, ..], Wanted::Element(index), Some(tree)) if shared(first) => {
                self.distinguish(tree, index, &windows).map(Some)
            }
            ([window, ..], ..) => {
                self.raise(*window)?;
                self.close_pop_ups()?;
                Ok(None)
            }
            ([], ..) => Err(self.no_window()),
        }
    }

    /// Closes open menus and lists if the target is outside of them. In GTK and Qt an open menu
    /// would swallow the click.
    pub(super) fn close_pop_ups(&mut self) -> Result<()> {
        let Some(at) = self.beside_menus() else {
            return Ok(());
        };
        let known = self.tree.zip(self.target.and_then(|target| target.index));
        let known = known.filter(|(tree, index)| tree.popover_beside(*index));
        let pid = self.pid;
        // The pop-up is a window, or in GTK 3 a popover inside the target's own window.
        let takes = |desk: &mut Checkpoint<'_>| match (desk.popup_takes(pid, at)?, known) {
            (false, Some((tree, index))) => {
                let now = desk.read(pid, Scope::Showing)?;
                let again = now.find_again(tree, index);
                Ok(again.is_some_and(|index| now.popover_beside(index)))
            }
            (takes, _) => Ok::<_, Error>(takes),
        };
        for _ in 0..NESTED {
            if !takes(self.desk)? {
                break;
            }
            self.desk.press_key(CLOSE_KEY, Duration::ZERO)?;
            self.desk
                .until(CLOSES, LOOK, |desk| Ok((!takes(desk)?).then_some(())))?;
        }
        Ok(())
    }

    /// The point of a click, if its target neither opens a menu nor is in one.
    fn beside_menus(&self) -> Option<Point> {
        let is_click = matches!(self.action, Action::Input(Input::Click { .. }));
        let target = self.target.filter(|target| is_click && !target.given)?;
        let element = self.tree?.elements.get(target.index?)?;
        let in_menu = MENUS.contains(&element.role);
        let is_button = matches!(&*element.native_role, "push button" | "toggle button");
        let opened = element.states.contains(States::EXPANDED)
            || is_button && element.states.contains(States::CHECKED);
        target
            .point
            .filter(|_| element.visible && !in_menu && !opened)
    }

    pub(super) fn aim(&self, window: Option<WindowId>) -> Aim {
        Aim {
            pid: self.pid,
            window,
            place: None,
            menu: self.menu_is_active(),
            drop_on: self.drop_on.map(|end| end.pid),
            polls: self.is_picture_only(),
            in_page: self.is_in_page(),
        }
    }

    fn is_in_page(&self) -> bool {
        let known = self.tree.zip(self.target.and_then(|target| target.index));
        known.is_some_and(|(tree, index)| tree.page_around(index).is_some())
    }

    /// Whether a menu of the app has the focus. LibreOffice's menu bar, after a `press_ax`, has no
    /// window of its own: it has grabbed the keyboard and the pointer.
    fn menu_is_active(&self) -> bool {
        let menu = |e: &Element| e.states.contains(States::FOCUSED) && MENUS.contains(&e.role);
        self.tree.is_some_and(|tree| tree.elements.iter().any(menu))
    }

    /// The windows that may be the wanted one, the likeliest first.
    fn candidates(&mut self, wanted: Wanted) -> Result<Vec<WindowId>> {
        let element = match wanted {
            Wanted::Element(index) => Some(index),
            Wanted::App => self.tree.and_then(|tree| tree.dialog),
            Wanted::Place(_) => None,
        };
        if let (Some(tree), Some(index)) = (self.tree, element) {
            if in_menu_bar(tree, index) {
                return self.app_itself();
            }
            let known = likeliest_first(tree, index);
            if !known.is_empty() {
                return Ok(known);
            }
        }
        let at = match wanted {
            Wanted::Place(point) => Some(point),
            // No window is known for the element: it is in a menu that is a window of its own, or
            // the platform does not tell.
            Wanted::Element(index) => {
                // The element may be scrolled away: take its innermost visible ancestor.
                let shows = |tree: &'_ Tree| {
                    let mut around = tree.outwards(index).map(|at| &tree.elements[at]);
                    around.find(|e| e.visible)?.place()
                };
                self.tree.and_then(shows).map(|place| place.center())
            }
            Wanted::App => None,
        };
        let in_bar = |tree: &Tree, at| tree.find_at(at).is_some_and(|i| in_menu_bar(tree, i));
        if let (Some(tree), Wanted::Place(at)) = (self.tree, wanted)
            && in_bar(tree, at)
        {
            return self.app_itself();
        }
        let windows = self.desk.windows_of(self.pid)?;
        // A window whose bounds are unknown may cover any point.
        let covers =
            |w: &&Window| at.is_none_or(|at| w.extents.is_none_or(|place| place.contains(at)));
        let window = windows.iter().find(covers);
        match (window, at, wanted, self.tree) {
            (window, Some(point), Wanted::Element(index), Some(tree))
                if is_behind_windows(tree, index) =>
            {
                match window {
                    Some(window) => Err(TargetError::under_window(&window.title, point).into()),
                    None => self.app_itself(),
                }
            }
            (Some(window), ..) => Ok(vec![window.id]),
            (None, Some(point), ..) if !windows.is_empty() => Err(outside(point, &windows)),
            (None, ..) => self.app_itself(),
        }
    }

    /// The app itself, on platforms where an app takes input without a window.
    fn app_itself(&mut self) -> Result<Vec<WindowId>> {
        match self.desk.app_itself(self.pid)? {
            Some(app) => Ok(vec![app.id]),
            None => Err(self.no_window()),
        }
    }

    fn raise(&mut self, window: WindowId) -> Result<()> {
        let aim = self.aim(Some(window));
        self.desk.set_aim(aim);
        // Not cancellable: a request to the window manager cannot be withdrawn, and would take
        // effect after the restore.
        self.desk.raise(window, &Cancel::new())?;
        self.cancel.check()?;
        if self.desk.guard.again {
            self.grab()?;
        }
        if self.desk.raised_now == Some(window) {
            self.refuse_blocked(window)?;
        }
        Ok(())
    }

    /// Fails if, in place of `window`, a dialog has come to the front that another process draws
    /// for the app, such as a file dialog of XDG Desktop Portal. The app ignores other input until
    /// such a dialog is answered.
    fn refuse_blocked(&mut self, window: WindowId) -> Result<()> {
        let front = self.desk.front()?.filter(|front| front.id != window);
        let Some((front, pid)) = front.and_then(|front| front.pid.map(|pid| (front, pid))) else {
            return Ok(());
        };
        let is_front = |helper: &Window| helper.id == front.id;
        if pid == self.pid || !self.desk.helper_windows(self.pid)?.iter().any(is_front) {
            return Ok(());
        }
        Err(Error::Elsewhere {
            title: front.title,
            pid,
            why: format!(
                "is a dialog of the app, which takes no other input until the dialog is answered. \
                 Nothing was sent. Call again with pid {pid} to answer it"
            ),
            unsent: true,
        })
    }

    /// Raises the windows that an element may be in, one by one, until the app reports that the
    /// element's toplevel is the active one.
    fn distinguish(&mut self, tree: &Tree, index: usize, windows: &[WindowId]) -> Result<Tree> {
        let id = &tree.elements[index].id;
        for window in windows {
            self.raise(*window)?;
            let Some(now) = self.known(*window)? else {
                continue;
            };
            let at = now.elements.iter().position(|e| e.id == *id);
            let its = at.map(|at| now.windows_of(at)).unwrap_or_default();
            if let [its] = its.as_slice() {
                let its = its.id;
                self.raise(its)?;
                return Ok(now);
            }
        }
        Err(twins(tree, index, windows.len()))
    }

    /// The tree, once it shows which toplevel this window belongs to. `None` after [`SAYS_ACTIVE`].
    pub(crate) fn known(&mut self, window: WindowId) -> Result<Option<Tree>> {
        let pid = self.pid;
        self.desk.until(SAYS_ACTIVE, LOOK, |desk| {
            let tree = desk.read(pid, Scope::Showing)?;
            let its = tree.window(window);
            let is_known = its.is_some_and(|its| its.elements.len() == 1);
            Ok(is_known.then_some(tree))
        })
    }

    fn no_window(&self) -> Error {
        let shows =
            |tree: &Tree| tree.windows.is_empty() && tree.elements.iter().any(|e| e.visible);
        if self.tree.is_some_and(shows) {
            return Error::Unsupported {
                what: "sending input to this app",
                why: "the display lists no window of this app: on Wayland, panels are not \
                    listed"
                    .to_owned(),
            };
        }
        let name = self.tree.map_or("", |tree| tree.app.name.as_str());
        Error::no_window(self.pid, name, WindowHint::ClosedOrComing)
    }
}

/// Whether an element is in a menu bar that is in no window, as on macOS.
pub(crate) fn in_menu_bar(tree: &Tree, index: usize) -> bool {
    let top = tree.toplevel(index).and_then(|top| tree.elements.get(top));
    top.is_some_and(|top| top.role == Role::MENU_BAR)
}

/// Whether an element is in no window and behind all windows, as the icons on Finder's desktop are.
fn is_behind_windows(tree: &Tree, index: usize) -> bool {
    let top = tree.toplevel(index).and_then(|top| tree.elements.get(top));
    top.is_some_and(|top| top.role == Role::SCROLL_AREA)
}

/// The windows that an element may be in, the likeliest first. Apps usually create their windows in
/// the order of their toplevels in the tree. So among similar windows, the likeliest is the one
/// whose number in that order is that of the element's toplevel.
fn likeliest_first(tree: &Tree, index: usize) -> Vec<WindowId> {
    let windows = tree.windows_of(index);
    let top = tree.toplevel(index);
    let twins = windows.first().map_or(&[][..], |w| &w.elements);
    let place = twins.iter().position(|twin| Some(*twin) == top);
    let mut ids: Vec<WindowId> = windows.iter().map(|w| w.id).collect();
    ids.sort_unstable();
    if let Some(place) = place.filter(|_| !ids.is_empty()) {
        let first = place % ids.len();
        ids.rotate_left(first);
    }
    ids
}

fn twins(tree: &Tree, index: usize, count: usize) -> Error {
    let top = tree.toplevel(index).and_then(|top| tree.elements.get(top));
    let title = top.map_or("", |top| top.title.shown.as_str());
    TargetError::similar_windows(&tree.app.name, title, count).into()
}

fn outside(point: Point, windows: &[Window]) -> Error {
    let list: Vec<String> = windows
        .iter()
        .take(3)
        .map(|w| {
            let title = escape::short(&w.title, 40);
            match w.extents {
                Some(Rect { x, y, w, h }) => format!("'{title}' x:{x} y:{y} w:{w} h:{h}"),
                None => format!("'{title}'"),
            }
        })
        .collect();
    TargetError::outside_windows(point, &list).into()
}
