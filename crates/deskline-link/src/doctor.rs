//! What a doctor finds: checks, each with what to do about it.

use std::fmt;

use deskline_core::escape::is_hostile;
use serde::Serialize;

/// Findings hold what servers and apps say: they are cut at this many characters.
const LONGEST: usize = 600;

/// How a check came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// It works.
    Ok,
    /// Agents can work, with the limits that the finding says.
    Warn,
    /// Agents cannot work.
    Fail,
}

/// One thing that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    /// What was looked at.
    pub name: &'static str,
    /// How it came out.
    pub status: Status,
    /// What was found. One line.
    pub finding: String,
    /// What to do about it. Empty where there is nothing to do.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub remedy: String,
}

impl Check {
    /// It works.
    pub fn ok(name: &'static str, finding: impl AsRef<str>) -> Self {
        Self::new(name, Status::Ok, finding.as_ref(), "")
    }

    /// Agents can work, with a limit.
    pub fn warn(name: &'static str, finding: impl AsRef<str>, remedy: impl AsRef<str>) -> Self {
        Self::new(name, Status::Warn, finding.as_ref(), remedy.as_ref())
    }

    /// Agents cannot work.
    pub fn fail(name: &'static str, finding: impl AsRef<str>, remedy: impl AsRef<str>) -> Self {
        Self::new(name, Status::Fail, finding.as_ref(), remedy.as_ref())
    }

    /// A failure in the words of an error: its first sentence is the finding, the rest what to do.
    pub fn failed(name: &'static str, error: &str, otherwise: &str) -> Self {
        let (finding, remedy) = error.split_once(". ").unwrap_or((error, otherwise));
        Self::fail(name, finding, remedy)
    }

    fn new(name: &'static str, status: Status, finding: &str, remedy: &str) -> Self {
        let line = |text: &str| {
            let plain = |c| if is_hostile(c) { ' ' } else { c };
            text.trim().chars().take(LONGEST).map(plain).collect()
        };
        Self {
            name,
            status,
            finding: line(finding),
            remedy: line(remedy),
        }
    }
}

/// All that was looked at. `Display` is a line a check, aligned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Whether agents can work here: no check failed.
    pub works: bool,
    /// The checks, what others need first.
    pub checks: Vec<Check>,
}

impl Report {
    /// The report of these checks.
    pub fn new(checks: Vec<Check>) -> Self {
        Self {
            works: checks.iter().all(|check| check.status != Status::Fail),
            checks,
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.checks.iter().map(|c| c.name.len()).max().unwrap_or(0);
        for check in &self.checks {
            let mark = match check.status {
                Status::Ok => '✓',
                Status::Warn => '!',
                Status::Fail => '✗',
            };
            write!(f, "{mark} {:width$}  {}", check.name, check.finding)?;
            if check.remedy.is_empty() {
                writeln!(f)?;
            } else {
                writeln!(f, " → {}", check.remedy)?;
            }
        }
        f.write_str(if self.works {
            "Agents can work here."
        } else {
            "Agents cannot work here until what is marked ✗ is put right."
        })
    }
}
