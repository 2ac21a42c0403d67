//! Reading the journal: lists, newest files, names from agents, the log.
#![allow(clippy::unwrap_used)]

mod common;

use deskline_journal::Shot;
use std::fs;
#[cfg(unix)]
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::Duration;

use common::journal;
use deskline_journal::{DiffCounts, FileKind, Follow, Journal, Outcome, Record};
use proptest::prelude::*;
use serde_json::{Map, json};

fn arguments(value: &serde_json::Value) -> Map<String, serde_json::Value> {
    value.as_object().unwrap().clone()
}

#[test]
fn own_files_are_listed_oldest_first_and_foreign_files_are_not() {
    let (_dir, journal) = journal();
    assert!(journal.list().unwrap().is_empty());
    let first = journal.begin("open_application_and_traverse").unwrap();
    first.write_text("one").unwrap();
    first.write_picture(&Shot::new(1, 1, &[0; 3])).unwrap();
    let second = journal.begin("macos-use_click/../and traverse").unwrap();
    second.write_text("three").unwrap();
    journal.begin("never_written").unwrap();
    for stranger in [
        "notes.txt",
        "9999999999999_x.txt.bak",
        "1776457217931_a b.txt",
    ] {
        fs::write(journal.path().join(stranger), "").unwrap();
    }
    #[cfg(unix)]
    symlink("/etc/passwd", journal.path().join("9999999999999_link.txt")).unwrap();
    fs::create_dir(journal.path().join("9999999999999_folder.png")).unwrap();

    let listed: Vec<_> = journal
        .list()
        .unwrap()
        .into_iter()
        .map(|file| (file.path, file.stamp, file.tool, file.kind, file.bytes))
        .collect();
    let tool = "open_application_and_traverse".to_owned();
    assert_eq!(listed.len(), 3);
    let picture = (
        first.picture_path(),
        first.stamp(),
        tool.clone(),
        FileKind::Picture,
    );
    assert_eq!(
        (
            listed[0].0.clone(),
            listed[0].1,
            listed[0].2.clone(),
            listed[0].3
        ),
        picture
    );
    assert_eq!(
        listed[1],
        (first.text_path(), first.stamp(), tool, FileKind::Text, 3)
    );
    let tool = "macos-use_click____and_traverse".to_owned();
    assert_eq!(
        listed[2],
        (second.text_path(), second.stamp(), tool, FileKind::Text, 5)
    );
}

