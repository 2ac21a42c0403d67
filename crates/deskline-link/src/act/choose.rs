//! Opens a combo box, a drop-down or a menu, and picks the choice with a given text. Tries the
//! accessibility API alone first; if the app refuses, clicks as a person does.

use std::collections::HashSet;
use std::time::Duration;

use crate::wait;
use deskline_core::search::nearest_of;
use deskline_core::{
    Element, ElementId, Key, KeyPress, Modifiers, Point, Rect, Role, States, Texts, Tree, escape,
    fold, summary,
};
use deskline_input::{Cancel, Click};

use super::abilities;
use super::action::Act;
use super::reach::Reached;
use super::until::Wheel;
use crate::call::Input;
use crate::error::{Error, Result, TargetError};
use crate::resolve::lookup;
use crate::settle::chosen::{has_chosen, is_choice, is_list};
use crate::settle::readback::LATE;
use crate::trees::Deed;

/// How long a list of choices may take to show after the click or the key that opens it.
const OPENS: Duration = Duration::from_millis(1_200);

/// How long an open list may take to close after Escape.
const CLOSES: Duration = Duration::from_millis(500);

/// The longest time to search a list in each direction.
const SEARCHES: Duration = Duration::from_secs(10);

/// A list that has at least this many choices in the tree may have more. GTK 4 creates 200 at a
/// time.
const MANY: usize = 100;

/// The key that opens the list of a combo box in every toolkit.
const OPEN_KEY: KeyPress = KeyPress::new(Key::Down, Modifiers::ALT);

/// The element from which a choice is picked, in the tree that the target was resolved on.
#[derive(Clone, Copy)]
struct Chooser<'t> {
    tree: &'t Tree,
    index: usize,
    /// The text of the wanted choice, as the call gives it.
    choice: &'t str,
}

impl Act<'_, '_> {
    /// Carries out [`Input::Choose`].
    pub(super) fn choose(&mut self, (input, choice): (&Input, &str)) -> Result<()> {
        let target = self.required()?;
        let (Some(tree), Some(index)) = (self.tree, target.index) else {
            return Err(TargetError::NoElement(target.name.clone()).into());
        };
        let from = Chooser {
            tree,
            index,
            choice,
        };
        let shown = |text: &str| format!("'{}'", escape::short(text.trim(), 40));
        // A visible text inside a combo box is its current choice, so only hidden texts are
        // searched. If the wanted choice is not in the tree, the text of the call is used.
        let known = from.find(tree, |i| {
            tree.is_inside(i, index) && !tree.elements[i].visible
        });
        from.refuse_twins(tree, |i| tree.is_inside(i, index))?;
        let is_off = |i: &usize| tree.elements[*i].states.contains(States::DISABLED);
        if let Some(off) = known.filter(is_off) {
            return Err(TargetError::Disabled(summary::name_of(tree, off)).into());
        }
        let text = known.map_or_else(|| choice.to_owned(), |i| text_of(tree, i));
        self.step.chosen = Some(text.clone());
        // `text` may be a longer choice that only contains the wanted one, because the wanted one
        // is not in the tree.
        let is_exact = fold(&text) == fold(choice.trim());
        if is_exact && has_chosen(tree, index, &text) == Some(true) {
            let already = format!("{} was already chosen in {}", shown(&text), target.name);
            self.step.done.say(already);
            return Ok(());
        }
        if self.choose_quietly(from, &text)? {
            let chose = format!("chose {} in {}", shown(&text), target.name);
            self.step.done.say(chose);
            return Ok(());
        }
        abilities::require(&mut **self.desk, input)?;
        let picked = self.open_and_pick(from);
        if picked.is_err() {
            self.close_list(from);
        }
        let text = picked?;
        let of = format!(" in {}", target.name);
        let of = if self.step.done.is_empty() { &*of } else { "" };
        self.step.done.say(format!("chose {}{of}", shown(&text)));
        self.step.chosen = Some(text);
        Ok(())
    }

