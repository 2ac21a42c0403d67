//! An app with several windows: clicks, texts and scrolling go to the window that contains the
//! element, and pictures show it, not another window with the same bounds.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::fs;

use deskline_core::{Line, States};
use deskline_testbed::{Answer, App, Bed, Client, PATIENCE, Toolkit, letter, slide, until};
use serde_json::json;

const TOOLKITS: [&str; 4] = ["gtk3", "gtk4", "qt5", "qt6"];

#[track_caller]
fn push(server: &Client, app: &App<'_>, name: &str) {
    app.clear_log();
    let element = format!("Push {name}");
    let answer = server.click(app.pid, "AXButton", &element).ok();
    let pushed = format!("pushed {name}");
    until(&pushed, || !app.log().is_empty());
    assert_eq!(app.log(), [pushed], "{answer}");
    let summary = answer.field("summary");
    assert!(summary.contains(&element), "{summary}");
}

#[track_caller]
fn type_into(server: &Client, app: &App<'_>, name: &str) {
    app.clear_log();
    let element = format!("Note {name}");
    let answer = server.fill(app.pid, "AXTextField", &element, "x").ok();
    until(&format!("the text, after {answer}"), || {
        !app.log().is_empty()
    });
    assert_eq!(app.log(), [format!("text {name} x")], "{answer}");
}

/// Two maximised windows of one process: each element has the same bounds as its double.
#[test]
fn input_reaches_the_right_one_of_two_maximised_windows() {
    let (bed, server) = Bed::with_server();
    for toolkit in TOOLKITS {
        let app = bed.windows(toolkit, &[], &["Alpha|Alpha|max", "Beta|Beta|max"]);
        for name in ["Alpha", "Beta", "Alpha"] {
            push(&server, &app, name);
        }
        for name in ["Beta", "Alpha"] {
            type_into(&server, &app, name);
        }
    }
}

/// Windows of the same title and bounds, with another app in front of them.
#[test]
fn input_reaches_the_right_one_of_three_twin_windows() {
    let (bed, server) = Bed::with_server();
    let other = bed.windows("gtk3", &[], &["Other|Other|300x200+900+600"]);
    for toolkit in TOOLKITS {
        let twins = [
            "Alpha|Twin|300x240",
            "Beta|Twin|300x240",
            "Gamma|Twin|300x240",
        ];
        let app = bed.windows(toolkit, &[], &twins);
        // Window managers do not give windows of one app the same position: move them.
        for window in bed.screen().windows_of(app.pid) {
            bed.screen().move_window(window.id, 300, 200);
        }
        other.bring_to_front();
        for name in ["Alpha", "Gamma", "Beta"] {
            push(&server, &app, name);
            assert_eq!(bed.screen().front(), other.window.id, "{toolkit}: {name}");
        }
        type_into(&server, &app, "Beta");
    }
}

/// A dialog of its parent's title and size, which stays above it. A name that only the window
/// behind a dialog has is refused, with the ref that is clicked all the same.
#[test]
fn input_reaches_a_dialog_that_looks_like_its_parent() {
    let (bed, server) = Bed::with_server();
    for toolkit in TOOLKITS {
        let app = bed.windows(
            toolkit,
            &[],
            &["Alpha|Twin|300x240", "Beta|Twin|dialog 300x240"],
        );
        for (window, x) in bed.screen().windows_of(app.pid).iter().zip([60, 700]) {
            bed.screen().move_window(window.id, x, 200);
        }
        push(&server, &app, "Beta");
        app.clear_log();
        // GTK calls such a window a frame, Qt a dialog.
        let answer = server.click(app.pid, "AXButton", "Push Alpha");
        if answer.is_error {
            answer.fails_with("behind this dialog");
            assert_eq!(app.log(), Vec::<String>::new(), "{answer}");
        } else {
            until("the button's log", || !app.log().is_empty());
            assert_eq!(app.log(), ["pushed Alpha"], "{answer}");
        }
        let read = server.refresh(app.pid).ok();
        let by_ref = |role, text: &str, more: serde_json::Value| {
            let line = read.find(role, text).unwrap();
            let mut call = json!({"pid": app.pid, "ref": line.reference.unwrap().to_string()});
            if !more.is_null() {
                call["text"] = more;
            }
            app.clear_log();
            let answer = server.call("click_and_traverse", call).ok();
            until(text, || !app.log().is_empty());
            (app.log(), answer)
        };
        let (log, answer) = by_ref("AXButton", "Push Alpha", json!(null));
        assert_eq!(log, ["pushed Alpha"], "{answer}");
        let (log, answer) = by_ref("AXTextField", "Note Alpha", json!("x"));
        assert_eq!(log, ["text Alpha x"], "{answer}");
        type_into(&server, &app, "Beta");
    }
}

