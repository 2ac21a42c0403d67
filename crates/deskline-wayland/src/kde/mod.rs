//! KWin of Plasma 6 and 5.27. Deskline lists and raises windows by scripts that KWin runs on
//! request over D-Bus. On Plasma 6, it sends pointer events and keys through libei. Neither needs a
//! permission or an extension, but pictures need a `.desktop` file.
//!
//! - `bus`: KWin on the session bus, with a time limit on every call.
//! - `script`: runs a script in KWin and waits for its answer.
//! - `windows`: the windows and the pointer, as a script in KWin reports them.
//! - `input_method`: takes the keys from KWin's input method.
//! - `guard`: blocks the person's input by KWin's input capture.
//! - `keeper`: the process that owns the input capture.
//! - `picture`: pictures by KWin's ScreenShot2, for programs with a `.desktop` file.
//! - `compositor`: implements the crate's `Compositor` on top of these modules.

mod bus;
mod compositor;
mod guard;
mod input_method;
mod keeper;
mod picture;
mod script;
mod windows;

pub use compositor::KdeDisplay;
pub use input_method::KEYBOARD as KWINS_INPUT_METHOD;
pub(crate) use keeper::Keeper;
