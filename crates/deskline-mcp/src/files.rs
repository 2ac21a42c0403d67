//! Reading the journal back: only ever files of this journal, whatever an agent names, and where some
//! apps are out of bounds only files of the others.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use deskline_journal::{Journal, JournalError, JournalFile, Kind};
use deskline_link::Policy;

use crate::args::Wrong;

/// The largest file that is read, in bytes. The journal writes none that comes near.
const LARGEST: u64 = 64 << 20;

/// The journal, as far as it may be shown. Clones are the same.
#[derive(Debug, Clone)]
pub(crate) struct Reader {
    journal: Journal,
    policy: Policy,
}

impl Reader {
    /// What of `journal` is not of an app that `policy` puts out of bounds.
    pub(crate) fn new(journal: Journal, policy: Policy) -> Self {
        Self { journal, policy }
    }

    /// A tree file: the one that is named, or the newest.
    pub(crate) fn text(&self, file: Option<&str>) -> Result<(PathBuf, String), Wrong> {
        let (path, bytes) = self.open(file, Kind::Text)?;
        Ok((path, String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// A picture, still encoded: the one that is named, or the newest.
    pub(crate) fn picture(&self, file: Option<&str>) -> Result<(PathBuf, Vec<u8>), Wrong> {
        self.open(file, Kind::Picture)
    }

    /// The files, the newest first.
    pub(crate) fn list(&self) -> Result<impl Iterator<Item = JournalFile>, JournalError> {
        let permitted = self.permitted()?;
        let files = self.journal.list()?.into_iter().rev();
        Ok(files.filter(move |file| permits(permitted.as_ref(), &file.path)))
    }

    fn open(&self, file: Option<&str>, kind: Kind) -> Result<(PathBuf, Vec<u8>), Wrong> {
        let (what, extension) = match kind {
            Kind::Text => ("tree file", "txt"),
            Kind::Picture => ("picture", "png"),
        };
        let path = match file {
            Some(file) => self.named(file.trim()),
            None => self
                .list()
                .map(|mut files| files.find(|file| file.kind == kind))
                .map(|newest| newest.map(|file| file.path)),
        };
        let path = path.map_err(|error| error.to_string())?.ok_or_else(|| {
            format!("there is no {what} yet. Call open_application_and_traverse or refresh_traversal first")
        })?;
        if path.extension().is_none_or(|found| found != extension) {
            return Err(format!(
                "{} is no {what}: pass one that ends in .{extension}",
                path.display()
            ));
        }
        let bytes =
            read(&path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        Ok((path, bytes))
    }

    fn named(&self, file: &str) -> Result<Option<PathBuf>, JournalError> {
        let path = self.journal.resolve_inside(file)?;
        if permits(self.permitted()?.as_ref(), &path) {
            return Ok(Some(path));
        }
        Err(JournalError::NotInJournal {
            name: file.to_owned(),
            journal: self.journal.path().to_owned(),
            why: "it is of an app that is out of bounds (--allow-app, --deny-app)",
        })
    }

    /// The files that the log ascribes to apps within bounds; `None` where all are.
    fn permitted(&self) -> Result<Option<HashSet<PathBuf>>, JournalError> {
        if !self.policy.is_bounded() {
            return Ok(None);
        }
        let records = self.journal.records(usize::MAX)?;
        let permitted = records
            .into_iter()
            .filter(|record| {
                let app = record.app.as_deref();
                app.is_some_and(|app| self.policy.permits(app))
            })
            .flat_map(|record| [record.files.text, record.files.picture])
            .flatten()
            .map(PathBuf::from);
        Ok(Some(permitted.collect()))
    }
}

fn permits(permitted: Option<&HashSet<PathBuf>>, path: &Path) -> bool {
    permitted.is_none_or(|permitted| permitted.contains(path))
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(LARGEST).read_to_end(&mut bytes)?;
    Ok(bytes)
}
