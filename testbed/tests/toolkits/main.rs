//! Every tool on every toolkit of Debian 12: see `deskline_testbed::table`.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod calc;
mod wine;

use deskline_testbed::table::{Subject, column_in_time, driven, render};
use deskline_testbed::{Bed, Toolkit};

type Cells = Vec<(String, String)>;

fn run(toolkit: Toolkit) -> Cells {
    let (bed, server) = Bed::with_server();
    let app = bed.widgets(toolkit);
    let (person, _) = bed.mousepad("");
    let subject = Subject {
        combo_has_no_name: toolkit == Toolkit::Qt5,
        ..Subject::new(app.pid, &app, Some(person.pid), &server)
    };
    column_in_time(&subject)
}

/// The table's name, and its rows that are refused.
fn exceptions(name: &str, cells: &Cells) -> String {
    let table = render(name, cells);
    println!("{table}");
    let rows = table.lines().filter(|row| !row.ends_with('✓'));
    rows.collect::<Vec<_>>().join("\n")
}

#[test]
fn every_tool_works_or_is_refused_on_gtk_3() {
    let cells = run(Toolkit::Gtk3);
    insta::assert_snapshot!(exceptions("Gtk3", &cells), @r#"
    Gtk3
      press, tab                refused: 'Third' [AXTab] refused press_ax: it has no action. Use click_and_traverse with its ref
    "#);
    driven::note(Toolkit::Gtk3.version(true), "X11", &cells);
}

#[test]
fn every_tool_works_or_is_refused_on_gtk_4() {
    let cells = run(Toolkit::Gtk4);
    insta::assert_snapshot!(exceptions("Gtk4", &cells), @r#"
    Gtk4
      set value, combo box      refused: 'Size' [AXComboBox] refused set_value: accessibility lists no choice "Large" in it. Use click_and_traverse on it with choose
      press, check box          refused: 'Wrap' [AXCheckBox] refused press_ax: it has no action. Use click_and_traverse with its ref
      press, radio button       refused: 'Blue' [AXCheckBox] refused press_ax: it has no action. Use click_and_traverse with its ref
      press, tab                refused: 'Third' [AXTab] refused press_ax: it has no action. Use click_and_traverse with its ref
      press, menu item          refused: no element matches 'Close' with role AXMenuItem. Nearest: "File" [AXMenuBarItem] #eN, "Edit" [AXMenuBarItem] #eN. Nothing was touched. Search the file of this answer
    "#);
    driven::note(Toolkit::Gtk4.version(true), "X11", &cells);
}

#[test]
fn every_tool_works_or_is_refused_on_qt_5() {
    let cells = run(Toolkit::Qt5);
    insta::assert_snapshot!(exceptions("Qt5", &cells), @r#"
    Qt5
      set value, combo box      refused: 'Medium' [AXComboBox] refused set_value: accessibility lists no choice "Large" in it. Use click_and_traverse on it with choose
      select, tab               refused: 'First' [AXTab] refused set_selected: its container has no selection that accessibility can change. Use click_and_traverse with its ref; for a check box or radio button use press_ax_and_traverse
    "#);
    driven::note(Toolkit::Qt5.version(true), "X11", &cells);
}

#[test]
fn every_tool_works_or_is_refused_on_chromium() {
    let (bed, server) = Bed::with_server();
    let (app, page) = bed.chromium_widgets();
    let (person, _) = bed.mousepad("");
    let subject = Subject::new(app.pid, &page, Some(person.pid), &server);
    let cells = column_in_time(&subject);
    insta::assert_snapshot!(exceptions("Chromium", &cells), @r#"
    Chromium
      set value, text field     refused: 'Name' [AXTextField] refused set_value: its app does not let accessibility set its text. Use click_and_traverse on it with text (select what is there first: doubleClick, or Control+A)
      set value, text area      refused: 'Notes' [AXTextArea] refused set_value: its app does not let accessibility set its text. Use click_and_traverse on it with text (select what is there first: doubleClick, or Control+A)
      press, menu item          refused: no element matches 'Close' with role AXMenuItem. Nearest: "Close" [AXButton] #eN, "File" [AXButton] #eN, "Late" [AXButton] #eN. Nothing was touched. Search the file of this answer
      select, table row         refused: 'Item N' [AXCell] refused set_selected: its container has no selection that accessibility can change. Use click_and_traverse with its ref; for a check box or radio button use press_ax_and_traverse
      select, tab               refused: 'First' [AXTab] refused set_selected: its container has no selection that accessibility can change. Use click_and_traverse with its ref; for a check box or radio button use press_ax_and_traverse
    "#);
    driven::note("Chromium", "X11", &cells);
}
