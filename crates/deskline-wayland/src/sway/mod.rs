//! sway and Hyprland: windows and focus over the socket of each, input and pictures through
//! wlroots' protocols.

mod compositor;
mod hyprland;
#[cfg(test)]
mod hyprland_tests;
pub(crate) mod ipc;

pub use compositor::{OwnSocket, SwayDisplay};
