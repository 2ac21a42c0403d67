//! Wayland: windows, input and pictures on sway, in pure Rust: no library is needed at run time.
//!
//! - `ipc`: windows and outputs, and which window has the keyboard, over sway's socket.
//! - `client`: a connection to the compositor whose every wait has a time limit.
//! - `pointer`, `keyboard`, `keymap`: wlroots' virtual devices; the keymap is our own, so that any
//!   Unicode can be typed whatever the person's layout is.
//! - `picture`: wlroots' screencopy.
//! - [`SwayDisplay`]: all of it as the display of a link.
//!
//! All coordinates are those of the layout: logical pixels, the same as sway's.

mod client;
mod display;
mod ipc;
mod keyboard;
mod keymap;
mod picture;
mod pointer;

pub use display::SwayDisplay;
pub use ipc::SwayWindow;
