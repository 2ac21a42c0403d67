//! The desktops of Linux: sessions, apps, portals and private desktops, and the desktop that puts
//! AT-SPI's trees and a display system's windows together.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod absent;
pub mod apps;
mod desktop;
mod display;
pub mod doctor;
mod exits;
mod guard;
pub mod helpers;
mod input_method;
mod menus;
mod native;
mod packages;
mod platform;
mod portal;
pub mod presses;
pub mod private;
pub mod session;
mod tesseract;
mod tray;
mod treeless;

pub use deskline_x11::{Fonts, banner};
pub use platform::LinuxPlatform;
