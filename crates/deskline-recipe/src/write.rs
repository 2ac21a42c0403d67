//! Writes a recipe's file, and changes targets and checks in a file that a person may have edited.

use std::fmt::Write as _;

use serde_json::Value as Json;
use toml_edit::{DocumentMut, Item, Value, value};

use crate::{Checks, FORMAT, Recipe, Step, Target};

impl Recipe {
    /// The text of the file. `origin` says in one line where the recipe came from.
    pub fn write(&self, origin: &str) -> String {
        let mut out = comment(origin);
        let mut line = |text: String| {
            out += &text;
            out.push('\n');
        };
        line(format!("format = {FORMAT}"));
        line(format!("app = {}", quoted(&self.app)));
        if !self.about.is_empty() {
            line(format!("about = {}", quoted(&self.about)));
        }
        if !self.catalogues.is_empty() {
            let files = self.catalogues.iter().map(|file| file.to_string_lossy());
            line(format!("catalogues = {}", toml(&files.collect::<Json>())));
        }
        for input in &self.inputs {
            let (name, kind) = (&input.name, input.kind.word());
            line(format!("\n[inputs.{name}]\ntype = \"{kind}\""));
            if let Some(default) = &input.default {
                line(format!("default = {}", quoted(default)));
            }
        }
        for step in &self.steps {
            let comment = comment(&step.comment);
            let step = format!("\n{comment}[[step]]\n{}", written(step));
            line(step.trim_end().into());
        }
        for step in &self.dialogs {
            line(format!("\n[[dialog]]\n{}", written(step)).trim_end().into());
        }
        if !self.end.is_empty() {
            line(format!("\n[end]\n{}", checks(&self.end)).trim_end().into());
        }
        out
    }
}

fn written(step: &Step) -> String {
    let mut out = format!("do = {}\n", quoted(&step.does));
    // Writing to a String cannot fail.
    let mut text = |name: &str, text: &Option<String>| {
        if let Some(text) = text {
            let _ = writeln!(out, "{name} = {}", quoted(text));
        }
    };
    text("app", &step.app);
    if let Some(target) = &step.target {
        for (name, value) in pairs(target) {
            text(name, &value);
        }
    }
    text("dialog", &step.dialog);
    text("focus", &step.focus.as_ref().map(crate::Check::written));
    if let Some(to) = &step.to {
        let all = pairs(to).into_iter();
        let all = all.filter_map(|(name, text)| Some(format!("{name} = {}", quoted(&text?))));
        let _ = writeln!(out, "to = {{ {} }}", all.collect::<Vec<_>>().join(", "));
    }
    for (name, value) in &step.arguments {
        let _ = writeln!(out, "{name} = {}", toml(value));
    }
    if let Some(repeat) = step.repeat {
        let _ = writeln!(out, "repeat = {repeat}");
    }
    out + &checks(&step.checks)
}

fn pairs(target: &Target) -> [(&'static str, Option<String>); 5] {
    let nth = target.nth.map(|(nth, of)| format!("{nth} of {of}"));
    [
        ("element", target.element.clone()),
        ("role", target.role.clone()),
        ("nth", nth),
        ("after", target.after.clone()),
        ("before", target.before.clone()),
    ]
}

fn checks(checks: &Checks) -> String {
    let mut out = String::new();
    let written = |all: &[crate::Check]| all.iter().map(crate::Check::written).collect();
    let lists = checks.each().map(|(name, all)| (name, written(all)));
    for (name, all) in lists.into_iter().chain([("lint", checks.lint.clone())]) {
        let all: Vec<String> = all.iter().map(|check| quoted(check)).collect();
        let _ = match all.as_slice() {
            [] => Ok(()),
            [one] => writeln!(out, "{name} = {one}"),
            all => writeln!(out, "{name} = [\n  {},\n]", all.join(",\n  ")),
        };
    }
    if let Some(within) = checks.within {
        let _ = writeln!(out, "within = {within}");
    }
    out
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

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

fn toml(value: &Json) -> String {
    match value {
        Json::String(text) => quoted(text),
        Json::Array(all) => {
            let all: Vec<String> = all.iter().map(toml).collect();
            format!("[{}]", all.join(", "))
        }
        other => other.to_string(),
    }
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
        for (name, text) in pairs(target) {
            self.set(index, name, text.map(value));
        }
    }

    /// Gives step `index` these checks.
    pub fn checks(&mut self, index: usize, new: &Checks) {
        let written: DocumentMut = checks(new).parse().unwrap_or_default();
        for (name, _) in new.each() {
            self.set(index, name, written.get(name).cloned());
        }
    }

    fn set(&mut self, index: usize, name: &str, new: Option<Item>) {
        let steps = self.0.get_mut("step");
        let steps = steps.and_then(Item::as_array_of_tables_mut);
        match (steps.and_then(|steps| steps.get_mut(index)), new) {
            (Some(step), Some(new)) => step[name] = new,
            (Some(step), None) => drop(step.remove(name)),
            (None, _) => {}
        }
    }

    pub fn text(&self) -> String {
        self.0.to_string()
    }
}
