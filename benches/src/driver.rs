//! Deskline and the other drivers: starting them, asking for a tree, clicking.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use deskline_testbed::{Bed, deskline};
use serde_json::{Value, json};

use crate::mcp::{Called, Mcp};
use crate::subject::Subject;

/// The drivers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Driver {
    /// This project.
    Deskline,
    /// `pip install cua-driver`
    Cua,
    /// `pip install dogtail`: a library; `peers/dogtail_server.py` makes it a server.
    Dogtail,
    /// `pip install a11y-computer-use`
    A11y,
    /// `pip install xa11y`. Must be last: it can use up an app's memory.
    Xa11y,
}

impl Driver {
    /// The other drivers.
    pub const PEERS: [Self; 4] = [Self::Cua, Self::Dogtail, Self::A11y, Self::Xa11y];

    /// Its name in the table.
    pub fn name(self) -> &'static str {
        match self {
            Self::Deskline => "Deskline",
            Self::Cua => "cua-driver",
            Self::Dogtail => "dogtail",
            Self::A11y => "a11y-computer-use",
            Self::Xa11y => "xa11y",
        }
    }

    /// Whether it answers a click with a diff. The others answer with a tree.
    pub fn diffs(self) -> bool {
        matches!(self, Self::Deskline | Self::A11y)
    }

    /// Starts its server. `peers` is the virtual environment of the other drivers.
    pub fn start(self, bed: &Bed, peers: &Path, subject: &Subject) -> Result<Mcp, String> {
        let bin = peers.join("bin");
        let command = match self {
            Self::Deskline => {
                let mut command = bed.command(deskline());
                // Treat the desktop as a person's: guard the input and restore the window.
                command.args(["serve", "--attended", "--dir"]);
                command.arg(bed.journal());
                command
            }
            Self::Dogtail => {
                let mut command = bed.command(bin.join("python3"));
                command.arg(concat!(
                    env!("CARGO_MANIFEST_DIR"),
                    "/peers/dogtail_server.py"
                ));
                command
            }
            Self::A11y => {
                let mut grant = bed.command(bin.join(self.name()));
                grant.args(["grant", subject.app_name(), "full"]);
                run(grant)?;
                let mut command = bed.command(bin.join(self.name()));
                command.arg("mcp");
                command
            }
            Self::Cua | Self::Xa11y => {
                let mut command = bed.command(bin.join(self.name()));
                command.arg("mcp");
                command
            }
        };
        Mcp::start(command, Duration::from_secs(20))
    }

    /// Reads the whole tree once.
    pub fn tree(self, mcp: &mut Mcp, pid: u32, subject: &Subject) -> Result<Called, String> {
        match self {
            Self::Deskline => mcp.call("refresh_traversal", json!({"pid": pid})),
            // Raise the limits, because the defaults cut off most trees.
            Self::Cua => mcp.call(
                "get_window_state",
                json!({"pid": pid, "timeout_ms": 20000, "max_elements": 20000,
                       "max_depth": 64, "include_screenshot": false}),
            ),
            Self::Dogtail => mcp.call("tree", json!({"pid": pid})),
            Self::A11y => mcp.call(
                "desktop_snapshot",
                json!({"app": subject.app_name(), "include_bounds": true}),
            ),
            Self::Xa11y => mcp.call("tree", json!({"pid": pid, "max_depth": 64})),
        }
    }

    /// The number of elements in an answer of [`Driver::tree`].
    pub fn count(self, answer: &str) -> usize {
        let rows = |is_one: &dyn Fn(&str) -> bool| {
            answer
                .lines()
                .filter(|line| is_one(line.trim_start()))
                .count()
        };
        match self {
            Self::Deskline => elements(answer),
            Self::Cua => rows(&|line| line.starts_with("- ")),
            Self::Dogtail => rows(&|line| line.starts_with('[')),
            Self::A11y => rows(&|line| reference(line, 'e').is_some()),
            Self::Xa11y => answer.matches("\"role\":").count(),
        }
    }

    /// How to address the last element with the subject's text and role, in the current tree.
    pub fn target(self, mcp: &mut Mcp, pid: u32, subject: &Subject) -> Result<Value, String> {
        let (element, role) = (subject.element, subject.role);
        let missing = || format!("no {role} \"{element}\" in its tree");
        if self == Self::Dogtail {
            return Ok(json!({"pid": pid, "element": element, "role": role}));
        }
        if self == Self::Xa11y {
            let role = if role == "push button" {
                "button"
            } else {
                role
            }
            .replace(' ', "_");
            let selector = format!("{role}[name^=\"{element}\"]");
            let found = mcp
                .call("find", json!({"pid": pid, "selector": selector}))?
                .text;
            let found: Value = serde_json::from_str(&found).unwrap_or_default();
            let count = found["match_count"]
                .as_u64()
                .filter(|n| *n > 0)
                .ok_or_else(missing)?;
            let selector = format!("{selector}:nth({count})");
            return Ok(json!({"pid": pid, "selector": selector, "action": "press"}));
        }
        let answer = self.tree(mcp, pid, subject)?.text;
        let text = if self == Self::Deskline {
            file(&answer)?
        } else {
            answer
        };
        let named = [format!("\"{element}\""), format!("\"{element} ")];
        let last = |is_role: &dyn Fn(&str) -> bool| {
            let fits = |line: &&str| {
                named.iter().any(|n| line.contains(n))
                    && is_role(line)
                    && !line.contains("disabled")
            };
            text.lines().rfind(fits)
        };
        match self {
            Self::Deskline => {
                let ax = if role == "check box" {
                    "[AXCheckBox"
                } else {
                    "[AXButton"
                };
                let line =
                    last(&|l| l.starts_with(' ') && (l.contains(ax) || role == "toggle button"));
                // The parent's ref is at the end of the line.
                let line = line.map(|l| l.rsplit_once(" in #").map_or(l, |(own, _)| own));
                let reference = line.and_then(|l| l.rsplit_once('#')).ok_or_else(missing)?.1;
                Ok(json!({"pid": pid, "ref": reference}))
            }
            Self::Cua => {
                let line = last(&|l| l.contains(']') && l.contains("button") | l.contains(role));
                let row = line
                    .and_then(|l| l.split_once("- [")?.1.split(']').next())
                    .ok_or_else(missing)?;
                let snapshot = text.split("snapshot_id=").nth(1).unwrap_or_default();
                let snapshot = snapshot.split_whitespace().next().unwrap_or_default();
                Ok(json!({"pid": pid, "element_token": format!("{snapshot}:{row}")}))
            }
            _ => {
                let line = last(&|l| l.contains("button") || l.contains("checkbox"));
                let line = line.and_then(|l| reference(l.trim_start(), 'e'));
                Ok(json!({"ref": line.ok_or_else(missing)?, "verify": true}))
            }
        }
    }

    /// Clicks, and measures the time until the answer that should show the effect.
    pub fn click(
        self,
        mcp: &mut Mcp,
        pid: u32,
        subject: &Subject,
        target: Value,
    ) -> Result<Called, String> {
        let then_tree = |acted: Called, mcp: &mut Mcp| {
            let seen = self.tree(mcp, pid, subject)?;
            let ms = acted.ms + seen.ms;
            Ok(Called { ms, ..seen })
        };
        match self {
            Self::Deskline => mcp.call("click_and_traverse", target),
            Self::Dogtail | Self::A11y => mcp.call("click", target),
            Self::Cua => then_tree(mcp.call("click", target)?, mcp),
            Self::Xa11y => then_tree(mcp.call("action", target)?, mcp),
        }
    }

    /// Whether the answer to a click shows that something changed. Deskline and a11y-computer-use
    /// report it; the trees of the others must differ in more than their numbering.
    pub fn tells(self, before: &str, after: &str) -> bool {
        match self {
            Self::Deskline => {
                let summary = after.lines().find(|line| line.starts_with("summary:"));
                summary.is_some_and(|line| !line.contains("0 added, 0 removed, 0 modified"))
            }
            Self::A11y => ["→", "->", "added", "changed"]
                .iter()
                .any(|w| after.contains(w)),
            // Skip two header lines with counters.
            Self::Cua => before.lines().skip(2).ne(after.lines().skip(2)),
            Self::Dogtail | Self::Xa11y => before != after,
        }
    }
}

/// `e12` at the start of a line.
fn reference(line: &str, letter: char) -> Option<String> {
    let word = line.split_whitespace().next()?;
    let digits = word.strip_prefix(letter)?;
    (!digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())).then(|| word.to_owned())
}

/// The number of elements in the tree file of a summary.
fn elements(summary: &str) -> usize {
    let count = summary
        .lines()
        .find_map(|line| line.strip_prefix("file_size: "));
    let count = count.and_then(|l| l.split_once('(')?.1.split(' ').next());
    count.and_then(|n| n.parse().ok()).unwrap_or(0)
}

/// The content of the tree file of a summary.
pub fn file(summary: &str) -> Result<String, String> {
    let path = summary.lines().find_map(|line| line.strip_prefix("file: "));
    let path = path.ok_or("no file in the answer")?;
    std::fs::read_to_string(path).map_err(|e| format!("{path}: {e}"))
}

fn run(mut command: Command) -> Result<(), String> {
    let output = command.output().map_err(|e| e.to_string())?;
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.success() {
        Ok(())
    } else {
        Err(said.into_owned())
    }
}
