//! `search_tree`: grep for clients that cannot read files.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use regex::{Regex, RegexBuilder};
use serde_json::{Map, Value};

use crate::args::{Args, Wrong, shown};
use crate::files::JournalFiles;
use crate::reply::Reply;
use crate::tools::ToolRecord;

/// The longest pattern, in characters.
const LONGEST_PATTERN: usize = 1_000;
/// The maximum memory of a compiled pattern, in bytes.
const PATTERN_SIZE: usize = 1 << 20;
/// The time limit of a search.
const TIME: Duration = Duration::from_secs(2);
/// The longest answer, in characters.
const LONGEST_ANSWER: usize = 3_800;
const LONGEST_LINE: usize = 300;
/// How many of the last characters are kept of a line longer than [`LONGEST_LINE`].
const LINE_END: usize = 100;

/// The checked arguments of a call.
#[derive(Debug)]
pub(crate) struct Query {
    pattern: Regex,
    role: Option<String>,
    file: Option<String>,
    limit: usize,
}

impl Query {
    /// Reads a call's arguments.
    pub(crate) fn read(record: &ToolRecord, arguments: &Map<String, Value>) -> Result<Self, Wrong> {
        let args = Args(arguments);
        record.check(args)?;
        let example = "a regular expression such as Send|Cancel";
        let pattern = args.filled("pattern", example)?.unwrap_or_default();
        if pattern.chars().count() > LONGEST_PATTERN {
            return Err(format!(
                "pattern is longer than {LONGEST_PATTERN} characters. Search for a part of it"
            ));
        }
        let pattern = RegexBuilder::new(pattern)
            .case_insensitive(true)
            .size_limit(PATTERN_SIZE)
            .dfa_size_limit(PATTERN_SIZE)
            .build()
            .map_err(|error| why(pattern, &error))?;
        let role = args.filled("role", "the start of a role such as AXButton")?;
        Ok(Self {
            pattern,
            role: role.map(|role| bare(&role.to_lowercase()).to_owned()),
            file: args
                .filled("file", "a path from a summary")?
                .map(str::to_owned),
            limit: args.whole("limit", 1, 200)?.unwrap_or(20).unsigned_abs() as usize,
        })
    }

    pub(crate) fn run(&self, files: &JournalFiles) -> Result<Reply, Wrong> {
        let (path, text) = files.text(self.file.as_deref())?;
        let found = self.search(&text);
        let path = path.display();
        Ok(Reply::text(format!(
            "status: success\nfile: {path}\n{found}"
        )))
    }

    fn search(&self, text: &str) -> String {
        let end = Instant::now() + TIME;
        let (mut lines, mut found, mut shown, mut searched) = (String::new(), 0, 0, 0);
        let mut out_of_time = false;
        for (number, line) in (1..).zip(text.lines()) {
            if Instant::now() > end {
                out_of_time = true;
                break;
            }
            searched = number;
            if !self.matches(line) {
                continue;
            }
            found += 1;
            let line = cut(line);
            if shown < self.limit
                && lines.chars().count() + line.chars().count() + 12 < LONGEST_ANSWER
            {
                // Writing to a string does not fail.
                let _ = write!(lines, "\n{number}:{line}");
                shown += 1;
            }
        }
        let searched = deskline_core::escape::count(searched, "line");
        let mut answer = format!("matches: {found} of {searched}");
        if out_of_time {
            answer += " (out of time: the rest was not searched, use a simpler pattern)";
        } else if found > shown {
            let more = found - shown;
            let _ = write!(
                answer,
                ", {more} not shown: narrow the pattern, or raise limit"
            );
        } else if found == 0 {
            answer += ". Try a shorter pattern without role. The app may also have changed since: \
                refresh_traversal reads it again";
        }
        answer + &lines
    }

    fn matches(&self, line: &str) -> bool {
        self.role.as_ref().is_none_or(|role| has_role(line, role)) && self.pattern.is_match(line)
    }
}

/// Why a pattern is invalid, on one line.
fn why(pattern: &str, error: &regex::Error) -> Wrong {
    match error {
        regex::Error::CompiledTooBig(_) => {
            "pattern is too big once compiled. Use smaller repetitions".into()
        }
        error => {
            // The last line has the reason; the lines before it point at the position.
            let error = error.to_string();
            let what = error.lines().last().unwrap_or_default();
            format!(
                "pattern {} is not a valid regular expression: {}. Escape literal characters: \
                \\( \\[ \\.",
                shown(&pattern.into()),
                what.trim_start_matches("error: ")
            )
        }
    }
}

