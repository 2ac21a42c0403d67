//! Translates the arguments of a link to this desktop: its processes, refs and window positions.

use std::collections::HashMap;

use deskline_core::tree_reader::{self, FileLine};
use deskline_core::{Line, Point};
use deskline_journal::{FileKind, Journal, Place, Record};
use serde_json::{Map, Value};

use super::compare;

/// The placeholder in the journal for a text that may have been a secret.
const HIDDEN: &str = "•••";

/// Maps the processes and screens of the run to current ones.
pub(super) struct Translator<'j> {
    run: &'j Journal,
    journal: &'j Journal,
    /// From the process in the run to the current process.
    pids: HashMap<u32, u32>,
    /// For each process of the run, its latest screen in the run and now.
    seen: HashMap<u32, Seen>,
}

#[derive(Default)]
struct Seen {
    was: Vec<Line>,
    is: Vec<Line>,
    /// How far the window has moved.
    moved: (i32, i32),
}

impl<'j> Translator<'j> {
    pub(super) fn new(run: &'j Journal, journal: &'j Journal) -> Self {
        Self {
            run,
            journal,
            pids: HashMap::new(),
            seen: HashMap::new(),
        }
    }

    /// Whether the process of a link is not known yet.
    pub(super) fn lacks(&self, record: &Record) -> bool {
        pid_of(record).is_some_and(|pid| !self.pids.contains_key(&pid))
    }

    /// The arguments for this desktop. `listed` is the answer of `list_applications`, if the
    /// process is not known.
    pub(super) fn arguments(
        &mut self,
        record: &Record,
        listed: &str,
    ) -> Result<Map<String, Value>, String> {
        let Value::Object(given) = &record.arguments else {
            return Err("its arguments were too long for the log".into());
        };
        if let Some(was) = pid_of(record).filter(|pid| !self.pids.contains_key(pid)) {
            let app = record.app.as_deref().unwrap_or_default();
            let Some(is) = process(listed, app) else {
                return Err(format!(
                    "{app:?} is not running. Start it first, or begin the run with \
                    open_application_and_traverse"
                ));
            };
            self.pids.insert(was, is);
        }
        let seen = pid_of(record).and_then(|pid| self.seen.get(&pid));
        let mut arguments = translated(given, seen)?;
        if let Some(&pid) = pid_of(record).and_then(|pid| self.pids.get(&pid)) {
            arguments.insert("pid".into(), pid.into());
        }
        Ok(arguments)
    }

    /// Reads the process and the screen from an answer.
    pub(super) fn learn(&mut self, record: &Record, answer: &str) {
        let Some(was) = record.pid else { return };
        if let Some(is) = compare::field(answer, "pid").and_then(|pid| pid.parse().ok()) {
            self.pids.insert(was, is);
        }
        let seen = self.seen.entry(was).or_default();
        if let Some(text) = compare::content(self.run, record, FileKind::Text) {
            seen.was = elements(&text);
        }
        let file = compare::file(answer).and_then(|name| self.journal.read(&name).ok());
        if let Some(text) = file {
            seen.is = elements(&text);
        }
        let then = compare::content(self.run, record, FileKind::Picture);
        let now = compare::field(answer, "screenshot")
            .and_then(|path| path.rsplit('/').next())
            .and_then(|name| self.journal.read(name).ok());
        if let (Some(then), Some(now)) = (
            then.as_deref().and_then(origin),
            now.as_deref().and_then(origin),
        ) {
            seen.moved = (now.x - then.x, now.y - then.y);
        }
    }
}

fn origin(png: &[u8]) -> Option<Point> {
    Place::from_png(png)?.origin
}

/// The process in the arguments.
fn pid_of(record: &Record) -> Option<u32> {
    match record.arguments.get("pid")? {
        Value::Number(pid) => u32::try_from(pid.as_u64()?).ok(),
        Value::String(pid) => pid.trim().parse().ok(),
        _ => None,
    }
}

/// The process of an app in the answer of `list_applications`.
fn process(listed: &str, app: &str) -> Option<u32> {
    let name = deskline_core::escape::name(app, 30);
    let mut lines = listed.lines();
    lines.find_map(|line| {
        let rest = line.strip_prefix("  ")?.strip_prefix(name.as_str())?;
        let (pid, _) = rest.strip_prefix(" (PID: ")?.split_once(')')?;
        pid.parse().ok()
    })
}

fn elements(text: &[u8]) -> Vec<Line> {
    let text = String::from_utf8_lossy(text);
    let lines = tree_reader::lines(&text).filter_map(|line| match line {
        FileLine::Element(line) => Some(line),
        _ => None,
    });
    lines.collect()
}

