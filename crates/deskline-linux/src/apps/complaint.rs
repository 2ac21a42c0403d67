//! Keeps a launched app's standard error, to quote it if the app ends at once.
//!
//! The output goes to an unlinked file, so that the app never blocks, even after this process has
//! ended. While this process lives, it truncates the file whenever it is longer than [`MOST`].

use std::fs::{File, OpenOptions};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::process::Stdio;
use std::sync::Arc;

use rustix::fs::OFlags;

/// The maximum length of the file.
const MOST: u64 = 1 << 20;

/// How many bytes of its end to read, and how many of those to quote.
const END: u64 = 4_096;
const LINES: usize = 4;
const LINE: usize = 160;

/// The file; `None` if the system could not create it.
#[derive(Debug, Clone, Default)]
pub(super) struct Complaint(Option<Arc<File>>);

impl Complaint {
    pub(super) fn new() -> Self {
        let file = OpenOptions::new()
            .read(true)
            .append(true)
            .custom_flags(OFlags::TMPFILE.bits().cast_signed())
            .mode(0o600)
            .open(std::env::temp_dir());
        if let Err(error) = &file {
            tracing::debug!(%error, "cannot keep the app's standard error");
        }
        Self(file.ok().map(Arc::new))
    }

    /// The app's standard error.
    pub(super) fn stdio(&self) -> Stdio {
        let copy = self.0.as_ref().and_then(|file| file.try_clone().ok());
        copy.map_or_else(Stdio::null, Stdio::from)
    }

    /// Truncates the file if it is too long. It is open for appending, so the app's next write goes
    /// to the new end.
    pub(super) fn cut(&self) {
        let Some(file) = &self.0 else { return };
        if file.metadata().is_ok_and(|m| m.len() > MOST) {
            let _ = file.set_len(0);
        }
    }

    /// The last lines, joined into one. Hostile data: to be quoted.
    pub(super) fn last_lines(&self) -> Option<String> {
        let file = self.0.as_ref()?;
        let length = file.metadata().ok()?.len();
        let mut end = vec![0; usize::try_from(length.min(END)).ok()?];
        file.read_exact_at(&mut end, length.saturating_sub(END))
            .ok()?;
        let end = String::from_utf8_lossy(&end);
        let mut lines: Vec<String> = end
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .rev()
            .take(LINES)
            .map(|line| match line.char_indices().nth(LINE) {
                Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default()),
                None => line.to_owned(),
            })
            .collect();
        lines.reverse();
        (!lines.is_empty()).then(|| lines.join(" / "))
    }
}
