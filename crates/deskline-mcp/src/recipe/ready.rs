//! What is known of a step before anything is done: its tool, and its arguments filled in.

use super::{Args, Map, Step, Value, Values, Wrong, tools};
use deskline_recipe::{KEYS, REFUSED};

/// Refuses a step that its tool would refuse, and inputs that are missing.
pub(super) fn checked(step: &Step, values: &Values) -> Result<(), Wrong> {
    let wrong = |why: String| Wrong {
        at: step.place(&why),
        why,
    };
    let mut arguments = filled(step, values).map_err(wrong)?.0;
    let mut checks = step.checks.each().into_iter().flat_map(|(_, all)| all);
    let filled = checks.try_for_each(|check| check.fill(values).map(drop));
    filled.map_err(wrong)?;
    if step.target.is_some() {
        arguments.insert("ref".into(), "e1".into());
    }
    if step.to.is_some() {
        arguments.insert("toRef".into(), "e1".into());
    }
    if step.does != "open" {
        arguments.insert("pid".into(), 1.into());
    }
    let tool = tools::find(&tool_of(step)).map_err(|_| {
        let why = "\"do\" is one of click, type, press_key, scroll, drag, set_value, press_ax, \
            set_selected, wait_for, open";
        wrong(format!("{why}, not {:?}", step.does))
    })?;
    let takes = tool.takes().filter(|name| !REFUSED.contains(name));
    let takes: Vec<&str> = takes.chain(KEYS).collect();
    let own = Args(&step.arguments).only(&step.does, &takes);
    own.map_err(wrong)?;
    tools::call(tool, &arguments).map(drop).map_err(wrong)
}

pub(super) fn tool_of(step: &Step) -> String {
    match step.does.as_str() {
        "open" => "open_application_and_traverse".into(),
        does => format!("{does}_and_traverse"),
    }
}

/// A step's own arguments with their inputs filled in, and whether one of these inputs is a secret.
pub(super) fn filled(step: &Step, values: &Values) -> Result<(Map<String, Value>, bool), String> {
    let mut is_secret = false;
    let mut fill = |value: &Value| match value {
        Value::String(text) => values.fill(text).map(|filled| {
            is_secret |= filled.is_secret;
            Value::from(filled.text)
        }),
        other => Ok(other.clone()),
    };
    let mut arguments = Map::new();
    for (name, value) in &step.arguments {
        arguments.insert(name.clone(), fill(value)?);
    }
    Ok((arguments, is_secret))
}
