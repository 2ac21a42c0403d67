//! An app's toplevels, from the window system.

use deskline_core::WindowId;

use super::uia::Toplevel;
use crate::display::windows::{bounds, is_hidden, owner};
use crate::os;

/// The toplevels of a process that are not hidden, frontmost first.
pub fn toplevels(pid: u32) -> Vec<Toplevel> {
    let toplevel = |window| toplevel(window, pid);
    os::all().into_iter().filter_map(toplevel).collect()
}

/// Describes the window, if it belongs to this process and is not hidden.
fn toplevel(window: WindowId, pid: u32) -> Option<Toplevel> {
    if owner(window) != pid || is_hidden(window) {
        return None;
    }
    Some(Toplevel {
        handle: window,
        title: os::title(window),
        extents: bounds(window)?,
        on_screen: os::cloaked(window) == 0 && !os::is_minimised(window),
        owner: os::owning(window),
        enabled: os::is_enabled(window),
        thread: os::process_and_thread(window).1,
    })
}
