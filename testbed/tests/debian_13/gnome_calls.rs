//! GNOME Shell 48, driven by those calls of Mutter's session which are the only ones in GNOME
//! before 45.

use std::process::Command;

use deskline_testbed::{Client, Compositor, NativeApp, Session, Toolkit, until};
use serde_json::json;

/// Has the server send input by these calls, although this Mutter offers EIS.
const BY_CALLS: [&str; 2] = ["--gnome-input", "notify"];

#[test]
fn clicks_text_keys_the_wheel_and_drags() {
    let session = Session::new(Compositor::Gnome);
    let server = session.server_with(&BY_CALLS);
    let app = session.widgets(Toolkit::Gtk4, &server);
    the_doctor_says_by_which_way_input_goes(&session);
    server.clicks_are_exact(&app, "the app");
    each_button_and_count_of_clicks_arrives(&server, &app);
    text_and_shortcuts_arrive(&server, &app);
    server.turns_the_wheel(&app);
    server.drags_over_the_pad(&app);
    server.menu_item_is_clicked(&app);
    let person = session.widgets(Toolkit::Qt6, &server);
    let persons_window = || server.has_in_front(&person).then_some(());
    until("the last app's window", persons_window);
    server.toggles(&app, json!({"element": "Bold"}), 1, "the app behind");
    until("the person's window", persons_window);
    drop(person);
    of_several_layouts_only_shared_characters_are_typed(&session, &server, &app);
}

fn each_button_and_count_of_clicks_arrives(server: &Client, app: &NativeApp) {
    app.clear_log();
    let pad = |more: &str| {
        let mut click = json!({"element": "Pad", "role": "AX"});
        click[more] = true.into();
        server.call_for(app, "click_and_traverse", click).ok();
    };
    pad("rightClick");
    app.wait_for("pad press 3");
    app.wait_for("pad release 3");
    pad("doubleClick");
    app.wait_for("pad double 1");
    until("both clicks", || app.logged("pad release 1") == 2);
    assert_eq!(app.logged("pad double 1"), 1);
}

fn text_and_shortcuts_arrive(server: &Client, app: &NativeApp) {
    server.types_and_types_over(app, "Hello, World: 1+1=2! {[~]}");
    app.clear_log();
    let foreign = json!({"text": "ab漢"});
    let foreign = server.call_for(app, "type_and_traverse", foreign);
    let refused = foreign.is_error && foreign.text.contains("no key for character 3 of the text");
    assert!(refused, "{foreign}");
    // The character may be a part of a password that is typed key by key.
    let foreign = server.press_key(app.pid(), "漢", &[]);
    let refused = foreign.error().contains("keyboard layout has no key for");
    assert!(refused && !foreign.error().contains('漢'), "{foreign}");
    server.type_text(app.pid(), "y").ok();
    // No part of the refused text was typed.
    app.wait_for("text Name xy");
}

/// GNOME does not report which of several layouts is on. With two, a character is typed only if
/// both have it on the same key.
fn of_several_layouts_only_shared_characters_are_typed(
    session: &Session,
    server: &Client,
    app: &NativeApp,
) {
    let typed = |text: &str| server.type_text(app.pid(), text);
    server.click(app.pid(), "AXTextField", "Name").ok();
    sources(session, "[('xkb', 'us'), ('xkb', 'de')]");
    let refused = until("the shell's keymap of both", || {
        Some(typed("lazy")).filter(|answer| answer.is_error)
    });
    let says = ["several keyboard layouts", "characters 3, 4 of the text"];
    assert!(says.iter().all(|s| refused.text.contains(s)), "{refused}");
    let refused = server.press_key(app.pid(), "z", &["Control"]);
    let layouts = refused.is_error && refused.text.contains("several keyboard layouts");
    assert!(layouts, "{refused}");
    app.clear_log();
    typed("a").ok();
    server.press_key(app.pid(), "a", &["Control"]).ok();
    typed("Tee 1").ok();
    app.wait_for("text Name Tee 1");

    sources(session, "[('xkb', 'de')]");
    until("the shell's keymap of one", || {
        server.press_key(app.pid(), "a", &["Control"]).ok();
        (!typed("Zwölf µ@€?").is_error).then_some(())
    });
    app.wait_for("text Name Zwölf µ@€?");
}

/// Sets the person's keyboard layouts.
fn sources(session: &Session, sources: &str) {
    let mut set: Command = session.command("/usr/bin/gsettings");
    set.args(["set", "org.gnome.desktop.input-sources", "sources", sources]);
    assert!(set.status().unwrap().success());
}

fn the_doctor_says_by_which_way_input_goes(session: &Session) {
    let said = |args: &[&str]| {
        let args = [&["doctor", "--dir", "j"], args].concat();
        let output = session.deskline(&args).output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let rows = |said: &str| {
        let by = |line: &&str| line.contains("by Mutter's Notify calls");
        let rows = said.lines().filter(by);
        let names = rows.filter_map(|line| line.split_whitespace().nth(1));
        names.map(str::to_owned).collect::<Vec<_>>()
    };
    let (usual, asked) = (said(&[]), said(&BY_CALLS));
    assert_eq!(rows(&usual), Vec::<String>::new(), "{usual}");
    assert_eq!(rows(&asked), ["pointer", "keys"], "{asked}");
}
