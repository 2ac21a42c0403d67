//! GNOME Shell, through the D-Bus interfaces of its compositor, Mutter. No extension and no permission
//! is needed: Mutter lets every program of the session use them.
//!
//! - `bus`: the session bus, with a time limit on every wait.
//! - `toplevels`: the windows. Mutter lists none, so those that apps describe to assistive technology
//!   stand for them.
//! - `session`: a remote desktop session: an EIS socket for input, and the stream of the focused window.
//! - `place`: where a window's content begins in its buffer, by its picture.
//! - `picture`: the picture of that content.
//! - `raise`, `recency`: bringing a window to the front by GNOME's own keys.
//! - `display`: [`GnomeDisplay`], all of it as the display of a link.

mod bus;
mod display;
mod picture;
mod place;
mod raise;
mod recency;
mod session;
mod toplevels;

pub use display::GnomeDisplay;
pub use toplevels::{AppToplevel, Toplevels};
