//! The clock, and RFC 3339.

use std::time::{SystemTime, UNIX_EPOCH};

use chrono::{DateTime, SecondsFormat};

/// Microseconds since the epoch.
pub(crate) fn now_us() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| u64::try_from(since.as_micros()).unwrap_or(0))
}

/// Milliseconds since the epoch.
pub(crate) fn now_ms() -> u64 {
    now_us() / 1_000
}

/// Formats `ms` since the epoch as `2026-04-17T20:20:17.931Z`.
pub(crate) fn rfc3339(ms: u64) -> String {
    let time = DateTime::from_timestamp_millis(ms.cast_signed()).unwrap_or_default();
    time.to_rfc3339_opts(SecondsFormat::Millis, true)
}

#[cfg(test)]
mod tests {
    use super::rfc3339;

    #[test]
    fn times_are_written_as_calendar_dates() {
        // From `date -u -d @<s>`.
        for (ms, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_399_999, "2000-02-28T23:59:59.999Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (1_776_457_217_931, "2026-04-17T20:20:17.931Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
        ] {
            assert_eq!(rfc3339(ms), text);
        }
    }
}
