//! Windows that are not plain ones on the screen: on another workspace, minimised or shaded;
//! panels, notifications and the desktop's own window.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::fs;
use std::process::{Command, Stdio};

use deskline_testbed::{App, Bed, Client, Running, until};
use serde_json::json;

fn hex(window: u32) -> String {
    format!("0x{window:08x}")
}

/// A property of a window, or of the root, as `xprop` prints it.
fn property(bed: &Bed, window: Option<u32>, name: &str) -> String {
    let id = window.map(hex);
    let of: Vec<&str> = id.as_deref().map_or(vec!["-root"], |id| vec!["-id", id]);
    bed.run("xprop", &[&of[..], &[name]].concat())
}

fn workspace(bed: &Bed) -> String {
    property(bed, None, "_NET_CURRENT_DESKTOP")
}

fn listed(server: &Client, title: &str) -> String {
    let list = server.applications().text;
    let line = list.lines().find(|line| line.contains(title));
    line.unwrap_or_else(|| panic!("{title} is not listed: {list}"))
        .to_owned()
}

/// Types a text into mousepad's file. Afterwards the person's window and workspace are as before.
fn writes(bed: &Bed, server: &Client, app: &App<'_>, file: &std::path::Path, text: &str) {
    let before = (bed.screen().front(), workspace(bed));
    let keys =
        json!({"pid": app.pid, "text": text, "pressKey": "s", "pressKeyModifiers": ["Control"]});
    server.call("type_and_traverse", keys).ok();
    until("the saved text", || {
        fs::read_to_string(file).unwrap().contains(text)
    });
    assert_eq!((bed.screen().front(), workspace(bed)), before);
}

#[test]
fn a_window_on_another_workspace_or_minimised_is_used_and_put_back() {
    let (bed, server) = Bed::with_server();
    let (app, file) = bed.mousepad("");
    let _person = bed.zenity(&["--info", "--text=Mine"]);
    let id = hex(app.window.id);
    let name = &format!("(PID: {})", app.pid);

    bed.run("wmctrl", &["-i", "-r", &id, "-t", "1"]);
    let line = until("the other workspace", || {
        Some(listed(&server, name)).filter(|line| line.contains("(workspace 2)"))
    });
    assert!(!line.contains("front"), "{line}");
    // The window is read and pressed without being raised.
    let read = server.refresh(app.pid);
    read.ok().line_of("AXMenuBarItem", "File");
    writes(&bed, &server, &app, &file, "on workspace 2");
    let on = property(&bed, Some(app.window.id), "_NET_WM_DESKTOP");
    assert!(on.trim().ends_with("= 1"), "{on}");
    let open = server.open("mousepad");
    assert_eq!(open.ok().pid(), app.pid, "the instance that runs");
    assert!(
        workspace(&bed).trim().ends_with("= 0"),
        "{}",
        workspace(&bed)
    );

    bed.run("wmctrl", &["-i", "-r", &id, "-t", "0"]);
    bed.run("wmctrl", &["-i", "-r", &id, "-b", "add,shaded"]);
    until("a shaded window", || {
        listed(&server, name).contains("(shaded)")
    });
    writes(&bed, &server, &app, &file, "rolled up");
    until("it is shaded again", || {
        let state = property(&bed, Some(app.window.id), "_NET_WM_STATE");
        state.contains("SHADED").then_some(())
    });
    bed.run("wmctrl", &["-i", "-r", &id, "-b", "remove,shaded"]);
    bed.run(
        "xdotool",
        &["windowminimize", "--sync", &app.window.id.to_string()],
    );
    until("a minimised window", || {
        listed(&server, name).contains("(minimised)")
    });
    writes(&bed, &server, &app, &file, "from the dock");
    until("it is minimised again", || {
        let state = property(&bed, Some(app.window.id), "WM_STATE");
        state.contains("Iconic").then_some(())
    });
}

/// A program of the desktop, ended with the test.
struct Part(Running);

impl Part {
    fn start(bed: &Bed, program: &str) -> Self {
        Self::run(&mut bed.command(program))
    }

    fn run(command: &mut Command) -> Self {
        let command = command.stdin(Stdio::null()).stdout(Stdio::null());
        Self(Running(command.stderr(Stdio::null()).spawn().unwrap()))
    }

    /// Waits until the program is listed as this kind of part of the desktop.
    fn is_listed(&self, server: &Client, place: &str) {
        let pid = format!("(PID: {})", self.0.id());
        let line = until(place, || {
            let list = server.applications().text;
            let line = list.lines().find(|line| line.contains(&pid))?;
            line.contains(place).then(|| line.to_owned())
        });
        assert!(!line.contains("front"), "{line}");
    }
}

