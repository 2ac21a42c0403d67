//! Windows: UI Automation for the trees, `SendInput` for input, low-level hooks for the guard.
//!
//! Code that calls Windows is behind `cfg(windows)`, so that the rest is built and tested on any
//! system.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]
// On other systems only the tests use this code.
#![cfg_attr(not(windows), allow(dead_code))]

#[cfg(windows)]
pub mod apps;
#[cfg(windows)]
#[allow(unsafe_code)] // each call has a SAFETY comment
mod clipboard;
#[cfg(any(windows, test))]
mod desktop;
#[cfg(any(windows, test))]
pub mod display;
#[cfg(windows)]
pub mod doctor;
#[cfg(windows)]
#[allow(unsafe_code)] // each call has a SAFETY comment
mod facts;
pub mod guard;
pub mod input;
#[cfg(any(windows, test))]
mod os;
#[cfg(windows)]
mod platform;
#[cfg(windows)]
#[allow(unsafe_code)] // each call has a SAFETY comment
pub mod private;
#[cfg(windows)]
#[allow(unsafe_code)] // each call has a SAFETY comment
mod process;
#[cfg(all(test, not(windows)))]
mod tests;
#[cfg(any(windows, test))]
pub mod tree;

#[cfg(windows)]
pub use os::become_aware;
#[cfg(windows)]
pub use platform::WinPlatform;
#[cfg(windows)]
pub use process::complete_environment;
