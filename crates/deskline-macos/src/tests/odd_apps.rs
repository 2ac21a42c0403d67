//! Apps that answer oddly, late or never.

use std::time::{Duration, Instant};

use deskline_link::call::{Quiet, Typing};
use deskline_link::{Action, Scope, Tool, Trees as _};

use super::desk::{Desk, MAIL, by_text, element, field};
use crate::os::Value;
use crate::os::fake::text;

/// Firefox and Zotero answer so (godbout/Wooshy #55, zotero #2734).
#[test]
fn an_empty_list_of_visible_rows_is_not_believed() {
    let desk = Desk::new();
    {
        let mut world = desk.mac.world();
        let at = [110.0, 430.0, 200.0, 60.0];
        let outline = world.add(desk.window, "AXOutline", "Library", at);
        world.set(outline, "AXVisibleRows", Value::Elements(vec![]));
        for n in 0..3 {
            let top = 430.0 + 20.0 * f64::from(n);
            world.add(
                outline,
                "AXRow",
                &format!("Book {n}"),
                [110.0, top, 200.0, 20.0],
            );
        }
    }
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
    {
        let mut world = desk.mac.world();
        world.app(300, "Zombie", "/Applications/Zombie.app".into());
        world.apps.get_mut(&300).unwrap().unfinished = true;
    }
    let start = Instant::now();
    let answer = desk.click(by_text("Send", "AXButton"), Typing::default());
    assert!(!answer.is_error, "{}", answer.text);
    assert!(
        start.elapsed() < Duration::from_millis(1_500),
        "{:?}",
        start.elapsed()
    );
}

/// The app answers a ping, and one kind of call never.
#[test]
fn a_hang_in_any_one_call_ends_within_bounds() {
    for call in [
        "observe", "settable", "count", "range", "set", "perform", "actions",
    ] {
        let mut desk = Desk::new();
        {
            let mut world = desk.mac.world();
            for n in 0..10 {
                let at = [120.0, 300.0 + 10.0 * f64::from(n), 50.0, 9.0];
                let (window, name) = (desk.window, format!("field {n}"));
                field(&mut world, window, "AXTextField", &name, at);
            }
            let area = world.add(desk.window, "AXScrollArea", "", [110.0, 430.0, 300.0, 60.0]);
            for n in 0..10 {
                let at = [110.0 + 20.0 * f64::from(n), 430.0, 18.0, 60.0];
                let list = world.add(area, "AXTable", "", at);
                world.add(list, "AXRow", "row", at);
            }
            world.quirks.hangs.insert(call);
        }
        let start = Instant::now();
        let target = by_text("Send", "AXButton");
        let answer = desk.run(Tool::PressAx, Action::Quiet(Quiet::PressAx { target }));
        let took = start.elapsed();
        assert!(
            took < Duration::from_secs(9),
            "{call}: {took:?} {}",
            answer.text
        );
    }
}

#[test]
fn a_hanging_call_says_which_app_does_not_answer() {
    let mut desk = Desk::new();
    desk.mac.world().quirks.hangs.insert("settable");
    let start = Instant::now();
    let answer = desk.run(Tool::Refresh, Action::Refresh);
    assert!(
        answer.is_error && answer.text.contains("Mail (pid 100) does not answer"),
        "{}",
        answer.text
    );
    assert!(
        start.elapsed() < Duration::from_secs(3),
        "{:?}",
        start.elapsed()
    );
}

/// Toolbar buttons often have nothing else.
#[test]
fn a_button_without_a_title_has_its_help_for_a_name() {
    let mut desk = Desk::new();
    {
        let mut world = desk.mac.world();
        let button = world.add(desk.window, "AXButton", "", [110.0, 430.0, 30.0, 30.0]);
        world.set(button, "AXHelp", text("Archive this message"));
    }
    element(&desk.refresh(), "Archive this message");
}

#[test]
fn secure_input_that_begins_in_mid_link_is_told() {
    let mut desk = Desk::new();
    desk.mac.world().quirks.secure_after = Some(1);
    let answer = desk.click(by_text("Send", "AXButton"), Typing::default());
    assert!(
        !answer.is_error && answer.text.contains("a password field took the keyboard"),
        "{}",
        answer.text
    );
}

#[test]
fn a_locked_screen_is_an_error_and_gets_no_input() {
    let mut desk = Desk::new();
    desk.mac.world().quirks.locked = true;
    let answer = desk.click(by_text("Send", "AXButton"), Typing::default());
    assert!(
        answer.is_error && answer.text.contains("the screen is locked"),
        "{}",
        answer.text
    );
    assert!(desk.mac.world().reached.is_empty());
}

#[test]
fn pictures_are_taken_although_the_preflight_says_no() {
    let mut desk = Desk::new();
    desk.mac.world().quirks.preflight_lies = true;
    let answer = desk.run(Tool::Refresh, Action::Refresh);
    assert!(
        super::desk::line(&answer, "screenshot").is_some(),
        "{}",
        answer.text
    );
    assert_eq!(desk.mac.world().asked, 0);
    // The doctor agrees, and asks nothing.
    let checks = crate::doctor::examine(&desk.mac, 1);
    let picture = checks.iter().find(|c| c.name == "picture").unwrap();
    assert_eq!(
        picture.status,
        deskline_link::doctor::Status::Ok,
        "{}",
        picture.finding
    );
}
