//! `deskline grep`: when a text was last on a screen, over all tree files of the journal.

use deskline_core::escape::one_line;
use deskline_journal::grep;

use crate::cli::Settings;
use crate::output::{Done, exit_code, print};

/// Prints the newest `limit` matching lines, newest file first: time, path, line number, line.
pub(crate) fn grep(settings: &Settings, pattern: &str, limit: usize) -> Done {
    let journal = settings.journal()?;
    let mut any = false;
    journal.grep(&grep::pattern(pattern)?, limit, |file, lines| {
        any = true;
        for found in lines {
            let (time, path, number) = (file.time(), file.path.display(), found.number);
            print(&format!(
                "{time}  {path}:{number}: {}",
                one_line(&found.line)
            ))?;
        }
        Ok::<_, Box<dyn std::error::Error>>(())
    })?;
    Ok(exit_code(any))
}
