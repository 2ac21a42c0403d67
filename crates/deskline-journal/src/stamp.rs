//! A call's stamp, `<ms>`: unique and increasing within the journal, across all processes.

use crate::Result;
use crate::folder::Folder;
use crate::name::{self, STAMP, STAMPS};
use crate::os::At as _;

/// The next stamp: `now` (milliseconds since the epoch), or the last one plus one if the clock has
/// not advanced or was set back.
pub(crate) fn next(folder: &Folder, now: u64) -> Result<u64> {
    let file = folder.lock_file(STAMP)?;
    let mut text = [0; 14];
    let read = file
        .read_at(&mut text, 0)
        .map_err(|error| folder.failed("read", STAMP, error))?;
    let last = text
        .get(..read)
        .and_then(|text| name::parse_stamp(str::from_utf8(text).ok()?));
    let last = if let Some(last) = last {
        last
    } else {
        file.set_len(0)
            .map_err(|error| folder.failed("write", STAMP, error))?;
        newest(folder)?
    };
    let stamp = now.max(last + 1).clamp(*STAMPS.start(), *STAMPS.end());
    file.write_all_at(stamp.to_string().as_bytes(), 0)
        .map_err(|error| folder.failed("write", STAMP, error))?;
    Ok(stamp)
}

/// The newest stamp among the files, in case the `.stamp` file is lost.
pub(crate) fn newest(folder: &Folder) -> Result<u64> {
    let names = folder.names()?;
    let stamps = names.iter().filter_map(|name| Some(name::parse(name)?.0));
    Ok(stamps.max().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_increase_whatever_the_clock_does() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::open(&dir.path().join("journal")).unwrap();
        let now = 1_776_457_217_931;
        let clock = [now, now, now - 5_000_000, 0, now + 7, now + 7];
        let given: Vec<u64> = clock.iter().map(|&at| next(&folder, at).unwrap()).collect();
        assert_eq!(given, [now, now + 1, now + 2, now + 3, now + 7, now + 8]);
    }

    #[test]
    fn a_lost_stamp_is_recovered_from_the_files() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::open(&dir.path().join("journal")).unwrap();
        folder.put("1776457217931_click.txt", b"").unwrap();
        assert_eq!(next(&folder, 5).unwrap(), 1_776_457_217_932);
        for broken in ["", "17", "garbage and more of it", "17764572179329"] {
            std::fs::write(folder.path().join(STAMP), broken).unwrap();
            assert_eq!(next(&folder, 5).unwrap(), 1_776_457_217_932, "{broken}");
        }
    }
}