/// GTK 4.8 does not report dialogs as showing.
#[test]
fn a_dialog_of_gtk_4_is_visible_and_clicked() {
    let (bed, server) = Bed::with_server();
    let app = bed.chooser();
    let (person, _) = bed.mousepad("");
    let cancel = json!({"element": "Cancel", "role": "AXButton"});
    person
        .call_behind(&server, app.pid, "click_and_traverse", cancel)
        .ok();
    app.wait_for("chose None");
}

/// A point means the app's topmost window there, whatever windows other apps have there.
#[test]
fn a_point_means_the_topmost_window_of_the_app_there() {
    let (bed, server) = Bed::with_server();
    for toolkit in TOOLKITS {
        let app = bed.windows(toolkit, &[], &["Alpha|Alpha|max", "Beta|Beta|max"]);
        let seen = server.refresh(app.pid).ok();
        let at = seen.line_of("AX", "Pad Alpha").extents.unwrap().center();
        for (on_top, title) in [("Alpha", "Alpha"), ("Beta", "Beta")] {
            let windows = bed.screen().windows_of(app.pid);
            let window = windows.iter().find(|w| w.title == title).unwrap();
            bed.screen().bring_to_front(window.id);
            let place = json!({"pid": app.pid, "x": at.x, "y": at.y});
            let answer = server.call("click_and_traverse", place).ok();
            app.wait_for(&format!("pad press {on_top}"));
            let summary = answer.field("summary");
            assert!(summary.contains(on_top), "{toolkit}: {summary}");
            let place = json!({"pid": app.pid, "x": at.x, "y": at.y, "deltaY": 1});
            server.call("scroll_and_traverse", place).ok();
            app.wait_for(&format!("pad scroll {on_top}"));
            let other = if on_top == "Alpha" { "Beta" } else { "Alpha" };
            let log = app.full_log();
            assert!(
                log.iter().all(|l| !l.ends_with(other)),
                "{toolkit}: {log:?}"
            );
            app.clear_log();
        }
    }
}

/// The picture shows the window that contains the target, even if another one is in front.
#[test]
fn the_picture_shows_the_targets_window() {
    let (bed, server) = Bed::with_server();
    let windows = ["Alpha|Alpha|300x280+40+40", "Beta|Beta|500x400+600+300"];
    let app = bed.windows("gtk3", &[], &windows);
    for (name, width) in [("Alpha", "300×"), ("Beta", "500×"), ("Alpha", "300×")] {
        let arguments = json!({"pid": app.pid, "element": format!("Push {name}")});
        for tool in ["press_ax_and_traverse", "click_and_traverse"] {
            app.clear_log();
            server.call(tool, arguments.clone()).ok();
            app.wait_for(&format!("pushed {name}"));
            let picture = server.call("view_screenshot", json!({})).ok();
            assert!(picture.text.contains(width), "{tool} {name}: {picture}");
        }
    }
}

/// Both ends of a drag are brought into view, or nothing happens.
#[test]
fn the_ends_of_a_drag_are_brought_into_view() {
    let (bed, server) = Bed::with_server();
    let app = bed.widgets(Toolkit::Gtk3);
    let reference = |role: &str, text: &str| {
        let seen = server.refresh(app.pid).ok();
        format!("{}", seen.line_of(role, text).reference.unwrap())
    };
    // A row that was scrolled out of view is dragged to the pad. The list gets the release.
    let pad = reference("AX", "Pad");
    let (near, far) = (reference("AX", "Row 3"), reference("AX", "Row 190"));
    let drag = |from: &str, to: &str| {
        server.call(
            "drag_and_traverse",
            json!({"pid": app.pid, "ref": from, "toRef": to}),
        )
    };
    app.clear_log();
    drag(&pad, &far).ok();
    app.wait_for("pad release 1");
    let seen = server.refresh(app.pid).ok();
    assert!(seen.line_of("AX", "Row 190").visible, "{}", seen.file());
    // The two rows are never visible together.
    app.clear_log();
    drag(&near, &far).fails_with("are not visible at the same time");
    assert_eq!(app.log(), [] as [String; 0]);
}

