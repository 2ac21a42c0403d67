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
pub mod selftest;
#[cfg(test)]
mod tests;
mod windows;

pub use desktop::MacDesktop;
pub use platform::MacPlatform;
