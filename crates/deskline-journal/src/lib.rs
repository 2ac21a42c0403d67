//! The journal, an agent's long-term memory: a folder with a `.txt` and a `.png` for each call, an
//! append-only log of links, and the refs of elements.
//!
//! ```text
//! /tmp/deskline/                                  0700 (Windows: %USERPROFILE%\.deskline, ACL)
//!   1776457217931_click_and_traverse.txt          0600, appears whole or not at all
//!   1776457217931_click_and_traverse.png
//!   journal.jsonl                                 one line a link
//!   refs                                          which element each ref stands for
//!   .stamp                                        the last `<ms>` that was given to a call
//!   .clock                                        when this boot started, by the wall clock
//! ```
//!
//! Promises:
//!
//! - Any number of processes and threads may share a journal. No two calls share a stamp, and later
//!   calls have greater ones.
//! - Files appear complete or not at all: they are written under a temporary name and renamed.
//! - All access goes through a descriptor of the checked folder, so replacing the folder at its
//!   path redirects no access. If the folder is removed or replaced while in use, the path is
//!   checked again from the start. On Windows the folder cannot be replaced while a process has it
//!   open.
//! - A wait for another process ends after a second with [`JournalError::Busy`].
//!
//! Files are not synced to disk: a power cut may lose the last seconds.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod boot;
mod error;
mod file_pair;
mod folder;
mod follow;
pub mod grep;
mod journal;
mod log;
mod name;
mod os;
mod picture;
mod record;
mod refs;
mod retention;
mod stamp;
mod table;
mod time;
mod turns;

pub use error::JournalError;
use error::Result;
pub use file_pair::FilePair;
pub use follow::Follow;
pub use journal::{Journal, StateFile};
pub use name::{FileKind, JournalFile};
pub use picture::{Place, Shot, encode, pixels};
pub use record::{DiffCounts, Files, KnownAs, Outcome, Record};
pub use refs::RefStore;
pub use retention::{Retention, RetentionError, size};
pub use turns::{Turn, Turns};
