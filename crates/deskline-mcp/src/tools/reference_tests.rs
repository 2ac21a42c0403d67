//! docs/tools.md is made from the records: this test fails when it is stale.
//! `DESKLINE_WRITE=1 cargo test -p deskline-mcp reference` writes it.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::Value;

use super::{Effect, TOOLS, ToolRecord};

const INTRODUCTION: &str = "\
# Tools

The tools as an agent sees them. A tool may change or delete things unless its section says otherwise. `deskline call TOOL '{…}'`
calls one from a shell.

## What tools have in common

- **Targets.** `element` finds an element by a part of its text, narrowed by `role`. If several match, an exact match wins, then a
  visible one; the answer names the others. `x` and `y` are [coordinates](formats.md#units-and-coordinates).
- **Answers** name the tree file and the screenshot, and say what changed. An error says what was wrong, whether anything was done,
  and what to do next. [All fields](formats.md#the-answer).
- **Options.** The tools whose name ends in `traverse` or `traversal` also take these. No schema lists them, to keep the list of
  tools short:
  - `timeout`, with `expect`: the seconds to wait for its text, at most 30 (`wait_for_and_traverse` has its own)
  - `traverseBefore`, `traverseAfter`: with `false` no tree is read before the action, or after it
  - `showDiff`: `false` leaves out the changes
  - `onlyVisibleElements`: with `true` the file lists only visible elements
  - `showAnimation`: `true` outlines the target first, for `animationDuration` seconds
  - `delayAfterAction`: seconds to wait at the end

Arguments that mean the same in several tools; `pid` is required wherever it stands:

";

fn effect(record: &ToolRecord) -> &'static str {
    match record.effect {
        Effect::ReadFile => "Reads the log's files.",
        Effect::Look => "Changes nothing.",
        Effect::Set => "Sets or selects something; a repeated call has no further effect.",
        Effect::Act => "",
    }
}

fn cell(value: &Value) -> String {
    value.as_str().unwrap_or_default().replace('|', "\\|")
}

/// `string`, `list of strings`, `present, absent`, or what a step may do.
fn kind(property: &Value) -> String {
    if let Some(words) = property["enum"].as_array() {
        let words: Vec<String> = words.iter().map(cell).collect();
        return words.join(", ");
    }
    match cell(&property["type"]).as_str() {
        "array" if property["items"].get("enum").is_some() => {
            format!("list of {}", kind(&property["items"]))
        }
        "array" if property["items"]["properties"].get("do").is_some() => {
            let named = kind(&property["items"]["properties"]["do"]);
            format!("list of steps, \"do\": {named}")
        }
        "array" => format!("list of {}s", cell(&property["items"]["type"])),
        other => other.to_owned(),
    }
}

/// Name, type, meaning, and whether it is required.
type Argument = (String, String, String, bool);

fn arguments(record: &ToolRecord) -> Vec<Argument> {
    let entry = serde_json::to_value(record.entry("")).unwrap();
    let schema = &entry["inputSchema"];
    let required = schema["required"].as_array();
    let argument = |(name, property): (&String, &Value)| {
        let needed = required.is_some_and(|all| all.iter().any(|one| one == name.as_str()));
        let about = cell(&property["description"]);
        (name.clone(), kind(property), about, needed)
    };
    let properties = schema["properties"].as_object().unwrap();
    properties.iter().map(argument).collect()
}

/// The arguments that at least three tools take, in the order in which they come first.
fn common() -> Vec<Argument> {
    let all: Vec<Argument> = TOOLS.iter().flat_map(|tool| arguments(tool)).collect();
    let often = |one: &&Argument| all.iter().filter(|other| other == one).count() >= 3;
    let mut common: Vec<Argument> = vec![];
    for argument in all.iter().filter(often) {
        if !common.contains(argument) {
            common.push(argument.clone());
        }
    }
    common
}

fn table<'a>(arguments: impl IntoIterator<Item = &'a Argument>, page: &mut String) {
    page.push_str("| argument | type | |\n|---|---|---|\n");
    for (name, kind, about, required) in arguments {
        let needed = ["", "required: "][usize::from(*required && name != "pid")];
        writeln!(page, "| `{name}` | {kind} | {needed}{about} |").unwrap();
    }
}

fn section(record: &ToolRecord, common: &[Argument], page: &mut String) {
    let entry = serde_json::to_value(record.entry("")).unwrap();
    let (name, effect, about) = (record.name, effect(record), cell(&entry["description"]));
    let offered = ["", "Allowed with `--read-only`."][usize::from(record.reads_only())];
    let all = arguments(record);
    let (shared, own): (Vec<_>, Vec<_>) = all.iter().partition(|one| common.contains(one));
    let takes = shared.iter().map(|(name, ..)| format!("`{name}`"));
    let takes = takes.collect::<Vec<_>>().join(", ");
    let takes = match takes.len() {
        0 => takes,
        _ => format!("Takes {takes}."),
    };
    let said = [effect, offered, &takes]
        .into_iter()
        .filter(|part| !part.is_empty());
    let said = said.collect::<Vec<_>>().join(" ");
    write!(page, "\n## {name}\n\n{about}\n").unwrap();
    if !said.is_empty() {
        write!(page, "\n{said}\n").unwrap();
    }
    if !own.is_empty() {
        page.push('\n');
        table(own, page);
    }
}

#[test]
fn the_reference_of_tools_is_made_from_the_records_of_tools() {
    let mut page = INTRODUCTION.to_owned();
    let common = common();
    table(&common, &mut page);
    for record in TOOLS {
        section(record, &common, &mut page);
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/tools.md");
    if std::env::var_os("DESKLINE_WRITE").is_some() {
        std::fs::write(&file, &page).unwrap();
    }
    let there = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(
        there == page,
        "docs/tools.md is stale: DESKLINE_WRITE=1 cargo test -p deskline-mcp reference"
    );
}
