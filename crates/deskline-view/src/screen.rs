//! A tree file and a picture as JSON for the page. Texts stay escaped, as in the file: unescaped,
//! they could run right to left or be invisible.

use deskline_core::tree_reader::{self, FileLine};
use deskline_core::{Change, DeltaLine, Line, Value as Text};
use deskline_journal::Place;
use serde_json::{Map, Value, json};

/// The lines of a tree file. Line `n` of the file is at index `n - 1`.
pub(crate) fn lines(text: &str) -> Vec<Value> {
    tree_reader::lines(text).map(line).collect()
}

/// Where a picture is on the screen; `None` if `png` is no PNG.
pub(crate) fn place(png: &[u8]) -> Option<Value> {
    let place = Place::from_png(png)?;
    let origin = place.origin.map(|origin| [origin.x, origin.y]);
    Some(json!({
        "width": place.width,
        "height": place.height,
        "origin": origin,
        "scale": place.scale,
    }))
}

fn line(line: FileLine) -> Value {
    match line {
        FileLine::Header(text) => json!({"header": deskline_core::escape::one_line(&text)}),
        FileLine::Element(line) => Value::Object(element(&line)),
        FileLine::Delta(delta) => Value::Object(changed(&delta)),
        FileLine::Late(delta) => {
            let mut line = changed(&delta);
            line.insert("late".into(), true.into());
            Value::Object(line)
        }
        FileLine::Unknown(text) => json!({"unknown": deskline_core::escape::one_line(&text)}),
    }
}

fn changed(delta: &DeltaLine) -> Map<String, Value> {
    let (sign, line, changes) = match delta {
        DeltaLine::Added(line) => ("+", line, None),
        DeltaLine::Removed(line) => ("-", line, None),
        DeltaLine::Modified(line, changes) => ("~", line, Some(changes)),
    };
    let mut json = element(line);
    json.insert("sign".into(), sign.into());
    if let Some(changes) = changes {
        let changes: Vec<Value> = changes.iter().map(change).collect();
        json.insert("changes".into(), changes.into());
    }
    json
}

fn change(change: &Change) -> Value {
    json!([
        change.attribute.name(),
        change.old.to_string(),
        change.new.to_string(),
    ])
}

/// An element. Missing properties are left out: a tree has thousands of elements.
fn element(line: &Line) -> Map<String, Value> {
    let mut json = Map::new();
    json.insert("role".into(), line.role.ax().into());
    if let Some(native) = &line.native_role {
        json.insert("native".into(), native.as_ref().into());
    }
    if let Some(text) = &line.text {
        json.insert("text".into(), Text::Text(text.clone()).to_string().into());
    }
    if let Some(place) = line.extents {
        json.insert("box".into(), json!([place.x, place.y, place.w, place.h]));
    }
    if line.visible {
        json.insert("visible".into(), true.into());
    }
    let states: Vec<&str> = line.states.words().collect();
    if !states.is_empty() {
        json.insert("states".into(), states.into());
    }
    if let Some(value) = &line.value {
        json.insert("value".into(), Text::Text(value.clone()).to_string().into());
    }
    if let Some(cell) = line.cell {
        json.insert("cell".into(), json!([cell.row, cell.column]));
    }
    if let Some(reference) = line.reference {
        json.insert("ref".into(), reference.to_string().into());
    }
    if let Some(parent) = line.parent {
        json.insert("in".into(), parent.to_string().into());
    }
    json
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_as_json_has_every_part_of_the_line_in_the_file() {
        let text = "# diff: +0 added, -0 removed, ~1 modified\n\
            ~ [AXTextField (text)] \"Me\\u{202e}\" | AXValue: \"Hey\" -> \"\" #e31\n\
            late + [AXButton] \"x:1 y:2 w:3 h:4\" x:5 y:6 w:7 h:8 visible focused #e7\n \
            [AXCell] \"Phone\" value:\"555\" row:4 col:2 #e9 in #e8\n?";
        assert_eq!(
            Value::Array(lines(text)),
            json!([
                {"header": "diff: +0 added, -0 removed, ~1 modified"},
                {
                    "role": "AXTextField", "native": "text", "text": "\"Me\\u{202e}\"", "ref": "e31",
                    "sign": "~", "changes": [["AXValue", "\"Hey\"", "\"\""]],
                },
                {
                    "role": "AXButton", "text": "\"x:1 y:2 w:3 h:4\"", "box": [5, 6, 7, 8],
                    "visible": true, "states": ["focused"], "ref": "e7", "sign": "+", "late": true,
                },
                {
                    "role": "AXCell", "text": "\"Phone\"", "value": "\"555\"", "cell": [4, 2],
                    "ref": "e9", "in": "e8",
                },
                {"unknown": "?"},
            ])
        );
    }
}
