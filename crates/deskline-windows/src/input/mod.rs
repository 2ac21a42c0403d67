//! The pointer and the keyboard, over `SendInput`.

pub mod keys;
#[cfg(windows)]
mod port;
#[cfg(windows)]
#[allow(unsafe_code)] // each call has a SAFETY comment
pub(crate) mod send;

#[cfg(windows)]
pub use port::{Input, RHYTHM};

/// Marks this program's events, so that its guard lets them through (`dwExtraInfo`).
pub const MARK: usize = 0x4445_534B;
