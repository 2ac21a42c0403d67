//! The protocols of the wlroots family: virtual devices, windows, outputs, screencopy.

pub(crate) mod banner;
pub(crate) mod client;
pub(crate) mod devices;
pub(crate) mod heard;
pub(crate) mod input;
pub(crate) mod keyboard;
pub(crate) mod picture;
pub(crate) mod pointer;
pub(crate) mod screens;
pub(crate) mod toplevels;
