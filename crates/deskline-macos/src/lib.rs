//! macOS: `AXUIElement` for the trees, the `WindowServer` for windows, Quartz events for input,
//! `ScreenCaptureKit` for pictures.
//!
//! The calls into the system are behind the trait [`os::Os`]. Its implementation [`os::apple`]
//! decides nothing. All decisions are in the code that calls the trait, which is tested on any OS
//! with a fake implementation.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod activate;
mod apps;
mod ax;
// The program `deskline-selftest`, which the tests run on a fake.
#[cfg(test)]
#[allow(dead_code)] // Windows uses the rest
#[path = "../../../selftest/src/checks/mod.rs"]
mod checks;
mod clipboard;
mod desktop;
pub mod doctor;
mod facts;
mod front;
mod guard;
mod input;
mod keys;
pub mod os;
mod panels;
mod permissions;
mod picture;
mod platform;
mod program;
#[cfg(test)]
mod tests;
mod windows;

#[cfg(test)]
extern crate self as deskline_macos;

pub use desktop::MacDesktop;
pub use platform::MacPlatform;
