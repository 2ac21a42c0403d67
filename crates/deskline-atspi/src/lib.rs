//! AT-SPI: reading the accessibility trees of Linux apps, listening to their events, and acting on
//! their elements.
//!
//! From the bottom up:
//!
//! - [`bus`]: a D-Bus client with many calls in flight; [`accessibility_bus`]: the bus's address.
//! - `peer`, `connection`, `request`, `decode`, `names`: one app, and the calls to its objects.
//! - [`toolkits`]: the peculiarities of GTK, Qt, LibreOffice, Chromium and Gecko.
//! - `engine`: one traversal, with an arena of nodes, a queue, and a table of requests in flight.
//! - `strategies`: the users of the engine, such as the bulk cache, large lists, tables,
//!   spreadsheets and reuse.
//! - `mirrors`, `events`: the apps that stay subscribed between links.
//! - `reading`: the order of the strategies; `tree`: from nodes to elements on the screen.
//! - [`AtSpi`]: the connection, which owns all of these.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

pub mod accessibility_bus;
mod act;
mod aimed;
mod app;
mod asked;
mod atspi;
mod behind;
pub mod bus;
mod choice;
mod connection;
mod decode;
mod engine;
mod events;
mod first_character;
#[cfg(test)]
mod flood_tests;
mod held;
mod hit_test;
mod mirrors;
mod names;
mod new_dialogs;
mod partial;
mod peer;
mod reading;
mod registrations;
mod request;
mod strategies;
pub mod toolkits;
mod toplevels;
mod tree;

pub use aimed::Aimed;
pub use atspi::{AtSpi, Listed, on_bus};
pub use connection::PATIENCE;
pub use tree::{InBuffer, Toplevel, Windows};
