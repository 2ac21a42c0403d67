//! Text arrives in order, even if an app handles a Tab later than the text after it.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::collections::BTreeMap;
use std::path::Path;

use deskline_testbed::{Bed, Client, Toolkit, until};

/// The texts of the first sheet of a flat `OpenDocument` file, by row and column from 0.
fn sheet(file: &Path) -> BTreeMap<(usize, usize), String> {
    let document = std::fs::read_to_string(file).unwrap();
    let table = document.split("<table:table ").nth(1).unwrap_or_default();
    let repeated = |tag: &str, what: &str| {
        let after = tag.split(&format!("number-{what}-repeated=\"")).nth(1);
        after.map_or(1, |n| n.split('"').next().unwrap().parse().unwrap())
    };
    let mut cells = BTreeMap::new();
    let mut at = 0;
    for row in table.split("<table:table-row").skip(1) {
        let mut column = 0;
        for cell in row.split("<table:table-cell").skip(1) {
            let text = cell.split("<text:p>").nth(1);
            let text = text.map(|text| text.split("</text:p>").next().unwrap());
            if let Some(text) = text.filter(|text| !text.is_empty()) {
                cells.insert((at, column), text.to_owned());
            }
            column += repeated(cell.split('>').next().unwrap(), "columns");
        }
        at += repeated(row.split('>').next().unwrap(), "rows");
    }
    cells
}

fn keep(server: &Client, pid: u32) {
    server.press_key(pid, "s", &["Control"]).ok();
}

#[test]
fn tabs_and_returns_move_through_a_sheet() {
    let (bed, server) = Bed::with_server();
    let row = |price| ["Item", "", "", price];
    let rows = ["Price", "1", "2", "3", "4", "5"].map(row);
    let rows: Vec<&[&str]> = rows.iter().map(|row| &row[..]).collect();
    let (app, file) = bed.calc(&rows);
    let into = |cell: &str, text: &str| server.fill(app.pid, "AXCell", cell, text).ok();
    // A click makes A6 the current cell. The text begins with the Return that leaves the cell.
    into("A6", "\n\t\t\t=SUM(D2:D6)\n");
    let rows: Vec<String> = (0..6).map(|n| format!("a{n}\tb{n}\tc{n}\n")).collect();
    into("A10", &rows.concat());
    keep(&server, app.pid);
    let cells = until("the sheet to be saved", || {
        let cells = sheet(&file);
        cells.contains_key(&(14, 2)).then_some(cells)
    });
    assert_eq!(
        cells.get(&(6, 3)).map(String::as_str),
        Some("15"),
        "{cells:?}"
    );
    assert_eq!(cells.get(&(6, 0)), None, "{cells:?}");
    for row in 0..6 {
        for (column, letter) in ["a", "b", "c"].into_iter().enumerate() {
            let text = cells.get(&(9 + row, column));
            assert_eq!(text, Some(&format!("{letter}{row}")), "{cells:?}");
        }
    }
}

#[test]
fn each_field_of_a_form_gets_its_own_text() {
    let (bed, server) = Bed::with_server();
    for toolkit in Toolkit::ALL {
        let app = bed.widgets(toolkit);
        server
            .fill(app.pid, "AXTextField", "Name", "alice\thush\tfirst\nsecond")
            .ok();
        let log = app.log();
        let last = |field: &str| {
            let line = log
                .iter()
                .rfind(|l| l.starts_with(&format!("text {field} ")));
            line.cloned().unwrap_or_default()
        };
        assert_eq!(last("Name"), "text Name alice", "{toolkit:?}: {log:?}");
        assert_eq!(last("Secret"), "text Secret hush", "{toolkit:?}: {log:?}");
        assert_eq!(
            last("Notes"),
            "text Notes first\\nsecond",
            "{toolkit:?}: {log:?}"
        );
    }
    let (app, page) = bed.chromium_widgets();
    server
        .fill(app.pid, "AXTextField", "Name", "alice\thush\tfirst\nsecond")
        .ok();
    for line in [
        "text Name alice",
        "text Secret hush",
        "text Notes first\\nsecond",
    ] {
        page.wait_for(line);
    }
}

#[test]
fn lines_arrive_in_a_document_and_in_a_terminal() {
    let (bed, server) = Bed::with_server();
    let lines: Vec<String> = (0..20).map(|n| format!("Line {n} of twenty.\n")).collect();
    let lines = lines.concat();
    let (app, file) = bed.writer(&["First"]);
    server.press_key(app.pid, "End", &["Control"]).ok();
    let text = format!("\n{lines}Last.");
    server.type_text(app.pid, &text).ok();
    keep(&server, app.pid);
    let document = until("the letter to be saved", || {
        let document = std::fs::read_to_string(&file).ok()?;
        document.contains("Last.").then_some(document)
    });
    let mut rest = document.as_str();
    for line in lines.lines().chain(["Last."]) {
        let at = rest.find(line);
        rest = &rest[at.unwrap_or_else(|| panic!("{line} is not in its place"))..];
    }
    drop(app);

    let app = bed.konsole();
    let kept = bed.path("kept.txt");
    let text = format!("cat > '{}'\n{lines}", kept.display());
    server.type_text(app.pid, &text).ok();
    until("the lines in the file", || {
        (std::fs::read_to_string(&kept).ok()? == lines).then_some(())
    });
}
