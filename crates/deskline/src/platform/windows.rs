//! Windows: the desktop of the logged-in user, or a private one.

use std::process::ExitCode;
use std::sync::Arc;

use deskline_link::doctor::Check;
use deskline_link::{Error, Result};
use deskline_windows::{WinPlatform, doctor, private};

use super::users::OpenDesktop;
use crate::cli::{DesktopArgs, Settings};
use crate::output::Done;

/// Opens the user's desktop.
pub(crate) fn open(settings: &Settings) -> Result<OpenDesktop> {
    go_private(settings)?;
    Ok(OpenDesktop {
        platform: Arc::new(WinPlatform::new()),
    })
}

/// Runs the program again on a private desktop, if the settings ask for one and the program is not
/// on one yet.
fn go_private(settings: &Settings) -> Result<()> {
    if settings.desktop.is_none() || private::name().is_some() {
        return Ok(());
    }
    let status = private::run_again().map_err(Error::system("making a private desktop"))?;
    std::process::exit(status)
}

/// `deskline desktop`.
pub(crate) fn desktop(_: &Settings, _: &DesktopArgs) -> Done {
    Err(
        "`deskline desktop` is for Linux. Give the server a private desktop: deskline serve \
         --desktop private"
            .into(),
    )
}

/// The doctor's checks.
pub(crate) fn examine(settings: &Settings) -> Result<Vec<Check>> {
    go_private(settings)?;
    Ok(doctor::examine())
}

/// `deskline guard`.
pub(crate) fn guard(parent: u32) -> ExitCode {
    deskline_windows::guard::run(parent)
}
