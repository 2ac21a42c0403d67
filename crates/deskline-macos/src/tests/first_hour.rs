//! Differences between a real Mac and an ideal one that show in the first hour of use.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use deskline_contract::{Apps as _, Platform as _, Scope, Trees as _};
use deskline_input::clock::Instant;
use deskline_link::call::Typing;
use deskline_link::{Action, Target};

use super::desk::{Desk, EDITOR, Expect, MAIL, has, line, tree, within};
use super::first_minutes::slow_list;
use super::messages::large;
use super::waking::{browser, electron};
use crate::desktop::MacDesktop;
use crate::os::Value;
use crate::os::fake::{Node, clicks, text};
use crate::platform::MacPlatform;

/// If an input method is turned off and on again in the app in front, only its icon is back until
/// the focus moves, and nothing moves the focus there.
#[test]
fn a_text_for_the_app_in_front_leaves_the_persons_input_method_on() {
    let mut desk = Desk::new();
    let body = desk.body;
    desk.given(|world| {
        world.node(body).settable.insert("AXSelectedText");
        world.bring_forward(MAIL);
        world.focus(MAIL, body);
        world.quirks.icon_only = true;
        world.method_on = true;
    });
    desk.type_text("http").ok();
    desk.press("Return", &[]).ok();
    let now = desk.given(|world| (world.value(body), world.method_on));
    assert_eq!(now, ("http\n".into(), true));
    // A field that takes no text from Accessibility gets keys.
    desk.given(|world| world.node(body).settable.remove("AXSelectedText"));
    desk.type_text("go").ok();
    assert_eq!(desk.mac.world().value(body), "http\ngo");
}

/// For example, a link that opens in the browser.
#[test]
fn another_app_that_a_quiet_action_brings_forward_is_reported() {
    for pressed in [false, true] {
        let mut desk = Desk::new();
        let send = desk.send;
        desk.given(|world| {
            let root = world.app(300, "Browser", "/Applications/Browser.app".into());
            world.add(root, "AXWindow", "Start", [700.0, 100.0, 500.0, 300.0]);
            world.bring_forward(EDITOR);
            world.node(send).pressed = Some(Arc::new(move |world| {
                // If the person has pressed something, they may have switched themselves.
                world.presses_before += i64::from(pressed);
                world.bring_forward(300);
            }));
        });
        let press = Action::press_ax(Target::titled("Send", "AXButton"));
        let answer = desk.run(press).ok();
        let reported = line(&answer, "app_switch").is_some();
        assert_eq!(reported, !pressed, "{}", answer.text);
    }
}

#[test]
fn an_app_is_read_without_its_elements_that_do_not_answer() {
    let mut desk = Desk::new();
    desk.given(|world| {
        let at = [110.0, 430.0, 300.0, 60.0];
        // Once an element has not answered, its siblings are asked with a shorter time limit.
        for _ in 0..5 {
            let map = world.add(desk.window, "AXGroup", "Map", at);
            world.node(map).hangs = true;
        }
    });
    let start = Instant::now();
    let answer = desk.click_on("Send", "AXButton").ok();
    has(tree(&answer), "# partial");
    assert_eq!(clicks(&desk.mac.world()).len(), 1);
    within(start, Duration::from_secs(8));
}

/// Such as Docker, Rectangle, and the dialogs of `UserNotificationCenter` and
/// `CoreServicesUIAgent`.
#[test]
fn windows_of_apps_without_an_icon_in_the_dock_are_listed() {
    let desk = Desk::new();
    desk.given(|world| {
        for (pid, name) in [(300, "Docker"), (301, "Agent"), (302, "Overlay")] {
            let root = world.app(pid, name, format!("/Applications/{name}.app").into());
            world.apps.get_mut(&pid).unwrap().regular = false;
            if pid == 300 {
                world.add(root, "AXWindow", "Dashboard", [700.0, 100.0, 500.0, 300.0]);
            }
        }
        // A window that Accessibility does not list.
        world.extra.push((302, [0.0, 0.0, 1_440.0, 900.0], 3));
    });
    let applications = MacDesktop::new(desk.mac.clone()).applications().unwrap();
    let mut names: Vec<_> = applications.iter().map(|a| a.app.name.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["Docker", "Editor", "Mail"]);
}

#[test]
fn a_picture_that_is_not_delivered_is_taken_again() {
    let mut desk = Desk::new();
    desk.mac.world().quirks.lost_pictures = 1;
    let answer = desk.run(Action::Refresh).ok();
    assert!(line(&answer, "screenshot").is_some(), "{}", answer.text);
}

