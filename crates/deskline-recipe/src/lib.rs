//! Recipes. A recipe is a job on an app that is repeated without a model, in one readable file
//! (`NAME.recipe.toml`). This crate has its format, learns it from a run, and finds its targets and
//! checks on a screen. The crate is pure: no I/O, no clock, no OS.

mod aimed;
mod check;
mod find;
mod inputs;
mod language;
mod learn;
mod read;
mod screen;
mod table;
mod write;
mod wrong;

#[cfg(test)]
mod tests;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use aimed::{at_point, pressed, told};
pub use check::{Check, shape};
pub use find::{Way, find, find_part, text_of};
pub use inputs::{Input, Kind, Values};
pub use language::{Messages, Words, language, messages};
pub use learn::{HIDDEN, Learn, Link, answered};
pub use read::{KEYS, REFUSED, read};
pub use screen::Screen;
pub use table::rows;
pub use write::Edit;
pub use wrong::{Place, Wrong};

/// The version of the format that is written, and the newest that is read.
pub const FORMAT: i64 = 1;

/// The names of the lints: of the labels of controls, and of the contrast of text.
pub(crate) const LINTS: [&str; 2] = ["labels", "contrast"];

/// How the name of a recipe's file ends.
pub const SUFFIX: &str = ".recipe.toml";

/// In a file, the keys are these names.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Recipe {
    /// The app that `open_application_and_traverse` opens first, and where the file names it.
    pub app: String,
    #[serde(skip)]
    pub at: Place,
    /// What the recipe does, for whoever chooses among several.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub about: String,
    /// The catalogues of the language of the recipe's texts. Without any, the texts are in the
    /// program's own language.
    pub catalogues: Vec<PathBuf>,
    #[serde(skip)]
    pub inputs: Vec<Input>,
    #[serde(skip)]
    pub steps: Vec<Step>,
    /// Steps for dialogs that may or may not come. Each is done when its dialog shows.
    #[serde(skip)]
    pub dialogs: Vec<Step>,
    /// What must hold at the end.
    #[serde(skip)]
    pub end: Checks,
}

/// A step: what a tool does, its target, what must be there before, and what must show after.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Step {
    #[serde(skip)]
    pub at: Place,
    /// Where the step's keys are in the file.
    #[serde(skip)]
    pub keys: Vec<(String, Place)>,
    /// The tool, without `_and_traverse`.
    #[serde(rename = "do")]
    pub does: String,
    /// The app that the step acts in, if it is not the recipe's app.
    pub app: Option<String>,
    #[serde(flatten)]
    pub target: Option<Target>,
    /// The dialog that must be in front. If `None`, no dialog may be in front.
    pub dialog: Option<String>,
    /// What must have the focus, if the step sends keys.
    pub focus: Option<Check>,
    /// Where a drag ends.
    pub to: Option<Target>,
    pub repeat: Option<u32>,
    #[serde(flatten)]
    pub checks: Checks,
    /// The tool's arguments, but for the pid and the target: all other keys.
    #[serde(flatten)]
    pub arguments: Map<String, Value>,
    /// Where the step came from, for the reader of the file.
    #[serde(skip)]
    pub comment: String,
}

impl Recipe {
    /// Changes each text in the recipe that may contain inputs.
    pub(crate) fn map(&mut self, change: &mut dyn FnMut(&str) -> String) {
        self.app = change(&self.app);
        for step in self.steps.iter_mut().chain(&mut self.dialogs) {
            step.map(change);
        }
        let end = self.end.each_mut();
        end.for_each(|check| check.map(&mut *change));
    }

    /// The recipe with its inputs filled in.
    ///
    /// # Errors
    /// Those of [`Values::fill`].
    pub fn fill(&self, values: &Values) -> Result<Self, String> {
        let (mut filled, mut wrong) = (self.clone(), None);
        filled.map(&mut |text| {
            let filled = values.fill(text).map_err(|why| wrong = Some(why));
            filled.unwrap_or_default()
        });
        wrong.map_or(Ok(filled), Err)
    }
}

impl Step {
    fn map(&mut self, change: &mut dyn FnMut(&str) -> String) {
        let target = self.target.iter_mut().chain(&mut self.to);
        let target = target.flat_map(|t| [&mut t.element, &mut t.after, &mut t.before]);
        let arguments = self.arguments.values_mut().filter_map(|value| match value {
            Value::String(text) => Some(text),
            _ => None,
        });
        let own = [&mut self.dialog, &mut self.app];
        for text in target.chain(own).flatten().chain(arguments) {
            *text = change(text);
        }
        let checks = self.checks.each_mut().chain(&mut self.focus);
        checks.for_each(|check| check.map(&mut *change));
    }

    /// What the step does, in a few words. Inputs appear by their names.
    pub fn words(&self) -> String {
        let mut own = "text keyName value choose identifier pressKey".split(' ');
        let target = self.target.iter().chain(&self.to);
        let target = target.filter_map(|t| t.element.as_deref().or(t.role.as_deref()));
        let first = own.find_map(|name| self.arguments.get(name)?.as_str());
        let quoted = |text: &str| format!(" {}", deskline_core::escape::quoted(text, 40));
        let parts: String = target.chain(first).map(quoted).collect();
        format!("{}{parts}", self.does)
    }

    /// Whether the step sends keys to what has the focus.
    pub fn is_for_focus(&self) -> bool {
        matches!(self.does.as_str(), "type" | "press_key")
    }

    /// The place of the key that `named_in` names; if it names none, the place of the step.
    pub fn place(&self, named_in: &str) -> Place {
        let named = self.keys.iter().find(|(name, _)| {
            let quoted = format!("\"{name}\"");
            named_in.contains(&quoted) || named_in.split(' ').next() == Some(name)
        });
        named.map_or(self.at, |(_, at)| *at)
    }
}

/// Describes an element by its role and text, and by what tells it from similar elements.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    /// The element's whole text; `**` at an end stands for anything. `None` if it has no text.
    pub element: Option<String>,
    pub role: Option<String>,
    /// The number of the element among similar ones: `2 of 3`.
    pub nth: Option<String>,
    /// The texts that stand before and after the element.
    pub after: Option<String>,
    pub before: Option<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Checks {
    pub shows: Vec<Check>,
    pub absent: Vec<Check>,
    pub enabled: Vec<Check>,
    /// What no control may lack: labels, contrast.
    pub lint: Vec<String>,
    /// How long to wait until the checks hold, in seconds.
    pub within: Option<f64>,
}

impl Checks {
    pub fn is_empty(&self) -> bool {
        self.lint.is_empty() && self.each().iter().all(|(_, checks)| checks.is_empty())
    }

    /// All checks.
    pub fn each_mut(&mut self) -> impl Iterator<Item = &mut Check> {
        let lists = [&mut self.shows, &mut self.absent, &mut self.enabled];
        lists.into_iter().flatten()
    }

    /// The lists of checks, by their keys in the file.
    pub fn each(&self) -> [(&'static str, &[Check]); 3] {
        [
            ("shows", &self.shows),
            ("absent", &self.absent),
            ("enabled", &self.enabled),
        ]
    }
}
