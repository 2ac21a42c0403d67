//! Output and results of the commands.

use std::error::Error;
use std::io::{self, Write as _};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use tracing_subscriber::EnvFilter;

/// What a step of a command returns.
pub(crate) type Fallible<T = ()> = Result<T, Box<dyn Error>>;

/// The result of a command.
pub(crate) type Done = Fallible<ExitCode>;

/// Whether each line of standard error is a JSON object.
static JSON: AtomicBool = AtomicBool::new(false);

/// Sends logs to standard error: standard output belongs to the protocol.
pub(crate) fn trace(verbose: u8, is_json: bool) {
    // From `debug` on, rmcp logs whole requests, which may contain passwords to type.
    let filter = match verbose {
        0 => "warn,rmcp=error",
        1 => "info,rmcp=warn",
        2 => "debug,rmcp=warn",
        _ => "trace,rmcp=warn",
    };
    JSON.store(is_json, Ordering::Relaxed);
    let logs = tracing_subscriber::fmt().with_writer(io::stderr);
    if is_json {
        // Lines for the person are logged too, as JSON.
        let filter = EnvFilter::new(format!("{filter},deskline::output=info"));
        logs.json().with_env_filter(filter).init();
    } else {
        logs.with_env_filter(EnvFilter::new(filter)).init();
    }
}

/// The exit code of a command whose answer is yes or no.
pub(crate) fn exit_code(good: bool) -> ExitCode {
    ExitCode::from(u8::from(!good))
}

/// Prints a line for the person to standard error.
#[cfg(unix)]
pub(crate) fn note(text: &str) {
    if JSON.load(Ordering::Relaxed) {
        tracing::info!("{text}");
    } else {
        eprintln!("deskline: {text}");
    }
}

/// Prints an error for the person to standard error.
pub(crate) fn failure(error: &dyn Error) {
    if JSON.load(Ordering::Relaxed) {
        tracing::error!("{error}");
    } else {
        eprintln!("deskline: {error}");
    }
}

/// Prints a line. A closed pipe (`| head`) is no error.
pub(crate) fn print(text: &str) -> io::Result<()> {
    is_read(text).map(drop)
}

/// Like `println!`, but it is no error if nobody reads any more.
macro_rules! say {
    ($($words:tt)*) => { drop($crate::output::print(&format!($($words)*))) };
}
pub(crate) use say;

/// Prints a line; `false` if the output was closed.
pub(crate) fn is_read(text: &str) -> io::Result<bool> {
    match writeln!(io::stdout(), "{text}") {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => Err(error),
    }
}
