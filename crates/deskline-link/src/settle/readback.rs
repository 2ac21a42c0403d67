//! Compares the state after an action with what was requested: a value, a typed text, a state. Apps
//! report success for actions that they do not carry out: Firefox does so for every value that is
//! set on a field without focus.
//!
//! A difference in form is a note: `3` became `3.00`, a mask added its dashes, a list completed a
//! name. A missing effect, or a text that lost characters, is an error. No verdict is given where
//! the state is unknown: for secure fields, terminals and cells, if the element is gone, and if the
//! focus has moved. [`crate::settle::field`] does the comparison.

use std::time::Duration;

use deskline_core::{Diff, Element, KeyPress, Modified, Role, States, Tree, fold, number, summary};

use crate::call::{Action, Input, Quiet, Target};
use crate::desktop::Desktop;
use crate::error::{Mismatch, shown};
use crate::picture::change::Before;
use crate::resolve::lookup::Resolved;
use crate::secrecy::{Keys, Way, Witness};
use crate::settle::changed::{Says, shows_effect};
use crate::settle::chosen::{has_chosen, switch_in};
use crate::settle::field::{Field, Verdict};
use deskline_input::Clicks;

/// How long to wait for an effect that has not come by the time the app has settled.
pub(crate) const LATE: Duration = Duration::from_millis(300);

/// How long a field may go on taking characters of a text. On a busy machine an app reads its keys
/// late.
pub(crate) const TAKES: Duration = Duration::from_secs(3);

/// The states that a press may change.
const PRESSED: States = States::CHECKED
    .union(States::MIXED)
    .union(States::EXPANDED)
    .union(States::COLLAPSED);

/// Compares the trees before and after an action with what the action requests. `target` is an
/// element of the tree `before`.
pub(crate) fn read_back(
    action: &Action,
    target: Option<&Resolved>,
    keys: &Keys,
    (before, after): (&Tree, &Tree),
) -> Verdict {
    let quiet = match action {
        Action::Quiet(quiet) => quiet,
        Action::Input(_) if keys.by_layout => return Verdict::Agrees,
        Action::Input(_) => {
            let clicked = target.and_then(|target| Field::new(before, target.index?));
            // After a key, the focused field may be on another page.
            let told = match keys.between {
                Some(_) => typed(keys),
                None => took(keys, after),
            };
            let double = matches!(action, Action::Input(Input::Click { kind, .. })
                if kind.clicks == Clicks::Double);
            let label = target.and_then(|target| target.index).filter(|_| double);
            return match (told, label) {
                (Verdict::Agrees, Some(was)) if clicked.is_none() && !keys.text.is_empty() => {
                    kept((before, was), after, keys)
                }
                (Verdict::Agrees, _) => reached(clicked.as_ref(), keys, (before, after)),
                (verdict, _) => verdict,
            };
        }
        Action::Open { .. } | Action::Refresh | Action::Read { .. } | Action::WaitFor { .. } => {
            return Verdict::Agrees;
        }
    };
    let Some(was) = target.and_then(|target| target.index) else {
        return Verdict::Agrees;
    };
    let Some(now) = after.find_again(before, was) else {
        return Verdict::Agrees;
    };
    match quiet {
        Quiet::SetValue { value, .. } => match (Field::new(before, was), Field::new(after, now)) {
            (Some(old), Some(new)) => set(&old, &new, value),
            _ => Verdict::Agrees,
        },
        Quiet::PressAx { .. } => pressed((before, was), (after, now)),
        Quiet::SetSelected { selected, .. } => chosen(before, (after, now), *selected),
    }
}

/// The verdict about a typed text, according to the focused field right before and right after the
/// text.
fn typed(keys: &Keys) -> Verdict {
    let (Some(before), Some(after)) = (&keys.before, &keys.after) else {
        return Verdict::Agrees;
    };
    match (before.field(), after.field()) {
        (Some(old), Some(new)) if old.is(new) => new.took(old, &keys.text, keys.way == Way::Pasted),
        (None, Some(new)) if before.is_of(after) => new.arrived(&keys.text),
        _ => Verdict::Agrees,
    }
}

