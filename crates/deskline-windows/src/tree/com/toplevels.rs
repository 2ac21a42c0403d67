//! Processes and their toplevel windows, from the window system.

use std::ffi::c_void;

use windows::Win32::Foundation::HWND;
use windows::Win32::UI::Input::KeyboardAndMouse::IsWindowEnabled;

use crate::display::windows::{
    all, bounds, cloaked, is_minimised, is_visible, owner, owning, thread, title, to_rect,
};
use crate::process;
use crate::tree::uia::{Handle, Process, Toplevel};

/// `DWM_CLOAKED_SHELL`: the window is on another virtual desktop.
const CLOAKED_BY_SHELL: u32 = 2;

pub fn handle(window: Handle) -> HWND {
    HWND(window as *mut c_void)
}

/// `None` if the process has ended.
pub fn process(pid: u32) -> Option<Process> {
    let process = process::Process::open(pid)?;
    // A process that has ended can be opened while another program holds a handle to it.
    if process.status().is_some() {
        return None;
    }
    let path = process.path().unwrap_or_default();
    Some(Process {
        name: path
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned(),
        started: process.times()?.started,
    })
}

/// The toplevels of a process that are not hidden, frontmost first.
pub fn toplevels(pid: u32) -> Vec<Toplevel> {
    all()
        .into_iter()
        .filter_map(|window| toplevel(window, pid))
        .collect()
}

/// Describes the window, if it belongs to this process and is not hidden.
fn toplevel(window: HWND, pid: u32) -> Option<Toplevel> {
    let cloaked = cloaked(window);
    let hidden = cloaked != 0 && cloaked & CLOAKED_BY_SHELL == 0;
    if owner(window) != pid || !is_visible(window) || hidden {
        return None;
    }
    Some(Toplevel {
        handle: window.0 as Handle,
        title: title(window),
        extents: to_rect(bounds(window)?),
        on_screen: cloaked == 0 && !is_minimised(window),
        owner: owning(window).map(|window| window.0 as Handle),
        // SAFETY: a handle may be that of a window that is gone.
        enabled: unsafe { IsWindowEnabled(window).as_bool() },
        thread: thread(window),
    })
}
