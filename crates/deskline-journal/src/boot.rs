//! The time by which entries age: the wall clock, as far as the boot clock confirms it.
//!
//! The wall clock can jump: a time server sets it, a person mistypes a year, a virtual machine
//! wakes up. A clock a week ahead would age a whole journal at once, including the entries that
//! live servers have just written. So the first server of a boot records the wall clock (`.clock`),
//! and later servers of that boot count from there by the boot clock, which nothing sets. The first
//! server has nothing to count from, so for it the newest entry counts as written now. A wall clock
//! that is wrong from the start of the machine is not detected, but no entry is deleted for that
//! before the next server starts.

use std::io::Read as _;

use crate::folder::Folder;
use crate::name::CLOCK;
use crate::os::Open;
use crate::{Result, stamp};

/// A moment by the boot clock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Boot {
    pub(crate) id: String,
    /// Milliseconds since the boot, sleep included.
    pub(crate) ms: u64,
}

/// Now, by the boot clock. `None` if the system has no boot clock that outlives the process.
pub(crate) fn now() -> Option<Boot> {
    let id = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let uptime = std::fs::read_to_string("/proc/uptime").ok()?;
    let (seconds, rest) = uptime.split_once('.')?;
    let hundredths: u64 = rest.split(' ').next()?.parse().ok()?;
    Some(Boot {
        id: id.trim().to_owned(),
        ms: seconds.parse::<u64>().ok()? * 1_000 + hundredths * 10,
    })
}

/// The time (milliseconds since the epoch) by which entries age. Never after `now`, the wall clock.
pub(crate) fn confirmed(folder: &Folder, now: u64, boot: Option<Boot>) -> Result<u64> {
    let newest = || stamp::newest(folder).map(|newest| now.min(newest));
    let Some(boot) = boot else { return newest() };
    if let Some(start) = noted(folder, &boot.id) {
        return Ok(now.min(start.saturating_add(boot.ms)));
    }
    let start = now.saturating_sub(boot.ms);
    folder.put(CLOCK, format!("{} {start}\n", boot.id).as_bytes())?;
    newest()
}

/// The start of the boot `id`, as the boot's first server noted it by the wall clock.
fn noted(folder: &Folder, id: &str) -> Option<u64> {
    let mut text = String::new();
    let file = folder.open_file(CLOCK, Open::Read).ok()?;
    file.take(200).read_to_string(&mut text).ok()?;
    let (known, start) = text.trim().split_once(' ')?;
    (known == id).then(|| start.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Retention;

    const DAY: u64 = 86_400_000;
    const NOW: u64 = 1_776_457_217_931;

    fn boot(id: &str, ms: u64) -> Boot {
        let id = id.to_owned();
        Boot { id, ms }
    }

    /// A journal with an entry of each of these ages, in days.
    fn journal(ages: &[u64]) -> (tempfile::TempDir, Folder) {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::open(&dir.path().join("journal")).unwrap();
        for age in ages {
            let name = format!("{}_click.txt", NOW - age * DAY);
            folder.put(&name, b"").unwrap();
        }
        (dir, folder)
    }

    fn kept(folder: &Folder, now: u64, boot: impl Into<Option<Boot>>) -> usize {
        let now = confirmed(folder, now, boot.into()).unwrap();
        Retention::default().prune(folder, now).unwrap();
        let names = folder.names().unwrap();
        names
            .iter()
            .filter(|name| crate::name::parse(name).is_some())
            .count()
    }

    #[test]
    fn a_clock_that_jumps_ahead_ages_no_entry() {
        let (_dir, folder) = journal(&[0, 1, 6]);
        assert_eq!(kept(&folder, NOW, boot("a", 1_000)), 3);
        // A minute later, by the boot clock.
        assert_eq!(kept(&folder, NOW + 8 * DAY, boot("a", 61_000)), 3);
        // Entries written with the wrong clock do not age the others either.
        let wrong = format!("{}_click.txt", NOW + 8 * DAY);
        folder.put(&wrong, b"").unwrap();
        assert_eq!(kept(&folder, NOW + 8 * DAY, boot("a", 62_000)), 4);
        // The boot clock has counted two days, so the entries are two days older.
        assert_eq!(kept(&folder, NOW + 2 * DAY, boot("a", 2 * DAY)), 3);
        // A clock that goes back ages nothing.
        assert_eq!(kept(&folder, NOW - 30 * DAY, boot("a", 2 * DAY)), 3);
    }

    #[test]
    fn after_a_boot_the_age_of_entries_counts_from_the_newest_entry() {
        for boots in [[5_000, 6_000].map(|ms| Some(boot("a", ms))), [None, None]] {
            let (_dir, folder) = journal(&[0, 1, 6, 9]);
            let later = NOW + 8 * DAY;
            let [first, second] = boots;
            assert_eq!(kept(&folder, later, first), 3);
            // In a journal that was unused for a week, only the newest entry is left.
            let expected = if second.is_some() { 1 } else { 3 };
            assert_eq!(kept(&folder, later, second), expected);
        }
    }

    #[test]
    fn a_damaged_clock_file_is_rewritten() {
        let (_dir, folder) = journal(&[0]);
        for note in ["", "a", "a later", "b 5", "\u{fffd}"] {
            folder.put(CLOCK, note.as_bytes()).unwrap();
            assert_eq!(kept(&folder, NOW, boot("a", 1)), 1);
            assert_eq!(noted(&folder, "a"), Some(NOW - 1), "{note:?}");
        }
    }

    #[test]
    fn this_machine_has_a_boot_clock() {
        if cfg!(target_os = "linux") {
            let (first, then) = (now().unwrap(), now().unwrap());
            assert!(first.id == then.id && first.ms <= then.ms);
        }
    }
}
