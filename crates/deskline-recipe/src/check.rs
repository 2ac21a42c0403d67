//! What must show: a line of a tree, `[AXTextField] "Name" focused value:"{name}"`, or a text.

use deskline_core::{Line, Role, States, Text, fold};
use serde::{Deserialize, Serialize};

use crate::inputs::Values;

/// A line that an element must have. In a recipe, its texts are templates.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Check {
    role: Option<Role>,
    text: Option<String>,
    value: Option<String>,
    states: States,
}

impl Check {
    /// Parses a line without its place and ref, or a text alone.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        if text.trim().is_empty() {
            return Err("it is empty: pass a text or a line of a tree".into());
        }
        let mut check = Self::default();
        if text.starts_with('[') {
            let line: Line = text.parse().map_err(|_| {
                format!("{text} is no line of a tree, such as [AXCheckBox] \"Agree\" checked")
            })?;
            (check.role, check.states) = (Some(line.role), line.states);
            (check.text, check.value) = (line.text.map(|t| t.shown), line.value.map(|t| t.shown));
        } else {
            check.text = Some(text.to_owned());
        }
        Ok(check)
    }

    /// Refuses texts that `values` cannot fill.
    pub(crate) fn fillable(&self, values: &Values) -> Result<(), String> {
        let mut texts = self.text.iter().chain(&self.value);
        texts.try_for_each(|text| values.fill(text).map(drop))
    }

    /// The check that an element has the role, text and value of `line`, and those of `states` that
    /// `line` has.
    pub(crate) fn of(line: &Line, states: States) -> Self {
        let own = |text: &Text| {
            let whole = text.omitted_before + text.omitted_after == 0;
            text.shown.clone() + if whole { "" } else { "**" }
        };
        Self {
            role: Some(line.role),
            text: line.text.as_ref().map(own),
            value: line.value.as_ref().map(own),
            states: line.states & states,
        }
    }

    /// The line that a check box would have if it were on. A recipe requires that this line is
    /// absent. `None` unless the element is a check box that is off.
    pub(crate) fn unchecked(line: &Line, lines: &[Line]) -> Option<Self> {
        let is_off = !line.states.intersects(States::CHECKED | States::MIXED);
        let mut on = Self::of(line, States::empty());
        on.states = States::CHECKED;
        let is_alone = !lines.iter().any(|l| l.visible && on.is(l));
        let is_switch = line.role == Role::CHECK_BOX;
        (is_switch && is_off && is_alone && on.text.is_some()).then_some(on)
    }

    /// The check that an element like this has the focus. If the text of a field is its value, the
    /// check leaves the text out.
    pub fn focus(line: &Line) -> Self {
        let mut check = Self::of(line, States::empty());
        if line.states.contains(States::EDITABLE) && line.value.is_none() {
            check.text = None;
        }
        check.value = None;
        check
    }

    /// Changes the check's texts.
    pub fn map(&mut self, mut change: impl FnMut(&str) -> String) {
        for text in self.text.iter_mut().chain(&mut self.value) {
            *text = change(text);
        }
    }

    /// The check as it is written in a file.
    pub fn written(&self) -> String {
        let Some(role) = self.role else {
            return self.text.clone().unwrap_or_default();
        };
        let mut line = Line::bare(role, None);
        line.text = self.text.as_deref().map(Text::new);
        line.value = self.value.as_deref().map(Text::new);
        line.states = self.states;
        line.to_string()
    }

    /// Whether this element, which shows, meets the check. A check that is a line of a tree tells
    /// upper from lower case: an app that corrects what is typed may change the case alone.
    pub fn is(&self, line: &Line) -> bool {
        let text: fn(&str, &str) -> bool = if self.role.is_some() { fits } else { matches };
        self.is_like(line, text)
    }

    /// Whether the element on this line meets the check, apart from digits: they may be a time or a
    /// count.
    pub fn is_nearly(&self, line: &Line) -> bool {
        self.is_like(line, |wanted, is| matches(&shape(wanted), &shape(is)))
    }

    fn is_like(&self, line: &Line, has_text: impl Fn(&str, &str) -> bool) -> bool {
        let has = |wanted: &Option<String>, is: &Option<Text>| {
            let is = is.as_ref().map_or("", |text| text.shown.as_str());
            wanted.as_ref().is_none_or(|wanted| has_text(wanted, is))
        };
        self.role.is_none_or(|role| role == line.role)
            && has(&self.text, &line.text)
            && has(&self.value, &line.value)
            && line.states.contains(self.states)
    }

    pub fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }
}

impl TryFrom<String> for Check {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        Self::parse(&text)
    }
}

impl From<Check> for String {
    fn from(check: Check) -> Self {
        check.written()
    }
}

/// [`fits`], whatever the case.
pub(crate) fn matches(wanted: &str, text: &str) -> bool {
    fits(&fold(wanted), &fold(text))
}

/// Whether `text` is `wanted`, in which `**` at an end stands for anything.
fn fits(wanted: &str, text: &str) -> bool {
    let open = wanted.starts_with("**");
    let start = wanted.strip_prefix("**").unwrap_or(wanted);
    match (open, start.strip_suffix("**")) {
        (false, None) => wanted == text,
        (false, Some(head)) => text.starts_with(head),
        (true, None) => text.ends_with(start),
        (true, Some(middle)) => text.contains(middle),
    }
}

/// `text` with 0 in place of each number, because numbers change by themselves.
pub fn shape(text: &str) -> String {
    let mut shape = String::new();
    for c in text.chars() {
        let c = if c.is_ascii_digit() { '0' } else { c };
        if c != '0' || !shape.ends_with('0') {
            shape.push(c);
        }
    }
    shape
}
