//! The viewer's errors.

use std::io;
use std::path::PathBuf;

use deskline_journal::JournalError;

/// Why a run cannot be shown.
#[derive(Debug, thiserror::Error)]
pub enum ViewError {
    /// The journal cannot be read.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The port cannot be opened.
    #[error(
        "cannot listen on 127.0.0.1:{port}: {source}. Choose another port with --port, or leave \
         --port out"
    )]
    Listen {
        port: u16,
        /// The operating system's error.
        source: io::Error,
    },
    /// The operating system has no random numbers for the token.
    #[error("cannot make a token: {0}")]
    Token(getrandom::Error),
    /// The file cannot be written.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
    /// The journal has no links to export.
    #[error("the log {} has no calls yet", .0.display())]
    Empty(PathBuf),
}
