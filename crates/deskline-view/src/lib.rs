//! The journal as a page in a browser: each link with its picture, its diff, and the answer that
//! the model read.
//!
//! [`Server`] serves the page on loopback, read-only. [`Pages`] contains the pages of one journal
//! or, for other servers, of many journals. [`export`] writes one file. All three show the same
//! page (`assets/`), which gets its data from the server or from within the file.
//!
//! Screen contents are hostile: the server sends them as JSON, the page sets them as text only, and
//! a content security policy permits no script but the page's own.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod answer;
mod assets;
mod entry;
mod error;
mod events;
mod export;
mod film;
mod gate;
mod list;
mod pages;
mod peer;
mod routes;
mod run;
mod screen;
mod secret;
mod server;
mod words;

pub use answer::Answer;
pub use error::ViewError;
pub use export::export;
pub use film::{Draw, Image};
pub use gate::{Refusal, check};
pub use list::html;
pub use pages::{Pages, to_folder};
pub use secret::{same, secret};
pub use server::{Server, accept};
pub use words::words;
