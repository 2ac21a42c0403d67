//! Wayland: windows, input and pictures, one module a compositor, in pure Rust. No library is needed at
//! run time, but for pictures on GNOME.
//!
//! - `wlroots`: a connection whose every wait has a time limit, virtual devices, screencopy, activation tokens.
//! - `eis`: libei's client side, for KWin and Mutter.
//! - `sender`, `layout`: clicks, text and keys of the single events that KWin and Mutter take; which keys type a
//!   character, by the compositor's own keymap.
//! - `seat`: what every client is told of the seat: its devices and the keymap.
//! - `kde`: [`KdeDisplay`], KWin as the display of a link.
//! - `keymap`: our own keymap, so that any Unicode can be typed whatever the person's layout is.
//! - `gnome`: [`GnomeDisplay`], GNOME Shell as the display of a link.
//! - `pipewire`: frames of a screen cast, through libpipewire, which is opened when it is needed.
//! - `sway`: [`SwayDisplay`], sway as the display of a link.
//! - `wlr`: [`WlrDisplay`], any other compositor of the wlroots family as the display of a link.
//! - `described`: windows as apps describe them to assistive technology, for `gnome` and `wlr`.
//! - [`helper`]: processes that outlive the server.
//!
//! All coordinates are those of the layout: logical pixels, the same as the compositor's.

mod dbus;
mod described;
mod eis;
mod gnome;
pub mod helper;
mod kde;
mod keymap;
mod layout;
mod pipewire;
mod seat;
mod sender;
mod sway;
mod wlr;
mod wlroots;

pub use described::{AppToplevel, OpenMenu, Part, Toplevels};
pub use gnome::{ExtensionUse, GnomeAccess, GnomeDisplay, GnomeInput, ShellWindow, ask_portal};
pub use kde::{KdeDisplay, KdeWindow};
pub use sway::{SwayDisplay, SwayWindow};
pub use wlr::{WlrDisplay, is_wlr};
pub use wlroots::client::Seat;
pub use wlroots::token::activation_token;
