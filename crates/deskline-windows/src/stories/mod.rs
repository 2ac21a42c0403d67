//! Stories on the fake Windows: real links with the real transaction.

#![allow(clippy::unwrap_used)]

mod desk;
mod elevation;
mod front;
mod providers;
mod scale;
mod store;
