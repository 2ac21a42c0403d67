//! The operating system's part of the program: opens, checks and runs desktops.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;

use std::process::ExitCode;

use deskline_link::doctor::{Check, Report};

#[cfg(target_os = "linux")]
pub(crate) use linux::{OpenDesktop, desktop, open, run};
#[cfg(target_os = "macos")]
pub(crate) use macos::{OpenDesktop, desktop, open, run, selftest};

use crate::cli::Settings;
use crate::output::{self, Done};

/// `deskline doctor`.
pub(crate) fn doctor(settings: &Settings, json: bool) -> Done {
    #[cfg(target_os = "linux")]
    let mut checks = linux::examine(settings)?;
    #[cfg(target_os = "macos")]
    let mut checks = macos::examine(settings)?;
    // Reserve a name, as every call does: a folder that opens need not be writable.
    let journal = settings.journal().and_then(|journal| {
        journal.begin("doctor")?;
        Ok(journal)
    });
    checks.push(match journal {
        Ok(journal) => Check::ok("journal", journal.path().to_string_lossy()),
        Err(e) => Check::fail(
            "journal",
            e.to_string(),
            "name a folder of your own with --dir or DESKLINE_DIR",
        ),
    });
    let report = Report::new(checks);
    if json {
        output::print(&serde_json::to_string_pretty(&report)?)?;
    } else {
        output::print(&report.to_string())?;
    }
    Ok(if report.works {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
