//! Actions besides plain clicks and text: judged by what reaches the app. The person's editor is in
//! front, with the keyboard, before and afterwards.

use std::sync::Arc;
use std::time::{Duration, Instant};

use deskline_contract::Cancel;
use deskline_core::{KeyPress, Modifiers};
use deskline_input::Button;
use deskline_link::call::{ClickKind, Input, Typing};
use deskline_link::{Action, Answer, Call, Target};

use super::desk::{Desk, EDITOR, Expect, MAIL, clicks_on, front, has, tree};
use crate::os::fake::{Id, text};
use crate::os::{Event, MouseButton, Value};

fn run(desk: &mut Desk, action: impl Into<Action>) -> Answer {
    let answer = desk.run(action).ok();
    assert_eq!(front(desk), Some(EDITOR));
    answer
}

/// The button events that reached the apps: the button, whether it went down, and the flags.
fn buttons(desk: &Desk) -> Vec<(MouseButton, bool, u64)> {
    let world = desk.mac.world();
    let button = |(event, _): &(Event, i64)| match event {
        Event::Button {
            button,
            down,
            flags,
            ..
        } => Some((*button, *down, *flags)),
        _ => None,
    };
    world.reached.iter().filter_map(button).collect()
}

/// The key events that reached the apps: the key, and whether it went down.
fn keys(desk: &Desk) -> Vec<(u16, bool)> {
    let world = desk.mac.world();
    let key = |(event, _): &(Event, i64)| match event {
        Event::Key { code, down, .. } => Some((*code, *down)),
        _ => None,
    };
    world.reached.iter().filter_map(key).collect()
}

#[test]
fn modifiers_are_held_while_a_click_is_made() {
    let mut desk = Desk::new();
    let kind = ClickKind {
        modifiers: Modifiers::SHIFT | Modifiers::COMMAND,
        ..ClickKind::default()
    };
    let target = Target::titled("Urgent", "AXCheckBox");
    let then = Typing::default();
    run(&mut desk, Input::Click { target, kind, then });
    let flags = 0x2_0002 | 0x10_0008;
    let left = MouseButton::Left;
    assert_eq!(buttons(&desk), [(left, true, flags), (left, false, flags)]);
    let (shift, command) = (56, 55);
    let held = [
        (shift, true),
        (command, true),
        (command, false),
        (shift, false),
    ];
    assert_eq!(keys(&desk), held);
}

#[test]
fn the_middle_button_clicks() {
    let mut desk = Desk::new();
    let kind = ClickKind::with_button(Button::Middle);
    let target = Target::titled("Urgent", "AXCheckBox");
    let then = Typing::default();
    run(&mut desk, Input::Click { target, kind, then });
    let middle = MouseButton::Middle;
    assert_eq!(buttons(&desk), [(middle, true, 0), (middle, false, 0)]);
}

#[test]
fn a_hover_shows_the_tool_tip_and_holds_the_pointer_until_the_next_link() {
    let mut desk = Desk::new();
    let (send, window) = (desk.send, desk.window);
    let tip: crate::os::fake::Behaviour = Arc::new(move |world| {
        if world
            .nodes
            .values()
            .all(|n| n.attributes["AXRole"] != text("AXHelpTag"))
        {
            world.add(window, "AXHelpTag", "Sends it", [620.0, 140.0, 60.0, 18.0]);
        }
    });
    desk.mac.world().hovers.insert(send, tip);
    let target = Target::titled("Send", "AXButton");
    let answer = run(&mut desk, Action::hover(target));
    has(tree(&answer), "\"Sends it\"");
    assert!(buttons(&desk).is_empty());
    assert_eq!(desk.mac.world().pointer, (650.5, 124.5));
    desk.click_on("Urgent", "AXCheckBox").ok();
    assert_eq!(desk.mac.world().pointer, (1_000.0, 800.0));
}

/// A pop-up button whose menu exists only while it is open.
fn pop_up(desk: &Desk) -> Id {
    let mut world = desk.mac.world();
    let at = [110.0, 430.0, 120.0, 24.0];
    let button = world.add(desk.window, "AXPopUpButton", "Priority", at);
    world.set(button, "AXValue", text("Normal"));
    world.node(button).pressed = Some(Arc::new(move |world| {
        let place = [110.0, 430.0, 120.0, 66.0];
        let menu = world.add(button, "AXMenu", "", place);
        world.extra.push((MAIL, place, 101));
        for (nth, name) in ["Low", "Normal", "High"].into_iter().enumerate() {
            let top = 430.0 + 22.0 * nth as f64;
            let item = world.add(menu, "AXMenuItem", name, [110.0, top, 120.0, 22.0]);
            world.node(item).pressed = Some(Arc::new(move |world| {
                world.extra.clear();
                world.remove(menu);
                world.set(button, "AXValue", text(name));
            }));
        }
    }));
    button
}

#[test]
fn a_choice_is_picked_from_a_pop_up_button() {
    let mut desk = Desk::new();
    let button = pop_up(&desk);
    let choose = Action::choose(Target::titled("Priority", "AXPopUpButton"), "high");
    let answer = run(&mut desk, choose);
    has(&answer.text, "hose 'High'");
    assert_eq!(desk.mac.world().value(button), "High");
    assert!(desk.mac.world().extra.is_empty(), "the menu is open");
}

