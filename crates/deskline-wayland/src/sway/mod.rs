//! sway and Hyprland: windows and focus over the compositor's own socket, input and pictures
//! through wlroots' protocols.

mod compositor;
mod hyprland;
#[cfg(test)]
mod hyprland_tests;
pub(crate) mod ipc;

pub use compositor::{OwnSocket, SwayDisplay};