/// [`typed`], but also looks at the tree right after the text: the text may have gone to
/// paragraphs, or to a field that the app has built anew.
pub(crate) fn took(keys: &Keys, after: &Tree) -> Verdict {
    let field = keys.before.as_ref().and_then(Witness::field);
    match (typed(keys), field) {
        (Verdict::Agrees, Some(field)) => field.lines(&keys.text, after),
        (verdict, _) => verdict,
    }
}

/// The verdict about a text that was typed while no field had the focus, if the tree shows nothing
/// of the text. `was` is the picture of the window right before the keys.
pub(crate) fn went_nowhere(
    keys: &Keys,
    (before, after): (&Tree, &Tree),
    was: Option<&Before>,
    desktop: &mut dyn Desktop,
) -> Verdict {
    let (Some(from), Some(to)) = (&keys.before, &keys.after) else {
        return Verdict::Agrees;
    };
    let unseen = |now: &Witness| now.field().is_some() || now.terminal;
    // A single character may be a shortcut.
    let is_text = keys.text.trim().chars().count() > 1;
    let may_show = is_text && !from.secure && from.is_of(to);
    if !may_show || unseen(from) || unseen(to) || has_changed(before, after) {
        return Verdict::Agrees;
    }
    match was.and_then(|was| was.has_moved(desktop, &[])) {
        Some(false) => Verdict::Failed(Mismatch::Nowhere),
        _ => Verdict::Agrees,
    }
}

/// The verdict about a text for a field that was clicked, but may have had no focus at the first
/// key. The keys may have overtaken the click. Or the click has only closed a popover, and the
/// focus went back to the element that had opened it. A field that did not show before the click
/// does not count: the app may have opened it for the clicked field.
pub(crate) fn reached(
    clicked: Option<&Field>,
    keys: &Keys,
    (before, after): (&Tree, &Tree),
) -> Verdict {
    let (Some(old), Some(witness)) = (clicked, &keys.after) else {
        return Verdict::Agrees;
    };
    let may_have_it = witness.focus.is_some() && witness.may_go_to(&old.id);
    let shown = |field: &Field| {
        before
            .elements
            .iter()
            .any(|e| e.visible && e.id == field.id)
    };
    let tree = keys.between.as_ref().unwrap_or(after);
    let got = witness.field().filter(|field| !field.text.is_empty());
    let got = got.filter(|field| !old.is(field) && field.is_in(tree, tree.dialog_since(before)));
    if let Some(got) = got {
        return Verdict::Failed(Mismatch::went_to(&got.name, &old.name));
    }
    let new = match witness.field() {
        Some(field) if old.is(field) || !shown(field) => Some(field.clone()),
        None if witness.terminal || may_have_it => None,
        // After a key the field may have another text.
        _ => old.again(tree).map(|(_, field)| field),
    };
    match new {
        Some(new) if old.is(&new) && (old.text == new.text || witness.field().is_none()) => {
            new.took(old, &keys.text, keys.way == Way::Pasted)
        }
        // The focus went on to another field in the middle of the text.
        Some(new) if !keys.text.contains(['\t', '\n']) && new.lost(&keys.text) > Some(0) => {
            new.differs()
        }
        _ => Verdict::Agrees,
    }
}

/// The verdict about a text typed after a double click on a label or a cell. Such a click opens an
/// editor with all of its text selected. GTK 4.8 has that editor in no tree, and now and then
/// selects nothing. After a key that confirms the text, the app may refuse it.
fn kept((before, was): (&Tree, usize), after: &Tree, keys: &Keys) -> Verdict {
    let label = &before.elements[was];
    // Swing replaces the cell by another element.
    let at = || after.find_at(label.place()?.center());
    let now = after.find_again(before, was).or_else(at);
    let now = now.map(|now| after.elements[now].title.shown.trim());
    let (old, typed) = (label.title.shown.trim(), keys.text.as_str());
    let Some(now) = now.filter(|_| !old.is_empty()) else {
        return Verdict::Agrees;
    };
    let is_word = label.role == Role::STATIC_TEXT && !old.contains(char::is_whitespace);
    let field = summary::name_of(before, was);
    if is_word && [format!("{old}{typed}"), format!("{typed}{old}")].contains(&now.to_owned()) {
        return Verdict::Failed(Mismatch::beside_old(&field, now));
    }
    let is_other = fold(old) != fold(typed.trim()) && !number::may_be_equal(old, typed);
    let is_item = matches!(label.role, Role::STATIC_TEXT | Role::CELL | Role::ROW);
    if now != old || !is_other || !is_item || keys.between.is_none() {
        return Verdict::Agrees;
    }
    // A cell of a spreadsheet may show the same result for another formula.
    if label.role == Role::CELL && !label.states.contains(States::EDITABLE) {
        return Verdict::Failed(Mismatch::not_kept(&field, now));
    }
    Verdict::Differs(format!("{field} shows {} still", shown(now)))
}

