//! sway 1.10: forms, drags and menus behind other windows.

use deskline_testbed::{Compositor, Session, Toolkit, until};
use serde_json::json;

use crate::shared;

#[test]
fn forms_and_drags() {
    let session = Session::new(Compositor::Sway);
    let server = session.server();
    for toolkit in Toolkit::DEBIAN_13 {
        let app = session.widgets(toolkit, &server);
        shared::a_form_is_filled(&server, &app);
        shared::a_drag_begins_and_ends_where_it_should(&server, &app);
    }
}

/// The person's window comes back once the menu is closed: before, it would close it.
#[test]
fn a_menu_opens_behind_by_a_click_and_its_item_is_clicked() {
    let session = Session::new(Compositor::Sway);
    let server = session.server();
    let apps = [Toolkit::Gtk4, Toolkit::Qt6].map(|t| (t, session.widgets(t, &server)));
    let front = session.widgets(Toolkit::Gtk3, &server);
    for (toolkit, app) in &apps {
        assert!(server.has_in_front(&front));
        let file = json!({"element": "File", "role": "AXMenuBarItem"});
        server.call_for(app, "click_and_traverse", file).ok();
        assert!(server.has_in_front(app));
        let option = json!({"element": "File option", "role": "AXMenuItem"});
        let clicked = server.call_for(app, "click_and_traverse", option).ok();
        until(&format!("the item, {toolkit:?}\n{clicked}"), || {
            let line = "menu File option true".to_owned();
            app.log().contains(&line).then_some(())
        });
    }
    assert!(server.has_in_front(&front));
}
