//! The folder of files that is the screen's memory: a `.txt` and a `.png` a call, an append-only
//! log of links, and the numbers that elements go by.
//!
//! ```text
//! /tmp/deskline/                                  0700
//!   1776457217931_click_and_traverse.txt          0600, appears whole or not at all
//!   1776457217931_click_and_traverse.png
//!   journal.jsonl                                 one line a link
//!   refs                                          which element is e42
//!   .stamp                                        the last `<ms>` that was given out
//! ```
//!
//! Promises:
//!
//! - Any number of processes and threads may share a journal. No two calls share a stamp, and a
//!   later call has the greater one.
//! - A file is seen complete or not at all: it is written beside its place and renamed.
//! - Everything is reached through a descriptor of the folder that was checked, so that swapping the
//!   path later redirects nothing. If the folder is removed or replaced while in use, the path is
//!   checked again from the start.
//! - Every wait for another process ends after a second in [`JournalError::Busy`].
//!
//! Files are not synced: a power cut may lose what the last seconds wrote.

mod entry;
mod error;
mod folder;
mod journal;
mod keep;
mod log;
mod name;
mod picture;
mod record;
mod refs;
mod stamp;
mod table;
mod time;

pub use entry::Entry;
pub use error::JournalError;
pub use journal::Journal;
pub use keep::{Keep, KeepError};
pub use name::{JournalFile, Kind};
pub use picture::Shot;
pub use record::{DiffCounts, Files, Outcome, Record};
pub use refs::RefStore;
