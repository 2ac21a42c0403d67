//! Reports what came of recipes: for people, as JSON, as JUnit's XML, and as a page.

use std::fmt::Write as _;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use deskline_mcp::{Played, Stop};
use deskline_recipe::Place;
use serde_json::{Value, json};

use super::jobs::{End, write};
use super::{Done, Path, exit_code, print};

/// Prints what came of the jobs, and writes it into a file: `.json`, `.html`, or XML.
pub(super) fn told(ends: &[End], file: Option<&Path>) -> Done {
    for end in ends {
        print(&text(end))?;
    }
    if let Some(file) = file {
        let kind = file.extension().and_then(|end| end.to_str());
        let report = match kind {
            Some("json") => as_json(ends).to_string(),
            Some("html") => as_page(ends),
            _ => as_xml(ends),
        };
        write(file, &report)?;
    }
    Ok(exit_code(ends.iter().all(End::is_good)))
}

/// The steps of a job, and how it ended.
fn text(end: &End) -> String {
    let (name, ms) = (&end.name, end.took.as_millis());
    let played = match &end.played {
        Err(why) => return format!("{name}  stopped  {why}"),
        Ok(played) => played,
    };
    let (mut text, of) = (String::new(), played.recipe.steps.len());
    for (number, did) in (1..).zip(&played.done) {
        let (words, ms) = (&did.words, did.took.as_millis());
        let found = did.found.iter().map(|how| format!("\n  found {how}"));
        let found: String = found.collect();
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{number}/{of}  done     {words}  {ms} ms{found}");
    }
    match &played.stopped {
        Some(stop) => text + &format!("{name}  stopped  {ms} ms\n{}", why(stop)),
        None => text + &format!("{name}  done  {ms} ms"),
    }
}

fn why(stop: &Stop) -> String {
    let Place { line, column } = stop.at;
    let at = (line > 0).then(|| format!("\n  in line {line}, column {column} of the recipe"));
    let (words, at) = (&stop.words, at.unwrap_or_default());
    let text = format!("  {words}: {}{at}\n{}", stop.why, stop.told("  "));
    text.trim_end().to_owned()
}

fn as_json(ends: &[End]) -> Value {
    let one = |end: &End| {
        let ms = end.took.as_millis() as u64;
        let played = match &end.played {
            Err(why) => return json!({"name": end.name, "ok": false, "ms": ms, "error": why}),
            Ok(played) => played,
        };
        let done = played.done.iter().map(
            |did| json!({"step": did.words, "ms": did.took.as_millis() as u64, "found": did.found}),
        );
        let stop = played.stopped.as_ref().map(|stop| {
            json!({
                "step": played.done.len() + 1, "line": stop.at.line, "words": stop.words,
                "why": stop.why, "expected": stop.expected, "changed": stop.seen,
                "picture": stop.picture, "file": stop.file,
            })
        });
        json!({
            "name": end.name, "ok": end.is_good(), "ms": ms,
            "done": done.collect::<Vec<_>>(), "of": played.recipe.steps.len(), "stopped": stop,
        })
    };
    ends.iter().map(one).collect()
}

fn as_xml(ends: &[End]) -> String {
    let bad = ends.iter().filter(|end| !end.is_good()).count();
    let mut xml = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
        <testsuite name=\"deskline\" tests=\"{}\" failures=\"{bad}\">\n",
        ends.len()
    );
    for end in ends {
        let (name, seconds) = (escaped(&end.name), end.took.as_secs_f64());
        let failure = match &end.played {
            Ok(played) => played.stopped.as_ref().map(|stop| (&stop.why, why(stop))),
            Err(why) => Some((why, why.clone())),
        };
        let content = failure.map_or_else(String::new, |(short, long)| {
            let (short, long) = (escaped(short), escaped(&long));
            format!("<failure message=\"{short}\">{long}</failure>")
        });
        let _ = writeln!(
            xml,
            "  <testcase classname=\"recipe\" name=\"{name}\" \
            time=\"{seconds:.3}\">{content}</testcase>"
        );
    }
    xml + "</testsuite>\n"
}

/// Escapes a text for XML. Of the control characters, only the line feed is kept.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\n' => out += "&#10;",
            c if c.is_control() || ('\u{fffe}'..='\u{ffff}').contains(&c) => out.push('?'),
            c => out.push(c),
        }
    }
    out
}

const HEAD: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Recipes</title>
<style>:root{color-scheme:light dark}body{font:15px system-ui;max-width:60em;margin:2em auto}
[open] summary{font-weight:bold}img{max-width:100%;border:1px solid}pre{white-space:pre-wrap}</style>
";

fn as_page(ends: &[End]) -> String {
    let bad = ends.iter().filter(|end| !end.is_good()).count();
    let mut page = format!("{HEAD}<h1>{} recipes, {bad} stopped</h1>\n", ends.len());
    for end in ends {
        let good = end.is_good();
        let (open, word) = [(" open", "stopped"), ("", "done")][usize::from(good)];
        let (name, ms) = (escaped(&end.name), end.took.as_millis());
        let text = escaped(&text(end)).replace("&#10;", "\n");
        let played = end.played.as_ref().ok();
        let picture = played.and_then(picture).unwrap_or_default();
        let _ = writeln!(
            page,
            "<details{open}><summary>{name}: {word}, {ms} ms</summary><pre>{text}</pre>\n\
            {picture}</details>"
        );
    }
    page + "</html>\n"
}

fn picture(played: &Played) -> Option<String> {
    let png = std::fs::read(played.picture.as_ref()?).ok()?;
    let png = BASE64_STANDARD.encode(png);
    Some(format!(
        "<img alt=\"The app's window at the end\" src=\"data:image/png;base64,{png}\">\n"
    ))
}
