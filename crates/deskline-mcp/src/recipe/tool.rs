//! Recipes in a folder as tools: `recipe_NAME`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use deskline_core::nearest;
use deskline_recipe::{Recipe, SUFFIX, read};
use rmcp::model::{Tool, ToolAnnotations};

use super::{Args, Cancel, Dispatcher, How, Map, Person, Played, Reply, Step, Value, Values, json};

/// The prefix of the tools.
pub(crate) const PREFIX: &str = "recipe_";

/// The most recipes that are listed: every session pays for the list.
const MOST: usize = 30;

/// The recipes of a folder by their names, in order. What cannot be read is none.
fn all(folder: &Path) -> BTreeMap<String, Recipe> {
    let files = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(Result::ok);
    let one = |file: fs::DirEntry| {
        let name = file.file_name().into_string().ok()?;
        let name = name.strip_suffix(SUFFIX)?.to_owned();
        let recipe = read(&fs::read_to_string(file.path()).ok()?);
        let recipe = recipe.inspect_err(|e| tracing::warn!("{}: {e}", file.path().display()));
        let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let fits = name.len() <= 50 && name.chars().all(plain);
        fits.then_some((name, recipe.ok()?))
    };
    files.filter_map(one).take(MOST).collect()
}

/// The tools of a folder.
pub(crate) fn listed(folder: &Path) -> Vec<Tool> {
    all(folder)
        .iter()
        .map(|(name, recipe)| tool(name, recipe))
        .collect()
}

fn tool(name: &str, recipe: &Recipe) -> Tool {
    let properties: Map<String, Value> = recipe
        .inputs
        .iter()
        .map(|input| {
            let about = match (&input.default, input.about.as_str()) {
                (Some(default), "") => format!("default {default}"),
                (_, about) => about.to_owned(),
            };
            (
                input.name.clone(),
                json!({"type": "string", "description": about}),
            )
        })
        .collect();
    let needed = recipe.inputs.iter().filter(|input| input.default.is_none());
    let needed: Vec<&str> = needed.map(|input| input.name.as_str()).collect();
    let mut schema = Map::from_iter([("type".into(), "object".into())]);
    // Gemini refuses a tool without any argument.
    let none =
        || json!({"from": {"type": "integer", "description": "step to begin with; default 1"}});
    let properties = if properties.is_empty() {
        none()
    } else {
        properties.into()
    };
    schema.insert("properties".into(), properties);
    if !needed.is_empty() {
        schema.insert("required".into(), needed.into());
    }
    let about = if recipe.about.is_empty() {
        format!(
            "Does {} steps in {}, checked.",
            recipe.steps.len(),
            recipe.app
        )
    } else {
        recipe.about.clone()
    };
    let acts = ToolAnnotations::new().read_only(false).destructive(true);
    let acts = acts.idempotent(false).open_world(true);
    Tool::new(format!("{PREFIX}{name}"), about, Arc::new(schema)).with_annotations(acts)
}

/// Does the recipe `name` for a client, and hands over where it stops.
pub(crate) async fn named(
    dispatcher: &Dispatcher,
    folder: &Path,
    name: &str,
    arguments: &Map<String, Value>,
    cancel: &Cancel,
    person: &dyn Person,
) -> Result<Reply, String> {
    let mut recipes = all(folder);
    let Some(recipe) = recipes.remove(name) else {
        let near = nearest(name, recipes.keys().map(String::as_str));
        let near = near.map_or_else(
            || "there is none".into(),
            |near| format!("did you mean {PREFIX}{near}?"),
        );
        return Err(format!("no recipe is called {name:?}: {near}"));
    };
    let from = Args(arguments)
        .whole("from", 1, 1000)?
        .map_or(0, |n| n.unsigned_abs() as usize - 1);
    let pid = Args(arguments)
        .whole("pid", 1, i32::MAX)?
        .map(i32::unsigned_abs);
    let mut given = BTreeMap::new();
    let own = ["from", "pid"];
    for (name, value) in arguments
        .iter()
        .filter(|(name, _)| !own.contains(&name.as_str()))
    {
        let value = value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned);
        given.insert(name.clone(), value);
    }
    let values = Values::new(&recipe, &given)?;
    let how = How {
        from,
        pid,
        ..How::default()
    };
    let played = dispatcher.play(recipe, &values, how, cancel, person).await;
    Ok(answer(
        name,
        &played.map_err(|wrong| format!("{name}{SUFFIX}:{wrong}"))?,
    ))
}

/// The answer: what is done, and where it stopped, what shows and which steps are left.
fn answer(name: &str, played: &Played) -> Reply {
    let steps = &played.recipe.steps;
    let mut text = format!(
        "recipe: {name}\ndone: {} of {} steps\n",
        played.done.len(),
        steps.len()
    );
    for (number, did) in (1..).zip(&played.done) {
        if let Some(found) = &did.found {
            let _ = writeln!(text, "  {number} {}: found {found}", did.words);
        }
    }
    let Some(stop) = &played.stopped else {
        return Reply::text(format!("status: success\n{text}").trim_end().to_owned());
    };
    let mut line = |name: &str, value: &Option<String>| {
        if let Some(value) = value {
            let _ = writeln!(text, "{name}: {value}");
        }
    };
    line("pid", &stop.pid.map(|pid| pid.to_string()));
    line("file", &stop.file);
    line("screenshot", &stop.picture);
    for (name, all) in [("expected", &stop.expected), ("changed", &stop.seen)] {
        if !all.is_empty() {
            let _ = writeln!(text, "{name}:\n  {}", all.join("\n  "));
        }
    }
    let left = steps
        .iter()
        .skip(played.done.len())
        .take(5)
        .map(Step::words);
    let _ = writeln!(
        text,
        "next steps:\n  {}",
        left.collect::<Vec<_>>().join("\n  ")
    );
    let why = format!(
        "error: step {} ({}): {}. Go on by hand from what shows, or call it again with \
        \"from\": {}, and \"pid\"",
        played.done.len() + 1,
        stop.words,
        stop.why,
        played.done.len() + 1
    );
    let mut reply = Reply::text(
        format!("status: error\n{why}\n{text}")
            .trim_end()
            .to_owned(),
    );
    reply.is_error = true;
    reply
}
