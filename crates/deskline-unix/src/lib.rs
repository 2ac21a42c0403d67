//! Helpers that the Linux crates share: processes in `/proc`, their run time, the unread bytes of a
//! socket, starting programs, threads that take orders, waiting for file descriptors with a time
//! limit, and key codes. Windows uses only the capture of a failed app's standard error.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

pub mod complaint;

#[cfg(unix)]
pub mod alarm;
#[cfg(unix)]
pub mod clients;
#[cfg(unix)]
pub mod codes;
#[cfg(unix)]
pub mod family;
#[cfg(unix)]
pub mod flatpak;
#[cfg(unix)]
pub mod process;
#[cfg(unix)]
mod sock_diag;
#[cfg(unix)]
pub mod socket;
#[cfg(unix)]
pub mod spawn;
#[cfg(unix)]
pub mod unread;
#[cfg(unix)]
pub mod wait;
#[cfg(unix)]
pub mod worker;
