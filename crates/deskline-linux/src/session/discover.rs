//! Finds the person's session from environments, processes and sockets.

use std::cmp::Reverse;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use deskline_unix::process;

use super::environment::{self, Environment};
use super::{Session, socket};

/// Session managers: their environment is that of all apps of the session.
#[rustfmt::skip]
const SESSION_MANAGERS: &[&str] = &[
    "gnome-session-b", "gnome-session", "xfce4-session", "plasma_session", "ksmserver",
    "plasmashell", "cinnamon-sessio", "mate-session", "lxqt-session", "lxsession",
    "budgie-session-", "gnome-flashback",
];

/// Window managers and shells: every session has one, and each belongs to one session.
#[rustfmt::skip]
const WINDOW_MANAGERS: &[&str] = &[
    "gnome-shell", "kwin_x11", "kwin_wayland", "xfwm4", "cinnamon", "marco", "metacity", "mutter",
    "muffin", "openbox", "i3", "sway", "Hyprland", "river", "niri", "labwc", "wayfire", "icewm",
    "fluxbox", "awesome", "bspwm", "dwm",
];

/// Where to look for a session. [`Sources::system`] is this machine; tests pass their own.
#[derive(Debug, Clone)]
pub struct Sources {
    /// The environment of this process.
    pub own: Environment,
    /// `/proc`
    pub proc: PathBuf,
    /// `/run/user`
    pub runtime_dirs: PathBuf,
    /// `/tmp/.X11-unix`
    pub x11_sockets: PathBuf,
    /// The user. Other users' processes and sockets are ignored.
    pub uid: u32,
}

/// The rank of a process that is neither a session manager nor a window manager.
const APP: usize = 2;

