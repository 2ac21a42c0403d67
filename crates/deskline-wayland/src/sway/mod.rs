//! sway: windows, outputs and the keyboard's window over its own socket, input and pictures through
//! wlroots' protocols.

mod display;
pub(crate) mod ipc;

pub use display::SwayDisplay;
pub use ipc::SwayWindow;
