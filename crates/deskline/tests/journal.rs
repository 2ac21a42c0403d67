//! `deskline log` and `deskline grep` on a journal.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use deskline_journal::{Journal, Outcome, Record};
use serde_json::Map;

struct Run {
    folder: tempfile::TempDir,
    journal: Journal,
}

impl Run {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let journal = Journal::open(
            Some(&folder.path().join("journal")),
            "1GiB,7d".parse().unwrap(),
        );
        Self {
            folder,
            journal: journal.unwrap(),
        }
    }

    fn deskline(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_deskline"));
        command
            .args(args)
            .env("DESKLINE_DIR", self.folder.path().join("journal"));
        command
    }

    fn output(&self, args: &[&str]) -> (i32, String) {
        let output = self.deskline(args).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        (output.status.code().unwrap(), text)
    }

    fn record(&self, tool: &str, app: &str, outcome: Outcome) {
        let mut record = Record::new(tool, Map::new(), outcome);
        record.app = Some(app.into());
        self.journal.record(&record).unwrap();
    }

    fn tree(&self, text: &str) {
        let files = self.journal.begin("click_and_traverse").unwrap();
        files.write_text(text).unwrap();
    }
}

#[test]
fn log_shows_the_newest_calls_that_match_its_filters() {
    let run = Run::new();
    assert_eq!(run.output(&["log"]), (0, "No calls yet.\n".into()));
    run.record("click_and_traverse", "Notes", Outcome::Ok);
    run.record("type_and_traverse", "Mail", Outcome::Ok);
    run.record(
        "click_and_traverse",
        "Mail",
        Outcome::Error("no such".into()),
    );
    let count = |args: &[&str]| run.output(args).1.matches("_and_traverse").count();
    assert_eq!(count(&["log"]), 3);
    assert_eq!(count(&["log", "--app", "mail"]), 2);
    assert_eq!(count(&["log", "--app", "mail", "--tool", "click"]), 1);
    assert_eq!(count(&["log", "--outcome", "error", "--json"]), 1);
    let (_, newest) = run.output(&["log", "--app", "mail", "-n", "1"]);
    assert!(
        newest.contains("error") && !newest.contains("type_"),
        "{newest}"
    );
}

