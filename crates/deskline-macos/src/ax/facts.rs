//! The facts about an element, from one batched call.

use deskline_core::{Rect, Role, States, Text};

use crate::os::{AxError, Value};

/// All attributes that are requested of elements, in one call. The value may be a long text, and
/// the children a hundred thousand rows: they come last, to be left out.
const ATTRIBUTES: [&str; 20] = [
    "AXRole",
    "AXSubrole",
    "AXTitle",
    "AXDescription",
    "AXPosition",
    "AXSize",
    "AXEnabled",
    "AXFocused",
    "AXSelected",
    "AXExpanded",
    "AXDisclosing",
    "AXHidden",
    "AXMinimized",
    "AXModal",
    "AXTitleUIElement",
    "AXPlaceholderValue",
    "AXHelp",
    "AXMenuItemMarkChar",
    "AXValue",
    "AXChildren",
];

/// Without the children.
pub(crate) const FACTS: &[&str] = ATTRIBUTES.split_at(19).0;

/// Without the value and the children.
pub(crate) const FACTS_BUT_VALUE: &[&str] = ATTRIBUTES.split_at(18).0;

pub(crate) const FACTS_AND_CHILDREN: &[&str] = &ATTRIBUTES;

/// The subrole of a password field.
const SECURE: &str = "AXSecureTextField";

/// The facts about an element.
#[derive(Debug, Clone)]
pub(crate) struct Facts<E> {
    pub(crate) role: Role,
    pub(crate) native_role: std::borrow::Cow<'static, str>,
    pub(crate) title: Text,
    pub(crate) description: Text,
    pub(crate) value: Text,
    pub(crate) extents: Option<Rect>,
    pub(crate) states: States,
    /// Its own attribute. Its ancestors may be hidden too.
    pub(crate) hidden: bool,
    pub(crate) modal: bool,
    /// The element whose text is its label.
    pub(crate) label: Option<E>,
    /// `None` if they were not requested, or the app has failed.
    pub(crate) children: Option<Vec<E>>,
}