/// The variables that lead to a session.
const ADDRESSES: [&str; 3] = ["DISPLAY", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS"];

/// The environment of a process, and its rank. The lowest rank is the best.
struct Candidate {
    worth: (bool, usize, bool, Reverse<u64>),
    environment: Environment,
}

impl Candidate {
    /// Whether the process is a session or window manager, not an app.
    fn is_session(&self) -> bool {
        self.worth.1 < APP
    }
}

impl Session {
    /// Finds the session that this process should work on.
    ///
    /// 1. The addresses in this process's own environment, if a connection to them succeeds. A
    ///    display or bus that is named there is never replaced by another.
    /// 2. Missing parts are taken from the environment of a process of the same user whose display
    ///    and bus answer. If there are several sessions, the order of preference is: a person's
    ///    before a private desktop; one with a session manager, then one with a window manager,
    ///    then any; one on a seat (`XDG_SEAT`) before a remote one; the one whose process started
    ///    last.
    /// 3. If there is no such process: `/run/user/<uid>` with its `bus` and `wayland-*` sockets,
    ///    and a display in `/tmp/.X11-unix` that an X server of the same user listens on.
    ///
    /// Uses only sockets whose peer has the same uid or is root. Takes a few milliseconds. A part
    /// that was not found is `None`; see [`Session::missing`].
    pub fn find() -> Self {
        let mut session = Sources::system().find();
        if session.xauthority.is_none() {
            session.xauthority = session.usual_cookies().filter(|path| path.exists());
        }
        session
    }
}

impl Sources {
    /// This machine, this process and its user.
    pub fn system() -> Self {
        Self {
            own: environment::own(),
            proc: "/proc".into(),
            runtime_dirs: "/run/user".into(),
            x11_sockets: "/tmp/.X11-unix".into(),
            uid: rustix::process::getuid().as_raw(),
        }
    }

    /// Finds the session; see [`Session::find`] for the rules.
    pub fn find(&self) -> Session {
        let mut session = self.answering(&self.own);
        let named = Session::from_environment(&self.own);
        let (wayland, bus) = (&session.wayland_display, &session.session_bus);
        for (name, value, found) in [
            ("DISPLAY", named.display, &session.display),
            ("WAYLAND_DISPLAY", named.wayland_display, wayland),
            ("DBUS_SESSION_BUS_ADDRESS", named.session_bus, bus),
        ] {
            if let Some(value) = value.filter(|_| found.is_none()) {
                session.silent.push(format!("{name}={value}"));
            }
        }
        let complete = is_complete(&session);
        if !complete || environment::is_of_a_bundle(&self.own) {
            let candidates = self.candidates().into_iter();
            let candidates = candidates.filter(|c| agrees(&c.environment, &self.own));
            let mut sessions = candidates.map(|c| (self.answering(&c.environment), c));
            let found = sessions.find(|(s, _)| {
                s.session_bus.is_some() && (s.display.is_some() || s.wayland_display.is_some())
            });
            match found {
                // The process has the environment of a program that may be bundled itself. That is
                // no better than ours.
                Some((_, candidate)) if complete && !candidate.is_session() => {}
                Some((mut found, candidate)) => {
                    if candidate.is_session() {
                        let pointers = environment::pointers(&candidate.environment);
                        found.environment.extend(pointers);
                    }
                    self.fill(&mut session, found);
                }
                None if complete => {}
                None => self.fill(&mut session, self.without_processes()),
            }
        }
        session.complete_environment();
        session
    }

    /// The session that an environment describes, with only the parts that answer.
    fn answering(&self, environment: &Environment) -> Session {
        let mut session = Session::from_environment(environment);
        let uid = self.uid;
        let usual = Some(self.runtime_dirs.join(uid.to_string()));
        let mut dirs = [session.runtime_dir.take(), usual].into_iter().flatten();
        session.runtime_dir = dirs.find(|dir| owned(dir, uid));
        let display = session.display.take();
        session.display = display.filter(|d| socket::display_answers(d, &self.x11_sockets, uid));
        session.xauthority = session.xauthority.filter(|file| owned(file, uid));
        let runtime_dir = session.runtime_dir.as_deref();
        let wayland = session.wayland_display.take();
        session.wayland_display =
            wayland.filter(|name| socket::wayland_answers(name, runtime_dir, uid));
        let usual = || Some(format!("unix:path={}", runtime_dir?.join("bus").display()));
        let bus = session.session_bus.take().or_else(usual);
        session.session_bus = bus.filter(|bus| socket::bus_answers(bus, uid));
        session
    }

    fn candidates(&self) -> Vec<Candidate> {
        let processes = process::of_user(&self.proc, self.uid).into_iter();
        let candidates = processes.filter(|p| !p.ended).filter_map(|p| {
            let environment = process::environment(&self.proc, p.pid);
            let has = |name: &str| environment.contains_key(name);
            let mut ranks = [SESSION_MANAGERS, WINDOW_MANAGERS].iter();
            let rank = ranks.position(|names| names.contains(&p.comm.as_str()));
            let worth = (
                has(environment::MARK),
                rank.unwrap_or(APP),
                !has("XDG_SEAT"),
                Reverse(p.started),
            );
            let is_one = has("DISPLAY") || has("WAYLAND_DISPLAY");
            is_one.then_some(Candidate { worth, environment })
        });
        let mut candidates: Vec<_> = candidates.collect();
        candidates.sort_by_key(|c| c.worth);
        // The processes of a session have the same addresses, so each set is tried once.
        candidates.dedup_by(|a, b| {
            let same = |name: &&str| a.environment.get(*name) == b.environment.get(*name);
            ADDRESSES.iter().all(same) && same(&"XAUTHORITY")
        });
        candidates
    }

    /// Finds a session by its sockets alone.
    fn without_processes(&self) -> Session {
        let mut session = self.answering(&Environment::new());
        let names = |dir: &Path, prefix: &str| {
            let files = fs::read_dir(dir).into_iter().flatten();
            let names = files.filter_map(|e| e.ok()?.file_name().into_string().ok());
            let mut names: Vec<String> = names.filter(|name| name.starts_with(prefix)).collect();
            names.sort();
            names
        };
        let is_own = |name: &String| socket::path_is_of(&self.x11_sockets.join(name), self.uid);
        let sockets = names(&self.x11_sockets, "X").into_iter().filter(is_own);
        let numbers = sockets.filter_map(|name| name[1..].parse::<u16>().ok());
        session.display = numbers.min().map(|number| format!(":{number}"));
        if let Some(dir) = session.runtime_dir.clone() {
            let answers = |name: &String| socket::wayland_answers(name, Some(&dir), self.uid);
            session.wayland_display = names(&dir, "wayland-").into_iter().find(answers);
            let others = [".mutter-Xwaylandauth.", "xauth_"].into_iter();
            let others = others.flat_map(|prefix| names(&dir, prefix));
            session.xauthority = std::iter::once("gdm/Xauthority".to_owned())
                .chain(others)
                .map(|name| dir.join(name))
                .find(|file| session.display.is_some() && owned(file, self.uid));
        }
        session
    }

    /// Fills in the missing parts of `session`, except those that our own environment names.
    fn fill(&self, session: &mut Session, found: Session) {
        let unnamed = |name: &str| self.own.get(name).is_none_or(String::is_empty);
        let displays = unnamed("DISPLAY") && unnamed("WAYLAND_DISPLAY");
        let same = displays || session.display.is_some() && session.display == found.display;
        if displays {
            session.display = found.display;
        }
        if same {
            session.wayland_display = session.wayland_display.take().or(found.wayland_display);
            session.xauthority = session.xauthority.take().or(found.xauthority);
        }
        if unnamed("DBUS_SESSION_BUS_ADDRESS") {
            session.session_bus = session.session_bus.take().or(found.session_bus);
        }
        if unnamed("XDG_RUNTIME_DIR") {
            session.runtime_dir = found.runtime_dir.or(session.runtime_dir.take());
        }
        let own = std::mem::replace(&mut session.environment, found.environment);
        for (name, value) in own {
            session.environment.entry(name).or_insert(value);
        }
    }
}

/// Whether a process's environment has the same display and bus as ours, as far as ours names them.
fn agrees(theirs: &Environment, own: &Environment) -> bool {
    ADDRESSES.iter().all(|name| {
        let value = own.get(*name).filter(|value| !value.is_empty());
        value.is_none_or(|value| theirs.get(*name) == Some(value))
    })
}

/// Whether the session has everything that it needs, so that processes need not be searched.
fn is_complete(session: &Session) -> bool {
    let usual = session.usual_cookies();
    let cookie = session.xauthority.is_some() || usual.is_some_and(|usual| usual.exists());
    session.session_bus.is_some()
        && (session.wayland_display.is_some() || (session.display.is_some() && cookie))
}

fn owned(path: &Path, uid: u32) -> bool {
    fs::metadata(path).is_ok_and(|m| m.uid() == uid)
}
