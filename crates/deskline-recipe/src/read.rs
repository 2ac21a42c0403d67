//! Reads a recipe's file. Each error has its line and column.

use std::ops::Range;

use deskline_core::nearest;
use serde_json::{Map, Value as Json};
use toml_edit::{Document, Item, Key, TableLike, Value};

use crate::inputs::wrong;
use crate::{Check, Checks, FORMAT, Input, Kind, LINTS, Place, Recipe, Step, Target, Wrong};

/// Arguments that no step may have, because they differ from run to run.
pub const REFUSED: [&str; 8] = ["pid", "ref", "x", "y", "toPid", "toRef", "toX", "toY"];

/// The keys of a step that are no arguments of its tool.
pub const KEYS: [&str; 16] = [
    "do", "repeat", "app", "element", "role", "nth", "after", "before", "to", "dialog", "focus",
    "shows", "absent", "enabled", "lint", "within",
];

/// Reads a recipe. The tools' arguments are not checked: only the tools know them.
///
/// # Errors
/// The first thing that is wrong.
pub fn read(text: &str) -> Result<Recipe, Wrong> {
    let document = Document::parse(text).map_err(|error| Wrong {
        at: place(text, error.span()),
        why: error.message().to_owned(),
    })?;
    let file = Table {
        text,
        keyed: document.as_table(),
        whole: 0..0,
    };
    let format = file.get("format", Item::as_integer, "a number, such as 1")?;
    let format = format.ok_or_else(|| file.wrong("", "format is missing: write format = 1"))?;
    if format != FORMAT {
        let why = format!("it has format {format}, and this version reads {FORMAT}");
        return Err(file.wrong("format", &why));
    }
    let keys = "format app about catalogues inputs step dialog end";
    file.only(&keys.split(' ').collect::<Vec<_>>())?;
    let mut recipe = Recipe {
        about: file.text("about")?.unwrap_or_default(),
        app: file.filled("app", "the app that it opens")?,
        at: file.wrong("app", "").at,
        catalogues: file.texts("catalogues")?.iter().map(Into::into).collect(),
        inputs: inputs(&file)?,
        ..Recipe::default()
    };
    file.template("app", &recipe.inputs)?;
    for table in file.tables("step")? {
        recipe.steps.push(step(&table, &recipe.inputs)?);
    }
    for table in file.tables("dialog")? {
        let step = step(&table, &recipe.inputs)?;
        if step.checks.shows.is_empty() {
            return Err(table.wrong("", "a dialog needs shows: what tells that it is there"));
        }
        recipe.dialogs.push(step);
    }
    if let Some(end) = file.table("end")? {
        end.only(&["shows", "absent", "enabled", "lint", "within"])?;
        recipe.end = end.checks(&recipe.inputs)?;
    }
    if recipe.steps.is_empty() {
        return Err(file.wrong("", "it has no step: write [[step]]"));
    }
    Ok(recipe)
}

fn inputs(file: &Table<'_>) -> Result<Vec<Input>, Wrong> {
    let Some(all) = file.table("inputs")? else {
        return Ok(Vec::new());
    };
    let mut inputs = Vec::new();
    for (name, _) in all.keyed.iter() {
        if !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            return Err(all.wrong(name, "an input's name has letters, digits and _ alone"));
        }
        let none = || all.wrong(name, "it must be a table");
        let table = all.table(name)?.ok_or_else(none)?;
        table.only(&["type", "default", "about"])?;
        let word = table.text("type")?.unwrap_or_else(|| "text".into());
        let mut kinds = Kind::WORDS.into_iter();
        let kind = kinds.find_map(|(known, kind)| (known == word).then_some(kind));
        let kind = kind.ok_or_else(|| table.wrong("type", "type is text, number or secret"))?;
        let default = match table.keyed.get("default").map(json) {
            None => None,
            Some(Json::String(text)) => Some(text),
            Some(number @ Json::Number(_)) => Some(number.to_string()),
            Some(_) => return Err(table.wrong("default", "default must be a text or a number")),
        };
        if kind == Kind::Secret && default.is_some() {
            let why = "a secret has no default: it would be in the file";
            return Err(table.wrong("default", why));
        }
        let about = table.text("about")?.unwrap_or_default();
        inputs.push(Input {
            name: name.to_owned(),
            kind,
            default,
            about,
            at: all.wrong(name, "").at,
        });
    }
    Ok(inputs)
}

