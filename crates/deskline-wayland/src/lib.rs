//! Wayland: windows, input and pictures, one module a compositor, in pure Rust. No library is
//! needed at run time, but for pictures on GNOME.
//!
//! - `display`: [`WaylandDisplay`], a compositor as the display of a link. It checks where input
//!   goes.
//! - `compositor`: the facts that it needs. `sway`, `wlr`, `kde` and `gnome` are one compositor
//!   each.
//! - `reader`: what apps take of keys.
//! - `wlroots`: a connection whose every wait has a time limit, virtual devices, screencopy,
//!   activation tokens.
//! - [`clipboard`]: saved, lent and given back by data control; on GNOME by Mutter's own interface.
//! - `eis`: libei's client side, for KWin and Mutter.
//! - `events`, `layout`: the single events that KWin and Mutter take, as a port; which keys type a
//!   character, by the compositor's own keymap.
//! - `kde`: [`KdeDisplay`], KWin.
//! - `keymap`: our own keymap, so that any Unicode can be typed whatever the person's layout is.
//! - `gnome`: [`GnomeDisplay`], GNOME Shell.
//! - `pipewire`: frames of a screen cast, through libpipewire, which is opened when it is needed.
//! - `sway`: [`SwayDisplay`], sway.
//! - `wlr`: [`WlrDisplay`], any other compositor of the wlroots family.
//! - `described`: windows as apps describe them to assistive technology, for `gnome` and `wlr`.
//! - [`helper`]: processes that outlive the server.
//!
//! All coordinates are those of the layout: logical pixels, the same as the compositor's.

pub mod clipboard;
mod compositor;
pub mod dbus;
mod described;
mod display;
mod eis;
mod events;
mod gnome;
pub mod helper;
mod kde;
mod keymap;
mod layout;
mod pipewire;
mod reader;
mod sway;
mod wlr;
mod wlroots;

pub use described::{AppToplevel, OpenMenu, Part, Toplevels};
pub use display::WaylandDisplay;
pub use gnome::{
    ExtensionUse, GnomeAccess, GnomeDisplay, GnomeInput, ShellWindow, gnome_clipboard,
};
pub use kde::{KdeDisplay, KdeWindow};
pub use sway::{SwayDisplay, SwayWindow};
pub use wlr::{WlrDisplay, is_wlr};
pub use wlroots::own_seat::Seat;
pub use wlroots::token::activation_token;