#[test]
fn a_key_is_held_for_the_requested_time() {
    let mut desk = Desk::in_real_time();
    let body = desk.body;
    desk.mac.world().focus(MAIL, body);
    let watch = std::thread::spawn({
        let mac = desk.mac.clone();
        move || {
            let came = |wanted: bool| {
                let start = Instant::now();
                loop {
                    let reached = mac.world().reached.clone();
                    let is = |e: &Event| matches!(e, Event::Key { code: 7, down, .. } if *down == wanted);
                    if reached.iter().any(|(event, _)| is(event)) {
                        return Instant::now();
                    }
                    assert!(start.elapsed() < Duration::from_secs(5));
                    std::thread::sleep(Duration::from_millis(1));
                }
            };
            let down = came(true);
            came(false) - down
        }
    });
    let press = KeyPress::parse("x", &[]).unwrap();
    let hold = Duration::from_millis(400);
    run(&mut desk, Input::PressKey { press, hold });
    let down = watch.join().unwrap();
    let spread = Duration::from_millis(50);
    assert!(
        down + spread > hold && down < hold + 10 * spread,
        "{down:?}"
    );
    assert_eq!(keys(&desk), [(7, true), (7, false)]);
}

#[test]
fn the_wheel_turns_until_a_text_shows() {
    let mut desk = Desk::new();
    desk.given(|world| {
        let place = [110.0, 400.0, 300.0, 90.0];
        let area = world.add(desk.window, "AXScrollArea", "Log", place);
        world.rolls.insert(area);
        for nth in 0..30 {
            let at = [110.0, 400.0 + 20.0 * f64::from(nth), 200.0, 18.0];
            world.add(area, "AXStaticText", &format!("line {nth}"), at);
        }
    });
    let scroll = Input::Scroll {
        at: Target::titled("Log", "AXScrollArea"),
        delta_x: 0,
        delta_y: 1,
        until: Some("line 17".into()),
    };
    let answer = run(&mut desk, scroll);
    has(&answer.text, "until 'line 17'");
    let shown = tree(&answer);
    let line = shown
        .lines()
        .find(|l| l.starts_with(' ') && l.contains("\"line 17\""));
    assert!(line.is_some_and(|l| l.contains(" visible")), "{line:?}");
}

#[test]
fn a_step_is_repeated() {
    let mut desk = Desk::new();
    let call = Call {
        repeats: vec![5],
        ..Call::chain(MAIL, clicks_on("Send"), vec![])
    };
    desk.links.run(&call, &Cancel::new()).ok();
    let presses = buttons(&desk).iter().filter(|(_, down, _)| *down).count();
    assert_eq!((presses, front(&desk)), (5, Some(EDITOR)));
}

/// A card in Mail, and a place in each app to drop it.
fn card(desk: &Desk) -> [Id; 3] {
    let mut world = desk.mac.world();
    let window = desk.window;
    let card = world.add(window, "AXImage", "card", [200.0, 420.0, 40.0, 40.0]);
    world.draggable.insert(card);
    world.quirks.strict_drags = true;
    let bin = world.add(window, "AXGroup", "bin", [500.0, 420.0, 60.0, 60.0]);
    let root = world.apps[&EDITOR].root;
    let notes = world.nodes[&root].children[0];
    let page = world.add(notes, "AXGroup", "page", [800.0, 600.0, 200.0, 200.0]);
    [card, bin, page]
}

#[test]
fn a_drag_ends_on_an_element_of_the_app_or_of_another_one() {
    for (name, to_pid) in [("bin", None), ("page", Some(EDITOR))] {
        let mut desk = Desk::new();
        let [card, bin, page] = card(&desk);
        let drag = Input::Drag {
            from: Target::titled("card", "AXImage"),
            to: Target::titled(name, "AXGroup"),
            to_pid,
            modifiers: Modifiers::empty(),
        };
        run(&mut desk, drag);
        let onto = if to_pid.is_some() { page } else { bin };
        let dropped = desk.mac.world().dropped.clone();
        assert_eq!(dropped, [(card, Some(onto))], "{name}");
        let place = desk.mac.world().node(card).attributes["AXPosition"].clone();
        assert_ne!(place, Value::Point(200.0, 420.0));
    }
}

#[test]
fn keys_go_to_the_window_that_a_call_names() {
    let mut desk = Desk::new();
    let body = desk.body;
    desk.given(|world| {
        let root = world.apps[&MAIL].root;
        let inbox = world.add(root, "AXWindow", "Inbox", [120.0, 120.0, 600.0, 400.0]);
        let search = world.add(inbox, "AXTextField", "Search", [130.0, 130.0, 200.0, 22.0]);
        world.node(search).settable.insert("AXValue");
        world.set(search, "AXValue", text(""));
        let window = desk.window;
        world.fields.insert(window, body);
        world.fields.insert(inbox, search);
        world.focus(MAIL, search);
        world.bring_forward(EDITOR);
    });
    let typing = Typing::text("hello");
    let action = Action::type_text(typing);
    let window = deskline_link::call::WindowTarget::Titled("new mess".into());
    let call = Call {
        window: Some(window),
        ..Call::new(MAIL, action)
    };
    desk.links.run(&call, &Cancel::new()).ok();
    assert_eq!(desk.mac.world().value(body), "hello");
    assert_eq!(front(&desk), Some(EDITOR));
}

#[test]
fn a_place_is_clicked_with_the_requested_button() {
    let mut desk = Desk::new();
    let kind = ClickKind::with_button(Button::Right);
    let target = deskline_link::Target::at(300, 300);
    let then = Typing::default();
    run(&mut desk, Input::Click { target, kind, then });
    let right = MouseButton::Right;
    assert_eq!(buttons(&desk), [(right, true, 0), (right, false, 0)]);
}
