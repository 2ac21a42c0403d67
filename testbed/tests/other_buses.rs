//! Which process owns a window and a tree: apps behind proxies of the accessibility bus, on the bus
//! twice or on another bus, apps of another user, and a server or a desktop in a process namespace.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use deskline_testbed::{Bed, Client, Running, Window, until};
use serde_json::json;

fn start(command: &mut Command) -> Running {
    Running(command.stdin(Stdio::null()).spawn().unwrap())
}

fn window(bed: &Bed, title: &str) -> Window {
    until(&format!("a window {title}"), || {
        let mut windows = bed.screen().windows().into_iter();
        windows.find(|w| w.title.contains(title))
    })
}

/// mousepad with this file, once its window is visible.
fn mousepad(bed: &Bed, mut command: Command, file: &str) -> (Running, Window) {
    let path = bed.path(file);
    fs::write(&path, "").unwrap();
    let app = start(command.args(["--disable-server"]).arg(&path));
    (app, window(bed, file))
}

/// The last of a chain of processes, each of which has started one.
fn innermost(pid: u32) -> u32 {
    let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap();
    let child = children.split_whitespace().next();
    child.map_or(pid, |child| innermost(child.parse().unwrap()))
}

/// Types into the file of a mousepad that is behind the person's window, and saves it.
fn writes(bed: &Bed, server: &Client, pid: u32, file: &str, text: &str) {
    let front = bed.screen().front();
    let keys = json!({"pid": pid, "text": text, "pressKey": "s", "pressKeyModifiers": ["Control"]});
    until("its tree", || {
        let read = server.refresh(pid);
        (!read.is_error).then_some(())
    });
    server.call("type_and_traverse", keys).ok();
    until("the saved text", || {
        fs::read_to_string(bed.path(file)).unwrap().trim() == text
    });
    assert_eq!(bed.screen().front(), front, "the person's window");
}

fn listed(server: &Client, pid: u32) {
    let list = server.applications().text;
    assert!(list.contains(&format!("mousepad (PID: {pid})")), "{list}");
}

/// A command that runs its arguments with a root like that of this instance of a Flatpak.
fn in_flatpak(bed: &Bed, instance: u32) -> Command {
    let info = bed.path(&format!("info-{instance}"));
    let text =
        format!("[Application]\nname=org.xfce.mousepad\n\n[Instance]\ninstance-id={instance}\n");
    fs::write(&info, text).unwrap();
    let mut command = bed.command("bwrap");
    command.arg("--die-with-parent");
    for entry in fs::read_dir("/").unwrap() {
        let path = entry.unwrap().path();
        match fs::read_link(&path) {
            Ok(to) => command.arg("--symlink").arg(to).arg(path),
            Err(_) => command.arg("--dev-bind").arg(&path).arg(&path),
        };
    }
    command.arg("--ro-bind").arg(info).arg("/.flatpak-info");
    command
}

#[test]
fn apps_in_sandboxes_or_twice_on_the_bus_are_driven() {
    let (bed, server) = Bed::with_server();
    // The same setup as Flatpak's: proxies of both buses, and namespaces.
    let behind = |n: u32, network: bool| {
        let sockets = ["a11y", "session"].map(|bus| bed.path(&format!("{bus}-{n}")));
        let mut proxy = in_flatpak(&bed, n);
        proxy.arg("xdg-dbus-proxy");
        proxy.arg(bed.accessibility()).arg(&sockets[0]);
        proxy.arg(&bed.environment()["DBUS_SESSION_BUS_ADDRESS"]);
        proxy
            .arg(&sockets[1])
            .args(["--filter", "--talk=org.a11y.Bus"]);
        let proxy = start(&mut proxy);
        until("the proxy's sockets", || {
            sockets.iter().all(|socket| socket.exists())
        });
        let mut command = in_flatpak(&bed, n);
        command.args(["--unshare-pid", "--unshare-ipc", "--proc", "/proc"]);
        command.args((!network).then_some("--unshare-net"));
        // Many Flatpaks start by a script.
        command.args(["sh", "-c", "mousepad \"$@\"; true", "sh"]);
        let [a11y, session] = sockets.map(|socket| format!("unix:path={}", socket.display()));
        command.env("AT_SPI_BUS_ADDRESS", a11y);
        command.env("DBUS_SESSION_BUS_ADDRESS", session);
        (proxy, mousepad(&bed, command, &format!("behind-{n}.txt")))
    };
    let (_first, one) = behind(1, true);
    let (_second, two) = behind(2, false);
    let (_third, three) = behind(3, false);
    // A Qt app with GTK's dialogs.
    let mut qt = bed.command("featherpad");
    let qt = start(qt.env("QT_QPA_PLATFORMTHEME", "gtk3"));
    window(&bed, "Untitled");
    let _person = bed.zenity(&["--info", "--text=Mine"]);

    for (app, n) in [(&one, 1), (&two, 2), (&three, 3)] {
        let pid = innermost(app.0.0.id());
        listed(&server, pid);
        let (file, text) = (format!("behind-{n}.txt"), format!("text of {n}"));
        writes(&bed, &server, pid, &file, &text);
    }

    let pid = qt.0.id();
    server.press_key(pid, "o", &["Control"]).ok();
    let cancel = until("the dialog's elements", || {
        let read = server.refresh(pid).ok();
        read.find("AXButton", "Cancel").filter(|e| e.visible)
    });
    let cancel = cancel.reference.unwrap();
    let closed = server.call(
        "click_and_traverse",
        json!({"pid": pid, "ref": cancel.to_string()}),
    );
    closed.ok();
    until("one window of the Qt app", || {
        bed.screen().windows_of(pid).len() == 1
    });
}