fn step(table: &Table<'_>, inputs: &[Input]) -> Result<Step, Wrong> {
    for name in REFUSED {
        if table.keyed.contains_key(name) {
            let instead = "name the target by element, its app by app, a drag's end by to";
            let why = format!("{name} differs from run to run: {instead}");
            return Err(table.wrong(name, &why));
        }
    }
    let target = table.target(inputs)?;
    let to = table.table("to")?;
    let to = to.map(|to| to.only(&KEYS[3..8]).and_then(|()| to.target(inputs)));
    let mut arguments = Map::new();
    for (name, item) in table.keyed.iter().filter(|(name, _)| !KEYS.contains(name)) {
        let value = json(item);
        table.each_text(name, &value, inputs)?;
        arguments.insert(name.to_owned(), value);
    }
    let focus = table.text("focus")?;
    let focus = focus.map(|text| Check::parse(&text, inputs)).transpose();
    let repeat = table.get("repeat", Item::as_integer, "a number of times")?;
    if repeat.is_some_and(|n| !(1..=100).contains(&n)) {
        return Err(table.wrong("repeat", "repeat is from 1 to 100"));
    }
    Ok(Step {
        at: place(table.text, Some(table.whole.clone())),
        keys: table.keys(),
        does: table.filled("do", "what the step does, such as click")?,
        repeat: repeat.and_then(|n| u32::try_from(n).ok()),
        arguments,
        app: table.template("app", inputs)?,
        target: (target != Target::default()).then_some(target),
        to: to.transpose()?,
        dialog: table.template("dialog", inputs)?,
        focus: focus.map_err(|why| table.wrong("focus", &why))?,
        checks: table.checks(inputs)?,
        comment: String::new(),
    })
}

/// A table of the file.
struct Table<'t> {
    text: &'t str,
    keyed: &'t dyn TableLike,
    whole: Range<usize>,
}

impl<'t> Table<'t> {
    /// The error about a key; about the table itself if the table has no such key.
    fn wrong(&self, name: &str, why: &str) -> Wrong {
        let item = self.keyed.get(name).and_then(Item::span);
        let key = self.keyed.key(name).and_then(Key::span);
        let at = key.or(item).unwrap_or_else(|| self.whole.clone());
        Wrong {
            at: place(self.text, Some(at)),
            why: why.to_owned(),
        }
    }

    fn keys(&self) -> Vec<(String, Place)> {
        let at = |(name, _): (&str, _)| (name.to_owned(), self.wrong(name, "").at);
        self.keyed.iter().map(at).collect()
    }

    fn only(&self, names: &[&str]) -> Result<(), Wrong> {
        let unknown = self.keyed.iter().find(|(name, _)| !names.contains(name));
        unknown.map_or(Ok(()), |(name, _)| {
            let near = nearest(name, names.iter().copied()).unwrap_or_default();
            Err(self.wrong(name, &format!("unknown key {name}. Did you mean {near}?")))
        })
    }

    fn get<T>(
        &self,
        name: &str,
        read: impl Fn(&'t Item) -> Option<T>,
        what: &str,
    ) -> Result<Option<T>, Wrong> {
        let Some(item) = self.keyed.get(name) else {
            return Ok(None);
        };
        let wrong = || self.wrong(name, &format!("{name} must be {what}"));
        read(item).map(Some).ok_or_else(wrong)
    }

    fn text(&self, name: &str) -> Result<Option<String>, Wrong> {
        let text = self.get(name, Item::as_str, "a text in quotes")?;
        Ok(text.map(str::to_owned))
    }

    fn filled(&self, name: &str, what: &str) -> Result<String, Wrong> {
        let text = self.text(name)?.filter(|text| !text.trim().is_empty());
        text.ok_or_else(|| self.wrong(name, &format!("{name} is missing: {what}")))
    }

    fn target(&self, inputs: &[Input]) -> Result<Target, Wrong> {
        Ok(Target {
            element: self.template("element", inputs)?,
            role: self.text("role")?,
            nth: self.nth()?,
            after: self.template("after", inputs)?,
            before: self.template("before", inputs)?,
        })
    }

    fn nth(&self) -> Result<Option<(usize, usize)>, Wrong> {
        let Some(text) = self.text("nth")? else {
            return Ok(None);
        };
        let parts = text.split_once(" of ");
        let parts = parts.and_then(|(nth, of)| Some((nth.parse().ok()?, of.parse().ok()?)));
        let parts = parts.filter(|(nth, of)| (1..=*of).contains(nth));
        let wrong = || self.wrong("nth", "nth must be such as \"2 of 3\"");
        parts.map(Some).ok_or_else(wrong)
    }

    fn table(&self, name: &str) -> Result<Option<Table<'t>>, Wrong> {
        let table = self.get(name, Item::as_table_like, "a table")?;
        Ok(table.map(|table| Table {
            text: self.text,
            keyed: table,
            whole: self.keyed.get(name).and_then(Item::span).unwrap_or(0..0),
        }))
    }

