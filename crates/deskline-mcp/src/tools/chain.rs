//! `chain_and_traverse`: several actions in one call.

use std::borrow::Cow;
use std::time::Duration;

use deskline_link::{Action, Expect};
use serde_json::{Map, Value, json};

use super::arg::{Arg, OPTIONS, PID, Type, WINDOW};
use super::record::{Effect, Handler, ToolRecord};
use super::{keyboard, look, pointer, quiet};
use crate::args::{Args, Wrong, shown};

/// Arguments that a chain has for all its steps.
const CHAINS: [&str; 2] = ["pid", "window"];

/// The most steps of one call.
const MOST: usize = 25;

/// The most runs of one step.
const MOST_RUNS: i32 = 100;

/// The longest that one step may wait.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

pub(super) static CHAIN: ToolRecord = ToolRecord {
    name: "chain_and_traverse",
    about: "Several actions, one answer; prefer it to single calls. A step: \"do\" and that tool's \
        arguments, without pid and window; \"repeat\":9 runs it 9 times (most: 100); \"do\":\"read\" answers with \
        the target's text. Each step finds its target when it runs: name later elements by text. If \
        a dialog or app opens, the next step acts there. Stops at the first failure. E.g. \
        [{\"do\":\"click\",\"element\":\"Name\",\"text\":\"Ann\"},{\"do\":\"press_key\",\"keyName\":\"s\",\"modifierFlags\":[\"Control\"]},{\"do\":\"wait_for\",\"element\":\"Saved\"}]",
    args: &[
        PID,
        Arg::required("steps", Type::List(step_schema), "1 to 25"),
        WINDOW,
    ],
    effect: Effect::Act,
    handler: Handler::Chain,
};

/// The tools that can be steps, with the value of `do` for each.
#[rustfmt::skip]
static STEPS: [(&str, &ToolRecord); 10] = [
    ("click", &pointer::CLICK), ("type", &keyboard::TYPE), ("press_key", &keyboard::PRESS_KEY_TOOL),
    ("scroll", &pointer::SCROLL), ("drag", &pointer::DRAG), ("set_value", &quiet::SET_VALUE),
    ("press_ax", &quiet::PRESS_AX), ("set_selected", &quiet::SET_SELECTED),
    ("wait_for", &look::WAIT_FOR), ("read", &look::READ),
];

/// The schema of a step, for `tools/list`: the arguments of all tools that can be steps. The tools'
/// own descriptions explain them.
pub(super) fn step_schema() -> Value {
    let args = STEPS.iter().flat_map(|(_, record)| record.args);
    let own = args.filter(|arg| !CHAINS.contains(&arg.name));
    let mut properties = Map::new();
    properties.insert(
        "do".into(),
        json!({"type": "string", "enum": STEPS.map(|(name, _)| name)}),
    );
    properties.insert("repeat".into(), json!({"type": "integer"}));
    properties.extend(own.filter_map(Arg::brief));
    json!({"type": "object", "properties": properties, "required": ["do"]})
}

/// The arguments with `steps` as a list: some clients send nested values as JSON text.
pub(super) fn unpacked(
    arguments: &Map<String, Value>,
) -> Result<Cow<'_, Map<String, Value>>, Wrong> {
    let Some(Value::String(text)) = arguments.get("steps") else {
        return Ok(Cow::Borrowed(arguments));
    };
    let steps: Value = serde_json::from_str(text)
        .map_err(|e| format!("steps must be a list of objects. As text it is not JSON: {e}"))?;
    let mut arguments = arguments.clone();
    arguments.insert("steps".into(), steps);
    Ok(Cow::Owned(arguments))
}

/// The steps of a call, in order.
#[derive(Default)]
pub(super) struct Steps {
    pub(super) actions: Vec<Action>,
    /// How often each action runs.
    pub(super) repeats: Vec<usize>,
    pub(super) expects: Vec<Option<Expect>>,
}

