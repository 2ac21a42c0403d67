//! Helpers that the Linux crates share: processes in `/proc`, their run time, the unread bytes of a
//! socket, starting programs, threads that take orders, waiting for file descriptors with a time
//! limit, how long a guard holds, and key codes.

pub mod clients;
pub mod codes;
pub mod family;
pub mod hold;
pub mod process;
pub mod socket;
pub mod spawn;
pub mod unread;
pub mod wait;
pub mod worker;
