//! sway: windows, outputs and focus over its IPC socket, input and pictures through wlroots'
//! protocols.

mod compositor;
pub(crate) mod ipc;
mod own_seat;

pub use compositor::SwayDisplay;
