//! Writes a page of facts about the desktop at the first call that goes wrong. The answer of that
//! call names the page.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use crate::error::Error;
use crate::report::Report;

/// Begins to write the page, which also covers the app with this pid. Returns the page's file.
type Begin = Box<dyn FnOnce(Option<u32>) -> Option<PathBuf> + Send>;

static BEGIN: Mutex<Option<Begin>> = Mutex::new(None);

/// A link whose readings take longer than this is slow: even two readings of a large app hardly
/// take as long.
const SLOW: Duration = Duration::from_secs(8);

/// Registers `begin`, which writes the page for the first call that the system or an app refuses,
/// or that is slow.
pub fn at_first_trouble(begin: impl FnOnce(Option<u32>) -> Option<PathBuf> + Send + 'static) {
    *BEGIN.lock().unwrap_or_else(PoisonError::into_inner) = Some(Box::new(begin));
}

/// A note with the page's file, for the first call that is refused or slow.
pub(crate) fn note(error: Option<&Error>, report: &Report, pid: Option<u32>) -> Option<String> {
    let reads = ["resolve", "settle", "picture", "traverse"];
    let times = report.times.iter().filter(|(step, _)| reads.contains(step));
    let is_slow = times.map(|(_, took)| *took).sum::<Duration>() > SLOW;
    if !is_slow && !error.is_some_and(is_trouble) {
        return None;
    }
    let begin = BEGIN
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .take()?;
    let file = begin(pid)?;
    Some(format!(
        "for a bug report: {} will have facts about this desktop, without titles and names",
        file.display()
    ))
}

fn is_trouble(error: &Error) -> bool {
    matches!(
        error,
        Error::NotAnswering { .. }
            | Error::RefusedBy { .. }
            | Error::NoEffect(_)
            | Error::Display(_)
            | Error::Unsupported { .. }
            | Error::Unavailable(_)
            | Error::Internal(_)
            | Error::System { .. }
            | Error::Lost { .. }
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_slow_call_names_the_page_of_facts() {
        at_first_trouble(|pid| Some(format!("/page-{}", pid?).into()));
        let mut report = Report {
            times: vec![("settle", SLOW), ("act", SLOW)],
            ..Report::default()
        };
        assert_eq!(note(None, &report, Some(7)), None);
        report.times.push(("picture", Duration::from_millis(1)));
        let said = note(None, &report, Some(7)).unwrap_or_default();
        assert!(said.contains("/page-7 "), "{said}");
        assert_eq!(note(None, &report, Some(7)), None);
    }
}
