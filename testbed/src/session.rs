//! A session for one test, with native apps: a headless Wayland compositor without X11, or Debian
//! 13's X11.

mod apps;
mod shared;
mod widgets;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Permissions};
use std::io::{BufRead as _, BufReader};
use std::ops::{Deref, DerefMut};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::fake_devices::FakeDevices;
use crate::native::NativeApp;
use crate::place::{Place, own, user};
use crate::{Answer, Client, Toolkit, deskline, until};

/// sway: one screen; windows without borders, of their own size, each over the middle of the
/// screen.
const SWAY: &str = "xwayland disable\noutput HEADLESS-1 resolution 1600x900\ndefault_border none\n\
                    default_floating_border none\nfor_window [app_id=\".*\"] floating enable\n";

/// KDE finds apps by the menu of a desktop.
const MENU: &str = "<!DOCTYPE Menu PUBLIC \"-//freedesktop//DTD Menu 1.0//EN\" \
                    \"http://www.freedesktop.org/standards/menu-spec/1.0/menu.dtd\">\n\
                    <Menu><Name>Applications</Name><DefaultAppDirs/><DefaultDirectoryDirs/>\
                    <Include><All/></Include></Menu>\n";

/// labwc: a key that moves a window to the next screen.
const LABWC: &str = "<labwc_config><keyboard><default/><keybind key=\"C-F12\">\
                     <action name=\"MoveToOutput\" direction=\"right\" wrap=\"yes\"/>\
                     </keybind></keyboard></labwc_config>\n";

/// KDE locks its screen when a test says so, not after five minutes without input.
const LOCKER: &str = "[Daemon]\nAutolock=false\n";

/// Where `GSETTINGS_BACKEND=keyfile` has the person's settings.
const SETTINGS_FILE: &str = ".config/glib-2.0/settings/keyfile";

/// The settings of all programs of the session.
const SETTINGS: &str = "[org/gnome/desktop/interface]\ntoolkit-accessibility=true\n\
                        [org/gnome/shell]\nwelcome-dialog-last-shown-version='999'\n";

/// The display server of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compositor {
    /// sway 1.10.
    Sway,
    /// labwc 0.8.
    Labwc,
    /// KWin 6.3.
    Kwin,
    /// KWin 5.27, of Debian 12.
    Kwin5,
    /// GNOME Shell 48.
    Gnome,
    /// Xvfb and xfwm4, as `deskline desktop` starts them.
    X11,
}

impl Compositor {
    /// Its name in `apps/session.sh`.
    fn name(self) -> &'static str {
        match self {
            Self::Sway => "sway",
            Self::Labwc => "labwc",
            Self::Kwin => "kwin",
            Self::Kwin5 => "kwin5",
            Self::Gnome => "gnome",
            Self::X11 => "x11",
        }
    }

    /// `XDG_CURRENT_DESKTOP`.
    fn desktop(self) -> &'static str {
        match self {
            Self::Sway => "sway",
            Self::Labwc => "labwc:wlroots",
            Self::Kwin | Self::Kwin5 => "KDE",
            Self::Gnome => "GNOME",
            Self::X11 => "XFCE",
        }
    }
}

/// Xwayland, whose windows have no `app_id` by which the usual lines make windows float.
const XWAYLAND: &str = "xwayland enable\nfor_window [shell=\"xwayland\"] floating enable\n";

/// The differences from the usual session.
#[derive(Debug, Default)]
struct Options {
    /// Where sway's own socket is, if not in its usual place.
    socket: Option<&'static str>,
    /// Further lines of its configuration.
    lines: String,
    /// How many screens it has, if not one.
    screens: usize,
    /// The source of the extension that GNOME Shell has, in the testbed's folder.
    extension: Option<&'static str>,
    /// The scale of KWin's or GNOME's screen, if not 1.
    scale: Option<f64>,
    /// The scale of KWin's or GNOME's second screen, if it has one. It has as many pixels as the
    /// first.
    second: Option<f64>,
    /// Whether GNOME counts physical pixels of such a screen, as it does without Debian's settings.
    physical: bool,
    /// Whether GNOME's seat has no keyboard and no pointer.
    bare: bool,
}

