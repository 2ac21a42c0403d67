//! Step 4: doing what was asked, with the target in front and in view where input needs it.

use std::fmt::Write as _;
use std::time::Duration;

use deskline_core::{Point, Rect, Role, Tree, escape, summary};

use crate::call::{Action, Options, Typing};
use crate::cancel::Cancel;
use crate::checkpoint::Checkpoint;
use crate::desktop::{Button, Clicks, Scope, Window};
use crate::error::{Error, Result};
use crate::guard::{self, Mode, Task};
use crate::policy::Policy;
use crate::resolve::Resolved;
use crate::settle::{BETWEEN, settle};

/// How many turns of the wheel may be spent on bringing an element into view.
const WHEEL_TURNS: usize = 60;

/// Everything that one action needs.
pub(crate) struct Act<'c> {
    pub(crate) pid: u32,
    pub(crate) options: &'c Options,
    pub(crate) action: &'c Action,
    pub(crate) policy: &'c Policy,
    pub(crate) cancel: &'c Cancel,
    /// The tree that the target was resolved on.
    pub(crate) tree: Option<&'c Tree>,
    pub(crate) target: Option<&'c Resolved>,
    /// Where a drag ends.
    pub(crate) to: Option<&'c Resolved>,
}

/// What was done, for the summary.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Done {
    /// Where the click or the wheel was, for the crosshair.
    pub(crate) at: Option<Point>,
    /// `Clicked 'Send' [AXButton]`
    pub(crate) sentence: String,
}

/// Whether the action sends synthetic input, and so needs the front, the pointer and the guard.
pub(crate) fn needs_input(action: &Action) -> bool {
    match action {
        Action::Click { .. }
        | Action::Type { .. }
        | Action::PressKey { .. }
        | Action::Scroll { .. }
        | Action::Drag { .. } => true,
        Action::Open { .. }
        | Action::SetValue { .. }
        | Action::PressAx { .. }
        | Action::SetSelected { .. }
        | Action::Refresh
        | Action::WaitFor { .. } => false,
    }
}

