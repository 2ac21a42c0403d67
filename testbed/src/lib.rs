//! Real desktops for tests. A [`Bed`] is a private desktop for one test, with real apps and a real
//! MCP client that talks to a real `deskline serve`.
//!
//! ```no_run
//! use deskline_testbed::{Bed, Toolkit};
//! use serde_json::json;
//!
//! let bed = Bed::new();
//! let app = bed.widgets(Toolkit::Gtk3);
//! let mut server = bed.server(&[]);
//! let answer = server.call("click_and_traverse", json!({"pid": app.pid, "element": "OK"}));
//! assert!(!answer.is_error, "{answer}");
//! assert_eq!(app.log(), ["clicked OK"]);
//! ```
//!
//! Tests compare Deskline's answers about an app with an independent source: the log of a test app
//! ([`App::log`]), a file that an editor has saved, the requests of a web page ([`web::Page`]), the
//! X server ([`Screen`]), or the accessibility bus as libatspi reads it ([`oracle`]).
//!
//! For tests only: panics if a real desktop fails. Each wait is for a condition and has a time
//! limit.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::missing_panics_doc)]

mod answer;
mod app;
mod apps;
mod bed;
pub mod browser;
mod client;
mod clipboard_manager;
mod documents;
mod fcitx;
pub mod grabber;
pub mod lock;
mod native;
pub mod oracle;
pub mod person;
mod place;
mod program;
mod screen;
mod sdk;
mod session;
pub mod table;
mod wait;
pub mod watcher;
pub mod web;
mod wine;
mod xorg;

pub use answer::{Answer, Pixels, effects, has};
pub use app::App;
pub use apps::{CODE, Toolkit};
pub use bed::Bed;
pub use client::{Client, Pending};
pub use clipboard_manager::clipboard_manager;
pub use documents::{letter, pdf, slide};
pub use fcitx::{FCITX_ON, hangul_is_on};
pub use native::NativeApp;
pub use program::{Running, deskline, kilobytes, processes_below, signal};
pub use screen::{Screen, Window};
pub use sdk::{SdkClient, sdks};
pub use session::Session;
pub use session::elsewhere::Where;
pub use session::promises::Lack;
pub use session::setup::{Compositor, Setup};
pub use wait::{PATIENCE, until};
pub use wine::Wine;

/// Defines tests that each make one call.
#[macro_export]
macro_rules! tests {
    ($($(#[$doc:meta])* $name:ident => $call:expr,)*) => {
        $($(#[$doc])* #[test] fn $name() { $call; })*
    };
}
