//! Carries out actions: those with synthetic input, which need the target in front and in view, and
//! those through the accessibility API alone.

use std::time::Duration;

use deskline_core::{Element, KeyPress, Modifiers, Point, Rect, Role, Tree, escape, summary};

use super::action::Act;
use super::front::Wanted;
use super::reach::Reached;
use super::{abilities, no_element};
use crate::alert::{self, takes_text};
use crate::call::{Input, Quiet, Target, Typing};
use crate::display::Shown;
use crate::error::{Error, Mismatch, NoEffect, Obstacle, Refusal, Result, TargetError};
use crate::guard::{self, Mode, Task};
use crate::ocr::is_from_picture;
use crate::picture::change;
use crate::resolve::lookup::{self, Resolved};
use crate::secrecy::{HIDDEN, Witness, character_of, may_be_shown};
use crate::settle::field::Field;
use crate::settle::quiet::{Awaits, BETWEEN, await_quiet};
use crate::trees::{Deed, Scope};
use crate::wait;
use deskline_input::Aim;

/// The maximum number of readings of an app that reports no focused element. After its window has
/// come to the front, an app may take a while to focus an element.
const FOCUS_COMES: u32 = 6;

/// The maximum number of readings of an app whose focused element takes no text.
const FOCUS_MOVES: u32 = 2;

/// The time between two readings of an app that sends no event.
const LOOK: Duration = Duration::from_millis(40);

/// How long to wait for a clicked field to get the focus. Also how long to wait for the field that
/// opens at the first character of a path to show this character.
pub(super) const FIELD_COMES: Duration = Duration::from_secs(1);

/// The characters that a path begins with. When one is typed, file dialogs open a field for the
/// path (GTK's `location-popup` keys).
const OPENS_FIELD: [char; 3] = ['/', '~', '.'];

fn deed_of(quiet: &Quiet) -> Deed<'_> {
    match quiet {
        Quiet::SetValue { value, .. } => Deed::SetValue(value),
        Quiet::PressAx { .. } => Deed::Press,
        Quiet::SetSelected { selected, .. } => Deed::SetSelected(*selected),
    }
}

