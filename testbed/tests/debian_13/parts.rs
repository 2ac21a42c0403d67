//! Parts of a Wayland desktop that are no windows: the tray, notifications.

use deskline_testbed::{Compositor, Session, Setup, Toolkit, until};

/// The items of Qt's tray are known to a watcher, here sway's bar.
#[test]
fn an_item_of_the_tray_is_listed_and_its_menu_pressed_over_the_bus() {
    let session = Setup::debian_13(Compositor::Sway).bar().start();
    session.uses_the_tray();
}

#[test]
fn an_item_of_the_tray_is_pressed_on_kwin_and_gnome() {
    for setup in [
        Setup::debian_13(Compositor::Kwin),
        Setup::debian_13(Compositor::Gnome),
        Setup::debian_13(Compositor::Gnome).extension(),
    ] {
        let session = setup.start();
        let _watcher = session.watcher();
        session.uses_the_tray();
    }
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

#[test]
fn the_server_goes_on_after_the_compositor_restarts() {
    for compositor in [Compositor::Kwin, Compositor::Gnome] {
        Session::new(compositor).server_outlives_the_compositor();
    }
}
