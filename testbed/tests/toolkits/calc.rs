//! `LibreOffice` Calc.

use deskline_testbed::Bed;
use deskline_testbed::table::{Subject, calc, driven};

use super::exceptions;

#[test]
fn every_tool_works_or_is_refused_on_calc() {
    let (bed, server) = Bed::with_server();
    let (app, file) = bed.calc(&[&["apple", "3"], &["pear", "4"]]);
    let (person, _) = bed.mousepad("");
    let subject = Subject::new(app.pid, &app, Some(person.pid), &server);
    let cells = calc::column(&subject, &file);
    insta::assert_snapshot!(exceptions("LibreOffice Calc", &cells), @r#"
    LibreOffice Calc
      press, outdated item      refused: 'Redo' [AXMenuItem] refused press_ax: it is disabled. This may be its state from when its menu was last open. Open the menu, or enable it first
      press, tab                refused: 'Prices' [AXTab] refused press_ax: it has no action. Use click_and_traverse with its ref
    "#);
    driven::note("LibreOffice Calc", "X11", &cells);
}
