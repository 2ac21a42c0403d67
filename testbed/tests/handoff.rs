//! A file dialog of the portal comes to the front: the answer describes it, and the next call can
//! use it.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::fs;

use std::time::{Duration, Instant};

use deskline_testbed::{Answer, Bed, Client, until};
use serde_json::json;

/// The pid of the process that came to the front, from the answer.
#[track_caller]
fn app_switch(answer: &Answer) -> u32 {
    let line = answer.field("app_switch");
    assert!(line.ends_with(" is now frontmost"), "{line}");
    let pid = line.split("(PID: ").nth(1).unwrap().split(')').next();
    pid.unwrap().parse().unwrap()
}

/// Checks all that an answer promises about a handoff.
#[track_caller]
fn is_handed_off(bed: &Bed, answer: &Answer, pid: u32) -> u32 {
    let dialog = app_switch(answer);
    assert_ne!(dialog, pid);
    let command = fs::read_to_string(format!("/proc/{dialog}/cmdline")).unwrap();
    assert!(command.contains("xdg-desktop-portal-gtk"), "{command}");
    let file = answer.file();
    let header = format!("(PID: {dialog})");
    let after = file
        .lines()
        .skip_while(|l| !(l.starts_with("# app_switch: ") && l.ends_with(&header)));
    let tree: Vec<&str> = after.collect();
    assert!(tree.len() > 20, "no tree of the dialog in\n{file}");
    assert!(
        tree.iter()
            .any(|l| l.contains("[AXButton (push button)] \"Cancel\"")),
        "{tree:#?}"
    );
    assert!(
        !answer.list("app_switch_visible_elements").is_empty(),
        "{answer}"
    );
    assert!(answer.text.chars().count() < 4_000);
    // The dialog stays in front: nothing is restored.
    let windows = bed.screen().windows_of(dialog);
    let front = bed.screen().front();
    let window = windows
        .iter()
        .find(|w| w.id == front)
        .expect("the dialog is not at the front");
    // The picture shows the dialog.
    let picture = answer.picture();
    let (width, height) = (picture.width, picture.height);
    let (_, _, w, h) = window.bounds;
    let near = |a: i32, b: u32| a.cast_unsigned().abs_diff(b) <= 60;
    assert!(
        near(width, w) && near(height, h),
        "{width}×{height}, the window is {w}×{h}"
    );
    dialog
}

/// Replaces the text in the dialog's focused field by a path, and accepts it. GTK selects a
/// proposed name without its suffix.
fn choose(bed: &Bed, server: &Client, dialog: u32, path: &str, accept: &str) {
    server.press_key(dialog, "a", &["Control"]).ok();
    server.type_text(dialog, path).ok();
    let accept = json!({"pid": dialog, "element": accept, "role": "AXButton"});
    // If GTK 3's list of completions is open by then, it swallows the first click, a person's too.
    // Click once more if the dialog is still there.
    let mut clicked: Option<Instant> = None;
    until("the dialog to close", || {
        let open = !bed.screen().windows_of(dialog).is_empty();
        if open && clicked.is_none_or(|at| at.elapsed() > Duration::from_secs(2)) {
            server.call("click_and_traverse", accept.clone()).ok();
            clicked = Some(Instant::now());
        }
        (!open).then_some(())
    });
}

/// Makes the open dialog show its location field.
fn show_location(server: &Client, dialog: u32) {
    server.press_key(dialog, "l", &["Control"]).ok();
}

#[test]
fn chromium_opens_a_file_chosen_in_the_portals_dialog() {
    let (bed, server) = Bed::with_server();
    fs::write(bed.path("chosen.html"), "<title>Chosen page</title>ok").unwrap();
    let (app, _page) = bed.chromium("<button>Nothing</button>");
    let answer = server.press_key(app.pid, "o", &["Control"]);
    let answer = answer.ok();
    let dialog = is_handed_off(&bed, &answer, app.pid);
    let path = bed.path("chosen.html").display().to_string();
    show_location(&server, dialog);
    choose(&bed, &server, dialog, &path, "Select");
    until("the chosen page", || {
        let windows = bed.screen().windows_of(app.pid);
        windows
            .iter()
            .any(|w| w.title.starts_with("Chosen page"))
            .then_some(())
    });
}