impl Options {
    /// Whether several tests want a session with them.
    fn are_common(&self) -> bool {
        let one_screen = self.screens == 0 && self.scale.is_none() && self.second.is_none();
        let one_source = self.extension.is_none_or(|source| source == EXTENSION);
        one_screen && one_source && self.socket.is_none() && self.lines.is_empty()
    }
}

/// Deskline's extension of GNOME Shell, and its first version.
const EXTENSION: &str = "../extensions/gnome/extension.js";
const EXTENSION_1: &str = "apps/extension_1.js";

/// A Wayland session. All of it ends with the test program, even if that is killed: the session
/// ends when the kernel closes a pipe. Sessions of Debian 13 are shared; see `session/shared.rs`.
#[derive(Debug)]
pub struct Session {
    /// There until `Drop`.
    running: Option<Running>,
    /// The kind of session that may replace this one, if it is shared.
    kind: Option<String>,
}

/// The running processes. Ended by `Drop`.
#[doc(hidden)]
#[derive(Debug)]
pub struct Running {
    child: Child,
    stdin: Option<ChildStdin>,
    environment: BTreeMap<String, String>,
    place: Place,
    folder: tempfile::TempDir,
    remover: Child,
    /// The folder's content at first.
    names: BTreeSet<OsString>,
    /// The person's settings at first.
    settings: String,
}

impl Deref for Session {
    type Target = Running;

    fn deref(&self) -> &Running {
        self.running
            .as_ref()
            .expect("a session until it is dropped")
    }
}

impl DerefMut for Session {
    fn deref_mut(&mut self) -> &mut Running {
        self.running
            .as_mut()
            .expect("a session until it is dropped")
    }
}

impl Session {
    /// Starts one of Debian 13's compositors, in the root that `testbed/trixie/make` makes.
    pub fn new(compositor: Compositor) -> Self {
        Self::start(compositor, Place::debian_13(), &Options::default())
    }

    /// Starts Debian 13's sway with these screens, each given as arguments of sway's command
    /// `output`.
    pub fn with_screens(screens: &[&str]) -> Self {
        let screens = screens.iter().enumerate();
        let lines = screens.map(|(n, screen)| format!("output HEADLESS-{} {screen}\n", n + 1));
        let options = Options {
            screens: lines.len(),
            lines: lines.collect(),
            ..Options::default()
        };
        Self::start(Compositor::Sway, Place::debian_13(), &options)
    }

    /// Starts Debian 13's KWin or GNOME Shell with a screen of this scale, which has room for as
    /// much as the usual one.
    pub fn scaled(compositor: Compositor, scale: f64) -> Self {
        let options = Options {
            scale: Some(scale),
            ..Options::default()
        };
        Self::start(compositor, Place::debian_13(), &options)
    }

    /// Starts Debian 13's KWin or GNOME Shell with two screens beside each other, of scale 1 and of
    /// this one.
    pub fn with_second_screen(compositor: Compositor, scale: f64) -> Self {
        let options = Options {
            second: Some(scale),
            ..Options::default()
        };
        Self::start(compositor, Place::debian_13(), &options)
    }

    /// Starts Debian 13's labwc with two screens beside each other, of 1280x720.
    pub fn labwc_with_two_screens() -> Self {
        let options = Options {
            screens: 2,
            ..Options::default()
        };
        Self::start(Compositor::Labwc, Place::debian_13(), &options)
    }

    /// [`Session::with_second_screen`] of GNOME Shell, with Deskline's extension.
    pub fn gnome_with_extension_and_second_screen(scale: f64) -> Self {
        let options = Options {
            extension: Some(EXTENSION),
            second: Some(scale),
            ..Options::default()
        };
        Self::start(Compositor::Gnome, Place::debian_13(), &options)
    }

    /// Starts Debian 13's GNOME Shell with Deskline's extension, installed as its README says, and
    /// without the keys by which Deskline raises windows where it has no extension.
    pub fn gnome_with_extension() -> Self {
        Self::gnome_with(EXTENSION, None, false)
    }

    /// Starts Debian 13's GNOME Shell without a keyboard and a pointer on its seat, as a headless
    /// session has none, and a remote one while nobody is connected; with Deskline's extension or
    /// without.
    pub fn gnome_bare(extension: bool) -> Self {
        let options = Options {
            extension: extension.then_some(EXTENSION),
            bare: true,
            ..Options::default()
        };
        Self::start(Compositor::Gnome, Place::debian_13(), &options)
    }

