//! Actions through control patterns: no pointer, no keys, no focus.

use deskline_contract::{Cancel, Deed, Error, Obstacle, QuietAction, Refusal, Result, wait};
use std::time::{Duration, Instant};

use deskline_contract::amount::{Numeric, switch};
use deskline_core::{ElementId, Role, fold};

use super::fail::{failed, text};
use super::identity::{Identities, Known};
use super::toplevels::toplevels;
use super::uia::{Action, Answer, Depth, Failure, Node, Patterns, Range, Raw, Uia};

/// How long to wait for an action to return. An action that opens a modal dialog may return only
/// when the dialog closes, so a timeout is not a failure.
const RETURNS: Duration = Duration::from_millis(500);

/// How long a state may take to change after an action.
const SOON: Duration = Duration::from_millis(300);

/// How long a list may take to open.
const OPENS: Duration = Duration::from_secs(1);

/// How many ancestors to try: text is in a cell and the cell in a row, so the selectable element
/// may be an ancestor.
const LEVELS: usize = 3;

/// The maximum number of elements to search for a choice.
const MOST_CHOICES: usize = 5_000;

/// How long a search for a choice goes on to make requests.
const SEARCHES: Duration = Duration::from_secs(2);

/// An action on an element.
pub struct Acting<'a, U: Uia> {
    pub uia: &'a U,
    pub identities: &'a Identities<U::Element>,
    pub known: &'a Known<U::Element>,
    /// The action, for errors.
    pub action: QuietAction,
}

pub fn refused(action: QuietAction, obstacle: Obstacle) -> Error {
    Error::Refused(Refusal { action, obstacle })
}