#[test]
fn a_panels_menu_starts_an_app() {
    let (bed, server) = Bed::with_server();
    let home = std::path::PathBuf::from(&bed.environment()["HOME"]);
    let made = bed.path("made");
    let apps = home.join(".local/share/applications");
    fs::create_dir_all(&apps).unwrap();
    let entry = format!(
        "[Desktop Entry]\nType=Application\nName=Make it\nCategories=Utility;\nExec=touch {}\n",
        made.display()
    );
    fs::write(apps.join("make-it.desktop"), entry).unwrap();
    let panel = Part::start(&bed, "xfce4-panel");
    let person = bed.zenity(&["--info", "--text=Mine"]);
    let pid = panel.0.id();
    panel.is_listed(&server, "(panel)");
    // On a busy machine, the panel loads its plug-ins for more than 2 s after its window has
    // appeared.
    until("the panel to answer", || {
        let read = server.refresh(pid);
        (!read.is_error).then_some(())
    });
    person.bring_to_front();
    let front = bed.screen().front();
    let pointer = bed.screen().pointer();
    let click = |element: &str| {
        let call = json!({"pid": pid, "element": element});
        server.call("click_and_traverse", call).ok()
    };
    let opened = click("Applications");
    opened.line_of("AXMenu", "Accessories");
    // The panel's menu has the keyboard although the person's window is in front.
    let key = |name: &str| {
        let call = json!({"pid": pid, "keyName": name});
        server.call("press_key_and_traverse", call).ok()
    };
    let closed = key("Escape");
    assert!(closed.find("AXMenu", "Accessories").is_none(), "{closed}");
    click("Applications");
    click("Accessories");
    click("Make it");
    until("what the app makes", || made.exists());
    assert_eq!(bed.screen().front(), front, "the person's window");
    assert_eq!(bed.screen().pointer(), pointer, "the pointer");
}

/// A panel's list of tasks changes at any time.
#[test]
fn a_panels_menu_is_in_the_answer_to_the_click_that_opens_it() {
    let bed = Bed::new();
    let server = bed.server(&[]);
    let dock = bed.dock();
    let person = bed.zenity(&["--info", "--text=Mine"]);
    let click = |element: &str| {
        person.bring_to_front();
        let call = json!({"pid": dock.pid, "element": element});
        server.call("click_and_traverse", call).ok()
    };
    let opened = click("Applications");
    dock.wait_for("opened");
    opened.line_of("AXMenuItem", "Accessories");
}

#[test]
fn a_notification_is_read_and_its_action_pressed() {
    let (bed, server) = Bed::with_server();
    let (person, _) = bed.mousepad("");
    let daemon = Part::start(
        &bed,
        "/usr/lib/x86_64-linux-gnu/xfce4/notifyd/xfce4-notifyd",
    );
    bed.run(
        "gdbus",
        &[
            "wait",
            "--session",
            "--timeout=20",
            "org.freedesktop.Notifications",
        ],
    );
    person.bring_to_front();
    let mut notify = bed.command("notify-send");
    let notify = notify.args([
        "--expire-time=0",
        "--action=open=Open it",
        "Mail",
        "Ada has written",
    ]);
    let sender = notify
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    daemon.is_listed(&server, "(notification)");
    let pid = daemon.0.id();
    let pointer = bed.screen().pointer();
    let read = server.refresh(pid).ok();
    assert!(read.file().contains("Ada has written"), "{}", read.file());
    let press = json!({"pid": pid, "element": "Open it"});
    let answer = server.call("click_and_traverse", press).ok();
    // notify-send prints the action and ends.
    let output = sender.wait_with_output().unwrap();
    assert_eq!(
        String::from_utf8_lossy(&output.stdout).trim(),
        "open",
        "{answer}"
    );
    assert_eq!(bed.screen().front(), person.window.id);
    assert_eq!(bed.screen().pointer(), pointer);
}

#[test]
fn the_desktops_own_window_does_not_count_as_a_front_app() {
    let (bed, server) = Bed::with_server();
    let desktop = Part::start(&bed, "xfdesktop");
    desktop.is_listed(&server, "(desktop)");
    // A click on the desktop gives it the focus.
    bed.run("xdotool", &["mousemove", "900", "700", "click", "1"]);
    desktop.is_listed(&server, "(desktop)");
    let list = server.applications().text;
    assert!(!list.contains(" front "), "{list}");
    let (app, file) = bed.mousepad("");
    bed.run("xdotool", &["mousemove", "1900", "1060", "click", "1"]);
    writes(&bed, &server, &app, &file, "over the desktop");
}

/// A script of `testbed/apps` without a window, and its log.
fn tray(bed: &Bed, script: &str) -> (Part, std::path::PathBuf) {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("apps");
    let log = bed.path("tray.log");
    let mut app = bed.command("/usr/bin/python3");
    app.env_remove("AT_SPI_BUS_ADDRESS");
    let app = Part::run(app.arg("-B").arg(path.join(script)).arg(&log));
    has_logged(&log, "ready");
    (app, log)
}

