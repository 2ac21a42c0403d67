//! Differences between a real Mac and an ideal one that show in the first ten minutes of use.

use std::sync::Arc;
use std::time::Duration;

use deskline_contract::{Button, Cancel, Reason, Scope, Trees as _};
use deskline_link::call::{ClickKind, Input, Typing};
use deskline_link::{Action, Call, Target};

use super::desk::{Desk, EDITOR, Expect, MAIL, has, tree, within};
use super::waking::{electron, wakes};
use crate::desktop::MacDesktop;
use crate::os::Value;
use crate::os::fake::pasteboard::paste;
use crate::os::fake::{clicks, text};
use deskline_input::clock::Instant;

/// Since macOS 26.4 the Dock has a window as large as the screen, which lets clicks through
/// (claude-code #50719). Games, Java and slow apps answer no hit test.
#[test]
fn the_docks_screen_sized_window_blocks_no_click_on_an_app() {
    let mut desk = Desk::new();
    desk.given(|world| {
        world.app(300, "Dock", "/System/Library/CoreServices/Dock.app".into());
        world.apps.get_mut(&300).unwrap().regular = false;
        world.extra.push((300, [0.0, 0.0, 1_440.0, 900.0], 20));
        world.quirks.no_hit_test = true;
    });
    desk.click_on("Send", "AXButton").ok();
    assert_eq!(clicks(&desk.mac.world()).len(), 1);
}

/// Control Center owns the places of status items since macOS 26 (jordanbaird/Ice #903).
#[test]
fn a_menu_extra_is_clicked_even_if_control_center_has_its_place() {
    let mut desk = Desk::new();
    desk.given(|world| {
        world.menu_extra(MAIL, "Status");
        let path = "/System/Library/CoreServices/ControlCenter.app";
        world.app(310, "Control Center", path.into());
        let center = world.apps.get_mut(&310).unwrap();
        (center.regular, center.bundle_id) = (false, Some("com.apple.controlcenter".into()));
        world
            .extra
            .insert(0, (310, [1_000.0, 0.0, 440.0, 24.0], 25));
    });
    let click = Input::Click {
        target: Target::titled("Status", "AXMenuBarItem"),
        kind: ClickKind::with_button(Button::Right),
        then: Typing::default(),
    };
    desk.run(click).ok();
    // A window of that process over another app stops a click on the app.
    desk.given(|world| world.extra.insert(0, (310, [0.0, 0.0, 1_440.0, 900.0], 25)));
    desk.click_on("Send", "AXButton")
        .fails_with("Control Center");
}

/// Electron may ignore the first request, although it answers without an error (FuJacob/cotabby
/// #671).
#[test]
fn an_app_that_missed_the_first_request_is_asked_again() {
    let desk = electron(None);
    wakes(&desk, |it| {
        (it.deaf, it.after) = (1, Duration::from_millis(100));
    });
    let mut desktop = MacDesktop::new(desk.mac.clone());
    let mut has_page = || {
        let tree = desktop.read(MAIL, Scope::Showing).unwrap();
        tree.elements.iter().any(|e| e.title.shown == "Home")
    };
    assert!(!has_page());
    assert!(has_page());
    // The page goes with its renderer, and comes at the next request.
    desk.given(|world| {
        let is_page = |n: &crate::os::fake::Node| n.attributes["AXRole"] == text("AXWebArea");
        let page = world.nodes.iter().find(|(_, n)| is_page(n));
        let page = *page.unwrap().0;
        world.remove(page);
    });
    assert!(has_page());
}

/// On macOS 26 a request that comes as the app is activated wakes the app (FuJacob/cotabby #671).
#[test]
fn a_request_is_repeated_when_its_app_is_in_front() {
    let mut desk = electron(None);
    wakes(&desk, |it| {
        (it.deaf_behind, it.after) = (true, Duration::from_millis(100));
    });
    desk.refresh();
    desk.refresh();
    desk.click_on("Urgent", "AXCheckBox").ok();
    has(desk.refresh(), "Home");
}

/// An Electron app may have windows without a page.
#[test]
fn an_app_that_never_shows_a_page_is_waited_for_only_at_first() {
    let desk = electron(None);
    wakes(&desk, |it| it.deaf = 1_000);
    let mut desktop = MacDesktop::new(desk.mac.clone());
    for _ in 0..2 {
        desktop.read(MAIL, Scope::Showing).unwrap();
    }
    let start = Instant::now();
    desktop.read(MAIL, Scope::Showing).unwrap();
    within(start, Duration::from_millis(500));
}

/// A list of 400 rows that does not report which rows are visible. Reading a row takes time: in
/// Contacts 60 ms and more (trycua/cua #3907).
pub(super) fn slow_list(desk: &Desk, ms: u64) {
    let window = desk.window;
    desk.given(|world| {
        let at = [110.0, 430.0, 200.0, 60.0];
        let area = world.add(window, "AXScrollArea", "", at);
        let outline = world.add(area, "AXOutline", "Contacts", at);
        world.set(outline, "AXVisibleRows", Value::Elements(vec![]));
        for n in 0..400 {
            let top = 430.0 + 20.0 * f64::from(n);
            let at = [110.0, top, 200.0, 20.0];
            let row = world.add(outline, "AXRow", &format!("Contact {n}"), at);
            world.node(row).costs = Duration::from_millis(ms);
        }
    });
}

