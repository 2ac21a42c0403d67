//! Scenarios on a Mac that is not there: the same links, the same transaction, on the fake.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod coordinates;
mod desk;
mod guard;
mod links;
mod promises;
mod reading;
mod selftest;
