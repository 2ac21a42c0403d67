//! Records the calls of a desktop and their answers in a file outside of the desktop's seal,
//! because the apps of the desktop can change its journal.

use std::collections::HashMap;
use std::fs::{DirBuilder, File};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rmcp::model::CallToolRequestParams;
use serde_json::{Value, json};

/// Arguments that say what was acted on, and have no text that was typed.
const TARGET: [&str; 4] = ["pid", "identifier", "ref", "element"];

/// The beginnings of those lines of an answer that are kept. Errors are kept without the texts that
/// they quote.
const ANSWER: [&str; 3] = ["error:", "pid:", "app:"];

/// The audit of one desktop: a file with a JSON object in each line.
pub(crate) struct Audit(File);

/// The path of the audit of the desktop that has this journal.
pub(crate) fn path(journal: &Path) -> Option<PathBuf> {
    let name = journal.file_name()?.to_string_lossy();
    let all = journal.parent()?.with_file_name("audit");
    Some(all.join(format!("{name}.jsonl")))
}

impl Audit {
    pub(crate) fn create(journal: &Path) -> io::Result<Self> {
        let path = path(journal).ok_or(io::ErrorKind::InvalidInput)?;
        if let Some(all) = path.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(all)?;
        }
        let mut options = File::options();
        let file = options.append(true).create(true).mode(0o600).open(path)?;
        Ok(Self(file))
    }

    /// Adds a call, without what may be a secret.
    pub(crate) fn record(&self, call: &Value, outcome: &str, took: Duration, answer: &str) {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let (now, took) = [now.unwrap_or_default(), took]
            .map(|time| time.as_millis() as u64)
            .into();
        let is_kept = |line: &&str| ANSWER.iter().any(|field| line.starts_with(field));
        let answer = answer.lines().filter(is_kept).take(ANSWER.len());
        let answer: Vec<String> = answer.map(without_quotes).collect();
        let line = json!({
            "ms": now, "call": call, "outcome": outcome, "took": took, "answer": answer,
        });
        if let Err(error) = (&self.0).write_all(format!("{line}\n").as_bytes()) {
            tracing::warn!("the audit cannot be written: {error}");
        }
    }
}

/// The line without what stands between its first and its last quotation mark: an error may quote
/// a field's text.
fn without_quotes(line: &str) -> String {
    match (line.find('\''), line.rfind('\'')) {
        (Some(first), Some(last)) if first < last => {
            format!("{}'…{}", &line[..first], &line[last..])
        }
        _ => line.to_owned(),
    }
}

/// The tool of a call, and what the call is to act on.
pub(crate) fn call(request: &CallToolRequestParams) -> Value {
    let given = |name| Some((name, request.arguments.as_ref()?.get(name)?));
    let target: HashMap<&str, &Value> = TARGET.into_iter().filter_map(given).collect();
    json!({"tool": request.name, "target": target})
}

#[cfg(test)]
mod tests {
    #[test]
    fn an_error_is_kept_without_the_texts_that_it_quotes() {
        let kept = super::without_quotes("error: 'Card' [AXTextField] shows 'it's 42'. Type again");
        assert_eq!(kept, "error: '…'. Type again");
    }
}
