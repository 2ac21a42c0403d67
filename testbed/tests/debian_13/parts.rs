//! Parts of a Wayland desktop that are no windows: the tray, notifications.

use deskline_testbed::{Compositor, Session, Setup, Toolkit, until};

/// The items of Qt's tray are known to a watcher, here sway's bar.
#[test]
fn an_item_of_the_tray_is_listed_and_its_menu_pressed_over_the_bus() {
    let session = Setup::debian_13(Compositor::Sway).bar().start();
    let server = session.server();
    let persons = session.widgets(Toolkit::Gtk3, &server);
    let mut wait = session.command("gdbus");
    let watcher = "org.kde.StatusNotifierWatcher";
    wait.args(["wait", "--session", "--timeout=20", watcher]);
    assert!(wait.status().unwrap().success());
    let log = session.folder().join("tray.log");
    let mut command = session.command("/usr/bin/python3");
    command.arg("-B").arg(session.folder().join("tray.py"));
    command.arg(&log).env_remove("AT_SPI_BUS_ADDRESS");
    let app = session.app(command, log);
    app.wait_for("ready");
    until("the item in the list", || {
        let list = server.applications().ok().text;
        let pid = format!("(PID: {})", app.pid());
        let line = list.lines().find(|line| line.contains(&pid))?;
        line.contains("(tray)").then_some(())
    });
    let read = server.refresh(app.pid()).ok();
    let mute = read.line_of("AXMenuItem", "Mute").to_string();
    assert!(mute.contains("checked"), "{mute}");
    for (role, element, logged) in [
        ("AXMenuItem", "Write to Bob", "Bob"),
        ("AXMenuItem", "Mute", "mute False"),
        ("AXMenuBarItem", "tray.py", "activated"),
    ] {
        server.press_ax(app.pid(), role, element).ok();
        app.wait_for(logged);
    }
    assert!(server.has_in_front(&persons));
}

/// GNOME Shell draws its notifications itself. Its tree has their texts, but their buttons have no
/// action, and it is no window that could be clicked.
#[test]
fn a_notification_of_gnome_is_read_and_its_button_refused() {
    let session = Session::new(Compositor::Gnome).ends_with_the_test();
    let server = session.server();
    let persons = session.widgets(Toolkit::Gtk3, &server);
    let mut notify = session.command("gdbus");
    let name = "org.freedesktop.Notifications";
    notify.args(["call", "--session", "--dest", name]);
    notify.args(["--object-path", "/org/freedesktop/Notifications"]);
    notify.args(["--method", "org.freedesktop.Notifications.Notify"]);
    notify.args(["Mail", "0", "", "Mail", "Ada has written"]);
    notify.args(["['open', 'Open it']", "{}", "0"]);
    assert!(notify.status().unwrap().success());
    let shell = session.compositor();
    let read = until("the notification in the shell's tree", || {
        let read = server.refresh(shell);
        read.find("AXStaticText", "Ada has written").map(|_| read)
    });
    read.line_of("AXButton", "Open it");
    let refused = server.press_ax(shell, "AXButton", "Open it");
    refused.fails_with("it has no action");
    assert!(server.has_in_front(&persons));
}
