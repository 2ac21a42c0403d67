//! `--allow-app` and `--deny-app` apply to apps that are started, to windows that a click opens,
//! and to the titles in answers.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::fs;
use std::time::Duration;

use deskline_testbed::watcher::Watcher;
use deskline_testbed::{App, Bed, Toolkit};
use serde_json::json;

const OPEN: &str = "open_application_and_traverse";
const CLICK: &str = "click_and_traverse";
const TITLE: &str = "Private matters";

#[test]
fn only_allowed_apps_are_started() {
    let bed = Bed::new();
    let server = bed.server(&["--allow-app", "gnome-calculator"]);
    let trace = bed.path("trace");
    let touch = format!("touch '{}'", trace.display());
    let forged = bed.path("Calculator.desktop");
    let entry = format!("[Desktop Entry]\nType=Application\nName=Calculator\nExec={touch}\n");
    fs::write(&forged, entry).unwrap();
    for identifier in [
        format!("bash -c \"{touch}\""),
        format!("env A=Calculator {touch}"),
        forged.display().to_string(),
        "mousepad".to_owned(),
    ] {
        let refused = server.open(&identifier);
        let error = refused.error();
        assert!(error.contains("blocked"), "{identifier}: {error}");
        assert!(
            error.contains("'gnome-calculator'"),
            "{identifier}: {error}"
        );
    }
    // An allowed app opens by each of its names.
    for identifier in ["gnome-calculator", "org.gnome.Calculator", "Calculator"] {
        server.open(identifier).ok();
    }
    assert!(!trace.exists(), "it ran");
    let names: Vec<String> = bed
        .screen()
        .windows()
        .into_iter()
        .map(|w| w.title)
        .collect();
    assert_eq!(names, ["Calculator"]);
}

/// A window with a button that raises another app's window; returns once the window is open.
fn raiser(bed: &Bed) -> App<'_> {
    let script = format!(
        "import subprocess, gi\n\
         gi.require_version('Gtk', '3.0')\n\
         from gi.repository import Gtk\n\
         raise_it = ['xdotool', 'search', '--name', '{TITLE}', 'windowactivate', '--sync']\n\
         button = Gtk.Button(label='Ask')\n\
         button.connect('clicked', lambda _: subprocess.run(raise_it, timeout=10))\n\
         window = Gtk.Window(title='Raiser')\n\
         window.set_default_size(300, 200)\n\
         window.add(button)\n\
         window.show_all()\n\
         Gtk.main()\n"
    );
    let mut command = bed.command("/usr/bin/python3");
    command.arg("-c").arg(script);
    App::start_when(bed, command, |w| w.title == "Raiser")
}

/// The accessibility bus has the name that an app gives itself, but the system knows the app's
/// script.
#[test]
fn an_app_that_takes_another_name_is_still_blocked() {
    let bed = Bed::new();
    let script = bed.path("vault.py");
    let lines = "import gi\n\
         gi.require_version('Gtk', '3.0')\n\
         from gi.repository import GLib, Gtk\n\
         GLib.set_prgname('Calculator')\n\
         GLib.set_application_name('Calculator')\n\
         window = Gtk.Window(title='Sums')\n\
         window.add(Gtk.Button(label='Open'))\n\
         window.show_all()\n\
         Gtk.main()\n";
    fs::write(&script, lines).unwrap();
    let mut command = bed.command("/usr/bin/python3");
    command.arg(&script);
    let app = App::start_when(&bed, command, |w| w.title == "Sums");
    let link = bed.path("sums");
    std::os::unix::fs::symlink(&script, &link).unwrap();
    for bounds in [["--deny-app", "vault"], ["--allow-app", "Calculator"]] {
        let server = bed.server(&bounds);
        let calls = [
            (CLICK, json!({"pid": app.pid, "element": "Open"})),
            ("refresh_traversal", json!({"pid": app.pid})),
            (OPEN, json!({"identifier": "Sums"})),
            (
                OPEN,
                json!({"identifier": format!("python3 {}", link.display())}),
            ),
        ];
        for (tool, arguments) in calls {
            let refused = server.call(tool, arguments);
            assert!(refused.error().contains("blocked"), "{tool}: {refused}");
        }
        let listed = server.applications().ok();
        assert!(!listed.text.contains("Sums"), "{listed}");
    }
    // The name belongs to the installed app, so that one opens.
    let server = bed.server(&["--allow-app", "gnome-calculator"]);
    let opened = server.open("Calculator").ok();
    assert_ne!(opened.pid(), app.pid);
    let free = bed.server(&["--allow-app", script.to_str().unwrap()]);
    let read = free.refresh(app.pid).ok();
    assert_eq!(read.field("app"), "Calculator");
    // A server with these bounds does not open the files of that call either.
    let file = read.field("file").to_owned();
    for bounds in [["--deny-app", "vault"], ["--allow-app", "Calculator"]] {
        let search = json!({"pattern": "Open", "file": file});
        let refused = bed.server(&bounds).call("search_tree", search);
        assert!(refused.error().contains("blocked"), "{refused}");
    }
}

