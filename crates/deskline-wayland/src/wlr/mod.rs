//! The compositors of the wlroots family that have no interface of their own for Deskline: labwc,
//! Wayfire, river and others. They list windows with their titles and states, and take input and
//! give pictures by wlroots' protocols, but report neither whose a window is nor where.
//!
//! - `pairs`: which window of the compositor's list each of the windows is that apps describe.
//! - `marks`: pieces of a window's picture, by which it is found on the screen.
//! - `place`: where a window is. It is measured once, while the window is in full screen for a
//!   moment, and known by its marks from then on.
//! - `compositor`: all of it, for a display.

mod compositor;
mod marks;
mod pairs;
mod place;

pub use compositor::{WlrDisplay, is_wlr};
