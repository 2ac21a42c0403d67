//! Debian 13's compositors and toolkits: sway 1.10, labwc 0.8, KWin 6.3, GNOME Shell 48 and X11, with
//! GTK 3, GTK 4.18 and Qt 6.8.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

mod ends;
mod gnome;
mod kde;
mod menus;
mod names;
mod opening;
mod own_seat;
mod screens;
mod sway;
mod table;
mod trees;
