//! `deskline demo`: its note is saved by the editor, and its calls are in its journal.
#![allow(clippy::unwrap_used)]

use std::process::Command;

use deskline_testbed::deskline;

#[test]
fn the_demo_saves_its_note() {
    let output = Command::new(deskline()).arg("demo").output().unwrap();
    let out = String::from_utf8_lossy(&output.stdout);
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{out}\n{err}");
    let note = std::fs::read_to_string("/tmp/deskline-demo/note.txt").unwrap();
    assert_eq!(note, "7 × 6 = 42\n");
    assert!(out.contains("'7×6' -> '42'"), "{out}");
    let mut log = Command::new(deskline());
    let log = log.args(["--dir", "/tmp/deskline-demo/journal", "log", "--json"]);
    let lines = String::from_utf8(log.output().unwrap().stdout).unwrap();
    assert_eq!(lines.lines().count(), 7, "{lines}");
}
