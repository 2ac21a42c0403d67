//! The test in progress, with its sheet of findings.

use std::collections::HashSet;
use std::ops::{Deref, DerefMut};
use std::path::Path;

use deskline_link::selftest::{Found, Sheet};

use crate::os::Os;

pub(super) struct Test<'t, O: Os> {
    pub(super) os: &'t O,
    pub(super) sheet: Sheet<'t>,
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

impl<O: Os> Test<'_, O> {
    pub(super) fn row(&mut self, name: &str, check: impl FnOnce(&mut Self) -> Found) {
        let found = check(self);
        self.note(name, found);
    }
}