    /// [`Session::gnome_with_extension`], with a screen of this scale, which has room for as much
    /// as the usual one. With `physical`, GNOME counts its physical pixels.
    pub fn gnome_with_extension_scaled(scale: f64, physical: bool) -> Self {
        Self::gnome_with(EXTENSION, Some(scale), physical)
    }

    /// [`Session::gnome_with_extension`], with the first version of the extension.
    pub fn gnome_with_first_extension() -> Self {
        Self::gnome_with(EXTENSION_1, None, false)
    }

    fn gnome_with(extension: &'static str, scale: Option<f64>, physical: bool) -> Self {
        let options = Options {
            extension: Some(extension),
            scale,
            physical,
            ..Options::default()
        };
        Self::start(Compositor::Gnome, Place::debian_13(), &options)
    }

    /// Starts this machine's KWin, of Plasma 5.
    pub fn kwin_here() -> Self {
        Self::start(Compositor::Kwin5, Place::Here, &Options::default())
    }

    /// Starts this machine's sway, in which Deskline finds sway's own socket.
    pub fn sway_here() -> Self {
        Self::start(Compositor::Sway, Place::Here, &Options::default())
    }

    /// Starts this machine's sway with Xwayland.
    pub fn sway_here_with_xwayland() -> Self {
        let options = Options {
            lines: XWAYLAND.to_owned(),
            ..Options::default()
        };
        Self::start(Compositor::Sway, Place::Here, &options)
    }

    /// Starts this machine's sway, in which Deskline does not find it, as with a compositor that it
    /// does not know.
    pub fn trees_only() -> Self {
        let options = Options {
            socket: Some("hidden.sock"),
            ..Options::default()
        };
        Self::start(Compositor::Sway, Place::Here, &options)
    }

    /// [`Session::trees_only`], with Xwayland.
    pub fn unknown_with_xwayland() -> Self {
        let options = Options {
            socket: Some("hidden.sock"),
            lines: XWAYLAND.to_owned(),
            ..Options::default()
        };
        let mut session = Self::start(Compositor::Sway, Place::Here, &options);
        let display = session.xwayland();
        session.environment.insert("DISPLAY".to_owned(), display);
        session
    }

    /// Starts this machine's sway with these physical devices in its answers, which a headless sway
    /// lacks. Deskline finds sway's own socket behind them.
    pub fn with_devices(names: &[&str]) -> (Self, FakeDevices) {
        let sway = Self::trees_only();
        let path = |name: &str| sway.folder.path().join(name);
        let pid = &sway.environment["COMPOSITOR_PID"];
        let usual = path(&format!("run/sway-ipc.{}.{pid}.sock", user()));
        let devices = FakeDevices::before(path("hidden.sock"), &usual, names);
        own(&usual);
        (sway, devices)
    }

    /// No other test has this session after this one, which leaves more behind than files.
    #[must_use]
    pub fn ends_with_the_test(mut self) -> Self {
        self.kind = None;
        self
    }

    fn start(compositor: Compositor, place: Place, options: &Options) -> Self {
        // Here sessions start quickly, and several have been changed before the test has them.
        let is_shared = matches!(place, Place::Root { .. }) && options.are_common();
        let kind = is_shared.then(|| format!("{compositor:?} {:?}", options.extension));
        let idle = kind.as_deref().and_then(shared::take);
        let running = idle.unwrap_or_else(|| Running::start(compositor, place, options));
        Self {
            running: Some(running),
            kind,
        }
    }
}

