//! Implements the contract of trees. Reading an app's tree also keeps a handle to its process, to
//! report how the process ends.

use std::time::Duration;

use deskline_contract::{Deed, Result, Scope, Sign, Trees};
use deskline_core::{ElementId, Tree};

use super::WinDesktop;
use crate::tree::uia::Uia;

impl<U: Uia> Trees for WinDesktop<U> {
    fn read(&mut self, pid: u32, scope: Scope) -> Result<Tree> {
        self.programs.follow(pid);
        self.trees.read(pid, scope)
    }

    fn listen(&mut self, pid: u32) -> Result<()> {
        self.trees.listen(pid)
    }

    fn rest(&mut self) {}

    fn toolkit(&mut self, pid: u32) -> Option<String> {
        self.trees.toolkit(pid)
    }

    fn wait_for_change(&mut self, time: Duration) -> Result<Option<Sign>> {
        Ok(self.trees.wait_for_change(time))
    }

    fn act(&mut self, element: &ElementId, deed: Deed<'_>) -> Result<bool> {
        self.trees.act(element, deed)
    }
}