fn translated(
    given: &Map<String, Value>,
    seen: Option<&Seen>,
) -> Result<Map<String, Value>, String> {
    let mut arguments = Map::new();
    for (name, value) in given {
        let value = match (name.as_str(), value) {
            (_, Value::String(text)) if text == HIDDEN => {
                return Err(format!(
                    "{name} is not in the log: it may have been a secret"
                ));
            }
            ("ref" | "toRef", Value::String(reference)) => reference_now(reference, seen)?.into(),
            ("window", Value::String(window))
                if window
                    .trim_start_matches('#')
                    .parse::<deskline_core::Ref>()
                    .is_ok() =>
            {
                reference_now(window, seen)?.into()
            }
            ("x" | "toX", value) => moved(value, seen.map_or(0, |seen| seen.moved.0)),
            ("y" | "toY", value) => moved(value, seen.map_or(0, |seen| seen.moved.1)),
            ("steps", Value::Array(steps)) => {
                let steps = steps.iter().map(|step| match step {
                    Value::Object(step) => translated(step, seen).map(Value::Object),
                    other => Ok(other.clone()),
                });
                Value::Array(steps.collect::<Result<_, _>>()?)
            }
            (_, value) => value.clone(),
        };
        arguments.insert(name.clone(), value);
    }
    Ok(arguments)
}

/// The ref of the current element with the role and text of the run's element `reference`. Of
/// several equal ones, the one with the same rank.
fn reference_now(reference: &str, seen: Option<&Seen>) -> Result<String, String> {
    let parsed: Option<deskline_core::Ref> = reference.parse().ok();
    let then = seen.and_then(|seen| {
        let at = seen.was.iter().position(|line| line.reference == parsed)?;
        Some((seen, at))
    });
    let Some((seen, at)) = parsed.and(then) else {
        return Err(format!("no earlier screen of the run has #{reference}"));
    };
    let wanted = &seen.was[at];
    let alike = |line: &&Line| line.role == wanted.role && line.text == wanted.text;
    let before = seen.was[..at].iter().filter(alike).count();
    let now = seen
        .is
        .iter()
        .filter(alike)
        .nth(before)
        .and_then(|line| line.reference);
    now.map(|now| now.to_string()).ok_or_else(|| {
        let mut wanted = wanted.clone();
        wanted.reference = None;
        format!("the target is not on the screen now: {wanted}")
    })
}

/// A coordinate (a number or a numeric text), moved as far as the window has moved.
fn moved(value: &Value, by: i32) -> Value {
    if by == 0 {
        return value.clone();
    }
    let number = match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    };
    number.map_or_else(|| value.clone(), |number| (number + f64::from(by)).into())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn seen() -> Seen {
        let was = " [AXButton] \"Send\" #e3\n [AXButton] \"Send\" #e4\n [AXCell] #e5\n";
        let is = " [AXButton] \"Send\" #e13\n [AXGroup]\n [AXButton] \"Send\" #e14\n";
        Seen {
            was: elements(was.as_bytes()),
            is: elements(is.as_bytes()),
            moved: (10, -5),
        }
    }

    fn now(given: Value) -> Result<Value, String> {
        let Value::Object(given) = given else {
            panic!("no object");
        };
        translated(&given, Some(&seen())).map(Value::Object)
    }

    #[test]
    fn targets_are_found_by_text_and_role() {
        assert_eq!(
            now(json!({"ref": "#e4", "role": "AXButton"})).unwrap(),
            json!({"ref": "e14", "role": "AXButton"})
        );
        assert_eq!(
            now(json!({"steps": [{"do": "click", "ref": "e3"}], "window": "Send"})).unwrap(),
            json!({"steps": [{"do": "click", "ref": "e13"}], "window": "Send"})
        );
        assert_eq!(
            now(json!({"x": 5, "y": "6", "toX": 1.5})).unwrap(),
            json!({"x": 15.0, "y": 1.0, "toX": 11.5})
        );
        assert_eq!(
            now(json!({"ref": "e5"})).unwrap_err(),
            "the target is not on the screen now: [AXCell]"
        );
        assert_eq!(
            now(json!({"ref": "e9"})).unwrap_err(),
            "no earlier screen of the run has #e9"
        );
        assert!(now(json!({"text": "•••"})).unwrap_err().contains("secret"));
    }

    #[test]
    fn a_running_app_is_known_by_its_name() {
        let listed = "status: success\napplications:\n  Notes 2 (PID: 8) \"a\"\n  Notes (PID: 7) \
            front \"b\"\n";
        assert_eq!(process(listed, "Notes"), Some(7));
        assert_eq!(process(listed, "Note"), None);
    }
}