impl Act<'_> {
    /// Carries out an action that sends synthetic input.
    pub(crate) fn input(&self, desk: &mut Checkpoint<'_>, action: &Action) -> Result<Done> {
        match action {
            Action::Click {
                double,
                right,
                then,
                ..
            } => {
                let target = self.required()?;
                let point = self.reach(desk, target)?;
                self.animate(desk, target, Some(point), then.text.as_deref())?;
                let button = if *right { Button::Right } else { Button::Left };
                let clicks = if *double {
                    Clicks::Double
                } else {
                    Clicks::Single
                };
                desk.click(point, button, clicks, self.cancel)?;
                let mut done = Done {
                    at: Some(point),
                    sentence: format!("{} {}", verb(*double, *right), target.name),
                };
                if then.text.is_some() || then.key.is_some() {
                    // The click may open a dialog or move the focus: the text is for what it
                    // leads to.
                    self.pause(desk)?;
                    self.follow(desk)?;
                    self.type_and_press(desk, then)?;
                    done.sentence += &typed(then);
                }
                Ok(done)
            }
            Action::Type { typing } => {
                self.front(desk, None)?;
                self.caption(desk, typing.text.as_deref())?;
                self.type_and_press(desk, typing)?;
                let sentence = typed(typing);
                Ok(Done {
                    at: None,
                    sentence: capitalised(&sentence),
                })
            }
            Action::PressKey { press } => {
                self.front(desk, None)?;
                desk.press_key(*press, self.cancel)?;
                Ok(Done {
                    at: None,
                    sentence: format!("Pressed {press}"),
                })
            }
            Action::Scroll {
                at,
                delta_x,
                delta_y,
            } => {
                self.front(desk, Some(*at))?;
                desk.scroll(*at, *delta_x, *delta_y, self.cancel)?;
                let sentence = format!(
                    "Scrolled by ({delta_x}, {delta_y}) lines at ({}, {})",
                    at.x, at.y
                );
                Ok(Done {
                    at: Some(*at),
                    sentence,
                })
            }
            Action::Drag { modifiers, .. } => {
                let (from, to) = (self.required()?, self.to.ok_or_else(no_target)?);
                let start = self.reach(desk, from)?;
                let end = to.point.ok_or_else(|| no_place(&to.name))?;
                self.animate(desk, from, Some(start), None)?;
                desk.drag(start, end, *modifiers, self.cancel)?;
                let sentence = format!("Dragged {} to {}", from.name, to.name);
                Ok(Done {
                    at: Some(end),
                    sentence,
                })
            }
            _ => Err(Error::Input("this action sends no input".into())),
        }
    }

    /// Carries out an action that goes through the accessibility API alone.
    pub(crate) fn quiet(&self, desk: &mut Checkpoint<'_>, action: &Action) -> Result<Done> {
        let target = self.required()?;
        let element = target
            .index
            .and_then(|i| self.tree?.elements.get(i))
            .ok_or_else(|| {
                Error::Input(format!(
                    "there is no element at {}: take a place from a tree line",
                    target.name
                ))
            })?;
        self.animate(desk, target, None, None)?;
        let about = |e: Error| match e {
            Error::Refused {
                action,
                why,
                instead,
                ..
            } => Error::Refused {
                element: target.name.clone(),
                action,
                why,
                instead,
            },
            e => e,
        };
        let sentence = match action {
            Action::SetValue { value, .. } => {
                desk.set_value(&element.id, value).map_err(about)?;
                format!("Set {} to '{}'", target.name, escape::short(value, 40))
            }
            Action::PressAx { .. } => {
                desk.press(&element.id).map_err(about)?;
                format!("Pressed {}", target.name)
            }
            Action::SetSelected { selected, .. } => {
                desk.set_selected(&element.id, *selected).map_err(about)?;
                let verb = if *selected { "Selected" } else { "Deselected" };
                format!("{verb} {}", target.name)
            }
            _ => return Err(Error::Input("this action is not a quiet one".into())),
        };
        Ok(Done { at: None, sentence })
    }

    fn required(&self) -> Result<&Resolved> {
        self.target.ok_or_else(no_target)
    }

    /// Brings the target to the front and into view: the place to click.
    fn reach(&self, desk: &mut Checkpoint<'_>, target: &Resolved) -> Result<Point> {
        let (Some(index), Some(tree)) = (target.index, self.tree) else {
            let point = target.point.ok_or_else(|| no_place(&target.name))?;
            self.front(desk, Some(point))?;
            return Ok(point);
        };
        if tree.elements[index].visible {
            let point = target.point.ok_or_else(|| no_place(&target.name))?;
            self.front(desk, Some(point))?;
            return Ok(point);
        }
        if scroller(tree, index).is_none() {
            return Err(not_showing(tree, index));
        }
        self.front(desk, None)?;
        desk.let_in();
        let point = self.scroll_to(desk, tree, index)?;
        self.front(desk, Some(point))?;
        Ok(point)
    }

    /// Scrolls the element into view, by the toolkit where it can, else by the wheel, following
    /// the element by its identity.
    fn scroll_to(&self, desk: &mut Checkpoint<'_>, tree: &Tree, index: usize) -> Result<Point> {
        let id = &tree.elements[index].id;
        if desk.scroll_into_view(id)? {
            self.pause(desk)?;
        }
        let mut last = None;
        for _ in 0..WHEEL_TURNS {
            let now = desk.read(
                self.pid,
                Scope::Whole {
                    budget: Duration::from_millis(500),
                },
            )?;
            let Some(at) = now.elements.iter().position(|e| e.id == *id) else {
                break;
            };
            let element = &now.elements[at];
            let place = element.extents.filter(|e| !e.is_empty());
            if let Some(place) = place.filter(|_| element.visible) {
                return Ok(place.center());
            }
            // The wheel has turned and nothing moved: this is not what scrolls it.
            let showing = showing_alike(&now, at);
            if last.replace((place, showing)) == Some((place, showing)) {
                break;
            }
            let Some((area, lines)) = wheel(&now, at, place, showing) else {
                break;
            };
            self.keep_out(desk)?;
            desk.scroll(area, 0, lines, self.cancel)?;
            desk.let_in();
            self.pause(desk)?;
        }
        Err(not_showing(tree, index))
    }

    /// Brings the window with that place to the front (or the app's frontmost window), and makes
    /// sure that it is there: input must not go anywhere else. From here on the guard holds.
    fn front(&self, desk: &mut Checkpoint<'_>, point: Option<Point>) -> Result<()> {
        self.cancel.check()?;
        desk.disturbed = true;
        desk.aim(self.pid);
        // An open menu takes the input by itself, and would close if the front window changed.
        if desk.popup_open(self.pid)? {
            return self.keep_out(desk);
        }
        let windows = desk.windows(self.pid)?;
        let window = choose(&windows, self.tree, point).ok_or_else(|| match point {
            Some(p) if !windows.is_empty() => outside(p, &windows),
            _ => Error::NoWindow {
                pid: self.pid,
                name: self.tree.map(|t| t.app.name.clone()).unwrap_or_default(),
                hint: "Its windows may be closed or on their way: call refresh_traversal".into(),
            },
        })?;
        self.keep_out(desk)?;
        if desk.front()?.is_some_and(|front| front.id == window.id) {
            return Ok(());
        }
        // A request that is under way cannot be taken back, and would take effect after the restore:
        // it is seen to its end.
        desk.activate(window.id, &Cancel::new())?;
        self.cancel.check()
    }

    fn keep_out(&self, desk: &mut Checkpoint<'_>) -> Result<()> {
        if self.policy.guard.mode == Mode::Off {
            return Ok(());
        }
        let app = self.tree.map(|tree| tree.app.name.as_str());
        let caption = || guard::caption(self.action, self.target, app);
        let keyboard = matches!(self.action, Action::Type { .. } | Action::PressKey { .. });
        let task = Task {
            caption: (self.policy.guard.mode == Mode::Full).then(caption),
            place: self.target.and_then(|target| self.place(target)),
            pointer: !keyboard,
            limit: self.policy.guard.limit,
        };
        desk.keep_out(&task, self.cancel)
    }

    /// Lets the app take in what was done before the next input of the same link goes in.
    fn pause(&self, desk: &mut Checkpoint<'_>) -> Result<()> {
        settle(
            &mut **desk,
            self.pid,
            Scope::Showing,
            None,
            BETWEEN,
            self.cancel,
        )
        .map(drop)
    }

    /// After a click: what it has brought to the front, a dialog of another process too, is what
    /// the text is for. What the person had in front is not, nor what is out of bounds.
    fn follow(&self, desk: &mut Checkpoint<'_>) -> Result<()> {
        let front = desk.front()?.map(|front| front.pid);
        let theirs = desk.front_before().map(|front| front.pid);
        let Some(pid) = front.filter(|pid| *pid != 0 && Some(*pid) != theirs) else {
            return Ok(());
        };
        if pid != self.pid && self.policy.is_bounded() {
            let listed = desk.applications()?;
            let name = listed.iter().find(|a| a.app.pid == pid);
            let names: Vec<&str> = name.map(|a| a.app.name.as_str()).into_iter().collect();
            if self.policy.permit_names(&names).is_err() {
                return Err(Error::Input(format!(
                    "the click brought an app to the front (pid {pid}) that is out of bounds, so no key was sent. {}",
                    self.policy.bounds()
                )));
            }
        }
        desk.aim(pid);
        Ok(())
    }

    fn type_and_press(&self, desk: &mut Checkpoint<'_>, typing: &Typing) -> Result<()> {
        if let Some(text) = &typing.text {
            desk.type_text(text, self.cancel)?;
        }
        if typing.text.is_some() && typing.key.is_some() {
            // The key is for what the text leads to: a button that it enables, a list that it
            // narrows, a path that a file dialog has to look up.
            self.pause(desk)?;
        }
        if let Some(press) = typing.key {
            desk.press_key(press, self.cancel)?;
        }
        Ok(())
    }

    fn animate(
        &self,
        desk: &mut Checkpoint<'_>,
        target: &Resolved,
        at: Option<Point>,
        text: Option<&str>,
    ) -> Result<()> {
        if !self.options.show_animation {
            return Ok(());
        }
        // Where it was clicked, if it was scrolled there.
        let place = match at {
            Some(at) => self.place(target).filter(|place| place.contains(at)),
            None => self.place(target),
        };
        let place = place.or(at.map(around));
        // Nobody is kept out only to be shown something.
        let guarded = desk.guard.holds();
        desk.let_in();
        let caption = text.unwrap_or_default();
        desk.show(place, caption, self.options.animation_duration, self.cancel)?;
        if guarded {
            self.front(desk, at)
        } else {
            Ok(())
        }
    }

    fn caption(&self, desk: &mut Checkpoint<'_>, text: Option<&str>) -> Result<()> {
        let Some(text) = text.filter(|_| self.options.show_animation) else {
            return Ok(());
        };
        desk.let_in();
        desk.show(None, text, self.options.animation_duration, self.cancel)?;
        self.front(desk, None)
    }

    /// Where the target was in the tree.
    fn place(&self, target: &Resolved) -> Option<Rect> {
        let element = target.index.and_then(|i| self.tree?.elements.get(i));
        element
            .and_then(|e| e.extents)
            .filter(|place| !place.is_empty())
            .or(target.point.map(around))
    }
}

