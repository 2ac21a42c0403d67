//! Finds the programs of a private desktop. If one is missing, names the package that has it.

use std::path::PathBuf;

use deskline_contract::{Error, Result};

use super::Options;
use crate::packages::{self, Package, in_path};

pub(super) struct Programs {
    /// The X server, or the Wayland compositor.
    pub(super) display: PathBuf,
    /// The program that runs beside the display: X11's window manager, or the compositor's VNC
    /// server.
    pub(super) beside: Option<PathBuf>,
    pub(super) bus: PathBuf,
}

/// The programs of each kind of desktop, in the order of [`Programs`].
fn list(options: &Options) -> &'static [(&'static str, Package)] {
    const BUS: (&str, Package) = ("dbus-daemon", Package::DbusDaemon);
    const SWAY: (&str, Package) = ("sway", Package::Sway);
    const XFWM4: (&str, Package) = ("xfwm4", Package::Xfwm4);
    match (options.wayland, options.watch) {
        (false, false) => &[("Xvfb", Package::Xvfb), XFWM4, BUS],
        (false, true) => &[("Xvnc", Package::Xvnc), XFWM4, BUS],
        (true, false) => &[SWAY, BUS],
        (true, true) => &[SWAY, ("wayvnc", Package::Wayvnc), BUS],
    }
}

/// The missing programs of a private desktop.
pub(crate) struct Missing {
    programs: Vec<&'static str>,
    packages: Vec<Package>,
}

impl Missing {
    /// A clause that names the missing programs.
    pub(crate) fn finding(&self) -> String {
        let names = self.programs.join(" and ");
        format!("a private desktop needs {names}, which PATH does not have")
    }

    /// The command that installs the missing programs.
    pub(crate) fn install(&self) -> String {
        packages::install(&self.packages)
    }
}

impl Programs {
    /// Looks for all programs, so that the error names all that are missing.
    pub(super) fn find(options: &Options) -> Result<Self> {
        Self::look(options).map_err(|missing| {
            let (finding, install) = (missing.finding(), missing.install());
            Error::Unavailable(format!("{finding}. As root: {install}"))
        })
    }

    pub(super) fn look(options: &Options) -> std::result::Result<Self, Missing> {
        let (mut programs, mut packages, mut found) = (vec![], vec![], vec![]);
        for (name, package) in list(options) {
            if let Some(path) = in_path(name) {
                found.push(path);
            } else {
                programs.push(*name);
                packages.push(*package);
            }
        }
        let bus = found.pop();
        let mut found = found.into_iter();
        match (found.next(), found.next(), bus) {
            (Some(display), beside, Some(bus)) if programs.is_empty() => Ok(Self {
                display,
                beside,
                bus,
            }),
            _ => Err(Missing { programs, packages }),
        }
    }
}
