//! Answers after the act: errors begin with the completed action, and late changes are reported.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::fmt::Write as _;
use std::fs;
use std::time::Duration;

use deskline_testbed::{Answer, Bed, Client, Toolkit, until};
use serde_json::json;

#[test]
fn an_act_is_reported_as_done_if_the_app_hangs_afterwards() {
    let (bed, server) = Bed::with_server();
    let app = bed.widgets(Toolkit::Gtk3);
    let answer = server.click(app.pid, "AXButton", "Hang").ok();
    let message = answer.field("summary");
    assert!(
        message.starts_with("Clicked 'Hang' [AXButton]. The app is busy: no answer for "),
        "{message}"
    );
    app.wait_for("clicked Hang");
    let line = bed.journal_lines().pop().unwrap();
    assert_eq!(line["outcome"], "ok", "{line}");
}

/// GTK 3 draws the button that Return activates as pressed for 250 ms, and sends no event until
/// then.
#[test]
fn the_effect_of_return_in_a_dialog_is_in_the_answer() {
    let (bed, server) = Bed::with_server();
    // The dialog lists this folder, not the bed's own folder, in which files change at any time.
    let folder = bed.path("letters");
    fs::create_dir(&folder).unwrap();
    let file = folder.join("letter.txt");
    fs::write(&file, "text").unwrap();
    let app = bed.editing("mousepad", &file);
    let press = |key: &str, modifiers: &[&str]| {
        let press = json!({"pid": app.pid, "keyName": key, "modifierFlags": modifiers});
        server.call("press_key_and_traverse", press).ok()
    };
    press("s", &["Control", "Shift"]);
    let answer = press("Return", &[]);
    assert!(answer.text.contains("already exists"), "{answer}");
}

#[test]
fn late_changes_are_reported_by_the_next_answer() {
    let (bed, server) = Bed::with_server();
    for toolkit in Toolkit::ALL {
        let app = bed.widgets(toolkit);
        let late = json!({"pid": app.pid, "element": "Late", "role": "AXButton"});
        let clicked = server.call("click_and_traverse", late).ok();
        // On a slow machine, the late text may appear before the click has settled.
        if clicked.file().contains("Here I am") {
            continue;
        }
        assert!(clicked.get("late_changes").is_none(), "{clicked}");
        let answer = until("the late change", || {
            let answer = server.refresh(app.pid).ok();
            answer.get("late_changes").is_some().then_some(answer)
        });
        let message = answer.field("late_changes");
        assert!(
            message.contains(" added") && message.ends_with(" since the last answer"),
            "{answer}"
        );
        answer.has("[AXStaticText] \"Here I am\"");
        let file = answer.file();
        assert!(file.starts_with("# late: +"), "{file}");
        let mut lines = file.lines().filter(|l| l.starts_with("late + "));
        assert!(lines.any(|l| l.contains("\"Here I am\"")), "{file}");
        // A late change is reported only once.
        let again = server.refresh(app.pid).ok();
        assert!(again.get("late_changes").is_none(), "{again}");
        // Late changes and the action's own changes are separate.
        let answer = server.click(app.pid, "AXCheckBox", "Wrap").ok();
        assert!(answer.get("late_changes").is_none(), "{answer}");
    }
}

#[test]
fn a_running_clock_is_not_reported_in_each_answer() {
    let (bed, server) = Bed::with_server();
    let app = bed.widgets(Toolkit::Gtk3);
    server.click(app.pid, "AXCheckBox", "Ticking").ok();
    let reported = (0..8)
        .filter(|_| {
            // The clock ticks every 50 ms, so that each answer finds a change.
            std::thread::sleep(Duration::from_millis(120));
            let answer = server.refresh(app.pid).ok();
            answer.get("late_changes").is_some()
        })
        .count();
    assert!(reported <= 3, "{reported} of 8");
}