impl Running {
    fn start(compositor: Compositor, mut place: Place, options: &Options) -> Self {
        let folder = prepare(options);
        let remover = shared::remover(folder.path());
        let settings = fs::read_to_string(folder.path().join(SETTINGS_FILE)).unwrap();
        let path = |name: &str| folder.path().join(name);
        let mut environment = environment(folder.path(), compositor);
        let mut command = place.starter(folder.path());
        command.arg("sh").arg(path("session.sh"));
        command.arg(compositor.name()).arg(folder.path());
        command.env_clear().envs(&environment).envs([
            ("WLR_BACKENDS", "headless"),
            ("WLR_LIBINPUT_NO_DEVICES", "1"),
            ("WLR_RENDERER", "pixman"),
        ]);
        command.env("WLR_HEADLESS_OUTPUTS", options.screens.max(1).to_string());
        let scale = options.scale.unwrap_or(1.0);
        command.env("scale", scale.to_string());
        let layout = ["logical", "physical"][usize::from(options.physical)];
        command.env("layout", layout);
        command.env("bare", options.bare.to_string());
        // Each screen has room for as much as the usual one.
        let largest = options.second.map_or(scale, |second| scale.max(second));
        command.env("width", (1600.0 * largest).to_string());
        command.env("height", (900.0 * largest).to_string());
        command.envs(options.second.map(|scale| ("second", scale.to_string())));
        command.envs(options.socket.map(|name| ("SWAYSOCK", path(name))));
        let mut session = command
            .current_dir(folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(File::create(path("session.log")).unwrap())
            // A signal to the test's group would end parts of the session, which then would not end
            // the rest.
            .process_group(0)
            .spawn()
            .unwrap();
        let told = BufReader::new(session.stdout.take().unwrap()).lines();
        let told = told.map(Result::unwrap).take_while(|line| !line.is_empty());
        for line in told {
            let told = line.split_once('=');
            let (name, value) = told.unwrap_or_else(|| panic!("{line:?}"));
            environment.insert(name.to_owned(), value.to_owned());
        }
        let said = fs::read_to_string(path("session.log")).unwrap();
        assert!(
            environment.contains_key("COMPOSITOR_PID"),
            "{compositor:?} has not started: {said}"
        );
        place.entered(&session);
        Self {
            stdin: session.stdin.take(),
            child: session,
            environment,
            place,
            names: shared::names(folder.path()),
            folder,
            remover,
            settings,
        }
    }
}

impl Session {
    /// Whether its programs are this machine's.
    pub(crate) fn is_here(&self) -> bool {
        matches!(self.place, Place::Here)
    }

    /// A temporary folder for files. It has the same path in the session.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The address of its bus.
    pub fn bus(&self) -> &str {
        &self.environment["DBUS_SESSION_BUS_ADDRESS"]
    }

    /// A command for a program of the session. Where that is a root of its own, the process that
    /// this starts waits for the program: see [`Session::pid_of`].
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = self.place.command(program.as_ref(), self.folder());
        command.env_clear().envs(&self.environment);
        command.current_dir(self.folder());
        command
    }

    /// A command for `deskline` in the session.
    pub fn deskline(&self, args: &[&str]) -> Command {
        let mut command = self.command(self.folder().join("deskline"));
        command.args(args);
        command
    }

    /// Starts `deskline serve` in the session, with a client that is connected to it.
    pub fn server(&self) -> Client {
        self.server_with(&[])
    }

    /// [`Session::server`] with additional arguments.
    pub fn server_with(&self, args: &[&str]) -> Client {
        let mut command = self.deskline(&["serve", "--dir"]);
        command.arg(self.folder().join("journal")).args(args);
        Client::start(command)
    }

    /// Has sway carry out commands.
    pub fn sway(&self, commands: &str) {
        let run = fs::read_dir(self.folder().join("run")).unwrap();
        let usual = run.map(|entry| entry.unwrap().path());
        let hidden = self.folder().join("hidden.sock");
        let mut sockets = usual.chain([hidden].into_iter().filter(|path| path.exists()));
        let is_its = |path: &PathBuf| {
            let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
            name.starts_with("sway-ipc.") || name == "hidden.sock"
        };
        let mut command = self.command("/usr/bin/swaymsg");
        command.env("SWAYSOCK", sockets.find(is_its).expect("sway's socket"));
        let output = command.arg("--").arg(commands).output().unwrap();
        assert!(output.status.success(), "{commands}: {output:?}");
    }

    /// Where KWin's pointer is.
    pub fn kwin_pointer(&self) -> (i32, i32) {
        let mut command = self.command("/usr/bin/python3");
        command
            .arg(self.folder().join("pointer.py"))
            .arg(self.folder());
        // Plasma 5 has its scripts at other paths.
        command.args(self.is_here().then_some("5"));
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        let at = said.trim().split_once(' ');
        let at = at.and_then(|(x, y)| Some((x.parse().ok()?, y.parse().ok()?)));
        at.unwrap_or_else(|| panic!("{output:?}"))
    }

