//! The journal's errors. Each names the next step.

use std::io;
use std::path::{Path, PathBuf};

/// What a method of the journal returns.
pub(crate) type Result<T = (), E = JournalError> = std::result::Result<T, E>;

/// Why the journal failed.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The journal's path is a symbolic link.
    #[error(
        "the log {} is a symbolic link, which could lead anywhere. Remove it, or name the folder \
         itself with --dir",
        .0.display()
    )]
    Symlink(PathBuf),
    /// The journal's path is not a folder.
    #[error("the log {} is not a folder. Remove it, or name a folder with --dir", .0.display())]
    NotAFolder(PathBuf),
    /// The journal's path is not UTF-8, or has control characters, which could split a line.
    #[error(
        "the log {0:?} cannot be used: agents get its path as text, in one line. Use --dir \
         to name a folder whose path is UTF-8 without control characters"
    )]
    NotText(PathBuf),
    #[error(
        "the log {} belongs to another user ({owner}). Name a folder of your own with --dir",
        path.display()
    )]
    Foreign { path: PathBuf, owner: String },
    /// Other users can read or write the journal.
    #[error(
        "other users can access the log {} ({how}), which will hold what is on the screen. Run \
         `{close}`, or name another folder with --dir",
        path.display()
    )]
    OpenToOthers {
        path: PathBuf,
        /// The journal's permission bits, or the users who have access.
        how: String,
        /// The command that closes the journal to other users.
        close: String,
    },
    /// The operating system reported an error.
    #[error("cannot {doing} {}: {source}{}", path.display(), hint(source))]
    Io {
        /// A verb: the action that failed.
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
    /// Another process has held a lock for longer than the time limit.
    #[error(
        "another process keeps {} locked. End or continue it (is a deskline stopped?), or use \
         another folder with --dir",
        .0.display()
    )]
    Busy(PathBuf),
    /// The pixels cannot be encoded.
    #[error("cannot make a screenshot: {0}")]
    Picture(String),
    /// An agent named a file outside this journal.
    #[error("{name:?} is not a file of the log {}: {why}", journal.display())]
    NotInJournal {
        name: String,
        journal: PathBuf,
        /// Why the name is refused.
        why: &'static str,
    },
}

impl JournalError {
    pub(crate) fn io(doing: &'static str, path: &Path, source: impl Into<io::Error>) -> Self {
        Self::Io {
            doing,
            path: path.to_owned(),
            source: source.into(),
        }
    }

    /// Whether the error is that a file or folder does not exist.
    pub(crate) fn is_missing(&self) -> bool {
        matches!(self, Self::Io { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }
}

fn hint(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            ". Free some space, keep less with --keep, or name a folder on another disk with --dir"
        }
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            ". Name a folder that can be written with --dir"
        }
        _ => "",
    }
}
