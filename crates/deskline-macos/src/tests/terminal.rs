//! Long texts: a terminal's end, a document around its caret.

use deskline_link::Action;

use super::desk::{Desk, Expect, MAIL, element, has, tree};
use crate::os::Value;
use crate::os::fake::{Id, text};

/// The text area of a terminal with this many lines.
fn terminal(lines: usize, bundle: &str) -> (Desk, Id) {
    text_in("AXScrollArea", lines, bundle)
}

/// A text area of this many lines, in a container of this role.
fn text_in(role: &str, lines: usize, bundle: &str) -> (Desk, Id) {
    let desk = Desk::new();
    let window = desk.window;
    let area = desk.given(|world| {
        world.apps.get_mut(&MAIL).unwrap().bundle_id = Some(bundle.into());
        let at = [100.0, 120.0, 600.0, 380.0];
        let scroll = world.add(window, role, "", at);
        let area = world.add(scroll, "AXTextArea", "shell", at);
        let all: Vec<String> = (1..=lines).map(|n| format!("line {n} of it")).collect();
        world.set(area, "AXValue", text(&all.join("\n")));
        world.set(area, "AXSelectedTextRange", Value::Range(0, 0));
        world.moved = 0;
        area
    });
    (desk, area)
}

fn shown(desk: &mut Desk) -> String {
    let answer = desk.run(Action::Refresh).ok();
    element(&tree(&answer), "[AXTextArea] \"shell\"").to_owned()
}

#[test]
fn only_the_newest_lines_of_a_terminal_are_transferred() {
    let (mut desk, _) = terminal(5_000, "com.apple.Terminal");
    let line = shown(&mut desk);
    assert!(
        line.contains("line 5000 of it") && !line.contains("line 1 of"),
        "{line}"
    );
    let moved = desk.mac.world().moved;
    assert!(moved < 10_000, "{moved} bytes");
}

#[test]
fn a_short_terminal_text_is_shown_whole() {
    let (mut desk, _) = terminal(3, "com.apple.Terminal");
    let line = shown(&mut desk);
    has(&line, "line 1 of it\\nline 2 of it\\nline 3 of it");
}

#[test]
fn a_document_shows_the_part_around_its_caret_or_the_visible_part() {
    let (mut desk, area) = terminal(5_000, "com.example.Editor");
    let place = desk.mac.world().value(area).find("line 2500 ").unwrap();
    desk.mac
        .world()
        .set(area, "AXSelectedTextRange", Value::Range(place, 4));
    let line = shown(&mut desk);
    has(&line, "line 2500 of it");
    let mut world = desk.mac.world();
    world.set(area, "AXSelectedTextRange", Value::Range(0, 0));
    world.set(area, "AXVisibleCharacterRange", Value::Range(place, 200));
    drop(world);
    let line = shown(&mut desk);
    has(&line, "line 2500 of it");
}

/// Ghostty and web pages report their texts like this.
#[test]
fn a_long_text_outside_a_scroll_area_shows_the_part_around_its_caret() {
    let (mut desk, _) = text_in("AXGroup", 5_000, "com.mitchellh.ghostty");
    let line = shown(&mut desk);
    has(&line, "line 5000 of it");
    let (mut desk, area) = text_in("AXGroup", 5_000, "com.example.Browser");
    let place = desk.mac.world().value(area).find("line 2500 ").unwrap();
    let caret = Value::Range(place, 0);
    desk.mac.world().set(area, "AXSelectedTextRange", caret);
    let line = shown(&mut desk);
    has(&line, "line 2500 of it");
}
