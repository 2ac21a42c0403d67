//! Text for controls that look at keys instead of characters.

use deskline_link::Action;
use deskline_link::call::Typing;

use super::desk::{Desk, Expect, field};
use crate::os::Event;
use crate::os::fake::text;

#[test]
fn a_control_that_reads_key_codes_gets_the_keys_of_the_text() {
    let mut desk = Desk::new();
    let shown = desk.given(|world| {
        let root = world.app(301, "Calculator", "/Applications/Calculator.app".into());
        let window = world.add(root, "AXWindow", "Calculator", [700.0, 100.0, 230.0, 400.0]);
        let at = [710.0, 110.0, 200.0, 40.0];
        let shown = field(world, window, "AXTextField", "", at);
        world.set(shown, "AXValue", text(""));
        world.by_code.insert(shown);
        world.focus(301, shown);
        shown
    });
    let typing = Typing::text("17=6");
    desk.run_on(301, Action::type_text(typing)).ok();
    assert_eq!(desk.mac.world().value(shown), "17=6");
}

#[test]
fn each_character_is_an_event_of_its_own() {
    let mut desk = Desk::new();
    let body = desk.body;
    desk.mac.world().focus(super::desk::MAIL, body);
    desk.type_text("naïve 😀X").ok();
    let world = desk.mac.world();
    assert_eq!(world.value(body), "naïve 😀X");
    let texts = world.reached.iter().filter_map(|(event, _)| match event {
        Event::Text {
            units,
            code,
            down: true,
            ..
        } => Some((String::from_utf16_lossy(units), *code)),
        _ => None,
    });
    let texts: Vec<(String, u16)> = texts.collect();
    let wanted = [
        ("n", 45),
        ("a", 0),
        ("ï", 0),
        ("v", 9),
        ("e", 0),
        (" ", 49),
        ("😀", 0),
        ("X", 7),
    ];
    assert_eq!(texts, wanted.map(|(text, code)| (text.to_owned(), code)));
}

/// Zed and others see one key with code 0, which is A, if a text is sent in chunks.
#[test]
fn a_long_text_for_a_control_that_reads_key_codes_arrives_too() {
    let mut desk = Desk::new();
    let body = desk.body;
    desk.given(|world| {
        world.by_code.insert(body);
        world.focus(super::desk::MAIL, body);
    });
    let words = "no maps go away ".repeat(38).replace(['r', 'y', 'w'], "");
    desk.type_text(&words).ok();
    assert_eq!(desk.mac.world().value(body), words);
}

/// Zed draws its fields itself: Accessibility has its window alone.
#[test]
fn a_character_without_a_key_is_refused_if_the_app_may_read_key_codes() {
    let mut desk = Desk::new();
    let window = desk.window;
    desk.given(|world| {
        world.set(window, "AXValue", text(""));
        world.by_code.insert(window);
        world.focus(super::desk::MAIL, window);
    });
    desk.type_text("a漢").fails_with("paste true");
    assert_eq!(desk.mac.world().value(window), "");
    let long = "maps".repeat(1_100);
    desk.type_text(&long).ok();
    assert_eq!(desk.mac.world().value(window), long);
}

/// On US International and many European layouts the quotes are dead keys.
#[test]
fn a_character_on_a_dead_key_is_typed_as_text() {
    let mut desk = Desk::new();
    let body = desk.body;
    desk.given(|world| {
        world.dead_keys.insert(9);
        world.focus(super::desk::MAIL, body);
    });
    desk.type_text("vav").ok();
    desk.press("v", &[]).ok();
    let world = desk.mac.world();
    assert_eq!(world.value(body), "vavv");
    let pressed = world.reached.iter().any(|(event, _)| {
        matches!(
            event,
            Event::Key { code: 9, .. } | Event::Text { code: 9, .. }
        )
    });
    assert!(!pressed, "the dead key itself");
}

/// "Dvorak – QWERTY ⌘"
#[test]
fn a_shortcut_uses_the_key_of_the_layout_that_applies_with_command() {
    let mut desk = Desk::new();
    // C is where another layout has J.
    desk.mac.world().command_plane.push((38, 'c'));
    desk.press("c", &["Command"]).ok();
    let world = desk.mac.world();
    let codes = world.reached.iter().filter_map(|(event, _)| match event {
        Event::Key {
            code, down: true, ..
        } => Some(*code),
        _ => None,
    });
    assert_eq!(codes.collect::<Vec<_>>(), [55, 38]);
}

/// With Pinyin on, each letter begins a word of the input method.
#[test]
fn a_text_bypasses_an_input_method_which_is_on_again_afterwards() {
    let mut desk = Desk::new();
    let body = desk.body;
    desk.mac.world().focus(super::desk::MAIL, body);
    desk.mac.world().method_on = true;
    desk.type_text("http").ok();
    let mut world = desk.mac.world();
    assert_eq!((world.value(body), world.method_on), ("http".into(), true));
    // If an input method stays on, the error names it, and nothing is typed.
    world.quirks.method_stays = true;
    drop(world);
    desk.type_text("http").fails_with("PINYIN");
    assert_eq!(desk.mac.world().value(body), "http");
}

/// `TextEdit`, Notes, Mail and Messages curl quotes.
#[test]
fn quotes_that_the_app_has_curled_are_reported() {
    let mut desk = Desk::new();
    let body = desk.body;
    desk.given(|world| {
        world.curls.insert(body);
        world.focus(super::desk::MAIL, body);
    });
    let answer = desk.type_text("{\"a\": 1}").ok();
    assert!(
        answer.text.contains("instead of") && answer.text.contains('\u{201c}'),
        "{}",
        answer.text
    );
}
