//! The tree of a sheet has the sheet's content, also after cells were emptied, overwritten, moved
//! or sorted while their objects were cached.

use std::collections::BTreeMap;

use deskline_core::Text;
use deskline_testbed::{Answer, Bed};
use serde_json::{Value, json};

/// The non-empty cells from A1 to C6, according to the tree.
fn cells(answer: &Answer) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for line in answer.lines() {
        let shown = |text: Option<Text>| text.map_or_else(String::new, |text| text.shown);
        let (name, value) = (shown(line.text), shown(line.value));
        let near = name.len() == 2 && name.as_bytes()[0] <= b'C' && name.as_bytes()[1] <= b'6';
        if line.role.ax() == "AXCell" && near && !value.is_empty() {
            assert_eq!(place(&name), line.cell.map(|c| (c.row, c.column)), "{name}");
            found.insert(name, value);
        }
    }
    found
}

/// The row and the column of a cell's address.
fn place(name: &str) -> Option<(u32, u32)> {
    let column = u32::from(*name.as_bytes().first()?) - u32::from(b'A') + 1;
    Some((name.get(1..)?.parse().ok()?, column))
}

fn wanted(columns: [&[&str]; 2]) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    for (letter, column) in ["A", "B"].into_iter().zip(columns) {
        for (row, text) in (1..).zip(column.iter()) {
            if !text.is_empty() {
                all.insert(format!("{letter}{row}"), (*text).to_owned());
            }
        }
    }
    all
}

#[test]
fn cells_of_the_tree_have_the_sheets_present_content() {
    let (bed, server) = Bed::with_server();
    let rows: [&[&str]; 4] = [
        &["Kiwi", "3"],
        &["Pear", "4"],
        &["Fig", "5"],
        &["Apple", "6"],
    ];
    let (app, _file) = bed.calc(&rows);
    let call = |tool: &str, more: Value| {
        let mut call = more;
        call["pid"] = app.pid.into();
        server.call(tool, call).ok()
    };
    let click = |cell: &str| {
        let target = json!({"element": cell, "role": "AXCell"});
        call("click_and_traverse", target)
    };
    let key = |name: &str, modifiers: &[&str]| {
        let key = json!({"keyName": name, "modifierFlags": modifiers});
        call("press_key_and_traverse", key)
    };
    let check = |what: &str, answer: &Answer, columns: [&[&str]; 2]| {
        assert_eq!(cells(answer), wanted(columns), "{what}: {answer}");
        let again = call("refresh_traversal", json!({}));
        assert_eq!(cells(&again), wanted(columns), "{what}, read again");
    };
    let all: [&[&str]; 2] = [&["Kiwi", "Pear", "Fig", "Apple"], &["3", "4", "5", "6"]];
    check("opened", &call("refresh_traversal", json!({})), all);

    click("A1");
    let emptied: [&[&str]; 2] = [&["", "Pear", "Fig", "Apple"], all[1]];
    check("emptied", &key("ForwardDelete", &[]), emptied);
    check("left", &click("C6"), emptied);
    check("undone", &key("z", &["Control"]), all);

    let plum = json!({"element": "A2", "role": "AXCell", "text": "Plum", "pressKey": "Return"});
    let written: [&[&str]; 2] = [&["Kiwi", "Plum", "Fig", "Apple"], all[1]];
    check("overwritten", &call("click_and_traverse", plum), written);

    click("A2");
    key("Right", &["Shift"]);
    key("Down", &["Shift"]);
    let holes: [&[&str]; 2] = [&["Kiwi", "", "", "Apple"], &["3", "", "", "6"]];
    check("range emptied", &key("ForwardDelete", &[]), holes);
    check("left the range", &click("C6"), holes);
    check("range undone", &key("z", &["Control"]), written);
    check("redone", &key("y", &["Control"]), holes);
    check("undone again", &key("z", &["Control"]), written);

    click("B2");
    check(
        "cut",
        &key("x", &["Control"]),
        [written[0], &["3", "", "5", "6"]],
    );
    check("cut undone", &key("z", &["Control"]), written);

    click("A2");
    key("Space", &["Shift"]);
    let shorter: [&[&str]; 2] = [&["Kiwi", "Fig", "Apple"], &["3", "5", "6"]];
    check("row deleted", &key("-", &["Control"]), shorter);
    let longer: [&[&str]; 2] = [&["Kiwi", "", "Fig", "Apple"], &["3", "", "5", "6"]];
    click("A2");
    key("Space", &["Shift"]);
    check("row inserted", &key("+", &["Control"]), longer);
    check("insertion undone", &key("z", &["Control"]), shorter);
    check("deletion undone", &key("z", &["Control"]), written);
    click("A1");
    key("Space", &["Control"]);
    check("column deleted", &key("-", &["Control"]), [written[1], &[]]);
    check("column undone", &key("z", &["Control"]), written);
    click("B1");
    key("Space", &["Control"]);
    let apart: BTreeMap<String, String> = wanted(written)
        .into_iter()
        .map(|(cell, text)| (cell.replace('B', "C"), text))
        .collect();
    let inserted = key("+", &["Control"]);
    assert_eq!(cells(&inserted), apart, "column inserted: {inserted}");
    check("column gone again", &key("z", &["Control"]), written);

    click("A1");
    key("Down", &["Shift"]);
    key("Down", &["Shift"]);
    key("Down", &["Shift"]);
    key("Right", &["Shift"]);
    let sort = json!({"element": "Sort Ascending", "role": "AXButton"});
    let sorted: [&[&str]; 2] = [&["Apple", "Fig", "Kiwi", "Plum"], &["6", "5", "3", "4"]];
    check("sorted", &call("click_and_traverse", sort), sorted);

    check("another sheet", &key("PageDown", &["Control"]), [&[], &[]]);
    let other = json!({"element": "A1", "role": "AXCell", "text": "There", "pressKey": "Return"});
    check(
        "written there",
        &call("click_and_traverse", other),
        [&["There"], &[]],
    );
    check("back", &key("PageUp", &["Control"]), sorted);
}