#[test]
fn log_follow_prints_new_calls() {
    let run = Run::new();
    run.record("click_and_traverse", "Notes", Outcome::Ok);
    let mut log = run
        .deskline(&["log", "--follow", "--json", "--app", "notes"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(log.stdout.take().unwrap()).lines();
    let mut next = || -> Record { serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap() };
    assert_eq!(next().tool, "click_and_traverse");
    run.record("type_and_traverse", "Mail", Outcome::Ok);
    run.record("scroll_and_traverse", "Notes", Outcome::Ok);
    assert_eq!(next().tool, "scroll_and_traverse");
    run.record("drag_and_traverse", "Notes", Outcome::Cancelled);
    assert_eq!(next().tool, "drag_and_traverse");
    // It ends once nobody reads its output any more.
    drop(lines);
    while log.try_wait().unwrap().is_none() {
        run.record("click_and_traverse", "Notes", Outcome::Ok);
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
}

#[test]
fn grep_finds_the_newest_first() {
    let run = Run::new();
    run.tree("# Shop\n [AXStaticText] \"Total: 12\" #e1\n [AXButton] \"Buy\" #e2\n");
    run.tree("# Shop\n [AXStaticText] \"Total: 15\" #e1\n [AXStaticText] \"total: 3\" #e9\n");
    let (code, all) = run.output(&["grep", "total: [0-9]+"]);
    assert_eq!(code, 0);
    let found: Vec<_> = all
        .lines()
        .map(|l| l.split_once(".txt:").unwrap().1)
        .collect();
    assert_eq!(
        found,
        [
            "2:  [AXStaticText] \"Total: 15\" #e1",
            "3:  [AXStaticText] \"total: 3\" #e9",
            "2:  [AXStaticText] \"Total: 12\" #e1"
        ]
    );
    assert!(all.starts_with("20"), "{all}");
    let (_, one) = run.output(&["grep", "-n", "1", "^ \\[AXStatic"]);
    assert_eq!(one.lines().count(), 1);
    assert_eq!(run.output(&["grep", "Nowhere"]), (1, String::new()));
    assert_eq!(run.output(&["grep", "("]).0, 1);
    // A pattern that matches the end of a line does not match the next line.
    assert_eq!(run.output(&["grep", "Shop\\s+\\[AXS"]).0, 1);
}

/// Finds every line, with any number of threads and batches.
#[test]
fn grep_misses_nothing_in_many_files() {
    let run = Run::new();
    for i in 0..300 {
        run.tree(&format!(
            "# {i}\n [AXButton] \"item {i}\"\n [AXButton] \"item {i} again\"\n"
        ));
    }
    let (_, all) = run.output(&["grep", "-n", "1000", "item"]);
    let found: Vec<_> = all.lines().collect();
    assert_eq!(found.len(), 600);
    for (i, pair) in found.chunks(2).enumerate() {
        assert!(
            pair[0].ends_with(&format!("2:  [AXButton] \"item {}\"", 299 - i)),
            "{pair:?}"
        );
        assert!(pair[1].ends_with("again\""), "{pair:?}");
    }
}

/// Other users can read the arguments of a process.
#[cfg(target_os = "linux")]
#[test]
fn the_browser_is_started_without_the_token() {
    use std::io::{Read as _, Write as _};
    use std::os::unix::fs::PermissionsExt as _;

    let run = Run::new();
    let at = |name: &str| run.folder.path().join(name);
    std::fs::write(
        at("xdg-open"),
        "#!/bin/sh\nprintf '%s\\n' \"$@\" > \"$OPENED.part\"; mv \"$OPENED.part\" \"$OPENED\"\n",
    )
    .unwrap();
    std::fs::set_permissions(at("xdg-open"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/bin:/bin", run.folder.path().display());
    let mut child = run
        .deskline(&["view"])
        .env("PATH", path)
        .env("OPENED", at("opened"))
        .env("DISPLAY", ":1")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    out.read_line(&mut line).unwrap();
    let (host, token) = line
        .trim()
        .strip_prefix("http://")
        .unwrap()
        .split_once('/')
        .unwrap();
    let end = std::time::Instant::now() + std::time::Duration::from_secs(20);
    let opened = loop {
        if let Ok(opened) = std::fs::read_to_string(at("opened")) {
            break opened;
        }
        assert!(std::time::Instant::now() < end, "no browser was started");
        std::thread::sleep(std::time::Duration::from_millis(5));
    };
    assert!(!opened.contains(token.trim_matches('/')), "{opened}");
    let way = opened
        .trim()
        .strip_prefix(&format!("http://{host}"))
        .unwrap();
    let ask = || {
        let mut stream = std::net::TcpStream::connect(host).unwrap();
        write!(
            stream,
            "GET {way} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    let first = ask();
    assert!(first.starts_with("HTTP/1.1 303"), "{first}");
    assert!(
        first.contains(&format!("location: /{token}\r\n")),
        "{first}"
    );
    assert!(ask().starts_with("HTTP/1.1 404"));
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn a_folder_whose_name_is_not_text_is_refused() {
    use std::os::unix::ffi::OsStrExt as _;
    let run = Run::new();
    for name in [&b"caf\xe9"[..], b"a\nb"] {
        let dir = run.folder.path().join(std::ffi::OsStr::from_bytes(name));
        for args in [&["log"][..], &["call", "list_applications"], &["doctor"]] {
            let output = run
                .deskline(args)
                .env("DESKLINE_DIR", &dir)
                .output()
                .unwrap();
            let output_text = [output.stdout, output.stderr].concat();
            let output_text = String::from_utf8(output_text).unwrap();
            assert_eq!(output.status.code(), Some(1), "{args:?}: {output_text}");
            assert!(
                output_text.contains("agents get its path as text"),
                "{args:?}: {output_text}"
            );
        }
        assert!(!dir.exists());
    }
}
