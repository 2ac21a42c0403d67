//! UI Automation through COM. Decides nothing.
//!
//! Calls are made on a thread of their own, and UI Automation has a time limit for each. A provider
//! that blocks all the same costs the caller no more than that: the thread is left to it, and the
//! next call gets another.

// UI Automation and the window system are COM and C interfaces.
#![allow(unsafe_code)]

mod automation;
pub mod client;
mod events;
mod properties;
mod text;
mod toplevels;