    /// Chooses through the accessibility API. `false` if the app refuses, or does not report
    /// the choice afterwards.
    fn choose_quietly(&mut self, from: Chooser<'_>, text: &str) -> Result<bool> {
        let element = &from.tree.elements[from.index];
        let is_selected = match self.desk.act(&element.id, Deed::Choose(text)) {
            Ok(is_selected) => is_selected,
            // `Input`: the target is a text in a picture, so accessibility cannot act on it.
            Err(Error::Refused(_) | Error::Input(_)) => return Ok(false),
            Err(e) => return Err(e),
        };
        wait::holds(self.cancel, LATE, Duration::ZERO, || {
            // Reads hidden elements too, because the chosen item may be in a closed list.
            let now = match self.pause().and_then(|_| self.look()) {
                Ok(now) => now,
                // The choice has closed the window or the app, or keeps the app busy.
                Err(Error::NotAnswering { .. } | Error::NoWindow { .. } | Error::NoProcess(_)) => {
                    return Ok(true);
                }
                Err(e) => return Err(e),
            };
            let at = now.find_again(from.tree, from.index);
            let chosen = at.map(|at| has_chosen(&now, at, text).unwrap_or(is_selected));
            Ok(chosen.unwrap_or(true))
        })
    }

    /// Opens the list and clicks the choice. Returns the choice's text.
    fn open_and_pick(&mut self, from: Chooser<'_>) -> Result<String> {
        let target = self.required()?;
        let element = &from.tree.elements[from.index];
        let shows = is_list(element.role) || element.states.contains(States::EXPANDED);
        let now = if shows {
            None
        } else {
            let reached = self.bring(target)?;
            self.animate(target, Some(reached.point), None)?;
            self.picture_before_input();
            let Reached { point, .. } = self.where_now(target, reached)?;
            let at = from.opener(point);
            self.desk.click(Click::left(at))?;
            self.step.done.at = Some(at);
            self.step.done.say(format!("opened {}", target.name));
            Some(self.await_choices(from)?)
        };
        let now = now.as_ref().unwrap_or(from.tree);
        self.pick(from, now)
    }

    /// Waits until choices are visible. Returns the tree that shows them.
    fn await_choices(&mut self, from: Chooser<'_>) -> Result<Tree> {
        let shows = |act: &mut Self| {
            wait::until(act.cancel, OPENS, Duration::ZERO, || {
                let now = act.pause()?;
                Ok(from.shows_choices(&now).then_some(now))
            })
        };
        if let Some(now) = shows(self)? {
            return Ok(now);
        }
        // If the click has only moved the focus, a key would change the number in a number field.
        let is_number = from.tree.elements[from.index].role == Role::INCREMENTOR;
        let has_keys = !is_number && self.desk.key_input().is_ok();
        let mut opened = None;
        if has_keys && !self.desk.popup_open(self.pid)? {
            self.grab()?;
            self.desk.press_key(OPEN_KEY, Duration::ZERO)?;
            opened = shows(self)?;
        }
        opened.ok_or_else(|| TargetError::NotOpened(from.name()).into())
    }

