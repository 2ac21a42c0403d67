//! The arguments of one call. Each getter accepts any form that an agent may reasonably write; its
//! error names the argument and the accepted form.

use std::time::Duration;

use deskline_core::escape::short;
use deskline_core::nearest;
use serde_json::{Map, Value};

/// An error text for the agent.
pub(crate) type Wrong = String;

/// The largest coordinate that a screen may have.
const FAR: f64 = 1_048_576.0;

/// The arguments of one call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Args<'a>(pub(crate) &'a Map<String, Value>);

impl<'a> Args<'a> {
    /// Refuses arguments that the tool does not take.
    pub(crate) fn only(self, tool: &str, valid: &[&str]) -> Result<(), Wrong> {
        let Some(name) = self.0.keys().find(|name| !valid.contains(&name.as_str())) else {
            return Ok(());
        };
        let shown = shown(&Value::from(name.as_str()));
        Err(match nearest(name, valid.iter().copied()) {
            Some(near) => format!("unknown argument {shown} for {tool}. Did you mean \"{near}\"?"),
            None => format!("unknown argument {shown}: {tool} takes none"),
        })
    }

    /// The argument, if it was given. `null` counts as not given.
    fn get(self, name: &str) -> Option<&'a Value> {
        self.0.get(name).filter(|value| !value.is_null())
    }

    /// Whether the argument was given.
    pub(crate) fn has(self, name: &str) -> bool {
        self.get(name).is_some()
    }

    pub(crate) fn text(self, name: &str) -> Result<Option<&'a str>, Wrong> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            // Show only the type: the value may be a secret.
            Some(other) => Err(format!("{name} must be a string, not {}", kind(other))),
        }
    }

    /// A non-empty string.
    pub(crate) fn filled(self, name: &str, example: &str) -> Result<Option<&'a str>, Wrong> {
        match self.text(name)? {
            Some(text) if text.trim().is_empty() => {
                Err(format!("{name} is empty. Pass {example}, or leave it out"))
            }
            text => Ok(text),
        }
    }

    /// The value of a control as a string. A number (for a slider) or a boolean (for a check box)
    /// becomes a string.
    pub(crate) fn value(self, name: &str) -> Result<Option<String>, Wrong> {
        match self.get(name) {
            Some(plain @ (Value::Number(_) | Value::Bool(_))) => Ok(Some(plain.to_string())),
            _ => Ok(self.text(name)?.map(str::to_owned)),
        }
    }

    /// `true` or `false`, also as a string.
    pub(crate) fn flag(self, name: &str, default: bool) -> Result<bool, Wrong> {
        match self.get(name) {
            None => Ok(default),
            Some(Value::Bool(flag)) => Ok(*flag),
            Some(Value::String(word)) if word.eq_ignore_ascii_case("true") => Ok(true),
            Some(Value::String(word)) if word.eq_ignore_ascii_case("false") => Ok(false),
            Some(other) => Err(format!(
                "{name} must be true or false, not {}",
                shown(other)
            )),
        }
    }

    /// A number from `min` to `max`, also as a string.
    pub(crate) fn number(self, name: &str, min: f64, max: f64) -> Result<Option<f64>, Wrong> {
        let Some(value) = self.get(name) else {
            return Ok(None);
        };
        let number = match value {
            Value::Number(number) => number.as_f64(),
            Value::String(text) => text.trim().parse().ok(),
            _ => None,
        };
        let Some(number) = number else {
            return Err(match value {
                Value::String(_) => {
                    format!("{name} must be a number, not the text {}", shown(value))
                }
                other => format!("{name} must be a number, not {}", kind(other)),
            });
        };
        if !number.is_finite() {
            let shown = shown(value);
            return Err(format!("{name} must be a finite number, not {shown}"));
        }
        if number < min || number > max {
            let shown = shown(value);
            return Err(format!("{name} must be from {min} to {max}, not {shown}"));
        }
        Ok(Some(number))
    }

    /// A whole number from `min` to `max`.
    pub(crate) fn whole(self, name: &str, min: i32, max: i32) -> Result<Option<i32>, Wrong> {
        match self.number(name, f64::from(min), f64::from(max))? {
            Some(number) if number.fract() != 0.0 => {
                Err(format!("{name} must be a whole number, not {number}"))
            }
            number => Ok(number.map(|number| number as i32)),
        }
    }

    /// A screen coordinate. May be a fraction: agents compute centres.
    pub(crate) fn coordinate(self, name: &str) -> Result<Option<f64>, Wrong> {
        self.number(name, -FAR, FAR)
    }

    /// A width or height.
    pub(crate) fn extent(self, name: &str) -> Result<Option<f64>, Wrong> {
        self.number(name, 0.0, FAR)
    }

    /// Two numbers, of which both or neither must be given.
    pub(crate) fn pair(
        self,
        [a, b]: [&str; 2],
        number: impl Fn(Self, &str) -> Result<Option<f64>, Wrong>,
    ) -> Result<Option<(f64, f64)>, Wrong> {
        let without = |given, lacking| format!("{given} was given without {lacking}. Pass both");
        match (number(self, a)?, number(self, b)?) {
            (Some(_), None) => Err(without(a, b)),
            (None, Some(_)) => Err(without(b, a)),
            (first, second) => Ok(first.zip(second)),
        }
    }

    /// A duration of at most `max` seconds.
    pub(crate) fn seconds(
        self,
        name: &str,
        max: u32,
        default: Duration,
    ) -> Result<Duration, Wrong> {
        Ok(self
            .number(name, 0.0, f64::from(max))?
            .map_or(default, Duration::from_secs_f64))
    }

    /// A list of strings, or one string.
    pub(crate) fn names(self, name: &str) -> Result<Vec<&'a str>, Wrong> {
        let wrong = |value| {
            format!(
                "{name} must be a list of names such as [\"Control\"], not {}",
                shown(value)
            )
        };
        match self.get(name) {
            None => Ok(vec![]),
            Some(Value::String(one)) if one.trim().is_empty() => Ok(vec![]),
            Some(Value::String(one)) => Ok(vec![one.as_str()]),
            Some(Value::Array(all)) => all
                .iter()
                .map(|one| one.as_str().ok_or_else(|| wrong(one)))
                .collect(),
            Some(other) => Err(wrong(other)),
        }
    }
}

/// The JSON type of a value.
fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// A value for an error text: short, on one line.
pub(crate) fn shown(value: &Value) -> String {
    short(&value.to_string(), 60)
}
