//! Clicks: with the pointer, or through accessibility where no point is known to receive the click.

use std::time::Duration;

use deskline_core::{Element, Key, KeyPress, Modifiers, Point, Rect, Role, States, Tree};
use deskline_input::Click;

use super::action::Act;
use super::front::{Wanted, in_menu_bar};
use super::input::FIELD_COMES;
use crate::call::{ClickKind, Typing};
use crate::error::{Error, Result, TargetError};
use crate::resolve::lookup::{self, Resolved};
use crate::trees::{Deed, Scope};

const ENTER: KeyPress = KeyPress::new(Key::Return, Modifiers::empty());

impl Act<'_, '_> {
    /// Clicks the target, then types the text and presses the key in `then`.
    pub(super) fn click(&mut self, kind: ClickKind, then: &Typing) -> Result<()> {
        let target = self.required()?;
        let keys_follow = then.text.is_some() || then.key.is_some();
        if !keys_follow && self.press_in_menu_bar(target, kind)? {
            self.step.done.say(format!("clicked {}", target.name));
            return Ok(());
        }
        let reached = self.bring(target)?;
        self.animate(target, Some(reached.point), then.text.as_deref())?;
        self.look_at_canvas(reached.point);
        self.note_window(keys_follow)?;
        self.picture_before_input();
        let reached = self.where_now(target, reached)?;
        let point = reached.point;
        // A list of completions may have opened meanwhile.
        self.close_pop_ups()?;
        let click = Click {
            at: point,
            button: kind.button,
            clicks: kind.clicks,
            modifiers: kind.modifiers,
        };
        let is_plain = kind == ClickKind::default();
        if !(is_plain && self.press_area(target)?) {
            self.click_asked(click)?;
            self.step.done.at = Some(point);
            self.step.done.in_motion = self.has_moved(reached.window).unwrap_or(false);
            let end = self.other_end(target, reached.place).filter(|_| is_plain);
            if let Some(end) = end
                && !self.has_toggled(target)?
            {
                self.click_again(Click { at: end, ..click })?;
                self.step.done.at = Some(end);
            }
        }
        let dash = if kind.modifiers.is_empty() { "" } else { "-" };
        let (held, which) = (kind.modifiers, kind.prefix());
        self.step
            .done
            .say(format!("{held}{dash}{which}clicked {}", reached.name));
        if keys_follow {
            // The text goes to whatever has the focus after the click, also to a dialog that it
            // opens.
            let tree = self.pause()?;
            let tree = self.await_focus(tree)?;
            self.check_focus(&tree)?;
            self.step.keys.before = self.follow(&tree)?;
            self.type_and_press(then)?;
        }
        Ok(())
    }

    /// Presses the target through accessibility, if a pointer cannot click it. Three kinds of
    /// targets: a control that has no place to click; a tab that its bar has scrolled away, because
    /// the wheel over a tab bar turns its pages; and an element of a menu bar that is in no window.
    /// In full screen or where such a menu bar hides itself, a first click would only show it, and
    /// a notch may cover it.
    fn press_in_menu_bar(&mut self, target: &Resolved, kind: ClickKind) -> Result<bool> {
        let (Some(index), Some(tree)) = (target.index.filter(|_| !target.given), self.tree) else {
            return Ok(false);
        };
        let element = &tree.elements[index];
        let is_item = matches!(element.role, Role::MENU_BAR_ITEM | Role::MENU_ITEM);
        let in_bar = is_item && in_menu_bar(tree, index);
        // Buttons are excluded: one that a page has cut to no height, and that has no label in its
        // place, is not there for a person either.
        let shows = |at: usize| tree.elements[at].visible;
        let is_tab = element.role == Role::TAB && !element.visible;
        let is_tab =
            is_tab && tree.page_around(index).is_none() && tree.parent(index).is_some_and(shows);
        let hidden = in_bar
            || is_tab
            || element.role != Role::BUTTON && lookup::is_hidden_control(tree, index);
        if kind != ClickKind::default() || !hidden {
            return Ok(false);
        }
        self.front(Wanted::Element(index))?;
        // GTK's tabs have no press action, but can be selected.
        let pressed = match self.desk.act(&element.id, Deed::Press) {
            Err(Error::Refused(_)) if is_tab => self.desk.act(&element.id, Deed::SetSelected(true)),
            pressed => pressed,
        };
        match pressed {
            Ok(_) => Ok(true),
            Err(Error::Refused(_)) => Ok(false),
            Err(e) => Err(e),
        }
    }

    /// If the target is an area of an image map, focuses the area and presses Return, because the
    /// tree has no point that is surely inside the area. Returns whether the target is such an
    /// area.
    fn press_area(&mut self, target: &Resolved) -> Result<bool> {
        let area = self.tree.zip(target.index.filter(|_| !target.given));
        let Some((tree, index)) = area.filter(|area| lookup::map_of(*area).is_some()) else {
            return Ok(false);
        };
        let id = &tree.elements[index].id;
        self.desk.act(id, Deed::Focus)?;
        let is = |e: &Element| e.id == *id && e.states.contains(States::FOCUSED);
        let has_it = |tree: &Tree| tree.elements.iter().any(is);
        let now = self.desk.read(self.pid, Scope::Showing)?;
        if !has_it(&self.read_until(now, FIELD_COMES, has_it)?) {
            return Err(TargetError::NotPressed(target.name.clone()).into());
        }
        self.approve_keys((None, Some(ENTER)))?;
        self.desk.press_key(ENTER, Duration::ZERO)?;
        Ok(true)
    }

    /// The other end of the target's title. The first click went to one end; which end takes clicks
    /// depends on the text direction, which toolkits do not report.
    fn other_end(&self, target: &Resolved, place: Option<Rect>) -> Option<Point> {
        let (tree, index) = self.tree.zip(target.index.filter(|_| !target.given))?;
        let [_, end] = lookup::title_ends(tree, index, place?)?;
        Some(end)
    }

    /// Whether the target is expanded, collapsed, checked or unchecked soon after a click on it.
    fn has_toggled(&mut self, target: &Resolved) -> Result<bool> {
        const TOGGLES: Duration = Duration::from_millis(400);
        let Some((known, index)) = self.tree.zip(target.index) else {
            return Ok(true);
        };
        let states = States::CHECKED | States::EXPANDED;
        let was = known.elements[index].states & states;
        let toggled = |tree: &Tree| {
            let now = tree.find_again(known, index);
            now.is_none_or(|now| tree.elements[now].states & states != was)
        };
        let tree = self.desk.read(self.pid, Scope::Showing)?;
        let tree = self.read_until(tree, TOGGLES, toggled)?;
        Ok(toggled(&tree))
    }
}
