//! Values, texts and presses are read back, in apps that report success and do something else.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use deskline_core::Role;
use deskline_testbed::web::Page;
use deskline_testbed::{Answer, App, Bed, Client, until};
use serde_json::{Value, json};

/// The answer's error, or else its notes.
fn message(answer: &Answer) -> String {
    if answer.is_error {
        return answer.field("error").to_owned();
    }
    let notes = answer
        .text
        .lines()
        .filter(|line| line.starts_with("note: "));
    notes.collect()
}

#[test]
fn firefox_reports_success_for_actions_that_it_ignores() {
    let bed = Bed::new();
    let app = bed.firefox(
        "<p><input aria-label=Name><textarea aria-label=Notes>old</textarea>\
         <p><input aria-label=Code maxlength=5><input aria-label=Reset oninput=\"this.value=''\">\
         <p><input type=checkbox aria-label=Stuck onclick='event.preventDefault()'>\
         <p><input type=checkbox aria-label=Works><input type=password aria-label=Secret>",
    );
    let server = bed.server(&[]);
    let call = |tool: &str, element: &str, mut more: Value| {
        more["pid"] = app.pid.into();
        more["element"] = element.into();
        server.call(tool, more)
    };
    let set = |element: &str, value: &str| {
        call("set_value_and_traverse", element, json!({ "value": value }))
    };
    let answer = set("Name", "alice");
    assert!(answer.is_error, "{answer}");
    assert!(message(&answer).contains("still shows ''"), "{answer}");
    let answer = set("Notes", "new");
    assert!(message(&answer).contains("still shows 'old'"), "{answer}");
    // The content of a password field is unknown.
    set("Secret", "hush").ok();

    let typed =
        |element: &str, text: &str| call("click_and_traverse", element, json!({ "text": text }));
    assert_eq!(message(&typed("Name", "alice")), "");
    assert_eq!(message(&typed("Secret", "hush")), "");
    let answer = typed("Code", "qwertyuiop");
    let why = "took 5 of 10 characters, and contains 'qwert' now";
    assert!(
        answer.is_error && message(&answer).contains(why),
        "{answer}"
    );
    let answer = typed("Reset", "some");
    assert!(
        answer.is_error && message(&answer).contains("''"),
        "{answer}"
    );
    // A text that was typed can be set again, and the field then has it.
    assert_eq!(message(&typed("Notes", "er")), "");

    let press = |element: &str| call("press_ax_and_traverse", element, json!({}));
    let answer = press("Stuck");
    assert!(message(&answer).contains("still not checked"), "{answer}");
    press("Works").ok();
}

#[test]
fn a_text_that_a_field_limits_masks_or_completes_is_reported() {
    let (bed, server) = Bed::with_server();
    let app = bed.fields();
    let call = |tool: &str, element: &str, mut more: Value| {
        more["pid"] = app.pid.into();
        more["element"] = element.into();
        server.call(tool, more)
    };
    let typed = |element: &str, text: &str| {
        let more = json!({"role": "AXTextField", "text": text});
        call("click_and_traverse", element, more)
    };
    let set = |element: &str, value: &str| {
        call("set_value_and_traverse", element, json!({ "value": value }))
    };
    assert_eq!(message(&typed("Name", "alice")), "");

    let answer = typed("Code", "abcdefgh");
    let why = "took 5 of 8 characters, and contains 'abcde' now";
    assert!(
        answer.is_error && message(&answer).contains(why),
        "{answer}"
    );
    let answer = set("Code", "12345678");
    assert!(answer.is_error, "{answer}");

    let answer = call("press_ax_and_traverse", "Stuck", json!({}));
    assert!(message(&answer).contains("still not checked"), "{answer}");

    // The mask continues at the caret.
    let more = json!({"role": "AXTextField", "pressKey": "Home"});
    call("click_and_traverse", "Day", more).ok();
    let answer = server.type_text(app.pid, "20261122");
    assert!(!answer.is_error, "{answer}");
    assert!(
        message(&answer).contains("contains '2026-11-22' now"),
        "{answer}"
    );
    assert!(app.log().contains(&"text Day 2026-11-22".to_owned()));

    for (value, number) in [("3", "3.0"), ("4,5", "4.5"), ("5.5", "5.5")] {
        let more = json!({"role": "AXIncrementor", "value": value});
        call("set_value_and_traverse", "Price", more).ok();
        app.wait_for(&format!("value {number}"));
    }
    app.clear_log();
    let more = json!({"role": "AXIncrementor", "value": "many"});
    let answer = call("set_value_and_traverse", "Price", more);
    assert!(message(&answer).contains("is a number"), "{answer}");
    assert_eq!(app.log(), [""; 0]);

    for (number, name) in ["5", "Speichern unter...", "Cooperate", "ab"]
        .iter()
        .enumerate()
    {
        call("click_and_traverse", name, json!({"role": "AXButton"})).ok();
        app.wait_for(&format!("pressed {number}"));
    }
}

