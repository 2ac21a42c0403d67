//! The size of the tool list, and the reading of good and bad arguments.

#![allow(clippy::unwrap_used, clippy::too_many_lines)]

use std::time::Duration;

use deskline_core::{Key, KeyPress, Modifiers, Ref, States};
use deskline_link::call::{Awaited, ClickKind, Input, Typing};
use deskline_link::{Action, Button, Call, Options, Target};
use serde_json::{Value, json};

use super::*;

fn read(tool: &str, arguments: Value) -> Result<Call, Wrong> {
    let Value::Object(arguments) = arguments else {
        panic!("not an object");
    };
    let record = find(tool).unwrap();
    call(record, &arguments)
}

/// The action of a call about app 7.
fn on_app(tool: &str, arguments: &Value) -> Action {
    let mut arguments = arguments.clone();
    arguments["pid"] = json!("7");
    let call = read(tool, arguments).unwrap();
    assert_eq!((call.pid, call.tool()), (Some(7), tool));
    call.action
}

fn text(text: &str, role: Option<&str>) -> Target {
    Target::Text {
        text: text.into(),
        role: role.map(str::to_owned),
    }
}

/// The list as it is sent.
fn listed(prefix: &str) -> String {
    let tools = TOOLS.iter().map(|record| record.entry(prefix)).collect();
    let result = rmcp::model::ListToolsResult::with_all_items(tools);
    json!({"jsonrpc": "2.0", "id": 1, "result": result}).to_string()
}

#[test]
fn the_list_of_tools_stays_small() {
    let (plain, compat) = (listed(""), listed(COMPAT_PREFIX));
    assert!(plain.len() < 13_000, "{} bytes", plain.len());
    assert!(compat.len() < 13_000, "{} bytes", compat.len());
    assert_eq!(compat.matches("\"macos-use_").count(), 15);
    let row = format!("| **Deskline** | 15 | {},000 |", (plain.len() + 500) / 1000);
    let comparison = include_str!("../../../../docs/comparison.md");
    assert!(comparison.contains(&row), "comparison.md lacks {row}");
}

#[test]
fn every_tool_has_four_annotations_a_short_name_and_no_output_schema() {
    let list: Value = serde_json::from_str(&listed("")).unwrap();
    let tools = list["result"]["tools"].as_array().unwrap();
    assert_eq!(tools.len(), 15);
    for tool in tools {
        let hints = tool["annotations"].as_object().unwrap();
        let hint = |name| hints.get(name).is_some_and(Value::is_boolean);
        let all = [
            "readOnlyHint",
            "destructiveHint",
            "idempotentHint",
            "openWorldHint",
        ];
        assert!(hints.len() == 4 && all.into_iter().all(hint), "{tool}");
        assert!(tool["name"].as_str().unwrap().len() < 40);
        assert!(tool.get("outputSchema").is_none());
        assert_eq!(tool["inputSchema"]["type"], "object");
        for (name, property) in tool["inputSchema"]["properties"].as_object().unwrap() {
            let about = property["description"].as_str().unwrap_or_default();
            assert!(
                !about.is_empty(),
                "{}: {name} has no description",
                tool["name"]
            );
        }
    }
}

/// The schemas that every model provider accepts, among them Gemini, OpenAI and Bedrock.
#[test]
fn every_schema_is_accepted_by_all_providers() {
    fn walk(at: &str, schema: &Value) {
        let fields = schema.as_object().unwrap();
        let known = [
            "type",
            "description",
            "properties",
            "required",
            "items",
            "enum",
        ];
        for field in fields.keys() {
            assert!(known.contains(&field.as_str()), "{at}: {field}");
        }
        match schema["type"].as_str() {
            Some("object") => {
                let properties = schema["properties"].as_object().unwrap();
                assert!(
                    !properties.is_empty(),
                    "{at} is an object without properties"
                );
                for required in schema["required"].as_array().into_iter().flatten() {
                    assert!(properties.contains_key(required.as_str().unwrap()), "{at}");
                }
                for (name, property) in properties {
                    walk(&format!("{at}.{name}"), property);
                }
            }
            Some("array") => walk(&format!("{at}[]"), &schema["items"]),
            Some("string" | "integer" | "number" | "boolean") => {}
            kind => panic!("{at}: {kind:?}"),
        }
    }
    let list: Value = serde_json::from_str(&listed("")).unwrap();
    for tool in list["result"]["tools"].as_array().unwrap() {
        walk(tool["name"].as_str().unwrap(), &tool["inputSchema"]);
    }
}

