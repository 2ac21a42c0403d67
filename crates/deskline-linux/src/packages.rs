//! Builds the one command that installs the missing packages, for the distribution's own package
//! manager.

/// A package that Deskline can need, by its name in Debian.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Package {
    AtSpi,
    Xvfb,
    Xvnc,
    Xfwm4,
    DbusDaemon,
    Tesseract,
}

/// A package manager: its program, how it installs, and its names in the order of [`Package`].
struct Manager {
    program: &'static str,
    install: &'static str,
    names: [&'static str; 6],
}

/// The first that is installed is the distribution's.
const MANAGERS: [Manager; 4] = [
    DEBIAN,
    Manager {
        program: "dnf",
        install: "dnf install",
        names: [
            "at-spi2-core",
            "xorg-x11-server-Xvfb",
            "tigervnc-server-minimal",
            "xfwm4",
            "dbus-daemon",
            "tesseract tesseract-langpack-eng",
        ],
    },
    Manager {
        program: "pacman",
        install: "pacman -S",
        names: [
            "at-spi2-core",
            "xorg-server-xvfb",
            "tigervnc",
            "xfwm4",
            "dbus",
            "tesseract tesseract-data-eng",
        ],
    },
    Manager {
        program: "zypper",
        install: "zypper install",
        names: [
            "at-spi2-core",
            "xorg-x11-server-Xvfb",
            "xorg-x11-Xvnc",
            "xfwm4",
            "dbus-1-daemon",
            "tesseract-ocr tesseract-ocr-traineddata-english",
        ],
    },
];

const DEBIAN: Manager = Manager {
    program: "apt-get",
    install: "apt-get install",
    names: [
        "at-spi2-core",
        "xvfb",
        "tigervnc-standalone-server",
        "xfwm4",
        "dbus-daemon",
        "tesseract-ocr",
    ],
};

/// The command that installs these packages, without `sudo`. Debian's where no manager is known.
pub(crate) fn install(packages: &[Package]) -> String {
    let found = MANAGERS
        .iter()
        .find(|manager| in_path(manager.program).is_some());
    command(found.unwrap_or(&DEBIAN), packages)
}

fn command(manager: &Manager, packages: &[Package]) -> String {
    let names = packages
        .iter()
        .map(|package| manager.names[*package as usize]);
    let words: Vec<_> = [manager.install].into_iter().chain(names).collect();
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
    fn each_distribution_has_its_own_names() {
        let packages = [Package::Xvfb, Package::Xfwm4, Package::DbusDaemon];
        let commands: Vec<_> = MANAGERS.iter().map(|m| command(m, &packages)).collect();
        assert_eq!(
            commands,
            [
                "apt-get install xvfb xfwm4 dbus-daemon",
                "dnf install xorg-x11-server-Xvfb xfwm4 dbus-daemon",
                "pacman -S xorg-server-xvfb xfwm4 dbus",
                "zypper install xorg-x11-server-Xvfb xfwm4 dbus-1-daemon",
            ]
        );
    }
}
