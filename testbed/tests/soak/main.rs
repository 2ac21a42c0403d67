//! Long runs: no resource grows, no input is mixed, and nobody is locked out.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod apps;
mod calls;
mod held;
mod mixed;
mod person;
