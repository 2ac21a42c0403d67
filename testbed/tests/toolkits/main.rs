//! Every tool on every toolkit, on all common widgets: one table.
//!
//! A cell is a call, and what the app then logs. If the toolkit refuses it, the table has the error that
//! the agent gets.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    missing_docs,
    unreachable_pub
)]

mod calc;
mod cells;

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use deskline_testbed::web::Page;
use deskline_testbed::{Answer, App, Bed, Client, Toolkit};
use serde_json::{Value, json};

use crate::cells::{COMBO, Cell, KEY, SET, cells};

/// How long an app's log may lag behind the answer: one turn of its event loop, or a page's request.
const LAG: Duration = Duration::from_millis(700);

/// An app with one of each widget.
struct Subject<'b> {
    app: App<'b>,
    page: Option<Page>,
    server: &'b Client,
    /// Qt's combo box has its choice as name; its own label is a relation.
    combo_has_no_name: bool,
}

impl Subject<'_> {
    fn log(&self) -> Vec<String> {
        self.page
            .as_ref()
            .map_or_else(|| self.app.full_log(), Page::full_log)
    }

    fn clear(&self) {
        match &self.page {
            Some(page) => page.clear_log(),
            None => self.app.clear_log(),
        }
    }

    /// Calls a tool with the app's pid, and with `element` and `role` if they are given.
    fn call(&self, tool: &str, target: &str, more: &Value) -> Answer {
        let mut arguments = json!({"pid": self.app.pid});
        if target == COMBO && self.combo_has_no_name {
            let choice = if tool == SET { "Medium" } else { "Small" };
            arguments["role"] = "AXComboBox".into();
            arguments["element"] = choice.into();
        } else if let Some((role, text)) = target.split_once(' ') {
            arguments["role"] = role.into();
            arguments["element"] = text.into();
        }
        for (name, value) in more.as_object().unwrap() {
            arguments[name] = value.clone();
        }
        self.server.call(tool, arguments)
    }
}