/// Writer counts words on a timer, 305 ms after the last key. In a chain only the last step waits
/// for it.
#[test]
fn writers_word_count_after_typing_is_in_the_answer() {
    let (bed, server) = Bed::with_server();
    let (app, _file) = bed.writer(&["One."]);
    let counts = |words: usize, text: &str| {
        let tree = text.split_once("# tree:\n").map_or(text, |(_, tree)| tree);
        let count = format!("\"{words} words, ");
        assert!(tree.contains(&count), "no {count}in\n{text}");
    };
    server.type_text(app.pid, "some more words ").ok();
    // A document that has just opened is updated once more about 200 ms after it appears, which
    // restarts the timer.
    let counted = json!({"pid": app.pid, "element": "4 words, "});
    server.call("wait_for_and_traverse", counted).ok();
    for typed in 2..=4 {
        let answer = server.type_text(app.pid, "some more words ").ok();
        counts(1 + 3 * typed, &answer.file());
    }
    let step = json!({"do": "type", "text": "and more "});
    let chain = json!({"pid": app.pid, "steps": [step, step, step]});
    let answer = server.call("chain_and_traverse", chain).ok();
    counts(19, &answer.file());
}

/// Browsers scroll smoothly, for 150 to 300 ms, and send no events while they do.
#[test]
fn the_places_after_a_page_has_scrolled_are_in_the_answer() {
    let (bed, server) = Bed::with_server();
    let mut rows = String::new();
    for row in 0..200 {
        write!(rows, "<p><button>Row {row}</button></p>").unwrap();
    }
    let (chromium, _page) = bed.chromium(&rows);
    let firefox = bed.firefox(&rows);
    let _person = bed.mousepad("");
    for app in [chromium, firefox] {
        is_answered_where_it_has_scrolled_to(&server, app.pid);
    }
}

fn is_answered_where_it_has_scrolled_to(server: &Client, pid: u32) {
    let click = json!({"pid": pid, "element": "Row 1"});
    server.call("click_and_traverse", click).ok();
    let places = |text: &str| {
        let tree = text.split_once("# tree:\n").map_or(text, |(_, tree)| tree);
        let rows = tree
            .lines()
            .filter(|l| l.contains("] \"Row ") && l.contains(" visible"));
        rows.map(str::to_owned).collect::<Vec<_>>()
    };
    let mut last = Vec::new();
    let keys = [
        "PageDown", "PageDown", "Down", "Up", "End", "Home", "Down", "PageDown",
    ];
    for key in keys {
        let answer = server.press_key(pid, key, &[]).ok();
        let reported = places(&answer.file());
        std::thread::sleep(Duration::from_millis(500));
        let read = server.refresh(pid).ok();
        assert_eq!(reported, places(&read.file()), "after {key}");
        assert_ne!(reported, last, "{key} scrolls");
        last = reported;
    }
}

/// GTK 4 scrolls smoothly to the focus, for 200 ms, and sends no events about places.
#[test]
fn the_places_after_gtk_4_has_scrolled_are_in_the_answer() {
    let bed = Bed::new();
    let server = bed.server(&[]);
    let app = bed.fold();
    let _person = bed.mousepad("");
    let place = |answer: &Answer, number: usize| {
        let line = answer.line_of("AXButton", &format!("Button {number}"));
        line.extents.unwrap().y
    };
    let click = json!({"pid": app.pid, "element": "Button 4"});
    let first = server.call("click_and_traverse", click).ok();
    let top = place(&first, 0);
    let mut late = Vec::new();
    for focused in 5..20 {
        app.clear_log();
        let answer = server.press_key(app.pid, "Tab", &[]).ok();
        let at: i32 = until("the column to rest", || {
            app.log()
                .iter()
                .find_map(|line| line.strip_prefix("at ")?.parse().ok())
        });
        let reported = top - place(&answer, 0);
        if (reported - at).abs() > 1 {
            late.push(format!("Tab to {focused}: at {at}, reported at {reported}"));
        }
    }
    assert!(late.is_empty(), "{late:#?}");
}

