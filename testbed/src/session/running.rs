//! The processes of a session.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};
use std::time::{Duration, Instant};

use super::folder::{SETTINGS_FILE, environment, names, prepare, remover};
use super::setup::{HIDDEN, Setup};
use crate::place::Place;

/// How compositors of wlroots do without hardware.
const HEADLESS: [(&str, &str); 3] = [
    ("WLR_BACKENDS", "headless"),
    ("WLR_LIBINPUT_NO_DEVICES", "1"),
    ("WLR_RENDERER", "pixman"),
];

/// The running processes. Ended by `Drop`.
#[derive(Debug)]
pub struct Running {
    pub(super) child: Child,
    pub(super) stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    pub(super) environment: BTreeMap<String, String>,
    pub(super) place: Place,
    pub(super) folder: tempfile::TempDir,
    pub(super) remover: Child,
    /// The folder's content when the session started.
    pub(super) names: BTreeSet<OsString>,
    /// The person's settings when the session started.
    pub(super) settings: String,
}

impl Running {
    pub(super) fn start(setup: &Setup) -> Self {
        let (compositor, mut place) = (setup.compositor, setup.place());
        let folder = prepare(setup);
        let remover = remover(folder.path());
        let settings = fs::read_to_string(folder.path().join(SETTINGS_FILE)).unwrap();
        let path = |name: &str| folder.path().join(name);
        let mut environment = environment(folder.path(), compositor);
        let mut command = place.starter(folder.path());
        command.arg("sh").arg(path("session.sh"));
        command.arg(compositor.name()).arg(folder.path());
        command.env_clear().envs(&environment).envs(HEADLESS);
        command.env("WLR_HEADLESS_OUTPUTS", setup.screens.max(1).to_string());
        let scale = setup.scale.unwrap_or(1.0);
        command.env("scale", scale.to_string());
        let layout = ["logical", "physical"][usize::from(setup.physical)];
        command.env("layout", layout);
        command.env("bare", setup.bare.to_string());
        command.env("hands", setup.hands.to_string());
        // Each screen has room for the same content as the usual one.
        let largest = setup.second.map_or(scale, |second| scale.max(second));
        command.env("width", (1600.0 * largest).to_string());
        command.env("height", (900.0 * largest).to_string());
        command.envs(setup.second.map(|scale| ("second", scale.to_string())));
        command.envs(setup.unknown.then(|| ("SWAYSOCK", path(HIDDEN))));
        let mut session = command
            .current_dir(folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(File::create(path("session.log")).unwrap())
            // The session is in a group of its own: a signal to the test's group would end only
            // parts of it, and the rest would remain.
            .process_group(0)
            .spawn()
            .unwrap();
        let mut stdout = BufReader::new(session.stdout.take().unwrap());
        environment.extend(variables(&mut stdout));
        let log = fs::read_to_string(path("session.log")).unwrap();
        assert!(
            environment.contains_key("COMPOSITOR_PID"),
            "{compositor:?} has not started: {log}"
        );
        place.entered(&session);
        Self {
            stdin: session.stdin.take(),
            stdout,
            child: session,
            environment,
            place,
            names: names(folder.path()),
            folder,
            remover,
            settings,
        }
    }

    /// Kills the compositor, and all of its apps with it, and starts another at the same socket.
    pub fn restart_compositor(&mut self) {
        let mut stdin = self.stdin.as_ref().unwrap();
        writeln!(stdin).unwrap();
        self.environment.extend(variables(&mut self.stdout));
    }
}

/// What `session.sh` prints once the compositor runs.
fn variables(stdout: &mut BufReader<ChildStdout>) -> Vec<(String, String)> {
    let lines = stdout.lines().map(Result::unwrap);
    let lines = lines.take_while(|line| !line.is_empty());
    let variable = |line: String| {
        let variable = line.split_once('=');
        let (name, value) = variable.unwrap_or_else(|| panic!("{line:?}"));
        (name.to_owned(), value.to_owned())
    };
    lines.map(variable).collect()
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.stdin.take());
        self.place.end();
        let deadline = Instant::now() + Duration::from_secs(10);
        while matches!(self.child.try_wait(), Ok(None)) && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(10));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
        // Processes of the session may write to the folder until they have ended.
        let folder = self.folder.path();
        while fs::remove_dir_all(folder).is_err() && folder.exists() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(10));
        }
        drop(self.remover.stdin.take());
        let _ = self.remover.wait();
    }
}
