//! KWin of Plasma 6 and 5.27: windows and raising by scripts that it runs over D-Bus, pointer and
//! keys through libei on Plasma 6. Neither needs a permission or an extension; pictures, and on
//! Plasma 5 pointer and keys, need a `.desktop` file.
//!
//! - `bus`: KWin on the session bus, with a time limit on every call.
//! - `script`: runs a script in KWin and waits for its answer.
//! - `windows`: the windows and the pointer, by such a script.
//! - `fake`: input by KWin's fake input protocol, on Plasma 5.
//! - `guard`: keeps the person's input out by KWin's input capture.
//! - `picture`: pictures by KWin's ScreenShot2, for programs that KWin knows.
//! - `compositor`: all of it, for a display.

mod bus;
mod compositor;
mod fake;
mod guard;
mod picture;
mod script;
mod windows;

pub use compositor::KdeDisplay;
pub use windows::KdeWindow;
