//! Helpers that the Linux crates share: processes in `/proc`, how busy they are, starting programs,
//! threads that take orders, and waiting for file descriptors with a time limit.

pub mod family;
pub mod process;
pub mod spawn;
pub mod wait;
pub mod worker;