    /// Runs a client that asks for the seat's pointer whether or not it has one. Returns whether
    /// the compositor survives.
    pub fn survives_a_late_client(&self) -> bool {
        let mut command = self.command("/usr/bin/python3");
        command.arg(self.folder().join("late.py"));
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.stderr.is_empty() || said.is_empty(), "{output:?}");
        said.trim() == "alive"
    }

    /// The process that a [`Session::command`] has started: its number for the test, which can
    /// signal it, and its number in the session.
    pub fn pid_of(&self, started: u32) -> (u32, u32) {
        self.place.pid_of(started)
    }

    /// Ends a server of the session at once, by SIGKILL.
    pub fn kill(&self, server: &Client) {
        let (outside, _) = self.pid_of(server.pid);
        let pid = Pid::from_raw(outside.cast_signed()).unwrap();
        kill_process(pid, Signal::KILL).unwrap();
    }

    /// The test app with one of each widget, once it is ready and its window and tree show.
    pub fn widgets(&self, toolkit: Toolkit, server: &Client) -> NativeApp {
        self.widgets_with(toolkit, server, "", &[])
    }

    /// [`Session::widgets`], through Xwayland.
    pub fn widgets_in_xwayland(&self, toolkit: Toolkit, server: &Client) -> NativeApp {
        let display = self.xwayland();
        let x11 = [
            ("DISPLAY", display.as_str()),
            ("GDK_BACKEND", "x11"),
            ("QT_QPA_PLATFORM", "xcb"),
        ];
        self.widgets_with(toolkit, server, "-x11", &x11)
    }

    /// The display of the session's Xwayland.
    fn xwayland(&self) -> String {
        let file = self.folder().join("display");
        self.sway(&format!("exec echo $DISPLAY > {}", file.display()));
        until("the display of Xwayland", || {
            let display = fs::read_to_string(&file).ok()?;
            Some(display.trim().to_owned()).filter(|display| display.starts_with(':'))
        })
    }

    /// [`Session::widgets`] whose log has this suffix, and with more variables in its environment.
    pub fn widgets_with(
        &self,
        toolkit: Toolkit,
        server: &Client,
        suffix: &str,
        environment: &[(&str, &str)],
    ) -> NativeApp {
        let log = self.folder().join(format!("{toolkit:?}{suffix}.log"));
        let mut command = self.command("/usr/bin/python3");
        command.envs(environment.iter().copied());
        command.arg("-B").arg(self.folder().join(toolkit.file()));
        command.arg(&log);
        let app = NativeApp::start(self, command, log);
        app.wait_for("ready");
        let pid = serde_json::json!({"pid": app.pid()});
        until("its window and its tree", || {
            let answer = server.call("refresh_traversal", pid.clone());
            let shown = |a: &Answer| a.find("AXButton", "OK").is_some_and(|ok| ok.visible);
            let listed = server.call("list_applications", serde_json::json!({}));
            let listed = listed.text.contains(&format!("(PID: {})", app.pid()));
            (!answer.is_error && shown(&answer) && listed).then_some(())
        });
        app
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let running = self.running.take();
        if let (Some(running), Some(kind)) = (running, self.kind.take())
            && !std::thread::panicking()
        {
            shared::give(kind, running);
        }
    }
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
        // Processes of the session may write there until they have ended too.
        let folder = self.folder.path();
        while fs::remove_dir_all(folder).is_err() && folder.exists() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(10));
        }
        drop(self.remover.stdin.take());
        let _ = self.remover.wait();
    }
}

