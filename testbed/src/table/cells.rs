//! The cells of the table: the call, the widget, and the line that the app must log.

use serde_json::{Value, json};

/// A cell: the name of its row, the calls, and the start of the line that the app must log.
pub(super) struct Cell {
    pub(super) name: &'static str,
    pub(super) calls: Vec<(&'static str, &'static str, Value)>,
    pub(super) logs: &'static str,
}

impl Cell {
    /// Whether it sends no input: accessibility alone serves it, whatever the compositor.
    pub(super) fn is_quiet(&self) -> bool {
        let quiet = |(tool, ..): &(&str, _, _)| [SET, PRESS, SELECT].contains(tool);
        self.calls.iter().all(quiet)
    }
}

pub(super) fn cell(
    name: &'static str,
    calls: impl Into<Vec<(&'static str, &'static str, Value)>>,
    logs: &'static str,
) -> Cell {
    Cell {
        name,
        calls: calls.into(),
        logs,
    }
}

/// The combo box.
pub(super) const COMBO: &str = "AX Size";
pub(super) const CLICK: &str = "click_and_traverse";
pub(super) const TYPE: &str = "type_and_traverse";
pub(super) const KEY: &str = "press_key_and_traverse";
pub(super) const SET: &str = "set_value_and_traverse";
pub(super) const PRESS: &str = "press_ax_and_traverse";
pub(super) const CHAIN: &str = "chain_and_traverse";
pub(super) const SELECT: &str = "set_selected_and_traverse";

#[allow(clippy::too_many_lines)] // a table
pub(super) fn cells() -> Vec<Cell> {
    let none = || json!({});
    vec![
        cell(
            "click, button",
            [(CLICK, "AXButton OK", none())],
            "clicked OK",
        ),
        cell(
            "click, toggle",
            [(CLICK, "AX Bold", none())],
            "toggled Bold true",
        ),
        cell(
            "click, check box",
            [(CLICK, "AXCheckBox Wrap", none())],
            "checked Wrap true",
        ),
        cell(
            "click, radio button",
            [(CLICK, "AX Green", none())],
            "chose Green",
        ),
        cell(
            "click, combo box",
            [(CLICK, COMBO, none()), (CLICK, "AX Medium", none())],
            "combo Medium",
        ),
        cell(
            "click, menu",
            [
                (CLICK, "AX File", none()),
                (CLICK, "AXMenuItem New", none()),
            ],
            "menu New",
        ),
        cell(
            "click, slider",
            [(CLICK, "AXSlider Volume", none())],
            "value Volume",
        ),
        cell(
            "click, text field",
            [(CLICK, "AXTextField Name", json!({"text": "Hé"}))],
            "text Name Hé",
        ),
        cell(
            "click, text area",
            [(CLICK, "AXTextArea Notes", json!({"text": "a漢"}))],
            "text Notes a漢",
        ),
        cell(
            "click, list row",
            [(CLICK, "AX Row 3", none())],
            "selected Row 3",
        ),
        cell(
            "click, table row",
            [(CLICK, "AX Item 2", none())],
            "picked Item 2",
        ),
        cell("click, tab", [(CLICK, "AX Second", none())], "tab Second"),
        cell(
            "double click, table row",
            [(CLICK, "AX Item 3", json!({"doubleClick": true}))],
            "opened Item 3",
        ),
        cell(
            "right click",
            [(CLICK, "AX Pad", json!({"rightClick": true}))],
            "pad press 3",
        ),
        cell(
            "type, text field",
            [
                (CLICK, "AXTextField Name", none()),
                (
                    KEY,
                    "",
                    json!({"keyName": "a", "modifierFlags": ["Control"]}),
                ),
                (TYPE, "", json!({"text": "Ω£ \"q\""})),
            ],
            "text Name Ω£ \"q\"",
        ),
        cell(
            "press key, text field",
            [
                (CLICK, "AXTextField Name", none()),
                (KEY, "", json!({"keyName": "Return"})),
            ],
            "activated Name",
        ),
        cell(
            "set value, text field",
            [(SET, "AXTextField Name", json!({"value": "zB!"}))],
            "text Name zB!",
        ),
        cell(
            "set value, text area",
            [(SET, "AXTextArea Notes", json!({"value": "one\ntwo"}))],
            "text Notes one\\ntwo",
        ),
        cell(
            "set value, slider",
            [(SET, "AXSlider Volume", json!({"value": "42"}))],
            "value Volume 42",
        ),
        cell(
            "set value, spin button",
            [(SET, "AX Count", json!({"value": 7}))],
            "value Count 7",
        ),
        cell(
            "set value, combo box",
            [(SET, COMBO, json!({"value": "Large"}))],
            "combo Large",
        ),
        cell(
            "choose, combo box",
            [(CLICK, COMBO, json!({"choose": "Small"}))],
            "combo Small",
        ),
        cell(
            "press, button",
            [(PRESS, "AXButton OK", none())],
            "clicked OK",
        ),
        cell(
            "press, toggle",
            [(PRESS, "AX Bold", none())],
            "toggled Bold false",
        ),
        cell(
            "press, check box",
            [(PRESS, "AXCheckBox Wrap", none())],
            "checked Wrap false",
        ),
        cell(
            "press, radio button",
            [(PRESS, "AX Blue", none())],
            "chose Blue",
        ),
        cell("press, tab", [(PRESS, "AX Third", none())], "tab Third"),
        cell(
            "press, menu item",
            [(PRESS, "AXMenuItem Close", none())],
            "menu Close",
        ),
        cell(
            "select, list row",
            [(SELECT, "AX Row 5", none())],
            "selected Row 5",
        ),
        cell(
            "select, table row",
            [(SELECT, "AX Item 4", none())],
            "picked Item 4",
        ),
        cell("select, tab", [(SELECT, "AX First", none())], "tab First"),
    ]
}

/// Several steps in one call.
pub(super) fn chain() -> Cell {
    cell(
        "chain, press and type",
        [(
            CHAIN,
            "",
            json!({"steps": [
                {"do": "press_ax", "element": "OK", "role": "AXButton"},
                {"do": "click", "element": "Name", "role": "AXTextField"},
                {"do": "press_key", "keyName": "a", "modifierFlags": ["Control"]},
                {"do": "type", "text": "in one go"},
            ]}),
        )],
        "text Name in one go",
    )
}
