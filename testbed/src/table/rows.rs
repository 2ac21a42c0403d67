//! Compares a table of a page of docs/ with the results of a test.

use std::path::{Path, PathBuf};

/// The table below the line `head` has exactly these rows, or gets them if `DESKLINE_WRITE` is set.
///
/// # Panics
/// If the page has no such table, or one with other rows.
pub fn hold(page: &str, head: &str, rows: &[String]) {
    let is = known(page, head);
    if is == rows {
        return;
    }
    assert!(
        std::env::var_os("DESKLINE_WRITE").is_some(),
        "docs/{page} has another table than\n{}\nDESKLINE_WRITE=1 writes it",
        rows.join("\n")
    );
    let path = path_of(page);
    let text = std::fs::read_to_string(&path).unwrap();
    let (before, table) = text.split_once(&format!("{head}\n")).unwrap();
    let (rule, table) = table.split_once('\n').unwrap();
    let after: Vec<&str> = table.lines().skip(is.len()).collect();
    let (rows, after) = (rows.join("\n"), after.join("\n"));
    std::fs::write(&path, format!("{before}{head}\n{rule}\n{rows}\n{after}\n")).unwrap();
}

/// The rows of the table below the line `head`.
///
/// # Panics
/// If the page has no such table.
#[must_use]
pub fn known(page: &str, head: &str) -> Vec<String> {
    let text = std::fs::read_to_string(path_of(page)).unwrap();
    let (_, table) = text.split_once(&format!("{head}\n")).unwrap();
    let rows = table.lines().skip(1);
    let rows = rows.take_while(|line| line.starts_with('|'));
    rows.map(str::to_owned).collect()
}

fn path_of(page: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../docs")
        .join(page)
}