#[test]
fn a_list_of_slow_rows_is_read_as_far_as_it_shows() {
    let mut desk = Desk::new();
    slow_list(&desk, 60);
    let start = Instant::now();
    let answer = desk.run(Action::Refresh).ok();
    // Three rows are visible. As many rows after them are read as may be visible too.
    within(start, Duration::from_millis(2_500));
    has(tree(&answer), "\"Contact 2\"");
    has(tree(&answer), "# partial");
}

#[test]
fn a_window_of_slow_elements_is_read_for_three_seconds() {
    let mut desk = Desk::new();
    desk.given(|world| {
        for n in 0..100 {
            let at = [110.0 + f64::from(n), 430.0, 50.0, 18.0];
            let slow = world.add(desk.window, "AXButton", &format!("slow {n}"), at);
            world.node(slow).costs = Duration::from_millis(60);
        }
    });
    let start = Instant::now();
    let answer = desk.run(Action::Refresh).ok();
    within(start, Duration::from_secs(4));
    has(tree(&answer), "# partial");
}

#[test]
fn esc_ends_the_reading_of_a_slow_list() {
    let mut desk = Desk::new();
    slow_list(&desk, 60);
    let cancel = Cancel::new();
    let esc = cancel.clone();
    let start = Instant::now();
    desk.later(300, move |_| esc.cancel(Reason::Person));
    let call = Call::new(MAIL, Action::Refresh);
    let answer = desk.links.run(&call, &cancel);
    assert!(answer.is_error, "{}", answer.text);
    within(start, Duration::from_secs(1));
}

/// `TISSelectInputSource` changes the icon of an input method at once, but the input method itself
/// only when the focus moves (Karabiner-Elements #1602, kawa #10).
#[test]
fn the_persons_input_method_works_again_after_a_text_in_another_app() {
    let mut desk = Desk::new();
    let body = desk.body;
    desk.given(|world| {
        world.focus(MAIL, body);
        world.quirks.icon_only = true;
        world.method_on = true;
    });
    desk.type_text("http").ok();
    let now = desk.given(|world| (world.front, world.value(body), world.method_on));
    assert_eq!(now, (EDITOR, "http".into(), true));
}

#[test]
fn a_hidden_or_minimised_app_is_hidden_or_minimised_again_afterwards() {
    for name in ["AXMinimized", "AXHidden"] {
        let mut desk = Desk::new();
        let node = desk.given(|world| {
            let root = world.apps[&MAIL].root;
            let node = if name == "AXHidden" {
                root
            } else {
                desk.window
            };
            world.node(node).settable.insert(name);
            world.set(node, name, Value::Bool(true));
            node
        });
        desk.click(Target::titled("Send", "AXButton"), Typing::default())
            .ok();
        let (clicked, value) = desk.given(|world| {
            let value = world.nodes[&node].attributes[name].clone();
            (clicks(world).len(), value)
        });
        assert_eq!((clicked, value), (1, Value::Bool(true)), "{name}");
    }
}

/// A tap needs Accessibility. To see keys, it also needs Input Monitoring (acsandmann/rift #406).
#[test]
fn the_answer_reports_a_tap_that_sees_no_keys() {
    let mut desk = Desk::new();
    let body = desk.body;
    desk.given(|world| {
        world.focus(MAIL, body);
        world.quirks.tap_without_keys = true;
    });
    let answer = desk.type_text("go").ok();
    has(&answer.text, "Input Monitoring");
    desk.mac.world().quirks.tap_without_keys = false;
    let answer = desk.type_text("go").ok();
    assert!(!answer.text.contains("Input Monitoring"), "{}", answer.text);
}

/// App Nap would stretch each pause, and the system turns off a tap that answers late.
#[test]
fn app_nap_does_not_stretch_the_pauses_of_a_running_link() {
    let mut desk = Desk::new();
    let body = desk.body;
    desk.given(|world| {
        world.focus(MAIL, body);
        world.quirks.naps = true;
    });
    let start = Instant::now();
    desk.type_text(&"maps ".repeat(20)).ok();
    within(start, Duration::from_millis(1_500));
}

/// A clipboard manager reads a new text at once. The app reads it a moment after the paste key.
#[test]
fn a_paste_goes_on_when_another_program_reads_the_pasteboard() {
    let mut desk = Desk::new();
    let body = desk.body;
    desk.given(|world| {
        world.focus(MAIL, body);
        world.pasteboard.watched = true;
        let kind = "public.utf8-plain-text".to_owned();
        world
            .pasteboard
            .copy(vec![vec![(kind, b"theirs".to_vec())]]);
        let pastes: crate::os::fake::Behaviour = Arc::new(|world| {
            let due = Instant::now() + Duration::from_millis(150);
            world.later.push((due, Arc::new(paste)));
        });
        world
            .apps
            .get_mut(&MAIL)
            .unwrap()
            .shortcuts
            .insert(9, pastes);
    });
    let typing = Typing {
        text: Some("ours".into()),
        paste: true,
        ..Typing::default()
    };
    desk.run(Action::type_text(typing)).ok();
    assert_eq!(desk.mac.world().value(body), "ours");
}