#[test]
fn tools_are_found_with_and_without_the_prefix() {
    assert_eq!(find("refresh_traversal").unwrap().name, "refresh_traversal");
    let prefixed = find("macos-use_click_and_traverse").unwrap();
    assert_eq!(prefixed.name, "click_and_traverse");
    for (wrong, error) in [
        (
            "click",
            "unknown tool \"click\". Did you mean \"click_and_traverse\"?",
        ),
        (
            "macos-use_refresh",
            "unknown tool \"macos-use_refresh\". Did you mean \"refresh_traversal\"?",
        ),
        (
            "drag_and_traverse\n",
            "unknown tool \"drag_and_traverse\\n\". Did you mean \"drag_and_traverse\"?",
        ),
    ] {
        assert_eq!(find(wrong).unwrap_err(), error);
    }
}

#[test]
fn a_target_is_read_from_a_ref_a_text_or_a_place() {
    for (arguments, target) in [
        (json!({"ref": "e42"}), Target::Ref(Ref(42))),
        (json!({"ref": "#e42"}), Target::Ref(Ref(42))),
        (json!({"element": "Send"}), text("Send", None)),
        (
            json!({"element": "Send", "role": "AXButton", "ref": null}),
            text("Send", Some("AXButton")),
        ),
        (json!({"x": 10, "y": "20"}), Target::at(10, 20)),
        (json!({"x": -10.0, "y": 20.7}), Target::at(-10, 20)),
        (
            json!({"x": 680, "y": 520, "width": 81, "height": "30"}),
            Target::at(720, 535),
        ),
        (
            json!({"x": -5, "y": -5, "width": 3, "height": 3}),
            Target::at(-4, -4),
        ),
    ] {
        let pressed = on_app("press_ax_and_traverse", &arguments);
        assert_eq!(pressed, Action::press_ax(target), "{arguments}");
    }
}

/// Rows of a tool, its arguments, and the action that they mean.
macro_rules! actions {
    ($($tool:literal {$($arguments:tt)*} => $action:expr;)*) => {
        [$(($tool, json!({$($arguments)*}), Action::from($action))),*]
    };
}

