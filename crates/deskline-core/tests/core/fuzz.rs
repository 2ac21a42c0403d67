//! The readers of texts from files and agents, on malformed texts.

use deskline_core::escape::{escape, unescape};
use deskline_core::tree_reader::{FileLine, lines};
use deskline_core::{KeyPress, Line, Summary, summary};
use deskline_fuzz::fuzz;

const TREES: &str = include_str!("../corpora/trees.txt");

#[test]
fn fuzz_lines_of_a_tree_file_are_read_and_read_back() {
    let mut corpus: Vec<&str> = TREES.lines().collect();
    corpus.push(TREES);
    fuzz("tree lines", &corpus, |input| {
        for line in lines(&String::from_utf8_lossy(input)) {
            match line {
                FileLine::Element(line) => {
                    assert_eq!(line.to_string().parse::<Line>(), Ok(line));
                }
                FileLine::Late(delta) | FileLine::Delta(delta) => {
                    let again = delta.to_string();
                    assert_eq!(again.parse(), Ok(delta), "{again}");
                }
                FileLine::Header(_) | FileLine::Unknown(_) => {}
            }
        }
    });
}

#[test]
fn fuzz_any_text_becomes_one_line_and_reads_back() {
    fuzz("texts", &TREES.lines().collect::<Vec<_>>(), |input| {
        let text = String::from_utf8_lossy(input);
        let escaped = escape(&text);
        assert_eq!(escaped.lines().count().max(1), 1);
        assert_eq!(unescape(&escaped).as_deref(), Some(&*text));
        let _ = unescape(&text);
        let _ = KeyPress::parse(&text, &[&text]);
        let answer = Summary {
            error: Some(text.to_string()),
            app: Some(text.to_string()),
            notes: vec![text.to_string()],
            steps: vec![text.to_string()],
            summary: text.to_string(),
            target: Some(text.to_string()),
            ..Summary::default()
        }
        .render();
        assert!(answer.chars().count() < summary::LIMIT);
        let fields = answer.lines().filter(|line| !line.starts_with(' '));
        assert_eq!(
            fields.filter(|line| line.starts_with("status:")).count(),
            1,
            "{answer}"
        );
    });
}
