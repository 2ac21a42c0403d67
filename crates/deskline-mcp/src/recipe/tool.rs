//! The call of a recipe by a client.

use std::fmt::Write as _;

use deskline_core::nearest;
use deskline_recipe::SUFFIX;

use super::{
    Args, Cancel, Dispatcher, How, Map, NoReply, Person, Played, Reply, Step, Value, Values,
};
use crate::recipes::{PREFIX, all};

/// Carries out a call of a client: of a recipe in the folder, or of a tool.
pub(crate) async fn call(
    dispatcher: &Dispatcher,
    name: &str,
    arguments: &Map<String, Value>,
    cancel: &Cancel,
    person: &dyn Person,
) -> Result<Reply, NoReply> {
    let (Some(own), Some(folder)) = (name.strip_prefix(PREFIX), dispatcher.recipes()) else {
        return dispatcher.call(name, arguments, cancel, person).await;
    };
    let done = async {
        let mut recipes = all(folder);
        let Some(recipe) = recipes.remove(own) else {
            let near = nearest(own, recipes.keys().map(String::as_str));
            let near = near.map(|near| format!("did you mean {PREFIX}{near}?"));
            let near = near.unwrap_or_else(|| "there is none".into());
            return Err(format!("no recipe is called {own:?}: {near}"));
        };
        let from = Args(arguments).whole("from", 1, 1000)?;
        let from = from.map_or(0, |n| n.unsigned_abs() as usize - 1);
        let pid = Args(arguments).whole("pid", 1, i32::MAX)?;
        let pid = pid.map(i32::unsigned_abs);
        let text = |value: &Value| match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let is_input = |name: &String| !["from", "pid"].contains(&name.as_str());
        let given = arguments.iter().filter(|(name, _)| is_input(name));
        let given = given.map(|(name, value)| (name.clone(), text(value)));
        let values = Values::new(&recipe.inputs, &given.collect()).map_err(|wrong| wrong.why)?;
        let mut how = How::default();
        (how.from, how.pid) = (from, pid);
        let played = dispatcher.play(&recipe, &values, how, cancel, person).await;
        let played = played.map_err(|wrong| format!("{own}{SUFFIX}:{wrong}"))?;
        Ok::<_, String>(answer(own, &played))
    };
    Ok(done.await.unwrap_or_else(|why| Reply::failure(&why)))
}

/// The answer: what was done; if the recipe stopped, also where, what shows, and which steps are
/// left.
fn answer(name: &str, played: &Played) -> Reply {
    let steps = &played.recipe.steps;
    let (done, of) = (played.done.len(), steps.len());
    let mut text = format!("recipe: {name}\ndone: {done} of {of} steps\n");
    for (number, did) in (1..).zip(&played.done) {
        if let Some(found) = &did.found {
            let _ = writeln!(text, "  {number} {}: found {found}", did.words);
        }
    }
    let Some(stop) = &played.stopped else {
        return Reply::text(format!("status: success\n{text}").trim_end().to_owned());
    };
    let pid = stop.pid.map(|pid| format!("pid: {pid}\n"));
    let _ = writeln!(text, "{}{}", pid.unwrap_or_default(), stop.told(""));
    let left = steps.iter().skip(played.done.len()).take(5);
    let left: Vec<String> = left.map(Step::words).collect();
    let _ = writeln!(text, "next steps:\n  {}", left.join("\n  "));
    let (next, words, why) = (stop.step, &stop.words, &stop.why);
    let why = format!(
        "error: step {next} ({words}): {why}. Go on yourself from what shows, or call it again with \
        \"from\": {next}, and \"pid\""
    );
    let text = format!("status: error\n{why}\n{text}");
    let mut reply = Reply::text(text.trim_end().to_owned());
    reply.is_error = true;
    reply
}
