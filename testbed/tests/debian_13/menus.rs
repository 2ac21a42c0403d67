//! Menus of GTK 3, which on Wayland ignores a click in a menu within 500 ms of the click that has
//! opened it, and does not report the position of its context menus.

use deskline_testbed::{
    Answer, Client, Compositor, NativeApp, Session, Setup, Toolkit, tests, until,
};
use serde_json::json;

tests! {
    menu_items_are_clicked_on_sway => menus_are_clicked(Compositor::Sway),
    menu_items_are_clicked_on_labwc => menus_are_clicked(Compositor::Labwc),
    menu_items_are_clicked_on_kwin => menus_are_clicked(Compositor::Kwin),
    // Here the menu bar is below a header bar, and GTK 3 reports the bounds of its menus relative
    // to the menu bar.
    menu_items_are_clicked_on_gnome => menus_are_clicked(Compositor::Gnome),
}

fn items_are_clicked_right_after_the_menu_has_opened(Driven { server, app, .. }: &Driven) {
    let click = |element: &str, role: &str| {
        let click = json!({"pid": app.pid(), "element": element, "role": role});
        server.call("click_and_traverse", click).ok()
    };
    // The menu item is a check box, which each click toggles.
    for says in ["true", "false"] {
        app.clear_log();
        click("File", "AXMenuBarItem");
        let clicked = click("File option", "AXMenuItem");
        until(&format!("the item\n{clicked}"), || {
            let line = format!("menu File option {says}");
            app.log().contains(&line).then_some(())
        });
    }
    click("Edit", "AXMenuBarItem");
    click("More", "AXMenuItem");
    let clicked = click("Deep", "AXMenuItem");
    until(&format!("the submenu's item\n{clicked}"), || {
        app.log().contains(&"menu Deep".to_owned())
    });
}

/// The extension reports the positions of pop-ups, also of menus that extend beyond the window.
#[test]
fn each_context_menu_item_is_chosen_on_gnome_with_the_extension() {
    let session = Setup::debian_13(Compositor::Gnome).extension().start();
    each_item_is_chosen(&Driven::on(session, true));
}

/// The test app, and the server that drives it.
struct Driven {
    _session: Session,
    server: Client,
    app: NativeApp,
    /// Whether the compositor lists pop-ups, so that the place of a context menu is known.
    lists: bool,
}

impl Driven {
    fn new(compositor: Compositor) -> Self {
        Self::on(Session::new(compositor), compositor == Compositor::Kwin)
    }

    fn on(session: Session, lists: bool) -> Self {
        let server = session.server();
        let app = session.widgets(Toolkit::Gtk3, &server);
        Self {
            _session: session,
            server,
            app,
            lists,
        }
    }

    /// Opens the context menu of an element.
    fn open_at(&self, element: &str, role: &str) {
        let click = json!({"element": element, "role": role, "rightClick": true});
        self.server
            .call_for(&self.app, "click_and_traverse", click)
            .ok();
    }

    /// Clicks an item, or presses it if clicks are refused because its place is unknown.
    fn item(&self, name: &str) -> Answer {
        let item = json!({"element": name, "role": "AXMenuItem"});
        let call = |tool: &str| self.server.call_for(&self.app, tool, item.clone());
        let clicked = call("click_and_traverse");
        if self.lists {
            return clicked.ok();
        }
        assert!(clicked.error().contains("press_ax"), "{clicked}");
        call("press_ax_and_traverse").ok()
    }

    /// Chooses an item, which the app logs.
    fn choose(&self, name: &str) {
        self.app.clear_log();
        self.logs(name, &self.item(name));
    }

    /// Waits until the app logs an item, which must be this one.
    fn logs(&self, name: &str, clicked: &Answer) {
        until(&format!("{name}\n{clicked}"), || {
            let log = self.app.log();
            let chosen = log.iter().find(|line| line.starts_with("context "))?;
            assert_eq!(chosen, &format!("context {name}"), "{clicked}");
            Some(())
        });
    }
}

/// Elements: name, role, and a part of the names of its context menu's items. In the toolkit, the
/// list and the table are windows of their own.
type Menu = (&'static str, &'static str, &'static str);

const ROWS: Menu = ("Row 3", "AXStaticText", "rows");
const ITEMS: Menu = ("Item 4", "AXCell", "items");

fn menus_are_clicked(compositor: Compositor) {
    let driven = Driven::new(compositor);
    items_are_clicked_right_after_the_menu_has_opened(&driven);
    each_item_is_chosen(&driven);
}

fn each_item_is_chosen(driven: &Driven) {
    for (element, role, name) in [ROWS, ITEMS] {
        driven.open_at(element, role);
        driven.choose(&format!("Paste {name}"));
        driven.open_at(element, role);
        driven.item(&format!("More {name}"));
        driven.choose(&format!("Third {name}"));
    }
    text_is_selected_by_the_fields_own_menu(driven);
}

fn text_is_selected_by_the_fields_own_menu(driven: &Driven) {
    let Driven { server, app, .. } = driven;
    for (field, role) in [("Name", "AXTextField"), ("Notes", "AXTextArea")] {
        server.fill(app.pid(), role, field, "all of this").ok();
        app.wait_for(&format!("text {field} all of this"));
        driven.open_at(field, role);
        driven.item("Select All");
        server.type_text(app.pid(), "x").ok();
        app.wait_for(&format!("text {field} x"));
    }
}

/// The person's window is restored only once the menu is closed, because restoring it would close
/// the menu.
pub fn a_menu_behind_is_clicked(compositor: Compositor) {
    let session = Session::new(compositor);
    let server = session.server();
    let apps = [Toolkit::Gtk4, Toolkit::Qt6].map(|t| (t, session.widgets(t, &server)));
    let front = session.widgets(Toolkit::Gtk3, &server);
    for (toolkit, app) in &apps {
        assert!(server.has_in_front(&front));
        server.click(app.pid(), "AXMenuBarItem", "File").ok();
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