impl<'a> Act<'a, '_> {
    /// Carries out an action that sends synthetic input.
    pub(crate) fn input(&mut self, input: &Input) -> Result<()> {
        if let Input::Choose { choice, .. } = input {
            return self.choose((input, choice));
        }
        abilities::require(&mut **self.desk, input)?;
        match input {
            Input::Choose { .. } => {}
            Input::Click { kind, then, .. } => self.click(*kind, then)?,
            Input::Hover { .. } => self.hover()?,
            Input::Type { typing } => {
                if typing.paste
                    && let Some(lost) = self.desk.clipboard()?.save(self.cancel)?
                {
                    self.step.done.say(lost);
                }
                self.check_front_window()?;
                self.front(self.wanted_for_keys())?;
                self.caption(typing.text.as_deref())?;
                self.note_window(false)?;
                self.step.keys.before = self.witness()?;
                self.picture_before_input();
                self.type_and_press(typing)?;
            }
            Input::PressKey { press, hold } => {
                self.check_front_window()?;
                self.front(self.wanted_for_keys())?;
                self.note_window(false)?;
                self.picture_before_input();
                self.step.keys.before = self.known_witness();
                self.press_key(*press, *hold)?;
            }
            Input::Scroll {
                at,
                delta_x,
                delta_y,
                until,
            } => {
                let at = match (at, self.target) {
                    (Target::Point(at), _) => {
                        self.front(self.wanted_at(*at))?;
                        *at
                    }
                    (_, target) => {
                        self.reach_to_scroll(target.ok_or_else(no_target)?, until.is_none())?
                    }
                };
                if let Some(text) = until {
                    return self.scroll_until((at, text), *delta_y >= 0);
                }
                self.look_at_canvas(at);
                self.step.done.underway = true;
                self.turn_wheel(at, (*delta_x, *delta_y))?;
                self.step.done.at = Some(at);
                let scrolled = format!("scrolled by ({delta_x}, {delta_y}) lines at {at}");
                self.step.done.say(scrolled);
            }
            Input::Drag { modifiers, .. } => self.drag(*modifiers)?,
        }
        self.step.done.underway = false;
        Ok(())
    }

    fn hover(&mut self) -> Result<()> {
        let target = self.required()?;
        let reached = self.bring(target)?;
        self.animate(target, Some(reached.point), None)?;
        self.look_at_canvas(reached.point);
        self.picture_before_input();
        let Reached { point, name, .. } = self.where_now(target, reached)?;
        self.desk.hover(point)?;
        let done = &mut self.step.done;
        done.at = Some(point);
        done.say(format!("moved the pointer over {name}"));
        Ok(())
    }

    /// The point at which to turn the wheel to scroll the target. If `over_it`, the point is over
    /// the target, and not over a control whose value the wheel would change.
    fn reach_to_scroll(&mut self, target: &Resolved, over_it: bool) -> Result<Point> {
        let reached = self.reach(target)?;
        match reached.place.filter(|_| over_it) {
            Some(area) => self.wheel_over(target, (area, reached.point)),
            None => Ok(reached.point),
        }
    }

    fn drag(&mut self, modifiers: Modifiers) -> Result<()> {
        let from = self.required()?;
        let (start, end) = match (self.drop_on, self.to) {
            (Some(to), _) => self.reach_across(from, to)?,
            (None, to) => self.reach_both(from, to.ok_or_else(no_target)?)?,
        };
        self.animate(from, Some(start), None)?;
        self.look_at_canvas(start);
        self.picture_before_input();
        // A window that has just come to the front may still fade in. The picture is taken after
        // that, so that the fading does not count as an effect of the drag.
        if self.step.before_input.is_some() {
            let still = change::before_when_still(&mut **self.desk, self.cancel);
            self.step.before_input = still.or_else(|| self.step.before_input.take());
        }
        let done = &mut self.step.done;
        done.underway = true;
        self.desk.drag([start, end], modifiers)?;
        done.at = Some(end);
        let to = match (self.drop_on, self.to) {
            (Some(to), _) => {
                let app = escape::name(&to.tree.app.name, 40);
                format!("{} of {app}", to.target.name)
            }
            (None, to) => to.map(|to| to.name.clone()).unwrap_or_default(),
        };
        done.say(format!("dragged {} to {to}", from.name));
        Ok(())
    }

    /// Carries out an action that uses only the accessibility API.
    pub(crate) fn quiet(&mut self, quiet: &Quiet) -> Result<()> {
        let target = self.required()?;
        let element = target
            .index
            .and_then(|i| self.tree?.elements.get(i))
            .ok_or_else(|| no_element(target))?;
        let refused = |refusal| Error::RefusedBy {
            element: target.name.clone(),
            refusal,
        };
        let (deed, name) = (deed_of(quiet), &target.name);
        // A press on an area of an image map presses the middle of the map. Chromium presses the
        // area itself, and reports its maps under another native role.
        let map = self.tree.zip(target.index).and_then(lookup::map_of);
        let goes_astray = map.is_some_and(|map| map.native_role == "image") && deed == Deed::Press;
        let obstacle = if self.is_picture_only() || is_from_picture(&element.id) {
            Some(Obstacle::OnlyPictured)
        } else if goes_astray {
            Some(Obstacle::PressesMiddle)
        } else {
            self.asks_behind(target)?.then_some(Obstacle::AsksBehind)
        };
        if let Some(obstacle) = obstacle {
            let action = deed.action();
            return Err(refused(Refusal { action, obstacle }));
        }
        self.animate(target, None, None)?;
        self.desk.quiet = true;
        let done = &mut self.step.done;
        // Set before the call: an app that gives no answer may have carried out the action all the
        // same.
        done.underway = true;
        let acted = self.desk.act(&element.id, deed);
        done.underway = matches!(
            acted,
            Err(Error::NotAnswering { .. } | Error::System { .. } | Error::Lost { .. })
        );
        acted.map_err(|e| match e {
            Error::Refused(refusal) => refused(refusal),
            e => e,
        })?;
        match deed {
            Deed::SetValue(value) => done.text(format!("set {name} to"), value),
            Deed::SetSelected(true) => done.say(format!("selected {name}")),
            Deed::SetSelected(false) => done.say(format!("deselected {name}")),
            _ => done.say(format!("pressed {name}")),
        }
        Ok(())
    }

    /// Whether the target is in a question of Firefox's own, and Firefox is not in front.
    fn asks_behind(&mut self, target: &Resolved) -> Result<bool> {
        let known = self.tree.zip(target.index);
        let asks = known.is_some_and(|(tree, index)| tree.is_in_question(index));
        let asks = asks && self.desk.popup_open(self.pid)?;
        Ok(asks && self.desk.front()?.and_then(|front| front.pid) != Some(self.pid))
    }

    pub(super) fn required(&self) -> Result<&'a Resolved> {
        self.target.ok_or_else(no_target)
    }

    /// Takes the picture before the action, if the tree does not describe what is at `at`. Does
    /// nothing if the link already took one before it raised the window.
    pub(super) fn look_at_canvas(&mut self, at: Point) {
        let target = self.target.and_then(|target| target.index);
        let wants =
            |tree: &&Tree| self.call.options.show_diff && change::is_undescribed(tree, target, at);
        if self.picture.is_none() && self.tree.is_some_and(|tree| wants(&tree)) {
            *self.picture = change::before_when_still(&mut **self.desk, self.cancel);
        }
    }

    /// Pictures the window right before input goes to it, unless the link has pictured it already.
    pub(super) fn picture_before_input(&mut self) {
        if self.call.options.show_diff && self.is_picture_only() && self.picture.is_none() {
            *self.picture = change::before_when_still(&mut **self.desk, self.cancel);
        }
        if self.call.options.show_diff && self.tree.is_some() && !self.is_pictured {
            let window = self.desk.raised_now;
            self.step.before_input = change::before_input(&mut **self.desk, window);
        }
    }

    pub(crate) fn grab(&mut self) -> Result<()> {
        if self.policy.guard.mode == Mode::Off {
            return Ok(());
        }
        let app = self.tree.map(|tree| tree.app.name.as_str());
        let caption = || guard::caption(self.action, self.target, app);
        let task = Task {
            caption: (self.policy.guard.mode == Mode::Full).then(caption),
            place: self.target.and_then(|target| self.place(target)),
            pointer: !self.action.is_for_focus(),
            limit: self.policy.guard.limit,
        };
        self.desk.grab(&task)
    }

    /// Waits until the app has processed the input so far, before the link's next input.
    pub(crate) fn pause(&mut self) -> Result<Tree> {
        let awaits = Awaits {
            most: BETWEEN,
            ..Awaits::default()
        };
        await_quiet(self.desk, self.pid, awaits).map(|(_, tree)| tree)
    }

    /// The app's tree once the clicked field has the focus. An X11 window manager holds back the
    /// first click into a window, but not the keys. So keys sent right after the click would arrive
    /// before it, and reach no field.
    pub(super) fn await_focus(&mut self, tree: Tree) -> Result<Tree> {
        let known = self.tree.zip(self.target.and_then(|t| t.index));
        let known = known.filter(|(known, index)| takes_text(&known.elements[*index]));
        let Some((known, index)) = known else {
            return Ok(tree);
        };
        let has_it = |tree: &Tree| !lacks_focus(tree, known, index);
        self.read_until(tree, FIELD_COMES, has_it)
    }

    /// Fails if a clicked field does not have the focus: another field that showed before has it,
    /// or a menu or a dialog has opened. The text would go there.
    pub(super) fn check_focus(&self, tree: &Tree) -> Result<()> {
        let known = self.tree.zip(self.target.and_then(|t| t.index));
        let Some((known, index)) = known.filter(|(known, index)| {
            takes_text(&known.elements[*index]) && lacks_focus(tree, known, *index)
        }) else {
            return Ok(());
        };
        let was_seen = |e: &Element| known.elements.iter().any(|k| k.visible && k.id == e.id);
        let focus = tree.focus().filter(|at| was_seen(&tree.elements[*at]));
        let other = focus.and_then(|at| Field::new(tree, at));
        let is_new = |e: &Element| e.visible && e.role == Role::MENU_ITEM && !was_seen(e);
        let has = match other {
            Some(other) => other.name,
            None if tree.elements.iter().any(is_new) => "a menu".to_owned(),
            None => match tree.dialog_since(known) {
                Some(dialog) => summary::name_of(tree, dialog),
                None => return Ok(()),
            },
        };
        let field = summary::name_of(known, index);
        Err(NoEffect::from(Mismatch::NotFocused { field, has }).into())
    }

    /// Reads the app at each change, for at most `time`, until `fits` is true. Returns the last
    /// reading.
    pub(super) fn read_until(
        &mut self,
        mut tree: Tree,
        time: Duration,
        fits: impl Fn(&Tree) -> bool,
    ) -> Result<Tree> {
        wait::holds(self.cancel, time, Duration::ZERO, || {
            if !fits(&tree) {
                self.desk.wait_for_change(LOOK)?;
                tree = self.desk.read(self.pid, Scope::Showing)?;
            }
            Ok(fits(&tree))
        })?;
        Ok(tree)
    }

    fn known_witness(&self) -> Option<Witness> {
        self.tree.map(|tree| Witness::in_window(tree, self.window))
    }

    /// Where the keys will go. An app whose window was behind may first report no focused element.
    /// Such an app is read again.
    fn witness(&mut self) -> Result<Option<Witness>> {
        let Some(known) = self.known_witness() else {
            return Ok(None);
        };
        if self.is_picture_only() {
            return Ok(Some(known));
        }
        let front = self.desk.front_before().and_then(|front| front.pid);
        let behind = front != Some(self.pid);
        // In Qt 5 the current tab always counts as focused. Chromium reports the last focus of a
        // page even while its address bar gets the keys.
        let no_field = known.field().is_none() && !known.is_in_table();
        let may_move = behind && (no_field || known.page);
        let mut left = match (known.focus.is_some(), may_move) {
            (false, _) => FOCUS_COMES,
            (true, true) => FOCUS_MOVES,
            (true, false) => 0,
        };
        let mut known = known;
        while left > 0 {
            left -= 1;
            self.cancel.check()?;
            self.desk.wait_for_change(LOOK)?;
            let Ok(tree) = self.desk.read(self.pid, Scope::Showing) else {
                break;
            };
            known = Witness::new(&tree).beside(&known);
            if known.field().is_some() || known.focus.is_some() && !may_move {
                break;
            }
        }
        Ok(Some(known))
    }

    /// Where keys go according to `tree`. That tree has only the visible elements, so the secure
    /// fields of the earlier `self.tree` count too.
    fn own_witness(&self, tree: &Tree) -> Witness {
        let now = Witness::new(tree);
        match self.tree {
            Some(known) => now.beside(&Witness::new(known)),
            None => now,
        }
    }

    /// Aims at the window that the click has brought to the front, also if it is a dialog of
    /// another process. Never aims at the person's window, at a blocked app, or at another window
    /// of the target's process that was open before. `tree` is the latest reading of that process.
    /// Returns where keys go now.
    pub(super) fn follow(&mut self, tree: &Tree) -> Result<Option<Witness>> {
        let front = self.desk.front()?;
        if let Some(front) = front.as_ref().filter(|front| front.pid == Some(self.pid)) {
            self.check_window(Some(tree), front)?;
            let alert = || alert::of_keys(tree, self.action.keys(), None);
            self.policy
                .approve_answer(&mut **self.desk, self.pid, alert, None)?;
            self.desk.set_aim(Aim {
                polls: tree.is_picture_only(),
                ..Aim::new(self.pid, Some(front.id))
            });
            return Ok(Some(self.own_witness(tree)));
        }
        // If the guard does not hold, the person may have brought that window to the front.
        let switched = !self.desk.is_private()
            && !self.desk.guard.holds()
            && front
                .as_ref()
                .is_some_and(|front| self.desk.was_there(front.id))
            && self.desk.person_pressed() != Some(false);
        let theirs = self.desk.front_before().and_then(|front| front.pid);
        let front = front.filter(|_| !switched);
        let owned = front.and_then(|front| front.pid.map(|pid| (front, pid)));
        let Some((front, pid)) = owned.filter(|(_, pid)| Some(*pid) != theirs) else {
            return Ok(Some(self.own_witness(tree)));
        };
        let own = self
            .policy
            .own_name(&mut **self.desk, pid)?
            .unwrap_or_default();
        if !self.policy.permits_process(&mut **self.desk, &own, pid) {
            return Err(Error::led_to_blocked(pid, &self.policy.bounds()));
        }
        self.desk.refuse_substitute(self.pid, (&front, pid), true)?;
        self.policy.approve(&mut **self.desk, pid)?;
        // An app that cannot be read counts as one that may show an alert.
        let prompt = match self.desk.read(pid, Scope::Showing) {
            Err(e) if self.policy.grants.asks => return Err(e),
            prompt => prompt.ok(),
        };
        let alert = || alert::of_keys(prompt.as_ref()?, self.action.keys(), None);
        self.policy
            .approve_answer(&mut **self.desk, pid, alert, None)?;
        self.desk.set_aim(Aim {
            polls: prompt.as_ref().is_some_and(Tree::is_picture_only),
            ..Aim::new(pid, None)
        });
        Ok(prompt.as_ref().map(Witness::new))
    }

    pub(super) fn type_and_press(&mut self, typing: &Typing) -> Result<()> {
        if let Some(text) = &typing.text {
            self.step.keys.text.clone_from(text);
            self.step.done.underway = true;
            if typing.paste {
                self.paste(text)?;
            } else if !self.type_date(text)? {
                let rest = self.type_first(text)?;
                if rest.len() < text.len() {
                    self.approve_keys((Some(rest), None))?;
                }
                self.type_asked(rest)?;
                self.step.done.text("typed", text);
            }
            self.step.done.underway = false;
        }
        if let Some(press) = typing.key.filter(|_| typing.text.is_some()) {
            self.await_text(press)?;
            self.approve_keys((None, Some(press)))?;
        }
        let Some(press) = typing.key else {
            return Ok(());
        };
        let pressed = self.press_key(press, Duration::ZERO);
        if let (Err(Error::Input(_)), Some(_)) = (&pressed, &typing.text) {
            // The window that has come to the front may ask for a password. Forgetting the reading
            // hides the text.
            self.step.keys.after = None;
        }
        pressed
    }

    /// Types the first character alone if it opens a field for the rest, as in GTK's file dialogs:
    /// characters that arrive before that field has the focus are lost. Returns the rest of the
    /// text.
    fn type_first<'t>(&mut self, text: &'t str) -> Result<&'t str> {
        let rest = text
            .strip_prefix(OPENS_FIELD)
            .filter(|rest| !rest.is_empty());
        let (Some(rest), Some(before)) = (rest, self.step.keys.before.clone()) else {
            return Ok(text);
        };
        if before.field().is_some() {
            return Ok(text);
        }
        let first = &text[..text.len() - rest.len()];
        self.desk.type_text(first)?;
        let tree = self.pause()?;
        let has_come = |tree: &Tree| match Witness::new(tree).field() {
            Some(field) => field.text.ends_with(first),
            // Outside of dialogs the character may be a shortcut. In a password dialog it may be a
            // part of the password. No field opens in either case.
            None => tree.dialog.is_none() || before.secure,
        };
        let tree = self.read_until(tree, FIELD_COMES, has_come)?;
        let now = Witness::new(&tree);
        // The field may have opened and lost the character that opened it.
        let lost = now.field().is_some_and(|field| field.text.is_empty());
        Ok(if lost { text } else { rest })
    }

    fn press_key(&mut self, press: KeyPress, hold: Duration) -> Result<()> {
        self.check_hold(press, hold)?;
        if let Some(character) = character_of(press) {
            self.step.keys.text.push(character);
            self.step.keys.by_layout |= !press.modifiers.is_empty();
            // The last reading is from before this key, so it proves nothing.
            self.step.keys.after = None;
        }
        self.desk.press_key(press, hold)?;
        self.step.done.key(press);
        Ok(())
    }

    pub(super) fn animate(
        &mut self,
        target: &Resolved,
        at: Option<Point>,
        text: Option<&str>,
    ) -> Result<()> {
        if !self.call.options.show_animation {
            return Ok(());
        }
        // The target may have been scrolled since it was read. So its bounds are outlined only if
        // the click is inside them.
        let holds = |place: &Rect| at.is_none_or(|at| place.contains(at));
        let place = self.place(target).filter(holds).or(at.map(around));
        let guarded = self.desk.guard.holds();
        let clicked = target.index.and_then(|i| self.tree?.elements.get(i));
        let caption = match text {
            // A click on anything but a field may open a password prompt, so the text is not shown.
            Some(text) if clicked.is_some_and(takes_text) => self.caption_of(text),
            Some(_) => HIDDEN,
            None => "",
        };
        self.show(place, caption, guarded.then(|| self.wanted(target)))
    }

    fn caption(&mut self, text: Option<&str>) -> Result<()> {
        let Some(text) = text.filter(|_| self.call.options.show_animation) else {
            return Ok(());
        };
        let caption = self.caption_of(text);
        self.show(None, caption, Some(self.wanted_for_keys()))
    }

    /// Shows the overlay, and releases the person's devices meanwhile. `then` is the window to
    /// bring to the front again afterwards.
    fn show(&mut self, place: Option<Rect>, caption: &str, then: Option<Wanted>) -> Result<()> {
        self.desk.ungrab();
        let time = self.call.options.animation_duration;
        let what = Shown {
            place,
            caption,
            time,
        };
        if let Ok(overlay) = self.desk.overlay() {
            overlay.show(what, self.cancel)?;
        }
        then.map_or(Ok(()), |then| self.front(then).map(drop))
    }

    /// The caption for a text: the text itself, unless it may be secret. Others may see the screen.
    fn caption_of<'t>(&self, text: &'t str) -> &'t str {
        if may_be_shown(text, self.tree) {
            text
        } else {
            HIDDEN
        }
    }

    /// The bounds of the target in the tree.
    fn place(&self, target: &Resolved) -> Option<Rect> {
        let element = target.index.and_then(|i| self.tree?.elements.get(i));
        let place = element.and_then(Element::place);
        place.or(target.point.map(around))
    }
}

/// The bounds to outline for a point.
fn around(point: Point) -> Rect {
    Rect::at(point.x - 8, point.y - 8, 16, 16)
}

/// Whether a field has lost the focus, or has not got it. A pop-up that has opened may have it, but
/// not a dialog.
fn lacks_focus(tree: &Tree, known: &Tree, index: usize) -> bool {
    let Some(at) = tree.find_again(known, index) else {
        return false;
    };
    let asks = tree.dialog_since(known).is_some();
    let has_it = |focus: usize| {
        let top = tree.toplevel(focus).map(|top| &tree.elements[top].id);
        let is_new = top.is_some_and(|top| known.elements.iter().all(|e| e.id != *top));
        is_new && !asks || focus == at || tree.is_inside(focus, at) || tree.is_inside(at, focus)
    };
    (tree.elements[at].visible || asks) && !tree.focus().is_some_and(has_it)
}

fn no_target() -> Error {
    TargetError::Missing.into()
}
