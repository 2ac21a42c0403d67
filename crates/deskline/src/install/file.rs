//! A configuration file: read as a whole, replaced atomically, with a backup beside it.

use std::fs;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

/// The maximum size of a configuration. No real one is larger.
const MOST: u64 = 64 << 20;

pub(super) struct File {
    /// The path; if that is a symlink, its target, so that the link itself stays.
    path: PathBuf,
    pub(super) text: String,
    exists: bool,
}

impl File {
    /// Reads the file. A missing file counts as empty.
    pub(super) fn read(path: &Path) -> Result<Self, String> {
        // Canonicalise only links: on Windows a canonical path has a form that few programs accept.
        let target = path.is_symlink().then(|| fs::canonicalize(path).ok());
        let path = target.flatten().unwrap_or_else(|| path.to_owned());
        let failed = |why: String| format!("{} cannot be read: {why}", path.display());
        if fs::metadata(&path).is_ok_and(|m| m.len() > MOST) {
            return Err(failed("the file is larger than 64 MiB".into()));
        }
        let (text, exists) = match fs::read(&path) {
            Ok(bytes) => match String::from_utf8(bytes) {
                Ok(text) => (text, true),
                Err(_) => return Err(failed("the file is not UTF-8".into())),
            },
            Err(e) if e.kind() == ErrorKind::NotFound => (String::new(), false),
            Err(e) => return Err(failed(e.to_string())),
        };
        Ok(Self { path, text, exists })
    }

    /// Replaces the text. Backs up a file that `install` has not changed before; returns the path
    /// of the backup.
    pub(super) fn replace(&self, text: &str, changed: bool) -> Result<Option<PathBuf>, String> {
        let backup = self.backup_path();
        let keep = self.exists && !changed;
        if keep {
            self.write(&backup, &self.text)?;
        }
        if let Some(folder) = self.path.parent() {
            fs::create_dir_all(folder)
                .map_err(|e| format!("{} cannot be made: {e}", folder.display()))?;
        }
        self.write(&self.path, text)?;
        Ok(keep.then_some(backup))
    }

    /// The text of the backup, from before the first `install`. A link is not followed: a project's
    /// folder may come from somebody else.
    pub(super) fn backup(&self) -> Option<String> {
        let path = self.backup_path();
        let is_file = path.symlink_metadata().is_ok_and(|m| m.is_file());
        is_file.then(|| fs::read_to_string(path).ok())?
    }

    /// Replaces the text after the entry was removed, and deletes the backup.
    pub(super) fn put_back(&self, text: &str) -> Result<(), String> {
        self.write(&self.path, text)?;
        // A backup that cannot be deleted does no harm.
        let _ = fs::remove_file(self.backup_path());
        Ok(())
    }

    pub(super) fn remove(&self) -> Result<(), String> {
        fs::remove_file(&self.path)
            .map_err(|e| format!("{} cannot be removed: {e}", self.path.display()))
    }

    fn backup_path(&self) -> PathBuf {
        let mut name = self.path.clone().into_os_string();
        name.push(".before-deskline");
        name.into()
    }

    /// Writes a new file and renames it over `path`, so that clients read either version as a whole
    /// and a symlink is replaced, not followed. The new file has the configuration's permissions;
    /// if there is no configuration yet, the file is private to the user.
    fn write(&self, path: &Path, text: &str) -> Result<(), String> {
        let failed = |e: std::io::Error| format!("{} cannot be written: {e}", path.display());
        let folder = path.parent().unwrap_or(Path::new("."));
        let mut new = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
        new.write_all(text.as_bytes()).map_err(failed)?;
        if let Ok(old) = fs::metadata(&self.path) {
            fs::set_permissions(new.path(), old.permissions()).map_err(failed)?;
        }
        new.as_file().sync_all().map_err(failed)?;
        new.persist(path).map_err(|e| failed(e.error))?;
        Ok(())
    }
}
