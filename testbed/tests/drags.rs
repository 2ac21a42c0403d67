//! Drags between apps, and drag and drop inside one: judged by the receiving app. Another app's
//! window, the person's, is in front.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::fs;

use deskline_testbed::{Answer, App, Bed, Client, until};
use serde_json::json;

/// The first line of the tree with this role and text, as a ref, once there is one.
fn reference(server: &Client, pid: u32, role: &str, text: &str) -> String {
    until(&format!("{role} {text:?}"), || {
        let read = server.refresh(pid);
        let line = read.find(role, text).filter(|line| line.visible)?;
        Some(line.reference?.to_string())
    })
}

fn starts_with(app: &App<'_>, bed: &Bed, title: &str) -> bool {
    let windows = bed.screen().windows_of(app.pid);
    windows.iter().any(|w| w.title.contains(title))
}

#[test]
fn a_file_is_dragged_from_the_file_manager_into_an_editor() {
    let (bed, server) = Bed::with_server();
    let folder = bed.thunar(&["aa.txt", "cc.txt"]);
    let (editor, _) = bed.mousepad("");
    let persons = bed.windows("gtk3", &[], &["Mine|Mine|300x200+900+600"]);
    // The details view has the files as rows.
    server.press_key(folder.pid, "2", &["Control"]).ok();
    let text = reference(&server, editor.pid, "AXTextArea", "");
    let drag = |file: &str| -> Answer {
        persons.bring_to_front();
        let drag = json!({"pid": folder.pid, "element": file, "toPid": editor.pid, "toRef": text});
        server.call("drag_and_traverse", drag)
    };
    // A part of the editor is under the folder's window.
    bed.screen().move_window(folder.window.id, 0, 0);
    bed.screen().move_window(editor.window.id, 200, 150);
    let answer = drag("cc.txt").ok();
    until("the file in the editor", || {
        starts_with(&editor, &bed, "cc.txt")
    });
    assert_eq!(bed.screen().front(), persons.window.id, "{answer}");
    let summary = answer.field("summary");
    assert!(
        summary.starts_with("Dragged 'cc.txt'") && summary.contains(" of mousepad"),
        "{answer}"
    );
    // The answer describes the effect in the other app.
    let file = answer.file();
    let there = file
        .split("# app_switch: ")
        .nth(1)
        .expect("the editor's diff");
    assert!(
        there.contains("# diff:") && there.contains("cc.txt"),
        "{file}"
    );
    // Without toPid, nothing can be dropped on another app's window.
    persons.bring_to_front();
    let (x, y, w, h) = bed.screen().windows_of(editor.pid)[0].bounds;
    let (x, y) = (x + w.cast_signed() - 30, y + h.cast_signed() - 60);
    editor.bring_to_front();
    let drag = json!({"pid": folder.pid, "element": "aa.txt", "toX": x, "toY": y});
    let refused = server.call("drag_and_traverse", drag);
    assert!(refused.error().contains("toPid"), "{refused}");
    // Delete is the forward key. It deletes both files, which were selected with Control.
    let call = |tool: &str, mut more: serde_json::Value| {
        persons.bring_to_front();
        more["pid"] = folder.pid.into();
        server.call(tool, more).ok()
    };
    call("click_and_traverse", json!({"element": "aa.txt"}));
    let also = json!({"element": "cc.txt", "modifierFlags": ["Control"]});
    call("click_and_traverse", also);
    // Delete for good: moving files to a bin would ask no question.
    let delete = json!({"keyName": "Delete", "modifierFlags": ["Shift"]});
    let asked = call("press_key_and_traverse", delete);
    assert!(asked.field("dialog").contains("Question"), "{asked}");
    let summary = asked.field("summary");
    assert!(!summary.contains("Closed the menu"), "{summary}");
    call("press_key_and_traverse", json!({"keyName": "Return"}));
    let left = bed.path("thunar-folder");
    until("both files to be deleted", || {
        let left = ["aa.txt", "cc.txt"].map(|file| left.join(file).exists());
        (left == [false, false]).then_some(())
    });

    // Drags a download from the browser's list into the folder.
    let link = "<a download='report.txt' href='data:text/plain,figures'>Get it</a>";
    let (browser, _page) = bed.chromium(link);
    bed.screen().move_window(browser.window.id, 700, 100);
    let call = |tool: &str, mut more: serde_json::Value| {
        persons.bring_to_front();
        more["pid"] = browser.pid.into();
        server.call(tool, more).ok()
    };
    call("click_and_traverse", json!({"element": "Get it"}));
    let list = json!({"keyName": "j", "modifierFlags": ["Control"]});
    call("press_key_and_traverse", list);
    let entry = json!({"element": "report.txt", "role": "AXLink"});
    call("wait_for_and_traverse", entry.clone());
    let mut drag = entry;
    drag["toPid"] = folder.pid.into();
    (drag["toX"], drag["toY"]) = (400.into(), 400.into());
    let answer = call("drag_and_traverse", drag);
    until(&format!("the download in the folder: {answer}"), || {
        let arrived = fs::read_to_string(left.join("report.txt")).ok()?;
        (arrived == "figures").then_some(())
    });
    assert_eq!(bed.screen().front(), persons.window.id, "{answer}");
}

