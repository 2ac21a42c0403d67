//! Values for a recipe's inputs, and texts with `{name}` in them.

use std::collections::BTreeMap;

use deskline_core::nearest;

use crate::wrong::{Place, Wrong};

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Kind {
    #[default]
    Text,
    Number,
    /// Never in a file, a log or an answer.
    Secret,
}

impl Kind {
    pub(crate) const WORDS: [(&'static str, Self); 3] = [
        ("text", Self::Text),
        ("number", Self::Number),
        ("secret", Self::Secret),
    ];

    pub fn word(self) -> &'static str {
        let own = Self::WORDS.iter().find(|(_, kind)| *kind == self);
        own.map_or("text", |(word, _)| word)
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Input {
    /// Where the input is in the file.
    pub at: Place,
    pub name: String,
    pub kind: Kind,
    pub default: Option<String>,
    pub about: String,
}

/// The value of each input.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Values(BTreeMap<String, (String, Kind)>);

/// A text with its inputs filled in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filled {
    pub text: String,
    pub is_secret: bool,
}

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

    /// `text` with the value of each `{name}`; `{{` and `}}` are braces.
    ///
    /// # Errors
    /// A name that is no input, or a brace without its counterpart.
    pub fn fill(&self, text: &str) -> Result<Filled, String> {
        let mut filled = Filled::default();
        for part in parts(text)? {
            match part {
                Part::Text(text) => filled.text += text,
                Part::Input(name) => {
                    let (value, kind) = self.value(name).ok_or_else(|| unknown(name))?;
                    filled.text += value;
                    filled.is_secret |= kind == Kind::Secret;
                }
            }
        }
        Ok(filled)
    }

    /// `text`, filled in; `None` if there is no text.
    ///
    /// # Errors
    /// Those of [`Values::fill`].
    pub(crate) fn fill_some(&self, text: Option<&str>) -> Result<Option<String>, String> {
        let filled = text.map(|text| self.fill(text)).transpose()?;
        Ok(filled.map(|filled| filled.text))
    }

    /// The value of an input. For `INPUT.name` and `INPUT.stem`, the file name in the path that is
    /// its value.
    fn value(&self, name: &str) -> Option<(&str, Kind)> {
        let (input, part) = name.split_once('.').unwrap_or((name, ""));
        let (value, kind) = self.0.get(input)?;
        let value = match part {
            "" => value,
            "name" => file(value).0,
            "stem" => file(value).1,
            _ => return None,
        };
        Some((value, *kind))
    }

    /// A text of the screen as a template, in which the names of inputs replace their values.
    pub fn unfill(&self, text: &str) -> String {
        self.name_in(&literal(text))
    }

    /// Replaces the values of inputs in a template by the names of the inputs.
    pub fn name_in(&self, template: &str) -> String {
        let mut template = template.to_owned();
        let all = self.0.iter().filter(|(_, (value, _))| value.len() > 1);
        let mut all: Vec<_> = all.collect();
        all.sort_by_key(|(_, (value, _))| std::cmp::Reverse(value.len()));
        for (name, (value, _)) in all {
            template = template.replace(&literal(value), &format!("{{{name}}}"));
        }
        template
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

fn unknown(name: &str) -> String {
    format!("{{{name}}} is no input of the recipe. A brace in a text is written twice: {{{{")
}

enum Part<'t> {
    Text(&'t str),
    Input(&'t str),
}

fn parts(text: &str) -> Result<Vec<Part<'_>>, String> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}']) {
        parts.push(Part::Text(&rest[..at]));
        let brace = &rest[at..=at];
        rest = &rest[at + 1..];
        if rest.starts_with(brace) {
            parts.push(Part::Text(brace));
            rest = &rest[1..];
        } else if brace == "{"
            && let Some((name, after)) = rest.split_once('}')
        {
            parts.push(Part::Input(name));
            rest = after;
        } else {
            return Err(format!(
                "a {brace} stands alone. A brace in a text is written twice"
            ));
        }
    }
    parts.push(Part::Text(rest));
    Ok(parts)
}

/// The first thing that is wrong with the inputs in `text`.
pub(crate) fn wrong(text: &str, inputs: &[Input]) -> Option<String> {
    let parts = match parts(text) {
        Ok(parts) => parts,
        Err(why) => return Some(why),
    };
    parts.into_iter().find_map(|part| match part {
        Part::Input(name) if inputs.iter().all(|input| input.name != input_of(name)) => {
            Some(unknown(name))
        }
        _ => None,
    })
}

/// The input that `{out}`, `{out.name}` and `{out.stem}` are about.
fn input_of(name: &str) -> &str {
    let mut parts = [".name", ".stem"].into_iter();
    let input = parts.find_map(|part| name.strip_suffix(part));
    input.unwrap_or(name)
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
