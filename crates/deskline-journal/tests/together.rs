//! Threads and processes that share a journal.
#![allow(clippy::unwrap_used)]

mod common;

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use common::{child_dir, journal, lines_of, open, spawn, tree};
use deskline_journal::{Journal, Outcome, Record, RefStore, Retention};

const PROCESSES: usize = 4;
const CALLS: usize = 150;

fn stamps(journal: &Journal) -> Vec<u64> {
    (0..CALLS)
        .map(|_| journal.begin("click_and_traverse").unwrap().stamp())
        .collect()
}

fn assert_increasing(runs: &[Vec<u64>]) {
    for run in runs {
        assert_eq!(run.len(), CALLS);
        assert!(run.is_sorted_by(|a, b| a < b), "{run:?}");
    }
    let all: HashSet<u64> = runs.iter().flatten().copied().collect();
    assert_eq!(all.len(), runs.len() * CALLS);
    assert!(all.iter().all(|stamp| stamp.to_string().len() == 13));
}

#[test]
fn threads_never_share_a_stamp() {
    let (_dir, journal) = journal();
    let runs = thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| stamps(&journal))).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect::<Vec<_>>()
    });
    assert_increasing(&runs);
}

#[test]
fn processes_never_share_a_stamp() {
    if let Some(dir) = child_dir() {
        for stamp in stamps(&open(&dir, Retention::default())) {
            println!("#stamp {stamp}");
        }
        return;
    }
    let (_dir, journal) = journal();
    let children: Vec<_> = (0..PROCESSES)
        .map(|_| spawn("processes_never_share_a_stamp", journal.path()))
        .collect();
    let runs: Vec<Vec<u64>> = children
        .into_iter()
        .map(|child| {
            lines_of(child, "#stamp ")
                .iter()
                .map(|s| s.parse().unwrap())
                .collect()
        })
        .collect();
    assert_increasing(&runs);
}

#[test]
fn a_lock_held_by_a_stopped_process_gives_an_error_in_time() {
    let (_dir, journal) = journal();
    journal.begin("click_and_traverse").unwrap();
    let held = fs::File::open(journal.path().join(".stamp")).unwrap();
    held.lock().unwrap();
    let started = std::time::Instant::now();
    let error = journal.begin("click_and_traverse").unwrap_err();
    assert!(started.elapsed() < Duration::from_secs(5));
    assert!(error.to_string().contains("locked"), "{error}");
    drop(held);
    journal.begin("click_and_traverse").unwrap();
}

#[test]
fn readers_never_see_a_part_of_a_file() {
    const SIZE: usize = 300_000;
    let (_dir, journal) = journal();
    let done = AtomicBool::new(false);
    let whole = |path: &Path| {
        let Ok(bytes) = fs::read(path) else {
            return false;
        };
        assert_eq!(bytes.len(), SIZE);
        assert!(bytes.iter().all(|b| *b == bytes[0]));
        true
    };
    let seen = thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut seen = 0;
            while !done.load(Ordering::Relaxed) {
                for file in journal.list().unwrap() {
                    seen += usize::from(whole(&file.path));
                }
            }
            seen
        });
        let entry = journal.begin("refresh_traversal").unwrap();
        for round in 0..400 {
            let letter = char::from(b'a' + (round % 26) as u8);
            entry.write_text(&letter.to_string().repeat(SIZE)).unwrap();
        }
        done.store(true, Ordering::Relaxed);
        reader.join().unwrap()
    });
    assert!(seen > 10, "the reader saw {seen} files");
}

#[test]
fn processes_lose_no_line_of_the_log_even_while_it_is_trimmed() {
    if let Some(dir) = child_dir() {
        let journal = open(&dir, Retention::default());
        for index in 0..CALLS {
            let mut record = Record::new("click_and_traverse", serde_json::Map::new(), Outcome::Ok);
            record.pid = Some(std::process::id());
            record.app = Some(format!("{index}"));
            journal.record(&record).unwrap();
        }
        return;
    }
    let old = 30;
    let hour = 3_600_000;
    let (_dir, journal) = journal();
    for age in (1..=old).rev() {
        let mut line = Record::new("old", serde_json::Map::new(), Outcome::Ok);
        line.ms -= (age + 1) * hour;
        journal.record(&line).unwrap();
    }
    let test = "processes_lose_no_line_of_the_log_even_while_it_is_trimmed";
    let children: Vec<_> = (0..PROCESSES)
        .map(|_| spawn(test, journal.path()))
        .collect();
    // Each time the journal is opened, one more old line is dropped, which replaces the file while
    // others write.
    for age in (1..=old).rev() {
        open(journal.path(), format!("{age}h").parse().unwrap());
        thread::sleep(Duration::from_millis(5));
    }
    for child in children {
        lines_of(child, "");
    }
    assert!(
        journal
            .records(usize::MAX)
            .unwrap()
            .iter()
            .all(|record| record.tool != "old")
    );
    let mut seen: HashMap<u32, Vec<usize>> = HashMap::new();
    for record in journal.records(usize::MAX).unwrap() {
        if let (Some(pid), Some(app)) = (record.pid, record.app) {
            seen.entry(pid).or_default().push(app.parse().unwrap());
        }
    }
    assert_eq!(seen.len(), PROCESSES);
    for indexes in seen.values() {
        assert_eq!(*indexes, (0..CALLS).collect::<Vec<_>>());
    }
}

#[test]
fn processes_assign_the_same_refs() {
    let ids = |from: usize| (from..from + 200).map(|i| format!("/element/{i}"));
    if let Some(dir) = child_dir() {
        let mut refs = RefStore::new(&open(&dir, Retention::default()));
        let start = std::process::id() as usize % 7 * 50;
        for round in 0..20 {
            let mut tree = tree(ids(start + round * 40));
            refs.assign("desktop", &mut tree).unwrap();
            for element in &tree.elements {
                println!(
                    "#ref {} {}",
                    element.id.as_str(),
                    element.reference.unwrap()
                );
            }
        }
        return;
    }
    let (_dir, journal) = journal();
    let children: Vec<_> = (0..PROCESSES)
        .map(|_| spawn("processes_assign_the_same_refs", journal.path()))
        .collect();
    let mut by_id: HashMap<String, String> = HashMap::new();
    for child in children {
        for line in lines_of(child, "#ref ") {
            let (id, number) = line.split_once(' ').unwrap();
            let known = by_id
                .entry(id.to_owned())
                .or_insert_with(|| number.to_owned());
            assert_eq!(known, number, "{id}");
        }
    }
    let numbers: HashSet<&String> = by_id.values().collect();
    assert_eq!(numbers.len(), by_id.len());
    assert!(by_id.len() > 900);
}