#[test]
fn a_file_is_dragged_from_dolphin_into_kate() {
    let (bed, server) = Bed::with_server();
    let folder = bed.dolphin(&["aa.txt", "cc.txt"]);
    let (editor, _) = bed.code_editor("kate");
    let persons = bed.windows("gtk3", &[], &["Mine|Mine|300x200+900+600"]);
    bed.screen().move_window(folder.window.id, 0, 0);
    bed.screen().move_window(editor.window.id, 500, 300);
    let file = until("the file", || {
        let read = server.refresh(folder.pid);
        read.find("AXCell", "cc.txt")?.extents
    });
    // The end is the middle of the editor.
    let (x, y, w, h) = bed.screen().windows_of(editor.pid)[0].bounds;
    let (x, y) = (x + w.cast_signed() / 2, y + h.cast_signed() / 2);
    persons.bring_to_front();
    // Drag the file by its name: without KDE's theme it has no icon, and a drag above the name
    // selects.
    let drag = json!({"pid": folder.pid, "x": file.x + file.w / 2, "y": file.y + file.h - 10,
                      "toPid": editor.pid, "toX": x, "toY": y});
    let answer = server.call("drag_and_traverse", drag).ok();
    until(&format!("the file in the editor: {answer}"), || {
        starts_with(&editor, &bed, "cc.txt").then_some(())
    });
    assert_eq!(bed.screen().front(), persons.window.id, "{answer}");
}

#[test]
fn nothing_is_dropped_on_a_covered_window() {
    let (bed, server) = Bed::with_server();
    let windows = |title: &str, at: &str| format!("{title}|{title}|{at}");
    let over = bed.windows("gtk3", &[], &[&windows("Over", "500x400+100+100")]);
    let under = bed.windows("gtk3", &[], &[&windows("Under", "300x200+200+200")]);
    let persons = bed.windows("gtk3", &[], &[&windows("Mine", "300x200+900+600")]);
    persons.bring_to_front();
    for app in [&over, &under] {
        app.clear_log();
    }
    let drag = json!({"pid": over.pid, "element": "Pad Over", "toPid": under.pid, "toElement": "Pad Under"});
    let refused = server.call("drag_and_traverse", drag);
    let error = refused.error();
    assert!(error.contains("'Over' covers 'Pad Under'"), "{refused}");
    assert_eq!(bed.screen().front(), persons.window.id);
    assert_eq!((over.log(), under.log()), (vec![], vec![]));
}

#[test]
fn rows_are_dragged_inside_lists_and_between_apps() {
    let (bed, server) = Bed::with_server();
    let (persons, _) = bed.mousepad("");
    let apps = [bed.lists("gtk4"), bed.lists("qt6")];
    for (app, x) in apps.iter().zip([20, 520]) {
        bed.screen().move_window(app.window.id, x, 60);
        persons.bring_to_front();
        app.clear_log();
        let drag = json!({"pid": app.pid, "element": "Pear", "toElement": "Nuts"});
        let answer = server.call("drag_and_traverse", drag).ok();
        app.wait_for("dropped Pear on To");
        assert_eq!(bed.screen().front(), persons.window.id, "{answer}");
    }
    // Drag from one app to the other.
    let [gtk, qt] = &apps;
    qt.clear_log();
    let drag = json!({"pid": gtk.pid, "element": "Plum", "toPid": qt.pid, "toElement": "Nuts"});
    let answer = server.call("drag_and_traverse", drag).ok();
    qt.wait_for("dropped Plum on To");
    assert_eq!(bed.screen().front(), persons.window.id, "{answer}");
    answer.has("note: in lists.py: 1 added");
    // No element there accepts the drop, so the icon of the drag flies back.
    let (x, y, ..) = bed.screen().windows_of(qt.pid)[0].bounds;
    let drag = json!({"pid": gtk.pid, "element": "Plum", "toPid": qt.pid,
                      "toX": x + 3, "toY": y + 150});
    let answer = server.call("drag_and_traverse", drag).ok();
    assert_eq!(bed.screen().front(), persons.window.id, "{answer}");
}

/// The row, and the window that comes to the front, fade while the drag goes on; the icon of a
/// refused drag flies back.
#[test]
fn a_drag_that_the_app_refuses_is_reported_as_moving_nothing() {
    let (bed, server) = Bed::with_server();
    let (persons, _) = bed.mousepad("");
    for kit in ["gtk3", "gtk4", "qt5", "qt6"] {
        let app = bed.refuses(kit);
        let call = |tool: &str, more| persons.call_behind(&server, app.pid, tool, more);
        let one = if kit == "gtk4" { "AXButton" } else { "AX" };
        let drag = |to: &str| json!({"do": "drag", "element": "One", "role": one, "toElement": to});
        if kit != "gtk4" {
            call("click_and_traverse", json!({"element": "One"})).ok();
        }
        for first in ["Fixed", "Takes", "Refuses"] {
            let steps = json!({"steps": [drag(first), drag("Refuses")]});
            let answer = call("chain_and_traverse", steps);
            let error = answer.error();
            let step = if first == "Takes" { "Step 2" } else { "Step 1" };
            assert!(
                error.contains(step) && error.contains("nothing has moved"),
                "{kit}: {answer}"
            );
            // The drag's icon is no dialog.
            assert!(!answer.text.contains("dialog: "), "{kit}: {answer}");
        }
        assert_eq!(app.log(), ["dropped"], "{kit}");
        let read = server.refresh(app.pid);
        assert!(!read.text.contains("late_changes"), "{kit}: {read}");
    }
}
