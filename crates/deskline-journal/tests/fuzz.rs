//! The journal's readers on damaged files.
#![allow(clippy::unwrap_used)]

mod common;

use std::fs;

use common::{journal, tree};
use deskline_fuzz::{Mutator, fuzz, fuzz_with};
use deskline_journal::{FileKind, Follow, RefStore, Retention};

const LOG: &str = include_str!("corpora/journal.jsonl");

#[test]
fn fuzz_any_log_is_read() {
    let (_dir, journal) = journal();
    let mut corpus: Vec<&str> = LOG.lines().collect();
    corpus.push(LOG);
    fuzz("journal lines", &corpus, |input| {
        fs::write(journal.path().join("journal.jsonl"), input).unwrap();
        let records = journal.records(100).unwrap();
        for record in &records {
            let line = record.to_json().unwrap();
            assert_eq!(line.lines().count(), 1);
            assert_eq!(
                serde_json::from_str::<deskline_journal::Record>(&line).unwrap(),
                *record
            );
            let _ = record.file_name(FileKind::Text);
        }
        // The last line may still be in writing.
        let _ = Follow::all(&journal).read().unwrap();
        let text = String::from_utf8_lossy(input);
        let _ = text.parse::<Retention>();
        let _ = journal.resolve_inside(&text);
    });
}

/// No element ever gets the ref of another, whatever happened to the file.
#[test]
fn fuzz_any_file_of_refs_is_read() {
    let corpus = {
        let (_dir, journal) = journal();
        let mut refs = RefStore::new(&journal);
        for ids in [0..3, 3..9] {
            refs.assign("d", &mut tree(ids.map(|i: u32| format!("/{i}"))))
                .unwrap();
        }
        [fs::read(journal.path().join("refs")).unwrap()]
    };
    let mut mutator = Mutator::new(&corpus);
    let (_dir, journal) = journal();
    fuzz_with(
        "refs",
        |rng| mutator.next(rng),
        |input| {
            fs::write(journal.path().join("refs"), input).unwrap();
            let mut found = tree((0..12).map(|i| format!("/{i}")));
            // A damaged file is an error, and all elements have refs nevertheless.
            let _ = RefStore::new(&journal).assign("d", &mut found);
            let mut refs: Vec<_> = found
                .elements
                .iter()
                .map(|e| e.reference.unwrap())
                .collect();
            refs.sort_unstable();
            refs.dedup();
            assert_eq!(refs.len(), found.elements.len());
        },
    );
}
