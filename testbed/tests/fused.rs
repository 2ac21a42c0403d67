//! A click with a text and a key is one link: one line in the journal, one diff.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use deskline_testbed::{Bed, Toolkit};
use serde_json::json;

#[test]
fn click_type_and_press_is_one_link_with_one_diff() {
    let bed = Bed::new();
    let server = bed.server(&[]);
    for toolkit in Toolkit::ALL {
        let app = bed.widgets(toolkit);
        let lines = bed.journal_lines().len();
        let answer = server.call(
            "click_and_traverse",
            json!({"pid": app.pid, "element": "Name", "role": "AXTextField",
                   "text": "Hé 漢😀", "pressKey": "Return"}),
        );
        let answer = answer.ok();
        let log = app.log();
        assert!(
            log.iter().any(|l| l == "text Name Hé 漢😀"),
            "{toolkit:?}: {log:?}"
        );
        assert_eq!(log.last().unwrap(), "activated Name", "{toolkit:?}");
        assert_eq!(bed.journal_lines().len(), lines + 1, "{toolkit:?}");
        let file = answer.file();
        assert_eq!(file.matches("# diff:").count(), 1, "{toolkit:?}");
        let diff = answer.diff_lines();
        let changed = diff
            .iter()
            .filter(|l| l.contains("AXValue: \"\" -> \"Hé 漢😀\""));
        assert_eq!(changed.count(), 1, "{toolkit:?}: {diff:#?}");
        assert_eq!(
            answer.list("text_changes"),
            ["'' -> 'Hé 漢😀'"],
            "{toolkit:?}"
        );
        let summary = answer.field("summary");
        assert!(
            summary.contains("typed 'Hé 漢😀'") && summary.contains("Return"),
            "{summary}"
        );
    }
}

#[test]
fn a_password_is_in_no_file() {
    let bed = Bed::new();
    let server = bed.server(&[]);
    for toolkit in Toolkit::ALL {
        let app = bed.widgets(toolkit);
        let secret = format!("hunter2{toolkit:?}");
        let answer = server.call(
            "click_and_traverse",
            json!({"pid": app.pid, "element": "Secret", "role": "AXTextField", "text": secret}),
        );
        let answer = answer.ok();
        let typed = format!("text Secret {secret}");
        assert!(app.log().contains(&typed), "{toolkit:?}: {:?}", app.log());
        assert!(!answer.text.contains(&secret), "{toolkit:?}: {answer}");
        for entry in std::fs::read_dir(bed.journal()).unwrap() {
            let path = entry.unwrap().path();
            let content = std::fs::read(&path).unwrap_or_default();
            let leaked = content
                .windows(secret.len())
                .any(|w| w == secret.as_bytes());
            assert!(!leaked, "{toolkit:?}: {}", path.display());
        }
    }
}
