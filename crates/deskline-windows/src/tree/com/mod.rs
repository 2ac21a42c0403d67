//! UI Automation through COM. Makes no decisions.
//!
//! Calls are made on a thread of their own, and UI Automation has a time limit for each. If a
//! provider blocks beyond that, the caller abandons the thread, and the next call gets a new one.

// COM and Win32 are unsafe interfaces.
#![allow(unsafe_code)]
// `implement` writes such code.
#![allow(clippy::inline_always, clippy::ref_as_ptr)]
// Names of properties and events, by the dozen.
#![allow(clippy::wildcard_imports)]

mod automation;
pub mod client;
mod events;
mod properties;
mod text;
