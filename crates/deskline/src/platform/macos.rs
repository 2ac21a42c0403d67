//! macOS: the desktop of the logged-in user.

use std::process::ExitCode;
use std::sync::Arc;

use deskline_link::doctor::Check;
use deskline_link::{Error, Platform, Result};
use deskline_macos::os::apple::{Apple, main_thread};
use deskline_macos::{MacPlatform, doctor, selftest as test};

use crate::cli::{DesktopArgs, Selftest, Settings};
use crate::output::{self, Done};

pub(crate) struct OpenDesktop {
    pub(crate) platform: Arc<dyn Platform>,
}

/// Opens the user's desktop.
pub(crate) fn open(settings: &Settings) -> Result<OpenDesktop> {
    no_private(settings.desktop.is_some())?;
    Ok(OpenDesktop {
        platform: Arc::new(MacPlatform::new(Apple)),
    })
}

/// Refuses a private desktop: a session has one `WindowServer`, and another one needs another
/// login.
fn no_private(wanted: bool) -> Result<()> {
    if !wanted {
        return Ok(());
    }
    Err(Error::Unavailable(
        "macOS has no private desktops: log a second user in (System Settings › Users & Groups, \
         then fast user switching) and start deskline there"
            .into(),
    ))
}

/// `deskline desktop`.
pub(crate) fn desktop(_: &Settings, _: &DesktopArgs) -> Done {
    no_private(true)?;
    Ok(ExitCode::FAILURE)
}

/// The doctor's checks.
pub(crate) fn examine(settings: &Settings) -> Result<Vec<Check>> {
    no_private(settings.desktop.is_some())?;
    Ok(doctor::examine(&Apple, std::process::id()))
}

/// Runs the program beside the main run loop: `AppKit` and the keyboard layouts need the main
/// thread.
pub(crate) fn run(work: impl FnOnce() -> ExitCode + Send + 'static) -> ExitCode {
    main_thread::beside(work).unwrap_or(ExitCode::FAILURE)
}

/// `deskline selftest`.
pub(crate) fn selftest(settings: &Settings, args: &Selftest) -> Done {
    let role = args.role.unwrap_or_default();
    let exe = std::env::current_exe()?;
    // Ignore a closed pipe: the test must go on and restore the desktop.
    let json = args.json;
    let say = |line: &str| {
        if json {
            eprintln!("{line}");
        } else {
            drop(output::print(line));
        }
    };
    let report = test::run(&Apple, settings.journal()?, role, Some(&exe), say);
    if json {
        drop(output::print(&report.to_json().to_string()));
    }
    Ok(if report.passed() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
