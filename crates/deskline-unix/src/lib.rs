//! Helpers that the Linux crates share: processes in `/proc`, starting programs, and waiting for
//! file descriptors with a time limit.

pub mod process;
pub mod spawn;
pub mod wait;