/// A place that stands for a point.
fn around(point: Point) -> Rect {
    Rect {
        x: point.x - 8,
        y: point.y - 8,
        w: 16,
        h: 16,
    }
}

/// The window that a place is in: the one that the tree's topmost element there belongs to, else
/// the frontmost that covers it. Without a place, the open dialog's or the frontmost.
pub(crate) fn choose<'w>(
    windows: &'w [Window],
    tree: Option<&Tree>,
    point: Option<Point>,
) -> Option<&'w Window> {
    let toplevel = tree.and_then(|tree| {
        let index = match point {
            Some(point) => tree.find_at(point)?,
            None => tree.dialog?,
        };
        let top = tree.toplevel(index)?;
        Some(tree.elements[top].title.shown.as_str())
    });
    let covers = |w: &&Window| point.is_none_or(|p| w.extents.contains(p));
    let named = |w: &&Window| toplevel.is_some_and(|title| !title.is_empty() && title == w.title);
    windows
        .iter()
        .find(|w| covers(w) && named(w))
        .or_else(|| windows.iter().find(covers))
}

/// The nearest container that can be seen and scrolls, and does not show the element's centre: its
/// index and its extents.
fn scroller(tree: &Tree, index: usize) -> Option<(usize, Rect)> {
    let place = tree.elements[index].extents.filter(|e| !e.is_empty());
    let mut at = tree.elements[index].parent;
    while let Some(i) = at {
        let element = &tree.elements[i];
        // Qt 5 has no scroll areas: its lists, tables and trees scroll themselves.
        let scrolls = matches!(
            element.role,
            Role::SCROLL_AREA | Role::LIST | Role::TABLE | Role::OUTLINE | Role::WEB_AREA
        );
        let area = element.extents.filter(|_| scrolls && element.visible);
        let shows = |area: &Rect| place.is_some_and(|place| area.contains(place.center()));
        if let Some(area) = area.filter(|area| !shows(area)) {
            return Some((i, area));
        }
        at = element.parent;
    }
    None
}

