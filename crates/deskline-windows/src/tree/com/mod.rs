//! UI Automation through COM. Makes no decisions.
//!
//! Calls are made on a thread of their own, and UI Automation has a time limit for each. If a
//! provider blocks beyond that, the caller abandons the thread, and the next call gets a new one.

// COM and Win32 are unsafe interfaces.
#![allow(unsafe_code)]
// The macro `implement` generates such code.
#![allow(clippy::inline_always, clippy::ref_as_ptr)]
// These are dozens of names of properties and events.
#![allow(clippy::wildcard_imports)]

mod automation;
pub mod client;
mod events;
mod properties;
mod text;
