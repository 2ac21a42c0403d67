//! The test in progress.

use std::path::Path;
use std::time::Duration;

use deskline_link::selftest::Sheet;

use crate::display::WinDisplay;

/// How long an effect may take to show.
pub(super) const SHOWS: Duration = Duration::from_secs(5);

/// The test in progress.
pub(super) struct Test<'t> {
    pub(super) sheet: Sheet<'t>,
    pub(super) display: WinDisplay,
    pub(super) program: &'t Path,
}