fn has_logged(log: &std::path::Path, line: &str) {
    until(line, || {
        let log = fs::read_to_string(log).unwrap_or_default();
        log.lines().any(|logged| logged == line).then_some(())
    });
}

/// The items of Qt's tray are known to a watcher, here the panel's.
#[test]
fn an_item_of_the_tray_is_listed_and_its_menu_pressed_over_the_bus() {
    let (bed, server) = Bed::with_server();
    let person = bed.zenity(&["--info", "--text=Mine"]);
    let _panel = Part::start(&bed, "xfce4-panel");
    bed.run(
        "gdbus",
        &[
            "wait",
            "--session",
            "--timeout=20",
            "org.kde.StatusNotifierWatcher",
        ],
    );
    let (app, log) = tray(&bed, "tray.py");
    let logged = |line: &str| has_logged(&log, line);
    app.is_listed(&server, "\"tray.py\" (tray)");
    person.bring_to_front();
    let front = bed.screen().front();
    let call = |tool: &str, element: &str, role: &str| {
        let call = json!({"pid": app.0.id(), "element": element, "role": role});
        server.call(tool, call)
    };
    let read = server.refresh(app.0.id()).ok();
    let mute = read.line_of("AXMenuItem", "Mute");
    assert!(mute.to_string().contains("checked"), "{mute}");
    assert!(
        read.line_of("AXMenuItem", "Never")
            .to_string()
            .contains("disabled")
    );
    call("press_ax_and_traverse", "Write to Bob", "AXMenuItem").ok();
    logged("Bob");
    call("press_ax_and_traverse", "Mute", "AXMenuItem").ok();
    logged("mute False");
    call("press_ax_and_traverse", "tray.py", "AXMenuBarItem").ok();
    logged("activated");
    assert_eq!(bed.screen().front(), front);
}

/// An item that has no menu on the bus: the app opens a menu of its own. No panel runs.
#[test]
fn an_items_own_menu_is_opened_and_its_entry_clicked() {
    let (bed, server) = Bed::with_server();
    let person = bed.zenity(&["--info", "--text=Mine"]);
    let (app, log) = tray(&bed, "tray_plain.py");
    app.is_listed(&server, "\"Plain mail\" (tray)");
    let pid = app.0.id();
    let item = server.refresh(pid).ok();
    item.line_of("AXMenuBarItem", "Plain mail");
    person.bring_to_front();
    let front = bed.screen().front();
    let opened = server.press_ax(pid, "AXMenuItem", "Context menu").ok();
    opened.line_of("AXMenuItem", "Write");
    let answer = server.click(pid, "AXMenuItem", "Write").ok();
    has_logged(&log, "chose Write");
    assert_eq!(bed.screen().front(), front, "{answer}");
    server.press_ax(pid, "AXMenuBarItem", "Plain mail").ok();
    has_logged(&log, "activated");
}

/// The icons are in no tree. Tesseract reads most of their names where no wallpaper is behind them.
#[test]
fn an_icon_of_the_desktop_is_opened_behind_the_persons_window() {
    const STYLE: &str = "/backdrop/screen0/monitorscreen/workspace0/image-style";
    const FILES: [&str; 3] = ["Invoice.txt", "Plan.txt", "Report.txt"];
    let (bed, server) = Bed::with_server();
    let folder = std::path::PathBuf::from(&bed.environment()["HOME"]).join("Desktop");
    fs::create_dir_all(&folder).unwrap();
    for name in FILES {
        fs::write(folder.join(name), "").unwrap();
    }
    let desktop = Part::start(&bed, "xfdesktop");
    desktop.is_listed(&server, "(desktop)");
    let style = |args: &[&str]| {
        let of = ["--channel", "xfce4-desktop"];
        bed.run("xfconf-query", &[&of[..], args].concat())
    };
    // The desktop sets a style of its own once it has started.
    until("the wallpaper's style", || {
        style(&["--list"]).contains(STYLE)
    });
    style(&["--property", STYLE, "--set", "0"]);
    let person = bed.zenity(&["--info", "--text=Mine"]);
    let pid = desktop.0.id();
    // On a busy machine reading takes more than one call.
    let name = until("an icon's name", || {
        let read = server.refresh(pid).ok();
        let mut names = FILES.into_iter();
        names.find(|name| read.find("AXStaticText", name).is_some())
    });
    person.bring_to_front();
    let double = json!({"pid": pid, "element": name, "doubleClick": true});
    let answer = server.call("click_and_traverse", double).ok();
    until(&format!("the editor of {name}\n{answer}"), || {
        let mut search = bed.command("xdotool");
        let found = search.args(["search", "--name", name]).output().unwrap();
        (!found.stdout.is_empty()).then_some(())
    });
}