#[test]
fn a_submenu_is_opened_even_if_a_press_of_its_item_does_nothing() {
    let mut desk = Desk::new();
    let picked = Arc::new(Mutex::new(0));
    desk.given(|world| {
        let (_, recent) = world.menu_bar(MAIL, "Open Recent", Arc::new(|_| {}));
        let at = [250.0, 30.0, 200.0, 22.0];
        let menu = world.add(recent, "AXMenu", "", at);
        let file = world.add(menu, "AXMenuItem", "letter.txt", at);
        world.node(recent).pressed = Some(Arc::new(move |world| {
            world.extra.push((MAIL, at, 101));
            world.set(recent, "AXSelected", Value::Bool(true));
        }));
        let picked = picked.clone();
        world.node(file).pressed = Some(Arc::new(move |world| {
            world.extra.clear();
            *picked.lock().unwrap() += 1;
        }));
    });
    desk.click_on("File", "AXMenuBarItem").ok();
    desk.run(Action::press_ax(Target::titled(
        "Open Recent",
        "AXMenuItem",
    )))
    .fails_with("submenu");
    let answer = desk.click_on("Open Recent", "AXMenuItem").ok();
    has(tree(&answer), "\"Open Recent\" | AXSelected: false -> true");
    desk.click_on("letter.txt", "AXMenuItem").ok();
    assert_eq!(*picked.lock().unwrap(), 1);
}

/// As long as Chrome's attribute is set, Rectangle and yabai cannot move its windows.
#[test]
fn browser_accessibility_is_off_again_after_the_call_unless_needed() {
    for forgets in [false, true] {
        let mut desk = browser(|wakes| wakes.forgets = forgets);
        for _ in 0..3 {
            has(desk.refresh(), "Home");
        }
        let requests = desk.mac.world().requests.clone();
        let enhanced = requests
            .iter()
            .filter(|(name, _)| name.contains("Enhanced"));
        let on: Vec<bool> = enhanced.map(|(_, on)| *on).collect();
        let wanted: &[bool] = if forgets {
            &[true, false, true]
        } else {
            &[true, false]
        };
        assert_eq!(on, wanted, "forgets: {forgets}");
    }
}

/// `AppKit` makes a window the key window in a turn of the app's event loop.
#[test]
fn typing_waits_until_a_window_of_the_app_takes_keys() {
    let mut desk = Desk::new();
    let body = desk.body;
    desk.given(|world| {
        world.focus(MAIL, body);
        world.quirks.late_key = Duration::from_millis(200);
    });
    desk.type_text("hello").ok();
    assert_eq!(desk.mac.world().value(body), "hello");
}

#[test]
fn a_click_waits_until_a_minimised_window_has_come_out_of_the_dock() {
    let mut desk = Desk::new();
    let window = desk.window;
    desk.given(|world| {
        world.quirks.animation = Duration::from_millis(500);
        world.node(window).settable.insert("AXMinimized");
        world.set(window, "AXMinimized", Value::Bool(true));
    });
    let answer = desk.click_on("Send", "AXButton").ok();
    has(tree(&answer), "+ [AXStaticText] \"Sending…\"");
}

/// A message takes 0.2 ms, a menu 50 ms, and a row that was never drawn 200 ms.
#[test]
fn a_link_on_a_slow_app_ends_within_its_time_bounds() {
    let rows = Desk::new();
    slow_list(&rows, 200);
    let menus = large();
    menus.given(|world| {
        let is_menu = |node: &Node| node.attributes["AXRole"] == text("AXMenu");
        for node in world.nodes.values_mut().filter(|node| is_menu(node)) {
            node.costs = Duration::from_millis(50);
        }
    });
    for (what, mut desk, most) in [
        ("250 elements", large(), 1_000),
        ("menus that their app fills", menus, 2_000),
        ("400 rows", rows, 8_000),
    ] {
        desk.refresh();
        let start = Instant::now();
        desk.click(Target::titled("Send", "AXButton"), Typing::default())
            .ok();
        let took = start.elapsed().as_millis();
        println!("a click beside {what}: {took} ms");
        assert!(took < most, "{what}: {took} ms");
    }
}

/// The tree of a page that has come is read without a wait.
#[test]
fn a_second_reading_of_a_page_waits_for_nothing() {
    let desk = electron(None);
    let mut desktop = MacDesktop::new(desk.mac.clone());
    desktop.read(MAIL, Scope::Showing).unwrap();
    let start = Instant::now();
    desktop.read(MAIL, Scope::Showing).unwrap();
    within(start, Duration::from_millis(100));
}

/// The page that a user sends with a bug report.
#[test]
fn facts_list_displays_and_settings_and_no_window_titles() {
    let desk = Desk::new();
    let facts = MacPlatform::new(desk.mac.clone()).facts().join("\n");
    for wanted in [
        "macOS ",
        "displays [0.0, 0.0, ",
        "input source ",
        "GloballyEnabled",
        "{0: 2}, Some(Seat { locked: false",
        "list agree at 9 of 9 points",
    ] {
        has(&facts, wanted);
    }
    assert!(!facts.contains("New Message"), "{facts}");
}
