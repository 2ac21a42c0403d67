//! What is known of a step before anything is done: its tool, and whether the tool takes its
//! arguments.

use super::{Args, Step, Wrong, tools};
use deskline_recipe::{KEYS, REFUSED};

/// Refuses a step that its tool would refuse.
pub(super) fn checked(step: &Step) -> Result<(), Wrong> {
    let wrong = |why: String| Wrong {
        at: step.place(&why),
        why,
    };
    let mut arguments = step.arguments.clone();
    let given = [
        ("ref", step.target.is_some(), "e1".into()),
        ("toRef", step.to.is_some(), "e1".into()),
        ("pid", step.does != "open", 1.into()),
    ];
    for (name, _, value) in given.into_iter().filter(|(_, is_given, _)| *is_given) {
        arguments.insert(name.into(), value);
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
