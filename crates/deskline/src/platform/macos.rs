//! macOS: the desktop of the logged-in user.

use std::process::ExitCode;
use std::sync::Arc;

use deskline_link::doctor::Check;
use deskline_link::{Error, Result};
use deskline_macos::os::apple::{Apple, main_thread};
use deskline_macos::{MacPlatform, doctor};

use super::users::OpenDesktop;
use crate::cli::{DesktopArgs, Settings};
use crate::output::Done;

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
