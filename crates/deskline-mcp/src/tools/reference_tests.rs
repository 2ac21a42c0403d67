//! docs/tools.md is made from the records: this test fails when it is stale.
//! `DESKLINE_WRITE=1 cargo test -p deskline-mcp reference` writes it.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::Value;

use super::{Effect, Handler, TOOLS, ToolRecord};

const INTRODUCTION: &str = "\
# Tools

The descriptions and arguments below are what an agent gets, with the instructions of the handshake. This page is generated from
them. `--read-only` offers only the tools that are marked so. `deskline call TOOL '{…}'` calls a tool from a shell.

## What tools have in common

- **Targets.** `element` is a part of the element's text, narrowed by `role` if needed; `ref` is the `#e42` of a tree line; `x` and
  `y` are [coordinates](formats.md#units-and-coordinates), with `width` and `height` those of a line's box. If several elements match, an exact match wins, then a visible one; the
  answer names the others. If something covers the target, nothing is sent and the error names it.
- **Answers** begin with `status:` and name the tree file and the screenshot, then what changed. An error says what was wrong,
  whether anything was done, and what to do next. [All fields](formats.md#the-answer).
- **`expect`** waits at most 3 seconds, or `timeout` seconds, up to 30.
- **Options** are accepted by every tool that acts: `traverseBefore`, `traverseAfter` and `showDiff` (`false` leaves that part out),
  `onlyVisibleElements`, `showAnimation` (outlines the target for `animationDuration` seconds first) and `delayAfterAction`
  (seconds). No schema lists them, as each session sends the schemas to the model.
";

fn effect(record: &ToolRecord) -> &'static str {
    match record.effect {
        Effect::ReadFile => "Reads the log's files.",
        Effect::Look => "Changes nothing.",
        Effect::Set => "Sets or selects something; a repeated call has no further effect.",
        Effect::Act => "May do anything that you can.",
    }
}

fn cell(value: &Value) -> String {
    value.as_str().unwrap_or_default().replace('|', "\\|")
}

/// `string`, `list of strings`, `present, absent or visible`.
fn kind(property: &Value) -> String {
    if let Some(words) = property["enum"].as_array() {
        let words: Vec<String> = words.iter().map(cell).collect();
        return words.join(", ");
    }
    match cell(&property["type"]).as_str() {
        "array" if property["items"].get("enum").is_some() => {
            format!("list of {}", kind(&property["items"]))
        }
        "array" => format!("list of {}s", cell(&property["items"]["type"])),
        other => other.to_owned(),
    }
}

fn section(record: &ToolRecord, page: &mut String) {
    let entry = serde_json::to_value(record.entry("")).unwrap();
    let about = cell(&entry["description"]);
    let offered = if record.reads_only() {
        " Offered with `--read-only`."
    } else {
        ""
    };
    let links = matches!(record.handler, Handler::Link(..) | Handler::Chain);
    let options = if links { " Takes the options." } else { "" };
    let effect = effect(record);
    let name = record.name;
    write!(
        page,
        "\n## {name}\n\n{about}\n\n{effect}{offered}{options}\n"
    )
    .unwrap();
    let schema = &entry["inputSchema"];
    let properties = schema["properties"].as_object().unwrap();
    if properties.is_empty() {
        page.push_str("\nNo arguments.\n");
        return;
    }
    page.push_str("\n| argument | type | |\n|---|---|---|\n");
    let required = schema["required"].as_array();
    for (name, property) in properties {
        let needed = required.is_some_and(|all| all.iter().any(|one| one == name.as_str()));
        let needed = if needed { "required" } else { "" };
        let about = [needed.to_owned(), cell(&property["description"])];
        let about: Vec<_> = about.into_iter().filter(|part| !part.is_empty()).collect();
        let (kind, about) = (kind(property), about.join(": "));
        writeln!(page, "| `{name}` | {kind} | {about} |").unwrap();
    }
}

#[test]
fn the_reference_is_made_from_the_records() {
    let mut page = INTRODUCTION.to_owned();
    for record in TOOLS {
        section(record, &mut page);
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