/// The steps of a chain.
pub(super) fn steps(arguments: &Map<String, Value>) -> Result<Steps, Wrong> {
    let Some(Value::Array(steps)) = arguments.get("steps") else {
        return Err(String::from(
            "steps must be a list of objects such as {\"do\": \"click\", \"element\": \"Save\"}",
        ));
    };
    if steps.is_empty() || steps.len() > MOST {
        let number = steps.len();
        return Err(format!(
            "steps must be 1 to {MOST}, not {number}. Nothing was done"
        ));
    }
    let mut read = Steps::default();
    for (i, one) in steps.iter().enumerate() {
        let (action, repeat, expect) =
            step(one).map_err(|wrong| format!("step {}: {wrong}. Nothing was done", i + 1))?;
        read.actions.push(action);
        read.repeats.push(repeat);
        read.expects.push(expect);
    }
    Ok(read)
}

fn step(step: &Value) -> Result<(Action, usize, Option<Expect>), Wrong> {
    let Value::Object(step) = step else {
        return Err(
            "it must be an object such as {\"do\": \"click\", \"element\": \"Save\"}".into(),
        );
    };
    let (_, record) = named(step.get("do"))?;
    let mut arguments = step.clone();
    arguments.remove("do");
    let repeat = Args(&arguments).whole("repeat", 1, MOST_RUNS)?;
    arguments.remove("repeat");
    let args = Args(&arguments);
    record.check_as_step(args)?;
    let Handler::Link(read) = record.handler else {
        return Err(format!("{} cannot be a step", record.name));
    };
    let action = bounded(read(args)?)?;
    if repeat.is_some() && matches!(action, Action::WaitFor { .. }) {
        return Err("wait_for has no repeat. Pass timeout for a longer wait".into());
    }
    Ok((
        action,
        repeat.map_or(1, |runs| runs.unsigned_abs() as usize),
        record.expectation(args)?,
    ))
}

/// Refuses a long wait: a chain keeps the desktop while it waits.
fn bounded(action: Action) -> Result<Action, Wrong> {
    match action {
        Action::WaitFor { timeout, .. } if timeout > LONGEST_WAIT => Err(format!(
            "timeout must be at most {} in a chain, because no other call can use the desktop \
             meanwhile. End the chain before the wait, and call wait_for_and_traverse",
            LONGEST_WAIT.as_secs()
        )),
        action => Ok(action),
    }
}

fn named(name: Option<&Value>) -> Result<&'static (&'static str, &'static ToolRecord), Wrong> {
    let names = || STEPS.map(|(name, _)| name).join(", ");
    let Some(Value::String(name)) = name else {
        return Err(format!("\"do\" is missing. It is one of {}", names()));
    };
    let wanted = name.trim().to_lowercase();
    let wanted = wanted.strip_suffix("_and_traverse").unwrap_or(&wanted);
    STEPS
        .iter()
        .find(|(name, _)| *name == wanted)
        .ok_or_else(|| {
            let name = shown(&name.as_str().into());
            format!("\"do\" must be one of {}, not {name}", names())
        })
}

impl ToolRecord {
    /// [`ToolRecord::check`] for a step, which has the chain's pid, window and options.
    fn check_as_step(&self, args: Args<'_>) -> Result<(), Wrong> {
        let own = || self.args.iter().filter(|arg| !CHAINS.contains(&arg.name));
        for name in CHAINS.into_iter().chain(OPTIONS.map(|arg| arg.name)) {
            if args.has(name) {
                return Err(format!("{name} is an argument of the chain, not of a step"));
            }
        }
        let valid: Vec<&str> = own().map(|arg| arg.name).collect();
        args.only(self.name, &valid)?;
        match own().find(|arg| arg.required && !args.has(arg.name)) {
            Some(arg) => Err(format!("{} is missing", arg.name)),
            None => Ok(()),
        }
    }
}
