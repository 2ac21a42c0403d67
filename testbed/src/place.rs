//! Where a session's programs run: on this machine, or in a root of Debian 13 or a later suite.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

use rustix::process::{Pid, Signal, getuid, kill_process};

use crate::{deskline, until};

/// Debian's user and group `nobody`. Compositors do not run as root, and Deskline uses only files
/// and processes of its own user. So if the test runs as root, the whole session belongs to this
/// user.
const NOBODY: u32 = 65_534;

/// The user in the root, as `testbed/trixie/make` makes it.
const TESTER: &str = "1000";

/// Where the programs of a session run.
#[derive(Debug)]
pub(crate) enum Place {
    /// On this machine.
    Here,
    /// In a root of its own, in namespaces that end with the session.
    Root {
        folder: PathBuf,
        /// The pid of the namespaces' first process, outside of them; 0 before it has started.
        first: u32,
        /// Whether root is root there too, and can install a program.
        has_root: bool,
    },
}

impl Place {
    /// The root of this suite that `testbed/trixie/make` makes, if the session's user can read it:
    /// `DESKLINE_` and its name, else its name in the target folder.
    pub(crate) fn of_suite(suite: &str, has_root: bool) -> Option<Self> {
        let target = || {
            let target = deskline().ancestors().nth(2);
            target.expect("a target folder").join(suite)
        };
        let named = std::env::var_os(format!("DESKLINE_{}", suite.to_uppercase()));
        let folder = named.map_or_else(target, PathBuf::from);
        let reached = as_user("/usr/bin/test")
            .arg("-x")
            .arg(folder.join("usr/bin/env"))
            .status();
        let is_there = reached.is_ok_and(|status| status.success());
        is_there.then_some(Self::Root {
            folder,
            first: 0,
            has_root,
        })
    }

    /// A command that starts the session's first program; the program's command line is to be
    /// appended.
    pub(crate) fn starter(&self, shared: &Path) -> Command {
        let Self::Root {
            folder, has_root, ..
        } = self
        else {
            return as_user("/usr/bin/env");
        };
        let mut command = if *has_root {
            Command::new("bwrap")
        } else {
            let mut command = as_user("bwrap");
            command.args(["--unshare-user", "--uid", TESTER, "--gid", TESTER]);
            command
        };
        command.args(["--unshare-pid", "--unshare-ipc", "--ro-bind"]);
        command.arg(folder).args(["/", "--proc", "/proc"]);
        // Do not use `--dev`: its terminals need a second user namespace, which `nsenter` could not
        // enter.
        command.args(["--tmpfs", "/dev", "--perms", "1777", "--tmpfs", "/dev/shm"]);
        for device in ["null", "zero", "full", "random", "urandom", "tty"] {
            let device = format!("/dev/{device}");
            command.args(["--dev-bind", &device, &device]);
        }
        command.args(["--symlink", "/proc/self/fd", "/dev/fd"]);
        // The person's devices, if the session has some.
        command.arg("--bind-try").arg(shared.join("input"));
        command.arg("/dev/input");
        command.args([
            "--ro-bind",
            "/sys",
            "/sys",
            "--perms",
            "1777",
            "--tmpfs",
            "/tmp",
        ]);
        command
            .args(["--tmpfs", "/run", "--bind"])
            .args([shared, shared]);
        command.arg("--chdir").arg(shared);
        if *has_root {
            command.args(as_nobody());
        }
        // Processes that have left their parent end with the session too.
        command.args(["sh", "-c", "\"$@\"; kill -KILL -1", "sh"]);
        command
    }

    /// Ends all processes of a session in a root.
    pub(crate) fn end(&self) {
        if let Self::Root { first, .. } = self {
            kill(*first);
        }
    }

    /// Records the session's first process, once the session runs.
    pub(crate) fn entered(&mut self, session: &Child) {
        if let Self::Root { first, .. } = self {
            *first = only_child(session.id());
        }
    }

    /// A command for a program of the session, in this folder.
    pub(crate) fn command(&self, program: &OsStr, folder: &Path) -> Command {
        let Self::Root {
            first, has_root, ..
        } = self
        else {
            return as_user(program);
        };
        let mut command = if *has_root {
            Command::new("nsenter")
        } else {
            let mut command = as_user("nsenter");
            command.args(["--preserve-credentials", "--user"]);
            command
        };
        command.args(["--mount", "--pid", "--ipc", "--target", &first.to_string()]);
        if *has_root {
            command.args(as_nobody());
        }
        command
            .args(["/usr/bin/env", "--chdir"])
            .arg(folder)
            .arg(program);
        command
    }

    /// A program that a [`Place::command`] has started: its pid in the test's namespace, and in the
    /// session's.
    pub(crate) fn pid_of(&self, started: u32) -> (u32, u32) {
        if matches!(self, Self::Here) {
            return (started, started);
        }
        // `nsenter` waits for its child, which is in the session.
        let outside = only_child(started);
        let status = fs::read_to_string(format!("/proc/{outside}/status")).unwrap_or_default();
        let inside = status.lines().find_map(|line| {
            let numbers = line.strip_prefix("NSpid:")?;
            numbers.split_whitespace().next_back()?.parse().ok()
        });
        (outside, inside.expect("the program has ended"))
    }
}

/// The only child of a process, once it exists.
fn only_child(pid: u32) -> u32 {
    until("the program in the session", || {
        let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).ok()?;
        children.split_whitespace().next()?.parse().ok()
    })
}

/// Sends SIGKILL. When the first process of a namespace ends, the kernel ends all others in it.
pub(crate) fn kill(pid: u32) {
    if let Some(pid) = Pid::from_raw(pid.cast_signed()) {
        let _ = kill_process(pid, Signal::KILL);
    }
}

fn is_root() -> bool {
    getuid().is_root()
}

fn as_user(program: impl AsRef<OsStr>) -> Command {
    if !is_root() {
        return Command::new(program);
    }
    let [setpriv, as_nobody @ ..] = as_nobody();
    let mut command = Command::new(setpriv);
    command.args(as_nobody).arg(program);
    command
}

/// The beginning of a command line that root runs as the session's user.
fn as_nobody() -> [String; 4] {
    let (user, group) = (format!("--reuid={NOBODY}"), format!("--regid={NOBODY}"));
    [
        "/usr/bin/setpriv".into(),
        user,
        group,
        "--clear-groups".into(),
    ]
}

/// Changes the owner of a file, or of a folder with all its content, to the session's user.
pub(crate) fn own(path: &Path) {
    if !is_root() {
        return;
    }
    chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
    if path.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            own(&entry.unwrap().path());
        }
    }
}
