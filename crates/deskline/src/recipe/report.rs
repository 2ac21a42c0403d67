//! What came of recipes: for people, as JSON, as JUnit's XML, and as a page.

use std::fmt::Write as _;

use base64::prelude::{BASE64_STANDARD, Engine as _};
use deskline_mcp::{Played, Stop};
use deskline_recipe::Place;
use serde_json::{Value, json};

use super::jobs::{End, write};
use super::{Done, Fallible, Path, exit_code, print};

/// Prints what came of the jobs, and writes it into a file: `.json`, `.html`, or XML.
pub(super) fn told(ends: &[End], file: Option<&Path>) -> Done {
    for end in ends {
        let ms = end.took.as_millis();
        match &end.played {
            Err(why) => print(&format!("{}  stopped  {why}", end.name))?,
            Ok(played) => {
                steps(played)?;
                if let Some(stop) = &played.stopped {
                    print(&format!("{}  stopped  {ms} ms\n{}", end.name, why(stop)))?;
                } else {
                    print(&format!("{}  done  {ms} ms", end.name))?;
                }
            }
        }
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

fn steps(played: &Played) -> Fallible {
    let of = played.recipe.steps.len();
    for (number, did) in (1..).zip(&played.done) {
        let ms = did.took.as_millis();
        let found = did.found.iter().map(|how| format!("\n  found {how}"));
        let (words, found) = (&did.words, found.collect::<String>());
        print(&format!("{number}/{of}  done     {words}  {ms} ms{found}"))?;
    }
    Ok(())
}

fn why(stop: &Stop) -> String {
    let mut text = format!("  {}: {}", stop.words, stop.why);
    let Place { line, column } = stop.at;
    if line > 0 {
        let _ = write!(text, "\n  in line {line}, column {column} of the recipe");
    }
    for (name, all) in [("expected", &stop.expected), ("changed", &stop.seen)] {
        for line in all {
            let _ = write!(text, "\n  {name}: {line}");
        }
    }
    for (name, path) in [("picture", &stop.picture), ("tree", &stop.file)] {
        if let Some(path) = path {
            let _ = write!(text, "\n  {name}: {path}");
        }
    }
    text
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

/// For XML, which has no control characters but these.
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
.bad summary{font-weight:bold}img{max-width:100%;border:1px solid}pre{white-space:pre-wrap}</style>
";

fn as_page(ends: &[End]) -> String {
    let bad = ends.iter().filter(|end| !end.is_good()).count();
    let mut page = format!("{HEAD}<h1>{} recipes, {bad} stopped</h1>\n", ends.len());
    for end in ends {
        let (class, open, word) = if end.is_good() {
            ("good", "", "done")
        } else {
            ("bad", " open", "stopped")
        };
        let (name, ms) = (escaped(&end.name), end.took.as_millis());
        // Writing to a String cannot fail.
        let _ = writeln!(
            page,
            "<details class=\"{class}\"{open}><summary>{name}: {word}, {ms} ms</summary>"
        );
        match &end.played {
            Ok(played) => page_steps(&mut page, played),
            Err(why) => {
                let _ = writeln!(page, "<pre>{}</pre>", escaped(why));
            }
        }
        page += "</details>\n";
    }
    page + "</html>\n"
}

fn page_steps(page: &mut String, played: &Played) {
    *page += "<ol>\n";
    for did in &played.done {
        let found = did.found.as_ref();
        let found = found.map_or_else(String::new, |how| format!(" (found {how})"));
        let (words, ms) = (escaped(&(did.words.clone() + &found)), did.took.as_millis());
        let _ = writeln!(page, "<li>{words} <small>{ms} ms</small></li>");
    }
    *page += "</ol>\n";
    if let Some(stop) = &played.stopped {
        let why = escaped(&why(stop)).replace("&#10;", "\n");
        let _ = writeln!(page, "<pre>{why}</pre>");
    }
    *page += &picture(played).unwrap_or_default();
}

fn picture(played: &Played) -> Option<String> {
    let png = std::fs::read(played.picture.as_ref()?).ok()?;
    let png = BASE64_STANDARD.encode(png);
    Some(format!(
        "<img alt=\"The app's window at the end\" src=\"data:image/png;base64,{png}\">\n"
    ))
}
