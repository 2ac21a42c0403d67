//! Reads a recipe's file. Each error has its line and column.

use std::ops::Range;

use deskline_core::nearest;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value as Json};
use toml_edit::{Document, Item, Key, TableLike, Value};

use crate::find::numbers;
use crate::{Check, FORMAT, Input, Kind, LINTS, Place, Recipe, Step, Target, Values, Wrong};

/// Arguments that no step may have, because they differ from run to run.
pub const REFUSED: [&str; 8] = ["pid", "ref", "x", "y", "toPid", "toRef", "toX", "toY"];

/// The keys of a step that are no arguments of its tool. Those of a target are together, and so are
/// those of checks.
pub const KEYS: [&str; 16] = [
    "do", "repeat", "app", "element", "role", "nth", "after", "before", "to", "dialog", "focus",
    "shows", "absent", "enabled", "lint", "within",
];

/// The keys that have a text or a list of texts.
pub(crate) const LISTS: [&str; 5] = ["catalogues", "shows", "absent", "enabled", "lint"];

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
        values: &Values::default(),
    };
    let format = file.get("format", Item::as_integer, "a number, such as 1")?;
    let format = format.ok_or_else(|| file.wrong("", "format is missing: write format = 1"))?;
    if format != FORMAT {
        let why = format!("it has format {format}, and this version reads {FORMAT}");
        return Err(file.wrong("format", &why));
    }
    let own = ["app", "about", "catalogues"];
    file.only(&[&own[..], &["format", "inputs", "step", "dialog", "end"]].concat())?;
    let inputs = file.table("inputs")?;
    let inputs = inputs.map_or(Ok(Vec::new()), |inputs| inputs.inputs())?;
    let file = Table {
        values: &Values::empty(&inputs),
        ..file
    };
    let mut recipe = Recipe {
        at: file.wrong("app", "").at,
        inputs,
        ..file.made(|name| own.contains(&name))?
    };
    file.filled("app", &recipe.app, "the app that it opens")?;
    (recipe.steps, recipe.dialogs) = (file.steps("step")?, file.steps("dialog")?);
    if let Some(end) = file.table("end")? {
        end.only(&KEYS[11..])?;
        recipe.end = end.made(|_| true)?;
    }
    if recipe.steps.is_empty() {
        return Err(file.wrong("", "it has no step: write [[step]]"));
    }
    Ok(recipe)
}

/// What is wrong with the value of a key, if something is.
fn flaw(name: &str, value: &Json, values: &Values) -> Option<String> {
    let is_list = LISTS.contains(&name);
    if let Json::Array(all) = value
        && (is_list || !KEYS.contains(&name))
    {
        return all.iter().find_map(|one| flaw(name, one, values));
    }
    let must = |what: &str| Some(format!("{name} must be {what}"));
    let unless = |fits: bool, why: &str| (!fits).then(|| why.to_owned());
    match (name, value.as_str()) {
        ("repeat", _) => match value.as_i64() {
            Some(n) => unless((1..=100).contains(&n), "repeat is from 1 to 100"),
            None => must("a number of times"),
        },
        ("within", _) => match value.as_f64() {
            Some(n) => unless((0.0..=300.0).contains(&n), "within is from 0 to 300 s"),
            None => must("a number of seconds"),
        },
        ("default", _) => {
            let fits = value.is_string() || value.is_number();
            unless(fits, "default must be a text or a number")
        }
        (_, None) if is_list => must("a text in quotes, or a list of them"),
        ("to", None) => None,
        ("about" | "type", None) => must("a text in quotes"),
        (_, None) if KEYS.contains(&name) => must("a text in quotes"),
        (_, None) | ("do" | "role" | "about" | "catalogues", _) => None,
        ("nth", Some(nth)) => {
            let fits = numbers(nth).is_some();
            unless(fits, "nth must be such as \"2 of 3\"")
        }
        ("lint", Some(lint)) => {
            let fits = LINTS.contains(&lint);
            unless(fits, "lint is a list of labels and contrast")
        }
        ("type", Some(kind)) => {
            let fits = Kind::ALL.iter().any(|known| known.word() == kind);
            unless(fits, "type is text, number or secret")
        }
        ("focus" | "shows" | "absent" | "enabled", Some(check)) => {
            let check = Check::parse(check).and_then(|check| check.fillable(values));
            check.err().map(|why| format!("{name}: {why}"))
        }
        (_, Some(text)) => values.fill(text).err(),
    }
}