/// An app may name objects of another one as parts of its own tree.
#[test]
fn an_app_that_shows_objects_of_a_blocked_app_is_blocked_too() {
    let bed = Bed::new();
    let denied = bed.widgets(Toolkit::Gtk3);
    let app = bed.hostile("Shows");
    let press = json!({"pid": app.pid, "element": "Bold"});
    let own = concat!(env!("CARGO_MANIFEST_DIR"), "/apps/hostile.py");
    for bounds in [["--deny-app", "gtk3.py"], ["--allow-app", own]] {
        let server = bed.server(&bounds);
        for tool in [CLICK, "press_ax_and_traverse"] {
            let refused = server.call(tool, press.clone());
            assert!(refused.error().contains("is blocked"), "{tool}: {refused}");
            assert!(!refused.text.contains("Bold"), "{tool}: {refused}");
        }
    }
    assert_eq!(denied.log(), [""; 0]);
    bed.server(&[]).call("press_ax_and_traverse", press).ok();
    denied.wait_for("toggled Bold true");
}

#[test]
fn no_text_goes_to_a_blocked_app_that_a_click_opens_and_no_title_shows() {
    let bed = Bed::new();
    let mut private = bed.zenity(&["--entry", "--title", TITLE]);
    let raiser = raiser(&bed).at(900, 100);
    let server = bed.server(&["--deny-app", "zenity"]);
    raiser.bring_to_front();
    let ask = json!({"pid": raiser.pid, "element": "Ask"});
    let mut fused = ask.clone();
    fused["text"] = "hello".into();
    fused["pressKey"] = "Return".into();
    let refused = server.call(CLICK, fused);
    assert!(refused.error().contains("blocked"), "{refused}");
    assert!(private.is_running(), "the dialog was accepted");
    // A click alone does not act in the other app, but that app's title must not be shown.
    raiser.bring_to_front();
    let clicked = server.call(CLICK, ask).ok();
    assert_eq!(bed.screen().front(), private.window.id);
    assert!(clicked.get("app_switch").is_some(), "{clicked}");
    let listed = server.applications().ok();
    // The other app comes to the front between click and text.
    let watcher = Watcher::on(&bed);
    let text = "abcdefghij".repeat(300);
    let call = server.send(
        "type_and_traverse",
        json!({"pid": raiser.pid, "text": text}),
    );
    let mut typed = 0;
    while typed < 100 {
        typed += watcher.strokes().iter().filter(|s| s.synthetic).count();
    }
    private.bring_to_front();
    let stopped = call.answer(Duration::from_secs(30)).expect("an answer");
    let whose = format!("pid {}", private.pid);
    assert!(stopped.error().contains(&whose), "{stopped}");
    for answer in [refused, clicked, listed, stopped] {
        assert!(!answer.text.contains(TITLE), "{answer}");
    }
    for entry in fs::read_dir(bed.journal()).unwrap() {
        let path = entry.unwrap().path();
        let content = fs::read(&path).unwrap_or_default();
        let shown = content.windows(TITLE.len()).any(|w| w == TITLE.as_bytes());
        assert!(!shown, "{}", path.display());
    }
    assert!(private.log().is_empty(), "{:?}", private.log());
}