#[test]
fn every_tool_reads_its_arguments() {
    let point = Target::at;
    let press = |key, modifiers| KeyPress { key, modifiers };
    let e1 = || Target::Ref(Ref(1));
    let click = |target, kind, then| Input::Click { target, kind, then };
    let press_key = |press, hold| Input::PressKey { press, hold };
    let scroll = |at, delta_x, delta_y, until: Option<&str>| Input::Scroll {
        at,
        delta_x,
        delta_y,
        until: until.map(str::to_owned),
    };
    let drag = |from, to, modifiers| Input::Drag {
        from,
        to,
        to_pid: None,
        modifiers,
    };
    let wait = |target, state, ms| Action::WaitFor {
        target,
        state,
        timeout: Duration::from_millis(ms),
    };
    let return_key = press(Key::Return, Modifiers::CONTROL);
    let middle = ClickKind {
        modifiers: Modifiers::CONTROL,
        ..ClickKind::with_button(Button::Middle)
    };
    let shortcut = press(Key::Char('a'), Modifiers::COMMAND | Modifiers::SHIFT);
    let enter = press(Key::Return, Modifiers::NUMERIC_PAD);
    for (tool, arguments, expected) in actions! {
        "click_and_traverse" {"element": "To", "doubleClick": "true", "text": "a\nb",
            "pressKey": "return", "pressKeyModifiers": "Ctrl"} =>
            click(text("To", None), ClickKind::double(), Typing::text("a\nb").then(Some(return_key)));
        "click_and_traverse" {"x": 1, "y": 2, "middleClick": true, "modifierFlags": ["Ctrl"]} =>
            click(point(1, 2), middle, Typing::default());
        "click_and_traverse" {"ref": "e1", "hover": true} => Action::hover(e1());
        "click_and_traverse" {"ref": "e1", "choose": "Large"} => Action::choose(e1(), "Large");
        "type_and_traverse" {"text": "hé"} => Action::type_text(Typing::text("hé"));
        "press_key_and_traverse" {"keyName": "A", "modifierFlags": ["Command", "shift"]} =>
            press_key(shortcut, Duration::ZERO);
        "press_key_and_traverse" {"keyName": "KP_Enter", "hold": "1.5"} =>
            press_key(enter, Duration::from_millis(1500));
        "scroll_and_traverse" {"element": "Rows", "until": "Row 90"} =>
            scroll(text("Rows", None), 0, 0, Some("Row 90"));
        "scroll_and_traverse" {"x": 1, "y": 2, "deltaY": -3.0} => scroll(point(1, 2), 0, -3, None);
        "scroll_and_traverse" {"x": 1, "y": 2, "width": 10, "height": 10, "deltaY": 0, "deltaX": "4"} =>
            scroll(point(6, 7), 4, 0, None);
        "drag_and_traverse" {"ref": "e1", "toX": 5, "toY": 6, "modifierFlags": ["Shift"]} =>
            drag(e1(), point(5, 6), Modifiers::SHIFT);
        "drag_and_traverse" {"x": 5, "y": 6, "toRef": "e1", "modifiers": "alt"} =>
            drag(point(5, 6), e1(), Modifiers::ALT);
        "set_value_and_traverse" {"ref": "e1", "value": ""} => Action::set_value(e1(), "");
        "set_value_and_traverse" {"ref": "e1", "value": 50} => Action::set_value(e1(), "50");
        "set_selected_and_traverse" {"ref": "e1"} => Action::set_selected(e1(), true);
        "set_selected_and_traverse" {"ref": "e1", "selected": "False"} =>
            Action::set_selected(e1(), false);
        "refresh_traversal" {} => Action::Refresh;
        "wait_for_and_traverse" {"element": "Done"} =>
            wait(text("Done", None), Awaited::Present, 10_000);
        "wait_for_and_traverse" {"ref": "e1", "state": "Checked", "timeout": "0.5"} =>
            wait(e1(), Awaited::State(States::CHECKED), 500);
    } {
        assert_eq!(on_app(tool, &arguments), expected, "{tool} {arguments}");
    }
    let opened = read(
        "open_application_and_traverse",
        json!({"identifier": "gedit"}),
    );
    assert_eq!(opened.unwrap().action, Action::open("gedit"));
}

#[test]
fn each_tool_accepts_the_common_options_with_the_links_defaults() {
    let call = read("refresh_traversal", json!({"pid": 7})).unwrap();
    assert_eq!((call.pid, call.options), (Some(7), Options::default()));
    for record in TOOLS {
        let Handler::Link(..) = record.handler else {
            continue;
        };
        let mut arguments = json!({
            "traverseBefore": false, "traverseAfter": false, "showDiff": "false",
            "onlyVisibleElements": true, "showAnimation": true, "animationDuration": 1.5,
            "delayAfterAction": "60",
        });
        let required = record.args.iter().filter(|arg| arg.required);
        for arg in required {
            arguments[arg.name] = match arg.name {
                "pid" | "x" | "y" | "deltaY" => json!(1),
                _ => json!("a"),
            };
        }
        if record.args.iter().any(|arg| arg.name == "ref") {
            arguments["ref"] = json!("e1");
        }
        if record.name == "scroll_and_traverse" {
            arguments["deltaY"] = json!(1);
        }
        if record.name == "drag_and_traverse" {
            arguments["toRef"] = json!("e2");
        }
        let call = read(record.name, arguments.clone()).unwrap();
        assert_eq!(
            call.options,
            Options {
                traverse_before: false,
                traverse_after: false,
                show_diff: false,
                only_visible_elements: true,
                show_animation: true,
                animation_duration: Duration::from_millis(1_500),
                delay_after_action: Duration::from_secs(60),
                goes_on: false,
            },
            "{}",
            record.name
        );
        assert_eq!(json!(call.arguments), arguments);
    }
}

