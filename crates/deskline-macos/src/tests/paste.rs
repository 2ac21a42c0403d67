//! Pasting: the agent's text is on the person's pasteboard only for as long as a paste takes. Then
//! the person's items are back, with all their types.

use std::sync::Arc;

use deskline_link::call::Typing;
use deskline_link::{Action, Answer};

use super::desk::{Desk, EDITOR, Expect, MAIL, has};
use crate::os::PasteboardItem;
use crate::os::fake::World;
use crate::os::fake::pasteboard::paste;

/// The key code of V.
const V: u16 = 9;

const TEXT: &str = "x\ty 漢字 😀";

fn copied() -> Vec<PasteboardItem> {
    let item = |types: &[(&str, &[u8])]| {
        let types = types
            .iter()
            .map(|(kind, data)| ((*kind).to_owned(), data.to_vec()));
        types.collect()
    };
    vec![
        item(&[
            ("public.utf8-plain-text", b"theirs"),
            ("public.html", b"<b>theirs</b>"),
            ("com.example.own", &[0, 1, 255]),
        ]),
        item(&[("public.file-url", b"file:///b.txt")]),
    ]
}

/// The editor is in front. Mail's field has the keyboard once Mail's window is in front, and
/// pastes.
fn desk() -> Desk {
    let desk = Desk::new();
    let body = desk.body;
    let mut world = desk.mac.world();
    world.focus(MAIL, body);
    world.pasteboard.copy(copied());
    let shortcuts = &mut world.apps.get_mut(&MAIL).unwrap().shortcuts;
    shortcuts.insert(V, Arc::new(paste));
    drop(world);
    desk
}

fn pastes(desk: &mut Desk) -> Answer {
    let typing = Typing {
        paste: true,
        text: Some(TEXT.into()),
        key: None,
    };
    desk.run_on(MAIL, Action::type_text(typing))
}

#[test]
fn a_pasted_text_is_exact_and_the_pasteboard_is_restored() {
    let mut desk = desk();
    pastes(&mut desk).ok();
    let body = desk.body;
    let world = desk.mac.world();
    assert_eq!(world.value(body), TEXT);
    assert_eq!(world.pasteboard.items, copied());
    assert_eq!(world.front, EDITOR);
}

#[test]
fn if_the_app_does_not_paste_the_call_fails_and_the_pasteboard_is_back() {
    let mut desk = desk();
    // The text is there meanwhile, with the marks that clipboard managers skip.
    let nothing = Arc::new(|world: &mut World| {
        let items = world.pasteboard.items.iter().flatten();
        let marks = ["TransientType", "ConcealedType"].map(|m| format!("org.nspasteboard.{m}"));
        assert!(items.map(|(kind, _)| kind).eq(&marks));
    });
    let mut world = desk.mac.world();
    world
        .apps
        .get_mut(&MAIL)
        .unwrap()
        .shortcuts
        .insert(V, nothing);
    drop(world);
    let answer = pastes(&mut desk);
    has(&answer.text, "did not read the clipboard");
    assert_eq!(desk.mac.world().pasteboard.items, copied());
}

#[test]
fn a_paste_is_refused_if_the_pasteboard_cannot_be_saved() {
    let withheld = ("public.html", "its 'public.html' did not arrive within 3 s");
    let promised = (
        "com.apple.pasteboard.promised-file-url",
        "do not exist until they are pasted",
    );
    for (kind, wanted) in [withheld, promised] {
        let mut desk = desk();
        let mut items = copied();
        items.push(vec![(kind.to_owned(), Vec::new())]);
        let mut world = desk.mac.world();
        world.pasteboard.withheld = Some("public.html").filter(|withheld| *withheld == kind);
        let changes = world.pasteboard.copy(items);
        drop(world);
        pastes(&mut desk).fails_with(wanted);
        let world = desk.mac.world();
        assert_eq!(world.pasteboard.changes, changes);
        assert!(world.reached.is_empty());
    }
}

#[test]
fn data_that_the_person_copies_meanwhile_stays_on_the_pasteboard() {
    // The person copies something while the pasteboard is being saved.
    let theirs = || vec![vec![("public.utf8-plain-text".to_owned(), b"new".to_vec())]];
    let mut desk = desk();
    desk.mac.world().pasteboard.copied_meanwhile = Some(theirs());
    pastes(&mut desk).ok();
    assert_eq!(desk.mac.world().pasteboard.items, theirs());
    // The person copies something after the app has read the agent's text.
    let mut world = desk.mac.world();
    let then_copies = move |world: &mut crate::os::fake::World| {
        paste(world);
        world.pasteboard.copy(theirs());
    };
    let shortcuts = &mut world.apps.get_mut(&MAIL).unwrap().shortcuts;
    shortcuts.insert(V, Arc::new(then_copies));
    world.pasteboard.copy(copied());
    drop(world);
    pastes(&mut desk).ok();
    assert_eq!(desk.mac.world().pasteboard.items, theirs());
}