#[test]
fn spin_buttons_take_numbers_and_percentages_as_a_german_writes_them() {
    let (bed, server) = Bed::with_server();
    let (person, _) = bed.mousepad("notes\n");
    for toolkit in ["gtk3", "gtk4", "qt5", "qt6"] {
        let app = bed.german_spin_buttons(toolkit);
        person.bring_to_front();
        let half = if toolkit.starts_with("gtk") {
            "0.5"
        } else {
            "50.0"
        };
        for (element, value, number) in [
            ("Amount", "3,5", "3.5"),
            ("Amount", "7.5", "7.5"),
            ("Share", "50 %", half),
        ] {
            let more = json!({"pid": app.pid, "element": element, "role": "AXIncrementor",
                              "value": value});
            server.call("set_value_and_traverse", more).ok();
            app.wait_for(&format!("{element} {number}"));
        }
        // A click hits the text, not a button that changes the number.
        app.clear_log();
        let click = json!({"pid": app.pid, "element": "Amount", "role": "AXIncrementor",
                           "pressKey": "a", "pressKeyModifiers": ["Control"]});
        server.call("click_and_traverse", click).ok();
        assert_eq!(app.log(), [""; 0], "{toolkit}");
        let typed = json!({"pid": app.pid, "text": "4,5", "pressKey": "Tab"});
        server.call("type_and_traverse", typed).ok();
        app.wait_for("Amount 4.5");
        assert_eq!(bed.screen().front(), person.window.id, "{toolkit}");
    }
}

#[test]
fn return_waits_for_the_button_that_the_text_enables() {
    let (bed, server) = Bed::with_server();
    let app = bed.fields();
    for name in ["one", "two", "three"] {
        let more = json!({"pid": app.pid, "element": "Name", "role": "AXTextField",
                          "doubleClick": true, "text": name, "pressKey": "Return"});
        server.call("click_and_traverse", more).ok();
        app.wait_for(&format!("saved {name} "));
    }
}

#[test]
fn the_answer_reports_a_completion_list_that_takes_the_return_key() {
    let (bed, server) = Bed::with_server();
    let app = bed.fields();
    let call = |element: &str, text: &str| {
        let more = json!({"pid": app.pid, "element": element, "role": "AXTextField",
                          "text": text, "pressKey": "Return"});
        server.call("click_and_traverse", more).ok()
    };
    call("Name", "alice");
    app.wait_for("saved alice ");
    app.clear_log();
    let answer = call("City", "Lon");
    assert!(
        !app.log().iter().any(|line| line.starts_with("saved")),
        "{:?}",
        app.log()
    );
    assert!(
        message(&answer).contains("A list over the window was open, and may have taken the key"),
        "{answer}"
    );
    server.press_key(app.pid, "Return", &[]).ok();
    app.wait_for("saved alice Lon");
    let answer = server.press_key(app.pid, "F9", &[]).ok();
    assert_eq!(
        message(&answer),
        "note: F9 changed nothing, neither tree nor screenshot"
    );
}

/// Another app's window, the person's, is in front.
#[test]
fn a_value_that_an_app_refuses_or_takes_back_is_no_success() {
    let (bed, server) = Bed::with_server();
    let (persons, _) = bed.mousepad("");
    for kit in ["gtk3", "gtk4", "qt5", "qt6"] {
        let app = bed.refuses(kit);
        let click = "click_and_traverse";
        let set = "set_value_and_traverse";
        let fails = |tool: &str, args: Value, why: &str| {
            let answer = persons.call_behind(&server, app.pid, tool, args);
            assert!(answer.error().contains(why), "{kit}: {answer}");
        };
        let mut fixed = json!({"element": "Fixed", "role": "AXTextField", "text": "new"});
        fails(click, fixed.clone(), "took none of the text");
        let mut count = json!({"element": "Count", "role": "AXIncrementor", "text": "42"});
        fails(click, count.clone(), "took none of the text");
        count["pressKey"] = json!("Tab");
        fails(click, count, "Tab was not pressed");
        fixed["value"] = fixed["text"].take();
        fixed.as_object_mut().unwrap().remove("text");
        fails(set, fixed, "read-only");
        let back = json!({"element": "Back", "role": "AXTab"});
        fails(click, back, "not selected");
        let limit = json!({"element": "Limit", "role": "AXIncrementor", "value": "8"});
        fails(set, limit, "now, and not '8'");
        match kit {
            "gtk3" => {
                let read = server.refresh(app.pid);
                let mut cells = read
                    .lines()
                    .into_iter()
                    .filter(|line| line.role == Role::CELL);
                let cell = cells
                    .find(|line| line.visible && line.text.is_none())
                    .unwrap();
                let cell = cell.reference.unwrap().to_string();
                fails(click, json!({ "ref": cell }), "still as it was");
                assert_eq!(app.log(), ["toggled 0"], "{kit}");
            }
            "gtk4" => fails(
                click,
                json!({"element": "Low", "choose": "High"}),
                "and not 'High'",
            ),
            _ => {
                let typed =
                    json!({"element": "Day", "role": "AXIncrementor", "text": "2026-11-30"});
                fails(click, typed, "shows '06.05.2024' now");
                assert_eq!(app.log(), [""; 0], "{kit}");
                let day = json!({"element": "Day", "role": "AXIncrementor", "value": "29.11.2026"});
                persons.call_behind(&server, app.pid, set, day).ok();
                app.wait_for("day 2026-11-29");
            }
        }
    }
}

