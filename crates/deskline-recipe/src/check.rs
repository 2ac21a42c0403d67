//! What must show: a line of a tree, `[AXTextField] "Name" focused value:"{name}"`, or a text.

use deskline_core::{Line, Role, States, fold};

use crate::inputs::{Input, Values, literal, wrong};

/// A line that an element must have, with inputs in its texts.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Check {
    role: Option<Role>,
    text: Option<String>,
    value: Option<String>,
    states: States,
}

/// A check with its inputs filled in.
pub struct Wanted(Check);

impl Check {
    /// Parses a line without its place and ref, or a text alone.
    pub fn parse(text: &str, inputs: &[Input]) -> Result<Self, String> {
        let check = if text.starts_with('[') {
            let line: Line = text.parse().map_err(|_| {
                format!("{text} is no line of a tree, such as [AXCheckBox] \"Agree\" checked")
            })?;
            let shown = |text: Option<deskline_core::Text>| text.map(|text| text.shown);
            Self {
                role: Some(line.role),
                text: shown(line.text),
                value: shown(line.value),
                states: line.states,
            }
        } else {
            Self {
                text: Some(text.to_owned()),
                ..Self::default()
            }
        };
        if check.role.is_none() && text.trim().is_empty() {
            return Err("it is empty: pass a text or a line of a tree".into());
        }
        let texts = || check.text.iter().chain(&check.value);
        match texts().find_map(|text| wrong(text, inputs)) {
            Some(why) => Err(why),
            None => Ok(check),
        }
    }

    /// The check that an element has the role, text and value of `line`, and those of `states` that
    /// `line` has.
    pub(crate) fn of(line: &Line, states: States) -> Self {
        let own = |text: &Option<deskline_core::Text>| {
            let text = text.as_ref()?;
            let whole = text.omitted_before + text.omitted_after == 0;
            let any = if whole { "" } else { "**" };
            Some(format!("{}{any}", literal(&text.shown)))
        };
        Self {
            role: Some(line.role),
            text: own(&line.text),
            value: own(&line.value),
            states: line.states & states,
        }
    }

    /// The line that a check box would have if it were on. A recipe requires that this line is
    /// absent. `None` unless the element is a check box that is off.
    pub(crate) fn unchecked(line: &Line, lines: &[Line]) -> Option<Self> {
        let is_off = !line.states.intersects(States::CHECKED | States::MIXED);
        let mut check = Self::of(line, States::empty());
        check.states = States::CHECKED;
        let on = check.fill_none();
        let is_alone = on.is_some_and(|on| !lines.iter().any(|l| l.visible && on.is(l)));
        let is_switch = line.role == Role::CHECK_BOX;
        (is_switch && is_off && is_alone && check.text.is_some()).then_some(check)
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
        for text in [&mut self.text, &mut self.value].into_iter().flatten() {
            *text = change(text);
        }
    }

    pub fn fill(&self, values: &Values) -> Result<Wanted, String> {
        Ok(Wanted(Self {
            text: values.fill_some(self.text.as_deref())?,
            value: values.fill_some(self.value.as_deref())?,
            ..*self
        }))
    }

    /// The check, if it needs no input.
    pub(crate) fn fill_none(&self) -> Option<Wanted> {
        self.fill(&Values::default()).ok()
    }

    /// The check as it is written in a file.
    pub fn written(&self) -> String {
        let Some(role) = self.role else {
            return self.text.clone().unwrap_or_default();
        };
        let mut line = Line::bare(role, None);
        line.text = self.text.as_deref().map(deskline_core::Text::new);
        line.value = self.value.as_deref().map(deskline_core::Text::new);
        line.states = self.states;
        line.to_string()
    }
}

impl Wanted {
    /// Whether this element, which shows, is what is wanted.
    pub fn is(&self, line: &Line) -> bool {
        self.is_like(line, matches)
    }

    /// Whether the element on this line meets the check, apart from digits: they may be a time or a
    /// count.
    pub fn is_nearly(&self, line: &Line) -> bool {
        self.is_like(line, |wanted, is| matches(&shape(wanted), &shape(is)))
    }

    fn is_like(&self, line: &Line, has_text: impl Fn(&str, &str) -> bool) -> bool {
        let Self(check) = self;
        let has = |wanted: &Option<String>, is: &Option<deskline_core::Text>| {
            let is = is.as_ref().map_or("", |text| text.shown.as_str());
            wanted.as_ref().is_none_or(|wanted| has_text(wanted, is))
        };
        check.role.is_none_or(|role| role == line.role)
            && has(&check.text, &line.text)
            && has(&check.value, &line.value)
            && line.states.contains(check.states)
    }

    pub fn text(&self) -> Option<&str> {
        self.0.text.as_deref()
    }

    /// What is wanted, as a line of a tree, for messages.
    pub fn shown(&self) -> String {
        self.0.written()
    }
}

/// Whether `text` is `wanted`, in which `**` at an end stands for anything.
pub(crate) fn matches(wanted: &str, text: &str) -> bool {
    let (wanted, text) = (fold(wanted), fold(text));
    let open = wanted.starts_with("**");
    let start = wanted.strip_prefix("**").unwrap_or(&wanted);
    match (open, start.strip_suffix("**")) {
        (false, None) => *wanted == *text,
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
