//! Apps with several windows: the window that a call names, and chains over several windows.

use std::time::Duration;

use deskline_contract::Cancel;
use deskline_link::call::{Typing, WindowTarget};
use deskline_link::{Action, Answer, Call, Target};

use super::desk::{
    Desk, EDITOR, Expect, MAIL, clicks_on, element, field, front, line, reference, tree,
};
use crate::os::fake::{Id, text};
use deskline_input::clock::Instant;

/// Mail has a second window below the first, with a search field. Keys go to the field of the
/// window in front.
fn two() -> (Desk, Id, Id) {
    let desk = Desk::new();
    let (first, body) = (desk.window, desk.body);
    let (second, search) = desk.given(|world| {
        let root = world.apps[&MAIL].root;
        let inbox = world.add(root, "AXWindow", "Inbox", [150.0, 250.0, 600.0, 400.0]);
        let at = [160.0, 300.0, 200.0, 22.0];
        let search = field(world, inbox, "AXTextField", "Search", at);
        world.set(search, "AXValue", text(""));
        world.fields.insert(first, body);
        world.fields.insert(inbox, search);
        // The first window is the front one of Mail.
        world.stack.retain(|w| *w != inbox);
        world.stack.push(inbox);
        (inbox, search)
    });
    (desk, second, search)
}

fn typing(words: &str) -> Action {
    Action::type_text(Typing::text(words))
}

fn run_in(desk: &mut Desk, window: WindowTarget, action: Action) -> Answer {
    let mut call = Call::new(MAIL, action);
    call.window = Some(window);
    desk.links.run(&call, &Cancel::new())
}

#[test]
fn keys_go_to_the_window_that_is_named_by_title_or_by_ref() {
    let (mut desk, inbox, search) = two();
    let inbox_ref = reference(element(&desk.refresh(), "[AXWindow] \"Inbox\""));
    let body = desk.body;
    for (nth, window) in [
        WindowTarget::Titled("inbox".into()),
        WindowTarget::Ref(inbox_ref),
    ]
    .into_iter()
    .enumerate()
    {
        run_in(&mut desk, window, typing("x")).ok();
        let world = desk.mac.world();
        assert_eq!(
            (world.value(search), world.value(body)),
            ("x".repeat(nth + 1), String::new())
        );
        drop(world);
        assert_eq!(front(&desk), Some(EDITOR));
    }
    let windows = line(&desk.run(Action::Refresh), "windows");
    assert!(windows.is_some_and(|w| w.contains("Inbox")), "{inbox}");
}

#[test]
fn the_error_about_a_missing_window_names_the_others_and_nothing_is_sent() {
    let (mut desk, ..) = two();
    let nowhere = WindowTarget::Titled("Drafts".into());
    let answer = run_in(&mut desk, nowhere, typing("x"));
    answer.fails_with("'Drafts'");
    answer.fails_with("Inbox");
    assert!(desk.mac.world().reached.is_empty());
}

#[test]
fn a_click_raises_the_window_that_contains_its_element() {
    let (mut desk, _, search) = two();
    let then = Typing::text("bills");
    // The field is below the first window, which covers it.
    desk.click(Target::titled("Search", "AXTextField"), then)
        .ok();
    assert_eq!(desk.mac.world().value(search), "bills");
}

#[test]
fn a_chain_is_one_link_with_one_diff_and_one_restore() {
    let (mut desk, _, search) = two();
    let (body, urgent) = (desk.body, desk.urgent);
    desk.mac.world().fronts.clear();
    let fills = Action::click(
        Target::titled("Search", "AXTextField"),
        Typing::text("bills"),
    );
    let set = Action::set_value(Target::titled("Message", "AXTextArea"), "Paid.");
    let tick = Action::press_ax(Target::titled("Urgent", "AXCheckBox"));
    let answer = desk.chain(vec![fills, set, tick]).ok();
    let tree = tree(&answer);
    for changed in ["\"\" -> \"bills\"", "\"\" -> \"Paid.\"", "AXChecked"] {
        assert!(tree.contains(changed), "{changed} in {tree}");
    }
    let world = desk.mac.world();
    assert_eq!(
        (world.value(search), world.value(body), world.value(urgent)),
        ("bills".into(), "Paid.".into(), "Some(Number(1.0))".into())
    );
    // There is one restore: the editor came to the front once.
    let restores = world.fronts.iter().filter(|pid| **pid == EDITOR).count();
    assert_eq!((restores, world.pointer), (1, (1_000.0, 800.0)));
}

