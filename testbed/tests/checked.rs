//! Toggling a check box or toggle button is in the diff, on every toolkit.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use deskline_testbed::{Bed, Client, Toolkit};
use serde_json::json;

/// Toggles an element; returns its lines of the diff, without the ref.
fn toggle(server: &Client, pid: u32, text: &str) -> Vec<String> {
    let arguments = json!({"pid": pid, "element": text});
    let answer = server.call("click_and_traverse", arguments).ok();
    let lines = answer.diff_lines().into_iter();
    lines
        .filter(|line| line.contains(&format!("\"{text}\"")) && line.contains("AXChecked"))
        .map(|line| line.split(" AXChecked: ").nth(1).unwrap().to_owned())
        .map(|change| {
            change
                .split([',', ' '])
                .take(3)
                .collect::<Vec<_>>()
                .join(" ")
        })
        .collect()
}

fn check(server: &Client, pid: u32, what: &str) {
    for text in ["Wrap", "Bold"] {
        assert_eq!(
            toggle(server, pid, text),
            ["false -> true"],
            "{what}: {text}"
        );
        assert_eq!(
            toggle(server, pid, text),
            ["true -> false"],
            "{what}: {text}"
        );
    }
}

#[test]
fn on_gtk_3_gtk_4_and_qt_5() {
    let bed = Bed::new();
    let server = bed.server(&[]);
    for toolkit in Toolkit::ALL {
        let app = bed.widgets(toolkit);
        check(&server, app.pid, &format!("{toolkit:?}"));
        let expected = [
            "checked Wrap true",
            "checked Wrap false",
            "toggled Bold true",
            "toggled Bold false",
        ];
        assert_eq!(app.log(), expected, "{toolkit:?}");
    }
}

#[test]
fn in_chromium() {
    let bed = Bed::new();
    let server = bed.server(&[]);
    let (app, _page) = bed.chromium_widgets();
    check(&server, app.pid, "Chromium");
}
