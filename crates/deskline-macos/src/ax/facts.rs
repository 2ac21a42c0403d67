//! The facts about an element, from one batched call.

use deskline_core::{Rect, Role, States, Text, number};

use crate::os::{AxError, Value};

/// All attributes that are requested of elements, in one call. The value may be a long text, and
/// the children may be a hundred thousand rows: these two come last, so that shorter lists can
/// leave them out.
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

/// [`ATTRIBUTES`] without the children.
pub(crate) const FACTS: &[&str] = ATTRIBUTES.split_at(19).0;

/// [`ATTRIBUTES`] without the value and the children.
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
    /// Whether the element's own attributes say that it is hidden, whatever its ancestors are.
    pub(crate) hidden: bool,
    pub(crate) modal: bool,
    /// Another element, whose text is the label of this one.
    pub(crate) label: Option<E>,
    /// The children; `None` if they were not requested, or if the app has failed to return them.
    pub(crate) children: Option<Vec<E>>,
}

/// The answers that were not decoded yet, each with its attribute.
struct Answers<E>(Vec<(&'static str, Value<E>)>);

impl<E> Answers<E> {
    fn take(&mut self, name: &str) -> Option<Value<E>> {
        let place = self.0.iter().position(|(its, _)| *its == name)?;
        Some(self.0.swap_remove(place).1)
    }

    fn text(&mut self, name: &str) -> Text {
        self.take(name).map(text).unwrap_or_default()
    }

    fn word(&mut self, name: &str) -> String {
        match self.take(name) {
            Some(Value::Text { start, .. }) => start,
            _ => String::new(),
        }
    }

    fn flag(&mut self, name: &str) -> Option<bool> {
        match self.take(name)? {
            Value::Bool(is) => Some(is),
            _ => None,
        }
    }

    fn is(&mut self, name: &str) -> bool {
        self.flag(name) == Some(true)
    }

    fn extents(&mut self) -> Option<Rect> {
        match (self.take("AXPosition")?, self.take("AXSize")?) {
            (Value::Point(x, y), Value::Size(w, h)) => Rect::around(x, y, w, h),
            _ => None,
        }
    }

    fn children(&mut self) -> Option<Vec<E>> {
        match self.take("AXChildren")? {
            Value::Elements(children) => Some(children),
            // An element without children answers like this; any other error is a failure of the
            // app.
            Value::Error(AxError::NO_VALUE | AxError::ATTRIBUTE_UNSUPPORTED) => Some(Vec::new()),
            _ => None,
        }
    }
}

/// Decodes the answer to a list of attributes.
pub(crate) fn read<E>(names: &[&'static str], values: Vec<Value<E>>) -> Facts<E> {
    let mut answers = Answers(names.iter().copied().zip(values).collect());
    let subrole = answers.word("AXSubrole");
    let its_own = Some(subrole.as_str()).filter(|s| !s.is_empty());
    let (role, native_role) = Role::from_ax(&answers.word("AXRole"), its_own);
    let secure = subrole == SECURE;
    let value = answers.take("AXValue");
    let number = match &value {
        Some(Value::Number(n)) => Some(*n),
        Some(Value::Bool(on)) => Some(f64::from(u8::from(*on))),
        _ => None,
    };
    let on_or_off = matches!(role, Role::CHECK_BOX | Role::RADIO_BUTTON | Role::TAB);
    let discloses = role == Role::DISCLOSURE_TRIANGLE;
    let on = on_or_off && number.is_some_and(|n| (n - 1.0).abs() < 0.5);
    let mixed = number.is_some_and(|n| n > 1.5) && role == Role::CHECK_BOX;
    let mark = answers.word("AXMenuItemMarkChar");
    let marked = role == Role::MENU_ITEM && !mark.is_empty();
    let dashed = marked && mark.starts_with('-');
    let by_number = number.filter(|_| discloses).map(|n| n > 0.5);
    let expanded = answers.flag("AXExpanded").or(by_number);
    let disclosing = answers.is("AXDisclosing");
    let off = answers.flag("AXEnabled") == Some(false);
    let selected = answers.is("AXSelected") || role == Role::TAB && on;

    let mut states = States::empty();
    states.set(States::FOCUSED, answers.is("AXFocused"));
    states.set(States::SELECTED, selected);
    states.set(
        States::CHECKED,
        on && role != Role::TAB || marked && !dashed,
    );
    states.set(States::MIXED, mixed || dashed);
    states.set(States::EXPANDED, expanded == Some(true) || disclosing);
    states.set(States::COLLAPSED, expanded == Some(false) && !disclosing);
    states.set(States::DISABLED, off && role.is_interactive());
    states.set(States::SECURE, secure);

    let value = match value {
        // Never read a password, whatever the app returns.
        _ if secure => Text::default(),
        Some(Value::Text { start, units }) => cut(start, units),
        Some(Value::Number(n)) if !on_or_off && !discloses => Text::new(number::plain(n)),
        _ => Text::default(),
    };
    let title = answers.text("AXTitle");
    let described = ["AXDescription", "AXPlaceholderValue"].map(|name| answers.text(name));
    // The tool tip (`AXHelp`) becomes the name only of elements without any other name: toolbar
    // buttons often have nothing else.
    let unnamed = title.is_blank() && value.is_blank() && role.is_interactive();
    let description = match described.into_iter().find(|text| !text.is_blank()) {
        Some(described) => described,
        None if unnamed => answers.text("AXHelp"),
        None => Text::default(),
    };
    Facts {
        role,
        native_role,
        title,
        description,
        value,
        extents: answers.extents(),
        states,
        hidden: ["AXHidden", "AXMinimized"]
            .iter()
            .any(|name| answers.is(name)),
        modal: answers.is("AXModal"),
        label: answers.take("AXTitleUIElement").and_then(Value::element),
        children: answers.children(),
    }
}

pub(crate) fn text<E>(value: Value<E>) -> Text {
    match value {
        Value::Text { start, units } => cut(start, units),
        _ => Text::default(),
    }
}

/// A text of which only the start was copied. The length of the rest is counted in UTF-16 units,
/// which for most texts is the number of characters.
fn cut(start: String, units: usize) -> Text {
    let came: usize = start.chars().map(char::len_utf16).sum();
    let total = start.chars().count() + units.saturating_sub(came);
    Text::cut(start, total)
}
