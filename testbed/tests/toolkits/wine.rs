//! Qt 6 for Windows, by `deskline.exe` under Wine.

use std::path::PathBuf;

use deskline_testbed::table::{Subject, driven, whole_column_in_time};
use deskline_testbed::{Wine, until};
use serde_json::json;

use crate::exceptions;

/// The folder that `scripts/windows` has made.
fn made() -> Option<PathBuf> {
    let made = std::env::var_os("DESKLINE_WINDOWS");
    if made.is_none() {
        eprintln!("skipped: DESKLINE_WINDOWS is not set (scripts/test sets it)");
    }
    made.map(PathBuf::from)
}

#[test]
fn every_tool_works_or_is_refused_on_qt_6() {
    let Some(made) = made() else { return };
    let wine = Wine::start(&made);
    let app = wine.pid_of("python", "");
    let person = wine.pid_of("notepad", ") front ");
    let subject = Subject {
        areas_are_fields: true,
        ..Subject::new(app, &wine, Some(person), &wine.server)
    };
    let cells = whole_column_in_time(&subject);
    insta::assert_snapshot!(exceptions("Qt 6 under Wine", &cells), @r#"
    Qt 6 under Wine
      set value, combo box      refused: 'Size' [AXComboBox] refused set_value: its app does not let accessibility change its choice. Use click_and_traverse on it with choose
      press, menu item          refused: no element matches 'Close' with role AXMenuItem. Nearest: "File" [AXMenuBarItem] #eN, "Edit" [AXMenuBarItem] #eN. Nothing was touched. The tree is partial: elements that are hidden or out of view may be missing. Scroll to them or open their container, or search the file of this answer
    "#);
    driven::note("Qt 6.8", "Wine 10", &cells);
}

#[test]
fn a_private_desktop_takes_quiet_actions_alone() {
    let Some(made) = made() else { return };
    let wine = Wine::private(&made);
    let server = &wine.server;
    let apps = server.applications().ok();
    assert!(apps.text.contains("0 running apps"), "{apps}");
    let own = json!({"identifier": wine.own()});
    let pid = server.call("open_application_and_traverse", own).ok().pid();
    assert_eq!(wine.pid_of("python", ""), pid);

    let logs = |line: &str| {
        until(line, || {
            wine.log("own").contains(&line.to_owned()).then_some(())
        });
    };
    let press = json!({"pid": pid, "element": "OK", "role": "AXButton"});
    server.call("press_ax_and_traverse", press.clone()).ok();
    logs("clicked OK");
    server.set_value(pid, "AXTextField", "Name", "quiet").ok();
    logs("text Name quiet");
    let select = json!({"pid": pid, "element": "Row 5"});
    server.call("set_selected_and_traverse", select).ok();
    logs("selected Row 5");

    // No input was sent, and nothing has changed for the person.
    for (tool, more) in [
        ("click_and_traverse", press),
        ("type_and_traverse", json!({"pid": pid, "text": "x"})),
        (
            "type_and_traverse",
            json!({"pid": pid, "text": "x", "paste": true}),
        ),
    ] {
        let refused = server.call(tool, more);
        assert!(refused.error().contains("private desktop"), "{refused}");
    }
    let own = wine.log("own");
    wine.person(&["key", "m"]);
    until("the person's key", || {
        wine.log("log").contains(&"key M".to_owned()).then_some(())
    });
    assert_eq!(wine.log("log"), ["ready", "key M"]);
    assert_eq!(wine.log("own"), own);
}
