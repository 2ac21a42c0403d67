//! The cells of the table: the call, the widget, and the line that the app must log.

use serde_json::Value;

/// A cell: the name of its row, the calls, and the start of the line that the app must log.
pub(super) struct Cell {
    pub(super) name: &'static str,
    pub(super) calls: Vec<(&'static str, &'static str, Value)>,
    pub(super) logs: &'static str,
}

impl Cell {
    /// Whether it sends no input: then accessibility alone carries it out, on any compositor.
    pub(super) fn is_quiet(&self) -> bool {
        let quiet = |(tool, ..): &(&str, _, _)| [SET, PRESS, SELECT].contains(tool);
        self.calls.iter().all(quiet)
    }
}

/// Cells, each with the name of its row, its calls (tool, target, further arguments), and the start
/// of the line that the app must log.
macro_rules! table {
    ($($name:literal: $($tool:ident $target:tt $({$($more:tt)*})?),+ => $logs:literal;)*) => {
        vec![$($crate::table::cells::Cell {
            name: $name,
            calls: vec![$(($tool, $target, serde_json::json!({$($($more)*)?}))),+],
            logs: $logs,
        }),*]
    };
}
pub(super) use table;

/// The combo box.
pub(super) const COMBO: &str = "AX Size";
pub(super) const CLICK: &str = "click_and_traverse";
pub(super) const TYPE: &str = "type_and_traverse";
pub(super) const KEY: &str = "press_key_and_traverse";
pub(super) const SET: &str = "set_value_and_traverse";
pub(super) const PRESS: &str = "press_ax_and_traverse";
pub(super) const CHAIN: &str = "chain_and_traverse";
pub(super) const SELECT: &str = "set_selected_and_traverse";

pub(super) fn cells() -> Vec<Cell> {
    table! {
        "click, button": CLICK "AXButton OK" => "clicked OK";
        "click, toggle": CLICK "AX Bold" => "toggled Bold true";
        "click, check box": CLICK "AXCheckBox Wrap" => "checked Wrap true";
        "click, radio button": CLICK "AX Green" => "chose Green";
        "click, combo box": CLICK COMBO, CLICK "AX Medium" => "combo Medium";
        "click, menu": CLICK "AX File", CLICK "AXMenuItem New" => "menu New";
        "click, slider": CLICK "AXSlider Volume" => "value Volume";
        "click, text field": CLICK "AXTextField Name" {"text": "Hé"} => "text Name Hé";
        "click, text area": CLICK "AXTextArea Notes" {"text": "a漢"} => "text Notes a漢";
        "click, list row": CLICK "AX Row 3" => "selected Row 3";
        "click, table row": CLICK "AX Item 2" => "picked Item 2";
        "click, tab": CLICK "AX Second" => "tab Second";
        "double click, table row": CLICK "AX Item 3" {"doubleClick": true} => "opened Item 3";
        "right click": CLICK "AX Pad" {"rightClick": true} => "pad press 3";
        "type, text field":
            CLICK "AXTextField Name",
            KEY "" {"keyName": "a", "modifierFlags": ["Control"]},
            TYPE "" {"text": "Ω£ \"q\""} => "text Name Ω£ \"q\"";
        "press key, text field":
            CLICK "AXTextField Name",
            KEY "" {"keyName": "Return"} => "activated Name";
        "set value, text field": SET "AXTextField Name" {"value": "zB!"} => "text Name zB!";
        "set value, text area":
            SET "AXTextArea Notes" {"value": "one\ntwo"} => "text Notes one\\ntwo";
        "set value, slider": SET "AXSlider Volume" {"value": "42"} => "value Volume 42";
        "set value, spin button": SET "AX Count" {"value": 7} => "value Count 7";
        "set value, combo box": SET COMBO {"value": "Large"} => "combo Large";
        "choose, combo box": CLICK COMBO {"choose": "Small"} => "combo Small";
        "press, button": PRESS "AXButton OK" => "clicked OK";
        "press, toggle": PRESS "AX Bold" => "toggled Bold false";
        "press, check box": PRESS "AXCheckBox Wrap" => "checked Wrap false";
        "press, radio button": PRESS "AX Blue" => "chose Blue";
        "press, tab": PRESS "AX Third" => "tab Third";
        "press, menu item": PRESS "AXMenuItem Close" => "menu Close";
        "select, list row": SELECT "AX Row 5" => "selected Row 5";
        "select, table row": SELECT "AX Item 4" => "picked Item 4";
        "select, tab": SELECT "AX First" => "tab First";
    }
}

/// Several steps in one call.
pub(super) fn chain() -> Vec<Cell> {
    table! {
        "chain, press and type": CHAIN "" {"steps": [
            {"do": "press_ax", "element": "OK", "role": "AXButton"},
            {"do": "click", "element": "Name", "role": "AXTextField"},
            {"do": "press_key", "keyName": "a", "modifierFlags": ["Control"]},
            {"do": "type", "text": "in one go"},
        ]} => "text Name in one go";
    }
}