/// Whether the role of the line's element starts with `role`, which has no `ax` and is in lower
/// case.
fn has_role(line: &str, role: &str) -> bool {
    let marker = ['+', '-', '~', ' '];
    let line = line.strip_prefix("late ").unwrap_or(line);
    let line = line.trim_start_matches(marker).strip_prefix('[');
    line.is_some_and(|line| bare(&line.to_lowercase()).starts_with(role))
}

/// A role without the `ax` prefix.
fn bare(role: &str) -> &str {
    role.strip_prefix("ax").unwrap_or(role)
}

/// Cuts a long line, but not its end, where the element's ref is. Tree lines are escaped already.
fn cut(line: &str) -> String {
    let chars: Vec<char> = line.chars().collect();
    if chars.len() <= LONGEST_LINE {
        return line.to_owned();
    }
    let (start, end) = (LONGEST_LINE - LINE_END, chars.len() - LINE_END);
    let cut = chars[..start].iter().chain(&['…']).chain(&chars[end..]);
    cut.collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::tools::find;

    const TREE: &str = "# Notes — 3 elements (0.02s)\n\
        + [AXStaticText (label)] \"Sending…\" x:40 y:610 w:90 h:18 visible #e97\n\
        # tree:\n \
        [AXButton (push button)] \"Send\" x:680 y:520 w:80 h:30 visible #e42\n \
        [AXTextField (text)] \"To\" | AXValue: \"send (it)\" x:1 y:2 w:3 h:4 #e7";

    fn query(arguments: Value) -> Result<Query, Wrong> {
        let Value::Object(arguments) = arguments else {
            panic!("not an object");
        };
        Query::read(find("search_tree").unwrap(), &arguments)
    }

    fn search(arguments: Value) -> String {
        query(arguments).unwrap().search(TREE)
    }

    #[test]
    fn a_search_numbers_lines_like_grep() {
        assert_eq!(
            search(json!({"pattern": "SEND$|\"send\""})),
            "matches: 1 of 5 lines\n4: [AXButton (push button)] \"Send\" x:680 y:520 w:80 h:30 \
            visible #e42"
        );
        assert_eq!(
            search(json!({"pattern": "send", "limit": "1"})),
            "matches: 3 of 5 lines, 2 not shown: narrow the pattern, or raise limit\n\
            2:+ [AXStaticText (label)] \"Sending…\" x:40 y:610 w:90 h:18 visible #e97"
        );
        assert!(search(json!({"pattern": "nowhere"})).starts_with("matches: 0 of 5 lines. Try"));
    }

    #[test]
    fn a_search_is_narrowed_by_the_start_of_a_role() {
        for role in ["AXText", "text", "AXTEXTFIELD"] {
            let found = search(json!({"pattern": "send", "role": role}));
            assert!(
                found.starts_with("matches: 1 of 5 lines\n5: [AXTextField"),
                "{found}"
            );
        }
        let found = search(json!({"pattern": "send", "role": "static"}));
        assert!(found.starts_with("matches: 1 of 5 lines\n2:+ ["), "{found}");
    }

    #[test]
    fn an_invalid_pattern_is_refused() {
        for (arguments, error) in [
            (json!({}), "pattern is missing. search_tree needs pattern"),
            (
                json!({"pattern": " "}),
                "pattern is empty. Pass a regular expression such as Send|Cancel, or leave it out",
            ),
            (
                json!({"pattern": "Send ("}),
                "pattern \"Send (\" is not a valid regular expression: unclosed group. Escape \
                literal characters: \\( \\[ \\.",
            ),
            (
                json!({"pattern": "(a{500}){500}"}),
                "pattern is too big once compiled. Use smaller repetitions",
            ),
            (
                json!({"pattern": "a".repeat(1_001)}),
                "pattern is longer than 1000 characters. Search for a part of it",
            ),
            (
                json!({"pattern": "a", "limit": 0}),
                "limit must be from 1 to 200, not 0",
            ),
            (
                json!({"pattern": "a", "pid": 3}),
                "unknown argument \"pid\" for search_tree. Did you mean \"file\"?",
            ),
        ] {
            assert_eq!(query(arguments).unwrap_err(), error);
        }
    }

    #[test]
    fn the_result_of_a_search_stays_short_however_long_the_lines() {
        let tree = vec!["é".repeat(5_000); 500].join("\n");
        let found = query(json!({"pattern": ".", "limit": 200}))
            .unwrap()
            .search(&tree);
        assert!(found.chars().count() < 4_000);
        assert!(
            found.starts_with("matches: 500 of 500 lines, 488 not shown"),
            "{found:.80}"
        );
    }
}