impl<U: Uia> Acting<'_, U> {
    fn refuse<T>(&self, obstacle: Obstacle) -> Result<T> {
        Err(refused(self.action, obstacle))
    }

    fn failed(&self, failure: Failure) -> Error {
        match failure {
            Failure::Gone => refused(self.action, Obstacle::Gone),
            Failure::Disabled => refused(self.action, Obstacle::Disabled),
            Failure::Other(_) | Failure::Denied => {
                refused(self.action, Obstacle::SystemError(text(&failure)))
            }
            failure => failed(self.known.pid, &failure),
        }
    }

    /// The element's properties. Fails if the element is disabled.
    fn enabled(&self) -> Result<Raw> {
        let raw = self.uia.properties(&self.known.element);
        let raw = raw.map_err(|failure| self.failed(failure))?;
        match self.known.role {
            _ if raw.enabled => Ok(raw),
            Role::MENU_ITEM => self.refuse(Obstacle::DisabledInMenu),
            _ => self.refuse(Obstacle::Disabled),
        }
    }

    fn act(&self, element: &U::Element, action: &Action) -> Answer<()> {
        match self.uia.act(element, action, RETURNS) {
            // The element still exists, so the provider has acted, and reports that nobody listens
            // to its event, as Qt's providers do.
            Err(Failure::Gone) if self.uia.properties(element).is_ok() => Ok(()),
            done => done,
        }
    }

    /// Acts on the element itself. A timeout counts as done: the app has answered just before.
    fn carry_out(&self, action: &Action) -> Result<()> {
        match self.act(&self.known.element, action) {
            Ok(()) | Err(Failure::TimedOut) => Ok(()),
            Err(failure) => Err(self.failed(failure)),
        }
    }

    /// Waits up to [`SOON`] until the element is as requested, or is gone.
    fn becomes(&self, element: &U::Element, wanted: impl Fn(&Raw) -> bool) -> bool {
        let there = || Ok(!matches!(self.uia.properties(element), Ok(raw) if !wanted(&raw)));
        wait::holds(&Cancel::new(), SOON, wait::LOOK, there).unwrap_or(false)
    }

    /// `press_ax`: the element's own action.
    pub fn press(&self) -> Result<()> {
        let raw = self.enabled()?;
        let Some(press) = press_of(&raw, self.known.role) else {
            return self.refuse(Obstacle::NoPress(names(raw.patterns)));
        };
        match self.act(&self.known.element, &press) {
            Ok(()) => {}
            // The press may have closed the element, or opened a modal dialog.
            Err(Failure::Gone | Failure::TimedOut) => return Ok(()),
            Err(failure) => return Err(self.failed(failure)),
        }
        let element = &self.known.element;
        let done = match press {
            Action::Select => self.becomes(element, |now| now.selected),
            Action::Toggle => self.becomes(element, |now| now.toggle != raw.toggle),
            Action::Expand | Action::Collapse => {
                self.becomes(element, |now| now.expand != raw.expand)
            }
            _ => true,
        };
        match self.known.role {
            _ if done => Ok(()),
            Role::TAB => self.refuse(Obstacle::TabNotSelected),
            _ => self.refuse(Obstacle::NotDone),
        }
    }

    /// `set_value`: sets a number, a switch, a text or a choice, whichever the element takes.
    pub fn set_value(&self, value: &str) -> Result<()> {
        let raw = self.enabled()?;
        let has = |pattern| raw.patterns.contains(pattern);
        let writable = has(Patterns::VALUE) && !raw.read_only;
        if let Some(range) = raw.range.filter(|range| !range.read_only) {
            let shown = Numeric {
                text: raw.value.clone(),
                value: Some(range.value),
                low: Some(range.low),
                high: Some(range.high),
            };
            match shown.amount(value) {
                Ok(Some(number)) => return self.set_number(number, range),
                // The field may accept a word for one of its numbers, such as "Auto".
                Ok(None) | Err(Obstacle::NotANumber(_)) if writable => {}
                Ok(None) => return self.refuse(Obstacle::NotANumber(value.to_owned())),
                Err(obstacle) => return self.refuse(obstacle),
            }
        }
        if has(Patterns::TOGGLE)
            && let Some(on) = switch(value)
        {
            return self.set_toggle(i32::from(on), &raw);
        }
        let chooses = matches!(self.known.role, Role::COMBO_BOX | Role::LIST | Role::TABLE);
        let chosen = if chooses { self.select(value)? } else { None };
        if chosen == Some(true) {
            return Ok(());
        }
        let no_choice = match chosen {
            Some(_) => Obstacle::ChoiceNotSettable,
            None => Obstacle::NoSuchChoice(value.to_owned()),
        };
        if writable {
            self.carry_out(&Action::SetValue(value.to_owned()))?;
            let changed = |now: &Raw| now.password || now.value == value || now.value != raw.value;
            if self.becomes(&self.known.element, changed) {
                return Ok(());
            }
            let shows = has(Patterns::RANGE_VALUE);
            return self.refuse(if shows {
                Obstacle::ShownNotTaken
            } else if chooses {
                no_choice
            } else {
                Obstacle::TextNotSettable
            });
        }
        self.refuse(match self.known.role {
            _ if chooses => no_choice,
            Role::TEXT_FIELD | Role::TEXT_AREA => Obstacle::TextNotSettable,
            _ => Obstacle::NoValue,
        })
    }

    fn set_number(&self, number: f64, range: Range) -> Result<()> {
        self.carry_out(&Action::SetRange(number))?;
        // A slider may round to the nearest of its steps.
        let taken = |now: &Raw| {
            now.range.is_none_or(|now| {
                near(now.value, number) || !near(now.value, range.value) || near(number, range.low)
            })
        };
        if self.becomes(&self.known.element, taken) {
            return Ok(());
        }
        self.refuse(Obstacle::NumberNotTaken)
    }

    fn set_toggle(&self, wanted: i32, raw: &Raw) -> Result<()> {
        const STATES: usize = 3;
        let mut now = raw.toggle;
        for _ in 0..STATES {
            if now == wanted {
                return Ok(());
            }
            self.carry_out(&Action::Toggle)?;
            let before = now;
            self.becomes(&self.known.element, |now| now.toggle != before);
            let raw = self.uia.properties(&self.known.element);
            now = raw.map_err(|failure| self.failed(failure))?.toggle;
        }
        if now == wanted {
            return Ok(());
        }
        self.refuse(Obstacle::NotDone)
    }

    /// `set_selected`: selects the element, else its nearest ancestor that can be selected.
    pub fn set_selected(&self, selected: bool) -> Result<()> {
        self.enabled()?;
        let mut at = Some(self.known);
        for _ in 0..=LEVELS {
            let Some(known) = at else { break };
            let raw = self.uia.properties(&known.element);
            let raw = raw.map_err(|failure| self.failed(failure))?;
            if raw.patterns.contains(Patterns::SELECTION_ITEM) {
                return self.select_item(&known.element, &raw, selected);
            }
            at = self.above(known);
        }
        self.refuse(Obstacle::NoSelection)
    }

    fn above(&self, known: &Known<U::Element>) -> Option<&Known<U::Element>> {
        self.identities.get(known.parent.as_ref()?)
    }

    fn select_item(&self, element: &U::Element, raw: &Raw, selected: bool) -> Result<()> {
        if raw.selected == selected {
            return Ok(());
        }
        if raw.patterns.contains(Patterns::VIRTUALIZED_ITEM) {
            self.realize(element)?;
        }
        // First try to keep the rest of the selection: the container may allow several selected
        // items.
        let ways: &[Action] = if selected {
            &[Action::AddToSelection, Action::Select]
        } else {
            &[Action::RemoveFromSelection]
        };
        let mut last = None;
        for way in ways {
            match self.act(element, way) {
                Ok(()) | Err(Failure::TimedOut) => {
                    if self.becomes(element, |now| now.selected == selected) {
                        return Ok(());
                    }
                }
                Err(failure) => last = Some(failure),
            }
        }
        match last {
            Some(failure @ (Failure::Gone | Failure::Disabled)) => Err(self.failed(failure)),
            _ => self.refuse(Obstacle::NotDone),
        }
    }

    /// `choose`: selects the choice with this text, or presses it in a menu. Returns whether the
    /// app reports it as chosen.
    pub fn choose(&self, choice: &str) -> Result<bool> {
        self.enabled()?;
        match self.select(choice)? {
            Some(is_chosen) => Ok(is_chosen),
            None => self.refuse(Obstacle::NoSuchChoice(choice.to_owned())),
        }
    }

    /// Selects the choice with this text. Returns whether the app reports it as selected; `None` if
    /// there is no such choice.
    fn select(&self, choice: &str) -> Result<Option<bool>> {
        let element = &self.known.element;
        let (item, opened) = match self.choice(choice)? {
            Some(item) => (Some(item), false),
            None => (self.choice_once_open(choice)?, true),
        };
        let Some(item) = item else {
            if opened {
                self.close();
            }
            return Ok(None);
        };
        let chosen = self.select_choice(&item, choice);
        let is_open = |raw: Raw| raw.expand == 1;
        if opened && self.uia.properties(element).is_ok_and(is_open) {
            self.close();
        }
        chosen.map(Some)
    }

    fn close(&self) {
        // Fails for a list that has closed by itself.
        let _ = self.act(&self.known.element, &Action::Collapse);
    }

    fn select_choice(&self, item: &Node<U::Element>, choice: &str) -> Result<bool> {
        let has = |pattern| item.raw.patterns.contains(pattern);
        if has(Patterns::VIRTUALIZED_ITEM) {
            self.realize(&item.element)?;
        }
        let is_menu = item.raw.control_type == MENU_ITEM;
        let ways = [
            (Action::Select, has(Patterns::SELECTION_ITEM) && !is_menu),
            (Action::Invoke, has(Patterns::INVOKE)),
            (Action::DefaultAction, has(Patterns::LEGACY)),
        ];
        for (way, _) in ways.iter().filter(|(_, has)| *has) {
            match self.act(&item.element, way) {
                // `Gone`: the press may have closed the menu.
                Ok(()) | Err(Failure::Gone | Failure::TimedOut) if is_menu => return Ok(true),
                Ok(()) | Err(Failure::Gone | Failure::TimedOut) => {
                    if self.is_chosen(item, choice) {
                        return Ok(true);
                    }
                }
                Err(_) => {}
            }
        }
        Ok(false)
    }

    /// Whether the combo box shows the choice, or the list reports it as selected.
    fn is_chosen(&self, item: &Node<U::Element>, choice: &str) -> bool {
        if self.known.role != Role::COMBO_BOX {
            return self.becomes(&item.element, |now| now.selected);
        }
        self.becomes(&self.known.element, |now| {
            let has_value = now.patterns.contains(Patterns::VALUE);
            let shown = if has_value { &now.value } else { &now.name };
            fold(shown) == fold(choice)
        })
    }

    /// The choice with this text below the element, without opening its list.
    fn choice(&self, choice: &str) -> Result<Option<Node<U::Element>>> {
        let raw = self.uia.properties(&self.known.element);
        let raw = raw.map_err(|failure| self.failed(failure))?;
        if raw.patterns.contains(Patterns::ITEM_CONTAINER)
            && let Ok(Some(element)) = self.uia.item(&self.known.element, choice)
        {
            let raw = self.uia.properties(&element).or_else(|_| {
                self.act(&element, &Action::Realize)?;
                self.uia.properties(&element)
            });
            if let Ok(raw) = raw {
                let children = None;
                return Ok(Some(Node {
                    element,
                    raw,
                    children,
                }));
            }
        }
        self.search(&self.known.element, choice)
    }

    /// Opens the list, which may be a window of its own, and finds the choice with this text.
    fn choice_once_open(&self, choice: &str) -> Result<Option<Node<U::Element>>> {
        let pid = self.known.pid;
        let before: Vec<_> = toplevels(pid);
        let is_new = |handle| before.iter().all(|top| top.id != handle);
        match self.act(&self.known.element, &Action::Expand) {
            Ok(()) | Err(Failure::TimedOut) => {}
            Err(Failure::Unsupported | Failure::Other(_)) => return Ok(None),
            Err(failure) => return Err(self.failed(failure)),
        }
        wait::until(&Cancel::new(), OPENS, wait::LOOK, || {
            if let Some(item) = self.search(&self.known.element, choice)? {
                return Ok(Some(item));
            }
            for top in toplevels(pid) {
                let list = is_new(top.id).then(|| self.uia.window(top.id, Depth::Element));
                if let Some(Ok(list)) = list
                    && let Some(item) = self.search(&list.element, choice)?
                {
                    return Ok(Some(item));
                }
            }
            Ok(None)
        })
    }

    /// Searches below an element, level by level.
    fn search(&self, below: &U::Element, choice: &str) -> Result<Option<Node<U::Element>>> {
        let wanted = fold(choice);
        let mut level = vec![below.clone()];
        let mut looked = 0;
        let start = Instant::now();
        while start.elapsed() < SEARCHES
            && let Some(container) = (!level.is_empty()).then(|| level.remove(0))
        {
            let children = match self.uia.children(&container) {
                Ok(children) => children,
                Err(failure @ Failure::TimedOut) => return Err(self.failed(failure)),
                Err(_) => continue,
            };
            looked += children.len();
            for child in children {
                let (role, _) = Role::from_uia(child.raw.control_type);
                let is_choice = matches!(role, Role::ROW | Role::MENU_ITEM | Role::RADIO_BUTTON);
                if is_choice && fold(&child.raw.name) == wanted {
                    return Ok(Some(child));
                }
                if !is_choice && looked < MOST_CHOICES {
                    level.push(child.element);
                }
            }
        }
        Ok(None)
    }

    fn realize(&self, element: &U::Element) -> Result<()> {
        match self.act(element, &Action::Realize) {
            Err(failure @ (Failure::Gone | Failure::TimedOut)) => Err(self.failed(failure)),
            _ => Ok(()),
        }
    }

    /// Scrolls the element into view; `false` if the app cannot.
    pub fn scroll_into_view(&self) -> Result<bool> {
        let raw = self.uia.properties(&self.known.element);
        let raw = raw.map_err(|failure| self.failed(failure))?;
        if raw.patterns.contains(Patterns::VIRTUALIZED_ITEM) {
            self.realize(&self.known.element)?;
        }
        match self.act(&self.known.element, &Action::ScrollIntoView) {
            Ok(()) => Ok(true),
            Err(failure @ (Failure::Gone | Failure::TimedOut)) => Err(self.failed(failure)),
            Err(_) => Ok(false),
        }
    }
}

