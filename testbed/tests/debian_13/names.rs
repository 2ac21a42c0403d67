//! The names of GTK 4.18's elements, some of which come only from a label.

use deskline_testbed::{Compositor, Session, Toolkit, until};
use serde_json::json;

/// The items of an open menu have no name on the bus, and their labels are in no container's list.
#[test]
fn menu_items_are_named_by_their_labels() {
    let session = Session::new(Compositor::Sway);
    let server = session.server();
    let app = session.widgets(Toolkit::Gtk4, &server);
    let pid = app.pid();
    let opened = server.click(pid, "AXMenuBarItem", "File").ok();
    for name in ["New", "Close", "File option"] {
        assert!(
            opened.find("AXMenuItem", name).is_some(),
            "{name}\n{opened}"
        );
    }
    let search = json!({"pattern": "AXMenuItem.*Close"});
    let found = server.call("search_tree", search).ok();
    assert!(found.text.contains("\"Close\""), "{found}");
    server.press_ax(pid, "AXMenuItem", "Close").ok();
    app.wait_for("menu Close");
}

/// The items of libadwaita's menus, which a button opens, are named by their labels too.
#[test]
fn a_calculators_menu_is_used() {
    let session = Session::new(Compositor::Sway);
    let server = session.server();
    let log = session.folder().join("calculator.log");
    let app = session.app(session.command("/usr/bin/gnome-calculator"), log);
    let pid = app.pid();
    let shows = |role: &str, name: &str| {
        until(name, || {
            let read = server.refresh(pid);
            let shows = !read.is_error && read.find(role, name).is_some_and(|line| line.visible);
            shows.then_some(())
        });
    };
    shows("AXButton", "Basic");
    server.click(pid, "AXButton", "Basic").ok();
    shows("AXMenuItem", "Programming");
    server.press_ax(pid, "AXMenuItem", "Programming").ok();
    shows("AXButton", "Programming");
}
