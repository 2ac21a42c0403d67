//! Values for a recipe's inputs, and texts with `{name}` in them.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use deskline_core::nearest;
use regex::{Captures, Regex};
use serde::{Deserialize, Serialize};

use crate::wrong::{Place, Wrong};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    #[default]
    Text,
    Number,
    /// Never in a file, a log or an answer.
    Secret,
}

impl Kind {
    pub(crate) const ALL: [Self; 3] = [Self::Text, Self::Number, Self::Secret];

    pub fn word(self) -> &'static str {
        ["text", "number", "secret"][self as usize]
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Input {
    /// Where the input is in the file.
    #[serde(skip)]
    pub at: Place,
    #[serde(skip)]
    pub name: String,
    #[serde(rename = "type")]
    pub kind: Kind,
    pub default: Option<String>,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub about: String,
}

/// The value of each input.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Values(BTreeMap<String, (String, Kind)>);

impl Values {
    /// The given values, and defaults for the others.
    ///
    /// # Errors
    /// The first input that is missing, unknown or of another type.
    pub fn new(inputs: &[Input], given: &BTreeMap<String, String>) -> Result<Self, Wrong> {
        let wrong = |at, why| Wrong { at, why };
        let names = || inputs.iter().map(|input| input.name.as_str());
        if let Some(unknown) = given.keys().find(|name| names().all(|n| n != *name)) {
            let why = match nearest(unknown, names()) {
                Some(near) => format!("it has no input {unknown:?}. Did you mean {near:?}?"),
                None => format!("it has no inputs, so none is called {unknown:?}"),
            };
            return Err(wrong(Place::default(), why));
        }
        let mut values = BTreeMap::new();
        for input in inputs {
            let value = given.get(&input.name).or(input.default.as_ref());
            let value = value.ok_or_else(|| wrong(input.at, missing(input)))?;
            if input.kind == Kind::Number && value.trim().parse::<f64>().is_err() {
                let why = format!("input {} must be a number, not {value:?}", input.name);
                return Err(wrong(input.at, why));
            }
            values.insert(input.name.clone(), (value.clone(), input.kind));
        }
        Ok(Self(values))
    }

    /// An empty value for each input, to try whether texts can be filled.
    pub(crate) fn empty(inputs: &[Input]) -> Self {
        let empty = |input: &Input| (input.name.clone(), (String::new(), input.kind));
        Self(inputs.iter().map(empty).collect())
    }

    /// `text` with the value of each `{name}`; `{{` and `}}` are braces.
    ///
    /// # Errors
    /// A name that is no input, or a brace without its counterpart.
    pub fn fill(&self, text: &str) -> Result<String, String> {
        let (mut filled, mut rest) = (String::new(), text);
        while let Some(at) = rest.find(['{', '}']) {
            filled += &rest[..at];
            let brace = &rest[at..=at];
            rest = &rest[at + 1..];
            if let Some(after) = rest.strip_prefix(brace) {
                filled += brace;
                rest = after;
            } else if brace == "{"
                && let Some((name, after)) = rest.split_once('}')
            {
                let braces = "A brace in a text is written twice: {{";
                let unknown = || format!("{{{name}}} is no input of the recipe. {braces}");
                filled += self.value(name).ok_or_else(unknown)?;
                rest = after;
            } else {
                return Err(format!(
                    "a {brace} stands alone. A brace in a text is written twice"
                ));
            }
        }
        Ok(filled + rest)
    }

    /// Whether a text of a recipe contains a secret.
    pub fn is_secret(&self, text: &str) -> bool {
        let mut open = self.clone();
        open.0.retain(|_, (_, kind)| *kind != Kind::Secret);
        open.fill(text).is_err()
    }

    /// The value of an input. For `INPUT.name` and `INPUT.stem`, the file name in the path that is
    /// its value.
    fn value(&self, name: &str) -> Option<&str> {
        let (input, part) = name.split_once('.').unwrap_or((name, ""));
        let (value, _) = self.0.get(input)?;
        match part {
            "" => Some(value),
            "name" => Some(file(value).0),
            "stem" => Some(file(value).1),
            _ => None,
        }
    }

    /// A text of the screen as a template, in which the names of inputs replace their values.
    pub fn unfill(&self, text: &str) -> String {
        // A single character may be there by chance.
        self.named(text, 2)
    }

    /// Like [`Self::unfill`], for values of at least `least` bytes.
    pub(crate) fn named(&self, text: &str, least: usize) -> String {
        let all = self.0.iter().filter(|(_, (value, _))| value.len() >= least);
        let all = all.map(|(name, (value, _))| (literal(value), format!("{{{name}}}")));
        let all: HashMap<_, _> = all.collect();
        replaced(&literal(text), all.keys(), |value| all[value].clone())
    }
}

/// Replaces each of `parts` in a text, the longest first.
pub(crate) fn replaced<'p>(
    text: &str,
    parts: impl IntoIterator<Item = &'p String>,
    by: impl Fn(&str) -> String,
) -> String {
    let mut parts: Vec<_> = parts.into_iter().map(|part| regex::escape(part)).collect();
    parts.sort_by_key(|part| Reverse(part.len()));
    match Regex::new(&parts.join("|")) {
        Ok(any) if !parts.is_empty() => any
            .replace_all(text, |found: &Captures<'_>| by(&found[0]))
            .into_owned(),
        _ => text.to_owned(),
    }
}

fn missing(input: &Input) -> String {
    let name = &input.name;
    match input.kind {
        Kind::Secret => format!("input {name} is missing: pass --set {name}=- to read it"),
        _ => format!(
            "input {name} is missing: pass --set {name}=VALUE, or a table with a column {name}"
        ),
    }
}

/// The name of the file at a path, and the name without its extension.
pub(crate) fn file(path: &str) -> (&str, &str) {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    (name, name.rsplit_once('.').map_or(name, |(stem, _)| stem))
}

/// A template that stands for exactly `text`.
pub(crate) fn literal(text: &str) -> String {
    text.replace('{', "{{").replace('}', "}}")
}
