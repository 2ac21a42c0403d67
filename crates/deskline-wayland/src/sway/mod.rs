//! sway: windows, outputs and focus over its IPC socket, input and pictures through wlroots'
//! protocols.
//!
//! The guard disables the person's devices (`devices`) in a process of its own (`keeper`), which
//! the server controls (`guard`).

mod compositor;
mod devices;
mod guard;
pub(crate) mod ipc;
mod keeper;
mod own_seat;

pub use compositor::SwayDisplay;
pub(crate) use keeper::Keeper;
