//! What a port to an operating system implements: the traits of a desktop ([`Desktop`], in four
//! parts: [`Trees`], [`Display`], [`AppWindows`], [`Apps`]), with their values and errors. The
//! crate `deskline-link` calls these traits; a port needs nothing from it.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

pub mod amount;
pub mod apps;
pub mod clipboard;
pub mod desktop;
pub mod display;
pub mod doctor;
pub mod end;
pub mod error;
pub mod guard;
mod identity;
pub mod ocr;
pub mod presses;
pub mod question;
pub mod trees;
pub mod wait;

pub use apps::{Application, Apps, Identity, Opened, Permit, Progress, Thread, identify};
pub use clipboard::Clipboard;
pub use deskline_input::{
    Aim, Button, Cancel, Cancelled, Click, Clicks, InputError, Missed, Reason,
};
pub use desktop::{AppWindows, Desktop, Platform};
pub use display::{
    Display, KeyInput, Offer, Overlay, Picture, PictureNature, Pictures, Place, Pointer,
    PointerInput, Raising, Screen, Shown, Window, WindowId, Workspaces,
};
pub use end::{End, Exit};
pub use error::{
    DisplayError, Error, Missing, NoEffect, Obstacle, OpenError, QuietAction, Refusal, Result,
    TargetError, WindowHint,
};
pub use trees::{AppToplevel, Deed, Hit, Scope, Sent, Sign, Signs, Takes, Trees};

/// The value in `place`. If there is none, puts the result of `make` there first.
///
/// # Errors
/// Why `make` failed.
pub fn kept<T, E>(
    place: &mut Option<T>,
    make: impl FnOnce() -> std::result::Result<T, E>,
) -> std::result::Result<&mut T, E> {
    match place {
        Some(there) => Ok(there),
        none => Ok(none.insert(make()?)),
    }
}
