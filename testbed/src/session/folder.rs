//! The folder of a session: its home, its settings, and copies of the programs that it runs.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::json;

use super::setup::{Compositor, Setup};
use crate::deskline;
use crate::place::own;

/// The file with the person's settings for `GSETTINGS_BACKEND=keyfile`.
pub(super) const SETTINGS_FILE: &str = ".config/glib-2.0/settings/keyfile";

/// sway: one screen; windows without borders, in their own size, each covering the middle of the
/// screen.
const SWAY: &str = "xwayland disable\noutput HEADLESS-1 resolution 1600x900\ndefault_border none\n\
                    default_floating_border none\nfor_window [app_id=\".*\"] floating enable\n";

/// KDE finds apps by the menu of a desktop.
const MENU: &str = "<!DOCTYPE Menu PUBLIC \"-//freedesktop//DTD Menu 1.0//EN\" \
                    \"http://www.freedesktop.org/standards/menu-spec/1.0/menu.dtd\">\n\
                    <Menu><Name>Applications</Name><DefaultAppDirs/><DefaultDirectoryDirs/>\
                    <Include><All/></Include></Menu>\n";

/// labwc: keys that move a window to the next screen, and minimise it.
const LABWC: &str = "<labwc_config><keyboard><default/><keybind key=\"C-F12\">\
                     <action name=\"MoveToOutput\" direction=\"right\" wrap=\"yes\"/>\
                     </keybind><keybind key=\"C-F11\"><action name=\"Iconify\"/></keybind>\
                     </keyboard></labwc_config>\n";

/// KWin has two desktops.
const DESKTOPS: &str = "[Desktops]\nNumber=2\nRows=1\n";

/// KDE locks its screen when a test asks for it, not after five minutes without input.
const LOCKER: &str = "[Daemon]\nAutolock=false\n";

/// The settings of all programs of the session.
const SETTINGS: &str = "[org/gnome/desktop/interface]\ntoolkit-accessibility=true\n\
                        [org/gnome/shell]\nwelcome-dialog-last-shown-version='999'\n";

/// The session's folder: its home, its runtime folder, and copies of the programs that it runs.
/// They are copies because the session's user may not be able to read the source folder.
pub(super) fn prepare(setup: &Setup) -> tempfile::TempDir {
    // The folder is below /tmp, which is also visible to a session in a root of its own.
    let folder = tempfile::Builder::new()
        .prefix("deskline-session-")
        .tempdir_in("/tmp")
        .unwrap();
    let path = |name: &str| folder.path().join(name);
    let menu = ".config/menus/applications.menu";
    let sway = format!("{SWAY}{}", setup.lines);
    let mut shell = SETTINGS.to_owned();
    if setup.extension {
        extension(folder.path());
        shell += "enabled-extensions=['deskline@deskline']\n";
        // Without Alt+Esc, only the extension can bring a window to the front.
        shell += "[org/gnome/desktop/wm/keybindings]\ncycle-windows=@as []\n";
        // The shortcut with which a test keeps a window over others.
        shell += "always-on-top=['<Control><Alt>t']\n";
    }
    let screens = setup.second.map(kwin_screens).unwrap_or_default();
    for (name, text) in [
        ("sway.conf", sway.as_str()),
        (SETTINGS_FILE, &shell),
        (menu, MENU),
        (".config/labwc/rc.xml", LABWC),
        (".config/kwinoutputconfig.json", &screens),
        (".config/kscreenlockerrc", LOCKER),
        (".config/kwinrc", DESKTOPS),
    ] {
        fs::create_dir_all(path(name).parent().unwrap()).unwrap();
        fs::write(path(name), text).unwrap();
    }
    fs::create_dir(path("run")).unwrap();
    fs::set_permissions(path("run"), Permissions::from_mode(0o700)).unwrap();
    if setup.hands {
        fs::create_dir(path("input")).unwrap();
        let mode = Mode::RUSR | Mode::WUSR;
        mknodat(CWD, path("input/event0"), FileType::Fifo, mode, 0).unwrap();
    }
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
        "adw_rows.py",
        "menu_button.py",
        "pages.py",
        "picker.py",
        "panel.py",
        "person.py",
        "sdl.py",
        "presses.py",
        "choices.py",
        "lists.py",
        "wayland.py",
        "keyboard.py",
        "kwin.py",
        "launcher.py",
        "scrolled.py",
        "seat.py",
        "session.sh",
        "single.py",
        "tray.py",
        "watcher.py",
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
    let place = |index: usize, x: f64| {
        json!({"enabled": true, "outputIndex": index, "position": {"x": x, "y": 0},
               "priority": index})
    };
    let setup = json!({"lidClosed": false, "outputs": [place(0, 0.0), place(1, right)]});
    json!([{"name": "outputs", "data": outputs}, {"name": "setups", "data": [setup]}]).to_string()
}

/// Installs Deskline's extension of GNOME Shell in this home.
fn extension(home: &Path) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../extensions/gnome");
    let target = home.join(".local/share/gnome-shell/extensions/deskline@deskline");
    fs::create_dir_all(&target).unwrap();
    for name in ["extension.js", "metadata.json"] {
        fs::copy(source.join(name), target.join(name)).unwrap();
    }
}

pub(super) fn environment(folder: &Path, compositor: Compositor) -> BTreeMap<String, String> {
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
        // With a software GPU, GTK 4 keeps a core busy, and does not respond for seconds on a busy
        // machine.
        ("GSK_RENDERER", "cairo".to_owned()),
        ("QT_QPA_PLATFORM", qt.to_owned()),
        ("QT_LINUX_ACCESSIBILITY_ALWAYS_ON", "1".to_owned()),
        // The number of rows in the test apps' list. They take most of the time of a reading, so
        // there are fewer than on X11.
        ("ROWS", "40".to_owned()),
    ]
    .into_iter()
    .filter(|(_, value)| !value.is_empty())
    .map(|(name, value)| (name.to_owned(), value))
    .collect()
}

pub(super) fn names(folder: &Path) -> BTreeSet<OsString> {
    let entries = fs::read_dir(folder).unwrap();
    entries.map(|entry| entry.unwrap().file_name()).collect()
}

/// Removes a session's folder once this process has ended, whichever way.
pub(super) fn remover(folder: &Path) -> Child {
    let script = "cat; n=0
        while [ -e \"$1\" ] && [ $n -lt 100 ]; do
            rm -rf \"$1\" 2>/dev/null || sleep 0.1
            n=$((n + 1))
        done";
    let mut command = Command::new("sh");
    command.args(["-c", script, "sh"]).arg(folder);
    command.stdin(Stdio::piped()).stdout(Stdio::null());
    // It is in a group of its own, so that a signal to the test's group does not reach it.
    command.process_group(0).spawn().unwrap()
}
