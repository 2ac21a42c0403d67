//! Text for controls that look at keys instead of characters.

use deskline_link::Action;
use deskline_link::Tool;
use deskline_link::call::{Input, Typing};

use super::desk::{Desk, field};
use crate::os::Event;
use crate::os::fake::text;

#[test]
fn a_control_that_reads_key_codes_gets_the_keys_of_the_text() {
    let mut desk = Desk::new();
    let shown = {
        let mut world = desk.mac.world();
        let root = world.app(301, "Calculator", "/Applications/Calculator.app".into());
        let window = world.add(root, "AXWindow", "Calculator", [700.0, 100.0, 230.0, 400.0]);
        let shown = field(
            &mut world,
            window,
            "AXTextField",
            "",
            [710.0, 110.0, 200.0, 40.0],
        );
        world.set(shown, "AXValue", text(""));
        world.by_code.insert(shown);
        world.focus(301, shown);
        shown
    };
    let typing = Typing {
        paste: false,
        text: Some("17=6".into()),
        key: None,
    };
    let answer = desk.run_on(301, Tool::Type, Action::Input(Input::Type { typing }));
    assert!(!answer.is_error, "{}", answer.text);
    assert_eq!(desk.mac.world().value(shown), "17=6");
}

#[test]
fn each_character_is_an_event_of_its_own() {
    let mut desk = Desk::new();
    let body = desk.body;
    desk.mac.world().focus(super::desk::MAIL, body);
    let answer = desk.type_text("naïve 😀X");
    assert!(!answer.is_error, "{}", answer.text);
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
