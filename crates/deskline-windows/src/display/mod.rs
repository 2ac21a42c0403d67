//! Windows, the pointer and pictures. Coordinates are physical pixels everywhere: the process is
//! aware of each monitor's scale.

mod contract;
#[cfg(windows)]
#[allow(unsafe_code)] // each call has a SAFETY comment
pub mod monitors;
#[cfg(windows)]
#[allow(unsafe_code)] // each call has a SAFETY comment
pub mod picture;
pub(crate) mod privilege;
mod raise;
mod scene;
pub(crate) mod windows;

pub use contract::WinDisplay;