/// Whether the field has taken more of the text since the reading `last`.
pub(crate) fn takes_more(last: Option<&Witness>, now: &Witness) -> bool {
    let last = last.and_then(Witness::field);
    matches!((last, now.field()), (Some(last), Some(now)) if now.is_longer_than(last))
}

/// The verdict about a choice.
pub(crate) fn chose(target: &Resolved, text: &str, (before, after): (&Tree, &Tree)) -> Verdict {
    let Some(was) = target.index else {
        return Verdict::Agrees;
    };
    let Some(now) = after.find_again(before, was) else {
        return Verdict::Agrees;
    };
    let is_off = |tree: &Tree, at: usize| {
        let switch = switch_in(tree, at, text);
        switch.is_some_and(|at| !tree.elements[at].states.intersects(Says::ON))
    };
    if is_off(before, was) && is_off(after, now) && !has_changed(before, after) {
        return Verdict::Failed(Mismatch::NotToggled("not checked".to_owned()));
    }
    let [old, new] = [said(before, was), said(after, now)];
    // A button may show more than the choice: "Promotions on Local Folders".
    let took_it = old != new && has_words(&fold(&new), &fold(text));
    // GTK 4's drop-downs show their choice in a part.
    let shows = old == new && new == Says::new(after, now).value;
    match has_chosen(after, now, text) {
        Some(true) => Verdict::Agrees,
        // A closed combo box may have its choices in no tree.
        None if !shows && (old == new || after.elements[now].role != Role::COMBO_BOX) => {
            Verdict::Agrees
        }
        // GTK 3 shows the outer item of a choice in a tree.
        _ if took_it || is_outer(after, now, (&new, text)) => Verdict::Agrees,
        _ => Verdict::Failed(Mismatch::not_chosen(&new, text)),
    }
}

/// Whether the choice `text` of the element at `index` lies in a choice named `outer`.
fn is_outer(tree: &Tree, index: usize, (outer, text): (&str, &str)) -> bool {
    let is = |at: usize, text: &str| fold(&tree.elements[at].title.shown) == fold(text);
    let around = |at: usize| tree.outwards(at).skip(1).take_while(|at| *at != index);
    let mut choices = tree.inside(index).filter(|at| is(*at, text));
    choices.any(|at| around(at).any(|at| is(at, outer)))
}

/// The verdict about a drag in one app: whether anything has moved, or has changed besides the
/// selection. `looks_other` tells whether the window's picture has changed, if that is known.
pub(crate) fn dragged(
    to: &Target,
    (before, after): (&Tree, &Tree),
    looks_other: impl FnOnce() -> Option<bool>,
) -> Verdict {
    let diff = Diff::between(before, after);
    let selects_only = diff.modified.iter().all(Modified::is_selection_alone);
    // GTK 3 keeps a window for the icons of drags.
    let is_icon = |at: &usize| after.toplevel(*at) == Some(*at) && !after.elements[*at].visible;
    let same = diff.added.iter().all(is_icon) && diff.removed.is_empty() && selects_only;
    if !same || diff.moved(before, after) > 0 || after.has_moved_window(before) {
        return Verdict::Agrees;
    }
    // A drag to a point may be a gesture, or may be meant to select something.
    let is_place = matches!(to, Target::Point(_));
    let selected = diff.modified.iter().any(|m| !m.is_focus_alone());
    match (selected, is_place) {
        (true, true) => Verdict::Agrees,
        (true, false) => {
            Verdict::Failed(Mismatch::NothingMoved(": only the selection has changed"))
        }
        (false, _) if looks_other() != Some(false) => Verdict::Agrees,
        (false, true) => Verdict::Differs("nothing has moved".to_owned()),
        (false, false) => Verdict::Failed(Mismatch::NothingMoved("")),
    }
}

