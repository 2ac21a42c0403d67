//! Changes in a long text.

use std::fmt::Write as _;

use deskline_testbed::{Bed, until};

#[test]
fn a_change_in_a_long_text_is_shown_as_an_excerpt() {
    let (bed, server) = Bed::with_server();
    let mut text = String::from("# Notes\n");
    for i in 0..25 {
        writeln!(text, "Line {i} of the notes.").unwrap();
    }
    let (app, file) = bed.mousepad(&text);
    let press = |key: &str| server.press_key(app.pid, key, &["Control"]).ok();
    press("End");
    let answer = server.type_text(app.pid, "LAST WORDS").ok();
    let changes = answer.list("text_changes");
    // The title and the status bar change too.
    let change = changes.iter().find(|line| line.ends_with("LAST WORDS'"));
    assert!(change.is_some_and(|c| c.starts_with("'…")), "{answer}");
    let lines = answer.diff_lines();
    let line = lines.iter().find(|line| line.contains("LAST WORDS"));
    let change = line.unwrap().split("AXValue: ").nth(1).unwrap();
    assert!(change.starts_with("\"…(+"), "{change}");
    assert!(change.contains("LAST WORDS\""), "{change}");
    press("s");
    until("the file to be saved", || {
        let saved = std::fs::read_to_string(&file).ok()?;
        saved.trim_end().ends_with("LAST WORDS").then_some(())
    });
}
