//! Linux: AT-SPI, X11, and the apps of a freedesktop session. The only crate that knows D-Bus and
//! X11.

pub mod accessibility;
pub mod apps;
pub mod atspi;
pub mod bus;
mod busy;
mod desktop;
pub mod doctor;
mod guard;
mod overlay;
mod platform;
mod portal;
pub mod private;
pub mod session;
mod toolkit;
pub mod x11;

pub use desktop::LinuxDesktop;
pub use platform::LinuxPlatform;
