//! Compares answers by texts, roles and changes, and ignores places, refs and times.

use std::collections::BTreeMap;
use std::path::Path;

use deskline_core::tree_reader::{self, FileLine};
use deskline_core::{Attribute, Change, DeltaLine, Line, Text, Value};
use deskline_journal::{FileKind, Journal, Record};
use regex::Regex;

/// At most this many differences are printed.
const MOST: usize = 10;

/// An answer, reduced to the compared parts.
#[derive(Debug)]
pub(super) struct Screen {
    /// The lines of the diff; `None` if there is none.
    diff: Option<Vec<String>>,
    /// The visible elements.
    visible: Vec<String>,
}

impl Screen {
    /// The screen of a link in the run.
    pub(super) fn of_record(run: &Journal, record: &Record) -> Option<Self> {
        let text = content(run, record, FileKind::Text)?;
        Some(Self::parse(&String::from_utf8_lossy(&text)))
    }

    /// A tree file.
    pub(super) fn read(journal: &Journal, name: &str) -> Option<Self> {
        let text = journal.read(name).ok()?;
        Some(Self::parse(&String::from_utf8_lossy(&text)))
    }

    fn parse(text: &str) -> Self {
        let mut screen = Self {
            diff: None,
            visible: Vec::new(),
        };
        for line in tree_reader::lines(text) {
            match line {
                FileLine::Header(header) if header.starts_with("diff: ") => {
                    screen.diff = Some(Vec::new());
                }
                FileLine::Delta(delta) => {
                    let diff = screen.diff.get_or_insert_default();
                    diff.extend(changed(&delta));
                }
                FileLine::Element(line) if line.visible => screen.visible.push(named(&line)),
                _ => {}
            }
        }
        screen
    }

    /// How `now` differs from the run's answer; `None` if it does not. A diff is compared with a
    /// diff; trees by their visible elements.
    pub(super) fn differs(&self, now: &Self, ignore: &[Regex]) -> Option<String> {
        let (was, is) = match (&self.diff, &now.diff) {
            (Some(was), Some(is)) => (was, is),
            (None, None) => (&self.visible, &now.visible),
            (Some(_), None) => {
                return Some("the recorded answer had a diff, this one has none".into());
            }
            (None, Some(_)) => {
                return Some("the recorded answer had no diff, this one has one".into());
            }
        };
        let mut count: BTreeMap<&str, i64> = BTreeMap::new();
        for line in was {
            *count.entry(line).or_default() -= 1;
        }
        for line in is {
            *count.entry(line).or_default() += 1;
        }
        count.retain(|line, count| {
            *count != 0 && !ignore.iter().any(|pattern| pattern.is_match(line))
        });
        if count.is_empty() {
            return None;
        }
        let lines = count.iter().take(MOST).map(|(line, count)| {
            let what = if *count < 0 { "missing" } else { "new" };
            let times = if count.abs() > 1 {
                format!(" (×{})", count.abs())
            } else {
                String::new()
            };
            format!("{what}: {line}{times}")
        });
        let mut lines: Vec<String> = lines.collect();
        if count.len() > MOST {
            lines.push(format!("… and {} more", count.len() - MOST));
        }
        Some(lines.join("\n"))
    }
}

/// `[AXButton] "Send"`, `[AXTextField] "Phone" value:"555"`
fn named(line: &Line) -> String {
    let quoted = |start: &str, text: &Option<Text>| match text {
        Some(text) => format!(" {start}{}", Value::Text(text.clone())),
        None => String::new(),
    };
    let (text, value) = (quoted("", &line.text), quoted("value:", &line.value));
    format!("[{}]{text}{value}", line.role.ax())
}

/// A line of a diff; `None` if only the focus has changed, which depends on the window manager too.
fn changed(delta: &DeltaLine) -> Option<String> {
    match delta {
        DeltaLine::Added(line) => Some(format!("+ {}", named(line))),
        DeltaLine::Removed(line) => Some(format!("- {}", named(line))),
        DeltaLine::Modified(line, changes) => {
            let kept = changes.iter().filter(|c| c.attribute != Attribute::Focused);
            let shown = |c: &Change| format!("{}: {} -> {}", c.attribute.name(), c.old, c.new);
            let changes: Vec<String> = kept.map(shown).collect();
            (!changes.is_empty()).then(|| format!("~ {} | {}", named(line), changes.join(", ")))
        }
    }
}

/// A field of a summary.
pub(super) fn field<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let mut lines = text.lines();
    lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
}

/// The name of the tree file in a summary.
pub(super) fn file(text: &str) -> Option<String> {
    let name = Path::new(field(text, "file")?).file_name()?;
    Some(name.to_str()?.to_owned())
}

/// The content of a file of a link, by the name that its record gives.
pub(super) fn content(journal: &Journal, record: &Record, kind: FileKind) -> Option<Vec<u8>> {
    journal.read(record.file_name(kind)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const WAS: &str = "# diff: +1 added, -0 removed, ~2 modified\n\
        + [AXStaticText (label)] \"42\" x:707 y:307 w:91 h:21 visible #e101\n\
        ~ [AXTextArea (text)] \"42\" | AXValue: \"7×6\" -> \"42\" visible #e40\n\
        ~ [AXTextArea (text)] \"42\" | AXFocused: true -> false visible #e41\n\
        # tree:\n# calc — 1 element (0.02s)\n [AXButton] \"=\" x:1 y:2 w:3 h:4 visible #e7\n";

    #[test]
    fn places_refs_and_focus_do_not_count() {
        let is = WAS
            .replace("x:707", "x:9")
            .replace("#e101", "#e5")
            .replace("true -> false", "false -> true");
        assert_eq!(Screen::parse(WAS).differs(&Screen::parse(&is), &[]), None);
        let tree = |text: &str| {
            let tree = text.split_once("# tree:\n").unwrap().1;
            Screen::parse(tree)
        };
        assert_eq!(
            tree(WAS).differs(&tree(&is.replace("x:1 ", "x:5 ")), &[]),
            None
        );
        assert!(tree(WAS).differs(&Screen::parse(WAS), &[]).is_some());
        let gone = tree(&is.replace(" visible #e7", " #e7"));
        assert_eq!(
            tree(WAS).differs(&gone, &[]).unwrap(),
            "missing: [AXButton] \"=\""
        );
    }

    #[test]
    fn a_difference_shows_old_and_new() {
        let is = Screen::parse(&WAS.replace("\"42\"", "\"43\""));
        assert_eq!(
            Screen::parse(WAS).differs(&is, &[]).unwrap(),
            "missing: + [AXStaticText] \"42\"\nnew: + [AXStaticText] \"43\"\n\
             missing: ~ [AXTextArea] \"42\" | AXValue: \"7×6\" -> \"42\"\n\
             new: ~ [AXTextArea] \"43\" | AXValue: \"7×6\" -> \"43\""
        );
        let ignore = [Regex::new("4[23]").unwrap()];
        assert_eq!(Screen::parse(WAS).differs(&is, &ignore), None);
    }
}
