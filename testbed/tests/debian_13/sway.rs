//! sway 1.10: windows over each other, layouts, menus behind other windows.

use deskline_testbed::{Compositor, Lack, Session, Toolkit};

use crate::menus;

#[test]
fn sway_keeps_the_promises_of_every_desktop() {
    let session = Session::new(Compositor::Sway);
    let (_, server, [app, ..]) = session.keeps_all_but(&[Lack::Guard], Toolkit::DEBIAN_13);
    // The person's layout does not affect the text that the agent types.
    session.sway("input * xkb_layout ru");
    server.set_value(app.pid(), "AXTextField", "Name", "").ok();
    server.types_and_types_over(&app, "Yz äß ěİ Жя 漢");
    session.sway("input * xkb_layout us");
}

#[test]
fn an_item_of_a_menu_behind_is_clicked() {
    menus::a_menu_behind_is_clicked(Compositor::Sway);
}

/// sway as Deskline itself starts it.
#[test]
fn a_private_desktop_is_driven() {
    let desktop = Session::new(Compositor::Private);
    let server = desktop.server_with(&["--attended"]);
    let apps = Toolkit::DEBIAN_13.map(|toolkit| desktop.widgets(toolkit, &server));
    for app in &apps {
        server.clicks_are_exact(app, "a private desktop");
        server.types_and_types_over(app, "Grüße, 漢字 😀");
    }
    server.menu_item_is_clicked(&apps[2]);
    server.turns_the_wheel(&apps[2]);
    drop(apps);
    desktop.pastes(&Toolkit::DEBIAN_13);
}