/// GTK 4.8 reports a tool tip as a part of the app's window, at the window's corner.
#[test]
fn a_tool_tip_of_gtk_4_has_the_place_where_it_shows() {
    let bed = Bed::new();
    let server = bed.server(&[]);
    let app = bed.fold();
    let _person = bed.mousepad("");
    let hover = json!({"pid": app.pid, "element": "Button 0", "hover": true});
    let hovered = server.call("click_and_traverse", hover).ok();
    let tip = hovered.line_of("AXHelpTag", "The first one").extents;
    let button = hovered.line_of("AXButton", "Button 0").extents;
    let (tip, button) = (tip.unwrap(), button.unwrap());
    // The tip is below the pointer, which rests in the button's middle.
    let beside = (tip.x + tip.w / 2 - button.x - button.w / 2).abs();
    let is_below = tip.y > button.y + button.h / 2;
    assert!(beside < 20 && is_below, "{tip:?} below {button:?}");
}

/// The person's pointer rests over a button: its tool tip disappears when the link moves the
/// pointer, and returns after the answer. An effect that comes later than that is in the answer.
#[test]
fn tool_tips_are_no_effect_and_no_late_change() {
    let bed = Bed::new();
    let server = bed.server(&[]);
    let app = bed.fold();
    let (person, _) = bed.mousepad("");
    bed.screen().move_window(app.window.id, 0, 0);
    bed.screen().move_window(person.window.id, 700, 200);
    let place = until("the button", || {
        let read = server.refresh(app.pid).ok();
        let place = read.line_of("AXButton", "Button 0").extents?;
        (place.x < 300).then_some(place)
    });
    person.bring_to_front();
    let pointer = (place.x + place.w / 2, place.y + place.h / 2);
    let [x, y] = [pointer.0, pointer.1].map(|at| i16::try_from(at).unwrap());
    bed.screen().move_pointer(x, y);
    for click in 1..=4 {
        until("the tool tip", || {
            let read = server.refresh(app.pid).ok();
            assert!(
                read.get("late_changes").is_none(),
                "{read}\n{}",
                read.file()
            );
            read.find("AXHelpTag", "The first one")
        });
        let slow = json!({"pid": app.pid, "element": format!("Slow {}", click - 1)});
        let answer = server.call("click_and_traverse", slow).ok();
        let counted = answer.find("AXButton", &format!("Slow {click}"));
        assert!(counted.is_some(), "{answer}\n{}", answer.file());
        app.wait_for(&format!("slow {click}"));
        assert!(answer.get("late_changes").is_none(), "{answer}");
        assert_eq!(bed.screen().pointer(), pointer);
        assert_eq!(bed.screen().front(), person.window.id);
    }
}

/// A page whose buttons have their effects some time after the click.
const SLOW: &str = "<title>Slow</title><p id=o>start</p><script>\
    n = 0; later = (word, ms) => setTimeout(() => o.textContent = word + ' ' + ++n, ms)</script>\
    <button onclick=\"later('done', 60)\">Slow</button>\
    <button onclick=\"later('later', 180)\">Slower</button>";

/// Raising the app's window moves the focus, and the button takes it: the effect comes after that.
#[test]
fn the_effect_of_a_click_behind_another_window_is_in_its_answer() {
    const ROUNDS: usize = 6;
    let (bed, server) = Bed::with_server();
    let calculator = bed.gnome_calculator();
    let (chromium, _page) = bed.chromium(SLOW);
    let _person = bed.mousepad("");
    let click = |pid: u32, element: &str| server.click(pid, "AXButton", element).ok();
    for round in 0..ROUNDS {
        server.press_key(calculator.pid, "Escape", &[]).ok();
        for key in ["7", "×", "8"] {
            click(calculator.pid, key);
        }
        let answer = click(calculator.pid, "=");
        assert!(answer.file().contains("\"56\""), "round {round}: {answer}");
    }
    // All twenty rounds must pass: a page that fails once in ten rounds counts as failing.
    for round in 0..20 {
        for (at, (button, word)) in [("Slow", "done"), ("Slower", "later")]
            .into_iter()
            .enumerate()
        {
            let wanted = format!("{word} {}", 2 * round + at + 1);
            let answer = click(chromium.pid, button);
            assert!(answer.file().contains(&wanted), "{wanted}: {answer}");
        }
    }
}
