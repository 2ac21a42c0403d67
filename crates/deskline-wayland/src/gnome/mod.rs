//! GNOME Shell, through the D-Bus interfaces of its compositor, Mutter. No extension and no permission
//! is needed: Mutter lets every program of the session use them. Where the person has installed Deskline's
//! extension, windows come to the front by it.
//!
//! - `bus`: the session bus, with a time limit on every wait.
//! - `session`: a remote desktop session: a way for input, and the stream of the focused window. The way is an EIS
//!   socket from GNOME 45 on.
//! - `notify`: the way before: a call for each key, click and motion.
//! - `seat`: what only a Wayland client is told, for these calls: the keymap.
//! - `place`: where a window's content begins in its buffer, by its picture.
//! - `scales`: the scales of the screens.
//! - `picture`: the picture of that content.
//! - `raise`, `recency`: bringing a window to the front by GNOME's own keys.
//! - `extension`: Deskline's extension: which window is in front, and raising one.
//! - `display`: [`GnomeDisplay`], all of it as the display of a link.

mod bus;
mod display;
mod extension;
mod notify;
mod picture;
mod place;
mod raise;
mod recency;
mod scales;
mod seat;
mod session;

pub use display::GnomeDisplay;
