//! Implements the contract of trees: reading follows the process too, to report how it ends.

use std::time::Duration;

use deskline_contract::{QuietAction, Result, Scope, Sign, Trees};
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

    fn scroll_into_view(&mut self, element: &ElementId) -> Result<bool> {
        self.trees
            .acting(element, QuietAction::ScrollIntoView, |acting| {
                acting.scroll_into_view()
            })
    }

    fn press(&mut self, element: &ElementId) -> Result<()> {
        self.trees
            .acting(element, QuietAction::Press, |acting| acting.press())
    }

    fn set_value(&mut self, element: &ElementId, value: &str) -> Result<()> {
        self.trees.acting(element, QuietAction::SetValue, |acting| {
            acting.set_value(value)
        })
    }

    fn choose(&mut self, element: &ElementId, choice: &str) -> Result<bool> {
        self.trees.acting(element, QuietAction::SetValue, |acting| {
            acting.choose(choice)
        })
    }

    fn set_selected(&mut self, element: &ElementId, selected: bool) -> Result<()> {
        self.trees
            .acting(element, QuietAction::SetSelected, |acting| {
                acting.set_selected(selected)
            })
    }
}
