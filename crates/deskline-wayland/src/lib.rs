//! Wayland: windows, input and pictures, one module a compositor, in pure Rust: no library is needed
//! at run time.
//!
//! - `wlroots`: a connection whose every wait has a time limit, virtual devices, screencopy.
//! - `eis`: libei's client side, for KWin and Mutter.
//! - `kde`: [`KdeDisplay`], KWin as the display of a link.
//! - `keymap`: our own keymap, so that any Unicode can be typed whatever the person's layout is.
//! - `sway`: [`SwayDisplay`], sway as the display of a link.
//! - [`helper`]: processes that outlive the server.
//!
//! All coordinates are those of the layout: logical pixels, the same as the compositor's.

#[allow(dead_code)] // Not all of it has a user yet.
mod eis;
pub mod helper;
mod kde;
mod keymap;
mod sway;
mod wlroots;

pub use kde::{KdeDisplay, KdeWindow};
pub use sway::{SwayDisplay, SwayWindow};
pub use wlroots::client::Seat;
