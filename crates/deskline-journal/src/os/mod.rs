//! The part of the folder that depends on the operating system: access rights, files and locks.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
#[allow(unsafe_code)]
mod windows;

#[cfg(unix)]
pub(crate) use unix::{
    At, Handle, create, default_path, identity, own_default, readable, try_lock,
};
#[cfg(windows)]
pub(crate) use windows::{
    At, Handle, create, default_path, identity, own_default, readable, try_lock,
};

/// The purpose of opening a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Open {
    Read,
    /// Reading and writing; creates the file if it does not exist.
    Write,
    /// As `Write`, for a file that nobody replaces.
    Lock,
    /// Writing; creates the file, which must not exist.
    New,
}

/// Identifies a file or folder independently of its path: the volume, and the file's number on it.
pub(crate) type Identity = (u64, u64);
