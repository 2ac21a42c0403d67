//! `deskline replay`: a run as a regression test of an app.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::path::Path;
use std::process::{Command, Output};

use deskline_testbed::{Bed, deskline, has};
use serde_json::json;

/// A sum on the calculator, by texts, by a ref and by a point.
fn record(bed: &Bed) {
    let server = bed.server(&[]);
    let identifier = "org.gnome.Calculator";
    let opened = server.open(identifier);
    let pid = opened.ok().pid();
    let click = |target: serde_json::Value| {
        let mut arguments = json!({"pid": pid});
        let target = target.as_object().unwrap().clone();
        arguments.as_object_mut().unwrap().extend(target);
        server.call("click_and_traverse", arguments).ok()
    };
    let seven = click(json!({"element": "7", "role": "AXButton"}));
    let times = seven.line_of("AXButton", "×").reference.unwrap();
    click(json!({"ref": times.to_string()}));
    let six = seven.line_of("AXButton", "6").extents.unwrap();
    click(json!({"x": six.x, "y": six.y, "width": six.w, "height": six.h}));
    let sum = click(json!({"element": "=", "role": "AXButton"}));
    assert!(sum.text.contains("42"), "{sum}");
}

fn replay(run: &Path, more: &[&str]) -> (Output, String) {
    let output = Command::new(deskline())
        .args(["replay", "--desktop", "private=1280x800"])
        .arg(run)
        .args(more)
        .env_remove("DESKLINE_DIR")
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    (output, printed)
}

#[test]
fn a_run_is_done_again_and_a_difference_is_found() {
    let bed = Bed::new();
    record(&bed);
    let run = bed.journal();
    let (output, printed) = replay(&run, &[]);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(printed.matches("/5  same").count(), 5, "{printed}");
    assert!(printed.contains("5/5  same        Click “=”"), "{printed}");
    // The run's journal is unchanged.
    assert_eq!(bed.journal_lines().len(), 5);

    // If the sum differed, the replay would report it and stop there.
    let lines = bed.journal_lines();
    let third = lines[3]["files"]["text"].as_str().unwrap();
    let text = std::fs::read_to_string(third).unwrap();
    std::fs::write(third, text.replace("7×6", "7×8")).unwrap();
    let (output, printed) = replay(&run, &[]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(printed.contains("4/5  differs"), "{printed}");
    has(&printed, "missing: ~ [AXTextArea] \"7×8\"");
    assert!(printed.contains("new: ~ [AXTextArea] \"7×6\""), "{printed}");
    assert!(printed.contains("5/5  skipped"), "{printed}");
    let (output, printed) = replay(&run, &["--ignore", "7×[68]"]);
    assert!(output.status.success(), "{printed}");
}
