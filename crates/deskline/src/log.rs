//! `deskline log`: the journal as a table.

use std::fmt::Write as _;

use deskline_core::escape::short;
use deskline_journal::{Outcome, Record};

const HEADER: [&str; 6] = ["TIME", "TOOL", "APP", "OUTCOME", "DIFF", "MS"];

/// A header and one line a record; its files, and its error, on lines of their own.
pub(crate) fn table(records: &[Record]) -> String {
    let rows: Vec<[String; 6]> = std::iter::once(HEADER.map(str::to_owned))
        .chain(records.iter().map(row))
        .collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let widths: [usize; 6] = std::array::from_fn(|column| width(column).unwrap_or(0));
    let mut table = String::new();
    for (number, row) in rows.iter().enumerate() {
        let line = row
            .iter()
            .zip(widths)
            .fold(String::new(), |line, (cell, width)| {
                format!("{line}{cell:width$}  ")
            });
        // Writing to a string does not fail.
        let _ = writeln!(table, "{}", line.trim_end());
        let Some(record) = number.checked_sub(1).and_then(|number| records.get(number)) else {
            continue;
        };
        if let Outcome::Error(why) = &record.outcome {
            let _ = writeln!(table, "    {}", short(why, 200));
        }
        if let Some(path) = &record.files.text {
            let _ = writeln!(table, "    {}", short(path, 4_096));
        }
    }
    table
}

fn row(record: &Record) -> [String; 6] {
    let app = match (&record.app, record.pid) {
        (Some(app), Some(pid)) => format!("{} ({pid})", short(app, 30)),
        (Some(app), None) => short(app, 30),
        (None, Some(pid)) => format!("({pid})"),
        (None, None) => String::new(),
    };
    let outcome = match &record.outcome {
        Outcome::Ok => "ok",
        Outcome::Cancelled => "cancelled",
        Outcome::Error(_) => "error",
    };
    let diff = record.diff.map_or_else(String::new, |diff| {
        format!("+{} -{} ~{}", diff.added, diff.removed, diff.modified)
    });
    // Not `sum`: the sum of no floats is -0.
    let steps = record.steps_ms.values();
    let ms = steps
        .filter_map(serde_json::Value::as_f64)
        .fold(0.0, |sum, ms| sum + ms);
    [
        short(&record.time, 30),
        short(&record.tool, 40),
        app,
        outcome.to_owned(),
        diff,
        format!("{ms:.0}"),
    ]
}

#[cfg(test)]
mod tests {
    use deskline_journal::DiffCounts;
    use serde_json::{Map, json};

    use super::*;

    #[test]
    fn a_row_a_call_whatever_an_app_calls_itself() {
        let mut good = Record::new("click_and_traverse", Map::new(), Outcome::Ok);
        good.time = "2026-04-17T20:00:17Z".into();
        good.pid = Some(7);
        good.app = Some("No\ntes\u{202e}".into());
        good.diff = Some(DiffCounts {
            added: 2,
            removed: 1,
            modified: 3,
        });
        good.steps_ms.insert("act".into(), json!(12.5));
        good.steps_ms.insert("settle".into(), json!(84.1));
        good.files.text = Some("/tmp/deskline/1_click_and_traverse.txt".into());
        let why = Outcome::Error("no process\nhas pid 8".into());
        let mut bad = Record::new("refresh_traversal", Map::new(), why);
        bad.time = good.time.clone();
        assert_eq!(
            table(&[good, bad]),
            "\
TIME                  TOOL                APP                  OUTCOME  DIFF      MS
2026-04-17T20:00:17Z  click_and_traverse  No\\ntes\\u{202e} (7)  ok       +2 -1 ~3  97
    /tmp/deskline/1_click_and_traverse.txt
2026-04-17T20:00:17Z  refresh_traversal                        error              0
    no process\\nhas pid 8
"
        );
    }
}
