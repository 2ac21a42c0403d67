//! Writes the results of a test into the table of `docs/dev/what-can-be-driven.md`: a row for each
//! app and display, a column for each way to act.

use std::collections::BTreeSet;
use std::path::Path;

const PAGE: &str = "../docs/dev/what-can-be-driven.md";

/// The columns of the page, and the ways to act that each combines.
const WAYS: [(&str, &[&str]); 11] = [
    ("read", &["refresh", "late changes"]),
    ("picture", &["picture"]),
    ("click", &["click", "double click", "right click"]),
    ("text", &["type"]),
    ("keys", &["press key"]),
    ("wheel, drag", &["scroll", "drag"]),
    ("`choose`", &["choose"]),
    ("`set_value`", &["set value"]),
    ("`press_ax`", &["press"]),
    ("`set_selected`", &["select"]),
    ("chain", &["chain"]),
];

/// Compares the row of an app on a display with the page, or writes it if `DESKLINE_WRITE` is set.
///
/// # Panics
/// If the page has another row.
pub fn note(app: &str, display: &str, column: &[(String, String)]) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(PAGE);
    let page = std::fs::read_to_string(&path).unwrap();
    let name = format!("| {app} | {display} |");
    let ways = WAYS.map(|(_, rows)| found(column, rows));
    let row = format!("{name} {} |", ways.join(" | "));
    if page.lines().any(|line| line == row) {
        return;
    }
    assert!(
        std::env::var_os("DESKLINE_WRITE").is_some(),
        "docs/dev/what-can-be-driven.md lacks the row\n{row}\nDESKLINE_WRITE=1 writes it"
    );
    let is_row = |line: &&str| line.starts_with("| ") && !line.starts_with("| app |");
    let mut rows: BTreeSet<&str> = page.lines().filter(is_row).collect();
    rows.retain(|line| !line.starts_with(&name));
    rows.insert(&row);
    let head = WAYS.map(|(way, _)| way).join(" | ");
    let around = |line: &&str| !line.starts_with('|');
    let before = page.lines().take_while(around);
    let after = page
        .lines()
        .skip_while(around)
        .skip_while(|line| !around(line));
    let mut lines: Vec<String> = before.map(str::to_owned).collect();
    lines.push(format!("| app | display | {head} |"));
    lines.push("|---".repeat(WAYS.len() + 2) + "|");
    lines.extend(rows.into_iter().map(str::to_owned));
    lines.extend(after.map(str::to_owned));
    std::fs::write(&path, lines.join("\n") + "\n").unwrap();
}

/// Like [`note`], for a test in which all of these rows have passed.
pub fn note_served(app: &str, display: &str, rows: &[&str]) {
    let column = rows.iter().map(|row| ((*row).to_owned(), "✓".to_owned()));
    note(app, display, &column.collect::<Vec<_>>());
}

/// `✓`; or the refused cells; or nothing, if no cell was tried.
fn found(column: &[(String, String)], begins: &[&str]) -> String {
    let of = |row: &str| {
        let (way, what) = row.split_once(", ").unwrap_or((row, ""));
        // These cells type text with characters that the layout lacks.
        let way = match what {
            "text field" | "text area" if way == "click" => "type",
            _ => way,
        };
        begins.contains(&way).then(|| what.to_owned())
    };
    let cells: Vec<(String, &str)> = column
        .iter()
        .filter_map(|(row, outcome)| Some((of(row)?, outcome.as_str())))
        .collect();
    let refused: Vec<&(String, &str)> = cells.iter().filter(|(_, o)| *o != "✓").collect();
    let is_text = |(_, outcome): &&(String, &str)| outcome.contains("no key for character");
    if cells.is_empty() {
        String::new()
    } else if refused.is_empty() {
        "✓".to_owned()
    } else if refused.len() == cells.len() && refused.iter().all(is_text) {
        "of the layout".to_owned()
    } else if refused.len() == cells.len() && refused.len() == 1 {
        "–".to_owned()
    } else {
        let names: Vec<&str> = refused.iter().map(|(what, _)| what.as_str()).collect();
        format!("not {}", names.join(", "))
    }
}