const MENU_ITEM: i32 = 50_011;

/// The action that corresponds to a press of the element.
fn press_of(raw: &Raw, role: Role) -> Option<Action> {
    let has = |pattern| raw.patterns.contains(pattern);
    let expand = match raw.expand {
        0 | 2 => Some(Action::Expand),
        1 => Some(Action::Collapse),
        _ => None,
    };
    let expand = expand.filter(|_| has(Patterns::EXPAND_COLLAPSE));
    // Elements with these roles only open a menu. A split button can also be invoked, because it
    // has an action of its own.
    let opens_menu = matches!(
        role,
        Role::MENU_ITEM | Role::MENU_BAR_ITEM | Role::COMBO_BOX
    ) || role == Role::MENU_BUTTON && !has(Patterns::INVOKE);
    let selects = matches!(role, Role::RADIO_BUTTON | Role::TAB);
    if opens_menu && expand.is_some() {
        return expand;
    }
    if selects && has(Patterns::SELECTION_ITEM) {
        return Some(Action::Select);
    }
    let ways = [
        (has(Patterns::TOGGLE), Some(Action::Toggle)),
        (has(Patterns::INVOKE), Some(Action::Invoke)),
        (expand.is_some(), expand),
        (has(Patterns::SELECTION_ITEM), Some(Action::Select)),
        (has(Patterns::LEGACY), Some(Action::DefaultAction)),
    ];
    ways.into_iter().find(|(has, _)| *has)?.1
}

fn names(patterns: Patterns) -> Vec<String> {
    patterns
        .iter_names()
        .map(|(name, _)| name.to_lowercase())
        .collect()
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-6
}

/// Acts on the element with this id.
pub fn act<U: Uia>(
    uia: &U,
    identities: &Identities<U::Element>,
    id: &ElementId,
    deed: Deed<'_>,
) -> Result<bool> {
    let action = deed.action();
    let Some(known) = identities.get(id) else {
        return Err(refused(action, Obstacle::Gone));
    };
    let acting = Acting {
        uia,
        identities,
        known,
        action,
    };
    match deed {
        Deed::Focus | Deed::ScrollIntoView => return acting.scroll_into_view(),
        Deed::Choose(choice) => return acting.choose(choice),
        Deed::Press => acting.press()?,
        Deed::SetValue(value) => acting.set_value(value)?,
        Deed::SetSelected(selected) => acting.set_selected(selected)?,
    }
    Ok(true)
}
