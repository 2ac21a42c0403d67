//! Apps that answer oddly, late or never.

use std::time::Duration;

use deskline_contract::{Scope, Trees as _};
use deskline_link::call::Typing;
use deskline_link::{Action, Target};

use super::desk::{Desk, Expect, MAIL, element, field, has, within};
use crate::os::Value;
use crate::os::fake::text;
use deskline_input::clock::Instant;

/// Firefox and Zotero answer like this (godbout/Wooshy #55, zotero #2734).
#[test]
fn rows_are_read_even_if_the_table_claims_that_none_is_visible() {
    let desk = Desk::new();
    desk.given(|world| {
        let at = [110.0, 430.0, 200.0, 60.0];
        let outline = world.add(desk.window, "AXOutline", "Library", at);
        world.set(outline, "AXVisibleRows", Value::Elements(vec![]));
        for n in 0..3 {
            let top = 430.0 + 20.0 * f64::from(n);
            let place = [110.0, top, 200.0, 20.0];
            world.add(outline, "AXRow", &format!("Book {n}"), place);
        }
    });
    let mut desktop = crate::desktop::MacDesktop::new(desk.mac.clone());
    let tree = desktop.read(MAIL, Scope::Showing).unwrap();
    let found = tree.elements.iter().find(|e| e.title.shown == "Book 1");
    assert!(
        found.is_some_and(|e| e.visible) && tree.partial.is_empty(),
        "{:?}",
        tree.partial
    );
}

#[test]
fn an_app_that_never_finishes_launching_delays_no_link() {
    let mut desk = Desk::new();
    desk.given(|world| {
        world.app(300, "Zombie", "/Applications/Zombie.app".into());
        world.apps.get_mut(&300).unwrap().unfinished = true;
    });
    let start = Instant::now();
    desk.click_on("Send", "AXButton").ok();
    within(start, Duration::from_millis(1_500));
}

/// The app answers a ping, but never one kind of call.
#[test]
fn a_hang_in_any_kind_of_call_ends_within_bounds() {
    for call in [
        "observe", "settable", "count", "range", "set", "perform", "actions",
    ] {
        let mut desk = Desk::new();
        desk.given(|world| {
            for n in 0..10 {
                let at = [120.0, 300.0 + 10.0 * f64::from(n), 50.0, 9.0];
                let (window, name) = (desk.window, format!("field {n}"));
                field(world, window, "AXTextField", &name, at);
            }
            let area = world.add(desk.window, "AXScrollArea", "", [110.0, 430.0, 300.0, 60.0]);
            for n in 0..10 {
                let at = [110.0 + 20.0 * f64::from(n), 430.0, 18.0, 60.0];
                let list = world.add(area, "AXTable", "", at);
                world.add(list, "AXRow", "row", at);
            }
            world.quirks.hangs.insert(call);
        });
        let start = Instant::now();
        let target = Target::titled("Send", "AXButton");
        let answer = desk.run(Action::press_ax(target));
        let took = start.elapsed();
        assert!(
            took < Duration::from_secs(9),
            "{call}: {took:?} {}",
            answer.text
        );
    }
}

#[test]
fn a_hanging_call_names_the_app_that_does_not_answer() {
    let mut desk = Desk::new();
    desk.mac.world().quirks.hangs.insert("settable");
    let start = Instant::now();
    desk.run(Action::Refresh)
        .fails_with("Mail (pid 100) does not answer");
    within(start, Duration::from_secs(3));
}

/// Toolbar buttons often have no other text.
#[test]
fn a_button_without_a_title_is_named_by_its_help_text() {
    let mut desk = Desk::new();
    desk.given(|world| {
        let button = world.add(desk.window, "AXButton", "", [110.0, 430.0, 30.0, 30.0]);
        world.set(button, "AXHelp", text("Archive this message"));
    });
    element(&desk.refresh(), "Archive this message");
}

#[test]
fn secure_input_that_begins_in_mid_link_is_reported() {
    let mut desk = Desk::new();
    desk.mac.world().quirks.secure_after = Some(1);
    let answer = desk.click_on("Send", "AXButton").ok();
    has(&answer.text, "a password field took the keyboard");
}

#[test]
fn a_locked_screen_is_an_error_and_gets_no_input() {
    let mut desk = Desk::new();
    desk.mac.world().quirks.locked = true;
    desk.click_on("Send", "AXButton")
        .fails_with("the screen is locked");
    assert!(desk.mac.world().reached.is_empty());
}

#[test]
fn nothing_is_sent_while_another_user_has_the_screen() {
    let mut desk = Desk::new();
    desk.mac.world().quirks.another_user = true;
    desk.click_on("Send", "AXButton")
        .fails_with("another user has the screen");
    assert!(desk.mac.world().reached.is_empty());
}