/// Nothing is dropped on a window that covers the end of a drag.
#[test]
fn a_drop_does_not_land_on_a_window_that_covers_its_target() {
    let (bed, server) = Bed::with_server();
    let windows = ["Alpha|Alpha|400x300+100+100", "Beta|Beta|400x300+700+100"];
    let app = bed.windows("gtk3", &[], &windows);
    let seen = server.refresh(app.pid).ok();
    let end = seen.line_of("AX", "Pad Beta");
    let at = end.extents.unwrap().center();
    let end = end.reference.unwrap().to_string();
    let to_ref = json!({"pid": app.pid, "element": "Pad Alpha", "toRef": end});
    let to_place = json!({"pid": app.pid, "element": "Pad Alpha", "toX": at.x, "toY": at.y});
    // The pads show nothing of it: the answer may be that nothing has moved.
    server.call("drag_and_traverse", to_ref.clone());
    app.wait_for("pad release Alpha");
    // A window of the same app covers it.
    let windows = bed.screen().windows_of(app.pid);
    let alpha = windows.iter().find(|w| w.title == "Alpha").unwrap().id;
    bed.screen().move_window(alpha, 600, 60);
    app.clear_log();
    until("the error", || {
        // Repeat until the app knows the window's new position.
        let answer = server.call("drag_and_traverse", to_ref.clone());
        (answer.is_error && answer.error().contains("'Alpha' covers")).then_some(())
    });
    bed.screen().move_window(alpha, 100, 100);
    // A window of another app covers it.
    let place = format!("Other|Other|300x300+{}+{}", at.x - 150, at.y - 150);
    let other = bed.windows("gtk3", &[], &[&place]);
    other.bring_to_front();
    for drag in [to_ref, to_place] {
        let answer = server.call("drag_and_traverse", drag);
        assert!(answer.error().contains("Other"), "{answer}");
    }
    assert_eq!(other.log(), [] as [String; 0]);
}

/// Two windows of Chromium with the same bounds and a page each.
#[test]
fn input_reaches_the_right_one_of_two_chromium_windows() {
    let (bed, server) = Bed::with_server();
    let (app, page) = bed.chromium(
        "<body><script>const name = location.hash.slice(1) || 'Alpha';\
         document.body.innerHTML = `<h1>${name}</h1>\
         <button onclick=\"log('pushed', '${name}')\">Push ${name}</button> \
         <button onclick=\"window.open(location.pathname + '#Beta', '', 'width=700,height=500')\">\
         Open another</button>`;</script>",
    );
    let open = json!({"pid": app.pid, "element": "Open another"});
    server.call("click_and_traverse", open).ok();
    let windows = until("the second window", || {
        let windows = bed.screen().windows_of(app.pid);
        (windows.len() == 2).then_some(windows)
    });
    for window in &windows {
        bed.screen().move_window(window.id, 100, 100);
    }
    until("both pages in the tree", || {
        let answer = server.refresh(app.pid).ok();
        answer.find("AXButton", "Push Beta").map(drop)
    });
    for name in ["Alpha", "Beta", "Alpha"] {
        page.clear_log();
        let element = format!("Push {name}");
        server.click(app.pid, "AXButton", &element).ok();
        page.wait_for(&format!("pushed {name}"));
    }
}