#[test]
fn a_chain_stops_at_the_first_step_that_fails_and_lists_the_steps_done() {
    let mut desk = Desk::new();
    let answer = desk.chain(vec![
        clicks_on("Send"),
        clicks_on("Attach"),
        clicks_on("Send"),
    ]);
    answer.fails_with("Attach");
    assert!(answer.text.contains("Clicked 'Send'") || answer.text.contains("clicked 'Send'"));
    assert_eq!(crate::os::fake::clicks(&desk.mac.world()).len(), 1);
    assert_eq!(front(&desk), Some(EDITOR));
}

/// Fonts, Colours and other panels are on layer 3, above all windows of their app.
#[test]
fn an_app_with_a_floating_panel_takes_clicks_and_keys() {
    let mut desk = Desk::new();
    let (window, body) = (desk.window, desk.body);
    desk.given(|world| {
        let root = world.apps[&MAIL].root;
        let panel = world.add(root, "AXWindow", "Fonts", [400.0, 420.0, 200.0, 60.0]);
        world.layers.insert(panel, 3);
        world.fields.insert(window, body);
        world.bring_forward(EDITOR);
    });
    let start = Instant::now();
    desk.click_on("Send", "AXButton").ok();
    desk.click(
        Target::titled("Message", "AXTextArea"),
        Typing::text("hello"),
    )
    .ok();
    assert!(start.elapsed() < Duration::from_secs(3));
    let world = desk.mac.world();
    assert_eq!((world.value(body), world.front), ("hello".into(), EDITOR));
}

/// Hammerspoon2 #228: a window that was raised while its app was behind does not come forward with
/// the app. An app that comes forward late is still behind when its window is first raised.
#[test]
fn the_named_window_comes_forward_and_not_the_apps_own_front_window() {
    for late in [0, 30] {
        let (mut desk, _, search) = two();
        desk.given(|world| {
            world.quirks.last_key_first = true;
            world.quirks.late_front = Duration::from_millis(late);
            let first = desk.window;
            world.last_key.insert(MAIL, first);
        });
        let then = Typing::text("bills");
        desk.click(Target::titled("Search", "AXTextField"), then)
            .ok();
        assert_eq!(desk.mac.world().value(search), "bills");
        assert_eq!(front(&desk), Some(EDITOR));
    }
}

/// Without the private call, bounds and titles distinguish windows.
#[test]
fn windows_without_numbers_are_distinguished_by_their_places() {
    let (mut desk, _, search) = two();
    desk.mac.world().quirks.no_window_numbers = true;
    let then = Typing::text("bills");
    desk.click(Target::titled("Search", "AXTextField"), then)
        .ok();
    assert_eq!(desk.mac.world().value(search), "bills");
}

/// To the `WindowServer` a sheet is a window of its own.
#[test]
fn a_sheet_is_visible_and_takes_clicks_by_element_and_by_place() {
    let mut desk = Desk::new();
    let window = desk.window;
    desk.given(|world| {
        let place = [200.0, 130.0, 300.0, 150.0];
        let sheet = world.add(window, "AXSheet", "Save", place);
        world.add(sheet, "AXButton", "Keep", [220.0, 230.0, 60.0, 28.0]);
        world.extra.push((MAIL, place, 0));
    });
    let tree = desk.refresh();
    let keep = element(&tree, "\"Keep\"");
    assert!(keep.contains(" visible"), "{tree}");
    let place = deskline_link::Target::Point(deskline_core::Point { x: 250, y: 244 });
    for target in [Target::titled("Keep", "AXButton"), place] {
        let start = Instant::now();
        desk.click(target, Typing::default()).ok();
        assert!(start.elapsed() < Duration::from_millis(1_500));
    }
    assert_eq!(crate::os::fake::clicks(&desk.mac.world()).len(), 2);
}
