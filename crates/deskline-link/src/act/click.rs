//! Clicks with the pointer, or without it where no point is known to receive the click.

use std::time::Duration;

use deskline_core::{Element, Key, KeyPress, Modifiers, Point, Rect, Role, States, Tree};
use deskline_input::Click;

use super::action::Act;
use super::front::{Wanted, in_menu_bar};
use super::input::FIELD_COMES;
use super::reach::Reached;
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
        let Reached {
            point, name, place, ..
        } = self.where_now(target, reached)?;
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
            let end = self.other_end(target, place).filter(|_| is_plain);
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
            .say(format!("{held}{dash}{which}clicked {name}"));
        if keys_follow {
            // The click may open a dialog or move the focus: the text goes to the dialog or
            // to the new focus.
            let tree = self.pause()?;
            let tree = self.await_focus(tree)?;
            self.check_focus(&tree)?;
            self.step.keys.before = self.follow(&tree)?;
            self.type_and_press(then)?;
        }
        Ok(())
    }

    /// Presses these elements through the accessibility API, if they support that: a control that
    /// has no place to click, a tab that its bar has scrolled away, and an element of a menu bar
    /// that is in no window. The pointer may not reach such a menu bar: in full screen, or where
    /// the bar hides itself, the first event only shows it, and a notch may cover it. A tab cannot
    /// be scrolled into view, because the wheel over a tab bar turns its pages.
    fn press_in_menu_bar(&mut self, target: &Resolved, kind: ClickKind) -> Result<bool> {
        let (Some(index), Some(tree)) = (target.index.filter(|_| !target.given), self.tree) else {
            return Ok(false);
        };
        let element = &tree.elements[index];
        let is_item = matches!(element.role, Role::MENU_BAR_ITEM | Role::MENU_ITEM);
        let in_bar = is_item && in_menu_bar(tree, index);
        // A button does not count as hidden: one that a page has cut to no height, and that has no
        // label in its place, does not show at all.
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
        // Tabs of GTK have no action for a press.
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

    /// Follows an area of an image map by focusing it and pressing Return, because no point of the
    /// area is known. Returns whether the target is an area of an image map.
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

    /// The end of the target's title that the first click has not hit.
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
