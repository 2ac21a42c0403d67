//! Retention: how much the journal holds and for how long.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use crate::Result;
use crate::folder::{self, Folder};
use crate::name::{self, FileKind};

/// A temporary file older than this many seconds was left by a process that died.
const ABANDONED_S: u64 = 600;

/// A file that has not changed for this many seconds gets a new time: macOS removes files from /tmp
/// after three days without a change, and systemd after ten.
const STALE_S: u64 = 24 * 3600;

/// How much the journal keeps. Pairs beyond either limit are removed, oldest first; the newest pair
/// always stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retention {
    /// The maximum size of all texts and pictures together, in bytes.
    pub bytes: u64,
    /// The maximum age of a pair.
    pub age: Duration,
}

impl Default for Retention {
    /// 1 GiB and 7 days.
    fn default() -> Self {
        Self {
            bytes: 1 << 30,
            age: Duration::from_secs(7 * 24 * 3600),
        }
    }
}

/// A value of `--keep` that cannot be parsed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "cannot read {0:?}. Pass a size (KB, MB, GB, KiB, MiB, GiB), an age (min, h, d) or both, as in \
     `1GiB,7d`, `500MB` or `3d`"
)]
pub struct RetentionError(String);

/// Splits a text into a number and its unit, in lower case.
fn number_and_unit(text: &str) -> Option<(f64, String)> {
    let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit() && c != '.')?);
    Some((number.parse().ok()?, unit.trim().to_ascii_lowercase()))
}

/// The bytes of a size, such as `500MB` or `2GiB`.
pub fn size(text: &str) -> Option<u64> {
    let (number, unit) = number_and_unit(text)?;
    let (unit, step) = match unit.strip_suffix("ib") {
        Some(unit) => (unit, 1024_f64),
        None => (unit.strip_suffix('b')?, 1000.0),
    };
    let power = ["", "k", "m", "g", "t"]
        .iter()
        .position(|known| *known == unit)?;
    let is_bytes = unit.is_empty() && step > 1000.0;
    (!is_bytes).then(|| (number * step.powi(power as i32)) as u64)
}

impl FromStr for Retention {
    type Err = RetentionError;

    /// Parses `1GiB,7d`, `500MB`, `3d`. A limit that is not given is taken from
    /// [`Retention::default`].
    fn from_str(text: &str) -> Result<Self, RetentionError> {
        const DAY: f64 = 24.0 * 3600.0;
        let mut retention = Self::default();
        let (mut sizes, mut ages) = (0, 0);
        for part in text.split(',').map(str::trim) {
            let error = || RetentionError(text.to_owned());
            if let Some(bytes) = size(part) {
                retention.bytes = bytes;
                sizes += 1;
                continue;
            }
            let (number, unit) = number_and_unit(part).ok_or_else(error)?;
            let seconds = match unit.as_str() {
                "s" => 1.0,
                "min" => 60.0,
                "h" => 3600.0,
                "d" => DAY,
                "w" => 7.0 * DAY,
                _ => return Err(error()),
            };
            retention.age = Duration::try_from_secs_f64(number * seconds).map_err(|_| error())?;
            ages += 1;
        }
        if sizes > 1 || ages > 1 {
            return Err(RetentionError(text.to_owned()));
        }
        Ok(retention)
    }
}

impl fmt::Display for Retention {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (bytes, seconds) = (self.bytes, self.age.as_secs());
        let units = ["B", "KiB", "MiB", "GiB", "TiB"]
            .iter()
            .zip((0..5).map(|i| 1_u64 << (10 * i)));
        let (unit, size) = units
            .rev()
            .find(|(_, size)| bytes > 0 && bytes % size == 0)
            .unwrap_or((&"B", 1));
        write!(f, "{}{unit},", bytes / size)?;
        match seconds {
            0 => write!(f, "0s"),
            s if s % 86_400 == 0 => write!(f, "{}d", s / 86_400),
            s if s % 3_600 == 0 => write!(f, "{}h", s / 3_600),
            s => write!(f, "{s}s"),
        }
    }
}

impl Retention {
    /// The oldest stamp to keep, at time `now` (milliseconds since the epoch).
    pub(crate) fn oldest(&self, now: u64) -> u64 {
        now.saturating_sub(u64::try_from(self.age.as_millis()).unwrap_or(u64::MAX))
    }

    /// How many bytes a pruning leaves free, for the entries written before the next one.
    pub(crate) fn slack(&self) -> u64 {
        self.bytes / 16
    }

    /// Removes the oldest pairs beyond the limits, and temporary files of dead processes. Safe
    /// while other processes write and prune.
    pub(crate) fn prune(&self, folder: &Folder, now: u64) -> Result {
        // (bytes, stamp) by stem. Stems begin with the time, so the map is sorted by age.
        let mut pairs: BTreeMap<String, (u64, u64)> = BTreeMap::new();
        for name in folder.names()? {
            let Some((bytes, changed)) = folder.regular(&name) else {
                continue;
            };
            if changed + STALE_S < now / 1_000 && !folder::is_temporary(&name) {
                folder.touch(&name)?;
            }
            if let Some((stamp, tool, _)) = name::parse(&name) {
                pairs
                    .entry(format!("{stamp}_{tool}"))
                    .or_insert((0, stamp))
                    .0 += bytes;
            } else if folder::is_temporary(&name) && changed + ABANDONED_S < now / 1_000 {
                folder.remove(&name)?;
            }
        }
        let newest = pairs.pop_last();
        let mut total: u64 = newest.map_or(0, |(_, (bytes, _))| bytes)
            + pairs.values().map(|(bytes, _)| bytes).sum::<u64>();
        let room = self.bytes - self.slack();
        let oldest = self.oldest(now);
        for (stem, (bytes, stamp)) in pairs {
            if total <= room && stamp >= oldest {
                break;
            }
            for kind in [FileKind::Text, FileKind::Picture] {
                folder.remove(&format!("{stem}.{}", kind.extension()))?;
            }
            total -= bytes;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_retention_is_read_with_size_and_age_in_either_order() {
        let day = Duration::from_secs(86_400);
        let default = Retention::default();
        for (text, bytes, age) in [
            ("1GiB,7d", 1 << 30, day * 7),
            ("500MB", 500_000_000, default.age),
            ("3d", default.bytes, day * 3),
            (" 12h , 1.5 gib ", 3 << 29, day / 2),
            ("90min,0B", 0, Duration::from_secs(5_400)),
        ] {
            assert_eq!(text.parse(), Ok(Retention { bytes, age }), "{text}");
        }
        for text in [
            "",
            ",",
            "7",
            "d",
            "1GiB,",
            "1GiB,2GiB",
            "3d,1h",
            "-1d",
            "5m",
            "1e9B",
            "..d",
        ] {
            assert!(text.parse::<Retention>().is_err(), "{text}");
        }
        assert!("1e400d".parse::<Retention>().is_err());
        assert!(
            format!("{}d", "9".repeat(400))
                .parse::<Retention>()
                .is_err()
        );
    }

    #[test]
    fn a_printed_retention_is_parsed_back() {
        for text in ["1GiB,7d", "500000000B,12h", "0B,0s", "3KiB,61s"] {
            assert_eq!(text.parse::<Retention>().unwrap().to_string(), text);
        }
    }
}
