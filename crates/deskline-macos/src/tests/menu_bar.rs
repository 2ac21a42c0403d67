//! The menu bar, menu extras, and apps without windows.

use std::sync::{Arc, Mutex};

use super::desk::{Desk, EDITOR, Expect, MAIL, front, has, tree};

fn noted() -> (Arc<Mutex<u32>>, crate::os::fake::Behaviour) {
    let count = Arc::new(Mutex::new(0));
    let counted = count.clone();
    (count, Arc::new(move |_| *counted.lock().unwrap() += 1))
}

#[test]
fn a_menu_of_an_app_behind_is_opened_and_its_item_clicked() {
    let mut desk = Desk::new();
    let (count, does) = noted();
    desk.mac.world().menu_bar(MAIL, "Empty Trash", does);
    desk.click_on("File", "AXMenuBarItem").ok();
    assert_eq!(front(&desk), Some(MAIL), "the menu is open");
    desk.click_on("Empty Trash", "AXMenuItem").ok();
    assert_eq!((*count.lock().unwrap(), front(&desk)), (1, Some(EDITOR)));
}

/// In full screen, or if the menu bar hides itself, the first event in the menu bar only shows it.
#[test]
fn a_menu_of_a_menu_bar_that_hides_is_opened_and_its_item_clicked() {
    let mut desk = Desk::new();
    let (count, does) = noted();
    desk.mac.world().menu_bar(MAIL, "Empty Trash", does);
    desk.mac.world().quirks.hides_menu_bar = true;
    let answer = desk.click_on("File", "AXMenuBarItem").ok();
    has(tree(&answer), "\"File\" | AXSelected: false -> true");
    desk.click_on("Empty Trash", "AXMenuItem").ok();
    assert_eq!((*count.lock().unwrap(), front(&desk)), (1, Some(EDITOR)));
    assert!(desk.mac.world().reached.is_empty(), "the mouse was used");
}

#[test]
fn a_menu_extra_is_clicked_even_if_it_is_in_no_window() {
    let mut desk = Desk::new();
    let (count, does) = noted();
    let extra = desk.mac.world().menu_extra(MAIL, "New mail");
    desk.mac.world().node(extra).pressed = Some(does);
    desk.click_on("New mail", "AXMenuBarItem").ok();
    assert_eq!(*count.lock().unwrap(), 1);
}

/// Cmd+N in an app whose last window was closed.
#[test]
fn an_app_without_windows_takes_keys_and_does_not_count_as_ended() {
    let mut desk = Desk::new();
    desk.given(|world| {
        let root = world.app(300, "Notes", "/Applications/Notes.app".into());
        let (_, does) = noted();
        world.menu_bar(300, "New Note", does);
        let new: crate::os::fake::Behaviour = Arc::new(move |world| {
            world.add(root, "AXWindow", "Untitled", [80.0, 80.0, 500.0, 400.0]);
        });
        world.apps.get_mut(&300).unwrap().shortcuts.insert(45, new);
    });
    let press = deskline_core::KeyPress::parse("n", &["Command"]).unwrap();
    let input = deskline_link::call::Input::PressKey {
        press,
        hold: std::time::Duration::ZERO,
    };
    let answer = desk.run_on(300, input).ok();
    has(tree(&answer), "+ [AXWindow] \"Untitled\"");
    assert_eq!(front(&desk), Some(EDITOR));
}

#[test]
fn an_app_that_closes_its_last_window_is_not_reported_as_ended() {
    let mut desk = Desk::new();
    let window = desk.window;
    let (_, does) = noted();
    desk.mac.world().menu_bar(MAIL, "New", does);
    desk.mac.world().node(desk.send).pressed = Some(Arc::new(move |world| world.remove(window)));
    let answer = desk.click_on("Send", "AXButton").ok();
    let tree = tree(&answer);
    has(&tree, "- [AXWindow] \"New Message\"");
    has(&tree, "\"File\"");
}
