//! Runs the system's command-line programs.

use std::io::Read as _;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// How long a program may take.
const TAKES: Duration = Duration::from_secs(3);

/// The maximum number of bytes of a program's output to read.
const MOST: u64 = 1 << 16;

/// The output of a program, standard error included; `None` if it cannot be run, or does not end in
/// time.
pub(crate) fn tool(program: &str, arguments: &[&str]) -> Option<String> {
    let (reader, writer) = std::io::pipe().ok()?;
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null());
    command.stdout(writer.try_clone().ok()?).stderr(writer);
    let mut child = command.spawn().ok()?;
    // Closes this process's write ends of the pipe. A child of the program may keep another write
    // end open, so the read below has a time limit.
    drop(command);
    let (send, receive) = mpsc::channel();
    thread::spawn(move || {
        let mut output = Vec::new();
        let read = reader.take(MOST).read_to_end(&mut output);
        let _ = send.send(read.map(|_| output));
    });
    let output = receive.recv_timeout(TAKES);
    if output.is_err() {
        let _ = child.kill();
    }
    let _ = child.wait();
    let output = output.ok()?.ok()?;
    Some(String::from_utf8_lossy(&output).into_owned())
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn a_tools_output_and_errors_are_read_and_a_hung_tool_is_ended() {
        let both = tool("/bin/sh", &["-c", "echo out; echo err >&2"]);
        assert_eq!(both.as_deref(), Some("out\nerr\n"));
        assert_eq!(tool("/no/such/program", &[]), None);
        let start = Instant::now();
        assert_eq!(tool("/bin/sh", &["-c", "exec sleep 60"]), None);
        assert!(start.elapsed() < TAKES * 2);
    }
}
