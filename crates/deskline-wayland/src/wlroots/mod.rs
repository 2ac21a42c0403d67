//! What the compositors of the wlroots family share: virtual devices, screencopy, activation tokens.

pub(crate) mod client;
pub(crate) mod keyboard;
pub(crate) mod own_seat;
pub(crate) mod picture;
pub(crate) mod pointer;
pub(crate) mod token;
