//! What the Linux crates share and the standard library lacks: processes as `/proc` shows them,
//! starting programs, and waiting for descriptors with a bound.

pub mod process;
pub mod spawn;
pub mod wait;
