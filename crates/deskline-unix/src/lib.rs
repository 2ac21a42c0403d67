//! Helpers that the Linux crates share: processes in `/proc`, how busy they are, what they have not yet read of a
//! socket, starting programs, threads that take orders, waiting for file descriptors with a time limit, and the codes of keys.

pub mod codes;
pub mod family;
pub mod process;
pub mod socket;
pub mod spawn;
pub mod unread;
pub mod wait;
pub mod worker;
