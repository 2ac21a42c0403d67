//! Helpers that the Linux crates share: processes in `/proc`, their run time, the unread bytes of a
//! socket, starting programs, threads that take orders, waiting for file descriptors with a time
//! limit, and key codes. macOS uses only `wait`, Windows only `complaint`.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

#[cfg(any(target_os = "linux", windows))]
pub mod complaint;

#[cfg(target_os = "linux")]
pub mod alarm;
#[cfg(target_os = "linux")]
pub mod clients;
#[cfg(target_os = "linux")]
pub mod codes;
#[cfg(target_os = "linux")]
pub mod family;
#[cfg(target_os = "linux")]
pub mod flatpak;
#[cfg(target_os = "linux")]
pub mod process;
#[cfg(target_os = "linux")]
mod sock_diag;
#[cfg(target_os = "linux")]
pub mod socket;
#[cfg(target_os = "linux")]
pub mod spawn;
#[cfg(target_os = "linux")]
pub mod unread;
#[cfg(unix)]
pub mod wait;
#[cfg(target_os = "linux")]
pub mod worker;
