//! Actions through the accessibility API. They use neither pointer nor keys nor focus.

use deskline_unix::wait;
use std::sync::Arc;
use std::time::Duration;

use deskline_contract::amount::Numeric;
use deskline_contract::{Error, Obstacle, QuietAction, Refusal, Takes};
use deskline_core::Role;

use crate::bus::{self, Body, Message};

use crate::connection::AppConnection;
use crate::names::{
    ACTION, COMPONENT, EDITABLE_TEXT, PROPERTIES, SCROLL_ANYWHERE, SELECTION, StateSet, TABLE,
    TEXT, VALUE, role,
};
use crate::request::Request;
use crate::toolkits::Toolkit;
use crate::{choice, decode};

/// How long to wait for an action to return. Qt returns from an action that opens a modal dialog
/// only when the dialog closes, and a busy app returns late. So a timeout is no failure.
const ACTION_RETURNS: Duration = Duration::from_millis(500);

/// The bus's error for a call whose receiver has left the bus.
const NO_REPLY: &str = "org.freedesktop.DBus.Error.NoReply";

/// How long to wait for the actions of an element that has reported none. Firefox once took more
/// than 100 ms, on two cores with four busy processes.
const ACTIONS_COME: Duration = Duration::from_millis(500);

/// Names of the action that presses an element, in lower case without blanks, best first. Toolkits
/// do not share a set of names: GTK 3 has `click` and `expand or contract`, Qt `Press` and
/// `Toggle`, Gecko `jump`, `switch` and `cycle`, Chromium `doDefault`, Java `toggle expand`,
/// Flutter `Tap`.
#[rustfmt::skip]
const PRESS: [&str; 20] = [
    "click", "press", "activate", "toggle", "jump", "open", "select", "check", "uncheck",
    "dodefault", "switch", "cycle", "sort", "tap", "togglepopup", "expandorcontract",
    "toggleexpand", "expand", "collapse", "close",
];

/// Names of actions that are never a press, in lower case without blanks. Names with a dot are no
/// press either: GTK 4 lists every command of a widget, such as `clipboard.cut`.
#[rustfmt::skip]
const NOT_A_PRESS: [&str; 6] = [
    "setfocus", "showmenu", "showcontextmenu", "clickancestor", "increase", "decrease",
];

/// The maximum number of tabs of one tab bar whose states are requested.
const MOST_TABS: usize = 64;

/// The maximum number of actions of one element whose names are requested.
const MOST_ACTIONS: usize = 32;

fn refused(action: QuietAction, obstacle: Obstacle) -> Failure {
    Failure::Refused(Error::Refused(Refusal { action, obstacle }))
}

/// The message of a reply. `None` if the app answered with an error, because the object lacks the
/// method or the property. An error if the app cannot be reached.
fn answer(reply: bus::Reply) -> bus::Result<Option<Message>> {
    match reply {
        Ok(message) => Ok(Some(message)),
        Err(bus::Error::Remote { .. }) => Ok(None),
        Err(e) => Err(e),
    }
}

type Asked<T> = bus::Result<T>;

/// What `read` finds in a reply. `None` as in [`answer`], or if it finds nothing.
fn told<T>(reply: bus::Reply, read: impl FnOnce(&Message) -> Option<T>) -> Asked<Option<T>> {
    Ok(answer(reply)?.and_then(|message| read(&message)))
}

fn is_true(reply: bus::Reply) -> Asked<bool> {
    Ok(told(reply, number)? == Some(1))
}

fn number(message: &Message) -> Option<u32> {
    message.reader().u32().ok()
}

fn text(message: &Message) -> Option<String> {
    message.reader().str().ok().map(str::to_owned)
}

/// An index, which is -1 if there is none.
fn index(message: &Message) -> Option<i32> {
    message.reader().i32().ok().filter(|&index| index >= 0)
}

fn property(message: &Message) -> Option<f64> {
    message.reader().variant_f64().ok()
}