/// Two sheets of LibreOffice with the same bounds: the text goes to the intended one.
#[test]
fn text_reaches_the_right_one_of_two_libreoffice_documents() {
    let (bed, server) = Bed::with_server();
    let (app, file) = bed.calc(&[&["Alpha"]]);
    let other = bed.path("other.fods");
    let content = fs::read_to_string(&file).unwrap();
    bed.open_beside(&app, &[("other.fods", content.replace("Alpha", "Beta"))]);
    let windows = bed.screen().windows_of(app.pid);
    for window in &windows {
        bed.screen().move_window(window.id, 0, 0);
    }
    for (name, path) in [("Alpha", &file), ("Beta", &other)] {
        let before = fs::read_to_string(path).unwrap();
        let cell = until("the cell", || {
            // An error while soffice is still opening the document.
            let answer = server.refresh(app.pid);
            let shows = (!answer.is_error).then_some(&answer)?;
            shows.find("AXCell", &format!("A1 {name}"))?.reference
        });
        let text = format!("{name} again\n");
        let typed = json!({"pid": app.pid, "ref": cell.to_string(), "text": text});
        server.call("click_and_traverse", typed).ok();
        let save = json!({"pid": app.pid, "ref": cell.to_string(), "pressKey": "s",
                          "pressKeyModifiers": ["Control"]});
        server.call("click_and_traverse", save).ok();
        let after = until("the saved file", || {
            let now = fs::read_to_string(path).unwrap();
            (now != before && now.contains("</office:document>")).then_some(now)
        });
        assert!(after.contains(&format!("{name} again")), "{name}");
    }
}

/// The line of a toggle button in the window whose title starts like this.
fn toggle(answer: &Answer, name: &str, title: &str) -> Option<Line> {
    let lines = answer.lines();
    let text = |line: &Line| {
        line.text
            .as_ref()
            .map_or(String::new(), |t| t.shown.clone())
    };
    let parent = |line: &Line| lines.iter().find(|l| l.reference == line.parent).cloned();
    let is_its = |line: &&Line| {
        let mut path = std::iter::successors(Some((*line).clone()), parent);
        path.any(|l| l.native_role.as_deref() == Some("frame") && text(&l).starts_with(title))
    };
    let named = |line: &&Line| line.role.ax() == "AXCheckBox" && text(line) == name;
    lines.iter().filter(named).find(is_its).cloned()
}

