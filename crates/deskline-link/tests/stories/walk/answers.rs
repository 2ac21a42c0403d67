//! The promises about answers: their form, the journal's line, and no secrets in either.

use deskline_core::summary::{FIELDS, LIMIT};
use deskline_core::{Line, States};
use deskline_link::Call;
use serde_json::Value;

use super::calls::texts;
use crate::story::Story;
use crate::world::{Node, ScriptWindow};

/// An answer, parsed: each line is in the format that agents rely on.
pub(super) struct Answered {
    pub(super) is_error: bool,
    fields: Vec<(String, String)>,
}

impl Answered {
    pub(super) fn parse(text: &str, is_error: bool) -> Result<Self, String> {
        let mut fields: Vec<(String, String)> = Vec::new();
        let mut at = 0;
        for line in text.lines() {
            if line.starts_with("  ") {
                let list = fields.last().map(|(name, _)| name.as_str());
                let lists = [
                    "steps",
                    "late_changes",
                    "text_changes",
                    "visible_elements",
                    "app_switch_visible_elements",
                ];
                if !list.is_some_and(|l| lists.contains(&l)) {
                    return Err(format!("not in a list: {line}"));
                }
                continue;
            }
            let (name, value) = line.split_once(':').ok_or(format!("no field: {line}"))?;
            let place = FIELDS.iter().position(|field| *field == name);
            let place = place.ok_or(format!("an unknown field: {line}"))?;
            if place < at || place == at && !matches!(name, "status" | "note" | "blind" | "partial")
            {
                return Err(format!("out of order: {line}"));
            }
            at = place;
            fields.push((name.to_owned(), value.trim_start().to_owned()));
        }
        let answered = Self { is_error, fields };
        let wanted = if is_error { "error" } else { "success" };
        if answered.field("status") != Some(wanted) || answered.field("error").is_some() != is_error
        {
            return Err("the status is wrong".into());
        }
        if text.chars().count() >= LIMIT {
            return Err(format!("{LIMIT} characters or more"));
        }
        if let Some(target) = answered.field("target") {
            let target = target.strip_prefix("gone: ").unwrap_or(target);
            let ends = target.match_indices(" in [").map(|(at, _)| at);
            let parses = |end: usize| target[..end].parse::<Line>().is_ok();
            if !ends.chain([target.len()]).any(parses) {
                return Err(format!("no element: {target}"));
            }
        }
        if let (Some(path), Some(size)) = (answered.field("file"), answered.field("file_size")) {
            let bytes = std::fs::metadata(path)
                .map_err(|e| format!("{path}: {e}"))?
                .len();
            if !size.starts_with(&format!("{bytes} bytes (")) {
                return Err(format!("{path} has {bytes} bytes"));
            }
        }
        Ok(answered)
    }

    pub(super) fn field(&self, name: &str) -> Option<&str> {
        let field = self.fields.iter().find(|(field, _)| field == name);
        field.map(|(_, value)| value.as_str())
    }

    /// The tree file.
    pub(super) fn file(&self) -> Option<String> {
        self.field("file")
            .map(|path| std::fs::read_to_string(path).unwrap())
    }
}

/// The journal has one more line, which agrees with the answer.
pub(super) fn journal_line(
    journal: &str,
    before: usize,
    call: &Call,
    answered: &Answered,
) -> Result<(), String> {
    let lines: Vec<&str> = journal.lines().skip(before).collect();
    let [line] = lines[..] else {
        return Err(format!("{} lines in the journal", lines.len()));
    };
    let record: Value = serde_json::from_str(line).map_err(|e| format!("{line}: {e}"))?;
    let is_ok = record["outcome"] == "ok";
    let agrees = record["tool"] == call.tool()
        && is_ok != answered.is_error
        && record["files"]["text"].as_str() == answered.field("file");
    if agrees {
        Ok(())
    } else {
        Err(format!("the journal differs: {line}"))
    }
}

/// If a part of a text went into a password field, the text is neither in the answer, nor in the
/// files, nor in the overlay, unless the field's window opened later. `opened` is the number of
/// windows that had opened before.
pub(super) fn secrets(story: &Story, call: &Call, opened: usize) -> Result<(), String> {
    let ((secure, plain), came): ((Vec<_>, Vec<_>), Vec<_>) = story.given(|world| {
        let of = |w: &ScriptWindow| {
            w.nodes
                .iter()
                .map(|n| (w.id, n.clone()))
                .collect::<Vec<_>>()
        };
        let nodes = world.stack.iter().flat_map(of);
        let came = world.opened[opened..].iter().map(|(id, _)| *id).collect();
        let is_secure = |(_, n): &(u64, Node)| n.line.states.contains(States::SECURE);
        (nodes.partition(is_secure), came)
    });
    let file = story.text().lines().find_map(|l| l.strip_prefix("file: "));
    let file = file
        .map(|path| std::fs::read_to_string(path).unwrap())
        .unwrap_or_default();
    let journal = story.journal();
    let last = journal.lines().last().unwrap_or_default();
    let calls = story.calls().join("\n");
    for text in call.actions().filter_map(texts) {
        // No other text has the same first seven or last six characters.
        let parts = [text.get(..7), text.get(text.len().saturating_sub(8)..)];
        let has = |n: &Node| parts.iter().flatten().any(|part| n.value.contains(part));
        let mut fields = secure.iter().filter(|(_, n)| has(n)).peekable();
        if fields.peek().is_none() {
            continue;
        }
        let overlay = if fields.all(|(window, _)| came.contains(window)) {
            ""
        } else {
            &*calls
        };
        let escaped = text.replace('\n', "\\n").replace('\t', "\\t");
        // If the text also went into a plain field, that field and the trees show it.
        let shows = plain.iter().any(|(_, n)| n.value.contains(text));
        let typed = story.text().lines().filter(|line| line.contains("Typed"));
        let typed: String = typed.collect();
        let (answer, file) = if shows {
            (&*typed, "")
        } else {
            (story.text(), &*file)
        };
        for place in [answer, file, last, overlay] {
            if place.contains(text) || place.contains(&escaped) {
                return Err(format!("a secret is in: {place}"));
            }
        }
    }
    Ok(())
}