    /// Clicks the choice, after scrolling to it if it does not show.
    fn pick(&mut self, from: Chooser<'_>, now: &Tree) -> Result<String> {
        let exact = |tree: &Tree| {
            let found = from.find(tree, from.among(tree))?;
            (fold(&text_of(tree, found)) == fold(from.choice)).then_some(found)
        };
        from.refuse_twins(now, from.among(now))?;
        if let Some(found) = exact(now).filter(|i| now.elements[*i].visible) {
            return self.click_choice(from, (now, found));
        }
        let whole = self.look()?;
        if let Some(found) = exact(&whole) {
            return self.click_choice(from, (&whole, found));
        }
        let mut texts = from.texts(&whole);
        let may_grow = texts.len() >= MANY || from.most_show(&whole);
        let ways: &[bool] = if may_grow { &[true, false] } else { &[] };
        let mut last = whole;
        for down in ways {
            let Some(area) = from.list(&last) else { break };
            let wanted = |tree: &Tree, _: usize| exact(tree).filter(|i| tree.elements[*i].visible);
            let wheel = Wheel {
                at: None,
                down: *down,
                longest: SEARCHES,
                loads: Duration::ZERO,
            };
            let turned = self.turn_until((&last, area), wheel, &wanted)?;
            if let Some(found) = turned.found {
                return self.click_choice(from, (&turned.tree, found));
            }
            texts.extend(turned.texts);
            last = turned.tree;
        }
        let part = from.find(&last, from.among(&last));
        if let Some(found) = part {
            return self.click_choice(from, (&last, found));
        }
        let nearest = nearest_of(from.choice, texts.iter().map(String::as_str));
        Err(TargetError::no_such_choice(&from.name(), from.choice, &nearest).into())
    }

    fn click_choice(&mut self, from: Chooser<'_>, (now, found): (&Tree, usize)) -> Result<String> {
        let (mut now, mut found) = self.at_rest(now, found)?;
        // The choice may be in a submenu.
        if let Some(outer) = menu_to_open(&now, found) {
            self.desk.click(Click::left(outer.center()))?;
            let tree = self.pause()?;
            let shows = |tree: &Tree| {
                let at = tree.find_again(&now, found);
                at.filter(|at| tree.elements[*at].visible)
            };
            let tree = self.read_until(tree, OPENS, |tree| shows(tree).is_some())?;
            let at = shows(&tree).ok_or_else(|| TargetError::NotOpened(from.name()))?;
            (now, found) = self.at_rest(&tree, at)?;
        }
        let choice = lookup::element(&now, found, lookup::Others::default());
        let Reached { point, .. } = self.on(self.pid, &now, &choice).reach(&choice)?;
        match self.click_again(Click::left(point)) {
            Err(Error::Target(TargetError::MenuPlaceUnknown(_))) => {
                self.desk.act(&now.elements[found].id, Deed::Press)?;
                self.close_list(from);
            }
            clicked => {
                clicked?;
                self.step.done.at = Some(point);
            }
        }
        Ok(text_of(&now, found))
    }

    /// Reads the app until a choice has the same place in two readings. Returns the last reading
    /// and the index of the choice in it. While a list that has just opened still moves, a click
    /// would close it without choosing anything.
    fn at_rest(&mut self, now: &Tree, found: usize) -> Result<(Tree, usize)> {
        let (mut now, mut found) = (now.clone(), found);
        wait::holds(self.cancel, OPENS, Duration::ZERO, || {
            let again = self.pause()?;
            let Some(index) = again.find_again(&now, found) else {
                return Ok(true);
            };
            let rests = again.elements[index].extents == now.elements[found].extents;
            (now, found) = (again, index);
            Ok(rests)
        })?;
        Ok((now, found))
    }

    /// After a failed choice, closes the list if it is still open. Chooses nothing.
    fn close_list(&mut self, from: Chooser<'_>) {
        let mut pressed = false;
        // A new `Cancel`: the list has to close even if Esc has cancelled the link.
        let closed = wait::holds(&Cancel::new(), CLOSES, Duration::ZERO, || {
            let now = self.desk.read(self.pid, crate::trees::Scope::Showing)?;
            let open = self.desk.popup_open(self.pid).unwrap_or(false) || from.is_expanded(&now);
            if open && !std::mem::replace(&mut pressed, true) {
                // Keys need an aim, and there is none if no window has been brought to the front
                // yet.
                let aim = self.aim(None);
                self.desk.set_aim(aim);
                self.desk.press_close()?;
            }
            if open {
                self.desk.wait_for_change(Duration::from_millis(30))?;
            }
            Ok(!open)
        });
        if let Err(e) = closed {
            tracing::warn!("the list of choices was not closed: {e}");
        }
    }
}

