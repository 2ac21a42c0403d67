//! Windows: the desktop of the logged-in user.

use std::process::ExitCode;
use std::sync::Arc;

use deskline_journal::Journal;
use deskline_link::doctor::Check;
use deskline_link::selftest::Report;
use deskline_link::{Error, Platform, Result};
use deskline_windows::selftest::{self as test, Role};
use deskline_windows::{WinPlatform, doctor};

use crate::cli::{DesktopArgs, Settings};
use crate::output::Done;

pub(crate) struct OpenDesktop {
    pub(crate) platform: Arc<dyn Platform>,
}

/// Opens the user's desktop.
pub(crate) fn open(settings: &Settings) -> Result<OpenDesktop> {
    no_private(settings.desktop.is_some())?;
    Ok(OpenDesktop {
        platform: Arc::new(WinPlatform::new()),
    })
}

fn no_private(wanted: bool) -> Result<()> {
    if !wanted {
        return Ok(());
    }
    Err(Error::Unavailable(
        "Deskline makes no private desktops on Windows yet: log a second user in, and start \
         deskline there"
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
    Ok(doctor::examine())
}

/// `deskline guard`.
pub(crate) fn guard(parent: u32) -> ExitCode {
    deskline_windows::guard::run(parent)
}

/// `deskline selftest`.
pub(crate) fn selftest(journal: Journal, role: Role, say: impl FnMut(&str)) -> Result<Report> {
    let exe = std::env::current_exe().map_err(Error::system("finding this program"))?;
    Ok(test::run(journal, role, &exe, say))
}

/// Runs the program. On Windows any thread will do.
pub(crate) fn run(work: impl FnOnce() -> ExitCode + Send + 'static) -> ExitCode {
    work()
}
