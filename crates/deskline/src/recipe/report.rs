//! Reports what came of recipes: for people, as JSON, as JUnit's XML, and as a page.

use std::fmt::Write as _;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use deskline_mcp::{Played, Stop};
use deskline_recipe::Place;
use serde_json::{Value, json};

use super::jobs::{End, write};
use super::{Done, Path, exit_code, print};

/// Prints what came of the jobs, and writes it into a file: `.json`, `.html`, or XML.
pub(super) fn told(ends: &[End<'_>], file: Option<&Path>) -> Done {
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
fn text(end: &End<'_>) -> String {
    let (name, ms) = (&end.job.name, end.took.as_millis());
    let played = match &end.played {
        Err(why) => return format!("{name}  stopped  {why}"),
        Ok(played) => played,
    };
    let (mut text, of) = (String::new(), played.recipe.steps.len());
    for (number, did) in (1..).zip(&played.done) {
        let (words, ms) = (&did.words, did.ms);
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

fn as_json(ends: &[End<'_>]) -> Value {
    let one = |end: &End<'_>| {
        let (name, ms) = (&end.job.name, end.took.as_millis() as u64);
        match &end.played {
            Err(why) => json!({"name": name, "ok": false, "ms": ms, "error": why}),
            Ok(played) => json!({
                "name": name, "ok": end.is_good(), "ms": ms, "done": played.done,
                "of": played.recipe.steps.len(), "stopped": played.stopped,
            }),
        }
    };
    ends.iter().map(one).collect()
}

fn as_xml(ends: &[End<'_>]) -> String {
    let mut xml = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
        <testsuite name=\"deskline\" tests=\"{}\" failures=\"{}\">\n",
        ends.len(),
        stopped(ends)
    );
    for end in ends {
        let (name, seconds) = (escaped(&end.job.name), end.took.as_secs_f64());
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

fn stopped(ends: &[End<'_>]) -> usize {
    ends.iter().filter(|end| !end.is_good()).count()
}

/// Escapes a text for XML, which has no control characters but the line feed.
fn escaped(text: &str) -> String {
    let none = |c: char| c.is_control() && c != '\n' || matches!(c, '\u{fffe}' | '\u{ffff}');
    deskline_view::html(&text.replace(none, "?"))
}

const HEAD: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Recipes</title>
<style>:root{color-scheme:light dark}body{font:15px system-ui;max-width:60em;margin:2em auto}
[open] summary{font-weight:bold}img{max-width:100%;border:1px solid}pre{white-space:pre-wrap}</style>
";

fn as_page(ends: &[End<'_>]) -> String {
    let (all, bad) = (ends.len(), stopped(ends));
    let mut page = format!("{HEAD}<h1>{all} recipes, {bad} stopped</h1>\n");
    for end in ends {
        let good = end.is_good();
        let (open, word) = [(" open", "stopped"), ("", "done")][usize::from(good)];
        let (name, ms) = (escaped(&end.job.name), end.took.as_millis());
        let text = escaped(&text(end));
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
