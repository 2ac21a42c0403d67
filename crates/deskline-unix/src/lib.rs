//! What the Linux crates share and the standard library lacks: processes as `/proc` shows them, and
//! starting programs with a bound.

pub mod process;
pub mod spawn;
