//! GNOME Shell, through the D-Bus interfaces of its compositor, Mutter. No extension and no
//! permission is needed: Mutter lets every program of the session use them. Where the person has
//! installed Deskline's extension, windows come to the front by it, and their places on the screen
//! are known.
//!
//! - `bus`: the session bus, with a time limit on every wait.
//! - `session`: a remote desktop session: a way for input, and the stream of the focused window.
//!   The way is an EIS socket from GNOME 45 on.
//! - `sessions`: the session that is used, kept between links; a seat that lacks devices.
//! - `notify`: the way before: a call for each key, click and motion.
//! - `place`: where a window's content begins in its buffer, by its picture.
//! - `scales`: the scales of the screens.
//! - `picture`: the picture of that content.
//! - `raise`, `recency`: bringing a window to the front by GNOME's own keys.
//! - `plain`: all of it for a display.
//! - `extension`: Deskline's extension: the windows and their places, what lies over a place, and
//!   raising one.
//! - `placed`: the same with these places.
//! - `clipboard`: saved, lent and given back by a session that sends no input.
//! - `compositor`: the one or the other, by whether the extension is switched on.

mod bus;
mod clipboard;
mod compositor;
mod extension;
mod notify;
mod picture;
mod place;
mod placed;
mod plain;
mod raise;
mod recency;
mod scales;
mod session;
mod sessions;

pub use clipboard::clipboard as gnome_clipboard;
pub use compositor::{ExtensionUse, GnomeDisplay};
pub use extension::ShellWindow;
pub use session::{Access as GnomeAccess, Input as GnomeInput};
