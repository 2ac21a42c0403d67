//! Describes a call: `Click “Send”, type “Hello”, press Return`.

use deskline_core::escape::capital;
use serde_json::{Map, Value};

/// Texts in a description are cut to this number of characters.
const TEXT: usize = 60;

/// A call in words. `answer` is the answer that the model read. If the call names its target by a
/// ref, the answer has the target's text.
pub fn words(tool: &str, arguments: &Value, answer: Option<&str>) -> String {
    let empty = Map::new();
    let arguments = arguments.as_object().unwrap_or(&empty);
    let args = Args {
        map: arguments,
        named: answer.and_then(named),
    };
    let tool = tool.strip_prefix("macos-use_").unwrap_or(tool);
    let verb = tool.strip_suffix("_and_traverse").unwrap_or(tool);
    args.action(verb)
}

struct Args<'a> {
    map: &'a Map<String, Value>,
    /// The target's name in the answer.
    named: Option<&'a str>,
}

impl Args<'_> {
    fn text(&self, name: &str) -> Option<String> {
        match self.map.get(name)? {
            Value::String(text) => Some(cut(text)),
            Value::Number(number) => Some(number.to_string()),
            Value::Bool(flag) => Some(flag.to_string()),
            _ => None,
        }
    }

    fn is(&self, name: &str) -> bool {
        self.text(name).is_some_and(|text| text == "true")
    }

    fn point(&self, x: &str, y: &str) -> Option<String> {
        Some(format!("({}, {})", self.text(x)?, self.text(y)?))
    }

    fn target(&self) -> String {
        let element = self.text("element").map(|text| format!("“{text}”"));
        let named = || self.named.map(|text| format!("“{}”", cut(text)));
        let reference = || {
            self.text("ref")
                .map(|text| named().unwrap_or(format!("#{text}")))
        };
        let point = || self.point("x", "y");
        let found = element.or_else(reference).or_else(point);
        let found = found.or_else(|| self.text("role"));
        found.unwrap_or_else(|| "something".into())
    }

    /// The text that a call types, and the key that it then presses, in words.
    fn then(&self) -> String {
        let text = self.text("text").map(|text| format!(", type “{text}”"));
        let key = self.key("pressKey", "pressKeyModifiers");
        let key = key.map(|key| format!(", press {key}"));
        text.unwrap_or_default() + &key.unwrap_or_default()
    }

    fn key(&self, key: &str, modifiers: &str) -> Option<String> {
        let key = self.text(key)?;
        let mut keys = match self.map.get(modifiers) {
            Some(Value::Array(modifiers)) => modifiers
                .iter()
                .filter_map(|modifier| modifier.as_str().map(cut))
                .collect(),
            Some(Value::String(one)) => vec![cut(one)],
            _ => vec![],
        };
        keys.push(key);
        Some(keys.join("+"))
    }

    fn action(&self, verb: &str) -> String {
        let target = || self.target();
        match verb {
            "open_application" => {
                format!("Open {}", self.text("identifier").unwrap_or_default())
            }
            "click" if self.text("choose").is_some() => {
                let choice = self.text("choose").unwrap_or_default();
                format!("Choose “{choice}” in {}", target())
            }
            "click" => {
                let how = match (self.is("doubleClick"), self.is("rightClick")) {
                    (true, _) => "Double-click",
                    (_, true) => "Right-click",
                    _ => "Click",
                };
                format!("{how} {}{}", target(), self.then())
            }
            "type" => capital(self.then().trim_start_matches(", ")),
            "press_key" => {
                let key = self.key("keyName", "modifierFlags");
                format!("Press {}", key.unwrap_or_default())
            }
            "scroll" => match self.text("until") {
                Some(until) => format!("Scroll {} until “{until}” shows", target()),
                None => format!("Scroll {} at {}", self.distance(), target()),
            },
            "set_value" => {
                let value = self.text("value").unwrap_or_default();
                format!("Set {} to “{value}”", target())
            }
            "press_ax" => format!("Press {}", target()),
            "set_selected" if self.text("selected").is_some_and(|on| on == "false") => {
                format!("Deselect {}", target())
            }
            "set_selected" => format!("Select {}", target()),
            "wait_for" => {
                let state = self.text("state").filter(|state| state != "present");
                let state = state.map_or_else(String::new, |state| format!(" to be {state}"));
                format!("Wait for {}{state}", target())
            }
            "drag" => {
                let to = self.text("toRef").map(|to| format!("#{to}"));
                let to = to.or_else(|| self.point("toX", "toY")).unwrap_or_default();
                format!("Drag {} to {to}", target())
            }
            "refresh_traversal" => "Read the screen".into(),
            "chain" => self.chain(),
            other => capital(&other.replace('_', " ")),
        }
    }

    fn distance(&self) -> String {
        let lines = |name: &str, less: &str, more: &str| {
            let lines: f64 = self.text(name)?.parse().ok()?;
            let way = if lines < 0.0 { less } else { more };
            (lines != 0.0).then(|| format!("{way} {}", lines.abs()))
        };
        let ways = [
            lines("deltaY", "up", "down"),
            lines("deltaX", "left", "right"),
        ];
        let ways: Vec<String> = ways.into_iter().flatten().collect();
        ways.join(" and ")
    }

    fn chain(&self) -> String {
        let Some(Value::Array(steps)) = self.map.get("steps") else {
            return "Chain".into();
        };
        let words = steps.iter().filter_map(Value::as_object).map(|map| {
            let verb = map.get("do").and_then(Value::as_str).unwrap_or_default();
            Args { map, named: None }.action(verb)
        });
        let words: Vec<String> = words.take(25).collect();
        words.join(" › ")
    }
}

