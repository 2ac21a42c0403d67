//! What a started app writes to its standard error, for the error of one that ends at once.
//!
//! It goes to a file without a name, which never blocks the app and outlives this process with it.
//! While this process lives it is cut whenever it has grown past [`MOST`].

use std::fs::{File, OpenOptions};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::process::Stdio;
use std::sync::Arc;

use deskline_core::escape;
use rustix::fs::OFlags;

/// The longest that the file may be.
const MOST: u64 = 1 << 20;

/// How much of its end is looked at, and how much of that is quoted.
const END: u64 = 4_096;
const LINES: usize = 4;
const LINE: usize = 160;

/// The file; `None` where the system gives none.
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
            tracing::debug!(%error, "what the app complains about is not kept");
        }
        Self(file.ok().map(Arc::new))
    }

    /// What the app gets for its standard error.
    pub(super) fn stdio(&self) -> Stdio {
        let copy = self.0.as_ref().and_then(|file| file.try_clone().ok());
        copy.map_or_else(Stdio::null, Stdio::from)
    }

    /// Empties the file where it has grown too long. It is appended to, so that the app goes on at
    /// its new end.
    pub(super) fn cut(&self) {
        let Some(file) = &self.0 else { return };
        if file.metadata().is_ok_and(|m| m.len() > MOST) {
            let _ = file.set_len(0);
        }
    }

    /// The last lines, on one line.
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
            .map(|line| escape::short(line, LINE))
            .collect();
        lines.reverse();
        (!lines.is_empty()).then(|| lines.join(" / "))
    }
}
