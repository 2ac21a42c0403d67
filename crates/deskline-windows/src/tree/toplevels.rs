//! An app's toplevels, from the window system.

use deskline_core::{TreeWindow, WindowId};

use crate::display::windows::{bounds, is_hidden, owner};
use crate::os;

/// The toplevels of a process that are not hidden, frontmost first, without their elements.
pub fn toplevels(pid: u32) -> Vec<TreeWindow> {
    let mut all = os::all();
    all.retain(|window| owner(*window) == pid && !is_hidden(*window));
    all.into_iter().filter_map(toplevel).collect()
}

fn toplevel(window: WindowId) -> Option<TreeWindow> {
    Some(TreeWindow {
        id: window,
        extents: bounds(window)?,
        on_screen: os::cloaked(window) == 0 && !os::is_minimised(window),
        elements: Vec::new(),
    })
}