/// Five documents of LibreOffice behind the person's window. A link reads the document that it acts
/// in, and reuses the last readings of the documents behind it.
#[test]
#[allow(clippy::too_many_lines)] // Opening five documents takes long, so one test has all checks.
fn a_link_reads_only_the_libreoffice_document_that_it_acts_in() {
    let (bed, server) = Bed::with_server();
    let (app, first) = bed.calc(&[&["Alpha"]]);
    let (mousepad, _) = bed.mousepad("");
    let front = mousepad.window_now().id;
    let refresh = || server.refresh(app.pid);
    let bring = |window| bed.screen().bring_to_front(window);
    let reference = |name: &str, title: &str| {
        let line = toggle(&refresh().ok(), name, title).unwrap();
        line.reference.unwrap().to_string()
    };
    let press = |reference: &str| {
        let press = json!({"pid": app.pid, "ref": reference});
        server.call("press_ax_and_traverse", press).ok()
    };
    let older = |answer: &Answer| {
        let file = answer.file();
        let header = file.lines().find(|line| line.starts_with("# older:"));
        header.unwrap_or_default().to_owned()
    };
    until("the first document", || {
        let answer = refresh();
        toggle(
            (!answer.is_error).then_some(&answer)?,
            "Bold",
            "prices.fods",
        )
    });
    let resolve = |bold: &str| {
        let times = (0..3).map(|_| {
            press(bold);
            let steps = &bed.journal_lines().pop().unwrap()["steps_ms"];
            steps["resolve"].as_f64().unwrap()
        });
        times.fold(f64::MAX, f64::min)
    };
    let alone = resolve(&reference("Bold", "prices.fods"));
    let second = fs::read_to_string(&first).unwrap().replace("Alpha", "Beta");
    let files = [
        ("other.fods", second),
        ("one.fodt", letter(&["Of one"])),
        ("talk.fodp", slide("On a slide")),
        ("two.fodt", letter(&["Of two"])),
    ];
    let windows = bed.open_beside(&app, &files);
    until("all documents", || {
        let answer = refresh();
        let texts = ["A1 Beta", "Of one", "Of two", "On a slide"];
        let has = |text: &&str| answer.find("AX", text).is_some();
        (!answer.is_error && texts.iter().all(has)).then_some(())
    });
    // Each document comes to the front when it opens.
    let [one, talk, two] = [1, 2, 3].map(|n| windows[n].id);
    let arrange = || {
        bring(two);
        bring(front);
    };
    arrange();

    // Act in a visible document and in a covered one. No other document changes.
    let bold_of_two = reference("Bold", "two.fodt");
    let bold_of_one = reference("Bold", "one.fodt");
    let turns = [(&bold_of_two, "two.fodt"), (&bold_of_one, "one.fodt")];
    for checked in [true, false].into_iter().cycle().take(4) {
        for (bold, title) in turns {
            let answer = press(bold);
            let line = toggle(&answer, "Bold", title).unwrap();
            assert!(answer.field("target").contains("Bold"), "{answer}");
            assert_eq!(line.states.contains(States::CHECKED), checked, "{answer}");
            // A button on a toolbar may change late.
            let file = answer.file();
            let (changes, _) = file.split_once("# tree:").unwrap();
            let comes = |line: &str| ["+ ", "- "].iter().any(|s| line.starts_with(s));
            let mut changes = changes
                .lines()
                .map(|l| l.strip_prefix("late ").unwrap_or(l));
            assert!(!changes.any(comes), "{file}");
            let older = older(&answer);
            assert!(older.contains("talk.fodp"), "{}", answer.file());
            assert!(!older.contains(title), "{older}");
        }
    }
    let beside = resolve(&bold_of_two);
    assert!(
        beside < alone * 3.0,
        "{alone} ms alone, {beside} ms beside four"
    );
    assert_eq!(bed.screen().front(), front);

    // Text that the person writes in a covered document is reported by the next link in that
    // document.
    let write = |text: &str| {
        bring(one);
        bed.run("xdotool", &["mousemove", "900", "400", "click", "1"]);
        bed.run("xdotool", &["type", text]);
    };
    let watcher = bed.server(&[]);
    let comes = |text: &str| {
        until("the person's text", || {
            let answer = watcher.refresh(app.pid);
            (!answer.is_error && answer.file().contains(text)).then_some(())
        });
    };
    write("Gamma");
    comes("Gamma");
    arrange();
    let answer = press(&bold_of_two);
    assert!(!answer.diff_lines().join("\n").contains("Gamma"));
    let answer = press(&bold_of_one);
    let file = answer.file();
    let (late, tree) = file.split_once("# diff:").unwrap();
    assert!(late.contains("Gamma") && tree.contains("Gamma"), "{file}");
    assert!(!answer.diff_lines().join("\n").contains("Gamma"), "{file}");

    // Find an element by a text that only the present state of the covered document has.
    write("Delta");
    comes("Delta");
    arrange();
    let text = json!({"pid": app.pid, "element": "Delta"});
    let answer = server.call("click_and_traverse", text).ok();
    assert!(answer.field("target").contains("Delta"), "{answer}");
    arrange();

    // The person writes in a covered document while a link runs.
    let slow = json!({"pid": app.pid, "ref": bold_of_two, "delayAfterAction": 4});
    let pending = server.send("press_ax_and_traverse", slow);
    write("Epsilon");
    let answer = pending.answer(PATIENCE).unwrap().ok();
    assert!(answer.file().contains("Epsilon"), "{answer}");
    assert_eq!(bed.screen().front(), one);
    arrange();

    // A dialog of the document that the link acts in, and a document that is closed.
    let find = reference("Find and Replace", "two.fodt");
    let answer = press(&find);
    assert!(answer.field("dialog").contains("Find"), "{answer}");
    let close = json!({"pid": app.pid, "element": "Close", "role": "AXButton"});
    let close = server.call("press_ax_and_traverse", close);
    assert!(close.is_error || !close.field("file").is_empty(), "{close}");
    bed.run("wmctrl", &["-i", "-c", &talk.to_string()]);
    until("no slide", || {
        let mut left = bed.screen().windows_of(app.pid).into_iter();
        left.all(|window| window.id != talk).then_some(())
    });
    let answer = press(&bold_of_two);
    assert!(
        answer.find("AXWindow", "talk.fodp").is_none(),
        "{}",
        answer.file()
    );
    assert!(!older(&answer).contains("talk.fodp"), "{}", older(&answer));
}
