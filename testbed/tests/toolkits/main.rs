//! Every tool on every toolkit of Debian 12: see `deskline_testbed::table`.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod calc;

use deskline_testbed::table::{Subject, column_in_time, render};
use deskline_testbed::{Bed, Toolkit};

fn run(toolkit: Toolkit) -> String {
    let bed = Bed::new();
    let server = bed.server(&[]);
    let app = bed.widgets(toolkit);
    let (person, _) = bed.mousepad("");
    let subject = Subject {
        combo_has_no_name: toolkit == Toolkit::Qt5,
        ..Subject::new(app.pid, &app, Some(person.pid), &server)
    };
    let table = render(&format!("{toolkit:?}"), &column_in_time(&subject));
    println!("{table}");
    table
}

#[test]
fn gtk_3() {
    insta::assert_snapshot!(run(Toolkit::Gtk3), @r#"
    Gtk3
      refresh, all widgets      ✓
      scroll, list              ✓
      open, running app         ✓
      click, button             ✓
      click, toggle             ✓
      click, check box          ✓
      click, radio button       ✓
      click, combo box          ✓
      click, menu               ✓
      click, slider             ✓
      click, text field         ✓
      click, text area          ✓
      click, list row           ✓
      click, table row          ✓
      click, tab                ✓
      double click, table row   ✓
      right click               ✓
      type, text field          ✓
      press key, text field     ✓
      set value, text field     ✓
      set value, text area      ✓
      set value, slider         ✓
      set value, spin button    ✓
      set value, combo box      ✓
      choose, combo box         ✓
      press, button             ✓
      press, toggle             ✓
      press, check box          ✓
      press, radio button       ✓
      press, tab                refused: 'Third' [AXTab] refused press_ax: it has no action. Use click_and_traverse with its ref
      press, menu item          ✓
      select, list row          ✓
      select, table row         ✓
      select, tab               ✓
      late changes              ✓
    "#);
}

#[test]
fn gtk_4() {
    insta::assert_snapshot!(run(Toolkit::Gtk4), @r#"
    Gtk4
      refresh, all widgets      ✓
      scroll, list              ✓
      open, running app         ✓
      click, button             ✓
      click, toggle             ✓
      click, check box          ✓
      click, radio button       ✓
      click, combo box          ✓
      click, menu               ✓
      click, slider             ✓
      click, text field         ✓
      click, text area          ✓
      click, list row           ✓
      click, table row          ✓
      click, tab                ✓
      double click, table row   ✓
      right click               ✓
      type, text field          ✓
      press key, text field     ✓
      set value, text field     ✓
      set value, text area      ✓
      set value, slider         ✓
      set value, spin button    ✓
      set value, combo box      refused: 'Size' [AXComboBox] refused set_value: none of the choices that accessibility lists in it is "Large". Use click_and_traverse on it with choose
      choose, combo box         ✓
      press, button             ✓
      press, toggle             ✓
      press, check box          refused: 'Wrap' [AXCheckBox] refused press_ax: it has no action. Use click_and_traverse with its ref
      press, radio button       refused: 'Blue' [AXCheckBox] refused press_ax: it has no action. Use click_and_traverse with its ref
      press, tab                refused: 'Third' [AXTab] refused press_ax: it has no action. Use click_and_traverse with its ref
      press, menu item          refused: no element matches 'Close' with role AXMenuItem. Nearest: "File" [AXMenuBarItem] #eN, "Edit" [AXMenuBarItem] #eN. Nothing was touched. Search the file of this answer
      select, list row          ✓
      select, table row         ✓
      select, tab               ✓
      late changes              ✓
    "#);
}

#[test]
fn qt_5() {
    insta::assert_snapshot!(run(Toolkit::Qt5), @r#"
    Qt5
      refresh, all widgets      ✓
      scroll, list              ✓
      open, running app         ✓
      click, button             ✓
      click, toggle             ✓
      click, check box          ✓
      click, radio button       ✓
      click, combo box          ✓
      click, menu               ✓
      click, slider             ✓
      click, text field         ✓
      click, text area          ✓
      click, list row           ✓
      click, table row          ✓
      click, tab                ✓
      double click, table row   ✓
      right click               ✓
      type, text field          ✓
      press key, text field     ✓
      set value, text field     ✓
      set value, text area      ✓
      set value, slider         ✓
      set value, spin button    ✓
      set value, combo box      refused: 'Medium' [AXComboBox] refused set_value: none of the choices that accessibility lists in it is "Large". Use click_and_traverse on it with choose
      choose, combo box         ✓
      press, button             ✓
      press, toggle             ✓
      press, check box          ✓
      press, radio button       ✓
      press, tab                ✓
      press, menu item          ✓
      select, list row          ✓
      select, table row         ✓
      select, tab               refused: 'First' [AXTab] refused set_selected: what it is in has no selection that accessibility can change. Use click_and_traverse with its ref; for a check box or radio button use press_ax_and_traverse
      late changes              ✓
    "#);
}

#[test]
fn chromium() {
    let bed = Bed::new();
    let server = bed.server(&[]);
    let (app, page) = bed.chromium_widgets();
    let (person, _) = bed.mousepad("");
    let subject = Subject::new(app.pid, &page, Some(person.pid), &server);
    let table = render("Chromium", &column_in_time(&subject));
    println!("{table}");
    insta::assert_snapshot!(table, @r#"
    Chromium
      refresh, all widgets      ✓
      scroll, list              ✓
      open, running app         ✓
      click, button             ✓
      click, toggle             ✓
      click, check box          ✓
      click, radio button       ✓
      click, combo box          ✓
      click, menu               ✓
      click, slider             ✓
      click, text field         ✓
      click, text area          ✓
      click, list row           ✓
      click, table row          ✓
      click, tab                ✓
      double click, table row   ✓
      right click               ✓
      type, text field          ✓
      press key, text field     ✓
      set value, text field     refused: 'Name' [AXTextField] refused set_value: its app does not let accessibility set its text. Use click_and_traverse on it with text (select what is there first: doubleClick, or Control+A)
      set value, text area      refused: 'Notes' [AXTextArea] refused set_value: its app does not let accessibility set its text. Use click_and_traverse on it with text (select what is there first: doubleClick, or Control+A)
      set value, slider         ✓
      set value, spin button    ✓
      set value, combo box      ✓
      choose, combo box         ✓
      press, button             ✓
      press, toggle             ✓
      press, check box          ✓
      press, radio button       ✓
      press, tab                ✓
      press, menu item          refused: no element matches 'Close' with role AXMenuItem. Nearest: "Large" [AXMenuItem] #eN, "Small" [AXMenuItem] #eN, "Medium" [AXMenuItem] #eN. Nothing was touched. Search the file of this answer
      select, list row          ✓
      select, table row         refused: 'Item N' [AXCell] refused set_selected: what it is in has no selection that accessibility can change. Use click_and_traverse with its ref; for a check box or radio button use press_ax_and_traverse
      select, tab               refused: 'First' [AXTab] refused set_selected: what it is in has no selection that accessibility can change. Use click_and_traverse with its ref; for a check box or radio button use press_ax_and_traverse
      late changes              ✓
    "#);
}