/// A page that changes what clicks, texts and drags have done, each after a moment.
const ODD: &str = r#"<title>Odd</title><script>let late = (f, ms) => setTimeout(f, ms)</script>
    <button onclick="log('closed')">Close</button>
    <button onclick="late(() => h.textContent = 'Order placed', 60)">Order</button><h1 id=h>Cart</h1>
    <textarea aria-label=Chat oninput="late(() => this.value = '', 150)"></textarea>
    <input type=number aria-label=Count value=4 oninput="log('count ' + this.value)">
    <select size=3 aria-label=Size onchange="log('size ' + this.value)">
      <option>one<option>two<option>three<option>four<option>five<option>six</select>
    <p><input type=range aria-label=Volume value=20 style="width:300px"
      onchange="log('volume ' + this.value)">
    <input role=combobox aria-label=Airport aria-expanded=false
      oninput="late(offer, 150)" onblur="late(hide, 50)">
    <ul id=l role=listbox hidden></ul>
    <script>const a = document.querySelector('[role=combobox]');
    function hide() { l.hidden = true; a.ariaExpanded = 'false' }
    function offer() { a.ariaExpanded = 'true'; l.hidden = false; l.innerHTML = '';
      for (const s of ['Paris Orly', 'Parma']) {
        const o = document.createElement('li'); o.role = 'option'; o.textContent = s;
        o.onmousedown = () => { log('chose ' + s); hide() }; l.append(o) } }
    log('ready')</script>"#;

fn odd_page_is_answered_right(bed: &Bed, server: &Client, app: &App<'_>, page: &Page) {
    let (person, _) = bed.mousepad("");
    let call = |tool: &str, more: Value| person.call_behind(server, app.pid, tool, more);
    let click = |element: &str, mut more: Value| {
        more["element"] = element.into();
        call("click_and_traverse", more)
    };
    let logs = |line: &str, answer: &Answer| {
        until(&format!("{line} after {answer}"), || {
            page.log().iter().any(|logged| logged == line).then_some(())
        });
    };
    until("the page in the tree", || {
        let order = server.refresh(app.pid).ok().find("AXButton", "Order");
        order.map(drop)
    });
    let answer = click("Close", json!({"role": "AXButton"})).ok();
    logs("closed", &answer);
    let answer = click("Order", json!({"role": "AXButton"})).ok();
    assert!(answer.text.contains("Order placed"), "{answer}");

    let answer = click("Chat", json!({"text": "hello"}));
    assert!(answer.is_error && answer.error().contains("''"), "{answer}");
    let count = json!({"element": "Count", "role": "AXIncrementor", "value": "8"});
    let answer = call("set_value_and_traverse", count);
    assert!(
        answer.is_error || page.log().contains(&"count 8".to_owned()),
        "{answer}"
    );

    for choice in ["six", "one"] {
        let answer = click(choice, json!({})).ok();
        logs(&format!("size {choice}"), &answer);
    }
    let slider = until("the slider", || {
        server
            .refresh(app.pid)
            .ok()
            .find("AXSlider", "Volume")?
            .extents
    });
    let y = slider.y + slider.h / 2;
    let at = |part: i32| slider.x + slider.w * part / 10;
    let drag = json!({"x": at(2), "y": y, "toX": at(8), "toY": y});
    let answer = call("drag_and_traverse", drag).ok();
    let moved = page.log().pop().unwrap().replace("volume ", "");
    assert!(
        answer
            .field("target")
            .contains(&format!("value:\"{moved}\"")),
        "{moved}: {answer}"
    );

    let answer = click("Airport", json!({"text": "par"})).ok();
    assert!(answer.text.contains("Paris Orly"), "{answer}");
    // The list stays open until the next call, because it would close if its window went behind.
    let option = json!({"pid": app.pid, "element": "Paris Orly"});
    let answer = server.call("click_and_traverse", option).ok();
    logs("chose Paris Orly", &answer);
    assert_eq!(bed.screen().front(), person.window.id);
}

#[test]
fn the_answer_agrees_with_the_events_of_an_odd_page_in_chromium() {
    let (bed, server) = Bed::with_server();
    let (app, page) = bed.chromium(ODD);
    odd_page_is_answered_right(&bed, &server, &app, &page);
}

#[test]
fn the_answer_agrees_with_the_events_of_an_odd_page_in_firefox() {
    let (bed, server) = Bed::with_server();
    let (app, page) = bed.firefox_page(ODD);
    odd_page_is_answered_right(&bed, &server, &app, &page);
}
