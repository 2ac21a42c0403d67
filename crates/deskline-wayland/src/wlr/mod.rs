//! The compositors of the wlroots family that have no module of their own here: labwc, Wayfire,
//! river and others. They list windows with titles and states, and offer input and pictures by
//! wlroots' protocols, but report neither a window's process nor its position.
//!
//! - `pairs`: matches the compositor's windows with the windows that apps describe.
//! - `marks`: finds a window on the screen by pieces of its picture.
//! - `place`: finds a window's position. Measures it once, while the window is in full screen for a
//!   moment, and from then on finds the window by its marks.
//! - `compositor`: implements the crate's `Compositor` on top of these modules.

mod compositor;
mod marks;
mod pairs;
mod place;

pub use compositor::{WlrDisplay, is_wlr, wlr_lacks};
