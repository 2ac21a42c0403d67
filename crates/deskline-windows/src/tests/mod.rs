//! A fake Windows, and stories on it: real links with the real transaction.

#![allow(clippy::unwrap_used)]

mod desk;
mod elevation;
pub(crate) mod fake;
mod front;
mod providers;
mod scale;
mod store;
#[path = "../../../deskline-contract/tests/suite/mod.rs"]
mod suite;
