//! A private desktop for the agent: an X server with a window manager, or a Wayland compositor,
//! without a screen. It has a session bus and accessibility, and nobody else's windows, pointer or
//! settings.
//!
//! All that the desktop starts, and every process that is started on it, ends with it. No socket,
//! lock or file remains.

mod directory;
mod end;
mod options;
mod parts;
mod programs;
mod supervise;

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{fs, io};

use deskline_contract::{Error, Result};

use self::directory::{Directory, MAKING, private_directory};
use self::end::Reach;
use crate::session::environment::{self, HOME, TEMPORARY, VNC_SOCKET};
use crate::session::{Environment, Session};
pub use options::Options;
pub use supervise::{Announce, Supervised, Until, run_supervised};

/// The time limit for all programs to start. On an idle machine they take less than a second.
const START_LIMIT: Duration = Duration::from_secs(15);

/// The name of the runtime directory in a private desktop's directory. The other names in it are
/// those that [`environment::keep_to_desktop`] uses.
const RUNTIME: &str = "run";

/// The settings that the window manager would write into an empty home. Writing them one by one,
/// and loading its theme again after each, would take most of its start. So they are put there
/// before.
const WINDOW_MANAGER: &str = include_str!("private/xfwm4.xml");

/// Variables that lead to a display: those of our own session are not passed on.
const DISPLAYS: [&str; 4] = ["DISPLAY", "XAUTHORITY", "WAYLAND_DISPLAY", "SWAYSOCK"];

/// A running private desktop. Dropping it ends it.
///
/// Chromium refuses to run as root without `--no-sandbox`, here as elsewhere.
#[derive(Debug)]
pub struct PrivateDesktop {
    session: Session,
    vnc: Option<PathBuf>,
    parts: parts::Parts,
    directory: Directory,
    reach: Reach,
}

impl PrivateDesktop {
    /// Starts a desktop and waits until apps can be started on it. The error names the missing
    /// programs and the command that installs them, or the program that failed and its standard
    /// error.
    pub fn start(options: &Options) -> Result<Self> {
        Self::start_reaching(options, Reach::Desktop)
    }

    fn start_reaching(options: &Options, reach: Reach) -> Result<Self> {
        let programs = programs::Programs::find(options)?;
        let directory = Directory::create()?;
        let variables = variables(options, &directory.path)?;
        let (deadline, tied) = (Instant::now() + START_LIMIT, reach == Reach::Process);
        let mut parts = parts::Parts::new(&directory.path, deadline, tied, variables);
        let outcome = parts.start(&programs, options);
        // The desktop is made before the outcome is checked: if a start has failed, dropping it
        // ends the programs that run already.
        let desktop = Self {
            session: Session::from_environment(&parts.variables),
            vnc: options.watch.then(|| directory.path.join(VNC_SOCKET)),
            parts,
            directory,
            reach,
        };
        outcome.map(|()| desktop)
    }

    /// The desktop's session. Apps that are launched with it run there, and end with the desktop.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// The unix socket for a VNC viewer, if the desktop can be watched. Other users cannot connect
    /// to it: `vncviewer <socket>`, or from elsewhere `ssh -L 5900:<socket> host`.
    pub fn vnc_socket(&self) -> Option<&Path> {
        self.vnc.as_deref()
    }

    /// Fails if one of the desktop's programs no longer runs.
    pub fn check(&mut self) -> Result<()> {
        for (name, child) in &mut self.parts.children {
            if let Ok(Some(status)) = child.try_wait() {
                return Err(Error::Unavailable(format!(
                    "the private desktop's {name} ended ({status})"
                )));
            }
        }
        Ok(())
    }
}

/// The programs that a private desktop needs and this machine lacks. `None` if it has all.
pub(crate) fn missing() -> Option<programs::Missing> {
    programs::Programs::look(&Options::default()).err()
}

