//! GNOME Shell, through the D-Bus interfaces of its compositor, Mutter. They need no extension and
//! no permission: Mutter lets every program of the session use them. If the person has installed
//! Deskline's extension, it raises windows and reports their positions on the screen.
//!
//! - `bus`: the session bus, with a time limit on every wait.
//! - `session`: a remote desktop session. It sends input (by EIS, so from GNOME 45 on)
//!   and streams the focused window.
//! - `sessions`: keeps the session between links, and gives a seat the devices that it lacks.
//! - `place`: finds the origin of a window's content in its buffer, from its picture.
//! - `scales`: the scales of the screens.
//! - `casts`: frames of any windows, each by a separate screen cast.
//! - `picture`: the picture of a window's content.
//! - `raise`, `recency`: raise a window with GNOME's own keys.
//! - `plain`: GNOME without the extension as a `Compositor`.
//! - `extension`: Deskline's extension: the windows, their positions, the window at a point, and
//!   raising.
//! - `placed`: GNOME with the extension as a `Compositor`.
//! - `clipboard`: the clipboard, through a session that sends no input.
//! - `compositor`: `placed` while the extension is on, otherwise `plain`.

mod bus;
mod casts;
mod clipboard;
mod compositor;
mod extension;
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
pub use compositor::GnomeDisplay;
pub use session::Access as GnomeAccess;
