//! A small file of this user's state, such as the person's grants.

use std::io;
use std::path::PathBuf;

use crate::folder::Folder;
use crate::os::Open;
use crate::{JournalError, Result};

/// A file in a folder for this user alone, checked like a journal's. Replaced whole: a reader sees
/// the old content or the new.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateFile {
    folder: PathBuf,
    name: &'static str,
}

impl StateFile {
    pub fn new(folder: PathBuf, name: &'static str) -> Self {
        Self { folder, name }
    }

    pub fn path(&self) -> PathBuf {
        self.folder.join(self.name)
    }

    /// The content; empty if there is no file.
    pub fn read(&self) -> Result<String> {
        let read = Folder::open_existing(&self.folder).and_then(|folder| {
            let file = folder.open_file(self.name, Open::Read)?;
            io::read_to_string(file).map_err(|error| folder.failed("read", self.name, error))
        });
        match read {
            Err(JournalError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                Ok(String::new())
            }
            read => read,
        }
    }

    /// Replaces the content by the result of `change`, while no other process can.
    pub fn change<E: From<JournalError>>(
        &self,
        change: impl FnOnce(&str) -> Result<String, E>,
    ) -> Result<(), E> {
        let folder = Folder::open(&self.folder)?;
        let file = folder.lock_file(self.name)?;
        let old = io::read_to_string(&file);
        let old = old.map_err(|error| folder.failed("read", self.name, error))?;
        folder.put(self.name, change(&old)?.as_bytes())?;
        Ok(())
    }
}
