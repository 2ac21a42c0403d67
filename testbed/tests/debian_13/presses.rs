//! Buttons with modifiers, hovering, held keys, choices, scrolling to a text and drags on each
//! compositor. Another app's window, the person's, is in front.

use deskline_testbed::{Answer, Compositor, NativeApp, Session, Setup, Toolkit, tests, until};
use serde_json::{Value, json};

tests! {
    every_way_to_act_works_on_sway => ways_to_act(&Session::new(Compositor::Sway), true),
    every_way_to_act_works_on_kwin => ways_to_act(&Session::new(Compositor::Kwin), true),
    every_way_to_act_works_on_gnome => ways_to_act(&Session::new(Compositor::Gnome), false),
    every_way_to_act_works_on_gnome_with_the_extension =>
        ways_to_act(&Setup::debian_13(Compositor::Gnome).extension().start(), true),
    far_choices_of_gtk_4_are_made_on_sway => far_choices(&Session::new(Compositor::Sway)),
    far_choices_of_gtk_4_are_made_on_x11 => far_choices(&Session::new(Compositor::X11)),
    rows_move_between_apps_on_sway => rows_go_from_app_to_app(&Session::new(Compositor::Sway)),
    rows_move_between_apps_on_kwin => rows_go_from_app_to_app(&Session::new(Compositor::Kwin)),
    rows_move_between_apps_on_gnome_with_the_extension =>
        rows_go_from_app_to_app(&Setup::debian_13(Compositor::Gnome).extension().start()),
}

/// `placed`: it is known where windows are. Otherwise GNOME moves a list that is as tall as the
/// screen.
fn ways_to_act(session: &Session, placed: bool) {
    let server = session.server();
    let app = session.script(&["presses.py"], &server, ["AXButton", "Pad"]);
    let choices = session.script(&["choices.py", "qt6"], &server, ["AXComboBox", "City"]);
    let lists = session.script(&["lists.py", "gtk4"], &server, ["AX", "Pear"]);
    let persons = session.widgets(Toolkit::Gtk3, &server);
    let call = |app: &NativeApp, tool: &str, more: Value| -> Answer {
        let answer = server.call_for(app, tool, more).ok();
        println!("{answer}\n");
        assert!(server.has_in_front(&persons), "{answer}");
        answer
    };
    until("the person's window", || server.has_in_front(&persons));
    let click = |app, more| call(app, "click_and_traverse", more);

    click(&app, json!({"element": "Pad", "middleClick": true}));
    app.wait_for("button 2");
    click(
        &app,
        json!({"element": "Pad", "modifierFlags": ["Control", "Shift"]}),
    );
    app.wait_for("button 1 Control Shift");
    let press = |more| call(&app, "press_key_and_traverse", more);
    press(json!({"keyName": "x", "hold": 0.7}));
    let log = app.log();
    let held = log
        .iter()
        .find_map(|line| line.strip_prefix("up x ")?.parse().ok());
    assert!(
        held.is_some_and(|ms: u32| (700..1500).contains(&ms)),
        "{log:?}"
    );
    for (name, symbol) in KEYS {
        press(json!({"keyName": name}));
        app.wait_for(&format!("key {symbol}"));
    }

    click(&app, json!({"element": "aa.txt"}));
    click(
        &app,
        json!({"element": "cc.txt", "modifierFlags": ["Control"]}),
    );
    app.wait_for("selected aa.txt cc.txt");

    app.clear_log();
    // The app is asked for its tool tip before the answer.
    click(&app, json!({"element": "Tipped", "hover": true}));
    let log = app.log();
    assert!(
        ["enter", "tip"]
            .iter()
            .all(|l| log.iter().any(|line| line == l)),
        "{log:?}"
    );

    // Their choice is their name. The last one is below the fold of its list.
    let cities = placed.then_some(("City 1", "City 55", "City City 55"));
    let both = [
        ("Small", "large", "Size Large"),
        ("More", "Copy it", "More Copy it"),
    ];
    for (element, choice, logs) in both.into_iter().chain(cities) {
        let choose = json!({"element": element, "role": "AX", "choose": choice});
        click(&choices, choose);
        choices.wait_for(logs);
    }
    let rows = json!({"element": "Rows", "role": "AXList", "until": "Line 60"});
    let found = call(&choices, "scroll_and_traverse", rows);
    assert!(found.line_of("AX", "Line 60").visible, "{found}");
    let drag = json!({"element": "Pear", "toElement": "Nuts"});
    call(&lists, "drag_and_traverse", drag);
    lists.wait_for("dropped Pear on To");
}

/// Choices below the fold of their lists, and rows far down and far up.
fn far_choices(session: &Session) {
    let server = session.server();
    let app = session.script(&["choices.py", "gtk4"], &server, ["AX", "City"]);
    let persons = session.widgets(Toolkit::Gtk3, &server);
    until("the person's window", || {
        server.has_in_front(&persons).then_some(())
    });
    for (element, choice, logs) in [
        ("City", "City 55", "City City 55"),
        ("City", "City 2", "City City 2"),
        ("Font", "Font 33", "Font Font 33"),
    ] {
        let choose = json!({"element": element, "role": "AXComboBox", "choose": choice});
        let answer = server.call_for(&app, "click_and_traverse", choose);
        let answer = answer.ok();
        app.wait_for(logs);
        assert!(server.has_in_front(&persons), "{answer}");
    }
    for (row, by) in [("Line 60", 1), ("Line 3", -1)] {
        let rows = json!({"element": "Rows", "role": "AXList", "until": row, "deltaY": by});
        let found = server.call_for(&app, "scroll_and_traverse", rows).ok();
        assert!(found.line_of("AXRow", row).visible, "{found}");
    }
}

/// From a narrow window to the wide ones of two apps under it, behind the person's window.
fn rows_go_from_app_to_app(session: &Session) {
    let server = session.server();
    let lists = |toolkit, title, width| {
        let script = ["lists.py", toolkit, title, width];
        session.script(&script, &server, ["AX", "Pear"])
    };
    let from = lists("gtk4", "Narrow", "420");
    let wide = ["gtk4", "qt6"].map(|toolkit| lists(toolkit, "Wide", "1200"));
    let persons = session.widgets(Toolkit::Gtk3, &server);
    until("the person's window", || server.has_in_front(&persons));
    for to in &wide {
        let drag = json!({"element": "Plum", "toPid": to.pid(), "toElement": "To"});
        let answer = server.call_for(&from, "drag_and_traverse", drag).ok();
        until(&format!("the row in the other app: {answer}"), || {
            to.logged("dropped Plum on To") == 1
        });
        assert!(server.has_in_front(&persons), "{answer}");
    }
}

/// Keys by name, and as GTK has them.
const KEYS: [(&str, &str); 5] = [
    ("Delete", "Delete"),
    ("Menu", "Menu"),
    ("Pause", "Pause"),
    ("KP_Add", "KP_Add"),
    ("XF86AudioPlay", "AudioPlay"),
];
