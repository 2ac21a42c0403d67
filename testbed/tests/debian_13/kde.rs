//! KWin 6.3: windows, exact coordinates, clicks, typing and the guard, with native apps over each
//! other.

use std::fs;
use std::time::Instant;

use deskline_testbed::{Client, Compositor, Lack, NativeApp, PATIENCE, Session, Toolkit, until};
use rustix::process::Signal;
use serde_json::json;

#[test]
fn kwin_passes_the_checks_of_every_desktop_and_types_in_each_layout() {
    let kde = Session::new(Compositor::Kwin);
    let (said, server, [gtk3, _, qt6]) =
        kde.keeps_all_but(&[Lack::OtherText, Lack::Pictures], Toolkit::DEBIAN_13);
    assert!(said.contains("KWin's input capture. Esc cancels"), "{said}");
    let refused = server.type_text(gtk3.pid(), "Grüße 漢");
    for part in [
        "characters 3, 4, 7 of the text",
        "Nothing was typed",
        "set_value_and_traverse",
    ] {
        assert!(refused.error().contains(part), "{part}\n{refused}");
    }
    text_of_each_layout_is_typed(&kde, &server, &qt6);
}

#[test]
fn a_panel_is_read_pressed_and_clicked() {
    Session::new(Compositor::Kwin).clicks_a_panel();
}

/// The person's layouts, as their settings file has them: which of them is on, and a text that it
/// types.
const LAYOUTS: [(&str, u8, &str); 4] = [
    ("LayoutList=fr", 0, "Aq zW éèç à@"),
    ("LayoutList=us,ru", 1, "Жя Привет"),
    ("LayoutList=ru,us", 1, "Yz Aq"),
    (
        "LayoutList=de\nVariantList=neo\nOptions=ctrl:swapcaps",
        0,
        "Xv ÄöSß",
    ),
];

fn text_of_each_layout_is_typed(kde: &Session, server: &Client, app: &NativeApp) {
    let call = |path: &str, arguments: &[&str]| {
        let mut command = kde.command("/usr/bin/gdbus");
        command.args(["call", "--session", "-d", "org.kde.KWin", "-o", path, "-m"]);
        let output = command.args(arguments).output().unwrap();
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    };
    let settings = kde.folder().join(".config/kxkbrc");
    for (layout, group, text) in LAYOUTS {
        let lines = format!("[Layout]\nUse=true\nResetOldOptions=true\n{layout}\n");
        fs::write(&settings, lines).unwrap();
        // KWin 6.3 and 6.7.
        let changed = "{'Layout': [b'LayoutList', b'VariantList', b'Options', b'Use']}";
        for signal in [
            ["/Layouts", "org.kde.keyboard.reloadConfig", ""],
            ["/kxkbrc", "org.kde.kconfig.notify.ConfigChanged", changed],
        ] {
            let [path, name, arguments] = signal;
            let mut emit = kde.command("/usr/bin/gdbus");
            emit.args(["emit", "--session", "--object-path", path, "--signal", name]);
            emit.args(Some(arguments).filter(|arguments| !arguments.is_empty()));
            assert!(emit.status().unwrap().success());
        }
        let on = || call("/Layouts", &["org.kde.KeyboardLayouts.getLayout"]);
        let wanted = format!("(uint32 {group},)");
        until(layout, || {
            let set = ["org.kde.KeyboardLayouts.setLayout", &group.to_string()];
            call("/Layouts", &set);
            (on() == wanted || group == 0).then_some(())
        });
        let shortcut = json!({"do": "press_key", "keyName": "a", "modifierFlags": ["Control"]});
        let steps = json!({"steps": [
            {"do": "click", "element": "Name", "role": "AXTextField"}, shortcut,
            {"do": "type", "text": text},
        ]});
        let answer = server.call_for(app, "chain_and_traverse", steps).ok();
        until(&format!("{layout}: {answer}"), || app.text() == text);
        assert!(on() == wanted || group == 0, "{layout}");
    }
}

#[test]
fn the_persons_keys_are_kept_out_and_their_esc_cancels() {
    Session::new(Compositor::Kwin).keeps_the_persons_keys_out();
}

