//! The folder of data that outlives a journal: the token of HTTP, the person's grants.

use std::env;
use std::path::PathBuf;

/// `~/.local/state/deskline`; on Windows a folder in `%LOCALAPPDATA%`. `None` without a home.
pub(crate) fn folder() -> Option<PathBuf> {
    #[cfg(unix)]
    let (variable, home) = ("XDG_STATE_HOME", || {
        Some(PathBuf::from(env::var_os("HOME")?).join(".local/state"))
    });
    #[cfg(windows)]
    let (variable, home) = ("LOCALAPPDATA", || None);
    let state = env::var_os(variable).map(PathBuf::from);
    let state = state.filter(|path| path.is_absolute()).or_else(home)?;
    Some(state.join(if cfg!(windows) {
        "deskline-state"
    } else {
        "deskline"
    }))
}
