//! A program that the self-test starts.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use super::sheet::Miss;

/// A running program with its standard input and output. Dropping it ends the program.
pub struct Helper {
    child: Child,
    orders: ChildStdin,
    lines: Receiver<String>,
    pub pid: u32,
}

impl Drop for Helper {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Helper {
    /// Starts this program in another role of the test.
    pub fn role(program: &Path, role: &str) -> Result<Self, Miss> {
        Self::start(Command::new(program).args(["--role", role]))
    }

    pub fn start(command: &mut Command) -> Result<Self, Miss> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::null()).spawn()?;
        let (Some(orders), Some(out)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("no pipes".into());
        };
        let (send, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(out).lines().map_while(Result::ok) {
                if send.send(line).is_err() {
                    return;
                }
            }
        });
        let pid = child.id();
        Ok(Self {
            child,
            orders,
            lines,
            pid,
        })
    }

    pub fn order(&mut self, order: &str) {
        // If the program has ended, the check fails because the output is missing.
        let _ = writeln!(self.orders, "{order}").and_then(|()| self.orders.flush());
    }

    /// Waits for a line with this start, and returns the rest of the line.
    pub fn hears(&self, start: &str, time: Duration) -> Option<String> {
        let begun = Instant::now();
        let left = || time.saturating_sub(begun.elapsed());
        let mut lines = std::iter::from_fn(|| self.lines.recv_timeout(left()).ok());
        lines.find_map(|line| Some(line.trim().strip_prefix(start)?.trim().to_owned()))
    }

    /// Drops the program's output so far.
    pub fn forget(&self) {
        while self.lines.try_recv().is_ok() {}
    }

    pub fn has_ended(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(Some(_)))
    }
}
