//! A Wayland session for one test: a headless sway, with native apps and no X11.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{self, File, Permissions};
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

use crate::fake_devices::FakeDevices;
use crate::{Answer, Client, Toolkit, deskline, until};

/// Debian's user and group `nobody`. sway does not run as root, and Deskline uses only what belongs to
/// its own user: so where the test runs as root, all of the session is this user's.
const NOBODY: u32 = 65_534;

/// The session's compositor: one screen; windows without borders, of their own size, each over the
/// middle of the screen.
const CONFIG: &str = "xwayland disable\noutput HEADLESS-1 resolution 1600x900\ndefault_border none\n\
                      default_floating_border none\nfor_window [app_id=\".*\"] floating enable\n";

/// A Wayland session. All of it ends with this value, even if the test is killed: the session ends when
/// the kernel closes a pipe.
#[derive(Debug)]
pub struct Sway {
    session: Child,
    stdin: Option<ChildStdin>,
    environment: BTreeMap<String, String>,
    folder: tempfile::TempDir,
}

impl Sway {
    /// Starts one, in which Deskline finds sway's own socket.
    pub fn new() -> Self {
        Self::start(None)
    }

    /// Starts one in which it does not, as with a compositor that it does not know.
    pub fn trees_only() -> Self {
        Self::start(Some("hidden.sock"))
    }

    /// Starts one that says that it has these physical devices, which a headless sway has not. Deskline
    /// finds sway's own socket behind them.
    pub fn with_devices(names: &[&str]) -> (Self, FakeDevices) {
        let sway = Self::trees_only();
        let uid = if is_root() {
            NOBODY
        } else {
            rustix::process::getuid().as_raw()
        };
        let name = format!("run/sway-ipc.{uid}.{}.sock", sway.environment["SWAY_PID"]);
        let (usual, real) = (
            sway.folder.path().join(name),
            sway.folder.path().join("hidden.sock"),
        );
        let devices = FakeDevices::before(real, &usual, names);
        own(&usual);
        (sway, devices)
    }

    /// `socket`: where sway's own socket is, if not in its usual place.
    fn start(socket: Option<&str>) -> Self {
        let folder = tempfile::Builder::new()
            .prefix("deskline-sway-")
            .tempdir()
            .unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("sway.conf"), CONFIG).unwrap();
        fs::create_dir(path("run")).unwrap();
        fs::set_permissions(path("run"), Permissions::from_mode(0o700)).unwrap();
        // Copies: the source folder may be closed to that user.
        fs::copy(deskline(), path("deskline")).unwrap();
        let apps = Path::new(env!("CARGO_MANIFEST_DIR")).join("apps");
        for script in [
            "gtk3.py", "gtk4.py", "qt5.py", "log.py", "late.py", "sway.sh",
        ] {
            fs::copy(apps.join(script), path(script)).unwrap();
            own(&path(script));
        }
        own(&path("run"));
        own(folder.path());
        let text = |path: PathBuf| path.to_str().unwrap().to_owned();
        let mut environment: BTreeMap<String, String> = [
            ("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/games".to_owned()),
            ("LANG", "C.UTF-8".to_owned()),
            ("HOME", text(folder.path().to_owned())),
            ("XDG_RUNTIME_DIR", text(path("run"))),
            ("XDG_SESSION_TYPE", "wayland".to_owned()),
            ("XDG_CURRENT_DESKTOP", "sway".to_owned()),
            ("GDK_BACKEND", "wayland".to_owned()),
            ("GTK_A11Y", "atspi".to_owned()),
            ("GTK_USE_PORTAL", "0".to_owned()),
            ("GDK_DEBUG", "no-portals".to_owned()),
            ("ADW_DISABLE_PORTAL", "1".to_owned()),
            ("GSETTINGS_BACKEND", "memory".to_owned()),
            ("LIBGL_ALWAYS_SOFTWARE", "1".to_owned()),
            ("QT_QPA_PLATFORM", "wayland".to_owned()),
            ("QT_LINUX_ACCESSIBILITY_ALWAYS_ON", "1".to_owned()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into();
        let mut command = as_user("dbus-run-session");
        let script = text(path("sway.sh"));
        command.args(["--", "sh", &script, &text(folder.path().to_owned())]);
        command.env_clear().envs(&environment).envs([
            ("WLR_BACKENDS", "headless"),
            ("WLR_LIBINPUT_NO_DEVICES", "1"),
            ("WLR_RENDERER", "pixman"),
        ]);
        command.envs(socket.map(|name| ("SWAYSOCK", path(name))));
        let mut session = command
            .current_dir(folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(File::create(path("session.log")).unwrap())
            .spawn()
            .unwrap();
        let told = BufReader::new(session.stdout.take().unwrap()).lines();
        let told = told.map(Result::unwrap).take_while(|line| !line.is_empty());
        for line in told {
            let (name, value) = line.split_once('=').unwrap();
            environment.insert(name.to_owned(), value.to_owned());
        }
        let said = fs::read_to_string(path("session.log")).unwrap();
        assert!(
            environment.contains_key("WAYLAND_DISPLAY"),
            "sway has not started: {said}"
        );
        Self {
            stdin: session.stdin.take(),
            session,
            environment,
            folder,
        }
    }

    /// A command for a program of the session.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = as_user(program);
        command
            .env_clear()
            .envs(&self.environment)
            .current_dir(self.folder.path());
        command
    }

    /// A command for `deskline` in the session.
    pub fn deskline(&self, args: &[&str]) -> Command {
        let mut command = self.command(self.folder.path().join("deskline"));
        command.args(args);
        command
    }

    /// Starts `deskline serve` in the session, with a client that is connected to it.
    pub fn server(&self) -> Client {
        self.server_with(&[])
    }

    /// The same, with options of the server.
    pub fn server_with(&self, options: &[&str]) -> Client {
        let mut command = self.deskline(&["serve", "--dir"]);
        command
            .arg(self.folder.path().join("journal"))
            .args(options);
        Client::start(command)
    }

    /// Runs a client that asks for the seat's pointer whether or not it has one, and says whether the
    /// compositor lives.
    pub fn survives_a_late_client(&self) -> bool {
        let mut command = self.command("/usr/bin/python3");
        command.arg(self.folder.path().join("late.py"));
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.stderr.is_empty() || said.is_empty(), "{output:?}");
        said.trim() == "alive"
    }

