//! Keeps a launched app's standard error, to quote it if the app ends at once.
//!
//! The output goes to a file without a name (on Windows, one that is deleted with its last handle),
//! so that the app never blocks, even after this process has ended. While this process lives, it
//! truncates the file whenever that is longer than [`MOST`].

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::process::Stdio;
use std::sync::Arc;

/// The maximum length of the file.
const MOST: u64 = 1 << 20;

/// How many bytes to read from the file's end; how many lines of them to quote, and how many
/// characters of each line.
const END: u64 = 4_096;
const LINES: usize = 4;
const LINE: usize = 160;

/// The file with the app's standard error; `None` if the system could not create it.
#[derive(Debug, Clone, Default)]
pub struct Complaint(Option<Arc<Kept>>);

#[derive(Debug)]
struct Kept {
    /// Open for appending.
    file: File,
    #[cfg(windows)]
    path: std::path::PathBuf,
}

#[cfg(unix)]
fn open() -> io::Result<Kept> {
    use std::os::unix::fs::OpenOptionsExt as _;
    let file = OpenOptions::new()
        .read(true)
        .append(true)
        .custom_flags(rustix::fs::OFlags::TMPFILE.bits().cast_signed())
        .mode(0o600)
        .open(std::env::temp_dir())?;
    Ok(Kept { file })
}

#[cfg(windows)]
fn open() -> io::Result<Kept> {
    use std::os::windows::fs::OpenOptionsExt as _;
    use std::sync::atomic::{AtomicU32, Ordering};

    const FILE_FLAG_DELETE_ON_CLOSE: u32 = 0x0400_0000;
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let nth = NEXT.fetch_add(1, Ordering::Relaxed);
    let name = format!("deskline-{}-{nth}.errors", std::process::id());
    let path = std::env::temp_dir().join(name);
    let file = OpenOptions::new()
        .read(true)
        .append(true)
        .create_new(true)
        .custom_flags(FILE_FLAG_DELETE_ON_CLOSE)
        .open(&path)?;
    Ok(Kept { file, path })
}

impl Complaint {
    pub fn new() -> Self {
        Self(open().ok().map(Arc::new))
    }

    /// The file, for use as the app's standard error.
    pub fn stdio(&self) -> Stdio {
        let copy = self.0.as_ref().and_then(|kept| kept.file.try_clone().ok());
        copy.map_or_else(Stdio::null, Stdio::from)
    }

    /// Truncates the file if it is too long. The app's handle appends, so its next write goes to
    /// the new end.
    pub fn cut(&self) {
        let Some(kept) = &self.0 else { return };
        if kept.file.metadata().is_ok_and(|m| m.len() > MOST) {
            #[cfg(unix)]
            let _ = kept.file.set_len(0);
            // On Windows, a handle that may only append cannot truncate the file.
            #[cfg(windows)]
            let _ = OpenOptions::new()
                .write(true)
                .open(&kept.path)
                .and_then(|file| file.set_len(0));
        }
    }

    /// The last lines, joined into one line. Only to be shown as a quotation, because the app may
    /// be hostile.
    pub fn last_lines(&self) -> Option<String> {
        // The app's handle shares the position that this seek moves, but appending ignores the
        // position.
        let mut file = &self.0.as_ref()?.file;
        let length = file.metadata().ok()?.len();
        let mut end = vec![0; usize::try_from(length.min(END)).ok()?];
        file.seek(SeekFrom::Start(length.saturating_sub(END)))
            .ok()?;
        file.read_exact(&mut end).ok()?;
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

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn the_last_lines_of_an_error_output_are_quoted_and_a_long_file_is_cut() {
        let complaint = Complaint::new();
        let mut app = complaint.0.as_ref().unwrap().file.try_clone().unwrap();
        app.write_all("one\n\ntwo é\n".as_bytes()).unwrap();
        assert_eq!(complaint.last_lines().as_deref(), Some("one / two é"));
        // Reading has not moved the position at which the app writes.
        app.write_all(b"three\n").unwrap();
        assert_eq!(
            complaint.last_lines().as_deref(),
            Some("one / two é / three")
        );
        app.write_all(&vec![b'x'; MOST as usize]).unwrap();
        complaint.cut();
        app.write_all(b"last\n").unwrap();
        assert_eq!(complaint.last_lines().as_deref(), Some("last"));
    }
}
