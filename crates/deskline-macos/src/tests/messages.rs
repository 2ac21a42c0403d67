//! How many messages a link sends to other processes.

use std::collections::BTreeMap;

use super::desk::{Desk, Expect, MAIL, has};

/// A window with 250 elements, of which 100 are visible and 150 are in closed menus.
pub(super) fn large() -> Desk {
    let desk = Desk::new();
    let mut world = desk.mac.world();
    for n in 0..90 {
        let (column, row) = (f64::from(n % 10), f64::from(n / 10));
        let at = [110.0 + 55.0 * column, 210.0 + 20.0 * row, 50.0, 18.0];
        world.add(desk.window, "AXButton", &format!("button {n}"), at);
    }
    let root = world.apps[&MAIL].root;
    let bar = world.add(root, "AXMenuBar", "", [0.0, 0.0, 1_440.0, 24.0]);
    for menu in 0..6 {
        let left = 50.0 * f64::from(menu);
        let title = format!("Menu {menu}");
        let title = world.add(bar, "AXMenuBarItem", &title, [left, 0.0, 40.0, 24.0]);
        let open = world.add(title, "AXMenu", "", [left, 24.0, 200.0, 500.0]);
        for n in 0..23 {
            let at = [left, 24.0 + 20.0 * f64::from(n), 200.0, 20.0];
            world.add(open, "AXMenuItem", &format!("item {menu}.{n}"), at);
        }
    }
    drop(world);
    desk
}

fn counted(messages: &BTreeMap<&'static str, u64>) -> u64 {
    messages.values().sum()
}

#[test]
fn a_link_on_250_elements_costs_a_bounded_number_of_messages() {
    let mut desk = large();
    // The first reading asks for the app's page, if it has one.
    desk.refresh();
    desk.mac.world().messages.clear();
    desk.click_on("Send", "AXButton").ok();
    let messages = desk.mac.world().messages.clone();
    println!("a click: {} messages: {messages:?}", counted(&messages));
    // One reading of all elements, one of the visible ones (100 and the app), and their containers.
    assert!(messages["attributes"] < 420, "{messages:?}");
    assert!(
        messages.get("apps").copied().unwrap_or(0) <= 8,
        "{messages:?}"
    );
    assert!(counted(&messages) < 520, "{messages:?}");
}

/// Hidden elements are not read again, unless an event named them.
#[test]
fn a_closed_menu_that_an_event_named_is_read_again() {
    let mut desk = large();
    let (send, item) = {
        let world = desk.mac.world();
        let is = |n: &crate::os::fake::Node| {
            n.attributes.get("AXTitle") == Some(&crate::os::fake::text("item 3.7"))
        };
        let found = world.nodes.iter().find(|(_, n)| is(n)).map(|(id, _)| *id);
        (desk.send, found.unwrap())
    };
    desk.mac.world().node(send).pressed = Some(std::sync::Arc::new(move |world| {
        world.set(item, "AXTitle", crate::os::fake::text("item 3.7 is new"));
    }));
    let answer = desk.click_on("Send", "AXButton");
    let tree = super::desk::tree(&answer);
    has(&tree, "AXTitle: \"item 3.7\" -> \"item 3.7 is new\"");
}