/// An error of the bus, or a refusal by the element.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    #[error(transparent)]
    Bus(#[from] bus::Error),
    #[error(transparent)]
    Refused(#[from] Error),
}

type Acted<T = ()> = std::result::Result<T, Failure>;

/// `press_ax`: runs the element's own action.
pub fn press(app: &mut AppConnection<'_>, path: &str) -> Acted {
    require_enabled(app, path, QuietAction::Press)?;
    // When the actions of an element in a page are first requested, Gecko fetches them from the
    // process of the page. Until they have arrived it reports none.
    let actions = ask_until(
        ACTIONS_COME,
        || self::actions(app, path),
        |actions| !actions.is_empty(),
    )?;
    // In a tree of GTK 3, `activate` is a double click, which opens and closes no row.
    let opens = state(app, path)?.is_some_and(|states| states.has(StateSet::EXPANDABLE));
    let mut names = actions.iter();
    let own = names.position(|name| squeezed(name) == "expandorcontract");
    let press = match own.filter(|_| opens) {
        Some(own) => Some(own as i32),
        None => press_of(app, path, &actions)?,
    };
    let Some(index) = press else {
        return Err(refused(QuietAction::Press, Obstacle::NoPress(actions)));
    };
    if do_action(app, path, index)? == Reply::Late {
        return Ok(());
    }
    let kind = match app.ask(path, Request::Role) {
        // GTK replies before it carries the action out, so it may still be busy with it.
        Err(bus::Error::Timeout | bus::Error::Io(_)) => return Ok(()),
        reply => told(reply, number)?,
    };
    if kind == Some(role::PAGE_TAB)
        && tells_which_is_selected(app, path)?
        && !becomes_selected(app, path, true)?
    {
        return Err(refused(QuietAction::Press, Obstacle::TabNotSelected));
    }
    Ok(())
}

/// Waits briefly until the element is selected, or not, as requested. Some toolkits report success
/// for a selection that they do not make.
fn becomes_selected(app: &mut AppConnection<'_>, path: &str, selected: bool) -> Asked<bool> {
    const SOON: Duration = Duration::from_millis(300);
    // The state of an element that is gone will not change, so there is nothing to wait for.
    let is = |states: &Option<StateSet>| {
        states.is_none_or(|states| states.has(StateSet::SELECTED) == selected)
    };
    Ok(is(&ask_until(SOON, || state(app, path), is)?))
}

/// Whether a tab of this tab's bar is reported as selected. In Qt 5 none ever is, because each tab
/// reports the states of the whole bar.
fn tells_which_is_selected(app: &mut AppConnection<'_>, path: &str) -> Asked<bool> {
    let Some(bar) = parent(app, path)? else {
        return Ok(true);
    };
    let tabs = told(app.ask(&bar, Request::Children), decode::paths)?;
    for tab in tabs.iter().flatten().take(MOST_TABS) {
        if state(app, tab)?.is_some_and(|states| states.has(StateSet::SELECTED)) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Repeats a request until the answer is the wanted one, or `limit` has passed. Returns the last
/// answer.
fn ask_until<T>(
    limit: Duration,
    mut ask: impl FnMut() -> Asked<T>,
    wanted: impl Fn(&T) -> bool,
) -> Asked<T> {
    wait::until(limit, Duration::from_millis(5), || {
        Some(ask()).filter(|answer| answer.as_ref().map_or(true, &wanted))
    })
    .unwrap_or_else(ask)
}

/// The index of the action that is a press, if there is one. The names in `actions` may be in the
/// person's language. GTK 3 and Qt report English names too, Java does not.
fn press_of(app: &mut AppConnection<'_>, path: &str, actions: &[String]) -> Asked<Option<i32>> {
    if let Some(index) = press_index(actions) {
        return Ok(Some(index));
    }
    if let Some(index) = press_index(&plain_names(app, path, actions.len())?) {
        return Ok(Some(index));
    }
    let kind = role_of(app, path)?;
    let pressable = kind.is_interactive() && !matches!(kind, Role::TEXT_FIELD | Role::TEXT_AREA);
    Ok(only_action(actions).filter(|_| pressable))
}

/// The English names of the first `actions` actions of an element.
fn plain_names(app: &mut AppConnection<'_>, path: &str, actions: usize) -> Asked<Vec<String>> {
    let name = |index: usize| {
        let body = Body::new().i32(index as i32);
        let name = told(app.call(path, ACTION, "GetName", body), text)?;
        Ok(name.unwrap_or_default())
    };
    (0..actions.min(MOST_ACTIONS)).map(name).collect()
}

fn press_index(actions: &[String]) -> Option<i32> {
    let names: Vec<String> = actions.iter().map(|name| squeezed(name)).collect();
    let mut best = PRESS.iter();
    best.find_map(|want| names.iter().position(|name| name == want))
        .map(|i| i as i32)
}

/// The index of the element's only action, if it has just one and that may be a press. The name of
/// the action may be in any language.
fn only_action(actions: &[String]) -> Option<i32> {
    let [name] = actions else { return None };
    let name = squeezed(name);
    (!name.contains('.') && !NOT_A_PRESS.contains(&name.as_str())).then_some(0)
}

fn squeezed(name: &str) -> String {
    name.to_lowercase().split_whitespace().collect()
}

fn actions(app: &mut AppConnection<'_>, path: &str) -> Asked<Vec<String>> {
    let all = actions_and_keys(app, path)?.into_iter();
    Ok(all.map(|(name, _)| name).collect())
}

/// Which kinds of input an element takes, by its actions and states. `doDefault` does not count as
/// a press: every element of Chromium has it. Check boxes in cells of GTK 3 have the action
/// `toggle`.
pub fn takes(app: &mut AppConnection<'_>, path: &str) -> Asked<Takes> {
    let all = actions_and_keys(app, path)?;
    let (mut names, keys): (Vec<_>, Vec<_>) = all.into_iter().unzip();
    if press_index(&names).is_none() {
        names = plain_names(app, path, names.len())?;
    }
    let focusable = state(app, path)?.is_some_and(|states| states.has(StateSet::FOCUSABLE));
    Ok(Takes {
        press: press_index(&names).is_some_and(|at| names[at as usize] != "doDefault"),
        toggle: names.iter().any(|name| name.eq_ignore_ascii_case("toggle")),
        keys: focusable || keys.iter().any(|key| !key.trim_matches(';').is_empty()),
    })
}

/// The actions' names, and the keys that call them.
fn actions_and_keys(app: &mut AppConnection<'_>, path: &str) -> Asked<Vec<(String, String)>> {
    let all = |message: &Message| {
        let all = message.reader().array(8, |r| {
            r.align(8)?;
            let name = r.str()?.to_owned();
            r.str()?;
            Ok((name, r.str()?.to_owned()))
        });
        all.ok()
    };
    Ok(told(app.ask(path, Request::Actions), all)?.unwrap_or_default())
}

/// Whether the app's reply to an accepted action came in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reply {
    InTime,
    /// It may still come, or never: the action keeps the app busy, opens a modal dialog, or ends
    /// the app.
    Late,
}

fn do_action(app: &mut AppConnection<'_>, path: &str, index: i32) -> Acted<Reply> {
    let body = Body::new().i32(index);
    match app.call_within(ACTION_RETURNS, path, ACTION, "DoAction", body) {
        Ok(message) if message.reader().u32() == Ok(0) => {
            Err(refused(QuietAction::Press, Obstacle::NotDone))
        }
        Ok(_) => Ok(Reply::InTime),
        // The app answered a call just before. So it is alive, and only late.
        Err(bus::Error::Timeout | bus::Error::Io(_)) => Ok(Reply::Late),
        Err(bus::Error::Remote { name, .. }) if name == NO_REPLY => Ok(Reply::Late),
        Err(bus::Error::Remote { message, .. }) => {
            Err(refused(QuietAction::Press, Obstacle::AppError(message)))
        }
        Err(e) => Err(e.into()),
    }
}

pub(crate) fn state(app: &mut AppConnection<'_>, path: &str) -> Asked<Option<StateSet>> {
    let states = |message: &Message| decode::states(&mut message.reader()).ok();
    told(app.ask(path, Request::State), states)
}

fn require_enabled(app: &mut AppConnection<'_>, path: &str, action: QuietAction) -> Acted {
    let Some(states) = state(app, path)? else {
        return Err(refused(action, Obstacle::Gone));
    };
    if states.has(StateSet::ENABLED) || states.has(StateSet::SENSITIVE) {
        return Ok(());
    }
    let obstacle = match app_role(app, path)? {
        Some(role::MENU_ITEM) => Obstacle::DisabledInMenu,
        _ => Obstacle::Disabled,
    };
    Err(refused(action, obstacle))
}

pub(crate) fn interfaces(app: &mut AppConnection<'_>, path: &str) -> Asked<Vec<String>> {
    let names = |m: &Message| m.reader().array(4, |r| r.str().map(str::to_owned)).ok();
    Ok(told(app.ask(path, Request::Interfaces), names)?.unwrap_or_default())
}

/// `set_value`: sets a number, a text, or a choice, whichever the element takes.
pub fn set_value(
    app: &mut AppConnection<'_>,
    path: &str,
    value: &str,
    toolkit: Option<Toolkit>,
) -> Acted {
    const ACTION: QuietAction = QuietAction::SetValue;
    require_enabled(app, path, ACTION)?;
    let has = interfaces(app, path)?;
    let has = |interface: &str| has.iter().any(|i| i == interface);
    // In a page of Gecko each paragraph has the interface `EditableText`. So the state EDITABLE
    // decides there.
    let plain = toolkit != Some(Toolkit::Gecko);
    let editable = has(EDITABLE_TEXT)
        && state(app, path)?
            .is_some_and(|s| s.has(StateSet::EDITABLE) || plain && !s.has(StateSet::READ_ONLY));
    let mut before = None;
    let form = |text: &str| text.trim().replace(|c: char| c.is_ascii_digit(), "0");
    if has(VALUE) {
        let shown = numeric(app, path, has(TEXT))?;
        match shown.amount(value).map_err(|why| refused(ACTION, why))? {
            // Gecko would show a number that is set, but send the page no event. So the number is
            // set as a text.
            Some(_) if editable && !plain => {}
            Some(number) => return set_number(app, path, number, shown.value),
            // Qt's date boxes have no number, but take a text in the form of the shown one.
            None if editable && form(value) == form(&shown.text) => {}
            None if editable => before = shown.value,
            None => return Err(refused(ACTION, Obstacle::NotANumber(value.to_owned()))),
        }
    }
    let is = app_role(app, path)?;
    let shows_only = |s: StateSet| s.has(StateSet::READ_ONLY) || !s.has(StateSet::EDITABLE);
    if is.is_some_and(role::is_text_field) && state(app, path)?.is_some_and(shows_only) {
        return Err(refused(ACTION, Obstacle::ReadOnly));
    }
    if editable {
        let body = Body::new().str(value);
        if is_true(app.call(path, EDITABLE_TEXT, "SetTextContents", body))? {
            // GTK's spin buttons apply a text only when they lose the focus, or after Return.
            let takes_late = is == Some(role::SPIN_BUTTON) && before.is_some();
            if takes_late && !becomes_other(app, path, before)? {
                return Err(refused(ACTION, Obstacle::ShownNotTaken));
            }
            return Ok(());
        }
    }
    if is.is_some_and(|is| role::is_text_field(is) || is == role::DATE_EDITOR) {
        return Err(refused(ACTION, Obstacle::TextNotSettable));
    }
    if select(app, path, value, has(SELECTION), toolkit)?.is_some() {
        return Ok(());
    }
    let is_choice = matches!(is, Some(role::COMBO_BOX | role::LIST | role::LIST_BOX));
    let obstacle = if is_choice || has(SELECTION) {
        Obstacle::NoSuchChoice(value.to_owned())
    } else if editable {
        Obstacle::TextNotSettable
    } else {
        Obstacle::NoValue
    };
    Err(refused(ACTION, obstacle))
}

/// `choose`: selects the choice with this text in a combo box or a list. Returns whether the app
/// reports success.
pub fn choose(
    app: &mut AppConnection<'_>,
    path: &str,
    value: &str,
    toolkit: Option<Toolkit>,
) -> Acted<bool> {
    const ACTION: QuietAction = QuietAction::SetValue;
    require_enabled(app, path, ACTION)?;
    let selects = interfaces(app, path)?.iter().any(|i| i == SELECTION);
    select(app, path, value, selects, toolkit)?
        .ok_or_else(|| refused(ACTION, Obstacle::NoSuchChoice(value.to_owned())))
}

/// Selects the choice with this text below an element. Returns whether the app reports success, or
/// `None` if there is no such choice. `selects`: whether the element implements `Selection`.
fn select(
    app: &mut AppConnection<'_>,
    path: &str,
    value: &str,
    selects: bool,
    toolkit: Option<Toolkit>,
) -> Acted<Option<bool>> {
    const ACTION: QuietAction = QuietAction::SetValue;
    match choice::find(app, path, value)? {
        // Firefox 140 would show the choice, but send the page no event.
        choice::Search::Choice(_) if toolkit == Some(Toolkit::Gecko) => {
            Err(refused(ACTION, Obstacle::ChoiceNotSettable))
        }
        choice::Search::Choice(choice) => {
            // Selecting an item of a menu would only highlight the item.
            let in_menu = role_of(app, &choice.path)? == Role::MENU_ITEM
                && app_role(app, path)? != Some(role::COMBO_BOX);
            // Selects through the combo box if that implements Selection, else through the
            // container of the choices.
            let list = if selects { path } else { &choice.container };
            let body = Body::new().i32(choice.index);
            if !in_menu && is_true(app.call(list, SELECTION, "SelectChild", body))? {
                let body = Body::new().i32(choice.index);
                let selected = app.call(list, SELECTION, "IsChildSelected", body);
                return is_true(selected).map(Some).map_err(Failure::Bus);
            }
            let all = actions(app, &choice.path)?;
            if press_of(app, &choice.path, &all)?.is_some() {
                return press(app, &choice.path).map(|()| Some(true));
            }
            Err(refused(ACTION, Obstacle::ChoiceNotSettable))
        }
        choice::Search::Late(searched) => Err(refused(
            ACTION,
            Obstacle::TooManyChoices {
                value: value.to_owned(),
                searched,
                seconds: choice::TIME.as_secs(),
            },
        )),
        choice::Search::None => Ok(None),
    }
}

fn app_role(app: &mut AppConnection<'_>, path: &str) -> Asked<Option<u32>> {
    told(app.ask(path, Request::Role), number)
}

fn role_of(app: &mut AppConnection<'_>, path: &str) -> Asked<Role> {
    Ok(Role::from_atspi(app_role(app, path)?.unwrap_or_default()).0)
}

/// Waits briefly until an element's number has changed.
fn becomes_other(app: &mut AppConnection<'_>, path: &str, before: Option<f64>) -> Asked<bool> {
    const SOON: Duration = Duration::from_millis(200);
    let is = |now: &Option<f64>| *now != before;
    Ok(is(&ask_until(SOON, || current(app, path), is)?))
}

/// The element's number, and its text if it implements `Text`.
fn numeric(app: &mut AppConnection<'_>, path: &str, has_text: bool) -> Asked<Numeric> {
    /// The maximum length of the text to request: numbers are shorter.
    const LONGEST: i32 = 64;
    let value = current(app, path)?;
    let (low, high) = range(app, path)?.unzip();
    let text = if has_text {
        told(app.ask(path, Request::Text(0, LONGEST)), text)?
    } else {
        None
    };
    Ok(Numeric {
        text: text.unwrap_or_default(),
        value,
        low,
        high,
    })
}

/// The element's value now.
fn current(app: &mut AppConnection<'_>, path: &str) -> Asked<Option<f64>> {
    told(app.ask(path, Request::Value), property)
}

/// The range of an element's number, if it has one.
pub fn range(app: &mut AppConnection<'_>, path: &str) -> Asked<Option<(f64, f64)>> {
    let mut limit = |name| -> Asked<Option<f64>> {
        let body = Body::new().str(VALUE).str(name);
        told(app.call(path, PROPERTIES, "Get", body), property)
    };
    let range = limit("MinimumValue")?.zip(limit("MaximumValue")?);
    Ok(range.filter(|(low, high)| low < high))
}

fn set_number(app: &mut AppConnection<'_>, path: &str, number: f64, before: Option<f64>) -> Acted {
    let body = Body::new()
        .str(VALUE)
        .str("CurrentValue")
        .variant_f64(number);
    let set = answer(app.call(path, PROPERTIES, "Set", body))?.is_some();
    // Swing's spin buttons report success and keep their old number.
    let stays = before.is_some() && before != Some(number);
    if set && (!stays || becomes_other(app, path, before)?) {
        return Ok(());
    }
    Err(refused(QuietAction::SetValue, Obstacle::NumberNotTaken))
}

/// `set_selected`: selects or deselects the element through the Selection or Table interface of an
/// ancestor.
pub fn set_selected(app: &mut AppConnection<'_>, path: &str, selected: bool) -> Acted {
    const ACTION: QuietAction = QuietAction::SetSelected;
    // The element is often a text in a row, and only the row can be selected. So some ancestors are
    // tried too.
    const LEVELS: usize = 3;
    require_enabled(app, path, ACTION)?;
    if matches!(role_of(app, path)?, Role::CHECK_BOX | Role::RADIO_BUTTON) {
        let on = |states: StateSet| states.has(StateSet::CHECKED) || states.has(StateSet::PRESSED);
        let is = state(app, path)?.is_some_and(on);
        return if is == selected {
            Ok(())
        } else {
            press(app, path)
        };
    }
    let ways = [
        (SELECTION, ["DeselectChild", "SelectChild"]),
        (TABLE, ["RemoveRowSelection", "AddRowSelection"]),
    ];
    let mut child = Arc::<str>::from(path);
    for _ in 0..LEVELS {
        let Some(parent) = parent(app, &child)? else {
            break;
        };
        let at = told(app.ask(&child, Request::Index), index)?;
        let has = interfaces(app, &parent)?;
        for (interface, members) in ways {
            let Some(mut place) = at.filter(|_| has.iter().any(|i| i == interface)) else {
                continue;
            };
            if interface == TABLE {
                match told(app.ask(&parent, Request::RowAtIndex(place)), index)? {
                    Some(row) => place = row,
                    None => continue,
                }
            }
            let (member, body) = (members[usize::from(selected)], Body::new().i32(place));
            if is_true(app.call(&parent, interface, member, body))?
                && becomes_selected(app, &child, selected)?
            {
                return Ok(());
            }
        }
        child = parent;
    }
    Err(refused(ACTION, Obstacle::NoSelection))
}

fn parent(app: &mut AppConnection<'_>, path: &str) -> Asked<Option<Arc<str>>> {
    told(app.ask(path, Request::Parent), decode::object_property)
}

/// Scrolls the element into view. `false` if the toolkit cannot.
pub fn scroll_into_view(app: &mut AppConnection<'_>, path: &str) -> Asked<bool> {
    let body = Body::new().u32(SCROLL_ANYWHERE);
    is_true(app.call(path, COMPONENT, "ScrollTo", body))
}

/// Gives the element the focus. `false` if the toolkit cannot.
pub fn focus(app: &mut AppConnection<'_>, path: &str) -> Asked<bool> {
    is_true(app.call(path, COMPONENT, "GrabFocus", Body::new()))
}

/// Whether the object answers before the app's request timeout.
pub fn answers(app: &mut AppConnection<'_>, path: &str) -> bool {
    !matches!(app.ask(path, Request::Role), Err(bus::Error::Timeout))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(names: &[&str]) -> (Option<i32>, Option<i32>) {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        (press_index(&names), only_action(&names))
    }

    #[test]
    fn a_press_is_recognized_by_the_names_that_toolkits_give_it() {
        assert_eq!(index(&["SetFocus", "Press"]).0, Some(1));
        assert_eq!(
            index(&["expand or contract", "edit", "activate"]).0,
            Some(2)
        );
        assert_eq!(index(&["toggle expand"]).0, Some(0));
        assert_eq!(index(&["clipboard.cut", "selection.delete"]), (None, None));
        assert_eq!(index(&["listitem.scroll-to"]), (None, None));
        assert_eq!(index(&["ShowMenu"]), (None, None));
        assert_eq!(index(&["Scroll Up", "Scroll Down"]), (None, None));
        // The name that a Java button's action has under a German desktop.
        assert_eq!(index(&["klicken"]), (None, Some(0)));
    }
}
