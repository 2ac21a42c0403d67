//! Answers about apps that end and apps that are busy.

#![allow(clippy::unwrap_used)]

use std::time::{Duration, Instant};

use deskline_testbed::{Bed, Client, has, signal, until};
use rustix::process::Signal;
use serde_json::json;

/// Opens a script as an app.
fn open_script(bed: &Bed, server: &Client, script: &str) -> u32 {
    let path = bed.path("app.py");
    std::fs::write(&path, script).unwrap();
    server
        .open(&format!("/usr/bin/python3 {}", path.display()))
        .ok()
        .pid()
}

#[test]
fn the_end_of_an_app_that_quits_is_reported_with_its_status() {
    let (_bed, server) = Bed::with_server();
    let pid = server.open("mousepad").ok().pid();
    let answer = server.press_key(pid, "q", &["Control"]).ok();
    let message = answer.field("summary");
    has(message, "The process ended (exit status 0)");
    let later = server.refresh(pid);
    let message = later.error();
    has(message, "is gone. The process ended (exit status 0)");
}

/// A crash between two calls, of an app that Deskline has started and of another app.
#[test]
fn a_crash_is_reported_with_its_signal() {
    let (bed, server) = Bed::with_server();
    let open = json!({"identifier": "gnome-calculator"});
    let pid = server
        .call("open_application_and_traverse", open)
        .ok()
        .pid();
    signal(pid, Signal::ABORT);
    for _ in 0..2 {
        let message = server.refresh(pid);
        let message = message.error();
        has(message, "The process ended (signal 6, SIGABRT: it crashed)");
    }
    let message = server.click(pid, "AXButton", "7");
    assert!(message.error().contains("signal 6"), "{}", message.text);

    let (mut notes, _) = bed.mousepad("");
    server.refresh(notes.pid).ok();
    signal(notes.pid, Signal::SEGV);
    until("its end", || !notes.is_running());
    server
        .refresh(notes.pid)
        .fails_with("The process ended. Call open");
}

/// The office suite's process is a child of its launcher, which passes the signal on as a status.
#[test]
fn a_crash_of_an_office_suite_is_reported_with_its_signal() {
    let (_bed, server) = Bed::with_server();
    // The app may be too busy to answer while it starts.
    let pid = server.open("soffice --norestore --calc").pid();
    until("its tree", || {
        let tree = server.refresh(pid);
        (!tree.is_error).then_some(())
    });
    signal(pid, Signal::ABORT);
    server
        .refresh(pid)
        .fails_with("The process ended (signal 6");
}

/// The app sleeps in the handler of its button, and answers no requests meanwhile.
#[test]
fn a_press_that_keeps_the_app_busy_counts_as_done_and_can_be_awaited() {
    let (bed, server) = Bed::with_server();
    let script = r#"
import gi, time
gi.require_version("Gtk", "3.0")
from gi.repository import Gtk
window = Gtk.Window(title="Busy")
button = Gtk.Button(label="Work")
def work(button):
    time.sleep(6)
    button.set_label("Done")
button.connect("clicked", work)
window.add(button)
window.show_all()
Gtk.main()
"#;
    let pid = open_script(&bed, &server, script);
    let answer = server.press_ax(pid, "AXButton", "Work").ok();
    let message = answer.field("summary");
    assert!(message.starts_with("Pressed 'Work'"), "{message}");
    assert!(message.contains("The app is busy"), "{message}");
    let start = Instant::now();
    let wait = json!({"pid": pid, "element": "Done", "timeout": 20});
    let answer = server.call("wait_for_and_traverse", wait).ok();
    assert!(answer.find("AXButton", "Done").is_some(), "{}", answer.text);
    assert!(start.elapsed() > Duration::from_secs(1));
}

/// The handlers of the menu item and of the check box run the dialog in a main loop of its own
/// (`gtk_dialog_run`), inside the call of the press.
#[test]
fn a_dialog_takes_keys_while_the_press_that_opened_it_hangs() {
    let (bed, server) = Bed::with_server();
    let log = bed.path("log");
    let script = r#"
import gi
gi.require_version("Gtk", "3.0")
from gi.repository import Gtk
window = Gtk.Window(title="Map")
def ask(widget):
    dialog = Gtk.Dialog(title="Name it", transient_for=window, modal=True)
    entry = Gtk.Entry(activates_default=True)
    dialog.get_content_area().add(entry)
    dialog.add_button("Name", Gtk.ResponseType.OK)
    dialog.set_default_response(Gtk.ResponseType.OK)
    dialog.show_all()
    dialog.run()
    with open("LOG", "a") as log:
        print(entry.get_text(), file=log)
    dialog.destroy()
item = Gtk.MenuItem(label="Town")
item.connect("activate", ask)
menu = Gtk.Menu()
menu.append(item)
top = Gtk.MenuItem(label="Add", submenu=menu)
bar = Gtk.MenuBar()
bar.append(top)
check = Gtk.CheckButton(label="River")
check.connect("toggled", ask)
box = Gtk.Box(orientation=Gtk.Orientation.VERTICAL)
box.add(bar)
box.add(check)
window.add(box)
window.show_all()
Gtk.main()
"#;
    let script = script.replace("LOG", log.to_str().unwrap());
    let pid = open_script(&bed, &server, &script);
    let (person, _) = bed.mousepad("");
    person.bring_to_front();
    let front = bed.screen().front();
    for (role, element, name) in [
        ("AXMenuItem", "Town", "Ulm"),
        ("AXCheckBox", "River", "Inn"),
    ] {
        let answer = server.press_ax(pid, role, element).ok();
        has(answer.field("dialog"), "Name it");
        assert_eq!(bed.screen().front(), front);
        let arguments = json!({"pid": pid, "text": name, "pressKey": "Return"});
        let answer = server.call("type_and_traverse", arguments).ok();
        has(answer.field("summary"), name);
        until("the name in the log", || {
            std::fs::read_to_string(&log).is_ok_and(|log| log.ends_with(&format!("{name}\n")))
        });
    }
}

/// Two threads compute for three seconds, and the main thread answers meanwhile: KeePassXC does so
/// while it derives a key.
#[test]
fn an_app_that_computes_is_busy_and_has_not_settled() {
    let (bed, server) = Bed::with_server();
    let script = r#"
import gi, hashlib, threading
gi.require_version("Gtk", "3.0")
from gi.repository import Gtk, GLib
window = Gtk.Window(title="Keys")
button = Gtk.Button(label="Unlock")
def derive():
    for _ in range(2):
        hashlib.pbkdf2_hmac("sha512", b"secret", b"salt", 3_000_000)
    GLib.idle_add(lambda: button.set_label("Unlocked"))
button.connect("clicked", lambda button: threading.Thread(target=derive).start())
window.add(button)
window.show_all()
Gtk.main()
"#;
    let pid = open_script(&bed, &server, script);
    let answer = server.click(pid, "AXButton", "Unlock").ok();
    let message = answer.field("summary");
    assert!(message.contains("The app is still busy after"), "{message}");
    let wait = json!({"pid": pid, "element": "Unlocked", "timeout": 30});
    server.call("wait_for_and_traverse", wait).ok();
}
