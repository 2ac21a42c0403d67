//! A minimal client that times a server: JSON lines out, JSON lines in.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use deskline_testbed::Bed;
use serde_json::{Value, json};

const PATIENCE: Duration = Duration::from_secs(20);

/// An answered call.
pub struct Called {
    /// From the request to its answer, in milliseconds.
    pub ms: f64,
    /// The text that the model reads.
    pub text: String,
}

/// A running server of any driver.
pub struct Mcp {
    child: Child,
    stdin: ChildStdin,
    lines: Receiver<String>,
    id: u64,
    /// The time limit of a call.
    pub patience: Duration,
}

impl Mcp {
    /// Starts it and connects.
    pub fn start(mut command: Command, patience: Duration) -> Result<Self, String> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|e| e.to_string())?;
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("no pipes".into());
        };
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        let mut mcp = Self {
            child,
            stdin,
            lines,
            id: 0,
            patience,
        };
        mcp.request(
            "initialize",
            json!({"protocolVersion": "2025-06-18", "capabilities": {},
                   "clientInfo": {"name": "bench", "version": "1"}}),
        )?;
        mcp.write(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))?;
        Ok(mcp)
    }

    /// Its process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Calls a tool. An error result is an error here.
    pub fn call(&mut self, tool: &str, arguments: Value) -> Result<Called, String> {
        let start = Instant::now();
        let result = self.request("tools/call", json!({"name": tool, "arguments": arguments}))?;
        let ms = start.elapsed().as_secs_f64() * 1e3;
        let parts = result["content"].as_array().cloned().unwrap_or_default();
        let text: Vec<&str> = parts.iter().filter_map(|p| p["text"].as_str()).collect();
        let text = text.join("\n");
        if result["isError"] == true {
            return Err(text.chars().take(160).collect());
        }
        Ok(Called { ms, text })
    }

    fn write(&mut self, message: Value) -> Result<(), String> {
        writeln!(self.stdin, "{message}").map_err(|e| format!("it has ended: {e}"))
    }

    fn request(&mut self, method: &str, params: Value) -> Result<Value, String> {
        self.id += 1;
        let id = self.id;
        self.write(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))?;
        let deadline = Instant::now() + self.patience;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let line = self.lines.recv_timeout(left).map_err(|e| match e {
                std::sync::mpsc::RecvTimeoutError::Timeout => {
                    format!("no answer in {} s", self.patience.as_secs())
                }
                std::sync::mpsc::RecvTimeoutError::Disconnected => "it has ended".to_owned(),
            })?;
            let message: Value = serde_json::from_str(&line).unwrap_or_default();
            if message["id"] == id {
                return match message.get("result") {
                    Some(result) => Ok(result.clone()),
                    None => Err(message["error"]["message"].to_string()),
                };
            }
        }
    }
}

/// Starts a server with its journal in this folder.
pub fn serve(bed: &Bed, binary: &Path, journal: &Path) -> Result<Mcp, String> {
    let with = |attended: &[&str]| {
        let mut command = bed.command(binary);
        command.args(["serve", "--dir"]).arg(journal).args(attended);
        Mcp::start(command, PATIENCE)
    };
    // Treat the desktop as a person's: guard the input and restore the window. 0.1.0 always does
    // so, and has no option for it.
    with(&["--attended"]).or_else(|_| with(&[]))
}

impl Drop for Mcp {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
