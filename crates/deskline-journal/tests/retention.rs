//! Which entries the journal removes, and which it always keeps.
#![allow(clippy::unwrap_used)]

mod common;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use common::{journal, open};
use deskline_journal::{Journal, Outcome, Record, Retention};

const HOUR: u64 = 3_600_000;

fn now() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_millis() as u64
}

fn pair(journal: &Path, stamp: u64, bytes: usize) {
    for extension in ["txt", "png"] {
        fs::write(
            journal.join(format!("{stamp}_click.{extension}")),
            vec![b'x'; bytes / 2],
        )
        .unwrap();
    }
}

fn stamps(journal: &Journal) -> Vec<u64> {
    let stamps: BTreeSet<u64> = journal
        .list()
        .unwrap()
        .iter()
        .map(|file| file.stamp)
        .collect();
    stamps.into_iter().collect()
}

fn keep(bytes: u64, hours: u64) -> Retention {
    Retention {
        bytes,
        age: Duration::from_millis(hours * HOUR),
    }
}

#[test]
fn the_oldest_entries_are_removed_until_the_size_limit_is_met() {
    let (_dir, journal) = journal();
    let start = now() - HOUR;
    for index in 0..10 {
        pair(journal.path(), start + index, 1_000);
    }
    // A sixteenth of the limit stays free for entries written until the next pruning.
    let kept = open(journal.path(), keep(6_400, 24));
    assert_eq!(stamps(&kept), (start + 4..start + 10).collect::<Vec<_>>());
}

#[test]
fn the_newest_entry_is_never_removed() {
    let (_dir, journal) = journal();
    let start = now() - 100 * HOUR;
    pair(journal.path(), start, 1_000);
    pair(journal.path(), start + 1, 5_000);
    assert_eq!(stamps(&open(journal.path(), keep(0, 0))), [start + 1]);
    assert_eq!(open(journal.path(), keep(0, 0)).list().unwrap().len(), 2);
}

#[test]
fn entries_past_their_age_are_removed_even_if_there_is_room() {
    let (_dir, journal) = journal();
    let now = now();
    for hours in [50, 30, 25, 23, 1] {
        pair(journal.path(), now - hours * HOUR, 10);
    }
    let kept = open(journal.path(), keep(1 << 30, 24));
    assert_eq!(stamps(&kept), [now - 23 * HOUR, now - HOUR]);
}

/// macOS removes files from /tmp that have not changed for three days.
#[test]
fn kept_files_are_touched_so_that_the_system_does_not_remove_them() {
    let (_dir, journal) = journal();
    let day = Duration::from_secs(86_400);
    let stamp = now() - 2 * 24 * HOUR;
    pair(journal.path(), stamp, 10);
    pair(journal.path(), now() - HOUR, 10);
    let names = [format!("{stamp}_click.txt"), "journal.jsonl".to_owned()];
    for name in &names {
        let file = fs::File::create(journal.path().join(name)).unwrap();
        file.set_modified(SystemTime::now() - 2 * day).unwrap();
    }
    open(journal.path(), keep(1 << 30, 7 * 24));
    for name in &names {
        let changed = fs::metadata(journal.path().join(name)).unwrap();
        let age = changed.modified().unwrap().elapsed().unwrap();
        assert!(age < day, "{name}: {age:?}");
    }
}

#[test]
fn the_size_limit_holds_while_calls_go_on() {
    let (_dir, journal) = journal();
    let bytes = 200_000;
    let journal = open(journal.path(), keep(bytes, 24));
    let mut newest = 0;
    for _ in 0..200 {
        let entry = journal.begin("refresh_traversal").unwrap();
        entry.write_text(&"x".repeat(7_000)).unwrap();
        journal
            .record(&Record::new(
                "refresh_traversal",
                serde_json::Map::new(),
                Outcome::Ok,
            ))
            .unwrap();
        let total: u64 = journal.list().unwrap().iter().map(|file| file.bytes).sum();
        assert!(total <= bytes, "{total}");
        newest = entry.stamp();
    }
    let left = stamps(&journal);
    assert_eq!(left.last(), Some(&newest));
    assert!(left.len() > 20, "{}", left.len());
    let log = fs::metadata(journal.path().join("journal.jsonl"))
        .unwrap()
        .len();
    assert!(log <= bytes / 8, "{log}");
}

#[test]
fn the_log_drops_old_lines_and_the_older_half_if_there_are_too_many() {
    let (_dir, journal) = journal();
    let log = |ms: u64, tool: &str| Record {
        ms,
        ..Record::new(tool, serde_json::Map::new(), Outcome::Ok)
    };
    let now = now();
    for (ms, tool) in [
        (now - 30 * HOUR, "old"),
        (now - 25 * HOUR, "old"),
        (now - HOUR, "new"),
        (now, "new"),
    ] {
        journal.record(&log(ms, tool)).unwrap();
    }
    let tools = |journal: &Journal| -> Vec<String> {
        journal
            .records(1_000)
            .unwrap()
            .into_iter()
            .map(|record| record.tool)
            .collect()
    };
    assert_eq!(
        tools(&open(journal.path(), keep(1 << 30, 24))),
        ["new", "new"]
    );
    for index in 0..100 {
        journal.record(&log(now, &format!("{index}"))).unwrap();
    }
    let left = tools(&open(journal.path(), keep(16 * 4_000, 24)));
    assert!((10..40).contains(&left.len()), "{}", left.len());
    let newest: Vec<_> = (100 - left.len()..100).map(|i| i.to_string()).collect();
    assert_eq!(left, newest);
    assert_eq!(tools(&open(journal.path(), keep(0, 0))), ["99"]);
}

#[test]
fn foreign_files_stay_and_leftovers_are_removed() {
    let (_dir, journal) = journal();
    let long_ago = SystemTime::now() - Duration::from_secs(90 * 24 * 3_600);
    let strangers = [
        "notes.txt",
        "1000000000001_click.txt.bak",
        "1000000000001_click.jpg",
        "1000000000001_my notes.txt",
        ".deskline-notes.tmp",
        ".deskline-1-.tmp",
        "refs",
    ];
    let write = |name: &str, time| {
        let file = fs::File::create(journal.path().join(name)).unwrap();
        file.set_modified(time).unwrap();
    };
    for name in strangers {
        write(name, long_ago);
    }
    fs::create_dir(journal.path().join("1000000000001_folder.txt")).unwrap();
    write(".deskline-4821-7.tmp", long_ago);
    write(".deskline-4821-8.tmp", SystemTime::now());
    write("1000000000001_click.txt", long_ago);
    write("1000000000002_click.txt", long_ago);
    open(journal.path(), keep(0, 0));

    let mut expected: BTreeSet<String> = strangers.iter().map(ToString::to_string).collect();
    expected.extend(
        [
            ".clock",
            "1000000000001_folder.txt",
            ".deskline-4821-8.tmp",
            "1000000000002_click.txt",
        ]
        .map(String::from),
    );
    let left: BTreeSet<String> = fs::read_dir(journal.path())
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(left, expected);
}

#[test]
fn two_processes_may_prune_at_once() {
    let (_dir, journal) = journal();
    let start = now() - HOUR;
    for index in 0..300 {
        pair(journal.path(), start + index, 100);
    }
    std::thread::scope(|scope| {
        for bytes in [3_200, 1_600, 3_200, 1_600] {
            let path = journal.path();
            scope.spawn(move || open(path, keep(bytes, 24)));
        }
    });
    assert_eq!(stamps(&journal).len(), 15);
    assert_eq!(journal.list().unwrap().len(), 30);
}
