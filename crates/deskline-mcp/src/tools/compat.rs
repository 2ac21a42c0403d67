//! Arguments that macos-use names differently.

use serde_json::{Map, Value};

use super::chain::unpacked;
use crate::args::Wrong;

/// The arguments with our key names: in macos-use, `Delete` deletes to the left.
pub(crate) fn from_macos_use(arguments: &Map<String, Value>) -> Result<Map<String, Value>, Wrong> {
    let mut arguments = unpacked(arguments)?.into_owned();
    rename_delete(&mut arguments);
    if let Some(Value::Array(steps)) = arguments.get_mut("steps") {
        let steps = steps.iter_mut().filter_map(Value::as_object_mut);
        steps.for_each(rename_delete);
    }
    Ok(arguments)
}

fn rename_delete(arguments: &mut Map<String, Value>) {
    for name in ["keyName", "pressKey"] {
        if let Some(Value::String(key)) = arguments.get_mut(name)
            && key.eq_ignore_ascii_case("Delete")
        {
            "Backspace".clone_into(key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn delete_is_backspace_in_calls_and_in_steps() {
        let given = json!({
            "keyName": "delete", "text": "Delete",
            "steps": r#"[{"do": "press_key", "keyName": "Delete"},
                {"do": "click", "pressKey": "ForwardDelete"}]"#,
        });
        let ours = from_macos_use(given.as_object().unwrap_or(&Map::new()));
        let expected = json!({
            "keyName": "Backspace", "text": "Delete",
            "steps": [
                {"do": "press_key", "keyName": "Backspace"},
                {"do": "click", "pressKey": "ForwardDelete"},
            ],
        });
        assert_eq!(ours.map(Value::Object), Ok(expected));
    }
}