    /// The test app with one of each widget, once it is ready and its tree is there.
    pub fn widgets(&self, toolkit: Toolkit, server: &Client) -> NativeApp {
        let log = self.folder.path().join(format!("{toolkit:?}.log"));
        let mut command = self.command("/usr/bin/python3");
        command
            .arg("-B")
            .arg(self.folder.path().join(toolkit.file()));
        let complaints = File::create(log.with_extension("err")).unwrap();
        let child = command
            .arg(&log)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(complaints)
            .spawn()
            .unwrap();
        let app = NativeApp { child, log };
        app.wait_for("ready");
        let pid = serde_json::json!({"pid": app.pid()});
        until("its tree", || {
            let answer = server.call("refresh_traversal", pid.clone());
            let shows = |a: &Answer| !a.is_error && a.find("AXButton", "OK").is_some();
            shows(&answer).then_some(())
        });
        app
    }
}

/// A native app of a session. Dropping it ends it.
#[derive(Debug)]
pub struct NativeApp {
    child: Child,
    log: PathBuf,
}

impl NativeApp {
    /// Its process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Its log so far.
    pub fn log(&self) -> Vec<String> {
        let log = fs::read_to_string(&self.log).unwrap_or_default();
        log.lines().map(str::to_owned).collect()
    }

    /// Waits until it has logged this line.
    pub fn wait_for(&self, line: &str) {
        until(&format!("\"{line}\" in the app's log"), || {
            self.log().iter().any(|l| l == line).then_some(())
        });
    }
}

impl Drop for NativeApp {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Default for Sway {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Sway {
    fn drop(&mut self) {
        drop(self.stdin.take());
        let deadline = Instant::now() + Duration::from_secs(10);
        while matches!(self.session.try_wait(), Ok(None)) && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(10));
        }
        let _ = self.session.kill();
        let _ = self.session.wait();
        // What the session has started may write there until it has ended too.
        let folder = self.folder.path();
        while fs::remove_dir_all(folder).is_err() && folder.exists() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

fn is_root() -> bool {
    rustix::process::getuid().is_root()
}

fn as_user(program: impl AsRef<OsStr>) -> Command {
    if !is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("/usr/bin/setpriv");
    let (user, group) = (format!("--reuid={NOBODY}"), format!("--regid={NOBODY}"));
    command.args([&user, &group, "--clear-groups"]).arg(program);
    command
}

/// Gives a file to the session's user.
fn own(path: &Path) {
    if is_root() {
        chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
    }
}
