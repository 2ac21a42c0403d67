//! Parts of an app that answer slowly: closed menus, and other processes that draw for it.

use std::time::Duration;

use deskline_link::Action;

use super::desk::{Desk, Expect, MAIL, has, tree};
use crate::os::fake::text;
use deskline_input::clock::Instant;

#[test]
fn a_closed_menu_that_does_not_answer_stops_no_link() {
    let mut desk = Desk::new();
    desk.given(|world| {
        let (_, item) = world.menu_bar(MAIL, "Services", std::sync::Arc::new(|_| {}));
        let menu = world.node(item).parent;
        world.node(menu).hangs = true;
    });
    let start = Instant::now();
    let answer = desk.click_on("Send", "AXButton").ok();
    has(tree(&answer), "partial");
    assert!(start.elapsed() < Duration::from_secs(4));
}

/// A tab of Safari is drawn by another process.
#[test]
fn a_page_that_hangs_is_left_out_and_its_browser_is_read() {
    let mut desk = Desk::new();
    let window = desk.window;
    desk.given(|world| {
        let root = world.app(800, "WebContent", "/System/WebContent.xpc".into());
        let page = world.add(root, "AXWebArea", "page", [100.0, 300.0, 600.0, 200.0]);
        let link = world.add(page, "AXLink", "Home", [110.0, 310.0, 60.0, 20.0]);
        for id in [page, link] {
            world.node(id).hangs = true;
        }
        world.node(page).parent = window;
        world.node(window).children.push(page);
    });
    let answer = desk.run(Action::Refresh).ok();
    let tree = tree(&answer);
    has(&tree, "\"Send\"");
    has(&tree, "# partial");
}

/// System Settings, with a pane that another process draws.
fn settings(pane: &str) -> Desk {
    let desk = Desk::new();
    let window = desk.window;
    let mut world = desk.mac.world();
    world.apps.get_mut(&MAIL).unwrap().bundle_id = Some("com.apple.systempreferences".into());
    let root = world.app(800, pane, "/System/Pane.appex".into());
    world.apps.get_mut(&800).unwrap().regular = false;
    let place = [100.0, 300.0, 600.0, 200.0];
    let switch = world.add(root, "AXCheckBox", "Terminal", place);
    world.set(switch, "AXValue", text("0"));
    world.node(switch).parent = window;
    world.node(window).children.push(switch);
    drop(world);
    desk
}

#[test]
fn the_settings_panes_that_grant_permissions_are_blocked() {
    let mut desk = settings("SecurityPrivacyExtension");
    desk.click_on("Terminal", "AXCheckBox")
        .fails_with("--allow-app");
    assert!(desk.mac.world().reached.is_empty());
    let answer = desk.run(Action::Refresh);
    assert!(answer.is_error, "{}", answer.text);
    // Other panes are not blocked.
    let mut desk = settings("WallpaperSettings");
    desk.click_on("Terminal", "AXCheckBox");
    assert!(!desk.mac.world().reached.is_empty());
}
