//! A graphical session: the display, the buses and the environment of its apps.
//!
//! MCP clients start servers without `DISPLAY` and `DBUS_SESSION_BUS_ADDRESS`. So the session has
//! to be found: see [`Session::find`].

mod discover;
pub(crate) mod environment;
pub(crate) mod socket;

use std::fs;
use std::path::{Path, PathBuf};

use deskline_contract::{Error, Result};
use deskline_unix::process;
use deskline_wayland::OwnSocket;
use deskline_x11::connection::Connection;

pub use discover::Sources;
pub use environment::Environment;

/// The process of GNOME's compositor.
pub(crate) const GNOME_SHELL: &str = "gnome-shell";

/// A graphical session. [`Session::find`] sets only what answers or exists.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Session {
    /// The X11 display, such as `:0`. On a Wayland session, that of Xwayland.
    pub display: Option<String>,
    /// The file with the X11 display's cookie. `None` if the file is `~/.Xauthority`, or if no
    /// cookie is needed.
    pub xauthority: Option<PathBuf>,
    /// `XDG_RUNTIME_DIR`
    pub runtime_dir: Option<PathBuf>,
    /// The D-Bus address of the session bus.
    pub session_bus: Option<String>,
    /// The Wayland socket: a name in the runtime directory, or a path.
    pub wayland_display: Option<String>,
    /// The environment for the session's apps: the values of the fields above, and the usual
    /// variables of the session, but nothing that looks like a credential.
    pub environment: Environment,
    /// Variables of this process's environment whose address does not answer, as `NAME=value`.
    silent: Vec<String>,
}

/// The ways to reach KWin.
pub(crate) struct Kwin {
    pub(crate) bus: String,
    pub(crate) pid: u32,
    pub(crate) folder: PathBuf,
    pub(crate) socket: PathBuf,
}

impl Session {
    /// The session that a complete environment describes. Does not check that the session answers.
    pub fn from_environment(environment: &Environment) -> Self {
        let get = |name: &str| environment.get(name).filter(|v| !v.is_empty()).cloned();
        let mut session = Self {
            display: get("DISPLAY"),
            xauthority: get("XAUTHORITY").map(PathBuf::from),
            runtime_dir: get("XDG_RUNTIME_DIR").map(PathBuf::from),
            session_bus: get("DBUS_SESSION_BUS_ADDRESS"),
            wayland_display: get("WAYLAND_DISPLAY"),
            environment: environment::for_apps(environment),
            silent: vec![],
        };
        session.complete_environment();
        session
    }

    /// The missing parts, one sentence each, with the next step. Empty if apps can be reached. One
    /// of the two displays, X11's or Wayland's, is enough.
    pub fn missing(&self) -> Vec<String> {
        let display = self.display.is_some() || self.wayland_display.is_some();
        let needed = |named: &&String| !display || named.starts_with("DBUS_");
        let told = |named: &String| {
            format!(
                "{named} does not answer. Correct it in the server's environment, or unset it \
                 there so that Deskline finds the session."
            )
        };
        let mut missing: Vec<_> = self.silent.iter().filter(needed).map(told).collect();
        let silent = |name: &str| self.silent.iter().any(|named| named.contains(name));
        if !display && !silent("DISPLAY=") {
            missing.push(String::from(
                "No display was found: DISPLAY and WAYLAND_DISPLAY are not set or do not work, and \
                 no program of this user runs on a display. Log in to a desktop as this user, set \
                 DISPLAY (and XAUTHORITY) in the server's environment, or use a private desktop: \
                 the option --desktop private.",
            ));
        }
        if self.session_bus.is_none() && !silent("DBUS_SESSION_BUS_ADDRESS=") {
            missing.push(String::from(
                "No D-Bus session bus: DBUS_SESSION_BUS_ADDRESS is not set or does not answer, \
                 and there is no bus socket in the user's runtime directory. Set \
                 DBUS_SESSION_BUS_ADDRESS in the server's environment to what \
                 `echo $DBUS_SESSION_BUS_ADDRESS` prints in a terminal of the desktop.",
            ));
        }
        missing
    }

    /// A variable of the session's apps, if it has a value.
    pub(crate) fn variable(&self, name: &str) -> Option<&str> {
        let value = self.environment.get(name).map(String::as_str);
        value.filter(|value| !value.is_empty())
    }

    /// The folder that a variable names or, if it names none, the folder `in_home` in the home
    /// directory: XDG Base Directory Specification.
    pub(crate) fn folder(&self, variable: &str, in_home: &str) -> Option<PathBuf> {
        let named = self.variable(variable).map(PathBuf::from);
        let named = named.filter(|folder| folder.is_absolute());
        named.or_else(|| Some(self.home()?.join(in_home)))
    }

    /// The home directory of the session's apps.
    pub fn home(&self) -> Option<&Path> {
        self.environment.get("HOME").map(Path::new)
    }

    /// The name of the Wayland compositor's process, such as `sway`; `None` if no compositor
    /// answers.
    pub fn compositor(&self) -> Option<String> {
        let name = Some(process::name(self.compositor_pid()?)).filter(|name| !name.is_empty());
        Some(name.unwrap_or_else(|| "unknown compositor".into()))
    }

