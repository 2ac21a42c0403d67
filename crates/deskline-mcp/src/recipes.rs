//! Recipes in a folder as tools: `recipe_NAME`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use deskline_recipe::{Input, Recipe, SUFFIX, read};
use rmcp::model::Tool;
use serde_json::{Map, Value, json};

use crate::tools::Effect;

/// The prefix of the names of recipes' tools.
pub(crate) const PREFIX: &str = "recipe_";

/// The most recipes that are listed: every session pays for the list.
const MOST: usize = 30;

/// The largest file that is read, in bytes.
const LARGEST: u64 = 1 << 20;

/// The recipes of a folder by their names, in order. Leaves out files that cannot be read.
pub(crate) fn all(folder: &Path) -> BTreeMap<String, Recipe> {
    let files = fs::read_dir(folder).into_iter().flatten();
    let files = files.filter_map(Result::ok);
    let one = |file: fs::DirEntry| {
        let name = file.file_name().into_string().ok()?;
        let name = name.strip_suffix(SUFFIX)?.to_owned();
        // Reading a FIFO would wait for a writer.
        let is_one = |about: &fs::Metadata| about.is_file() && about.len() < LARGEST;
        fs::metadata(file.path()).ok().filter(is_one)?;
        let recipe = read(&fs::read_to_string(file.path()).ok()?);
        let recipe = recipe.inspect_err(|e| tracing::warn!("{}: {e}", file.path().display()));
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let fits = name.len() <= 50 && name.chars().all(plain);
        fits.then_some((name, recipe.ok()?))
    };
    files.filter_map(one).take(MOST).collect()
}

/// The tools for the recipes in a folder.
pub(crate) fn listed(folder: &Path) -> Vec<Tool> {
    let all = all(folder);
    all.iter()
        .map(|(name, recipe)| tool(name, recipe))
        .collect()
}

fn tool(name: &str, recipe: &Recipe) -> Tool {
    let property = |input: &Input| {
        let about = match (&input.default, input.about.as_str()) {
            (Some(default), "") => format!("default {default}"),
            (_, about) => about.to_owned(),
        };
        let property = json!({"type": "string", "description": about});
        (input.name.clone(), property)
    };
    let mut properties: Map<String, Value> = recipe.inputs.iter().map(property).collect();
    if properties.is_empty() {
        // Gemini refuses a tool without any argument.
        let from = json!({"type": "integer", "description": "step to begin with; default 1"});
        properties.insert("from".into(), from);
    }
    let needed = recipe.inputs.iter().filter(|input| input.default.is_none());
    let needed: Vec<&str> = needed.map(|input| input.name.as_str()).collect();
    let mut schema = Map::from_iter([("type".into(), "object".into())]);
    schema.insert("properties".into(), properties.into());
    if !needed.is_empty() {
        schema.insert("required".into(), needed.into());
    }
    let mut about = recipe.about.clone();
    if about.is_empty() {
        let (steps, app) = (recipe.steps.len(), &recipe.app);
        about = format!("Does {steps} steps in {app}, checked.");
    }
    let acts = Effect::Act.annotations();
    Tool::new(format!("{PREFIX}{name}"), about, Arc::new(schema)).with_annotations(acts)
}
