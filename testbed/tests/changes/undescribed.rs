//! Blind spots: areas where the picture shows content that the tree does not describe.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use deskline_core::Line;
use deskline_testbed::{Answer, App, Bed, Client, until};
use serde_json::{Value, json};

fn look(server: &Client, app: &App<'_>) -> Answer {
    let answer = server.refresh(app.pid);
    answer.ok()
}

/// The `# blind:` headers of the answer's file.
fn headers(answer: &Answer) -> Vec<String> {
    let file = answer.file();
    let headers = file.lines().filter_map(|l| l.strip_prefix("# blind: "));
    headers.map(str::to_owned).collect()
}

#[test]
fn a_canvas_without_elements_is_reported_with_its_bounds() {
    let (bed, server) = Bed::with_server();
    let app = bed.canvas();
    let (x, y, w, _) = app.window_now().bounds;
    let canvas = format!("({x},{y} {w}×200) [AXGroup (drawing area)]");
    // The window may be visible before the app has drawn it.
    let seen = until("the canvas to be named", || {
        Some(look(&server, &app)).filter(|seen| seen.get("blind").is_some())
    });
    let reported = format!("{canvas}: look at the screenshot there");
    assert_eq!(seen.field("blind"), reported, "{seen}");
    assert_eq!(headers(&seen), [canvas.as_str()]);

    // After an action, only the file has the header: the summary describes the change.
    let say = json!({"pid": app.pid, "element": "Say"});
    let message = server.call("click_and_traverse", say).ok();
    app.wait_for("said");
    assert_eq!(headers(&message), [canvas]);
    assert_eq!(message.get("blind"), None, "{message}");
}

#[test]
fn an_icon_view_without_elements_is_reported_once_it_shows_files() {
    let (bed, server) = Bed::with_server();
    let app = bed.thunar(&[]);
    let empty = look(&server, &app);
    assert_eq!(headers(&empty), [""; 0], "{empty}");

    for file in ["apples.txt", "pears.txt", "plums.csv"] {
        std::fs::write(bed.path("thunar-folder").join(file), "fruit").unwrap();
    }
    let seen = until("the icon view to be named", || {
        Some(look(&server, &app)).filter(|seen| seen.get("blind").is_some())
    });
    assert_eq!(headers(&seen).len(), 1, "{seen}");
    let reported = seen.field("blind");
    let end = " [AXGroup (panel)]: look at the screenshot there";
    assert!(reported.ends_with(end), "{reported}");
    // The blind spot covers the part of the window beside the side pane.
    let place = reported.trim_start_matches('(').split([',', ' ', '×', ')']);
    let numbers: Vec<i32> = place.map_while(|n| n.parse().ok()).collect();
    let (left, _, window_w, _) = app.window_now().bounds;
    let right = left + i32::try_from(window_w).unwrap();
    let &[x, _, w, _] = numbers.as_slice() else {
        panic!("{reported}");
    };
    assert!(x > left + 50, "{left} {reported}");
    assert!((right - 4..=right).contains(&(x + w)), "{right} {reported}");
}

#[test]
fn elements_with_a_description_are_no_blind_spot() {
    let (bed, server) = Bed::with_server();
    let sighted = |app: App<'_>, text: &str| {
        until(text, || look(&server, &app).file().contains(text));
        // By the second call, drawing that was pending when the text appeared is finished.
        for _ in 0..2 {
            let seen = look(&server, &app);
            assert_eq!(headers(&seen), [""; 0], "{seen}");
            assert_eq!(seen.get("blind"), None, "{seen}");
        }
    };
    let text = "A line of a text that the tree tells.\n".repeat(20);
    sighted(bed.mousepad(&text).0, "A line of a text");
    sighted(bed.featherpad(&text).0, "A line of a text");
    sighted(bed.gtk3_widget_factory(), "Groove");
    sighted(bed.gnome_calculator(), "AXButton");
    let question = ["--question", "--text", "Is it true?"];
    sighted(bed.zenity(&question), "Is it true?");
}

fn is_read(line: &Line) -> bool {
    line.native_role.as_deref() == Some("ocr")
}