/// Whether a name contains these words one after the other: "Sort by: Large" contains "Large". In
/// Firefox an item of a page's list may begin with its bullet.
fn has_words(name: &str, words: &str) -> bool {
    let words = words.trim_start_matches(['•', '◦', '▪']);
    let split = |text| str::split_whitespace(text).collect::<Vec<_>>();
    let (name, words) = (split(name), split(words));
    name.windows(words.len().max(1)).any(|part| part == words)
}

/// The choice that a combo box or list shows: its value, or else its name.
fn said(tree: &Tree, index: usize) -> String {
    let Says { value, title, .. } = Says::new(tree, index);
    let says = [value, title]
        .into_iter()
        .find(|text| !text.trim().is_empty());
    says.unwrap_or_else(|| summary::name_of(tree, index))
}

fn set(old: &Field, new: &Field, wanted: &str) -> Verdict {
    if new.says(wanted) {
        return Verdict::Agrees;
    }
    if new.text == old.text {
        if new.means(wanted) || !old.is_readable() {
            return Verdict::Agrees;
        }
        return Verdict::Failed(Mismatch::not_set(&new.text, new.is_choice()));
    }
    if new.text.trim().is_empty() {
        return Verdict::Failed(Mismatch::ValueGone);
    }
    if new.respaces(wanted) {
        return new.respaced(wanted);
    }
    if let Some(why) = new.other_number(wanted) {
        return Verdict::Failed(why);
    }
    match new.lost(wanted) {
        Some(kept) if !new.means(wanted) => new.shortened(kept, wanted),
        _ => new.differs(),
    }
}

/// The verdict about a press. Each pair is a tree, before or after the press, and the index of the
/// pressed element in it.
fn pressed((tree, was): (&Tree, usize), (after, now): (&Tree, usize)) -> Verdict {
    let (old, new) = (&tree.elements[was], &after.elements[now]);
    let state = old.states & PRESSED;
    // A label of Java has an action that does nothing.
    if old.role == Role::STATIC_TEXT && !has_changed(tree, after) {
        return Verdict::Failed(Mismatch::NothingDone("a text".into()));
    }
    // A radio button that is on, and a selected tab, stay as they are.
    let is_off = !old.states.contains(States::CHECKED);
    let switches = old.role == Role::CHECK_BOX
        || old.native_role == "check menu item"
        || old.role == Role::RADIO_BUTTON && is_off
        || state.intersects(PRESSED - States::CHECKED);
    if !switches || new.states & PRESSED != state || has_changed(tree, after) {
        return Verdict::Agrees;
    }
    let is = state.words().collect::<Vec<_>>().join(" and ");
    let still = if is.is_empty() { "not checked" } else { &is };
    Verdict::Failed(Mismatch::NothingDone(format!("still {still}")))
}

fn chosen(before: &Tree, (after, now): (&Tree, usize), wanted: bool) -> Verdict {
    // The state may be on the row of a cell, or on the cell of a text: see `set_selected`.
    const LEVELS: usize = 3;
    let (state, levels, word) = match after.elements[now].role {
        Role::CHECK_BOX | Role::RADIO_BUTTON => (States::CHECKED, 0, "checked"),
        _ => (States::SELECTED, LEVELS, "selected"),
    };
    let selected = |e: &Element| e.states.contains(state);
    let chain = after.outwards(now).take(levels + 1);
    let mut chain = chain.map(|at| &after.elements[at]);
    let holds = if wanted {
        chain.any(selected)
    } else {
        !selected(&after.elements[now])
    };
    if wanted && holds {
        return current_beside(after, now);
    }
    if holds || has_changed(before, after) {
        return Verdict::Agrees;
    }
    let is = if wanted { "not" } else { "still" };
    Verdict::Failed(Mismatch::NothingDone(format!("{is} {word}")))
}

