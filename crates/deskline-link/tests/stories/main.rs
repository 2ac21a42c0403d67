//! Links on a scripted desktop: a few lines a story, no display, milliseconds.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod app_exit;
mod chain;
mod choose;
mod drags;
mod each_step;
mod faults;
mod grants;
mod hover;
mod lacking;
mod opened;
mod paste;
mod private;
mod readback;
mod receives;
mod script;
mod scripted;
mod settling;
mod story;
mod target;
mod transaction;
mod waits;
mod walk;
mod world;
