//! Runs each tool through a whole link.

use std::sync::Arc;
use std::time::Duration;

use deskline_core::{KeyPress, Modifiers, States};
use deskline_link::call::{Awaited, Input, Typing};
use deskline_link::{Action, Target};

use super::desk::{Desk, EDITOR, Expect, field, has, install, line, tree};
use crate::os::fake::{clicks, text};
use crate::os::{Event, MouseButton, TAG, Value};

#[test]
fn open_starts_an_app_by_name_and_brings_it_to_the_front() {
    let mut desk = Desk::new();
    install(&desk, "TextEdit", |world, path| {
        let root = world.app(300, "TextEdit", path);
        let window = world.add(root, "AXWindow", "Untitled", [50.0, 50.0, 400.0, 300.0]);
        field(world, window, "AXTextArea", "", [60.0, 80.0, 380.0, 260.0]);
        300
    });
    for identifier in ["textedit", "com.example.TextEdit", "TextEdit.app"] {
        desk.mac.world().bring_forward(EDITOR);
        let action = Action::open(identifier);
        let answer = desk.run(action);
        assert!(!answer.is_error, "{identifier}: {}", answer.text);
        assert_eq!(line(&answer, "pid").as_deref(), Some("300"));
        assert!(
            tree(&answer).starts_with("# TextEdit — 3 elements"),
            "{}",
            tree(&answer)
        );
        // The target came to the front, and then the person's front app was restored.
        let world = desk.mac.world();
        let fronts: Vec<u32> = world.fronts.clone();
        assert!(fronts.contains(&300), "{fronts:?}");
        assert_eq!(world.front, EDITOR);
    }
    let answer = desk.run(Action::open("TextEdti"));
    answer.fails_with("'TextEdit'");
}