#[test]
fn only_the_journals_own_files_are_found_by_name() {
    let (dir, journal) = journal();
    let entry = journal.begin("click_and_traverse").unwrap();
    entry.write_text("text").unwrap();
    let path = entry.text_path();
    let name = path.file_name().unwrap().to_str().unwrap();
    let whole = path.to_str().unwrap();
    for good in [name.to_owned(), whole.to_owned()] {
        assert_eq!(journal.resolve_inside(&good).unwrap(), path);
    }

    fs::write(dir.path().join(name), "outside").unwrap();
    let link = "1776457217931_link.txt";
    #[cfg(unix)]
    symlink("/etc/passwd", journal.path().join(link)).unwrap();
    fs::create_dir(journal.path().join("1776457217931_folder.txt")).unwrap();
    journal
        .record(&Record::new("t", Map::new(), Outcome::Ok))
        .unwrap();
    let folder = journal.path().to_str().unwrap();
    for bad in [
        "",
        ".",
        "..",
        "/",
        "/etc/passwd",
        "journal.jsonl",
        "refs",
        ".stamp",
        link,
        "1776457217931_folder.txt",
        "1776457217931_missing.txt",
        &format!("./{name}"),
        &format!("../{name}"),
        &format!("../journal/{name}"),
        &format!("{folder}/../{name}"),
        &format!("{folder}/../journal/{name}"),
        &format!("{folder}/x/../{name}"),
        &format!("{}/{name}", dir.path().display()),
        &format!("{name}/.."),
        &format!("{name}\0"),
        &format!("file://{whole}"),
        folder,
    ] {
        let error = journal.resolve_inside(bad).unwrap_err();
        assert!(
            error.to_string().contains("is not a file of the log"),
            "{bad}: {error}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn every_resolved_path_is_inside_the_journal(
        name in r"(/|\.|\.\.|[0-9]{13}_a\.txt|journal|\PC){0,6}"
    ) {
        let (_dir, journal) = journal();
        if let Ok(path) = journal.resolve_inside(&name) {
            prop_assert_eq!(path.parent(), Some(journal.path()));
        }
    }
}

#[test]
fn records_are_read_back_as_they_were_written() {
    let (_dir, journal) = journal();
    assert!(journal.records(10).unwrap().is_empty());
    let mut record = Record::new(
        "click_and_traverse",
        arguments(
            &json!({"pid": 4821, "element": "Se\u{2028}nd\n\u{202e}", "zebra": 1, "apple": 2}),
        ),
        Outcome::Error("no \"Send\": \u{1b}[31m".into()),
    );
    record.pid = Some(4821);
    record.app = Some("Mes\nsages\u{2066}".into());
    record.diff = Some(DiffCounts {
        added: 2,
        removed: 1,
        modified: 3,
    });
    record.step("resolve", Duration::from_micros(12_345));
    record.step("act", Duration::from_millis(3));
    record.step("resolve", Duration::from_millis(1));
    record.guard_held(Duration::from_millis(250));
    record.files.text = Some("/tmp/deskline/x.txt".into());
    journal.record(&record).unwrap();
    assert_eq!(journal.records(10).unwrap(), [record]);

    let line = fs::read_to_string(journal.path().join("journal.jsonl")).unwrap();
    assert_eq!(line.lines().count(), 1);
    let hostile = |c: char| deskline_core::escape::is_hostile(c);
    assert!(!line.trim_end_matches('\n').contains(hostile), "{line}");
    for part in [
        r#""tool":"click_and_traverse","arguments":{"pid":4821,"element":"#,
        r#""zebra":1,"apple":2}"#,
        r#""outcome":"error: no "#,
        r#""diff":{"added":2,"removed":1,"modified":3}"#,
        r#""steps_ms":{"resolve":13.345,"act":3.0},"guard_held_ms":250.0"#,
        r#""files":{"text":"/tmp/deskline/x.txt"}"#,
    ] {
        assert!(line.contains(part), "{part} in {line}");
    }
}

#[test]
fn damaged_lines_are_skipped() {
    let (_dir, journal) = journal();
    let record = |tool: &str| Record::new(tool, Map::new(), Outcome::Cancelled);
    journal.record(&record("one")).unwrap();
    let log = journal.path().join("journal.jsonl");
    let mut text = fs::read(&log).unwrap();
    text.extend_from_slice(b"{\"ms\":17764572\xff");
    fs::write(&log, text).unwrap();
    journal.record(&record("two")).unwrap();
    let tools: Vec<_> = journal
        .records(9)
        .unwrap()
        .into_iter()
        .map(|r| r.tool)
        .collect();
    assert_eq!(tools, ["one", "two"]);
}

#[test]
fn the_newest_records_are_found_in_a_long_log() {
    let (_dir, journal) = journal();
    let pad = "x".repeat(3_000);
    for index in 0..100 {
        let tool = format!("tool{index}");
        let arguments = arguments(&json!({ "text": pad }));
        journal
            .record(&Record::new(tool, arguments, Outcome::Ok))
            .unwrap();
    }
    for limit in [0, 1, 40, 99, 100, 101] {
        let tools: Vec<_> = journal
            .records(limit)
            .unwrap()
            .into_iter()
            .map(|r| r.tool)
            .collect();
        let expected: Vec<_> = (0..100)
            .skip(100_usize.saturating_sub(limit))
            .map(|i| format!("tool{i}"))
            .collect();
        assert_eq!(tools, expected);
    }
}

#[test]
fn megabytes_of_arguments_are_cut() {
    let (_dir, journal) = journal();
    let text = "é".repeat(3_000_000);
    let mut record = Record::new(
        "type_and_traverse",
        arguments(&json!({"pid": 1, "text": text})),
        Outcome::Ok,
    );
    record.app = Some(text.clone());
    record.outcome = Outcome::Error(text);
    journal.record(&record).unwrap();
    let size = fs::metadata(journal.path().join("journal.jsonl"))
        .unwrap()
        .len();
    assert!(size < 300_000, "{size}");
    let read = &journal.records(1).unwrap()[0];
    assert!(
        read.arguments
            .as_str()
            .unwrap()
            .starts_with("{\"pid\":1,\"text\":\"éé")
    );
    assert!(read.app.as_ref().unwrap().ends_with("…(+2996000)"));
}

#[test]
fn a_follower_gets_each_record_once_also_when_the_log_was_replaced() {
    let (_dir, journal) = journal();
    let record = |tool: &str| {
        let record = Record::new(tool, serde_json::Map::new(), Outcome::Ok);
        journal.record(&record).unwrap();
    };
    let mut follow = Follow::all(&journal);
    let mut new = || -> Vec<String> {
        let records = follow.read().unwrap();
        records.into_iter().map(|record| record.tool).collect()
    };
    assert!(new().is_empty());
    record("one");
    record("two");
    assert_eq!(new(), ["one", "two"]);
    assert!(new().is_empty());
    let log = journal.path().join("journal.jsonl");
    // Half a line is read only once it is complete.
    let text = std::fs::read_to_string(&log).unwrap();
    let line = text.lines().last().unwrap().replace("two", "three");
    let (start, end) = line.split_at(20);
    append(&log, start);
    assert!(new().is_empty());
    append(&log, &format!("{end}\n"));
    assert_eq!(new(), ["three"]);
    // Trimming puts a new file in its place, without the oldest lines.
    let text = std::fs::read_to_string(&log).unwrap();
    let kept = text.split_once('\n').unwrap().1;
    let other = journal.path().join("other");
    std::fs::write(&other, format!("{kept}{}\n", line.replace("three", "four"))).unwrap();
    // Not every file system can rename a file over one that is open.
    #[cfg(windows)]
    std::fs::rename(&log, journal.path().join("aside")).unwrap();
    std::fs::rename(&other, &log).unwrap();
    assert_eq!(new(), ["four"]);
}

fn append(path: &Path, text: &str) {
    let mut file = std::fs::OpenOptions::new().append(true).open(path).unwrap();
    std::io::Write::write_all(&mut file, text.as_bytes()).unwrap();
}

#[test]
fn opening_to_read_prunes_and_creates_nothing() {
    let (dir, journal) = journal();
    let old = journal.path().join("1000000000000_refresh_traversal.txt");
    std::fs::write(&old, "old").unwrap();
    let read = Journal::open_to_read(Some(journal.path())).unwrap();
    assert_eq!(
        read.read("1000000000000_refresh_traversal.txt").unwrap(),
        b"old"
    );
    let missing = dir.path().join("missing");
    assert!(Journal::open_to_read(Some(&missing)).is_err());
    assert!(!missing.exists());
}

#[test]
fn only_files_of_the_journal_are_read() {
    let (dir, journal) = journal();
    let outside = dir.path().join("secret");
    std::fs::write(&outside, "secret").unwrap();
    let link = "1776457217931_click_and_traverse.txt";
    #[cfg(unix)]
    symlink(&outside, journal.path().join(link)).unwrap();
    for name in [
        link,
        "../secret",
        "journal.jsonl",
        "refs",
        "",
        "/etc/passwd",
    ] {
        assert!(journal.read(name).is_err(), "{name}");
    }
}
