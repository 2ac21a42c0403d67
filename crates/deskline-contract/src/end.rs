//! The text about how a process ended.

use std::fmt;

use deskline_core::escape;

/// How many characters of an app's standard error to quote.
pub(crate) const WROTE: usize = 600;

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    Status(i32),
    /// This signal ended the process.
    Signal(i32),
    /// Only the parent of the ended process knows, and this process is not the parent.
    Unknown,
}

/// The end of an app's process. `Display` gives a sentence: `The process ended (exit status 3)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct End {
    pub app: String,
    /// How the process ended.
    pub exit: Exit,
    /// The last lines that the process has written to standard error, if it failed. Hostile data.
    pub wrote: Option<String>,
}

impl fmt::Display for End {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("The process ended")?;
        match self.exit {
            Exit::Status(status) => write!(f, " (exit status {status})")?,
            Exit::Signal(signal) => {
                write!(f, " (signal {signal}")?;
                if let Some((name, crash)) = known(signal) {
                    write!(f, ", {name}{}", if crash { ": it crashed" } else { "" })?;
                }
                f.write_str(")")?;
            }
            Exit::Unknown => {}
        }
        match &self.wrote {
            Some(wrote) => write!(f, ". It has written: {}", escape::quoted(wrote, WROTE)),
            None => Ok(()),
        }
    }
}

/// The name of a signal that has the same number on every Unix, and whether it means a crash.
fn known(signal: i32) -> Option<(&'static str, bool)> {
    Some(match signal {
        1 => ("SIGHUP", false),
        2 => ("SIGINT", false),
        4 => ("SIGILL", true),
        5 => ("SIGTRAP", true),
        6 => ("SIGABRT", true),
        8 => ("SIGFPE", true),
        9 => ("SIGKILL", false),
        11 => ("SIGSEGV", true),
        15 => ("SIGTERM", false),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_process_is_reported_with_its_status() {
        let end = |exit, wrote: Option<&str>| {
            let (app, wrote) = (String::new(), wrote.map(str::to_owned));
            End { app, exit, wrote }.to_string()
        };
        assert_eq!(end(Exit::Unknown, None), "The process ended");
        assert_eq!(
            end(Exit::Status(3), None),
            "The process ended (exit status 3)"
        );
        assert_eq!(
            end(Exit::Signal(6), Some("Fatal exception")),
            "The process ended (signal 6, SIGABRT: it crashed). It has written: \"Fatal exception\""
        );
        assert_eq!(
            end(Exit::Signal(15), None),
            "The process ended (signal 15, SIGTERM)"
        );
        assert_eq!(end(Exit::Signal(40), None), "The process ended (signal 40)");
    }
}
