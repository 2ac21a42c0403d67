//! Scenarios on a fake Mac: real links with the real transaction.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod coordinates;
mod desk;
mod front;
mod guard;
mod links;
mod menu_bar;
mod messages;
mod odd_apps;
mod paste;
mod permissions;
mod pictures;
mod pointer;
mod promises;
mod reading;
mod selftest;
mod several_windows;
mod spaces;
mod typing;
mod waking;
