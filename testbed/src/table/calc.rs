//! `LibreOffice` Calc: cells, sheet tabs, toolbars and menus.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::json;

use super::cells::{CLICK, Cell, KEY, PRESS, SELECT, SET, TYPE, table};
use super::{LAG, Subject, plain};

/// A cell passes if the document is right after Control+S.
fn calc_cells() -> Vec<Cell> {
    table! {
        "click, table cell":
            CLICK "AXCell B5" {"text": "clicked", "pressKey": "Return"} => "B5 clicked";
        "double click, table cell":
            CLICK "AXCell A2" {"doubleClick": true},
            TYPE "" {"text": "s", "pressKey": "Return"} => "A2 pears";
        "type, table cell":
            CLICK "AXCell C2",
            TYPE "" {"text": "=B1+B2", "pressKey": "Return"} => "C2 7";
        "press key, table cell": CLICK "AXCell A1", KEY "" {"keyName": "ForwardDelete"} => "A1 ";
        "set value, table cell": SET "AXCell D4" {"value": "42"} => "D4 42";
        "click, toggle": CLICK "AXCell B2", CLICK "AXCheckBox Bold" => "bold";
        "press, toggle": PRESS "AXCheckBox Italic" => "italic";
        "click, menu":
            CLICK "AXCell E1" {"text": "marked", "pressKey": "Return"},
            CLICK "AXMenuBarItem Edit",
            CLICK "AXMenuItem Undo: Input" => "E1 ";
        // LibreOffice updates the items of a menu when the menu opens.
        "press, outdated item": PRESS "AXMenuItem Redo" => "E1 marked";
        "press, menu item":
            CLICK "AXMenuBarItem Edit",
            PRESS "AXMenuItem Redo: Input" => "E1 marked";
        // The cell is selected, and the cursor stays where it is.
        "select, table cell": SELECT "AXCell D4", KEY "" {"keyName": "ForwardDelete"} => "D4 ";
        "click, text field":
            CLICK "AXCell D6" {"text": "here", "pressKey": "Return"},
            CLICK "AXTextField D7" {"text": "F7", "pressKey": "Return"},
            TYPE "" {"text": "went", "pressKey": "Return"} => "F7 went";
        "press, closed menu's item":
            PRESS "AXMenuItem Select All",
            KEY "" {"keyName": "ForwardDelete"} => "D6 ";
        "press, tab": PRESS "AXTab Prices" => "";
        "select, tab":
            SELECT "AXTab Prices",
            CLICK "AXCell G1" {"text": "back", "pressKey": "Return"} => "G1 back";
    }
}

/// The content of a spreadsheet: one line for each cell that is not empty (`B5 clicked`, `Other B2
/// other`), and `bold`, `italic` for its style.
fn content(document: &str) -> Vec<String> {
    let mut contents = Vec::new();
    for (style, word) in [
        ("font-weight=\"bold\"", "bold"),
        ("font-style=\"italic\"", "italic"),
    ] {
        if document.contains(&format!("fo:{style}")) {
            contents.push(word.to_owned());
        }
    }
    let repeated = |tag: &str, what: &str| {
        let name = format!("table:number-{what}-repeated=\"");
        let count = tag
            .split(&name)
            .nth(1)
            .and_then(|rest| rest.split('"').next());
        count.map_or(1, |count| count.parse::<u32>().unwrap())
    };
    for sheet in document.split("<table:table ").skip(1) {
        let name = sheet
            .split("table:name=\"")
            .nth(1)
            .unwrap()
            .split('"')
            .next()
            .unwrap();
        let sheet_is = if name == "Prices" {
            String::new()
        } else {
            format!("{name} ")
        };
        let mut row = 0;
        for part in sheet.split("<table:table-row").skip(1) {
            row += 1;
            let tag = part.split('>').next().unwrap();
            let mut column = 0_u32;
            for cell in part.split("<table:table-cell").skip(1) {
                let text = cell
                    .split("<text:p>")
                    .nth(1)
                    .and_then(|t| t.split("</text:p>").next());
                if let (Some(text), Some(letter)) = (text, char::from_u32(65 + column)) {
                    contents.push(format!("{sheet_is}{letter}{row} {text}"));
                }
                column += repeated(cell.split('>').next().unwrap(), "columns");
            }
            row += repeated(tag, "rows") - 1;
        }
    }
    contents
}

/// `✓` if the document has the cell's line. For a line that ends in a space: `✓` if that cell is
/// empty.
fn try_calc(subject: &Subject<'_>, file: &Path, cell: &Cell) -> String {
    subject.goes_behind();
    for (tool, target, more) in &cell.calls {
        let answer = subject.call(tool, target, more);
        if answer.is_error {
            subject.call(KEY, "", &json!({"keyName": "Escape"}));
            return format!("refused: {}", plain(answer.error()));
        }
    }
    let before = std::fs::metadata(file).unwrap().modified().unwrap();
    let save = json!({"keyName": "s", "modifierFlags": ["Control"]});
    subject.call(KEY, "", &save).ok();
    // Saving does nothing if nothing has changed.
    let deadline = Instant::now() + 3 * LAG;
    while std::fs::metadata(file).unwrap().modified().unwrap() == before
        && Instant::now() < deadline
    {
        std::thread::sleep(Duration::from_millis(20));
    }
    let contents = content(&std::fs::read_to_string(file).unwrap());
    let is_there = match cell.logs.strip_suffix(' ') {
        Some(place) => !contents
            .iter()
            .any(|line| line.starts_with(&format!("{place} "))),
        None => contents.iter().any(|line| line == cell.logs),
    };
    if is_there {
        "✓".into()
    } else {
        format!("WRONG: the document says {contents:?}")
    }
}

/// All cells, each with its outcome, for a document of two rows, `apple 3` and `pear 4`.
pub fn column(subject: &Subject<'_>, file: &Path) -> Vec<(String, String)> {
    let mut table = Vec::new();
    let seen = subject.call("refresh_traversal", "", &json!({})).ok();
    let missing: Vec<&str> = [
        "A1 apple",
        "B2 4",
        "Bold",
        "File",
        "Prices",
        "Other",
        "Input line",
    ]
    .into_iter()
    .filter(|text| !seen.find("AX", text).is_some_and(|line| line.visible))
    .collect();
    assert_eq!(missing, [""; 0], "not visible");
    table.push(("refresh, all widgets".to_owned(), "✓".to_owned()));
    let sheet = seen.line_of("AXTable", "Sheet Prices").extents.unwrap();
    let place =
        json!({"x": sheet.x, "y": sheet.y, "width": sheet.w, "height": sheet.h, "deltaY": 20});
    let scrolled = subject.call("scroll_and_traverse", "", &place).ok();
    let gone = scrolled
        .find("AXCell", "A1")
        .is_none_or(|line| !line.visible);
    table.push((
        "scroll, sheet".to_owned(),
        if gone { "✓" } else { "WRONG" }.to_owned(),
    ));
    let back = json!({"x": sheet.x + 50, "y": sheet.y + 50, "deltaY": -100});
    subject.call("scroll_and_traverse", "", &back).ok();
    let name = seen.field("app");
    let opened = subject.server.open(name).ok();
    assert_eq!(opened.pid(), subject.pid);
    table.push(("open, running app".to_owned(), "✓".to_owned()));
    for cell in calc_cells() {
        table.push((cell.name.into(), try_calc(subject, file, &cell)));
    }
    table
}
