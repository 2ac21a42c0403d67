//! The calls to Windows about windows, processes and input: thin functions without decisions. In
//! tests on other systems a fake replaces them ([`crate::tests::fake`]).

#[cfg(windows)]
#[allow(unsafe_code)] // each call has a SAFETY comment
pub(crate) mod messages;
#[cfg(windows)]
#[allow(unsafe_code)] // each call has a SAFETY comment
mod win32;

#[cfg(windows)]
pub(crate) use crate::display::picture::take as picture;
#[cfg(not(windows))]
pub(crate) use crate::tests::fake::os::*;
#[cfg(windows)]
pub use win32::become_aware;
#[cfg(windows)]
pub(crate) use win32::*;

/// The integrity level of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Integrity {
    Level(u32),
    /// Windows does not let this process query the level.
    Denied,
    /// There is no such process.
    Gone,
}

/// The part of a window's styles that is used here, as bits.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Styles {
    pub(crate) plain: u32,
    pub(crate) extended: u32,
}