/// Decodes the answer to one of the two lists.
pub(crate) fn read<E>(names: &[&'static str], values: Vec<Value<E>>) -> Facts<E> {
    let mut raw = Raw::default();
    for (&name, value) in names.iter().zip(values) {
        raw.take(name, value);
    }
    raw.facts()
}

/// The attributes as received. Accessibility has this many booleans.
#[allow(clippy::struct_excessive_bools)]
struct Raw<E> {
    role: String,
    subrole: String,
    title: Text,
    description: Text,
    placeholder: Text,
    help: Text,
    value: Option<Value<E>>,
    position: Option<(f64, f64)>,
    size: Option<(f64, f64)>,
    enabled: Option<bool>,
    focused: bool,
    selected: bool,
    expanded: Option<bool>,
    disclosing: bool,
    hidden: bool,
    modal: bool,
    mark: String,
    label: Option<E>,
    children: Option<Vec<E>>,
}

impl<E> Default for Raw<E> {
    fn default() -> Self {
        Self {
            role: String::new(),
            subrole: String::new(),
            title: Text::default(),
            description: Text::default(),
            placeholder: Text::default(),
            help: Text::default(),
            value: None,
            position: None,
            size: None,
            enabled: None,
            focused: false,
            selected: false,
            expanded: None,
            disclosing: false,
            hidden: false,
            modal: false,
            mark: String::new(),
            label: None,
            children: None,
        }
    }
}

impl<E> Raw<E> {
    fn take(&mut self, name: &str, value: Value<E>) {
        match (name, value) {
            ("AXRole", Value::Text { start, .. }) => self.role = start,
            ("AXSubrole", Value::Text { start, .. }) => self.subrole = start,
            ("AXTitle", value) => self.title = text(value),
            ("AXDescription", value) => self.description = text(value),
            ("AXPlaceholderValue", value) => self.placeholder = text(value),
            ("AXHelp", value) => self.help = text(value),
            ("AXValue", value) => self.value = Some(value),
            ("AXPosition", Value::Point(x, y)) => self.position = Some((x, y)),
            ("AXSize", Value::Size(w, h)) => self.size = Some((w, h)),
            ("AXEnabled", Value::Bool(is)) => self.enabled = Some(is),
            ("AXFocused", Value::Bool(is)) => self.focused = is,
            ("AXSelected", Value::Bool(is)) => self.selected = is,
            ("AXExpanded", Value::Bool(is)) => self.expanded = Some(is),
            ("AXDisclosing", Value::Bool(is)) => self.disclosing = is,
            ("AXHidden" | "AXMinimized", Value::Bool(is)) => self.hidden |= is,
            ("AXModal", Value::Bool(is)) => self.modal = is,
            ("AXMenuItemMarkChar", Value::Text { start, .. }) => self.mark = start,
            ("AXTitleUIElement", Value::Element(label)) => self.label = Some(label),
            ("AXChildren", Value::Elements(children)) => self.children = Some(children),
            // An element without children answers like this; any other error is a failure of the
            // app.
            ("AXChildren", Value::Error(AxError::NO_VALUE | AxError::ATTRIBUTE_UNSUPPORTED)) => {
                self.children = Some(Vec::new());
            }
            _ => {}
        }
    }

    fn facts(self) -> Facts<E> {
        let subrole = Some(self.subrole.as_str()).filter(|s| !s.is_empty());
        let (role, native_role) = Role::from_ax(&self.role, subrole);
        let secure = self.subrole == SECURE;
        let number = match &self.value {
            Some(Value::Number(n)) => Some(*n),
            Some(Value::Bool(on)) => Some(f64::from(u8::from(*on))),
            _ => None,
        };
        let on_or_off = matches!(role, Role::CHECK_BOX | Role::RADIO_BUTTON | Role::TAB);
        let discloses = role == Role::DISCLOSURE_TRIANGLE;

        let mut states = States::empty();
        states.set(States::FOCUSED, self.focused);
        states.set(States::SELECTED, self.selected);
        let on = number.is_some_and(|n| (n - 1.0).abs() < 0.5);
        states.set(States::CHECKED, on_or_off && on && role != Role::TAB);
        states.set(States::SELECTED, self.selected || role == Role::TAB && on);
        let mixed = number.is_some_and(|n| n > 1.5) && role == Role::CHECK_BOX;
        let marked = role == Role::MENU_ITEM && !self.mark.is_empty();
        states.set(States::MIXED, mixed || marked && self.mark.starts_with('-'));
        states.set(
            States::CHECKED,
            states.contains(States::CHECKED) || marked && !self.mark.starts_with('-'),
        );
        let expanded = self.expanded.or(if discloses {
            number.map(|n| n > 0.5)
        } else {
            None
        });
        states.set(States::EXPANDED, expanded == Some(true) || self.disclosing);
        states.set(
            States::COLLAPSED,
            expanded == Some(false) && !self.disclosing,
        );
        states.set(
            States::DISABLED,
            self.enabled == Some(false) && role.is_interactive(),
        );
        states.set(States::SECURE, secure);

        let value = match self.value {
            // Never read a password, whatever the app returns.
            _ if secure => Text::default(),
            Some(Value::Text { start, units }) => cut(start, units),
            Some(Value::Number(n)) if !on_or_off && !discloses => Text::new(plain(n)),
            _ => Text::default(),
        };
        // The tool tip: toolbar buttons often have nothing else. It names only what has no name.
        let unnamed = self.title.is_blank() && value.is_blank() && role.is_interactive();
        let all = [self.description, self.placeholder];
        let described = all.into_iter().find(|text| !text.is_blank());
        let help = if unnamed { self.help } else { Text::default() };
        let description = described.unwrap_or(help);
        let extents = self
            .position
            .zip(self.size)
            .and_then(|((x, y), (w, h))| rect(x, y, w, h));
        Facts {
            role,
            native_role,
            title: self.title,
            description,
            value,
            extents,
            states,
            hidden: self.hidden,
            modal: self.modal,
            label: self.label,
            children: self.children,
        }
    }
}

/// The smallest integer rectangle around fractional extents.
pub(crate) fn rect(x: f64, y: f64, w: f64, h: f64) -> Option<Rect> {
    let all = [x, y, w, h];
    // `as` saturates and turns NaN into 0; here both mean "nowhere".
    if all.iter().any(|v| !v.is_finite()) {
        return None;
    }
    let right = (x + w).round() as i32;
    let bottom = (y + h).round() as i32;
    let (x, y) = (x.round() as i32, y.round() as i32);
    Rect::new(x, y, right.saturating_sub(x), bottom.saturating_sub(y))
}

pub(crate) fn text<E>(value: Value<E>) -> Text {
    match value {
        Value::Text { start, units } => cut(start, units),
        _ => Text::default(),
    }
}

/// A text of which only the start was copied. The rest is counted in UTF-16 units, which equals
/// characters for most texts.
fn cut(start: String, units: usize) -> Text {
    let came: usize = start.chars().map(char::len_utf16).sum();
    let total = start.chars().count() + units.saturating_sub(came);
    Text::cut(start, total)
}

/// Formats a number without binary rounding errors: `50`, `0.3`.
fn plain(n: f64) -> String {
    let rounded = (n * 1e6).round() / 1e6;
    format!("{}", if rounded == 0.0 { 0.0 } else { rounded })
}