#[test]
fn a_click_reports_its_diff_and_restores_front_window_and_pointer() {
    let mut desk = Desk::new();
    let body = desk.body;
    desk.mac
        .world()
        .set(body, "AXValue", text("Hey are you free Friday"));
    let answer = desk.click_on("send", "AXButton").ok();
    has(
        &answer.text,
        "Clicked 'Send' [AXButton]. 1 added, 0 removed, 1 modified",
    );
    let tree = tree(&answer);
    assert!(
        tree.starts_with("# diff: +1 added, -0 removed, ~1 modified"),
        "{tree}"
    );
    has(&tree, r#"AXValue: "Hey are you free Friday" -> """#);
    let world = desk.mac.world();
    assert_eq!(clicks(&world), [(MouseButton::Left, 1, (650.5, 124.5))]);
    assert!(world.reached.iter().all(|(_, tag)| *tag == TAG));
    assert_eq!((world.front, world.pointer), (EDITOR, (1_000.0, 800.0)));
    assert!(
        world
            .said
            .iter()
            .any(|s| s == "AI: clicking 'Send' in Mail — press Esc to cancel"),
        "{:?}",
        world.said
    );
    assert!(world.panels.is_empty());
}

#[test]
fn a_click_a_text_and_a_key_make_one_link_with_one_diff() {
    let mut desk = Desk::new();
    let then = Typing::text("Hé漢字😀Ω£ zB! and more than twenty units\nnext")
        .then(KeyPress::parse("Return", &[]).ok());
    desk.click(Target::titled("Message", "AXTextArea"), then.clone())
        .ok();
    let world = desk.mac.world();
    assert_eq!(world.value(desk.body), then.text.unwrap() + "\n");
    for (event, _) in &world.reached {
        if let Event::Text { units, .. } = event {
            assert!(units.len() <= 20, "{units:?}");
        }
    }
    assert_eq!(world.front, EDITOR);
}

#[test]
fn a_shortcut_holds_its_modifiers_by_the_layout_in_use() {
    let mut desk = Desk::new();
    desk.mac.world().no_layout_letters = true;
    desk.press("n", &["Command", "Shift"]).ok();
    let world = desk.mac.world();
    let keys: Vec<(u16, bool, u64)> = world
        .reached
        .iter()
        .filter_map(|(event, _)| match event {
            Event::Key { code, down, flags } => Some((*code, *down, *flags)),
            _ => None,
        })
        .collect();
    let (shift, command) = (0x2_0002, 0x10_0008);
    assert_eq!(
        keys,
        [
            (56, true, shift),
            (55, true, shift | command),
            (45, true, shift | command),
            (45, false, shift | command),
            (55, false, shift),
            (56, false, 0),
        ]
    );
}

#[test]
fn keys_that_a_mac_keyboard_lacks_are_sent_by_their_effect() {
    let mut desk = Desk::new();
    assert!(!desk.press("F24", &[]).is_error);
    assert!(!desk.press("漢", &[]).is_error);
    desk.press("漢", &["Command"])
        .fails_with("keyboard layout has no key for it");
    let world = desk.mac.world();
    let texts: Vec<&Vec<u16>> = world
        .reached
        .iter()
        .filter_map(|(e, _)| match e {
            Event::Text {
                units, down: true, ..
            } => Some(units),
            _ => None,
        })
        .collect();
    assert_eq!(texts, [&vec![0xF71B], &vec!['漢' as u16]]);
}

#[test]
fn scroll_and_drag_use_quartzs_signs_and_small_steps() {
    let mut desk = Desk::new();
    let scroll = Action::Input(Input::Scroll {
        at: Target::at(300, 300),
        delta_x: -3,
        delta_y: 25,
        until: None,
    });
    desk.run(scroll).ok();
    let drag = Action::Input(Input::Drag {
        from: Target::at(200, 250),
        to: Target::at(320, 310),
        to_pid: None,
        modifiers: Modifiers::ALT,
    });
    desk.run(drag).ok();
    let world = desk.mac.world();
    let (mut down, mut across) = (0, 0);
    let mut dragged = Vec::new();
    for (event, _) in &world.reached {
        match event {
            Event::Scroll {
                vertical,
                horizontal,
                ..
            } => {
                assert!(vertical.abs() <= 10);
                (down, across) = (down + vertical, across + horizontal);
            }
            Event::Move {
                to,
                dragging: Some(_),
                flags,
                ..
            } => {
                assert_eq!(*flags, 0x8_0020);
                dragged.push(*to);
            }
            _ => {}
        }
    }
    assert_eq!((down, across), (-25, 3));
    assert_eq!((dragged.len(), dragged.last()), (12, Some(&(320.5, 310.5))));
}

#[test]
fn quiet_tools_use_no_pointer_and_no_keys_and_raise_no_window() {
    let mut desk = Desk::new();
    let press = Action::press_ax(Target::titled("Urgent", "AXCheckBox"));
    let answer = desk.run(press);
    has(tree(&answer), r#""Urgent" | AXChecked: false -> true"#);
    let set = |value: &str| Action::set_value(Target::titled("Volume", "AXSlider"), value);
    for (value, shown) in [("1,5", 1.5), ("40 %", 40.0), ("on", 1.0), ("55", 55.0)] {
        desk.run(set(value)).ok();
        assert_eq!(
            desk.mac.world().value(desk.volume),
            format!("Some(Number({shown:?}))")
        );
    }
    desk.run(set("200"))
        .fails_with("outside its range 0 to 100");
    let world = desk.mac.world();
    assert_eq!(world.value(desk.volume), "Some(Number(55.0))");
    assert!(world.reached.is_empty() && world.said.is_empty());
    assert_eq!((world.front, world.pointer), (EDITOR, (1_000.0, 800.0)));
}

#[test]
fn set_selected_selects_the_row_that_contains_the_text() {
    let mut desk = Desk::new();
    let row = desk.given(|world| {
        let at = [110.0, 430.0, 200.0, 60.0];
        let table = world.add(desk.window, "AXTable", "Folders", at);
        let row = world.add(table, "AXRow", "", [110.0, 430.0, 200.0, 20.0]);
        let cell = world.add(row, "AXCell", "", [110.0, 430.0, 200.0, 20.0]);
        world.add(cell, "AXStaticText", "Inbox", [112.0, 432.0, 100.0, 16.0]);
        world.node(row).settable.insert("AXSelected");
        row
    });
    let select = Action::set_selected(Target::titled("Inbox", "AXStaticText"), true);
    desk.run(select).ok();
    assert_eq!(
        desk.mac.world().node(row).attributes["AXSelected"],
        Value::Bool(true)
    );
    let refused = Action::set_selected(Target::titled("Send", "AXButton"), true);
    desk.run(refused).fails_with("refused set_selected");
}

#[test]
fn wait_for_finds_an_element_that_appears_later() {
    let mut desk = Desk::new();
    let window = desk.window;
    desk.later(150, move |world| {
        world.add(window, "AXButton", "Undo", [130.0, 450.0, 60.0, 20.0]);
    });
    let wait = Action::WaitFor {
        target: Target::titled("Undo", "AXButton"),
        state: Awaited::Present,
        timeout: Duration::from_secs(5),
    };
    let answer = desk.run(wait);
    assert!(!answer.is_error, "{}", answer.text);
    has(tree(&answer), "+ [AXButton] \"Undo\"");
    let wait = Action::WaitFor {
        target: Target::titled("Undo", "AXButton"),
        state: Awaited::State(States::DISABLED),
        timeout: Duration::from_millis(200),
    };
    assert!(desk.run(wait).is_error);
}

#[test]
fn a_place_in_a_catalyst_table_is_found_in_the_tree() {
    let mut desk = Desk::new();
    desk.given(|world| {
        let list = world.add(desk.window, "AXGroup", "", [110.0, 430.0, 300.0, 60.0]);
        for n in 0..3 {
            let top = 430.0 + 20.0 * f64::from(n);
            let cell = world.add(list, "AXGroup", "", [110.0, top, 300.0, 20.0]);
            let place = [115.0, top, 100.0, 18.0];
            world.add(cell, "AXStaticText", &format!("Chat {n}"), place);
        }
    });
    let answer = desk.click(Target::at(160, 455), Typing::default());
    has(&answer.text, "'Chat 1' [AXStaticText]");
}

#[test]
fn an_element_that_is_scrolled_away_is_scrolled_into_view_before_a_click() {
    let mut desk = Desk::new();
    desk.given(|world| {
        let area = world.add(desk.window, "AXScrollArea", "", [110.0, 400.0, 200.0, 80.0]);
        let below = world.add(area, "AXButton", "Below", [110.0, 700.0, 60.0, 20.0]);
        let node = world.node(below);
        node.actions.push("AXScrollToVisible");
        node.pressed = Some(Arc::new(move |world| {
            world.set(below, "AXPosition", Value::Point(110.0, 440.0));
        }));
    });
    desk.click_on("Below", "AXButton").ok();
    assert_eq!(clicks(&desk.mac.world())[0].2, (140.5, 450.5));
}

#[test]
fn links_leave_no_tap_observer_panel_or_element_behind() {
    let mut desk = Desk::new();
    let mut run = |times: usize| {
        for _ in 0..times {
            desk.click_on("Urgent", "AXCheckBox").ok();
        }
        desk.mac.live()
    };
    let (after_two, after_ten) = (run(2), run(8));
    assert_eq!(after_two, after_ten);
    let world = desk.mac.world();
    let left = (
        world.tap.is_some(),
        world.observers.len(),
        world.panels.len(),
    );
    assert_eq!(left, (false, 0, 0));
}
