//! Wayland: windows, input and pictures, one module per compositor, in pure Rust. Only pictures on
//! GNOME need a library at run time.
//!
//! - `display`: [`WaylandDisplay`], a compositor as the display of a link. It checks where input
//!   goes.
//! - `compositor`: the trait that `sway`, `wlr`, `kde` and `gnome` implement, and what the doctor
//!   reports about a compositor.
//! - `reader`: how fast apps read keys, and which characters they refuse.
//! - `wlroots`: a connection whose every wait has a time limit, virtual devices, screencopy, the
//!   banner.
//! - [`clipboard`]: the clipboard, through data control; on GNOME through Mutter's own interface.
//! - `eis`: libei's client side, for KWin and Mutter.
//! - `events`: the input port on top of the single events that KWin and Mutter accept.
//! - `layout`: the keys that type a character in the compositor's keymap.
//! - `kde`: [`KdeDisplay`], KWin.
//! - `keymap`: our own keymap, which types any Unicode character, whatever the person's layout is.
//! - `keys`: the symbols that the person's keys produce in the compositor's keymap.
//! - `gnome`: [`GnomeDisplay`], GNOME Shell.
//! - `pipewire`: frames of a screen cast, through libpipewire, which is loaded on demand.
//! - `sway`: [`SwayDisplay`], sway and Hyprland.
//! - `wlr`: [`WlrDisplay`], any other compositor of the wlroots family.
//! - `listed`: windows as `sway`, `kde` and GNOME's extension list them.
//! - `described`: windows as apps describe them to assistive technology, for `gnome` and `wlr`.
//! - [`helper`]: processes that outlive the server.
//!
//! All coordinates are the compositor's: logical pixels of the layout of all outputs.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

pub mod clipboard;
mod compositor;
pub mod dbus;
mod described;
mod display;
mod eis;
mod events;
mod focus;
mod gnome;
pub mod helper;
mod kde;
mod keymap;
mod keys;
mod layout;
mod listed;
mod pipewire;
mod reader;
mod sway;
mod wlr;
mod wlroots;

pub use compositor::{BY_PROTOCOLS, Compositor, Current, Findings, Listing};
pub use described::{OpenMenu, Part, Toplevels};
pub use display::WaylandDisplay;
pub use gnome::{GnomeAccess, GnomeDisplay, gnome_clipboard};
pub use kde::{KWINS_INPUT_METHOD, KdeDisplay};
pub use keys::Keys;
pub use listed::{Corner, Kind, ListedWindow};
pub use sway::{OwnSocket, SwayDisplay};
pub use wlr::{WlrDisplay, is_wlr, wlr_lacks};
pub use wlroots::banner::Banner;
