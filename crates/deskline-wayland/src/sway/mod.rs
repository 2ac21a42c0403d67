//! sway: windows, outputs and the keyboard's window over its own socket, input and pictures through
//! wlroots' protocols.
//!
//! The guard disables the person's devices (`devices`), in a process of its own (`keeper`) that the
//! server commands (`guard`).

mod compositor;
mod devices;
mod guard;
pub(crate) mod ipc;
mod keeper;
mod own_seat;

pub use compositor::SwayDisplay;
pub use ipc::SwayWindow;
pub(crate) use keeper::Keeper;
