//! A journal made by the test, a server that shows it, and a client that can send requests that no
//! browser sends.
#![allow(dead_code)]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use deskline_core::{Point, escape};
use deskline_journal::{DiffCounts, Journal, Outcome, Record, Retention, Shot};
use deskline_view::Server;
use serde_json::{Value, json};
use tokio::sync::oneshot;

/// A run in a temporary folder.
pub struct Run {
    dir: tempfile::TempDir,
    pub journal: Journal,
}

impl Run {
    pub fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let journal = Journal::open(Some(&dir.path().join("journal")), Retention::default());
        Self {
            dir,
            journal: journal.unwrap(),
        }
    }

    pub fn folder(&self) -> &Path {
        self.journal.path()
    }

    /// A file beside the journal.
    pub fn outside(&self, name: &str, text: &str) -> PathBuf {
        let path = self.dir.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    fn record(element: &str) -> Record {
        let arguments = json!({"pid": 7, "element": element});
        let Value::Object(arguments) = arguments else {
            unreachable!("an object")
        };
        let mut record = Record::new("click_and_traverse", arguments, Outcome::Ok);
        record.pid = Some(7);
        record.step("act", Duration::from_millis(12));
        record
    }

    /// A click with all its files.
    pub fn click(&self, app: &str, element: &str) {
        let mut record = Self::record(element);
        record.app = Some(app.to_owned());
        record.diff = Some(DiffCounts {
            added: 1,
            ..DiffCounts::default()
        });
        record.answer = Some(format!(
            "status: success\nsummary: Clicked '{element}' [AXButton]."
        ));
        let files = self.journal.begin("click_and_traverse").unwrap();
        let text = escape::escape(element);
        let tree = format!(
            "# diff: +1 added, -0 removed, ~0 modified\n\
             + [AXStaticText (label)] \"Sending {text}\" x:10 y:20 w:30 h:40 visible #e9\n\
             # tree:\n# {app} — 1 element (0.02s)\n \
             [AXButton] \"{text}\" x:1 y:2 w:3 h:4 visible #e7\n",
            app = escape::name(app, 80),
        );
        files.write_text(&tree).unwrap();
        let shot = Shot {
            origin: Point { x: -40, y: 60 },
            crosshair: Some((20, 15)),
            ..Shot::new(40, 30, &[200; 3 * 40 * 30])
        };
        files.write_picture(&shot).unwrap();
        record.files.text = Some(files.text_path().display().to_string());
        record.files.picture = Some(files.picture_path().display().to_string());
        self.journal.record(&record).unwrap();
    }

    /// A line of the log that names these files.
    pub fn log_with_files(&self, text: &str, picture: &str) {
        let mut record = Self::record("anything");
        record.files.text = Some(text.to_owned());
        record.files.picture = Some(picture.to_owned());
        self.journal.record(&record).unwrap();
    }

    /// Adds this many links, without files, with answers of a usual length.
    pub fn many(&self, number: usize) {
        let lines: String = (0..number)
            .map(|n| {
                let mut record = Self::record(&format!("Button {n}"));
                record.app = Some("Notes".into());
                record.answer = Some("a line of an answer, as long as they are\n".repeat(20));
                for step in [
                    "resolve",
                    "checkpoint",
                    "settle",
                    "diff",
                    "picture",
                    "record",
                ] {
                    record.step(step, Duration::from_micros(1_234));
                }
                serde_json::to_string(&record).unwrap() + "\n"
            })
            .collect();
        std::fs::write(self.folder().join("journal.jsonl"), lines).unwrap();
    }
}

/// A server on a thread of its own. It ends with this value.
pub struct Shown {
    url: String,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

pub struct Answer {
    pub status: u16,
    head: String,
    pub body: String,
    pub bytes: Vec<u8>,
}

impl Answer {
    /// A header's value; empty if there is none.
    pub fn header(&self, name: &str) -> String {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        let found = lines.find(|(found, _)| found.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.to_owned()).unwrap_or_default()
    }
}

impl Shown {
    pub fn start(run: &Run) -> Self {
        let journal = Journal::open_to_read(Some(run.folder())).unwrap();
        let (stop, stopped) = oneshot::channel();
        let (sender, url) = std::sync::mpsc::channel();
        let thread = std::thread::spawn(move || {
            let mut runtime = tokio::runtime::Builder::new_current_thread();
            let runtime = runtime.enable_all().build().unwrap();
            runtime.block_on(async {
                let server = Server::bind(&journal, 0).await.unwrap();
                sender.send(server.url()).unwrap();
                tokio::select! {
                    () = server.run() => {}
                    _ = stopped => {}
                }
            });
            runtime.shutdown_background();
        });
        Self {
            url: url.recv().unwrap(),
            stop: Some(stop),
            thread: Some(thread),
        }
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    pub fn host(&self) -> String {
        let rest = self.url.strip_prefix("http://").unwrap();
        rest.split_once('/').unwrap().0.to_owned()
    }

    /// The path of the page: the token between slashes.
    pub fn path(&self) -> String {
        let rest = self.url.strip_prefix("http://").unwrap();
        format!("/{}", rest.split_once('/').unwrap().1)
    }

    pub fn get(&self, path: &str) -> Answer {
        let path = format!("{}{path}", self.path());
        self.ask("GET", &path, &self.host(), "")
    }

    pub fn json(&self, path: &str) -> Value {
        let answer = self.get(path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        serde_json::from_str(&answer.body).unwrap()
    }

    fn send(&self, method: &str, path: &str, host: &str, more: &str) -> TcpStream {
        let mut stream = TcpStream::connect(self.host()).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(20)))
            .unwrap();
        let head =
            format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{more}\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        stream
    }

    /// Sends a request unchanged.
    pub fn ask(&self, method: &str, path: &str, host: &str, more: &str) -> Answer {
        let mut stream = self.send(method, path, host, more);
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        let end = bytes.windows(4).position(|end| end == b"\r\n\r\n").unwrap();
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let bytes = bytes[end + 4..].to_vec();
        Answer {
            status: head.split(' ').nth(1).unwrap().parse().unwrap(),
            head,
            body: String::from_utf8_lossy(&bytes).into_owned(),
            bytes,
        }
    }

    /// Server-sent events.
    pub fn events(&self, path: &str) -> Events {
        let path = format!("{}{path}", self.path());
        let stream = self.send("GET", &path, &self.host(), "Accept: text/event-stream\r\n");
        Events(BufReader::new(stream))
    }
}

pub struct Events(BufReader<TcpStream>);

impl Events {
    /// The next event, with its id and data.
    pub fn next_event(&mut self) -> String {
        let mut event = String::new();
        loop {
            let mut line = String::new();
            assert_ne!(self.0.read_line(&mut line).unwrap(), 0, "the stream ended");
            if line == "\n" && event.contains("data: ") {
                return event;
            }
            if line.starts_with("id: ") || line.starts_with("data: ") {
                event += &line;
            }
        }
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