#[test]
fn an_app_of_another_bus_or_user_is_explained() {
    let (bed, server) = Bed::with_server();
    let refused = |pid: u32| {
        let read = server.refresh(pid);
        read.text
    };
    let other = bed.path("other-bus");
    let address = format!("--address=unix:path={}", other.display());
    let mut daemon = bed.command("dbus-daemon");
    let _daemon = start(daemon.args(["--session", "--nofork", &address]));
    until("the other bus", || other.exists());
    let mut command = bed.command("mousepad");
    command.env(
        "AT_SPI_BUS_ADDRESS",
        format!("unix:path={}", other.display()),
    );
    let (elsewhere, _) = mousepad(&bed, command, "elsewhere.txt");
    let message = refused(elsewhere.0.id());
    assert!(message.contains("another accessibility bus"), "{message}");

    // Only root can start an app of another user.
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let cookie = Path::new("/tmp").join(format!("deskline-cookie-{}", std::process::id()));
    fs::copy(&bed.environment()["XAUTHORITY"], &cookie).unwrap();
    fs::set_permissions(&cookie, fs::Permissions::from_mode(0o644)).unwrap();
    let mut command = bed.command("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
    command.args(["zenity", "--info", "--title=Theirs"]);
    command.env("XAUTHORITY", &cookie).current_dir("/");
    let theirs = start(&mut command);
    window(&bed, "Theirs");
    fs::remove_file(&cookie).unwrap();
    let message = refused(theirs.0.id());
    assert!(message.contains("another user (uid 65534)"), "{message}");
}

/// Starts an app in a process namespace of its own.
const APART: [&str; 6] = [
    "--user",
    "--map-current-user",
    "--pid",
    "--fork",
    "--kill-child",
    "--mount-proc",
];

#[test]
fn a_server_in_a_process_namespace_drives_the_desktop() {
    let bed = Bed::new();
    let (app, file) = bed.mousepad("");
    let _person = bed.zenity(&["--info", "--text=Mine"]);
    let serve = bed.serve(&[]);
    let mut command = bed.command("unshare");
    command.args(APART).arg(serve.get_program());
    let server = Client::start({
        command.args(serve.get_args());
        command
    });
    let name = file.file_name().unwrap().to_str().unwrap();
    listed(&server, app.pid);
    writes(&bed, &server, app.pid, name, "from inside");
    let opened = server.open("kcalc").ok();
    let calculator = bed.screen().windows();
    assert!(
        calculator.iter().any(|w| w.title == "KCalc"),
        "{calculator:?}"
    );
    assert!(opened.find("AXButton", "7").is_some(), "{}", opened.text);
}

#[test]
fn a_desktop_in_a_process_namespace_is_driven_from_outside() {
    let bed = Bed::apart();
    let server = bed.server(&[]);
    let (_app, window) = mousepad(&bed, bed.command_inside("mousepad"), "inside.txt");
    let mut person = bed.command_inside("zenity");
    let _person = start(person.args(["--info", "--title=Mine"]));
    self::window(&bed, "Mine");
    listed(&server, window.pid);
    writes(&bed, &server, window.pid, "inside.txt", "from outside");
}
