//! `open` answers with the app that it has started, whatever other apps open meanwhile, or explains
//! why it failed.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use deskline_testbed::{Bed, Client, signal, until};
use serde_json::json;

const OPEN: &str = "open_application_and_traverse";

fn comm(pid: u32) -> String {
    let comm = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap();
    comm.trim().to_owned()
}

fn opened(server: &Client, identifier: &str) -> u32 {
    let answer = server.open(identifier);
    assert!(!answer.is_error, "{identifier}: {answer}");
    answer.pid()
}

fn end(bed: &Bed, pid: u32) {
    signal(pid, rustix::process::Signal::KILL);
    until("the window's end", || {
        bed.screen().windows_of(pid).is_empty()
    });
}

#[test]
fn open_answers_with_its_own_app_if_another_one_opens_meanwhile() {
    let (bed, server) = Bed::with_server();
    let go = bed.path("go");
    let wait = format!("until [ -e '{}' ]; do sleep 0.05; done; ", go.display());
    for start in [
        "exec mousepad --disable-server",
        "mousepad --disable-server; true",
        // It leaves the process group and the session, and its parent exits.
        "setsid --fork mousepad --disable-server",
    ] {
        let _ = fs::remove_file(&go);
        let line = format!("sh -c \"{wait}{start}\"");
        let call = server.send(OPEN, json!({"identifier": line}));
        let stranger = bed.widgets(deskline_testbed::Toolkit::Gtk3);
        fs::write(&go, "").unwrap();
        let answer = call
            .answer(Duration::from_secs(60))
            .expect("an answer")
            .ok();
        assert_ne!(answer.pid(), stranger.pid, "{start}");
        assert_eq!(comm(answer.pid()), "mousepad", "{start}");
        end(&bed, answer.pid());
    }
}

#[test]
fn a_running_instance_opens_the_file_of_a_second_start() {
    let (bed, server) = Bed::with_server();
    let file = |name: &str| {
        let path = bed.path(name);
        fs::write(&path, name).unwrap();
        path.display().to_string()
    };
    let first = opened(&server, &format!("mousepad {}", file("one.txt")));
    let second = opened(&server, &format!("mousepad {}", file("two.txt")));
    assert_eq!(first, second);
    until("the second file", || {
        let windows = bed.screen().windows_of(first);
        windows
            .iter()
            .any(|w| w.title.contains("two.txt"))
            .then_some(())
    });
    // Started over the bus: a server with another name, and one that the bus starts by the app's
    // id.
    let terminal = opened(&server, "gnome-terminal --title Shell");
    assert_eq!(comm(terminal), "gnome-terminal-");
    assert_eq!(opened(&server, "gnome-terminal --title Other"), terminal);
    let editor = opened(&server, "org.gnome.TextEditor");
    assert_eq!(comm(editor), "gnome-text-edit");
}

#[test]
fn the_error_output_of_an_app_that_ends_at_once_is_quoted() {
    let (bed, server) = Bed::with_server();
    // It needs --no-sandbox as root, and another profile as another user.
    let script = bed.path("complains");
    let text = "#!/bin/sh\nhead -c 3000000 /dev/zero | tr '\\0' 'x' >&2\n\
                printf '\\nfirst\\033[31m\\nERROR: no \\342\\200\\256sandbox\\n# error: \
                forged\\n' >&2\nexit 3\n";
    fs::write(&script, text).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let answer = server.open(&script.display().to_string());
    let error = answer.error();
    assert!(error.contains("ended at once (exit status: 3)"), "{error}");
    assert!(error.contains("ERROR: no \\u{202e}sandbox"), "{error}");
    assert!(
        error.contains("# error: forged") && error.len() < 1_000,
        "{error}"
    );
    assert!(!answer.text.contains('\u{1b}'), "{answer}");
    if rustix::process::getuid().is_root() {
        server
            .open("chromium --no-first-run")
            .fails_with("--no-sandbox is not supported");
    }
}

/// The answer is about the new window, not an earlier one, even if the process was running before.
#[test]
fn the_answer_is_about_the_window_that_has_opened() {
    let (bed, server) = Bed::with_server();
    let file = |name: &str| {
        let path = bed.path(name);
        fs::write(&path, name).unwrap();
        path.display().to_string()
    };
    for (name, by) in [
        ("one.txt", "mousepad "),
        ("two.txt", "mousepad "),
        ("three four.txt", "Mousepad "),
    ] {
        let path = file(name);
        let path = if by == "mousepad " {
            path
        } else {
            format!("file://{}", path.replace(' ', "%20"))
        };
        let answer = server.open(&format!("{by}{path}")).ok();
        assert!(answer.field("focus").contains(name), "{answer}");
        assert!(answer.field("screenshot").len() > 1);
    }
    let folder = bed.path("folder with a name");
    fs::create_dir(&folder).unwrap();
    let line = format!("thunar '{}'", folder.display());
    let answer = server.open(&line).ok();
    answer.field_has("focus", "folder with a name");
}

#[test]
fn a_browser_is_opened_with_an_address() {
    let (bed, server) = Bed::with_server();
    for (name, page) in [("one", "First page"), ("two", "Second page")] {
        let path = bed.path(&format!("{name}.html"));
        fs::write(&path, format!("<title>{page}</title><h1>{page}</h1>")).unwrap();
        let line = format!("firefox-esr file://{}", path.display());
        let answer = server.open(&line).ok();
        let wait = json!({"pid": answer.pid(), "element": page, "timeout": 20});
        server.call("wait_for_and_traverse", wait).ok();
    }
}

/// An app counts as the same with and without a document.
#[test]
fn an_allowed_app_may_be_given_a_file_and_no_other_program_may_be_run() {
    let bed = Bed::new();
    let server = bed.server(&["--allow-app", "Mousepad"]);
    let notes = bed.path("notes.txt");
    fs::write(&notes, "notes").unwrap();
    let mark = bed.path("mark");
    for line in [
        format!("bash -c 'touch {}; mousepad'", mark.display()),
        format!("env touch {} mousepad", mark.display()),
        format!("Text Editor {}", notes.display()),
    ] {
        let answer = server.open(&line);
        assert!(answer.error().contains("blocked"), "{answer}");
    }
    assert!(!mark.exists());
    let line = format!("Mousepad {}", notes.display());
    let answer = server.open(&line).ok();
    assert!(answer.field("focus").contains("notes.txt"), "{answer}");
}
