//! Step 4: doing what was asked, with the target in front and in view where input needs it.

use std::fmt::Write as _;

use deskline_core::{Point, Rect, Tree, escape};

use crate::call::{Action, Options, Typing};
use crate::cancel::Cancel;
use crate::checkpoint::Checkpoint;
use crate::desktop::{Button, Clicks, Scope};
use crate::error::{Error, Result};
use crate::front::Wanted;
use crate::guard::{self, Mode, Task};
use crate::policy::Policy;
use crate::reach::Reached;
use crate::resolve::Resolved;
use crate::settle::{BETWEEN, settle};

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
                let Reached { point, name, .. } = self.reach(desk, target)?;
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
                    sentence: format!("{} {name}", verb(*double, *right)),
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
                self.front(desk, Wanted::App)?;
                self.caption(desk, typing.text.as_deref())?;
                self.type_and_press(desk, typing)?;
                let sentence = typed(typing);
                Ok(Done {
                    at: None,
                    sentence: capitalised(&sentence),
                })
            }
            Action::PressKey { press } => {
                self.front(desk, Wanted::App)?;
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
                self.front(desk, Wanted::Place(*at))?;
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
                let (start, end) = self.reach_both(desk, from, to)?;
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

    pub(crate) fn keep_out(&self, desk: &mut Checkpoint<'_>) -> Result<()> {
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
    pub(crate) fn pause(&self, desk: &mut Checkpoint<'_>) -> Result<()> {
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
        desk.aim(pid, None);
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
            self.front(desk, Wanted::of(target)).map(drop)
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
        self.front(desk, Wanted::App).map(drop)
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

fn no_target() -> Error {
    Error::Input("this action needs a target: ref, element, or x and y".into())
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
