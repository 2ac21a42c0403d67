//! The operating system's part of the program: opens, checks and runs desktops.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;
#[cfg(not(target_os = "linux"))]
mod users;
#[cfg(windows)]
mod windows;

use deskline_link::doctor::{Check, Report};

#[cfg(target_os = "linux")]
use linux::repair;
#[cfg(target_os = "linux")]
pub(crate) use linux::{OpenDesktop, desktop, helper, open, shield};
#[cfg(target_os = "macos")]
pub(crate) use macos::{desktop, open, run};
#[cfg(not(target_os = "linux"))]
pub(crate) use users::OpenDesktop;
#[cfg(windows)]
pub(crate) use windows::{desktop, guard, open};

use crate::cli::Settings;
use crate::output::{self, Done, Fallible};

/// Runs the program. On these systems, any thread can do that.
#[cfg(not(target_os = "macos"))]
pub(crate) fn run<T>(work: impl FnOnce() -> T) -> T {
    work()
}

/// `deskline doctor`.
pub(crate) fn doctor(settings: &Settings, json: bool, fix: bool) -> Done {
    let mut report = Report::new(examine(settings)?);
    if fix {
        let done = repair(&report.checks);
        for step in &done {
            match step {
                Ok(what) => eprintln!("fixed: {what}"),
                Err(why) => eprintln!("not fixed: {why}"),
            }
        }
        if !done.is_empty() {
            report = Report::new(examine(settings)?);
        }
    }
    if json {
        output::print(&serde_json::to_string_pretty(&report)?)?;
    } else {
        output::print(&report.to_string())?;
        if let Some(command) = report.for_root() {
            output::print(&format!("What is missing, as root: {command}"))?;
        }
    }
    Ok(output::exit_code(report.works))
}

/// The checks of the doctor.
pub(crate) fn examine(settings: &Settings) -> Fallible<Vec<Check>> {
    #[cfg(target_os = "linux")]
    let mut checks = linux::examine(settings)?;
    #[cfg(target_os = "macos")]
    let mut checks = macos::examine(settings)?;
    #[cfg(windows)]
    let mut checks = windows::examine(settings)?;
    checks.push(crate::grants::check());
    // Reserve a name, as every call does: the folder may be readable but not writable.
    let journal = settings.journal().and_then(|journal| {
        journal.begin("doctor")?;
        Ok(journal)
    });
    checks.push(match journal {
        Ok(journal) => Check::ok("log", journal.path().to_string_lossy()),
        Err(e) => Check::fail(
            "log",
            e.to_string(),
            "name a folder of your own with --dir or DESKLINE_DIR",
        ),
    });
    Ok(checks)
}

/// Repairs nothing: on a Mac, the person grants permissions in the settings.
#[cfg(not(target_os = "linux"))]
fn repair(_: &[Check]) -> Vec<Result<String, String>> {
    vec![]
}
