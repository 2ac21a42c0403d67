//! Rows that come into view in a list that is only partly read.

use deskline_testbed::{Answer, Bed};
use serde_json::json;

/// The texts of the diff's lines of this kind.
fn texts(answer: &Answer, kind: char) -> Vec<String> {
    let lines = answer.diff_lines().into_iter();
    lines
        .filter(|line| line.starts_with(kind))
        .filter_map(|line| Some(line.split('"').nth(1)?.to_owned()))
        .collect()
}

#[test]
fn a_row_that_is_inserted_into_a_long_list_is_reported() {
    let (bed, server) = Bed::with_server();
    let app = bed.rows();
    let call = |tool: &str, mut more: serde_json::Value| {
        more["pid"] = app.pid.into();
        server.call(tool, more).ok()
    };
    let rows = call("refresh_traversal", json!({}));
    assert!(rows.file().contains("# partial: "), "read whole: {rows}");
    let list = rows.line_of("AXList", "Rows").extents.unwrap().center();

    let added = call(
        "click_and_traverse",
        json!({"element": "Add", "role": "AXButton"}),
    );
    assert!(app.log().contains(&"inserted Row of mine".to_owned()));
    assert_eq!(
        texts(&added, '+'),
        ["Row of mine"],
        "{added}\n{}",
        added.file()
    );
    assert_eq!(texts(&added, '-'), [""; 0], "{added}");
    let listed = added.list("visible_elements");
    assert!(
        listed.iter().any(|line| line.contains("\"Row of mine\"")),
        "{added}"
    );

    // The row is hidden, at the other end of the list.
    let far = call(
        "click_and_traverse",
        json!({"element": "Append", "role": "AXButton"}),
    );
    assert!(app.log().contains(&"inserted Row at the end".to_owned()));
    assert_eq!(texts(&far, '+'), [""; 0], "{far}");

    let scroll = json!({"x": list.x, "y": list.y, "deltaY": 3});
    let scrolled = call("scroll_and_traverse", scroll);
    let reported = texts(&scrolled, '+');
    assert!(
        reported.iter().all(|text| text.starts_with("Row ")),
        "{reported:?}"
    );
    // The diff has exactly the rows that are visible now and were not before.
    let shows = |answer: &Answer| -> Vec<String> {
        let lines = answer.lines().into_iter();
        let rows = lines.filter(|line| line.visible && line.role.ax() == "AXRow");
        rows.map(|row| row.text.unwrap().shown).collect()
    };
    let before = shows(&far);
    let new: Vec<String> = shows(&scrolled)
        .into_iter()
        .filter(|text| !before.contains(text))
        .collect();
    assert!(!new.is_empty(), "nothing came into view: {scrolled}");
    assert_eq!(reported, new);
    assert_eq!(texts(&scrolled, '-'), [""; 0], "{scrolled}");
    let listed = scrolled.list("visible_elements");
    assert!(
        listed
            .iter()
            .any(|line| line.contains(&format!("\"{}\"", new[0]))),
        "{scrolled}"
    );
}