/// The note that keys do not go to the selected row: Qt and GTK select through accessibility
/// without moving their cursor. In Qt the cursor is the focused row. GTK reports no focused row
/// while its window is behind.
fn current_beside(tree: &Tree, now: usize) -> Verdict {
    let around = |at: usize| tree.outwards(at);
    let is_view = |at: &usize| {
        let role = tree.elements[*at].role;
        matches!(role, Role::OUTLINE | Role::TABLE | Role::LIST | Role::GRID)
    };
    let Some(view) = around(now).find(is_view) else {
        return Verdict::Agrees;
    };
    let own = &tree.elements[now];
    let in_page = tree.page_around(now).is_some();
    let from_toolkit = matches!(own.native_role.as_ref(), "table cell" | "list item") && !in_page;
    let same_row = |e: &Element| {
        let row = |e: &Element| e.extents.map(|place| (place.y, place.h));
        e.role == Role::CELL && own.role == Role::CELL && row(e) == row(own)
    };
    let is_current = |at: &usize| {
        let e = &tree.elements[*at];
        e.states.contains(States::FOCUSED)
            && matches!(e.role, Role::ROW | Role::CELL)
            && around(*at).any(|outer| outer == view)
    };
    let current = (0..tree.elements.len()).rev().find(is_current);
    let related = |current| {
        around(current).any(|at| at == now)
            || around(now).any(|at| at == current)
            || same_row(&tree.elements[current])
    };
    match current {
        Some(current) if related(current) => Verdict::Agrees,
        Some(current) => Verdict::Differs(format!(
            "it is selected, but keys still act on the current row, {}: accessibility cannot make \
             another row current. Click the row that you mean before you press a key for it",
            summary::name_of(tree, current)
        )),
        None if from_toolkit => Verdict::Differs(String::from(
            "it is selected, but keys may still act on the current row, which is another row. Click \
            this row before you press a key for it",
        )),
        None => Verdict::Agrees,
    }
}

/// The note about a key that did nothing, or only closed a list over the window. `before` is the
/// tree right before the key, `list` whether a pop-up was open then (Qt's pop-ups are not in the
/// tree), and `still` whether the window's picture is known to be the same as before.
pub(crate) fn idle_key(
    press: KeyPress,
    before: &Tree,
    after: &Tree,
    list: bool,
    still: bool,
) -> Option<String> {
    let diff = Diff::between(before, after);
    if !diff.added.is_empty() || !diff.modified.is_empty() {
        return None;
    }
    let focus = |tree: &Tree| {
        let focused = |e: &Element| e.states.contains(States::FOCUSED);
        tree.elements.iter().rposition(focused)
    };
    let came = |e: &&Element| e.visible && before.elements.iter().all(|old| old.id != e.id);
    if after.elements.iter().any(|e| came(&e)) {
        return None;
    }
    if diff.removed.is_empty() {
        if list {
            return Some(format!(
                "{press} changed nothing in the tree. A list over the window was open, and may \
                 have taken the key. Press it again if it was meant for the window"
            ));
        }
        // A key that selects a text or saves a file may change nothing in the tree.
        return still.then(|| format!("{press} changed nothing, neither tree nor screenshot"));
    }
    // A list of completions is a window of its own. It may be one without a frame, which the window
    // manager does not manage.
    let top = focus(before).and_then(|at| before.toplevel(at));
    let over = |at: &usize| top.is_some() && before.toplevel(*at) != top;
    let stays = focus(before).map(|at| &before.elements[at].id)
        == focus(after).map(|at| &after.elements[at].id);
    (stays && diff.removed.iter().all(over)).then(|| {
        format!(
            "{press} only closed the list that was open. Press it again if it was meant for the \
            window"
        )
    })
}

/// Whether anything but the focus changed.
pub(crate) fn has_changed(before: &Tree, after: &Tree) -> bool {
    shows_effect(&Diff::between(before, after), after, false, None)
}
