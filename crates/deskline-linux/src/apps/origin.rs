//! Decides which windows belong to a launched app: its own, those of its descendants, and those of
//! an instance that it has handed over to. Other windows may open meanwhile, and do not belong to
//! it.

use std::fs;
use std::path::{Path, PathBuf};

use super::command::base_name;
use super::interpreters::is_interpreter;
use deskline_unix::process;

/// The variable that marks the descendants of one launch, also those that have left its process
/// session and have another parent now.
pub(super) const MARK: &str = "DESKLINE_LAUNCH";

/// Directories that hold unrelated programs.
const SHARED: [&str; 6] = ["bin", "sbin", "libexec", "games", "lib", "lib64"];

/// Programs that only make another app open something over the bus, and then end.
#[rustfmt::skip]
pub(super) const OPENERS: [&str; 18] = [
    "xdg-open", "gio", "gtk-launch", "gtk4-launch", "kde-open", "kde-open5", "kde-open6",
    "exo-open", "kioclient", "kioclient5", "kioclient6", "kfmclient", "mimeopen", "run-mailcap",
    "see", "systemd-run", "gdbus", "dex",
];

/// The facts about a launch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Origin {
    /// The process that was started, by us or by the bus.
    pub(super) pid: Option<u32>,
    /// The value of [`MARK`]; empty if the bus started the app.
    pub(super) mark: String,
    pub(super) program: PathBuf,
    pub(super) arguments: Vec<String>,
}

impl Origin {
    /// Whether the process `pid` is the one that was started, or descends from it.
    pub(super) fn made(&self, pid: u32) -> bool {
        let Some(started) = self.pid else {
            return false;
        };
        if pid == started || process::descends(pid, started) {
            return true;
        }
        let (proc, pid) = (Path::new("/proc"), pid.cast_signed());
        let has_mark = || process::environment(proc, pid).get(MARK) == Some(&self.mark);
        // The started process leads a process session, so all in that session come from it.
        let session = process::read(proc, pid).map(|process| process.session.cast_unsigned());
        !self.mark.is_empty() && (session == Some(started) || has_mark())
    }

    /// Whether the process `pid` runs the launched program, so that the launch may have handed over
    /// to it. The executables are compared, or their directory if no other app uses it, or the
    /// script if the program is an interpreter.
    pub(super) fn is_same_program(&self, pid: u32) -> bool {
        let Ok(executable) = fs::read_link(format!("/proc/{pid}/exe")) else {
            return false;
        };
        let real = self
            .program
            .canonicalize()
            .unwrap_or_else(|_| self.program.clone());
        if is_interpreter(name(&real)) {
            let script = self.arguments.iter().find(|a| !a.starts_with('-'));
            return script.is_some_and(|script| runs_script(pid, &[Path::new(script)]));
        }
        if is_interpreter(name(&executable)) {
            return runs_script(pid, &[&real, &self.program]);
        }
        if executable == real {
            return true;
        }
        let dir = real.parent();
        let own = dir.and_then(|dir| dir.file_name()?.to_str());
        let own_dir = own.is_some_and(|dir| !SHARED.contains(&dir) && !dir.contains("-linux-"));
        if own_dir && executable.parent() == dir {
            return true;
        }
        // Examples: gnome-terminal-server for gnome-terminal, soffice.bin for soffice,
        // /usr/lib/chromium/chromium for the script /usr/bin/chromium.
        let is_of = |program: &str| {
            let rest = name(&executable).strip_prefix(program);
            let rest = rest.filter(|_| !program.is_empty());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['-', '.']))
        };
        is_of(name(&real)) || is_of(name(&self.program))
    }

    /// Whether the program only makes another app open something. It is unknown which app.
    pub(super) fn is_opener(&self) -> bool {
        OPENERS.contains(&name(&self.program))
    }
}

/// Whether an opener may have made the process `pid` open something. The process is older than the
/// opener, or was started by the bus or by the session's manager.
pub(super) fn is_of_the_session(pid: u32, opener: u32) -> bool {
    let read = |pid: u32| process::read(Path::new("/proc"), pid.cast_signed());
    if pid < opener {
        return true;
    }
    let parent = read(pid).and_then(|process| read(process.parent.cast_unsigned()));
    parent.is_some_and(|parent| {
        ["dbus-daemon", "dbus-broker-lau", "systemd"].contains(&parent.comm.as_str())
    })
}

fn name(path: &Path) -> &str {
    base_name(path.to_str().unwrap_or_default())
}

/// The words of a process's command line, which the process may have changed.
pub(super) fn command_line(pid: u32) -> Vec<String> {
    let line = process::read_file(&format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let words = line.strip_suffix(b"\0").unwrap_or(&line);
    let words = words.split(|byte| *byte == 0);
    let words = words.map(|word| String::from_utf8_lossy(word).into_owned());
    words.filter(|_| !line.is_empty()).collect()
}

/// Whether this process is an interpreter that runs one of these scripts.
fn runs_script(pid: u32, scripts: &[&Path]) -> bool {
    let line = command_line(pid);
    let mut words = line.iter().skip(1).take(8);
    words.any(|word| scripts.contains(&Path::new(word)))
}
