//! GNOME Shell 48 with Deskline's extension: it raises and restores windows, and coordinates are
//! the screen's.

use std::time::Duration;

use deskline_core::{Point, Rect};
use deskline_testbed::{Answer, Client, Compositor, NativeApp, Session, Setup, Toolkit, until};
use serde_json::json;

/// The windows of the session, as the extension reports them: for each its pid, whether it has the
/// keyboard, and its rectangle.
fn windows(session: &Session) -> Vec<(u32, bool, [i64; 4])> {
    let code = "import gi, json\n\
        from gi.repository import Gio\n\
        bus = Gio.bus_get_sync(Gio.BusType.SESSION)\n\
        n = 'org.deskline.Shell'\n\
        told = bus.call_sync(n, '/org/deskline/Shell', n, 'Screen', None, None, 0, 5000, \
        None).unpack()[2]\n\
        print(json.dumps([(w[1], w[4], w[8]) for w in told if w[3] == 'toplevel']))\n";
    let output = session
        .command("/usr/bin/python3")
        .args(["-c", code])
        .output();
    let output = output.unwrap();
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Whether the shell gives this app, and no other, the keyboard.
fn has_keyboard(session: &Session, app: &NativeApp) -> bool {
    let windows = windows(session);
    let focused: Vec<u32> = windows.iter().filter(|w| w.1).map(|w| w.0).collect();
    focused == [app.pid()]
}

/// Raises the app's window by the extension. Returns the time until the shell gave it the keyboard.
fn raise(session: &Session, app: &NativeApp) -> Duration {
    let code = "import sys, time\n\
        from gi.repository import Gio, GLib\n\
        bus = Gio.bus_get_sync(Gio.BusType.SESSION)\n\
        n = 'org.deskline.Shell'\n\
        ask = lambda m, a=None: bus.call_sync(n, '/org/deskline/Shell', n, m, a, None, 0, 5000, \
        None).unpack()[-1]\n\
        id = next(w[0] for w in ask('Screen') if w[1] == int(sys.argv[1]) and w[3] == 'toplevel')\n\
        start = time.monotonic()\n\
        assert ask('Activate', GLib.Variant('(t)', (id,)))\n\
        while not any(w[0] == id and w[4] for w in ask('Screen')): assert time.monotonic() < \
        start + 5\n\
        print(round((time.monotonic() - start) * 1e6))\n";
    let mut command = session.command("/usr/bin/python3");
    let output = command.args(["-c", code, &app.pid().to_string()]).output();
    let output = output.unwrap();
    assert!(output.status.success(), "{output:?}");
    let took = String::from_utf8_lossy(&output.stdout);
    Duration::from_micros(took.trim().parse().unwrap())
}

#[test]
fn a_target_comes_to_the_front_and_the_persons_window_comes_back() {
    let session = Setup::debian_13(Compositor::Gnome).extension().start();
    let server = session.server();
    let apps = apps(&session, &server);
    the_doctor_names_the_extension(&session);
    let person = &apps[2];
    until("its app's own word", || server.has_in_front(person));
    let before = pointer(&session);
    for app in &apps[..2] {
        server.toggles(app, json!({"element": "Bold"}), 1, "an app behind");
        // The person's window and pointer are restored before the answer, not later.
        assert!(has_keyboard(&session, person), "{:?}", windows(&session));
        assert_eq!(pointer(&session), before);
    }
    // Each app has one window, with a place on the screen.
    let listed = windows(&session);
    for app in &apps {
        let its: Vec<_> = listed.iter().filter(|w| w.0 == app.pid()).collect();
        assert!(
            its.len() == 1 && its[0].2[2] > 100 && its[0].2[3] > 100,
            "{listed:?}"
        );
    }
    a_raise_takes_a_few_milliseconds(&session, &apps);
    an_open_menu_gives_way_to_another_app(&server, &apps);
    a_covered_place_is_refused_if_the_cover_stays_on_top(&session, &server, &apps);
}

fn a_raise_takes_a_few_milliseconds(session: &Session, apps: &[NativeApp; 3]) {
    let times = apps.iter().cycle().take(6).map(|app| raise(session, app));
    let fastest = times.min().unwrap();
    // Alt+Esc takes over 100 ms.
    assert!(fastest < Duration::from_millis(50), "{fastest:?}");
}

/// One test app of each toolkit; later ones cover earlier ones.
fn apps(session: &Session, server: &Client) -> [NativeApp; 3] {
    let apps = Toolkit::DEBIAN_13.map(|toolkit| session.widgets(toolkit, server));
    // On a busy machine GNOME leaves a new window behind.
    raise(session, &apps[2]);
    apps
}

/// Clicks just inside the corners of the toggle, and beside it, in a window that others may cover.
/// `unit` is the number of the screen's units in one of the toolkit's.
fn corners_are_exact(server: &Client, app: &NativeApp, of: &str, unit: i32) -> Answer {
    let answer = server.toggles(app, json!({"element": "Bold"}), 1, of);
    assert!(!answer.file().contains("# coordinates"), "{of}");
    let bold = answer.toggle();
    // Buttons have round corners.
    let round = 2 * unit;
    let (right, bottom) = (bold.x + bold.w - 1 - round, bold.y + bold.h - 1 - round);
    let corners = [bold.x + round, right].map(|x| [bold.y + round, bottom].map(|y| (x, y)));
    for (x, y) in corners.into_iter().flatten() {
        server.toggles(app, json!({"x": x, "y": y}), 1, of);
    }
    let middle = (bold.x + bold.w / 2, bold.y + bold.h / 2);
    let beside = [
        (bold.x + bold.w + 2, middle.1),
        (middle.0, bold.y + bold.h + 2),
    ];
    for (x, y) in beside {
        server.toggles(app, json!({"x": x, "y": y}), 0, of);
    }
    answer
}

#[test]
fn clicks_land_to_the_pixel_in_windows_over_each_other() {
    let session = Setup::debian_13(Compositor::Gnome).extension().start();
    let server = session.server();
    let apps = apps(&session, &server);
    let mut buttons = Vec::new();
    for (app, toolkit) in apps.iter().zip(Toolkit::DEBIAN_13) {
        let answer = corners_are_exact(&server, app, &format!("{toolkit:?}"), 1);
        buttons.push(answer.toggle());
        // The button is within the window's place on the screen.
        let windows = windows(&session);
        let [x, y, w, h] = windows.iter().find(|w| w.0 == app.pid()).unwrap().2;
        let ok = buttons[buttons.len() - 1];
        let at = |v: i32| i64::from(v);
        let within = (x..x + w).contains(&at(ok.x)) && (y..y + h).contains(&at(ok.y));
        assert!(within, "{ok:?} in {windows:?}");
        assert!(has_keyboard(&session, &apps[2]), "{windows:?}");
    }
    // A covered window is pictured without being raised.
    let read = server.call_for(&apps[0], "refresh_traversal", json!({}));
    let picture = read.ok();
    assert!(picture.get("screenshot").is_some(), "{picture}");
    assert!(has_keyboard(&session, &apps[2]));
    menus_open_behind_and_the_persons_window_comes_back(&session, &server, &apps);
    let [_, gtk4, _] = &apps;
    server.fills_the_form(gtk4);
    server.turns_the_wheel(gtk4);
    server.drags_over_the_pad(gtk4);
}

#[test]
fn clicks_are_exact_on_a_screen_of_scale_2() {
    // The toolkits differ if GNOME uses physical pixels.
    for (physical, toolkits) in [(false, &[Toolkit::Gtk4][..]), (true, &Toolkit::DEBIAN_13)] {
        let mut setup = Setup::debian_13(Compositor::Gnome).extension().scale(2.0);
        if physical {
            setup = setup.physical_pixels();
        }
        let session = setup.start();
        let server = session.server();
        for &toolkit in toolkits {
            let app = session.widgets(toolkit, &server);
            let unit = if physical { 2 } else { 1 };
            let of = format!("{toolkit:?} in units of {unit}");
            let answer = corners_are_exact(&server, &app, &of, unit);
            let window = answer.window();
            let widths = 600 * unit..1000 * unit;
            assert!(widths.contains(&window.w), "{window:?} {of}");
        }
    }
}

fn menus_open_behind_and_the_persons_window_comes_back(
    session: &Session,
    server: &Client,
    apps: &[NativeApp; 3],
) {
    let [.., person] = apps;
    let click = |app, element: &str, role: &str| {
        let click = json!({"element": element, "role": role});
        server.call_for(app, "click_and_traverse", click).ok()
    };
    for (app, toolkit) in apps.iter().zip(Toolkit::DEBIAN_13) {
        for (by_place, says) in [(false, "true"), (true, "false")] {
            app.clear_log();
            let opened = click(app, "File", "AXMenuBarItem");
            assert!(has_keyboard(session, app), "{toolkit:?}");
            let clicked = if by_place {
                let item = opened.line_of("AXMenuItem", "File option").extents.unwrap();
                // In GTK 3, the bounds of a menu bar's menu include its shadow.
                let inset = if toolkit == Toolkit::Gtk3 { 12 } else { 4 };
                let corner = (item.x + item.w - inset, item.y + item.h - inset);
                let corner = json!({"x": corner.0, "y": corner.1});
                server.call_for(app, "click_and_traverse", corner).ok()
            } else {
                click(app, "File option", "AXMenuItem")
            };
            until(&format!("the item of {toolkit:?}\n{clicked}"), || {
                app.logged(&format!("menu File option {says}")) == 1
            });
            assert!(has_keyboard(session, person), "{toolkit:?}\n{clicked}");
        }
    }
}

/// An open menu would keep the keyboard.
fn an_open_menu_gives_way_to_another_app(server: &Client, [gtk3, gtk4, qt6]: &[NativeApp; 3]) {
    for (n, app) in [gtk3, gtk4].into_iter().enumerate() {
        server.click(app.pid(), "AXMenuBarItem", "File").ok();
        let text = format!("text {n}");
        server.fill(qt6.pid(), "AXTextField", "Name", &text).ok();
        qt6.wait_for(&format!(
            "text Name {}{text}",
            if n == 0 { "" } else { "text 0" }
        ));
    }
}

fn a_covered_place_is_refused_if_the_cover_stays_on_top(
    session: &Session,
    server: &Client,
    [_, below, over]: &[NativeApp; 3],
) {
    below.clear_log();
    over.clear_log();
    // GNOME's own key for "always on top".
    server.press_key(over.pid(), "t", &["Control", "Alt"]).ok();
    let read = server.refresh(below.pid()).ok();
    let covered = windows(session);
    let [x, y, w, h] = covered.iter().find(|w| w.0 == over.pid()).unwrap().2;
    let cover = Rect::new(
        x.try_into().unwrap(),
        y.try_into().unwrap(),
        w.try_into().unwrap(),
        h.try_into().unwrap(),
    );
    let ok = read.line_of("AXButton", "OK").extents.unwrap();
    let middle = Point::at(ok.x + ok.w / 2, ok.y + ok.h / 2);
    assert!(cover.unwrap().contains(middle), "{covered:?} {ok:?}");
    let refused = server.click(below.pid(), "AXButton", "OK");
    let says = refused.is_error && refused.text.contains("covers");
    assert!(says, "{refused}");
    assert_eq!(below.logged("clicked OK") + over.logged("clicked OK"), 0);
    server.press_key(over.pid(), "t", &["Control", "Alt"]).ok();
    server.click(below.pid(), "AXButton", "OK").ok();
    below.wait_for("clicked OK");
}

/// The position of the pointer, as the shell reports it.
fn pointer(session: &Session) -> (i64, i64) {
    let code = "import json\n\
        from gi.repository import Gio\n\
        bus = Gio.bus_get_sync(Gio.BusType.SESSION)\n\
        n = 'org.deskline.Shell'\n\
        told = bus.call_sync(n, '/org/deskline/Shell', n, 'Screen', None, None, 0, 5000, \
        None).unpack()[1]\n\
        print(json.dumps(told[:2]))\n";
    let output = session
        .command("/usr/bin/python3")
        .args(["-c", code])
        .output();
    serde_json::from_slice(&output.unwrap().stdout).unwrap()
}

fn the_doctor_names_the_extension(session: &Session) {
    let row = raise_row(session);
    let says = "✓ raise by Deskline's extension, which also reports positions on the screen";
    let words: Vec<&str> = row.split_whitespace().collect();
    assert!(words.join(" ").contains(says), "{row}");
}

/// The doctor's row about raising windows, with its continuation lines.
fn raise_row(session: &Session) -> String {
    let output = session
        .deskline(&["doctor", "--dir", "j"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let rows: Vec<&str> = said.split('✓').collect();
    let row = rows
        .iter()
        .find(|row| row.trim_start().starts_with("raise"));
    format!("✓{}", row.unwrap_or_else(|| panic!("{said}")))
}

/// If the extension is switched off during a call, coordinates would change their meaning.
#[test]
fn an_extension_that_is_switched_off_ends_the_call() {
    let session = Setup::debian_13(Compositor::Gnome).extension().start();
    let server = session.server();
    let app = session.widgets(Toolkit::Gtk4, &server);
    server.click(app.pid(), "AXTextField", "Name").ok();
    let text = json!({"pid": app.pid(), "text": "all work and no play ".repeat(300)});
    let typing = server.send("type_and_traverse", text);
    until("the first words", || {
        let log = app.log();
        log.iter().any(|l| l.contains("no play")).then_some(())
    });
    let mut set = session.command("/usr/bin/gsettings");
    set.args(["set", "org.gnome.shell", "enabled-extensions", "@as []"]);
    assert!(set.status().unwrap().success());
    typing
        .answer(Duration::from_secs(60))
        .unwrap()
        .fails_with("switched off");
    let ok = json!({"element": "OK", "role": "AXButton"});
    let next = server.call_for(&app, "click_and_traverse", ok).ok();
    assert!(next.file().contains("# coordinates: window"), "{next}");
    app.wait_for("clicked OK");
}