#[test]
fn words_on_a_canvas_become_elements_and_passwords_do_not() {
    let (bed, server) = Bed::with_server();
    let app = bed.painted(&[]);
    let (persons, _) = bed.mousepad("");
    let call = |tool: &str, mut more: Value| {
        persons.bring_to_front();
        more["pid"] = app.pid.into();
        let answer = server.call(tool, more);
        assert_eq!(bed.screen().front(), persons.window.id, "{answer}");
        answer
    };
    // On a busy machine reading takes more than one call.
    let reads = |text: &str| {
        until(&format!("\"{text}\" on the canvas"), || {
            let seen = call("refresh_traversal", json!({})).ok();
            let found = seen.find("AXStaticText", text).filter(is_read);
            found.map(|line| (seen, line))
        })
    };
    let (_, total) = reads("Total 42");
    let (seen, archive) = reads("Archive");
    let (left, top, ..) = app.window_now().bounds;
    let place = total.extents.unwrap();
    let (x, y) = (place.x - left, place.y - top);
    assert!((39..44).contains(&x) && (44..50).contains(&y), "{total}");
    let lines = seen.lines();
    let canvas = lines.iter().find(|line| line.reference == total.parent);
    assert_eq!(canvas.unwrap().native_role.as_deref(), Some("drawing area"));
    assert_eq!(headers(&seen).len(), 1, "{seen}");

    // Clicks by text and by ref, judged by the app.
    let sent = call("click_and_traverse", json!({"element": "Send letter"})).ok();
    app.wait_for("clicked Send letter");
    let (now, line) = reads("Letter was sent");
    assert!(!now.file().contains("late + "), "{now}");
    let whole = sent.get("partial").is_none();
    let added = "[AXStaticText (ocr)] \"Letter was sent\"";
    assert!(!whole || sent.text.contains(added), "{sent}");
    let by_ref = json!({"ref": archive.reference.unwrap().to_string()});
    call("click_and_traverse", by_ref).ok();
    app.wait_for("clicked Archive");
    assert_eq!(reads("Total 42").1.reference, total.reference);
    let press = json!({"ref": line.reference.unwrap().to_string()});
    call("press_ax_and_traverse", press).fails_with("known only from the screenshot");

    // The journal has neither a password, nor its dots, which are letters here, nor texts of the
    // tree.
    for entry in std::fs::read_dir(bed.journal()).unwrap() {
        let path = entry.unwrap().path();
        let Ok(text) = std::fs::read_to_string(&path) else {
            continue;
        };
        for secret in ["hunter", "unter2", "WW"] {
            assert!(!text.contains(secret), "{secret} in {}", path.display());
        }
    }
    let lines = reads("Archive").0.lines();
    let secrets: Vec<&Line> = lines
        .iter()
        .filter(|l| l.to_string().contains(" secure"))
        .collect();
    assert_eq!(secrets.len(), 2, "{secrets:?}");
    for read in lines.iter().filter(|line| is_read(line)) {
        assert!(!read.to_string().contains("Described"), "{read}");
        for secret in &secrets {
            let both = secret.extents.unwrap().intersect(&read.extents.unwrap());
            assert!(both.is_empty(), "{read} {secret}");
        }
    }
}

/// The engine is a script that notes each run.
#[test]
fn texts_are_read_from_pictures_only_where_the_tree_lacks_them() {
    let bed = Bed::new();
    let (engine, runs) = (bed.path("tesseract"), bed.path("runs"));
    let script = format!(
        "#!/bin/sh\necho run >> {}\nexec /usr/bin/tesseract \"$@\"\n",
        runs.display()
    );
    fs::write(&engine, script).unwrap();
    fs::set_permissions(&engine, fs::Permissions::from_mode(0o755)).unwrap();
    let mut serve = bed.serve(&[]);
    let path = format!("{}:/usr/bin:/bin", bed.folder().display());
    serve.env("PATH", path);
    let server = Client::start(serve);
    let app = bed.gtk4_widget_factory();
    let (persons, _) = bed.mousepad("");
    let call = |tool: &str, mut more: Value| {
        persons.bring_to_front();
        more["pid"] = app.pid.into();
        server.call(tool, more)
    };
    let seen = call("refresh_traversal", json!({})).ok();
    assert_eq!(headers(&seen).len(), 1, "{seen}");
    for (tool, more) in [
        ("click_and_traverse", json!({"element": "Page 2"})),
        ("click_and_traverse", json!({"element": "Page 1"})),
        ("press_key_and_traverse", json!({"keyName": "Tab"})),
        ("wait_for_and_traverse", json!({"element": "Page 2"})),
    ] {
        let answer = call(tool, more).ok();
        assert!(!runs.exists(), "the engine has run: {answer}");
    }

    let lacking = json!({"element": "Zebra crossing"});
    let lacks = call("click_and_traverse", lacking);
    lacks.fails_with("no element matches");
    assert!(runs.exists(), "the engine has not run: {lacks}");
    assert!(!lacks.text.contains("(ocr)"), "{lacks}");
    let after = call("click_and_traverse", json!({"element": "Page 2"})).ok();
    assert!(!after.file().contains("(ocr)"), "{after}");
}
