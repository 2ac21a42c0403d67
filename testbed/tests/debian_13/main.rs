//! Debian 13's compositors and toolkits: sway 1.10, labwc 0.8, KWin 6.3, GNOME Shell 48 and X11,
//! with GTK 3, GTK 4.18, Qt 6.8 and `LibreOffice` 25.2.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod clicks;
mod dialogs;
mod gnome;
mod gnome_extension;
mod gnome_widgets;
mod kde;
mod labwc;
mod launcher;
mod long_texts;
mod menus;
mod names;
mod office;
mod opening;
mod parts;
mod paste;
mod places;
mod presses;
mod recorded;
mod screens;
mod session_end;
mod sway;
mod table;
mod trees;
