//! The journal as a page in a browser: each link with its picture, its diff, and the answer that
//! the model read.
//!
//! [`Server`] serves it on loopback, read-only; [`export`] writes it as one file. Both show the
//! same page (`assets/`), which gets its data from the server or from within the file.
//!
//! Screen contents are hostile: the server sends them as JSON, the page sets them as text only, and
//! a content security policy permits no script but the page's own.

mod answer;
mod assets;
mod entry;
mod error;
mod events;
mod export;
mod gate;
mod peer;
mod routes;
mod run;
mod screen;
mod server;
mod words;

pub use error::ViewError;
pub use export::export;
pub use server::Server;
pub use words::words;
