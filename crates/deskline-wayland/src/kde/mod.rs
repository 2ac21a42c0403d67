//! KWin of Plasma 6: windows and raising by scripts that it runs over D-Bus, pointer and keys through
//! libei. Neither needs a permission or an extension.
//!
//! - `bus`: KWin on the session bus, with a time limit on every call.
//! - `script`: runs a script in KWin and waits for what it says.
//! - `windows`: the windows and the pointer, by such a script.
//! - `guard`: keeps the person's input out by KWin's input capture.
//! - `display`: [`KdeDisplay`], KWin as the display of a link.

mod bus;
mod display;
mod guard;
mod script;
mod windows;

pub use display::KdeDisplay;
pub use windows::KdeWindow;