/// `✓`, `refused: …` with the agent's error, or what the app has logged instead.
fn try_cell(subject: &Subject<'_>, cell: &Cell) -> String {
    subject.clear();
    for (tool, target, more) in &cell.calls {
        let answer = subject.call(tool, target, more);
        if answer.is_error {
            // Close what an earlier call has opened: it would cover the next cell.
            subject.call(KEY, "", &json!({"keyName": "Escape"}));
            return format!("refused: {}", plain(answer.error()));
        }
    }
    let deadline = Instant::now() + LAG;
    loop {
        let log = subject.log();
        if log.iter().any(|line| line.starts_with(cell.logs)) {
            return "✓".into();
        }
        if Instant::now() > deadline {
            return format!("WRONG: the app says {log:?}");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// An error with its numbers masked, as they differ between runs.
fn plain(error: &str) -> String {
    let mut out = String::new();
    let mut digits = false;
    for c in error.chars() {
        if c.is_ascii_digit() {
            if !digits {
                out.push('N');
            }
            digits = true;
        } else {
            digits = false;
            out.push(c);
        }
    }
    out
}

/// Tests scroll, which takes a point, and the two tools that only read.
fn look(subject: &Subject<'_>, table: &mut Vec<(String, String)>) {
    let opened = subject.call("refresh_traversal", "", &json!({})).ok();
    let missing: Vec<&str> = [
        "OK", "Bold", "Wrap", "Red", "Size", "File", "Volume", "Name", "Row 1", "Item 1", "First",
    ]
    .into_iter()
    .filter(|text| !(*text == "Size" && subject.combo_has_no_name))
    .filter(|text| !opened.find("AX", text).is_some_and(|line| line.visible))
    .collect();
    let seen = if missing.is_empty() {
        "✓".into()
    } else {
        format!("WRONG: not visible: {missing:?}")
    };
    table.push(("refresh, all widgets".into(), seen));

    subject.clear();
    // The list may be as tall as all of its rows: use its visible top.
    let list = opened.line_of("AXList", "Rows").extents.unwrap();
    let place = json!({"x": list.x + 20, "y": list.y + 40, "deltaY": 5});
    let answer = subject.call("scroll_and_traverse", "", &place);
    let deadline = Instant::now() + LAG;
    let scrolled = || subject.log().iter().any(|l| l.starts_with("scrolled Rows"));
    while !scrolled() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(10));
    }
    let outcome = match (answer.is_error, scrolled()) {
        (true, _) => format!("refused: {}", plain(answer.error())),
        (false, true) => "✓".into(),
        (false, false) => format!("WRONG: the app says {:?}", subject.log()),
    };
    table.push(("scroll, list".into(), outcome));
    let back = json!({"x": list.x + 20, "y": list.y + 40, "deltaY": -50});
    subject.call("scroll_and_traverse", "", &back);

    let name = opened.field("app").to_owned();
    let answer = subject
        .server
        .call("open_application_and_traverse", json!({"identifier": name}));
    let outcome = match answer.is_error {
        true => format!("refused: {}", plain(answer.error())),
        false if answer.pid() == subject.app.pid => "✓".into(),
        false => format!("WRONG: {answer}"),
    };
    table.push(("open, running app".into(), outcome));
}

fn column(subject: &Subject<'_>) -> Vec<(String, String)> {
    let mut column = Vec::new();
    look(subject, &mut column);
    for cell in cells() {
        column.push((cell.name.into(), try_cell(subject, &cell)));
    }
    column
}

fn render(title: &str, column: &[(String, String)]) -> String {
    let mut text = format!("{title}\n");
    for (name, outcome) in column {
        writeln!(text, "  {name:<26}{outcome}").unwrap();
    }
    text
}

fn run(toolkit: Toolkit) -> String {
    let bed = Bed::new();
    let server = bed.server(&[]);
    let subject = Subject {
        app: bed.widgets(toolkit),
        page: None,
        server: &server,
        combo_has_no_name: toolkit == Toolkit::Qt5,
    };
    let table = render(&format!("{toolkit:?}"), &column(&subject));
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
      press, button             ✓
      press, toggle             ✓
      press, check box          ✓
      press, radio button       ✓
      press, tab                refused: 'Third' [AXTab] refused press_ax: it has no action. Use click_and_traverse with its ref
      press, menu item          ✓
      select, list row          ✓
      select, table row         ✓
      select, tab               ✓
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
      set value, combo box      refused: 'Size' [AXComboBox] refused set_value: it has no value that accessibility can set, or no choice of that name. Use click_and_traverse on it with text (select what is there first: doubleClick, or Control+A)
      press, button             ✓
      press, toggle             ✓
      press, check box          refused: 'Wrap' [AXCheckBox] refused press_ax: it has no action. Use click_and_traverse with its ref
      press, radio button       refused: 'Blue' [AXCheckBox] refused press_ax: it has no action. Use click_and_traverse with its ref
      press, tab                refused: 'Third' [AXTab] refused press_ax: it has no action. Use click_and_traverse with its ref
      press, menu item          refused: no element matches 'Close' with role AXMenuItem. Nearest: "File" [AXMenuBarItem] #eN, "Edit" [AXMenuBarItem] #eN. Nothing was touched. Search the file of this answer
      select, list row          ✓
      select, table row         ✓
      select, tab               ✓
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
      set value, combo box      refused: 'Medium' [AXComboBox] refused set_value: it has no value that accessibility can set, or no choice of that name. Use click_and_traverse on it with text (select what is there first: doubleClick, or Control+A)
      press, button             ✓
      press, toggle             ✓
      press, check box          ✓
      press, radio button       ✓
      press, tab                refused: 'Third' [AXTab] refused press_ax: the app took the action and the tab was not selected. Use click_and_traverse with its ref
      press, menu item          ✓
      select, list row          ✓
      select, table row         ✓
      select, tab               refused: 'First' [AXTab] refused set_selected: what it is in has no selection that accessibility can change. Use click_and_traverse with its ref; for a check box or radio button use press_ax_and_traverse
    "#);
}

#[test]
fn chromium() {
    let bed = Bed::new();
    let server = bed.server(&[]);
    let (app, page) = bed.chromium_widgets();
    let subject = Subject {
        app,
        page: Some(page),
        server: &server,
        combo_has_no_name: false,
    };
    let table = render("Chromium", &column(&subject));
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
      set value, text field     refused: 'Name Ω£ "q"' [AXTextField] refused set_value: it has no value that accessibility can set, or no choice of that name. Use click_and_traverse on it with text (select what is there first: doubleClick, or Control+A)
      set value, text area      refused: 'Notes a漢' [AXTextArea] refused set_value: it has no value that accessibility can set, or no choice of that name. Use click_and_traverse on it with text (select what is there first: doubleClick, or Control+A)
      set value, slider         ✓
      set value, spin button    ✓
      set value, combo box      ✓
      press, button             ✓
      press, toggle             ✓
      press, check box          ✓
      press, radio button       ✓
      press, tab                ✓
      press, menu item          refused: no element matches 'Close' with role AXMenuItem. Nearest: "Large" [AXMenuItem] #eN, "Small" [AXMenuItem] #eN, "Medium" [AXMenuItem] #eN. Nothing was touched. Search the file of this answer
      select, list row          ✓
      select, table row         refused: 'Item N' [AXCell] refused set_selected: what it is in has no selection that accessibility can change. Use click_and_traverse with its ref; for a check box or radio button use press_ax_and_traverse
      select, tab               refused: 'First' [AXTab] refused set_selected: what it is in has no selection that accessibility can change. Use click_and_traverse with its ref; for a check box or radio button use press_ax_and_traverse
    "#);
}
