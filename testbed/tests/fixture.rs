//! The testbed itself: its tools work, and a bed leaves nothing behind.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::process::Command;

use deskline_testbed::{Bed, Toolkit, oracle, until};

/// The processes that have `mark` in their environment.
fn runs_with(mark: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let environment = std::fs::read(entry.path().join("environ")).unwrap_or_default();
        if String::from_utf8_lossy(&environment).contains(mark) {
            found.push(std::fs::read_to_string(entry.path().join("comm")).unwrap_or_default());
        }
    }
    found
}

#[test]
fn every_test_app_comes_up_and_logs_a_click() {
    let (bed, server) = Bed::with_server();
    for toolkit in Toolkit::ALL {
        let app = bed.widgets(toolkit);
        assert_eq!(app.log(), [""; 0], "{toolkit:?}");
        let answer = server.click(app.pid, "AXButton", "OK");
        assert!(!answer.is_error, "{toolkit:?}: {answer}");
        assert_eq!(app.log(), ["clicked OK"], "{toolkit:?}: {answer}");
        assert!(answer.line_of("AXButton", "OK").visible);
    }
    assert_eq!(bed.journal_lines().len(), 3);
}

#[test]
fn the_oracles_see_the_apps_elements() {
    let bed = Bed::new();
    let app = bed.widgets(Toolkit::Gtk3).at(1010, 250);
    let (x, y, ..) = app.window.bounds;
    assert!((x - 1010).abs() < 64 && (y - 250).abs() < 64, "{x},{y}");
    let boxes = oracle::find(&bed, app.pid, "check box", "Wrap");
    assert!(boxes.len() == 1 && !boxes[0].is("checked"), "{boxes:?}");
    bed.screen().move_pointer(5, 6);
    assert_eq!(bed.screen().pointer(), (5, 6));
    assert_eq!(bed.screen().pressed(), (vec![], 0));
    assert_eq!(bed.screen().windows_of(app.pid).len(), 1);
}

#[test]
fn a_bed_leaves_nothing_behind() {
    let (folder, mark);
    {
        let bed = Bed::new();
        let _app = bed.widgets(Toolkit::Gtk3);
        let _server = bed.server(&[]);
        folder = bed.folder().to_owned();
        mark = bed.environment()["XDG_RUNTIME_DIR"].clone();
        assert!(runs_with(&mark).len() > 5);
    }
    assert!(!folder.exists());
    assert_eq!(runs_with(&mark), [""; 0]);
}

/// A killed test leaves only the folder with its files.
#[test]
fn no_process_outlives_a_killed_test() {
    const CHILD: &str = "TESTBED_KILLED_CHILD";
    if let Some(tell) = std::env::var_os(CHILD) {
        let bed = Bed::new();
        let _app = bed.widgets(Toolkit::Gtk3);
        let mark = &bed.environment()["XDG_RUNTIME_DIR"];
        std::fs::write(tell, mark).unwrap();
        std::thread::park();
    }
    let reported = tempfile::NamedTempFile::new().unwrap();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "no_process_outlives_a_killed_test"])
        .env(CHILD, reported.path())
        .env("DESKLINE_BIN", deskline_testbed::deskline())
        .spawn()
        .unwrap();
    let mark = until("the child's bed", || {
        let mark = std::fs::read_to_string(reported.path()).unwrap();
        (!mark.is_empty()).then_some(mark)
    });
    child.kill().unwrap();
    child.wait().unwrap();
    until("the end of the child's bed", || runs_with(&mark).is_empty());
}
