//! Pasting: the person's clipboard is lent for as long as the paste takes, and is restored however
//! the link ends.

use insta::assert_snapshot;

use crate::story::{MAIL_WINDOW, Story, pastes};

/// A desk where keys go to the field `To` once the field's window is in front.
fn in_field() -> Story {
    let story = Story::new();
    story.given(|world| world.focus(MAIL_WINDOW, 0));
    story
}

fn clipboard(story: &Story) -> String {
    story.given(|world| world.clipboard.clone())
}

#[test]
fn the_clipboard_is_saved_first_and_restored_before_the_guard_opens() {
    let mut story = in_field();
    story.paste("bob");
    assert_snapshot!(story.acts(), @"
    save clipboard
    grab 'AI: typing in Mail'
    aim 100 2
    activate 2
    read 100 showing
    offer 100
    press_key Control+V
    await_reader
    read 100 showing
    read 100 showing
    give_back
    ungrab
    read 100 again
    read 100 again
    activate 3
    read 100 again
    rest
    ");
    assert!(story.field("summary").starts_with("Pasted 'bob'. "));
    assert_eq!(clipboard(&story), "theirs");
}

#[test]
fn a_paste_is_refused_if_the_clipboard_cannot_be_saved() {
    let mut story = in_field();
    story.script().unsaved = Some("image/png");
    story.paste("bob");
    assert_snapshot!(story.field("error"), @"the user's clipboard cannot be saved: the app that \
        copied it did not hand over its 'image/png' within 3 s. Nothing was pasted, and the \
        clipboard is as it was. Type the text instead, without paste");
    assert_snapshot!(story.acts(), @"
    save clipboard
    release_all
    rest
    ");
    assert!(story.given(|world| world.reached.is_empty()));
}

#[test]
fn an_app_that_does_not_read_the_clipboard_is_an_error() {
    let mut story = in_field();
    story.script().pastes = false;
    story.paste("bob");
    assert_snapshot!(story.field("error"), @"Pressed Control+V, but the app did not read the \
        clipboard within 3 s, so the text was not pasted. The user's clipboard is back. The \
        focused element may take no text, or paste by other keys than Control+V. Click the field \
        first, or type the text without paste");
    assert_eq!(clipboard(&story), "theirs");
}

#[test]
fn a_terminal_pastes_with_shift() {
    let mut story = Story::new();
    let lines = r#"[AXTextArea (terminal)] "$ " x:10 y:10 w:100 h:100 visible"#;
    story.given(|world| {
        world.app(500, "Terminal");
        world.window(500, "Shell", [0, 0, 200, 200], lines);
    });
    story.run_on(500, pastes("ls"));
    let calls = story.calls();
    let pressed = calls.iter().any(|call| call == "press_key Control+Shift+V");
    assert!(pressed, "{}", calls.join("\n"));
}
