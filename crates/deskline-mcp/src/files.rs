//! Reads the journal for agents. Opens only files of this journal, and with `--allow-app` or
//! `--deny-app` only those of permitted apps.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use deskline_journal::{FileKind, Journal, JournalError, JournalFile, Record};
use deskline_link::{Identity, Policy};

use crate::args::Wrong;

/// The largest file to read, in bytes. The journal's files are far smaller.
const LARGEST: u64 = 64 << 20;

/// The files of the journal that an agent may see. Clones share them.
#[derive(Debug, Clone)]
pub(crate) struct JournalFiles {
    journal: Journal,
    policy: Policy,
}

impl JournalFiles {
    /// Those files of `journal` that show apps which `policy` permits.
    pub(crate) fn new(journal: Journal, policy: Policy) -> Self {
        Self { journal, policy }
    }

    /// The named tree file, or the newest.
    pub(crate) fn text(&self, file: Option<&str>) -> Result<(PathBuf, String), Wrong> {
        let (path, bytes) = self.open(file, FileKind::Text)?;
        Ok((path, String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// The named picture, or the newest, as PNG.
    pub(crate) fn picture(&self, file: Option<&str>) -> Result<(PathBuf, Vec<u8>), Wrong> {
        self.open(file, FileKind::Picture)
    }

    /// The files, newest first.
    pub(crate) fn list(&self) -> Result<impl Iterator<Item = JournalFile>, JournalError> {
        let permitted = self.permitted()?;
        let files = self.journal.list()?.into_iter().rev();
        Ok(files.filter(move |file| permits(permitted.as_ref(), &file.path)))
    }

    fn open(&self, file: Option<&str>, kind: FileKind) -> Result<(PathBuf, Vec<u8>), Wrong> {
        let (what, extension) = match kind {
            FileKind::Text => ("tree file", "txt"),
            FileKind::Picture => ("screenshot", "png"),
        };
        let path = match file {
            Some(file) => self.named(file.trim()),
            None => self
                .list()
                .map(|mut files| files.find(|file| file.kind == kind))
                .map(|newest| newest.map(|file| file.path)),
        };
        let path = path.map_err(|error| error.to_string())?.ok_or_else(|| {
            format!(
                "there is no {what} yet. Call open_application_and_traverse or \
                refresh_traversal first"
            )
        })?;
        if path.extension().is_none_or(|found| found != extension) {
            let path = path.display();
            return Err(format!(
                "{path} is not a {what}. Pass a file that ends in .{extension}"
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
            why: "it is of an app that is blocked (--allow-app, --deny-app)",
        })
    }

    /// The files of permitted apps, according to the log; `None` if all apps are permitted.
    fn permitted(&self) -> Result<Option<HashSet<PathBuf>>, JournalError> {
        if !self.policy.is_bounded() {
            return Ok(None);
        }
        let records = self.journal.records(usize::MAX)?;
        let permitted = records
            .into_iter()
            .filter(|record| {
                let mut apps = apps_of(record).peekable();
                apps.peek().is_some() && apps.all(|app| self.policy.permits(&app))
            })
            .flat_map(|record| [record.files.text, record.files.picture])
            .flatten()
            .map(PathBuf::from);
        Ok(Some(permitted.collect()))
    }
}

/// The apps whose elements are in a link's files. For an app that the system did not identify, the
/// log has only the name that the app gives itself. By that name the app can be denied, but not
/// allowed.
fn apps_of(record: &Record) -> impl Iterator<Item = Identity> {
    let known = record.known_as.iter().map(|known| Identity {
        names: known.names.clone(),
        claims: known.claims.clone(),
        key: known.names.last().cloned(),
        is_command: false,
    });
    let claimed = record.app.iter().filter(|_| record.known_as.is_empty());
    known.chain(claimed.map(|app| Identity {
        claims: vec![app.clone()],
        ..Identity::default()
    }))
}

fn permits(permitted: Option<&HashSet<PathBuf>>, path: &Path) -> bool {
    permitted.is_none_or(|permitted| permitted.contains(path))
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(LARGEST).read_to_end(&mut bytes)?;
    Ok(bytes)
}
