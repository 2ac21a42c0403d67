//! Clients on official SDKs of MCP, which `scripts/sdks` installs: each client reads calls as lines
//! of JSON, carries them out, and prints one line for each.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};

use serde_json::Value;

use crate::Running;

/// The path of a file that `scripts/sdks` has installed.
pub fn sdks(part: &str) -> PathBuf {
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/sdks");
    target.join(part)
}

pub struct SdkClient {
    child: Running,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    /// Its first line.
    pub hello: Value,
}

impl SdkClient {
    /// # Panics
    /// If it cannot be started, or ends.
    pub fn start(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        command.stderr(Stdio::null());
        let mut child = command.spawn().expect("scripts/sdks target/sdks");
        let mut client = Self {
            input: child.stdin.take().unwrap(),
            output: BufReader::new(child.stdout.take().unwrap()),
            child: Running(child),
            hello: Value::Null,
        };
        client.hello = client.read();
        client
    }

    /// Its next line.
    ///
    /// # Panics
    /// If it has ended.
    pub fn read(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|e| panic!("{line:?}: {e}"))
    }

    /// Sends a line, and returns its answer.
    ///
    /// # Panics
    /// If it has ended.
    pub fn ask(&mut self, line: &Value) -> Value {
        self.send(line);
        self.read()
    }

    /// Sends a line whose answer is read later.
    ///
    /// # Panics
    /// If it has ended.
    pub fn send(&mut self, line: &Value) {
        writeln!(self.input, "{line}").unwrap();
    }

    /// Waits until it has ended.
    ///
    /// # Panics
    /// If its end cannot be waited for.
    pub fn wait(&mut self) {
        self.child.0.wait().unwrap();
    }
}
