//! `LibreOffice` Calc.

use deskline_testbed::Bed;
use deskline_testbed::table::{Subject, calc, render};

#[test]
fn libreoffice_calc() {
    let bed = Bed::new();
    let server = bed.server(&[]);
    let (app, file) = bed.calc(&[&["apple", "3"], &["pear", "4"]]);
    let (person, _) = bed.mousepad("");
    let subject = Subject::new(app.pid, &app, Some(person.pid), &server);
    let table = render("LibreOffice Calc", &calc::column(&subject, &file));
    println!("{table}");
    insta::assert_snapshot!(table, @r#"
    LibreOffice Calc
      refresh, all widgets      ✓
      scroll, sheet             ✓
      open, running app         ✓
      click, table cell         ✓
      double click, table cell  ✓
      type, table cell          ✓
      press key, table cell     ✓
      set value, table cell     ✓
      click, toggle             ✓
      press, toggle             ✓
      click, menu               ✓
      press, outdated item      refused: 'Redo' [AXMenuItem] refused press_ax: it is disabled. It may be of when its menu was last open: open the menu, or do first what enables it
      press, menu item          ✓
      select, table cell        ✓
      click, text field         ✓
      press, closed menu's item ✓
      press, tab                refused: 'Prices' [AXTab] refused press_ax: it has no action. Use click_and_traverse with its ref
      select, tab               ✓
    "#);
}