/// A table of the file, and the inputs that its texts may have in them.
#[derive(Clone)]
struct Table<'t> {
    text: &'t str,
    keyed: &'t dyn TableLike,
    whole: Range<usize>,
    values: &'t Values,
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

    fn names(&self) -> impl Iterator<Item = &'t str> {
        self.keyed.iter().map(|(name, _)| name)
    }

    fn only(&self, names: &[&str]) -> Result<(), Wrong> {
        let unknown = self.names().find(|name| !names.contains(name));
        unknown.map_or(Ok(()), |name| {
            let near = nearest(name, names.iter().copied()).unwrap_or_default();
            Err(self.wrong(name, &format!("unknown key {name}. Did you mean {near}?")))
        })
    }

    fn filled(&self, name: &str, text: &str, what: &str) -> Result<(), Wrong> {
        match text.trim() {
            "" => Err(self.wrong(name, &format!("{name} is missing: {what}"))),
            _ => Ok(()),
        }
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

    fn at(&self, keyed: &'t dyn TableLike, whole: Option<Range<usize>>) -> Self {
        Self {
            keyed,
            whole: whole.unwrap_or(0..0),
            ..self.clone()
        }
    }

    fn table(&self, name: &str) -> Result<Option<Self>, Wrong> {
        let own = |item: &'t Item| Some(self.at(item.as_table_like()?, item.span()));
        self.get(name, own, "a table")
    }

    /// Makes a value of the keys that `is_own` admits.
    fn made<T: DeserializeOwned>(&self, is_own: impl Fn(&str) -> bool) -> Result<T, Wrong> {
        let mut object = Map::new();
        for (name, item) in self.keyed.iter().filter(|(name, _)| is_own(name)) {
            let value = json(item);
            if let Some(why) = flaw(name, &value, self.values) {
                return Err(self.wrong(name, &why));
            }
            let value = match value {
                Json::String(one) if LISTS.contains(&name) => [one].into_iter().collect(),
                Json::Number(number) if name == "default" => number.to_string().into(),
                value => value,
            };
            object.insert(name.to_owned(), value);
        }
        let made = serde_json::from_value(object.into());
        made.map_err(|error| self.wrong("", &error.to_string()))
    }

    fn inputs(&self) -> Result<Vec<Input>, Wrong> {
        let mut inputs = Vec::new();
        for name in self.names() {
            if !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
                return Err(self.wrong(name, "an input's name has letters, digits and _ alone"));
            }
            let Some(table) = self.table(name)? else {
                continue;
            };
            table.only(&["type", "default", "about"])?;
            let mut input: Input = table.made(|_| true)?;
            (input.name, input.at) = (name.to_owned(), self.wrong(name, "").at);
            if input.kind == Kind::Secret && input.default.is_some() {
                let why = "a secret has no default: it would be in the file";
                return Err(table.wrong("default", why));
            }
            inputs.push(input);
        }
        Ok(inputs)
    }

    fn steps(&self, name: &str) -> Result<Vec<Step>, Wrong> {
        let what = format!("tables: write [[{name}]] before each");
        let tables = self.get(name, Item::as_array_of_tables, &what)?;
        let tables = tables.into_iter().flat_map(|tables| tables.iter());
        let step = |table: &'t toml_edit::Table| {
            let table = self.at(table, table.span());
            let step = table.step()?;
            if name == "dialog" && step.checks.shows.is_empty() {
                let why = "a dialog needs shows: what tells that it is there";
                return Err(table.wrong("", why));
            }
            Ok(step)
        };
        tables.map(step).collect()
    }

    fn step(&self) -> Result<Step, Wrong> {
        if let Some(name) = self.names().find(|name| REFUSED.contains(name)) {
            let instead = "name the target by element, its app by app, a drag's end by to";
            let why = format!("{name} differs from run to run: {instead}");
            return Err(self.wrong(name, &why));
        }
        if let Some(to) = self.table("to")? {
            to.only(&KEYS[3..8])?;
            to.made::<Target>(|_| true)?;
        }
        let at = |name: &str| self.wrong(name, "").at;
        let mut step = Step {
            at: at(""),
            keys: self
                .names()
                .map(|name| (name.to_owned(), at(name)))
                .collect(),
            ..self.made(|_| true)?
        };
        self.filled("do", &step.does, "what the step does, such as click")?;
        step.target.take_if(|target| *target == Target::default());
        Ok(step)
    }
}

/// A value without its place and format; of a table, too.
fn json(item: &Item) -> Json {
    if let Some(table) = item.as_table_like() {
        return table
            .iter()
            .map(|(name, item)| (name, json(item)))
            .collect();
    }
    match item.as_value() {
        Some(Value::String(text)) => text.value().as_str().into(),
        Some(Value::Integer(number)) => (*number.value()).into(),
        Some(Value::Float(number)) => (*number.value()).into(),
        Some(Value::Boolean(flag)) => (*flag.value()).into(),
        Some(Value::Array(all)) => all.iter().map(|one| json(&one.clone().into())).collect(),
        Some(other) => other.to_string().trim().into(),
        None => Json::Null,
    }
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
