//! Output and results of the commands.

use std::error::Error;
use std::io::{self, Write as _};
use std::process::ExitCode;

/// The result of a command.
pub(crate) type Done = Result<ExitCode, Box<dyn Error>>;

/// Prints a line. A closed pipe (`| head`) is no error.
pub(crate) fn print(text: &str) -> io::Result<()> {
    is_read(text).map(drop)
}

/// Prints a line; `false` if the output was closed.
pub(crate) fn is_read(text: &str) -> io::Result<bool> {
    match writeln!(io::stdout(), "{text}") {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(error),
    }
}