    fn compositor_pid(&self) -> Option<u32> {
        let name = self.wayland_display.as_deref()?;
        socket::compositor(name, self.runtime_dir.as_deref())
    }

    pub(crate) fn wayland_socket(&self) -> Option<PathBuf> {
        let name = self.wayland_display.as_deref()?;
        socket::wayland_path(name, self.runtime_dir.as_deref())
    }

    /// The Wayland socket and the compositor's own socket, if the compositor is sway or Hyprland.
    pub(crate) fn sway(&self) -> Option<(PathBuf, OwnSocket)> {
        let (pid, wayland) = (self.compositor_pid()?, self.wayland_socket()?);
        let uid = rustix::process::getuid().as_raw();
        let dir = self.runtime_dir.as_deref()?;
        let sway = dir.join(format!("sway-ipc.{uid}.{pid}.sock"));
        if socket::path_answers(&sway, uid) {
            return Some((wayland, OwnSocket::Sway(sway)));
        }
        // Each instance of Hyprland has a folder, whose name does not have the pid.
        let instances = fs::read_dir(dir.join("hypr")).ok()?.flatten();
        let mut sockets = instances.map(|instance| instance.path().join(".socket.sock"));
        let of = |path: &PathBuf| socket::compositor(path.to_str()?, None);
        let its = sockets.find(|path| of(path) == Some(pid))?;
        Some((wayland, OwnSocket::Hyprland(its)))
    }

    /// The directory of the private desktop that the Wayland compositor belongs to. It is read from
    /// the compositor's environment, because ours may be that of another desktop.
    pub(crate) fn private_wayland(&self) -> Option<PathBuf> {
        let pid = self.compositor_pid()?.cast_signed();
        let mark = process::environment(Path::new("/proc"), pid).remove(environment::MARK)?;
        let directory = PathBuf::from(mark);
        let is_its = self.wayland_socket()?.starts_with(&directory);
        is_its.then_some(directory)
    }

    /// Whether nobody can be sitting at the Wayland compositor's screen.
    pub(crate) fn is_private_wayland(&self) -> bool {
        let directory = self.private_wayland();
        directory.is_some_and(|directory| !directory.join(environment::VNC_SOCKET).exists())
    }

    /// How to reach KWin, if it is the compositor.
    pub(crate) fn kwin(&self) -> Option<Kwin> {
        let pid = self.compositor_pid()?;
        let is = process::name(pid) == "kwin_wayland";
        let kwin = Kwin {
            bus: self.session_bus.clone()?,
            pid,
            folder: self.runtime_dir.clone()?,
            socket: self.wayland_socket()?,
        };
        Some(kwin).filter(|_| is)
    }

    /// The Wayland socket and the session bus, for a compositor that may be of the wlroots family:
    /// any but sway, KWin and GNOME.
    pub(crate) fn wlr(&self) -> Option<(PathBuf, String)> {
        let name = self.compositor()?;
        let has_its_own = [GNOME_SHELL, "sway", "kwin_wayland"].contains(&name.as_str());
        let found = self.wayland_socket().zip(self.session_bus.clone());
        found.filter(|_| !has_its_own)
    }

    /// Whether Deskline drives this compositor by the compositor's own protocols, with or without
    /// Xwayland beside it.
    pub(crate) fn is_driven_natively(&self) -> bool {
        let gnome = || self.compositor().is_some_and(|name| name == GNOME_SHELL);
        let is_wlr = |(socket, _): (PathBuf, String)| deskline_wayland::is_wlr(&socket);
        let wlr = || self.wlr().is_some_and(is_wlr);
        self.sway().is_some() || self.kwin().is_some() || gnome() || wlr()
    }

    /// Connects to the X11 display with the session's cookie.
    pub fn connect_x11(&self) -> Result<(Connection, usize)> {
        let Some(display) = &self.display else {
            return Err(Error::Unavailable(self.missing().join(" ")));
        };
        deskline_x11::connection::open(display, self.cookies().as_deref())
    }

    pub(crate) fn cookies(&self) -> Option<PathBuf> {
        let usual = || self.usual_cookies();
        self.xauthority.clone().or_else(usual)
    }

    fn usual_cookies(&self) -> Option<PathBuf> {
        self.home().map(|home| home.join(".Xauthority"))
    }

    /// Copies the fields into the environment, which is what apps read.
    fn complete_environment(&mut self) {
        let path = |p: &Option<PathBuf>| p.as_ref().and_then(|p| p.to_str()).map(str::to_owned);
        for (name, value) in [
            ("DISPLAY", self.display.clone()),
            ("XAUTHORITY", path(&self.xauthority)),
            ("XDG_RUNTIME_DIR", path(&self.runtime_dir)),
            ("DBUS_SESSION_BUS_ADDRESS", self.session_bus.clone()),
            ("WAYLAND_DISPLAY", self.wayland_display.clone()),
        ] {
            match value {
                Some(value) => self.environment.insert(name.to_owned(), value),
                None => self.environment.remove(name),
            };
        }
    }
}

#[cfg(test)]
#[path = "session/tests.rs"]
mod tests;