/// The first and the last element of its role that can be seen in what scrolls the element.
fn showing_alike(tree: &Tree, index: usize) -> Option<(usize, usize)> {
    let (area, _) = scroller(tree, index)?;
    let inside = (area + 1..tree.elements.len()).take_while(|i| {
        tree.elements[*i]
            .parent
            .is_some_and(|parent| parent >= area)
    });
    let role = tree.elements[index].role;
    let mut alike = inside.filter(|i| tree.elements[*i].visible && tree.elements[*i].role == role);
    let first = alike.next()?;
    Some((first, alike.last().unwrap_or(first)))
}

/// Where to turn the wheel so that an element comes into view, and by how many lines: by its place
/// where it has one, else (GTK 3 gives none to rows far away) by its order among those that show.
fn wheel(
    tree: &Tree,
    index: usize,
    place: Option<Rect>,
    showing: Option<(usize, usize)>,
) -> Option<(Point, i32)> {
    // About as far as one line of the wheel scrolls in any toolkit; what it misses, the next turn
    // makes good.
    const LINE: i32 = 50;
    const MOST_LINES: i32 = 10;
    let (_, area) = scroller(tree, index)?;
    let lines = match (place, showing) {
        (Some(place), _) => {
            let distance = place.center().y - area.center().y;
            (distance.abs() / LINE).clamp(1, MOST_LINES) * distance.signum()
        }
        (None, Some((first, _))) if index < first => -MOST_LINES,
        (None, Some((_, last))) if index > last => MOST_LINES,
        (None, _) => return None,
    };
    Some((area.center(), lines))
}

