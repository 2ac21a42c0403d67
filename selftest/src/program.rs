//! The command line, and the roles of the test's other processes.

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser;
use deskline_journal::{Journal, Retention};
use deskline_link::Platform;

use crate::checks::guard;
use crate::checks::sheet::Report;

type Fallible<T> = Result<T, Box<dyn Error>>;

/// Try the tools and the input lock on the system's own apps, and print a report to send back
#[derive(Debug, Parser)]
#[command(version)]
struct Args {
    /// Print the report as JSON, and its lines to standard error
    #[arg(long)]
    json: bool,
    /// The folder of the log
    #[arg(long, env = "DESKLINE_DIR")]
    dir: Option<PathBuf>,
    /// A role that the test plays in a process of its own
    #[arg(long, hide = true)]
    role: Option<Role>,
    #[cfg(windows)]
    #[command(subcommand)]
    command: Option<Command>,
}

#[cfg(windows)]
#[derive(Debug, clap::Subcommand)]
enum Command {
    /// The process with the guard's hooks on Windows
    #[command(hide = true)]
    Guard { parent: u32 },
}

/// The role of a process in the test.
#[derive(Debug, Clone, Copy)]
enum Role {
    /// Closes the guard until this process is killed.
    HoldGuard,
    #[cfg(target_os = "macos")]
    /// Shows the guard's banner until the system asks it to quit.
    Banner,
    #[cfg(target_os = "macos")]
    /// Prints the ids of an app's elements.
    Ids(u32),
    #[cfg(windows)]
    /// A window that prints the input that reaches it.
    Window,
    #[cfg(windows)]
    /// Opens an app on a private desktop, and prints its tree.
    Private,
}

impl std::str::FromStr for Role {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split_once('=').unwrap_or((text, "")) {
            ("hold-guard", _) => Ok(Self::HoldGuard),
            #[cfg(target_os = "macos")]
            ("banner", _) => Ok(Self::Banner),
            #[cfg(target_os = "macos")]
            ("ids", pid) => pid.parse().map(Self::Ids).map_err(|_| "no pid"),
            #[cfg(windows)]
            ("window", _) => Ok(Self::Window),
            #[cfg(windows)]
            ("private", _) => Ok(Self::Private),
            _ => Err("no such role"),
        }
    }
}

pub(crate) fn main() -> ExitCode {
    #[cfg(windows)]
    deskline_windows::complete_environment();
    let args = Args::parse();
    let work = move || match run(&args) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("deskline-selftest: {error}");
            ExitCode::FAILURE
        }
    };
    // `AppKit` and the keyboard layouts need the main thread.
    #[cfg(target_os = "macos")]
    return deskline_macos::os::apple::main_thread::beside(work).unwrap_or(ExitCode::FAILURE);
    #[cfg(windows)]
    work()
}

fn run(args: &Args) -> Fallible<ExitCode> {
    #[cfg(windows)]
    if let Some(Command::Guard { parent }) = args.command {
        return Ok(deskline_windows::guard::run(parent));
    }
    if let Some(role) = args.role {
        return play(role, args);
    }
    // Ignore a closed pipe: the test must go on and restore the desktop.
    let say = &mut |line: &str| {
        if args.json {
            eprintln!("{line}");
        } else {
            print(line);
        }
    };
    let report = test(journal(args)?, say)?;
    if args.json {
        print(&serde_json::to_string(&report)?);
    }
    Ok(ExitCode::from(u8::from(!report.passed)))
}

fn print(line: &str) {
    use std::io::Write as _;
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

fn journal(args: &Args) -> Fallible<Journal> {
    Ok(Journal::open(args.dir.as_deref(), Retention::default())?)
}

fn test(journal: Journal, say: &mut dyn FnMut(&str)) -> Fallible<Report> {
    let program = std::env::current_exe()?;
    #[cfg(target_os = "macos")]
    return Ok(crate::checks::mac::test(
        &deskline_macos::os::apple::Apple,
        journal,
        Some(&program),
        say,
    ));
    #[cfg(windows)]
    Ok(crate::checks::win::test(journal, &program, say))
}

fn platform() -> Arc<dyn Platform> {
    #[cfg(target_os = "macos")]
    return Arc::new(deskline_macos::MacPlatform::new(
        deskline_macos::os::apple::Apple,
    ));
    #[cfg(windows)]
    Arc::new(deskline_windows::WinPlatform::new())
}

fn play(role: Role, args: &Args) -> Fallible<ExitCode> {
    let platform = platform();
    match role {
        Role::HoldGuard => guard::hold(&mut *platform.connect()?, &mut print),
        #[cfg(target_os = "macos")]
        Role::Banner => crate::checks::mac::banner(&mut *platform.connect()?, &mut print),
        #[cfg(target_os = "macos")]
        Role::Ids(pid) => {
            for id in crate::checks::mac::tools::ids(&mut *platform.connect()?, pid) {
                print(&id);
            }
        }
        #[cfg(windows)]
        Role::Window => crate::checks::win::window::run(),
        #[cfg(windows)]
        Role::Private if deskline_windows::private::name().is_none() => {
            std::process::exit(deskline_windows::private::run_again()?);
        }
        #[cfg(windows)]
        Role::Private => crate::checks::win::open_private(platform, journal(args)?, &mut print),
    }
    let _ = args;
    Ok(ExitCode::SUCCESS)
}
