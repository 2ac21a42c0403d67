//! Menus of GTK 3, which on Wayland ignores a click in a menu within 500 ms of the click that has opened it.

use deskline_testbed::{Compositor, Session, Toolkit, until};
use serde_json::json;

#[test]
fn sway() {
    items_are_clicked_right_after_the_menu_has_opened(Compositor::Sway);
}

#[test]
fn kwin() {
    items_are_clicked_right_after_the_menu_has_opened(Compositor::Kwin);
}

fn items_are_clicked_right_after_the_menu_has_opened(compositor: Compositor) {
    let session = Session::new(compositor);
    let server = session.server();
    let app = session.widgets(Toolkit::Gtk3, &server);
    let click = |element: &str, role: &str| {
        let click = json!({"pid": app.pid(), "element": element, "role": role});
        server.call("click_and_traverse", click).ok()
    };
    // The item is a check box of a menu: each click turns it.
    for says in ["true", "false", "true", "false", "true"] {
        app.clear_log();
        click("File", "AXMenuBarItem");
        let clicked = click("File option", "AXMenuItem");
        until(&format!("the item\n{clicked}"), || {
            let line = format!("menu File option {says}");
            app.log().contains(&line).then_some(())
        });
    }
}