impl Drop for PrivateDesktop {
    fn drop(&mut self) {
        let mark = self.directory.path.to_string_lossy();
        end::end(&mark, self.reach, &mut self.parts.children);
        let display = self.session.display.as_deref();
        if let Some(number) = display.and_then(|d| d.strip_prefix(':')?.parse().ok()) {
            parts::remove_socket(number);
        }
    }
}

/// Makes a home that only has the settings of the window manager.
fn empty_home(home: &Path) -> io::Result<()> {
    private_directory(home)?;
    let settings = home.join(".config/xfce4/xfconf/xfce-perchannel-xml");
    fs::create_dir_all(&settings)?;
    fs::write(settings.join("xfwm4.xml"), WINDOW_MANAGER)
}

/// Variables that make toolkits use Wayland, and that let sway run without a screen, devices and a
/// GPU. Without them Qt 5 uses X11 on GNOME, and Firefox before 121 and Electron before 38 use it
/// everywhere.
#[rustfmt::skip]
const WAYLAND: [(&str, &str); 7] = [
    ("GDK_BACKEND", "wayland"), ("QT_QPA_PLATFORM", "wayland"), ("MOZ_ENABLE_WAYLAND", "1"),
    ("ELECTRON_OZONE_PLATFORM_HINT", "wayland"), ("WLR_BACKENDS", "headless"),
    ("WLR_LIBINPUT_NO_DEVICES", "1"), ("WLR_RENDERER", "pixman"),
];

/// The variables of a private desktop that are known before anything runs.
fn variables(options: &Options, directory: &Path) -> Result<Environment> {
    let mut variables = environment::for_apps(&environment::own());
    // Remove the variables of our own session, if there is one.
    let others = ["SESSION_MANAGER", "PWD", "WINDOWPATH"];
    let of_kind = WAYLAND.map(|(name, _)| name);
    for other in DISPLAYS.iter().chain(&others).chain(&of_kind) {
        variables.remove(*other);
    }
    variables.retain(|name, _| !name.starts_with("XDG_SESSION_") && !name.starts_with("XDG_SEAT"));
    match &options.home {
        Some(home) => fs::canonicalize(home).and_then(|to| symlink(to, directory.join(HOME))),
        None => empty_home(&directory.join(HOME)),
    }
    .map_err(|e| Error::Unavailable(format!("the private desktop's home directory: {e}")))?;
    for name in [TEMPORARY, RUNTIME] {
        private_directory(&directory.join(name)).map_err(Error::system(MAKING))?;
    }
    let text = |path: &Path| path.to_string_lossy().into_owned();
    for (name, value) in [
        (environment::MARK, text(directory)),
        ("XDG_RUNTIME_DIR", text(&directory.join(RUNTIME))),
        // Makes Debian's GTK portal serve this desktop.
        ("XDG_CURRENT_DESKTOP", "GNOME".to_owned()),
        ("SAL_USE_VCLPLUGIN", "gtk3".to_owned()),
        // There is neither a GPU nor a settings daemon.
        ("LIBGL_ALWAYS_SOFTWARE", "1".to_owned()),
        ("GSK_RENDERER", "cairo".to_owned()),
        ("GSETTINGS_BACKEND", "memory".to_owned()),
    ] {
        variables.insert(name.to_owned(), value);
    }
    let kind = if options.wayland {
        variables.extend(WAYLAND.map(|(name, value)| (name.to_owned(), value.to_owned())));
        "wayland"
    } else {
        variables.insert("XAUTHORITY".to_owned(), text(&directory.join("Xauthority")));
        "x11"
    };
    variables.insert("XDG_SESSION_TYPE".to_owned(), kind.to_owned());
    environment::make_accessible(&mut variables);
    // Without a UTF-8 locale, toolkits mangle text.
    let mut locales = ["LC_ALL", "LC_CTYPE", "LANG"].iter();
    if !locales.any(|name| variables.contains_key(*name)) {
        variables.insert("LANG".to_owned(), "C.UTF-8".to_owned());
    }
    environment::keep_to_desktop(&mut variables);
    Ok(variables)
}