/// Rows of a tool, its arguments, and the error that they give.
macro_rules! errors {
    ($($tool:literal $arguments:tt => $error:literal;)*) => {
        [$(($tool, json!($arguments), $error)),*]
    };
}

#[test]
fn errors_about_arguments_name_the_accepted_form() {
    const WAYS: &str = "ref (\"e42\", from the end of a tree line), element (a part of \
        its text, with role to narrow it), or x and y (from a tree line, with width and height for \
        its centre)";
    for (tool, arguments, error) in errors! {
        // Names.
        "click_and_traverse" {"pid": 7, "elemnt": "Send"} =>
            "unknown argument \"elemnt\" for click_and_traverse. Did you mean \"element\"?";
        "click_and_traverse" {"pid": 7, "Ref": "e1"} =>
            "unknown argument \"Ref\" for click_and_traverse. Did you mean \"ref\"?";
        "refresh_traversal" {"pid": 7, "showDif": true} =>
            "unknown argument \"showDif\" for refresh_traversal. Did you mean \"showDiff\"?";
        // Required arguments.
        "click_and_traverse" {"element": "Send"} =>
            "pid is missing. Every answer has one. list_applications has those of the running \
             apps, and open_application_and_traverse starts an app";
        "refresh_traversal" {"pid": null} =>
            "pid is missing. Every answer has one. list_applications has those of the running \
             apps, and open_application_and_traverse starts an app";
        "scroll_and_traverse" {"pid": 7, "x": 1, "y": 1} =>
            "deltaY and deltaX are both 0. Pass how many lines to scroll, or until";
        "open_application_and_traverse" {} =>
            "identifier is missing. open_application_and_traverse needs identifier";
        "open_application_and_traverse" {"identifier": " "} =>
            "identifier is empty. Pass an app's name, id or path, or leave it out";
        "set_value_and_traverse" {"pid": 7, "ref": "e1"} =>
            "value is missing. set_value_and_traverse needs pid, value";
        "press_key_and_traverse" {"pid": 7, "keyName": ""} =>
            "keyName is empty. Pass a key name such as Return or a";
        // Numbers.
        "refresh_traversal" {"pid": "twelve"} => "pid must be a number, not the text \"twelve\"";
        "refresh_traversal" {"pid": 0} => "pid must be from 1 to 2147483647, not 0";
        "refresh_traversal" {"pid": -3} => "pid must be from 1 to 2147483647, not -3";
        "refresh_traversal" {"pid": 1.5} => "pid must be a whole number, not 1.5";
        "refresh_traversal" {"pid": 1e99} => "pid must be from 1 to 2147483647, not 1e+99";
        "refresh_traversal" {"pid": [1]} => "pid must be a number, not a list";
        "refresh_traversal" {"pid": {"a": 1}} => "pid must be a number, not an object";
        "refresh_traversal" {"pid": true} => "pid must be a number, not a boolean";
        "click_and_traverse" {"pid": 7, "x": "NaN", "y": 1} =>
            "x must be a finite number, not \"NaN\"";
        "click_and_traverse" {"pid": 7, "x": 1, "y": "-inf"} =>
            "y must be a finite number, not \"-inf\"";
        "click_and_traverse" {"pid": 7, "x": 3_000_000_000_u32, "y": 1} =>
            "x must be from -1048576 to 1048576, not 3000000000";
        "click_and_traverse" {"pid": 7, "x": 1, "y": 1, "width": -1, "height": 1} =>
            "width must be from 0 to 1048576, not -1";
        "scroll_and_traverse" {"pid": 7, "ref": "e1", "deltaX": 2, "until": "a"} =>
            "until scrolls up or down. Leave out deltaX";
        "click_and_traverse" {"pid": 7, "ref": "e1", "choose": "a", "hover": true} =>
            "choose and hover were given together. Pass only one";
        "click_and_traverse" {"pid": 7, "ref": "e1", "choose": "a", "text": "b"} =>
            "choose cannot be combined with another kind of click, modifierFlags, text or \
             pressKey. Leave these out, or choose";
        "scroll_and_traverse" {"pid": 7, "x": 1, "y": 1, "deltaY": 0.5} =>
            "deltaY must be a whole number, not 0.5";
        "scroll_and_traverse" {"pid": 7, "x": 1, "y": 1, "deltaY": 5000} =>
            "deltaY must be from -1000 to 1000, not 5000";
        "scroll_and_traverse" {"pid": 7, "x": 1, "y": 1, "deltaY": 0} =>
            "deltaY and deltaX are both 0. Pass how many lines to scroll, or until";
        // Durations.
        "refresh_traversal" {"pid": 7, "delayAfterAction": 61} =>
            "delayAfterAction must be from 0 to 60, not 61";
        "refresh_traversal" {"pid": 7, "animationDuration": -1} =>
            "animationDuration must be from 0 to 10, not -1";
        "wait_for_and_traverse" {"pid": 7, "ref": "e1", "timeout": 301} =>
            "timeout must be from 0 to 300, not 301";
        "press_key_and_traverse" {"pid": 7, "keyName": "a", "hold": 11} =>
            "hold must be from 0 to 10, not 11";
        "chain_and_traverse" {"pid": 7, "steps": vec![json!({"do": "click"}); 26]} =>
            "steps must be 1 to 25, not 26. Nothing was done";
        // Booleans and texts.
        "refresh_traversal" {"pid": 7, "showDiff": "yes"} =>
            "showDiff must be true or false, not \"yes\"";
        "refresh_traversal" {"pid": 7, "showDiff": 1} => "showDiff must be true or false, not 1";
        "type_and_traverse" {"pid": 7, "text": 1234} => "text must be a string, not a number";
        "type_and_traverse" {"pid": 7, "text": ""} =>
            "text is empty, so there is nothing to type. Pass the text, or use \
             press_key_and_traverse for a key alone";
        "set_value_and_traverse" {"pid": 7, "ref": "e1", "value": ["a"]} =>
            "value must be a string, not a list";
        // Targets.
        "click_and_traverse" {"pid": 7} => "no target. Pass one of WAYS";
        "click_and_traverse" {"pid": 7, "ref": "e1", "x": 1, "y": 1} =>
            "ref and x,y were given together. Pass only one of WAYS";
        "click_and_traverse" {"pid": 7, "ref": "e1", "element": "Send"} =>
            "ref and element were given together. Pass only one of WAYS";
        "click_and_traverse" {"pid": 7, "element": "Send", "width": 1} =>
            "element and x,y were given together. Pass only one of WAYS";
        "click_and_traverse" {"pid": 7, "x": 1} => "x was given without y. Pass both";
        "click_and_traverse" {"pid": 7, "y": 1} => "y was given without x. Pass both";
        "click_and_traverse" {"pid": 7, "x": 1, "y": 1, "width": 1} =>
            "width was given without height. Pass both";
        "click_and_traverse" {"pid": 7, "x": 1, "y": 1, "height": 1} =>
            "height was given without width. Pass both";
        "click_and_traverse" {"pid": 7, "width": 1, "height": 1} =>
            "width and height were given without x and y. Pass all four as in a tree line";
        "click_and_traverse" {"pid": 7, "element": ""} =>
            "element is empty. Pass a part of the element's text, or leave it out";
        "click_and_traverse" {"pid": 7, "element": " \t"} =>
            "element is empty. Pass a part of the element's text, or leave it out";
        "click_and_traverse" {"pid": 7, "element": "Send", "role": ""} =>
            "role is empty. Pass the start of a role such as AXButton, or leave it out";
        "click_and_traverse" {"pid": 7, "role": "AXButton"} =>
            "role was given without element. Pass element, a part of the element's text, too";
        "click_and_traverse" {"pid": 7, "ref": "e1", "role": "AXButton"} =>
            "role was given without element. Pass element, a part of the element's text, too";
        "click_and_traverse" {"pid": 7, "x": 1, "y": 1, "role": "AXButton"} =>
            "role was given without element. Pass element, a part of the element's text, too";
        "click_and_traverse" {"pid": 7, "ref": "42"} =>
            "ref must look like e42, as at the end of a tree line, not \"42\"";
        "click_and_traverse" {"pid": 7, "ref": "e-1"} =>
            "ref must look like e42, as at the end of a tree line, not \"e-1\"";
        "click_and_traverse" {"pid": 7, "ref": "e99999999999999999999"} =>
            "ref must look like e42, as at the end of a tree line, not \"e99999999999999999999\"";
        "click_and_traverse" {"pid": 7, "ref": 42} => "ref must be a string, not a number";
        "click_and_traverse" {"pid": 7, "ref": "e1", "doubleClick": true, "rightClick": true} =>
            "doubleClick and rightClick were given together. Pass only one";
        "wait_for_and_traverse" {"pid": 7} =>
            "no target. Pass ref (\"e42\", from the end of a tree line) or element (a part of its \
             text, with role to narrow it)";
        "wait_for_and_traverse" {"pid": 7, "ref": "e1", "element": "a"} =>
            "ref and element were given together. Pass only one";
        "wait_for_and_traverse" {"pid": 7, "ref": "e1", "x": 1} =>
            "unknown argument \"x\" for wait_for_and_traverse. Did you mean \"pid\"?";
        "wait_for_and_traverse" {"pid": 7, "ref": "e1", "state": "gone"} =>
            "state must be one of present, absent, visible, enabled, loaded, focused, selected, \
             checked, mixed, expanded, collapsed, disabled, editable, secure, not \"gone\"";
        "drag_and_traverse" {"pid": 7, "ref": "e1"} =>
            "the end of the drag is missing. Pass toRef (\"e42\"), toElement (a part of its text), \
             or toX and toY";
        "drag_and_traverse" {"pid": 7, "ref": "e1", "toX": 1} =>
            "toX was given without toY. Pass both";
        "drag_and_traverse" {"pid": 7, "ref": "e1", "toRef": "e2", "toX": 1, "toY": 1} =>
            "toRef and toX,toY were given together. Pass only one";
        "drag_and_traverse" {"pid": 7, "toRef": "e2"} => "no target. Pass one of WAYS";
        // Keys.
        "click_and_traverse" {"pid": 7, "ref": "e1", "pressKeyModifiers": ["Shift"]} =>
            "pressKeyModifiers was given without pressKey. Pass both";
        "press_key_and_traverse" {"pid": 7, "keyName": "a", "modifierFlags": 3} =>
            "modifierFlags must be a list of names such as [\"Control\"], not 3";
        "press_key_and_traverse" {"pid": 7, "keyName": "a", "modifierFlags": ["Shift", 3]} =>
            "modifierFlags must be a list of names such as [\"Control\"], not 3";
    } {
        let error = error.replace("WAYS", WAYS);
        assert_eq!(
            read(tool, arguments.clone()).unwrap_err(),
            error,
            "{tool} {arguments}"
        );
    }
}

#[test]
fn unknown_keys_and_modifiers_are_errors() {
    for arguments in [
        json!({"pid": 7, "keyName": "Retrun"}),
        json!({"pid": 7, "keyName": "a", "modifierFlags": ["Contrl"]}),
    ] {
        let error = read("press_key_and_traverse", arguments).unwrap_err();
        assert!(
            error.contains("Return") || error.contains("Control"),
            "{error}"
        );
    }
}
