//! Writes a recipe's file, and changes targets and checks in a file that a person may have edited.

use serde::Serialize;
use serde_json::Value as Json;
use toml_edit::{Array, DocumentMut, Item, Table, Value};

use crate::read::LISTS;
use crate::{Checks, FORMAT, KEYS, Recipe, Target};

impl Recipe {
    /// The text of the file. `origin` says in one line where the recipe came from.
    pub fn write(&self, origin: &str) -> String {
        let mut file = DocumentMut::from(table(self, ""));
        file.decor_mut().clear();
        let inputs = self.inputs.iter();
        let inputs = inputs.map(|input| (input.name.as_str(), table(input, "")));
        let mut inputs: Table = inputs.collect();
        inputs.set_implicit(true);
        file["inputs"] = inputs.into();
        for (name, steps) in [("step", &self.steps), ("dialog", &self.dialogs)] {
            let steps = steps.iter().map(|step| table(step, &step.comment));
            file[name] = Item::ArrayOfTables(steps.collect());
        }
        if !self.end.is_empty() {
            file["end"] = table(&self.end, "").into();
        }
        format!("{}format = {FORMAT}\n{file}", comment(origin))
    }
}

/// A line with `text` as a comment, or nothing if `text` is empty.
fn comment(text: &str) -> String {
    let text = deskline_core::escape::one_line(text);
    if text.is_empty() {
        String::new()
    } else {
        format!("# {text}\n")
    }
}

/// A table with an empty line and a comment before it, its checks last.
fn table(of: &impl Serialize, about: &str) -> Table {
    let json = serde_json::to_value(of).unwrap_or_default();
    let mut all: Vec<_> = json.as_object().into_iter().flatten().collect();
    all.sort_by_key(|(name, _)| KEYS[11..].contains(&name.as_str()));
    let all = all
        .into_iter()
        .filter_map(|(name, value)| Some((name, toml(name, value)?)));
    let mut table: Table = all.collect();
    table
        .decor_mut()
        .set_prefix(format!("\n{}", comment(about)));
    table
}

/// The value of a key; `None` for nothing. A list of several has a line for each.
fn toml(name: &str, value: &Json) -> Option<Value> {
    Some(match value {
        Json::Null => return None,
        Json::String(text) => text.into(),
        Json::Array(all) if LISTS.contains(&name) && all.len() < 2 => toml(name, all.first()?)?,
        Json::Array(all) => {
            let (before, after) = if all.len() > 1 {
                ("\n  ", "\n")
            } else {
                ("", "")
            };
            let all = all.iter().filter_map(|one| toml("", one));
            let mut all: Array = all.map(|one| one.decorated(before, "")).collect();
            all.set_trailing_comma(!after.is_empty());
            all.set_trailing(after);
            all.into()
        }
        Json::Object(all) => {
            let own = |(name, value): (&String, _)| Some((name.clone(), toml("", value)?));
            all.iter().filter_map(own).collect()
        }
        other => other.to_string().parse().ok()?,
    })
}

/// Changes a file, and keeps what a person wrote there.
pub struct Edit(DocumentMut);

impl Edit {
    /// # Errors
    /// The file is no TOML.
    pub fn new(text: &str) -> Result<Self, String> {
        let wrong = |error: toml_edit::TomlError| error.message().to_owned();
        text.parse().map(Self).map_err(wrong)
    }

    /// Gives step `index` this target.
    pub fn target(&mut self, index: usize, target: &Target) {
        self.set(index, &KEYS[3..8], target);
    }

    /// Gives step `index` these checks.
    pub fn checks(&mut self, index: usize, checks: &Checks) {
        self.set(index, &KEYS[11..14], checks);
    }

    /// Gives a step the keys of `new`, and none of the others in `names`.
    fn set(&mut self, index: usize, names: &[&str], new: &impl Serialize) {
        let steps = self.0.get_mut("step");
        let steps = steps.and_then(Item::as_array_of_tables_mut);
        let Some(step) = steps.and_then(|steps| steps.get_mut(index)) else {
            return;
        };
        let new = table(new, "");
        for name in names {
            match new.get(name) {
                Some(new) => *step.entry(name).or_insert(Item::None) = new.clone(),
                None => drop(step.remove(name)),
            }
        }
    }

    pub fn text(&self) -> String {
        self.0.to_string()
    }
}
