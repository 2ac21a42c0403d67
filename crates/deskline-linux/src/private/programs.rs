//! Finds the programs of a private desktop. If one is missing, names the package that has it.

use std::path::PathBuf;

use deskline_contract::{Error, Result};

use crate::packages::{self, Package, in_path};

pub(super) struct Programs {
    pub(super) x_server: PathBuf,
    pub(super) window_manager: PathBuf,
    pub(super) bus: PathBuf,
}

/// The missing programs of a private desktop.
pub(crate) struct Missing {
    programs: Vec<&'static str>,
    packages: Vec<Package>,
}

impl Missing {
    /// Names the programs.
    pub(crate) fn finding(&self) -> String {
        let names = self.programs.join(" and ");
        format!("a private desktop needs {names}, not found in PATH")
    }

    /// The command that installs them.
    pub(crate) fn install(&self) -> String {
        packages::install(&self.packages)
    }
}

impl Programs {
    /// Looks for all programs, so that the error names all that are missing.
    pub(super) fn find(watch: bool) -> Result<Self> {
        Self::look(watch).map_err(|missing| {
            Error::Unavailable(format!(
                "{}. As root: {}",
                missing.finding(),
                missing.install()
            ))
        })
    }

    pub(super) fn look(watch: bool) -> std::result::Result<Self, Missing> {
        let mut missing = Missing {
            programs: vec![],
            packages: vec![],
        };
        let mut find = |name: &'static str, package: Package| {
            in_path(name).unwrap_or_else(|| {
                missing.programs.push(name);
                missing.packages.push(package);
                PathBuf::new()
            })
        };
        let programs = Self {
            x_server: if watch {
                find("Xvnc", Package::Xvnc)
            } else {
                find("Xvfb", Package::Xvfb)
            },
            window_manager: find("xfwm4", Package::Xfwm4),
            bus: find("dbus-daemon", Package::DbusDaemon),
        };
        if missing.programs.is_empty() {
            Ok(programs)
        } else {
            Err(missing)
        }
    }
}
