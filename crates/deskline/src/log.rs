//! `deskline log`: the journal as a table. `deskline grep`: when a text was last on a screen.

use std::fmt::Write as _;

use deskline_core::escape::{one_line, short};
use deskline_journal::{Outcome, Record, grep};

use crate::cli::{LogArgs, OutcomeFilter, Settings};
use crate::output::{Done, exit_code, print};

const HEADER: [&str; 6] = ["TIME", "TOOL", "APP", "OUTCOME", "DIFF", "MS"];

/// A table that may grow: later rows keep its column widths, as far as they fit.
#[derive(Debug)]
pub(crate) struct Table {
    widths: [usize; 6],
}

impl Table {
    pub(crate) fn new() -> Self {
        Self { widths: [0; 6] }
    }

    pub(crate) fn header(&mut self, records: &[Record]) -> String {
        let header = HEADER.map(str::to_owned);
        self.widen(&header);
        for record in records {
            self.widen(&row(record));
        }
        self.line(&header)
    }

    /// A line for the record, and further lines for its error and its files.
    pub(crate) fn lines(&mut self, record: &Record) -> String {
        let row = row(record);
        self.widen(&row);
        let mut lines = self.line(&row);
        if let Outcome::Error(why) = &record.outcome {
            // Writing to a string does not fail.
            let _ = write!(lines, "\n    {}", short(why, 200));
        }
        if let Some(path) = &record.files.text {
            let _ = write!(lines, "\n    {}", short(path, 4_096));
        }
        lines
    }

    fn widen(&mut self, row: &[String; 6]) {
        for (width, cell) in self.widths.iter_mut().zip(row) {
            *width = cell.chars().count().max(*width);
        }
    }

    fn line(&self, row: &[String; 6]) -> String {
        let cells = row.iter().zip(self.widths);
        let line = cells.fold(String::new(), |line, (cell, width)| {
            format!("{line}{cell:width$}  ")
        });
        line.trim_end().to_owned()
    }
}

impl LogArgs {
    pub(crate) fn lets(&self, record: &Record) -> bool {
        let app = record.app.as_deref().unwrap_or_default().to_lowercase();
        let outcome = match record.outcome {
            Outcome::Ok => OutcomeFilter::Ok,
            Outcome::Cancelled => OutcomeFilter::Cancelled,
            Outcome::Error(_) => OutcomeFilter::Error,
        };
        let is_part = |part: &String| app.contains(&part.to_lowercase());
        let is_its_tool = |part: &String| record.tool.contains(part);
        self.app.as_ref().is_none_or(is_part)
            && self.tool.as_ref().is_none_or(is_its_tool)
            && self.outcome.is_none_or(|wanted| wanted == outcome)
    }
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

// `deskline grep`: when a text was last on a screen, over all tree files of the journal.

/// Prints the newest `limit` matching lines, newest file first: time, path, line number, line.
pub(crate) fn grep(settings: &Settings, pattern: &str, limit: usize) -> Done {
    let journal = settings.journal()?;
    let mut any = false;
    journal.grep(&grep::pattern(pattern)?, limit, |file, lines| {
        any = true;
        for found in lines {
            let (time, path, number) = (file.time(), file.path.display(), found.number);
            let line = one_line(&found.line);
            print(&format!("{time}  {path}:{number}: {line}"))?;
        }
        Ok::<_, Box<dyn std::error::Error>>(())
    })?;
    Ok(exit_code(any))
}

#[cfg(test)]
mod tests {
    use deskline_journal::DiffCounts;
    use serde_json::{Map, json};

    use super::*;

    #[test]
    fn each_call_has_one_row_whatever_its_apps_name() {
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
        let mut table = Table::new();
        let records = [good, bad];
        let header = table.header(&records);
        let lines = records.iter().map(|record| table.lines(record));
        assert_eq!(
            [header]
                .into_iter()
                .chain(lines)
                .collect::<Vec<_>>()
                .join("\n"),
            "\
TIME                  TOOL                APP                  OUTCOME  DIFF      MS
2026-04-17T20:00:17Z  click_and_traverse  No\\ntes\\u{202e} (7)  ok       +2 -1 ~3  97
    /tmp/deskline/1_click_and_traverse.txt
2026-04-17T20:00:17Z  refresh_traversal                        error              0
    no process\\nhas pid 8"
        );
        let [good, bad] = records;
        let filter = |app: Option<&str>, tool: Option<&str>, outcome| LogArgs {
            number: 20,
            json: false,
            follow: false,
            app: app.map(str::to_owned),
            tool: tool.map(str::to_owned),
            outcome,
        };
        assert!(filter(Some("tes"), Some("click"), Some(OutcomeFilter::Ok)).lets(&good));
        assert!(!filter(Some("tes"), None, None).lets(&bad));
        assert!(!filter(None, Some("click"), None).lets(&bad));
        assert!(filter(None, None, Some(OutcomeFilter::Error)).lets(&bad));
    }
}
