//! Input, written once for all displays: a display supplies single events and facts.
//!
//! A display implements [`Port`] (its pointer and keyboard) and [`Scene`] (where input goes). The
//! actions are functions over a [`Scene`]: [`click`], [`hover`], [`drag`], [`scroll`],
//! [`type_text`], [`press_key`]. Each
//!
//! 1. checks that the target would get its events, and checks again before each part of a text;
//! 2. records what it presses in the scene's [`Hands`];
//! 3. stops at the first failure and when its [`Cancel`] flag is raised;
//! 4. releases everything that it has pressed, the last first, however it ends. A drag that fails
//!    ends where it began.
//!
//! Errors are [`InputError`]s. A crate above turns them into messages with the next step.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod aim;
mod cancel;
mod clicks;
pub mod clock;
mod drag;
mod error;
mod hands;
mod pointer;
mod port;
mod pressed;
mod typing;
pub mod wait;

pub use deskline_guard as guard;

pub use aim::Aim;
pub use cancel::{Cancel, Cancelled, Reason};
pub use clicks::{BETWEEN_CLICKS, Button, Click, Clicks, Missed};
pub use drag::drag;
pub use error::{Device, Gap, InputError, Progress, character_of};
pub use hands::release_all;
pub use pointer::{click, hover, scroll};
pub use port::{Doing, Pace, Part, Port, Receiver, Rhythm, Scene, Stroke, Tempo, Under, Wait};
pub use pressed::Hands;
pub use typing::{press_key, type_text};
