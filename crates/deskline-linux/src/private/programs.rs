//! Finds the programs of a private desktop. If one is missing, names the package that has it.

use std::path::PathBuf;

use deskline_link::{Error, Result};

/// The paths of the programs.
pub(super) struct Programs {
    pub(super) x_server: PathBuf,
    pub(super) window_manager: PathBuf,
    pub(super) bus: PathBuf,
}

impl Programs {
    /// Looks for all programs, so that the error names all that are missing.
    pub(super) fn find(watch: bool) -> Result<Self> {
        let mut missing = vec![];
        let mut find = |name: &'static str, package: &'static str| {
            in_path(name).unwrap_or_else(|| {
                missing.push((name, package));
                PathBuf::new()
            })
        };
        let programs = Self {
            x_server: if watch {
                find("Xvnc", "tigervnc-standalone-server")
            } else {
                find("Xvfb", "xvfb")
            },
            window_manager: find("xfwm4", "xfwm4"),
            bus: find("dbus-daemon", "dbus-daemon"),
        };
        if missing.is_empty() {
            return Ok(programs);
        }
        let names: Vec<_> = missing.iter().map(|(name, _)| *name).collect();
        let packages: Vec<_> = missing.iter().map(|(_, package)| *package).collect();
        Err(Error::Unavailable(format!(
            "a private desktop needs {}, not found in PATH. On Debian and Ubuntu: apt-get install {}",
            names.join(" and "),
            packages.join(" ")
        )))
    }
}

/// The path of a program in our `PATH`.
fn in_path(name: &str) -> Option<PathBuf> {
    std::env::split_paths(&std::env::var_os("PATH")?)
        .map(|dir| dir.join(name))
        .find(|path| path.is_file())
}
