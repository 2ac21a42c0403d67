//! A series of links on a private desktop, as an agent would make them: a sum on the calculator, a note
//! in an editor, saved through its file dialog. Prints what the model would see.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::path::{Path, PathBuf};
use std::process::Command;

use deskline_testbed::{Answer, Client, deskline};
use serde_json::{Value, json};

/// The demo leaves its files here.
const FOLDER: &str = "/tmp/deskline-demo";

fn main() {
    let folder = Path::new(FOLDER);
    if folder.exists() {
        std::fs::remove_dir_all(folder).expect("the folder of an earlier demo");
    }
    std::fs::create_dir(folder).expect("a folder in /tmp");
    let journal = folder.join("journal");
    let mut serve = Command::new(deskline());
    serve
        .args(["serve", "--desktop", "private=1280x800", "--dir"])
        .arg(&journal);
    let server = Client::start(serve);

    let calculator = link(
        &server,
        "open_application_and_traverse",
        json!({"identifier": "org.gnome.Calculator"}),
    );
    let pid = calculator.pid();
    for key in ["7", "×", "6"] {
        link(
            &server,
            "click_and_traverse",
            json!({"pid": pid, "element": key, "role": "AXButton"}),
        );
    }
    let product = link(
        &server,
        "click_and_traverse",
        json!({"pid": pid, "element": "=", "role": "AXButton"}),
    );
    assert!(
        product.text.contains("42"),
        "7 × 6 is 42, and the diff says so"
    );

    let note = folder.join("note.txt");
    let editor = link(
        &server,
        "open_application_and_traverse",
        json!({"identifier": "mousepad"}),
    );
    let pid = editor.pid();
    link(
        &server,
        "type_and_traverse",
        json!({"pid": pid, "text": "7 × 6 = 42\n"}),
    );
    link(
        &server,
        "press_key_and_traverse",
        json!({"pid": pid, "keyName": "s", "modifierFlags": ["Control"]}),
    );
    link(
        &server,
        "type_and_traverse",
        json!({"pid": pid, "text": note.to_str(), "pressKey": "Return"}),
    );
    link(
        &server,
        "wait_for_and_traverse",
        json!({"pid": pid, "element": "Save As", "role": "AXWindow", "state": "absent"}),
    );
    let saved = std::fs::read_to_string(&note).expect("the editor has saved the note");
    assert_eq!(saved, "7 × 6 = 42\n");
    println!("\n$ cat {}\n{saved}", note.display());
    show_files(&journal);
}

/// Calls a tool, and prints the answer as the model sees it.
fn link(server: &Client, tool: &str, arguments: Value) -> Answer {
    println!("\n▸ {tool} {arguments}");
    let answer = server.call(tool, arguments);
    for line in answer.text.lines() {
        println!("  {line}");
    }
    assert!(!answer.is_error, "{tool} failed");
    answer
}

/// Lists the journal's files, and prints the newest diff.
fn show_files(journal: &Path) {
    let mut files: Vec<PathBuf> = std::fs::read_dir(journal)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    println!("$ ls -s {}", journal.display());
    for file in &files {
        let size = file.metadata().unwrap().len().div_ceil(1024);
        println!("{size:5}K {}", file.file_name().unwrap().to_string_lossy());
    }
    let newest = files
        .iter()
        .rev()
        .find(|f| f.extension().is_some_and(|e| e == "txt"))
        .unwrap();
    println!("\n$ grep '^[+~-] ' {}", newest.display());
    let tree = std::fs::read_to_string(newest).unwrap();
    for line in tree
        .lines()
        .filter(|l| l.starts_with(['+', '~', '-']))
        .take(12)
    {
        println!("{line}");
    }
}
