//! What came of recipes: for people, as JSON, and as JUnit's XML.

use std::fmt::Write as _;

use deskline_mcp::{Played, Stop};
use serde_json::{Value, json};

use super::jobs::{End, write};
use super::{Done, Error, ExitCode, Path, print};

/// Prints what came of the jobs, and writes it into a file: `.json`, or XML.
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
        let is_json = file.extension().is_some_and(|end| end == "json");
        write(
            file,
            &if is_json {
                as_json(ends).to_string()
            } else {
                as_xml(ends)
            },
        )?;
    }
    let good = ends.iter().all(End::is_good);
    Ok(if good {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn steps(played: &Played) -> Result<(), Box<dyn Error>> {
    let of = played.recipe.steps.len();
    for (number, did) in (1..).zip(&played.done) {
        let ms = did.took.as_millis();
        let found = did
            .found
            .as_ref()
            .map_or_else(String::new, |how| format!("\n  found {how}"));
        print(&format!(
            "{number}/{of}  done     {}  {ms} ms{found}",
            did.words
        ))?;
    }
    Ok(())
}

fn why(stop: &Stop) -> String {
    let mut text = format!("  {}: {}", stop.words, stop.why);
    if stop.at.line > 0 {
        let _ = write!(text, "\n  in line {} of the recipe", stop.at.line);
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
        let _ = write!(
            xml,
            "  <testcase classname=\"recipe\" name=\"{name}\" time=\"{seconds:.3}\""
        );
        let failure = match &end.played {
            Ok(played) => played
                .stopped
                .as_ref()
                .map(|stop| (stop.why.clone(), why(stop))),
            Err(why) => Some((why.clone(), why.clone())),
        };
        let _ = match failure {
            None => writeln!(xml, "/>"),
            Some((short, long)) => {
                let (short, long) = (escaped(&short), escaped(&long));
                writeln!(
                    xml,
                    "><failure message=\"{short}\">{long}</failure></testcase>"
                )
            }
        };
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