#[test]
fn a_click_in_a_page_opens_the_portal() {
    let (bed, server) = Bed::with_server();
    fs::write(bed.path("upload.txt"), "content to send").unwrap();
    let (app, page) = bed.chromium(
        "<input type=file aria-label=Pick><button onclick=\"log('other')\">Other</button><script>\
         document.querySelector('input').addEventListener('change', async e => \
         log('got', e.target.files[0].name, await e.target.files[0].text()));</script>",
    );
    let theirs = bed.windows("gtk3", &[], &["Mine|Mine|300x200+900+600"]);
    theirs.bring_to_front();
    let answer = server.call(
        "click_and_traverse",
        json!({"pid": app.pid, "element": "Pick"}),
    );
    let dialog = is_handed_off(&bed, &answer.ok(), app.pid);
    // Chromium ignores clicks on the page until its dialog is answered.
    let other = json!({"pid": app.pid, "element": "Other"});
    let refused = server.call("click_and_traverse", other);
    refused.fails_with("takes no other input until the dialog is answered");
    assert!(page.log().is_empty(), "{:?}", page.log());
    let path = bed.path("upload.txt").display().to_string();
    show_location(&server, dialog);
    choose(&bed, &server, dialog, &path, "Select");
    page.wait_for("got upload.txt content to send");
}

#[test]
fn gnome_text_editor_saves_a_file_through_the_portal() {
    let (bed, server) = Bed::with_server();
    let app = bed.gnome_text_editor();
    let typed = server.type_text(app.pid, "saved words");
    typed.ok();
    let answer = server.press_key(app.pid, "s", &["Control"]);
    let dialog = is_handed_off(&bed, &answer.ok(), app.pid);
    let path = bed.path("saved.txt");
    choose(&bed, &server, dialog, &path.display().to_string(), "Save");
    let content = until("the file", || {
        fs::read_to_string(&path).ok().filter(|c| !c.is_empty())
    });
    assert_eq!(content.trim_end(), "saved words");
}

/// A plug-in draws the dialog, which opens after the answer. A wait and the steps of a chain find
/// the dialog. Other calls run during the wait.
#[test]
fn a_dialog_that_a_process_of_the_app_draws_is_followed() {
    let (bed, server) = Bed::with_server();
    let theirs = bed.windows("gtk3", &[], &["Mine|Mine|300x200+900+600"]);
    let app = bed.plugin();
    theirs.bring_to_front();
    server.click(app.pid, "AXButton", "Export").ok();
    app.wait_for("exports");
    let wait = json!({"pid": app.pid, "element": "Save", "role": "AXButton", "timeout": 20});
    let wait = server.send("wait_for_and_traverse", wait);
    let start = Instant::now();
    server.applications().ok();
    assert!(start.elapsed() < Duration::from_millis(1_200), "{start:?}");
    let came = wait
        .answer(Duration::from_secs(25))
        .expect("the dialog")
        .ok();
    let dialog = app_switch(&came);
    assert_ne!(dialog, app.pid);
    server.click(dialog, "AXButton", "Save").ok();
    app.wait_for("saved");
    app.clear_log();
    theirs.bring_to_front();
    let steps = json!([
        {"do": "click", "element": "Export", "role": "AXButton"},
        {"do": "wait_for", "element": "Export Image", "role": "AXWindow"},
        {"do": "click", "element": "Save", "role": "AXButton"},
    ]);
    let chain = json!({"pid": app.pid, "window": "Host", "steps": steps});
    let answer = server.call("chain_and_traverse", chain).ok();
    app.wait_for("saved");
    assert_eq!(answer.list("steps").len(), 3, "{answer}");
}
