//! The checks: those of any system, and what each system adds.

pub mod guard;
pub mod helper;
pub mod sheet;
mod tools;

#[cfg(any(target_os = "macos", test))]
pub mod mac;
#[cfg(windows)]
pub mod win;