impl Chooser<'_> {
    fn name(&self) -> String {
        summary::name_of(self.tree, self.index)
    }

    /// The element from which a choice is picked, in a later tree.
    fn find_in(&self, now: &Tree) -> Option<usize> {
        now.find_again(self.tree, self.index)
    }

    fn is_expanded(&self, now: &Tree) -> bool {
        let expanded = |e: &Element| e.states.contains(States::EXPANDED);
        let at = self.find_in(now);
        at.is_some_and(|at| expanded(&now.elements[at]))
            && !expanded(&self.tree.elements[self.index])
    }

    /// The best match for the wanted choice among the elements for which `inside` is true.
    fn find(&self, tree: &Tree, inside: impl Fn(usize) -> bool) -> Option<usize> {
        let inside = |i: usize| inside(i) && is_choice(&tree.elements[i]);
        let found = tree.find_text_among(inside, self.choice, None)?;
        Some(found.index)
    }

    /// Fails if several choices of one list have the wanted text.
    fn refuse_twins(&self, now: &Tree, inside: impl Fn(usize) -> bool) -> Result<()> {
        let role = self.tree.elements[self.index].role;
        if !matches!(role, Role::COMBO_BOX | Role::POP_UP_BUTTON) {
            return Ok(());
        }
        let wanted = fold(self.choice);
        let is_item = |i: usize| matches!(now.elements[i].role, Role::MENU_ITEM | Role::ROW);
        let is = |i: &usize| is_item(*i) && inside(*i) && fold(&text_of(now, *i)) == wanted;
        let mut found: Vec<usize> = (0..now.elements.len()).filter(is).collect();
        // A page may group its choices, so the list need not be the direct parent.
        let is_holder = |at: &usize| is_list(now.elements[*at].role);
        let holder = |i: usize| now.outwards(i).skip(1).find(is_holder);
        let list = found.first().and_then(|first| holder(*first));
        let of_list = |i: &usize| holder(*i) == list;
        found.retain(of_list);
        if found.len() < 2 {
            return Ok(());
        }
        let label = |at: &usize| {
            let nth = (0..=*at).filter(|i| is_item(*i) && of_list(i)).count();
            let id = &now.elements[*at].id;
            let known = self.tree.elements.iter().find(|e| e.id == *id);
            let known = known.and_then(|e| e.reference);
            known.map_or(format!("item {nth}"), |r| format!("item {nth}, #{r}"))
        };
        let found: Vec<String> = found.iter().map(label).collect();
        Err(TargetError::several_choices(&self.name(), self.choice, &found).into())
    }

    /// Which elements of a later tree may be choices: those inside the element from which a choice
    /// is picked, and those of a list or a menu that has opened since.
    fn among(&self, now: &Tree) -> impl Fn(usize) -> bool + use<> {
        let showed = |e: &&Element| e.visible;
        let before: HashSet<&ElementId> = {
            let shown = self.tree.elements.iter().filter(showed);
            shown.map(|e| &e.id).collect()
        };
        let own = self.find_in(now);
        let open = self.tree.elements[self.index]
            .states
            .contains(States::EXPANDED);
        let mut fresh = vec![false; now.elements.len()];
        for (i, element) in now.elements.iter().enumerate() {
            let outer = now.parent(i);
            let new = !before.contains(&element.id) || open && is_list(element.role);
            let came = element.visible && new;
            fresh[i] = came || outer.is_some_and(|outer| fresh[outer] || Some(outer) == own);
        }
        move |i| fresh[i]
    }

    fn shows_choices(&self, now: &Tree) -> bool {
        let own = self.find_in(now);
        let showed = |id: &ElementId| {
            let mut elements = self.tree.elements.iter();
            elements.any(|e| e.visible && e.id == *id)
        };
        self.choices(now).any(|i| {
            let e = &now.elements[i];
            e.visible && Some(i) != own && !showed(&e.id)
        })
    }

    /// Whether at most two choices of the list are hidden. Then the list may hold more choices than
    /// the tree has: some lists create elements only for the choices that show, and GTK 4.18 for
    /// one more at each end.
    fn most_show(&self, now: &Tree) -> bool {
        let choices = self.choices(now).map(|i| &now.elements[i]);
        let hidden = choices.filter(|e| !e.visible);
        // A row and the label in it are two elements at one place. So places are counted, not
        // elements.
        let hidden: HashSet<_> = hidden.filter_map(|e| Some(e.extents?.y)).collect();
        hidden.len() <= 2
    }

    /// The texts of the choices in a tree.
    fn texts(&self, now: &Tree) -> Vec<String> {
        let texts = Texts::new(now);
        let text = |i| Some(texts.text(now, i)?.shown.clone());
        self.choices(now).filter_map(text).collect()
    }

    /// The elements of a later tree that may be choices.
    fn choices<'n>(&self, now: &'n Tree) -> impl DoubleEndedIterator<Item = usize> + use<'n> {
        let among = self.among(now);
        (0..now.elements.len()).filter(move |i| among(*i) && is_choice(&now.elements[*i]))
    }

    /// The innermost container of the choices that show.
    fn list(&self, now: &Tree) -> Option<usize> {
        let shows = |i: &usize| now.elements[*i].visible && now.elements[*i].role != Role::BUTTON;
        let choice = self.choices(now).rfind(shows)?;
        Some(super::until::area_of(now, now.elements[choice].parent?))
    }

    /// Where to click to open the list: for a combo box with a text field, the button beside the
    /// field.
    fn opener(&self, point: Point) -> Point {
        const ARROW: i32 = 14;
        let tree = self.tree;
        let element = &tree.elements[self.index];
        let Some(place) = element.extents.filter(|place| place.contains(point)) else {
            return point;
        };
        // The arrow of GTK 3's tool buttons is a button beside them.
        let beside = |e: &&Element| e.parent == element.parent;
        let is_pair = tree.elements.iter().filter(beside).count() == 2;
        let next = tree.elements.get(self.index + 1).filter(beside);
        let arrow = next.filter(|next| is_pair && next.native_role == "toggle button");
        let arrow = arrow.filter(|_| element.role == Role::BUTTON);
        if let Some(arrow) = arrow.and_then(|arrow| arrow.extents) {
            return arrow.center();
        }
        let inside = tree.inside(self.index).map(|i| &tree.elements[i]);
        let mut field = element.states.contains(States::EDITABLE).then_some(place);
        for part in inside.filter(|e| e.visible) {
            let within = part.extents.filter(|part| place.contains(part.center()));
            match part.role {
                Role::BUTTON | Role::ARROW_BUTTON | Role::MENU_BUTTON | Role::CHECK_BOX => {
                    return within.map_or(point, |part| part.center());
                }
                Role::TEXT_FIELD => field = within.or(field),
                _ => {}
            }
        }
        let Some(field) = field else { return point };
        let (before, after) = (field.x - place.x, place.x + place.w - field.x - field.w);
        let x = match before.max(after) {
            gap if gap < ARROW / 2 => place.x + place.w - (place.h / 2).min(ARROW),
            gap if gap == after => field.x + field.w + after / 2,
            _ => place.x + before / 2,
        };
        Point { x, ..point }
    }
}

/// The place of the menu item whose submenu has the hidden menu item `index`.
fn menu_to_open(tree: &Tree, index: usize) -> Option<Rect> {
    let is_item = |at: &usize| tree.elements[*at].role == Role::MENU_ITEM;
    let mut around = tree.outwards(index).skip(1);
    let outer = around.find(|at| is_item(at) && tree.elements[*at].visible)?;
    let place = tree.elements[outer].place();
    place.filter(|_| is_item(&index) && !tree.elements[index].visible)
}

fn text_of(tree: &Tree, index: usize) -> String {
    let texts = Texts::new(tree);
    let text = texts.text(tree, index);
    text.map_or_else(String::new, |text| text.shown.trim().to_owned())
}