/// The session's folder: its home, its runtime folder, and copies of what it runs. Copies, because
/// the source folder may be closed to the session's user.
fn prepare(options: &Options) -> tempfile::TempDir {
    // Below /tmp, which a session in a root of its own has as well.
    let folder = tempfile::Builder::new()
        .prefix("deskline-session-")
        .tempdir_in("/tmp")
        .unwrap();
    let path = |name: &str| folder.path().join(name);
    let menu = ".config/menus/applications.menu";
    let sway = format!("{SWAY}{}", options.lines);
    let mut shell = SETTINGS.to_owned();
    if let Some(source) = options.extension {
        extension(folder.path(), source);
        shell += "enabled-extensions=['deskline@deskline']\n";
        // Without Alt+Esc a window can come to the front by the extension alone.
        shell += "[org/gnome/desktop/wm/keybindings]\ncycle-windows=@as []\n";
        // The shortcut with which a test keeps a window over others.
        shell += "always-on-top=['<Control><Alt>t']\n";
    }
    let screens = options.second.map(kwin_screens).unwrap_or_default();
    for (name, text) in [
        ("sway.conf", sway.as_str()),
        (SETTINGS_FILE, &shell),
        (menu, MENU),
        (".config/labwc/rc.xml", LABWC),
        (".config/kwinoutputconfig.json", &screens),
        (".config/kscreenlockerrc", LOCKER),
    ] {
        fs::create_dir_all(path(name).parent().unwrap()).unwrap();
        fs::write(path(name), text).unwrap();
    }
    fs::create_dir(path("run")).unwrap();
    fs::set_permissions(path("run"), Permissions::from_mode(0o700)).unwrap();
    fs::copy(deskline(), path("deskline")).unwrap();
    let apps = Path::new(env!("CARGO_MANIFEST_DIR")).join("apps");
    for name in [
        "gtk3.py",
        "gtk4.py",
        "qt5.py",
        "qt6.py",
        "log.py",
        "late.py",
        "copied.py",
        "wl_clipboard.py",
        "gnome_clipboard.py",
        "pages.py",
        "wayland.py",
        "keyboard.py",
        "launcher.py",
        "pointer.py",
        "seat.py",
        "session.sh",
        "single.py",
    ] {
        fs::copy(apps.join(name), path(name)).unwrap();
    }
    own(folder.path());
    folder
}

/// KWin's settings for two virtual screens, the second of this scale.
fn kwin_screens(second: f64) -> String {
    let right = 1600.0 * second;
    let outputs = [("Virtual-0", 1.0), ("Virtual-1", second)];
    let outputs = outputs.map(|(name, scale)| json!({"connectorName": name, "scale": scale}));
    let place = |index: usize, x: f64| json!({"enabled": true, "outputIndex": index, "position": {"x": x, "y": 0}, "priority": index});
    let setup = json!({"lidClosed": false, "outputs": [place(0, 0.0), place(1, right)]});
    json!([{"name": "outputs", "data": outputs}, {"name": "setups", "data": [setup]}]).to_string()
}

/// Installs Deskline's extension of GNOME Shell, of this source, in this home.
fn extension(home: &Path, source: &str) {
    let testbed = Path::new(env!("CARGO_MANIFEST_DIR"));
    let target = home.join(".local/share/gnome-shell/extensions/deskline@deskline");
    fs::create_dir_all(&target).unwrap();
    let metadata = "../extensions/gnome/metadata.json";
    for (source, name) in [(source, "extension.js"), (metadata, "metadata.json")] {
        fs::copy(testbed.join(source), target.join(name)).unwrap();
    }
}

fn environment(folder: &Path, compositor: Compositor) -> BTreeMap<String, String> {
    let text = |path: PathBuf| path.to_str().unwrap().to_owned();
    let (kind, qt) = match compositor {
        Compositor::X11 => ("x11", "xcb"),
        _ => ("wayland", "wayland"),
    };
    [
        ("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/games".to_owned()),
        ("LANG", "C.UTF-8".to_owned()),
        ("HOME", text(folder.to_owned())),
        ("XDG_RUNTIME_DIR", text(folder.join("run"))),
        ("XDG_SESSION_TYPE", kind.to_owned()),
        ("XDG_CURRENT_DESKTOP", compositor.desktop().to_owned()),
        ("GDK_BACKEND", kind.to_owned()),
        ("GTK_A11Y", "atspi".to_owned()),
        ("GTK_USE_PORTAL", "0".to_owned()),
        ("GDK_DEBUG", "no-portals".to_owned()),
        ("ADW_DISABLE_PORTAL", "1".to_owned()),
        ("GSETTINGS_BACKEND", "keyfile".to_owned()),
        ("PYTHONFAULTHANDLER", "1".to_owned()),
        ("LIBGL_ALWAYS_SOFTWARE", "1".to_owned()),
        // GTK 4 with a GPU in software keeps a core busy, and stands still for seconds on a busy
        // machine.
        ("GSK_RENDERER", "cairo".to_owned()),
        ("QT_QPA_PLATFORM", qt.to_owned()),
        ("QT_LINUX_ACCESSIBILITY_ALWAYS_ON", "1".to_owned()),
    ]
    .into_iter()
    .filter(|(_, value)| !value.is_empty())
    .map(|(name, value)| (name.to_owned(), value))
    .collect()
}