#[test]
fn a_banner_says_that_the_agent_acts() {
    let kde = Session::new(Compositor::Kwin);
    let server = kde.server();
    let app = kde.widgets(Toolkit::Qt6, &server);
    let banners = || {
        let script = "say(String(workspace.stackingOrder.filter(w => w.onScreenDisplay).length));";
        kde.kwin(script)
    };
    let text = "all work and no play makes jack a dull boy. ".repeat(60);
    server.click(app.pid(), "AXTextField", "Name").ok();
    assert_eq!(banners(), "0");
    let typing = json!({"pid": app.pid(), "text": text});
    let whole = server.send("type_and_traverse", typing.clone());
    until("the banner", || banners() == "1");
    whole.answer(PATIENCE).unwrap().ok();
    until("the text", || app.text() == text);
    assert_eq!(banners(), "0");
    let _killed = server.send("type_and_traverse", typing);
    until("the banner", || banners() == "1");
    kde.kill(&server);
    until("its end", || banners() == "0");
}

#[test]
fn the_guard_opens_at_its_limit_and_when_its_process_ends() {
    let kde = Session::new(Compositor::Kwin);
    let person = kde.server_with(&["--guard", "off"]);
    let app = kde.widgets(Toolkit::Gtk4, &person);
    let pid = app.pid();
    let long = "all work and no play makes jack a dull boy. ".repeat(200);
    person.click(app.pid(), "AXTextField", "Name").ok();
    let types = || {
        let length = app.text().len();
        person.type_text(pid, "2").ok();
        until("the person's key", || app.text().len() > length);
    };

    let limited = kde.server_with(&["--guard-timeout", "1"]);
    limited
        .type_text(app.pid(), &long)
        .has("held the user's input for too long");
    types();

    let server = kde.server();
    let _typing = server.send("type_and_traverse", json!({"pid": pid, "text": long}));
    let length = app.text().len();
    until("the agent's text", || app.text().len() > length + 300);
    kde.kill(&server);
    types();
}

/// KWin ends a capture with the process that owns it, which is not the server's.
#[test]
fn a_stopped_server_gives_the_devices_back_at_its_limit_and_at_esc() {
    let kde = Session::new(Compositor::Kwin);
    let person = kde.server_with(&["--guard", "off"]);
    let app = kde.widgets(Toolkit::Gtk4, &person);
    let pid = app.pid();
    person.click(pid, "AXTextField", "Name").ok();
    for (escapes, limit) in [(false, "4"), (true, "60")] {
        person.set_value(pid, "AXTextField", "Name", "").ok();
        let server = kde.server_with(&["--guard-timeout", limit]);
        // The capture is closed while a key is held.
        let hold = json!({"pid": pid, "keyName": "x", "hold": 10});
        let pressing = server.send("press_key_and_traverse", hold);
        until("the agent's key", || app.text().contains('x'));
        kde.signal(&server, Signal::STOP);
        let start = Instant::now();
        until("the person's key", || {
            if escapes {
                person.press_key(pid, "Escape", &[]);
            }
            person.type_text(pid, "2");
            app.text().contains('2')
        });
        println!("after {:?} (Esc: {escapes})", start.elapsed());
        kde.signal(&server, Signal::CONT);
        assert!(pressing.answer(PATIENCE).unwrap().is_error);
    }
}

/// KWin gives a new script the number of a script that it is still unloading.
#[test]
fn the_scripts_of_two_servers_do_not_mix() {
    let kde = Session::new(Compositor::Kwin);
    let servers = [kde.server(), kde.server()];
    let app = kde.widgets(Toolkit::Gtk3, &servers[0]);
    for n in 0..50 {
        let lists = servers
            .each_ref()
            .map(|server| server.send("list_applications", json!({})));
        for list in lists {
            let list = list.answer(PATIENCE).unwrap().ok();
            assert!(
                list.text.contains(&format!("(PID: {})", app.pid())),
                "{n}: {list}"
            );
        }
    }
}

/// KWin gives Fcitx all keys of a text field first: modifiers would overtake them.
#[test]
fn text_and_shortcuts_bypass_kwins_input_method() {
    let kde = Session::new(Compositor::Kwin).ends_with_the_test();
    kde.types_past_kwins_input_method(&[Toolkit::Gtk3, Toolkit::Qt6]);
}