/// The target's text in `summary: Clicked 'Send' [AXButton].`
fn named(answer: &str) -> Option<&str> {
    let summary = answer
        .lines()
        .find_map(|line| line.strip_prefix("summary: "))?;
    let (before, _) = summary.split_once("' [AX")?;
    let (_, text) = before.split_once('\'')?;
    Some(text)
}

/// The text on one line, cut to [`TEXT`] characters.
fn cut(text: &str) -> String {
    deskline_core::escape::short(text, TEXT)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Rows of a tool, its arguments, and the words for the call.
    macro_rules! calls {
        ($($tool:literal $arguments:tt => $words:literal;)*) => {
            [$(($tool, json!($arguments), $words)),*]
        };
    }

    #[test]
    fn calls_are_described_as_instructions() {
        for (tool, arguments, expected) in calls! {
            "open_application_and_traverse" {"identifier": "gedit"} => "Open gedit";
            "click_and_traverse"
                {"element": "Send", "doubleClick": true, "text": "a\nb", "pressKey": "Return"} =>
                "Double-click “Send”, type “a\\nb”, press Return";
            "click_and_traverse" {"x": 4, "y": "5", "rightClick": "true"} => "Right-click (4, 5)";
            "type_and_traverse" {"text": "•••"} => "Type “•••”";
            "macos-use_press_key_and_traverse" {"keyName": "s", "modifierFlags": ["Ctrl", "Shift"]} =>
                "Press Ctrl+Shift+s";
            "scroll_and_traverse" {"x": 1, "y": 2, "deltaY": -3, "deltaX": 0} => "Scroll up 3 at (1, 2)";
            "set_value_and_traverse" {"element": "Volume", "value": 9} => "Set “Volume” to “9”";
            "set_selected_and_traverse" {"ref": "e7", "selected": false} => "Deselect #e7";
            "wait_for_and_traverse" {"element": "Done", "state": "absent"} => "Wait for “Done” to be absent";
            "drag_and_traverse" {"ref": "e7", "toX": 1, "toY": 2} => "Drag #e7 to (1, 2)";
            "chain_and_traverse"
                {"steps": [{"do": "click", "element": "7"}, {"do": "press_key", "keyName": "Tab"}]} =>
                "Click “7” › Press Tab";
            "click_and_traverse" {"element": "Size", "choose": "Large"} => "Choose “Large” in “Size”";
            "scroll_and_traverse" {"element": "Rows", "until": "Row 90"} =>
                "Scroll “Rows” until “Row 90” shows";
            "refresh_traversal" {"pid": 1} => "Read the screen";
            "new_tool_and_traverse" "cut…(+9)" => "New tool";
        } {
            assert_eq!(words(tool, &arguments, None), expected);
        }
        let answer = "status: success\nsummary: Clicked 'Don't send' [AXButton]. Settled in 8 ms.";
        assert_eq!(
            words("click_and_traverse", &json!({"ref": "e7"}), Some(answer)),
            "Click “Don't send”"
        );
    }
}
