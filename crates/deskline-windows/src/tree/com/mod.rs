//! UI Automation through COM. Makes no decisions.
//!
//! Calls are made on a separate thread, and UI Automation has a time limit for each call. If a
//! provider blocks for longer, the caller abandons the thread, and the next call gets a new thread.

// COM and Win32 are unsafe interfaces.
#![allow(unsafe_code)]
// The macro `implement` generates code that these lints reject.
#![allow(clippy::inline_always, clippy::ref_as_ptr)]
// The wildcards import dozens of names of properties and events.
#![allow(clippy::wildcard_imports)]

mod automation;
pub mod client;
mod events;
mod properties;
mod text;
