//! Windows: UI Automation for the trees, `SendInput` for input, low-level hooks for the guard.
//!
//! What only Windows can run is behind `cfg(windows)`, so that the rest is built and tested on any
//! system.

pub mod apps;
pub mod display;
pub mod guard;
pub mod input;
pub mod tree;
