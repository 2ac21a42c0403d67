//! The commands that repair findings.

use deskline_unix::wait;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::session::Session;

/// The time limit of a command.
const LIMIT: Duration = Duration::from_secs(15);

/// The advice for a session that cannot be repaired.
pub(super) const PRIVATE: &str = "use a private desktop: the option --desktop private";

/// Why a private desktop has no guard.
pub(super) const NOBODY: &str = "not needed, as nobody sits at this private desktop";

/// Runs a command in the session, for at most [`LIMIT`].
pub(super) fn carry_out(words: &[String], session: &Session) -> Result<String, String> {
    let shown = words.join(" ");
    let (program, arguments) = words.split_first().ok_or("no command")?;
    let mut command = Command::new(program);
    command.args(arguments).envs(&session.environment);
    command.stdin(Stdio::null()).stdout(Stdio::null());
    let mut child = command.spawn().map_err(|e| format!("{shown}: {e}"))?;
    let ended = wait::until(LIMIT, Duration::from_millis(20), || {
        child.try_wait().transpose()
    });
    match ended {
        Some(Ok(status)) if status.success() => Ok(format!("ran {shown}")),
        Some(Ok(status)) => Err(format!("{shown} ended with {status}")),
        Some(Err(e)) => Err(format!("{shown}: {e}")),
        None => {
            let _ = child.kill();
            let _ = child.wait();
            Err(format!("{shown} did not end within {LIMIT:?}"))
        }
    }
}
