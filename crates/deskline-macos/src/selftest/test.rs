//! The test in progress.

use std::collections::HashSet;
use std::ops::{Deref, DerefMut};
use std::path::Path;

use deskline_journal::Journal;
use deskline_link::selftest::Sheet;

use crate::os::Os;

/// The version of macOS and the processor.
pub(super) fn system() -> String {
    let sw_vers = std::process::Command::new("/usr/bin/sw_vers")
        .arg("-productVersion")
        .output();
    let version = sw_vers.map(|out| String::from_utf8_lossy(&out.stdout).trim().to_owned());
    let version = version.unwrap_or_else(|_| "of an unknown version".into());
    format!("macOS {version}, {}", std::env::consts::ARCH)
}

/// The test in progress.
pub(super) struct Test<'t, O: Os> {
    pub(super) os: &'t O,
    pub(super) sheet: Sheet<'t>,
    pub(super) journal: Journal,
    /// This executable, for starting the other roles.
    pub(super) program: Option<&'t Path>,
    /// The processes that there were before.
    pub(super) before: HashSet<u32>,
    /// The apps that the test has opened.
    pub(super) started: Vec<(u32, String)>,
}

impl<'t, O: Os> Deref for Test<'t, O> {
    type Target = Sheet<'t>;

    fn deref(&self) -> &Self::Target {
        &self.sheet
    }
}

impl<O: Os> DerefMut for Test<'_, O> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.sheet
    }
}
