//! Windows that are not plain ones on the screen: on another workspace, minimised or shaded;
//! panels, notifications and the desktop's own window.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::fs;
use std::process::{Child, Stdio};

use deskline_testbed::{App, Bed, Client, until};
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
    let list = server.call("list_applications", json!({})).text;
    let line = list.lines().find(|line| line.contains(title));
    line.unwrap_or_else(|| panic!("{title} is not listed: {list}"))
        .to_owned()
}

/// A text goes into mousepad's file; the person's window and workspace stay.
fn writes(bed: &Bed, server: &Client, app: &App<'_>, file: &std::path::Path, text: &str) {
    let before = (bed.screen().front(), workspace(bed));
    let keys =
        json!({"pid": app.pid, "text": text, "pressKey": "s", "pressKeyModifiers": ["Control"]});
    server.call("type_and_traverse", keys).ok();
    until("the saved text", || {
        fs::read_to_string(file)
            .unwrap()
            .contains(text)
            .then_some(())
    });
    assert_eq!((bed.screen().front(), workspace(bed)), before);
}

#[test]
fn a_window_elsewhere_is_used_and_put_back() {
    let bed = Bed::new();
    let server = bed.server(&[]);
    let (app, file) = bed.mousepad("");
    let _person = bed.zenity(&["--info", "--text=Mine"]);
    let id = hex(app.window.id);
    let name = &format!("(PID: {})", app.pid);

    bed.run("wmctrl", &["-i", "-r", &id, "-t", "1"]);
    let line = until("the other workspace", || {
        Some(listed(&server, name)).filter(|line| line.contains("(workspace 2)"))
    });
    assert!(!line.contains("front"), "{line}");
    // Read and pressed where it is.
    let read = server.call("refresh_traversal", json!({"pid": app.pid}));
    read.ok().line_of("AXMenuBarItem", "File");
    writes(&bed, &server, &app, &file, "on workspace 2");
    let on = property(&bed, Some(app.window.id), "_NET_WM_DESKTOP");
    assert!(on.trim().ends_with("= 1"), "{on}");
    let open = server.call(
        "open_application_and_traverse",
        json!({"identifier": "mousepad"}),
    );
    assert_eq!(open.ok().pid(), app.pid, "the instance that runs");
    assert!(
        workspace(&bed).trim().ends_with("= 0"),
        "{}",
        workspace(&bed)
    );

    bed.run("wmctrl", &["-i", "-r", &id, "-t", "0"]);
    bed.run("wmctrl", &["-i", "-r", &id, "-b", "add,shaded"]);
    until("a shaded window", || {
        listed(&server, name).contains("(shaded)").then_some(())
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
        listed(&server, name).contains("(minimised)").then_some(())
    });
    writes(&bed, &server, &app, &file, "from the dock");
    until("it is minimised again", || {
        let state = property(&bed, Some(app.window.id), "WM_STATE");
        state.contains("Iconic").then_some(())
    });
}

/// A program of the desktop, ended with the test.
struct Part(Child);

impl Part {
    fn start(bed: &Bed, program: &str) -> Self {
        let mut command = bed.command(program);
        let command = command.stdin(Stdio::null()).stdout(Stdio::null());
        Self(command.stderr(Stdio::null()).spawn().unwrap())
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_panels_menu_starts_an_app() {
    let bed = Bed::new();
    let server = bed.server(&[]);
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
    until("the panel", || {
        let list = server.call("list_applications", json!({})).text;
        list.contains(&format!("(PID: {pid}) ")).then_some(())
    });
    person.bring_to_front();
    let line = listed(&server, &format!("(PID: {pid})"));
    assert!(
        line.contains("(panel)") && !line.contains("front"),
        "{line}"
    );
    let front = bed.screen().front();
    let pointer = bed.screen().pointer();
    let click = |element: &str| {
        let call = json!({"pid": pid, "element": element});
        server.call("click_and_traverse", call).ok()
    };
    let opened = click("Applications");
    opened.line_of("AXMenu", "Accessories");
    click("Accessories");
    click("Make it");
    until("what the app makes", || made.exists().then_some(()));
    assert_eq!(bed.screen().front(), front, "the person's window");
    assert_eq!(bed.screen().pointer(), pointer, "the pointer");
}