#[test]
fn pictures_are_taken_although_the_preflight_fails() {
    let mut desk = Desk::new();
    desk.mac.world().quirks.preflight_lies = true;
    let answer = desk.run(Action::Refresh);
    assert!(
        super::desk::line(&answer, "screenshot").is_some(),
        "{}",
        answer.text
    );
    assert_eq!(desk.mac.world().asked, 0);
    // The doctor reports the same, and asks the person nothing.
    let checks = crate::doctor::examine(&desk.mac, 1);
    let picture = checks.iter().find(|c| c.name == "screenshot").unwrap();
    assert_eq!(
        picture.status,
        deskline_contract::doctor::Status::Ok,
        "{}",
        picture.finding
    );
}

/// trycua/cua #3909: macOS lays this window over an app that is being recorded.
#[test]
fn an_indicator_of_the_system_is_not_taken_for_a_window_of_the_app() {
    let desk = Desk::new();
    let indicator = (MAIL, [1_200.0, 40.0, 66.0, 20.0], 0);
    desk.mac.world().extra.push(indicator);
    let windows = crate::windows::of_app(&desk.mac, MAIL).into_iter();
    let ids: Vec<u64> = windows.map(|(window, _)| window.id.0).collect();
    assert_eq!(ids, [desk.window]);
}

/// The thread that asks would also have to answer (this crashed screenpipe, #4459).
#[test]
fn deskline_refuses_to_read_itself() {
    let mut desk = Desk::new();
    let own = std::process::id();
    desk.given(|world| {
        let root = world.app(own, "deskline", "/Applications/Deskline.app".into());
        world.add(root, "AXWindow", "panel", [10.0, 10.0, 300.0, 200.0]);
    });
    desk.run_on(own, Action::Refresh)
        .fails_with("this is Deskline itself");
}

/// Finder with a window, and an icon on the desktop, which is in no window.
fn finder(icon: [f64; 4]) -> (Desk, std::sync::Arc<std::sync::atomic::AtomicU32>) {
    let desk = Desk::new();
    let opened = std::sync::Arc::new(std::sync::atomic::AtomicU32::new(0));
    desk.given(|world| {
        let root = world.app(300, "Finder", "/System/Finder.app".into());
        world.add(root, "AXWindow", "Downloads", [50.0, 50.0, 400.0, 300.0]);
        let desktop = world.add(root, "AXScrollArea", "desktop", [0.0, 0.0, 1440.0, 900.0]);
        world.desktop = Some(desktop);
        let trash = world.add(desktop, "AXImage", "Trash", icon);
        let counts = opened.clone();
        world.node(trash).pressed = Some(std::sync::Arc::new(move |_| {
            counts.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        }));
        world.bring_forward(super::desk::EDITOR);
    });
    (desk, opened)
}

fn clicks_the_trash(desk: &mut Desk) -> deskline_link::Answer {
    let click = Action::click(Target::titled("Trash", "AXImage"), Typing::default());
    desk.run_on(300, click)
}

#[test]
fn an_icon_on_the_desktop_is_clicked_while_finder_has_a_window() {
    let (mut desk, opened) = finder([20.0, 700.0, 60.0, 60.0]);
    clicks_the_trash(&mut desk).ok();
    assert_eq!(opened.load(std::sync::atomic::Ordering::Relaxed), 1);
}

#[test]
fn an_icon_under_a_window_of_finder_is_not_clicked() {
    let (mut desk, opened) = finder([100.0, 100.0, 60.0, 60.0]);
    let answer = clicks_the_trash(&mut desk);
    assert!(answer.is_error, "{}", answer.text);
    assert!(
        desk.mac.world().reached.is_empty(),
        "{:?}",
        desk.mac.world().reached
    );
    assert_eq!(opened.load(std::sync::atomic::Ordering::Relaxed), 0);
}

/// Raycast and others: their `kCGWindowLayer` is above that of modal panels.
#[test]
fn a_launcher_above_all_windows_is_driven_as_an_app_without_a_window() {
    let mut desk = Desk::new();
    let go = desk.given(|world| {
        let root = world.app(300, "Launcher", "/Applications/Launcher.app".into());
        let panel = world.add(root, "AXWindow", "", [400.0, 200.0, 600.0, 300.0]);
        world.layers.insert(panel, 25);
        let go = world.add(panel, "AXButton", "Go", [900.0, 220.0, 60.0, 28.0]);
        let done = std::sync::Arc::new(move |world: &mut crate::os::fake::World| {
            world.add(panel, "AXStaticText", "Gone", [420.0, 300.0, 90.0, 18.0]);
        });
        world.node(go).pressed = Some(done);
        world.bring_forward(super::desk::EDITOR);
        go
    });
    let listed = desk.links.applications("").text;
    assert!(!listed.contains("Launcher"), "{listed}");
    let click = Action::click(Target::titled("Go", "AXButton"), Typing::default());
    let answer = desk.run_on(300, click).ok();
    assert!(desk.mac.world().nodes.contains_key(&go));
    assert!(
        super::desk::tree(&answer).contains("+ [AXStaticText] \"Gone\""),
        "{}",
        answer.text
    );
}
