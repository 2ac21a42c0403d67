//! The folder of data that outlives a journal: the token of HTTP, the person's grants.

use std::env;
use std::path::PathBuf;

/// `~/.local/state/deskline`; on Windows a folder in `%USERPROFILE%`, as [the journal
/// is](deskline_journal::Journal::open). `None` without a home.
pub(crate) fn folder() -> Option<PathBuf> {
    #[cfg(windows)]
    return Some(env::home_dir()?.join(".deskline-state"));
    #[cfg(unix)]
    {
        let state = env::var_os("XDG_STATE_HOME").map(PathBuf::from);
        let home = || Some(PathBuf::from(env::var_os("HOME")?).join(".local/state"));
        let state = state.filter(|path| path.is_absolute()).or_else(home)?;
        Some(state.join("deskline"))
    }
}
