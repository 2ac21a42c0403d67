//! Scenarios on a fake Mac: real links with the real transaction.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod coordinates;
mod desk;
mod guard;
mod links;
mod promises;
mod reading;
mod selftest;
