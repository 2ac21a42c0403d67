//! Builds the one command that installs the missing packages, for the distribution's own package
//! manager.

/// A package that Deskline can need, by its name in Debian.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Package {
    AtSpi,
    Xvfb,
    Xvnc,
    Xfwm4,
    Sway,
    Wayvnc,
    DbusDaemon,
    Tesseract,
}

/// The package managers: the program of each, and its command to install packages. The first
/// manager that is installed counts as the distribution's own.
const MANAGERS: [(&str, &str); 4] = [
    ("apt-get", "apt-get install"),
    ("dnf", "dnf install"),
    ("pacman", "pacman -S"),
    ("zypper", "zypper install"),
];

impl Package {
    /// The package's names, in the order of [`MANAGERS`].
    fn names(self) -> [&'static str; 4] {
        match self {
            Self::AtSpi => ["at-spi2-core"; 4],
            Self::Xvfb => [
                "xvfb",
                "xorg-x11-server-Xvfb",
                "xorg-server-xvfb",
                "xorg-x11-server-Xvfb",
            ],
            Self::Xvnc => [
                "tigervnc-standalone-server",
                "tigervnc-server-minimal",
                "tigervnc",
                "xorg-x11-Xvnc",
            ],
            Self::Xfwm4 => ["xfwm4"; 4],
            Self::Sway => ["sway"; 4],
            Self::Wayvnc => ["wayvnc"; 4],
            Self::DbusDaemon => ["dbus-daemon", "dbus-daemon", "dbus", "dbus-1-daemon"],
            Self::Tesseract => [
                "tesseract-ocr",
                "tesseract tesseract-langpack-eng",
                "tesseract tesseract-data-eng",
                "tesseract-ocr tesseract-ocr-traineddata-english",
            ],
        }
    }
}

/// The command that installs these packages, without `sudo`. Debian's command if none of the
/// managers is installed.
pub(crate) fn install(packages: &[Package]) -> String {
    let found = MANAGERS
        .iter()
        .position(|(program, _)| in_path(program).is_some());
    command(found.unwrap_or(0), packages)
}

fn command(manager: usize, packages: &[Package]) -> String {
    let (_, install) = MANAGERS[manager];
    let names = packages.iter().map(|package| package.names()[manager]);
    let words: Vec<_> = [install].into_iter().chain(names).collect();
    words.join(" ")
}

/// The path of a program in our `PATH`.
pub(crate) fn in_path(name: &str) -> Option<std::path::PathBuf> {
    std::env::split_paths(&std::env::var_os("PATH")?)
        .map(|dir| dir.join(name))
        .find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_have_the_names_of_each_distribution() {
        let packages = [Package::Xvfb, Package::Xfwm4, Package::DbusDaemon];
        assert_eq!(
            [0, 1, 2, 3].map(|manager| command(manager, &packages)),
            [
                "apt-get install xvfb xfwm4 dbus-daemon",
                "dnf install xorg-x11-server-Xvfb xfwm4 dbus-daemon",
                "pacman -S xorg-server-xvfb xfwm4 dbus",
                "zypper install xorg-x11-server-Xvfb xfwm4 dbus-1-daemon",
            ]
        );
    }
}