    fn tables(&self, name: &str) -> Result<Vec<Table<'t>>, Wrong> {
        let what = format!("tables: write [[{name}]] before each");
        let tables = self.get(name, Item::as_array_of_tables, &what)?;
        let tables = tables.into_iter().flat_map(|tables| tables.iter());
        Ok(tables
            .map(|table| Table {
                text: self.text,
                keyed: table,
                whole: table.span().unwrap_or(0..0),
            })
            .collect())
    }

    fn check_text(&self, name: &str, text: &str, inputs: &[Input]) -> Result<(), Wrong> {
        wrong(text, inputs).map_or(Ok(()), |why| Err(self.wrong(name, &why)))
    }

    /// A text that may have inputs in it.
    fn template(&self, name: &str, inputs: &[Input]) -> Result<Option<String>, Wrong> {
        let text = self.text(name)?;
        let is_wrong = text.as_ref().and_then(|text| wrong(text, inputs));
        is_wrong.map_or(Ok(text), |why| Err(self.wrong(name, &why)))
    }

    fn each_text(&self, name: &str, value: &Json, inputs: &[Input]) -> Result<(), Wrong> {
        match value {
            Json::String(text) => self.check_text(name, text, inputs),
            Json::Array(all) => all
                .iter()
                .try_for_each(|one| self.each_text(name, one, inputs)),
            _ => Ok(()),
        }
    }

    fn checks(&self, inputs: &[Input]) -> Result<Checks, Wrong> {
        let number = |item: &Item| item.as_float().or(item.as_integer().map(|n| n as f64));
        let within = self.get("within", number, "a number of seconds")?;
        if within.is_some_and(|within| !(0.0..=300.0).contains(&within)) {
            return Err(self.wrong("within", "within is from 0 to 300 s"));
        }
        let lint = self.texts("lint")?;
        if lint.iter().any(|lint| !LINTS.contains(&&**lint)) {
            return Err(self.wrong("lint", "lint is a list of labels and contrast"));
        }
        let all = |name| self.each_check(name, inputs);
        Ok(Checks {
            shows: all("shows")?,
            absent: all("absent")?,
            enabled: all("enabled")?,
            lint,
            within,
        })
    }

    /// A text, or a list of texts.
    fn texts(&self, name: &str) -> Result<Vec<String>, Wrong> {
        let texts = match self.keyed.get(name).map(json) {
            None => return Ok(Vec::new()),
            Some(Json::Array(all)) => all,
            Some(one) => vec![one],
        };
        let text = |text: &Json| text.as_str().map(str::to_owned);
        let why = format!("{name} must be a text in quotes, or a list of them");
        let wrong = || self.wrong(name, &why);
        let texts = texts.iter().map(|one| text(one).ok_or_else(wrong));
        texts.collect()
    }

    fn each_check(&self, name: &str, inputs: &[Input]) -> Result<Vec<Check>, Wrong> {
        let wrong = |why: String| self.wrong(name, &format!("{name}: {why}"));
        let check = |text: &String| Check::parse(text, inputs).map_err(wrong);
        self.texts(name)?.iter().map(check).collect()
    }
}

fn json(item: &Item) -> Json {
    fn plain(value: &Value) -> Json {
        match value {
            Value::String(text) => text.value().as_str().into(),
            Value::Integer(number) => (*number.value()).into(),
            Value::Float(number) => (*number.value()).into(),
            Value::Boolean(flag) => (*flag.value()).into(),
            Value::Array(all) => all.iter().map(plain).collect(),
            other => other.to_string().trim().into(),
        }
    }
    item.as_value().map_or(Json::Null, plain)
}

fn place(text: &str, span: Option<Range<usize>>) -> Place {
    let before = text.get(..span.map_or(0, |span| span.start));
    let before = before.unwrap_or_default();
    let own = before.rsplit('\n').next().unwrap_or_default();
    Place {
        line: before.matches('\n').count() + 1,
        column: own.chars().count() + 1,
    }
}
