//! A server on a scripted desktop, and a client that writes and reads raw lines.

#![allow(dead_code, unreachable_pub, clippy::unwrap_used, clippy::expect_used)]

use std::future::pending;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Barrier};
use std::time::Duration;

use deskline_journal::{Journal, Retention};
use deskline_link::grants::{Approval, Question};
use deskline_link::{Answer, Call, Cancel, Desktop, Error, Looked, Platform, Result, Waiting};
use deskline_mcp::{Config, Desk, Dispatcher, ServeError, serve};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::io::{
    AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinHandle;

/// Longer than any answer of a healthy server: a test that waits longer fails.
const PATIENCE: Duration = Duration::from_secs(20);

/// The pids of the scripted desktop. Each stands for a behaviour; this one answers at once.
pub const PLAIN: u32 = 1;
/// Runs until it is cancelled.
pub const ENDLESS: u32 = 2;
/// Panics.
pub const PANICKING: u32 = 3;
/// Does not answer the ping.
pub const HUNG: u32 = 4;
/// Runs until the test opens the gate.
pub const GATED: u32 = 5;
/// Its first ping lasts until the second call comes.
pub const SLOW_FIRST_PING: u32 = 6;

pub struct Script {
    seen: UnboundedSender<String>,
    gate: Receiver<()>,
}

impl Desk for Script {
    fn run(&mut self, call: &Call, cancel: &Cancel) -> Result<Answer, Box<Question>> {
        let pid = call.pid.unwrap_or(0);
        let delay = call.options.delay_after_action.as_millis();
        self.seen.send(format!("start {pid} {delay}")).unwrap();
        let is_error = match pid {
            ENDLESS => {
                let _ = cancel.wait(PATIENCE);
                true
            }
            GATED => self.gate.recv_timeout(PATIENCE).is_err(),
            PANICKING => panic!("a link's own words"),
            _ => false,
        };
        let reason = cancel.reason();
        self.seen.send(format!("end {pid} {reason:?}")).unwrap();
        Ok(Answer {
            text: format!("{} of {pid}: {reason:?}", call.tool()),
            is_error,
            ..Answer::default()
        })
    }

    /// The awaited element appears once the test opens the gate.
    fn look(
        &mut self,
        waiting: Box<Waiting>,
        cancel: &Cancel,
        others: &dyn Fn() -> bool,
    ) -> Looked {
        self.seen.send("look".into()).unwrap();
        loop {
            let reason = cancel.reason();
            if reason.is_some() || self.gate.try_recv().is_ok() {
                return Looked::Answer(Answer {
                    text: format!("waited: {reason:?}"),
                    is_error: reason.is_some(),
                    ..Answer::default()
                });
            }
            if others() {
                return Looked::NotYet(waiting);
            }
            let _ = cancel.wait(Duration::from_millis(2));
        }
    }

    fn idle(&mut self) -> Option<Duration> {
        None
    }

    fn applications(&mut self, _name: &str) -> Answer {
        Answer {
            text: "Notes (pid 1), front".into(),
            is_error: false,
            ..Answer::default()
        }
    }
}

impl Drop for Script {
    fn drop(&mut self) {
        // The test may have ended.
        let _ = self.seen.send("gone".into());
    }
}

struct Pings(Barrier);

impl Platform for Pings {
    fn connect(&self) -> Result<Box<dyn Desktop>> {
        Err(Error::Unavailable("a script has no desktop".into()))
    }

    fn ping(&self, pid: u32) -> Result<()> {
        match pid {
            HUNG => Err(Error::NotAnswering {
                app: "Notes".into(),
                pid,
                ms: 2_000,
            }),
            SLOW_FIRST_PING => {
                self.0.wait();
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn ask(&self, _: &Question, _: &Cancel) -> Result<Option<Approval>, String> {
        Err("nobody sits at this desktop".to_owned())
    }
}

/// A server and its only client.
pub struct Session {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    input: Option<WriteHalf<DuplexStream>>,
    server: JoinHandle<std::result::Result<(), ServeError>>,
    seen: UnboundedReceiver<String>,
    pub gate: Sender<()>,
    pub journal: Journal,
    folder: TempDir,
}

impl Session {
    pub fn start(config: Config) -> Self {
        Self::start_until(config, pending())
    }

    pub fn start_until(config: Config, stop: impl Future<Output = ()> + Send + 'static) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let journal =
            Journal::open(Some(&folder.path().join("journal")), Retention::default()).unwrap();
        let (seen_by, seen) = unbounded_channel();
        let (gate, gate_of) = mpsc::channel();
        let script = Script {
            seen: seen_by,
            gate: gate_of,
        };
        let dispatcher = Dispatcher::new(
            Arc::new(Pings(Barrier::new(2))),
            Box::new(script),
            journal.clone(),
            config,
        )
        .unwrap();
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (input, output) = tokio::io::split(theirs);
        let server = tokio::spawn(serve(Arc::new(dispatcher), input, output, stop));
        let (lines, input) = tokio::io::split(ours);
        Self {
            lines: BufReader::new(lines).lines(),
            input: Some(input),
            server,
            seen,
            gate,
            journal,
            folder,
        }
    }

    /// A session after `initialize`.
    pub async fn initialized(config: Config) -> Self {
        let mut session = Self::start(config);
        session.initialize("2025-06-18").await;
        session
    }

    pub async fn initialize(&mut self, version: &str) -> Value {
        let params = json!({
            "protocolVersion": version, "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        });
        self.send(json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}))
            .await;
        let answer = self.receive().await;
        self.notify("notifications/initialized", json!({})).await;
        answer
    }

    pub async fn send(&mut self, message: Value) {
        self.line(&message.to_string()).await;
    }

    /// Sends a line unchanged.
    pub async fn line(&mut self, line: &str) {
        let line = format!("{line}\n");
        let input = self.input.as_mut().expect("the input was closed");
        input.write_all(line.as_bytes()).await.unwrap();
    }

    pub async fn notify(&mut self, method: &str, params: Value) {
        self.send(json!({"jsonrpc": "2.0", "method": method, "params": params}))
            .await;
    }

    pub async fn request(&mut self, id: u32, method: &str, params: Value) {
        self.send(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
            .await;
    }

    pub async fn call(&mut self, id: u32, tool: &str, arguments: Value) {
        let params = json!({"name": tool, "arguments": arguments});
        self.request(id, "tools/call", params).await;
    }

    pub async fn refresh(&mut self, id: u32, pid: u32) {
        self.call(id, "refresh_traversal", json!({"pid": pid}))
            .await;
    }

    /// Sends a refresh of an app, and waits until the script begins to carry it out.
    pub async fn starts(&mut self, id: u32, pid: u32) {
        self.refresh(id, pid).await;
        assert_eq!(self.seen().await, format!("start {pid} 0"));
    }

    pub async fn cancel(&mut self, id: u32) {
        self.notify("notifications/cancelled", json!({"requestId": id}))
            .await;
    }

    /// Checks that the next answer is to this request.
    pub async fn answer(&mut self, id: u32) -> Value {
        let answer = self.receive().await;
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    /// Checks that a call of a healthy app is answered next.
    pub async fn works(&mut self) {
        let text = self.text("refresh_traversal", json!({"pid": PLAIN})).await;
        assert_eq!(text, "refresh_traversal of 1: None");
    }

    /// Waits until everything that was sent has arrived: lines are handled in order.
    pub async fn reads_lines(&mut self) {
        assert_eq!(self.ask("no/such", json!({})).await["code"], -32601);
    }

    pub async fn receive(&mut self) -> Value {
        let line = tokio::time::timeout(PATIENCE, self.lines.next_line()).await;
        let line = line.expect("no answer in time").unwrap();
        serde_json::from_str(&line.expect("the server has closed its output")).unwrap()
    }

    /// Sends a request. Returns its answer's `result` or `error`.
    pub async fn ask(&mut self, method: &str, params: Value) -> Value {
        self.request(99, method, params).await;
        let mut answer = self.answer(99).await;
        let part = if answer.get("error").is_some() {
            "error"
        } else {
            "result"
        };
        answer[part].take()
    }

    /// The text of a tool's answer, after `error: ` if it is an error.
    pub async fn text(&mut self, tool: &str, arguments: Value) -> String {
        let params = json!({"name": tool, "arguments": arguments});
        let result = self.ask("tools/call", params).await;
        let content = result["content"].as_array().expect("no result");
        let text = content.last().unwrap()["text"].as_str().unwrap();
        assert!(result.get("structuredContent").is_none());
        match result["isError"].as_bool() {
            Some(true) => format!("ERROR {text}"),
            _ => text.to_owned(),
        }
    }

    /// The next event of the script.
    pub async fn seen(&mut self) -> String {
        let seen = tokio::time::timeout(PATIENCE, self.seen.recv()).await;
        seen.expect("nothing was done in time").unwrap()
    }

    /// All events of the script since the last one that was read.
    pub fn rest(&mut self) -> Vec<String> {
        std::iter::from_fn(|| self.seen.try_recv().ok()).collect()
    }

    /// Closes the client's side. The server ends without an error.
    pub async fn hang_up(&mut self) {
        let mut input = self.input.take().unwrap();
        input.shutdown().await.unwrap();
        self.ended().await.unwrap();
    }

    pub async fn ended(&mut self) -> std::result::Result<(), ServeError> {
        tokio::time::timeout(PATIENCE, &mut self.server)
            .await
            .expect("the server did not end in time")
            .unwrap()
    }
}
