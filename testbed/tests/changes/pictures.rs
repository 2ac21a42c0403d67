//! Changes that only the picture shows.

use deskline_testbed::{Answer, Bed, Toolkit};
use serde_json::json;

#[test]
fn a_change_on_a_canvas_is_reported_by_the_picture() {
    let (bed, server) = Bed::with_server();
    let app = bed.canvas();
    let (x, y, w, _) = app.window_now().bounds;
    let click = |dx: i32, dy: i32| -> Answer {
        let place = json!({"pid": app.pid, "x": x + dx, "y": y + dy});
        server.call("click_and_traverse", place).ok()
    };
    // Give the window the focus, which changes the look of its buttons.
    click(i32::try_from(w).unwrap() - 50, 180);

    let painted = click(100, 100);
    app.wait_for("painted 100 100");
    let reported = painted.field("picture_changed");
    let place = format!(" in ({},{} 40×30)", x + 80, y + 85);
    assert!(reported.ends_with(&place), "{place} in {painted}");
    // The change covers 1,200 pixels of a window of less than 120,000.
    assert!(reported.starts_with("1%"), "{painted}");

    let right = i32::try_from(w).unwrap() - 50;
    for _ in 0..3 {
        let ignored = click(right, 180);
        assert_eq!(ignored.field("picture_changed"), "no", "{ignored}");
    }
    app.wait_for(&format!("ignored {right} 180"));

    // A change in the tree needs no picture.
    let say = json!({"pid": app.pid, "element": "Say"});
    let message = server.call("click_and_traverse", say).ok();
    app.wait_for("said");
    assert_eq!(message.get("picture_changed"), None, "{message}");
}

/// Raising a window changes its look, which is no effect of the action.
#[test]
fn a_change_on_a_covered_canvas_is_reported_by_the_picture() {
    let (bed, server) = Bed::with_server();
    let app = bed.canvas();
    let front = bed.widgets(Toolkit::Gtk3).at(1000, 400);
    let (x, y, w, _) = app.window_now().bounds;
    let right = i32::try_from(w).unwrap() - 50;
    for (dx, dy, changes) in [(right, 180, false), (100, 100, true), (right, 180, false)] {
        front.bring_to_front();
        let place = json!({"pid": app.pid, "x": x + dx, "y": y + dy});
        let answer = server.call("click_and_traverse", place).ok();
        assert_eq!(bed.screen().front(), front.window.id);
        // On a slow machine the app may still be redrawing after it was raised, in which case
        // nothing is reported, or its bottom button may still be fading.
        let Some(reported) = answer.get("picture_changed") else {
            continue;
        };
        let numbers = reported.split(|c: char| !c.is_ascii_digit());
        let numbers: Vec<i32> = numbers.filter_map(|n| n.parse().ok()).collect();
        let painted = matches!(numbers[..], [_, left, top, w, h]
            if left <= x + 80 && top <= y + 85 && left + w >= x + 120 && top + h >= y + 115);
        assert_eq!(painted, changes, "{answer}");
    }
}
