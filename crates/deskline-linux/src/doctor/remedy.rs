//! The commands that repair findings.

use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::session::Session;

/// The time limit of a command.
const LIMIT: Duration = Duration::from_secs(15);

/// The advice for a session that cannot be repaired.
pub(super) const PRIVATE: &str = "use a private desktop: deskline --desktop private";

/// Runs a command in the session, for at most [`LIMIT`].
pub(super) fn carry_out(words: &[String], session: &Session) -> Result<String, String> {
    let shown = words.join(" ");
    let (program, arguments) = words.split_first().ok_or("no command")?;
    let mut command = Command::new(program);
    command.args(arguments).envs(&session.environment);
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .map_err(|e| format!("{shown}: {e}"))?;
    let deadline = Instant::now() + LIMIT;
    loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(format!("ran {shown}")),
            Ok(Some(status)) => return Err(format!("{shown} ended with {status}")),
            Ok(None) if Instant::now() < deadline => thread::sleep(Duration::from_millis(20)),
            Ok(None) => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("{shown} did not end within {LIMIT:?}"));
            }
            Err(e) => return Err(format!("{shown}: {e}")),
        }
    }
}
