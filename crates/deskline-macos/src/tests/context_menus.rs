//! Context menus of outlines, which are not children of any element.

use deskline_input::Button;
use deskline_link::call::{ClickKind, Input, Typing};
use deskline_link::{Action, Target};

use super::desk::{Desk, Expect, MAIL, has, tree};
use crate::os::Value;
use crate::os::fake::clicks;

/// How an app reports an open menu.
#[derive(Clone, Copy)]
enum By {
    Notification,
    /// In an attribute of the outline.
    Outline,
    /// In an attribute of the app.
    App,
}

/// A right-click on an outline opens a menu.
fn outline(by: By) -> Desk {
    let desk = Desk::new();
    let window = desk.window;
    desk.given(|world| {
        let at = [100.0, 200.0, 600.0, 200.0];
        let outline = world.add(window, "AXOutline", "Files", at);
        let row = world.add(outline, "AXRow", "report.txt", [100.0, 200.0, 600.0, 20.0]);
        world.node(row).pressed = Some(std::sync::Arc::new(move |world| {
            let place = [200.0, 210.0, 150.0, 60.0];
            let menu = world.add(0, "AXMenu", "", place);
            world.node(menu).pid = MAIL;
            let there = [200.0, 215.0, 150.0, 20.0];
            let item = world.add(menu, "AXMenuItem", "Move to Trash", there);
            world.node(item).pressed = Some(std::sync::Arc::new(move |world| {
                world.extra.clear();
                world.remove(menu);
            }));
            world.extra.push((MAIL, place, 101));
            let root = world.apps[&MAIL].root;
            let (of, name, value) = match by {
                By::Notification => return world.tell(MAIL, "AXMenuOpened", menu),
                By::Outline => (outline, "AXShownMenuUIElement", Value::Element(menu)),
                By::App => (root, "AXMenus", Value::Elements(vec![menu])),
            };
            world.node(of).attributes.insert(name, value);
        }));
    });
    desk
}

#[test]
fn the_items_of_an_open_context_menu_are_in_the_tree() {
    for by in [By::Notification, By::Outline, By::App] {
        let mut desk = outline(by);
        let target = Target::titled("report.txt", "AXRow");
        let kind = ClickKind {
            button: Button::Right,
            ..ClickKind::default()
        };
        let then = Typing::default();
        let click = Input::Click { target, kind, then };
        let answer = desk.run(click).ok();
        let opened = tree(&answer);
        has(&opened, "+ [AXMenuItem] \"Move to Trash\"");
        // The next call knows the menu too.
        let answer = desk.run(Action::Refresh);
        has(tree(&answer), "Move to Trash");
        let answer = desk.click_on("Move to Trash", "AXMenuItem").ok();
        assert_eq!(clicks(&desk.mac.world()).len(), 2);
        assert!(
            !tree(&answer).contains("\n [AXMenuItem]"),
            "{}",
            tree(&answer)
        );
    }
}

#[test]
fn a_context_menu_that_accessibility_does_not_list_is_reported_as_open() {
    let mut desk = Desk::new();
    desk.mac
        .world()
        .extra
        .push((MAIL, [200.0, 210.0, 150.0, 60.0], 101));
    let answer = desk.run(Action::Refresh);
    let tree = tree(&answer);
    has(&tree, "# partial: a menu or pop-up is open");
}
