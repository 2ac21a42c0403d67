//! A pasted text is in the app unchanged, and the person's clipboard is there again, with all its
//! types. Another app's window, the person's, is in front.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)]

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use deskline_testbed::{Bed, CODE, Running, clipboard_manager, has, signal, until};
use rustix::process::Signal;
use serde_json::json;

/// The person's program that has copied something.
struct Copied(Running);

impl Copied {
    fn by(bed: &Bed) -> Self {
        let mut command = clipboard(bed, "copy");
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        output.read_line(&mut line).unwrap();
        assert_eq!(line.trim(), "ready");
        Self(Running(child))
    }
}

fn clipboard(bed: &Bed, what: &str) -> Command {
    let mut command = bed.command("/usr/bin/python3");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("apps/clipboard.py");
    command.arg("-B").arg(script).arg(what);
    command
}

/// The output has a line for each type that has to be kept.
fn on_clipboard(bed: &Bed) -> String {
    let output = clipboard(bed, "show").output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let lines = String::from_utf8_lossy(&output.stdout).into_owned();
    // On a busy machine, further formats of the picture may be left out.
    let repeats = |line: &str| line.starts_with("image/") && !line.starts_with("image/png ");
    lines
        .split_inclusive('\n')
        .filter(|l| !repeats(l))
        .collect()
}

#[test]
fn code_is_pasted_unchanged_and_the_clipboard_is_restored() {
    let (bed, server) = Bed::with_server();
    let (persons, _) = bed.mousepad("");
    let copied = Copied::by(&bed);
    let before = on_clipboard(&bed);
    for kind in ["UTF8_STRING", "text/html", "image/png", "application/x-own"] {
        assert!(before.contains(kind), "{before}");
    }
    for program in ["geany", "featherpad", "gnome-text-editor"] {
        let (app, file) = bed.code_editor(program);
        let paste = json!({"text": CODE, "paste": true});
        persons
            .call_behind(&server, app.pid, "type_and_traverse", paste)
            .ok();
        assert_eq!(on_clipboard(&bed), before, "{program}");
        assert_eq!(bed.screen().front(), persons.window.id, "{program}");
        persons.bring_to_front();
        let all = server.saved(app.pid, &file);
        assert_eq!(all.trim_end(), CODE.trim_end(), "{program}");
    }
    // The app that has copied the data has ended since, as it no longer owns the clipboard.
    drop(copied);
    assert_eq!(on_clipboard(&bed), before);
    // When the server ends, the clipboard manager takes the data over.
    let manager = clipboard_manager(&bed);
    drop(server);
    until("the data at the manager", || manager.is_finished());
    let text = "The person's \u{201e}text\u{201c}, \u{1f600}";
    assert_eq!(manager.join().unwrap(), text);
}

#[test]
fn a_text_of_two_megabytes_goes_in_parts() {
    let (bed, server) = Bed::with_server();
    let (app, file) = bed.mousepad("");
    let (persons, _) = bed.featherpad("");
    let lines = |n: usize| format!("line {n} of a long text, with ümläuts and a 😀\n");
    let text: String = (0..45_000).map(lines).collect();
    assert!(text.len() > 2 << 20);
    let paste = json!({"text": text, "paste": true});
    persons
        .call_behind(&server, app.pid, "type_and_traverse", paste)
        .ok();
    persons.bring_to_front();
    assert!(server.saved(app.pid, &file) == text);
    // Nothing was on the clipboard.
    assert_eq!(on_clipboard(&bed), "");
}

#[test]
fn a_paste_into_a_terminal_uses_the_terminals_own_shortcut() {
    let (bed, server) = Bed::with_server();
    let (persons, _) = bed.featherpad("");
    let copied = Copied::by(&bed);
    let before = on_clipboard(&bed);
    let file = bed.path("typed.txt");
    let shell = format!("gnome-terminal -- sh -c 'cat > {}'", file.display());
    let opened = server.open(&shell);
    let pid: u32 = opened.ok().field("pid").parse().unwrap();
    until("the shell", || file.exists());
    let paste = json!({"text": "é ü $HOME\n", "paste": true});
    persons
        .call_behind(&server, pid, "type_and_traverse", paste)
        .ok();
    until("the line in the file", || {
        fs::read_to_string(&file).unwrap() == "é ü $HOME\n"
    });
    assert_eq!(on_clipboard(&bed), before);
    drop(copied);
}

#[test]
fn an_impossible_paste_is_an_error_and_the_clipboard_keeps_its_content() {
    let (bed, server) = Bed::with_server();
    let (app, (persons, _)) = (bed.canvas(), bed.featherpad(""));
    let copied = Copied::by(&bed);
    let before = on_clipboard(&bed);
    let paste = || {
        let more = json!({"text": "12", "paste": true});
        let answer = persons.call_behind(&server, app.pid, "type_and_traverse", more);
        answer.error().to_owned()
    };
    let error = paste();
    has(&error, "the app did not read the clipboard");
    assert_eq!(on_clipboard(&bed), before);
    // The person's next copy stays on the clipboard. Their app does not answer.
    let next = Copied::by(&bed);
    signal(next.0.id(), Signal::STOP);
    let error = paste();
    assert!(error.contains("did not hand over its 'TARGETS'"), "{error}");
    signal(next.0.id(), Signal::CONT);
    assert_eq!(on_clipboard(&bed), before);
    drop(copied);
}
