//! The pointer and the keyboard, over `SendInput`.

pub mod keys;
#[cfg(any(windows, test))]
mod port;
#[cfg(windows)]
#[allow(unsafe_code)] // each call has a SAFETY comment
pub(crate) mod send;

#[cfg(all(test, not(windows)))]
pub(crate) use crate::tests::fake::send;
#[cfg(any(windows, test))]
pub use port::{Input, RHYTHM};

/// Marks this program's events, so that its guard lets them through (`dwExtraInfo`).
pub const MARK: usize = 0x4445_534B;