fn not_showing(tree: &Tree, index: usize) -> Error {
    let mut at = tree.elements[index].parent;
    let mut holder = None;
    while let Some(i) = at {
        if tree.elements[i].visible {
            holder = Some(summary::name_of(tree, i));
            break;
        }
        at = tree.elements[i].parent;
    }
    let holder = holder.map_or_else(String::new, |h| format!(" It is inside {h}."));
    Error::Input(format!(
        "{} is not showing and could not be scrolled into view.{holder} Open the menu, tab or \
         section that it is in, or use press_ax_and_traverse",
        summary::name_of(tree, index)
    ))
}

fn outside(point: Point, windows: &[Window]) -> Error {
    let list: Vec<String> = windows
        .iter()
        .take(3)
        .map(|w| {
            let r = w.extents;
            format!(
                "'{}' x:{} y:{} w:{} h:{}",
                escape::short(&w.title, 40),
                r.x,
                r.y,
                r.w,
                r.h
            )
        })
        .collect();
    Error::Input(format!(
        "({}, {}) is in none of the app's windows: {}. Nothing was touched. Take a place from a \
         tree line",
        point.x,
        point.y,
        list.join("; ")
    ))
}

fn no_target() -> Error {
    Error::Input("this action needs a target: ref, element, or x and y".into())
}

fn no_place(name: &str) -> Error {
    Error::Input(format!(
        "{name} has no place on the screen. Use press_ax_and_traverse, which needs none"
    ))
}

fn verb(double: bool, right: bool) -> &'static str {
    match (double, right) {
        (false, false) => "Clicked",
        (true, false) => "Double-clicked",
        (false, true) => "Right-clicked",
        (true, true) => "Double-right-clicked",
    }
}

/// `, typed 'Hello' and pressed Return`
fn typed(typing: &Typing) -> String {
    let mut sentence = String::new();
    if let Some(text) = &typing.text {
        let _ = write!(sentence, ", typed '{}'", escape::short(text, 40));
    }
    if let Some(key) = typing.key {
        let _ = write!(sentence, ", pressed {key}");
    }
    sentence
}

fn capitalised(sentence: &str) -> String {
    let sentence = sentence.trim_start_matches(", ");
    let mut chars = sentence.chars();
    chars.next().map_or_else(String::new, |c| {
        c.to_uppercase().collect::<String>() + chars.as_str()
    })
}
