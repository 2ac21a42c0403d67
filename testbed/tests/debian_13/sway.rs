//! sway 1.10: forms, drags and menus behind other windows.

use deskline_testbed::{Compositor, Session, Toolkit};

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

#[test]
fn a_menu_opens_behind_by_a_click_and_its_item_is_clicked() {
    shared::a_menu_behind_is_clicked(Compositor::Sway);
}
