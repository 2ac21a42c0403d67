//! The report of `deskline doctor`: checks, each with a finding and a remedy.

use std::fmt;

use deskline_core::escape::is_hostile;
use serde::Serialize;

/// Findings may quote servers and apps. They are cut at this many characters.
const LONGEST: usize = 600;

/// The outcome of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// The checked part works.
    Ok,
    /// Agents can work, with the limits in the finding.
    Warn,
    /// Agents cannot work.
    Fail,
}

/// A repair that is one step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase", tag = "by", content = "command")]
pub enum Fix {
    /// `deskline doctor --fix` turns accessibility on.
    Accessibility,
    /// `deskline doctor --fix` writes the file by which KWin knows Deskline. KWin then gives
    /// Deskline pictures and, before Plasma 6, takes its input.
    KwinFile,
    /// The words of a command that does not need root.
    Command(Vec<String>),
    /// A command for root.
    Root(String),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    pub name: &'static str,
    pub status: Status,
    /// One line.
    pub finding: String,
    /// The next step. Empty if there is nothing to do.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub remedy: String,
    /// The step that repairs what was found, if one step is enough.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<Fix>,
}

impl Check {
    /// A check that found no fault.
    pub fn ok(name: &'static str, finding: impl AsRef<str>) -> Self {
        Self::new(name, Status::Ok, finding.as_ref(), "")
    }

    /// A check that found a limit, with which agents can still work.
    pub fn warn(name: &'static str, finding: impl AsRef<str>, remedy: impl AsRef<str>) -> Self {
        Self::new(name, Status::Warn, finding.as_ref(), remedy.as_ref())
    }

    /// A check that found that agents cannot work.
    pub fn fail(name: &'static str, finding: impl AsRef<str>, remedy: impl AsRef<str>) -> Self {
        Self::new(name, Status::Fail, finding.as_ref(), remedy.as_ref())
    }

    /// A failure made from an error: the error's first sentence is the finding, and the rest is the
    /// remedy. `otherwise` is the remedy of an error of one sentence.
    pub fn failed(name: &'static str, error: &str, otherwise: &str) -> Self {
        let (finding, remedy) = error.split_once(". ").unwrap_or((error, otherwise));
        Self::fail(name, finding, remedy)
    }

    /// Adds the step that mends what was found.
    #[must_use]
    pub fn mended_by(self, fix: Fix) -> Self {
        Self {
            fix: Some(fix),
            ..self
        }
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
            fix: None,
        }
    }
}

/// All checks. `Display` prints one line for each, aligned.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Whether agents can work here: no check failed.
    pub works: bool,
    /// The checks, in the order of their dependencies.
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

    /// The one command for root that repairs everything that root can. Packages of the same package
    /// manager are joined into one command.
    pub fn for_root(&self) -> Option<String> {
        let mut commands: Vec<Vec<&str>> = vec![];
        for check in &self.checks {
            let Some(Fix::Root(command)) = &check.fix else {
                continue;
            };
            let words: Vec<&str> = command.split(' ').collect();
            let same = |other: &&mut Vec<&str>| other.get(..2) == words.get(..2);
            match commands.iter_mut().find(same) {
                Some(other) => {
                    for word in words {
                        if !other.contains(&word) {
                            other.push(word);
                        }
                    }
                }
                None => commands.push(words),
            }
        }
        let commands: Vec<String> = commands.iter().map(|words| words.join(" ")).collect();
        (!commands.is_empty()).then(|| commands.join(" && "))
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
            "Agents cannot work here until the lines marked ✗ are fixed."
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remedies_for_root_are_joined_into_one_command() {
        let root = |command: &str| {
            Check::warn("it", "is missing", "install it").mended_by(Fix::Root(command.into()))
        };
        let report = Report::new(vec![
            root("apt-get install at-spi2-core"),
            Check::ok("display", ":0"),
            root("chmod 2755 a && chown root a"),
            root("apt-get install xvfb xfwm4"),
        ]);
        let command = "apt-get install at-spi2-core xvfb xfwm4 && chmod 2755 a && chown root a";
        assert_eq!(report.for_root().as_deref(), Some(command));
        assert_eq!(Report::new(vec![]).for_root(), None);
    }
}
