//! Debian's next release, whose packages change every day: each kind of action on each compositor.
//! Skipped without a root of it. Last seen with sway 1.12, labwc 0.20, KWin 6.7 and GNOME Shell 50,
//! GTK 4.24 and Qt 6.10.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::time::{Duration, Instant};

use deskline_testbed::{
    Answer, Client, Compositor, Lack, NativeApp, Session, Setup, Toolkit, tests, until,
};
use serde_json::json;

tests! {
    sway => with(Compositor::Sway, |setup| setup, |it| keeps(it, &[Lack::Guard])),
    labwc => with(Compositor::Labwc, |setup| setup, |it| keeps(it, &[Lack::Guard, Lack::Places])),
    kwin => with(Compositor::Kwin, |setup| setup, |session| {
        keeps(session, &[Lack::OtherText, Lack::Pictures]);
        session.keeps_the_persons_keys_out();
        uses_a_submenu(session);
        uses_a_calendar(session, true);
    }),
    /// KWin has data control by its second name only.
    kwins_clipboard => pastes(Compositor::Kwin),
    scrolled_pages => with(Compositor::Sway, |setup| setup, clicks_beside_scrolled_pages),
    menu_with_a_shadow => with(Compositor::Sway, |setup| setup, |session| {
        uses_a_menu_with_a_shadow(session);
        uses_a_submenu(session);
        uses_a_calendar(session, false);
    }),
    kwins_panel => with(Compositor::Kwin, |setup| setup, Session::clicks_a_panel),
    gnome => with(
        Compositor::Gnome,
        |setup| setup,
        |session| {
            keeps(session, &[Lack::OtherText, Lack::Guard, Lack::Places]);
            uses_a_submenu(session);
            uses_a_calendar(session, false);
        },
    ),
    /// The pointer is in GNOME's hot corner, and the first click creates it.
    gnome_without_devices => with(Compositor::Gnome, Setup::bare, clicks_at_once),
    gnome_portal => asks_the_portal(Compositor::Gnome, "/usr/libexec/xdg-desktop-portal-gnome"),
    kwins_portal => asks_the_portal(
        Compositor::Kwin,
        "/usr/lib/x86_64-linux-gnu/libexec/xdg-desktop-portal-kde",
    ),
    gnome_four_windows => with(Compositor::Gnome, |setup| setup, raises_among_four),
    gnome_extension => with(
        Compositor::Gnome,
        Setup::extension,
        |it| keeps(it, &[Lack::OtherText, Lack::Guard]),
    ),
    gnome_extension_without_devices => with(
        Compositor::Gnome,
        |setup| setup.extension().bare(),
        clicks_at_once,
    ),
}

fn keeps(session: &Session, lacks: &[Lack]) {
    session.keeps_all_but(lacks, Toolkit::DEBIAN_13);
}

fn pastes(compositor: Compositor) {
    if let Some(setup) = Setup::next_release(compositor) {
        setup.start().pastes(&Toolkit::DEBIAN_13);
    }
}

fn with(compositor: Compositor, change: fn(Setup) -> Setup, run: impl FnOnce(&Session)) {
    if let Some(setup) = Setup::next_release(compositor) {
        run(&change(setup).start());
    }
}

/// GTK reports the items of the menu off by its shadow, and sway does not report the menu.
fn uses_a_menu_with_a_shadow(session: &Session) {
    let server = session.server();
    let app = session.script(&["menu_button.py"], &server, ["AXButton", "Actions"]);
    let persons = session.widgets(Toolkit::Gtk3, &server);
    let does = |item: &str, how: fn(&Client, u32, &str)| {
        app.clear_log();
        assert!(server.has_in_front(&persons));
        how(&server, app.pid(), item);
        app.logs("did ");
        assert_eq!(app.log(), [format!("did {item}")]);
    };
    for item in ["Copy", "Cut", "Paste"] {
        does(item, |server, pid, item| {
            server.click(pid, "AXButton", "Actions").ok();
            server.click(pid, "AXMenuItem", item).ok();
        });
        does(item, |server, pid, item| {
            let choose = json!({"pid": pid, "element": "Actions", "choose": item});
            server.call("click_and_traverse", choose).ok();
        });
    }
}

/// In a chain, an item of a menu that slides in over another. "Plain" comes where "Style" was, and
/// so under the pointer.
fn uses_a_submenu(session: &Session) {
    let server = session.server();
    let app = session.script(&["menu_button.py"], &server, ["AXButton", "Actions"]);
    let persons = session.widgets_with(Toolkit::Gtk3, &server, "-persons", &[]);
    for item in ["Plain", "Bold", "Plain"] {
        app.clear_log();
        assert!(server.has_in_front(&persons));
        let steps = ["Actions", "Style", item].map(|name| json!({"do": "click", "element": name}));
        let chain = json!({"pid": app.pid(), "steps": steps});
        server.call("chain_and_traverse", chain).ok();
        app.logs("did ");
        assert_eq!(app.log(), [format!("did {item}")]);
    }
}

/// A row that GTK does not list is filled in. A calendar that a button opens stays open for what is
/// clicked in it, a click beside it reaches its target, and none reaches another day: of the
/// compositors only KWin tells where the calendar is.
fn uses_a_calendar(session: &Session, days: bool) {
    let server = session.server();
    let app = session.script(&["adw_rows.py"], &server, ["AXButton", "Pick"]);
    let persons = session.widgets_with(Toolkit::Gtk3, &server, "-calendar", &[]);
    assert!(server.has_in_front(&persons));
    let copies =
        json!({"pid": app.pid(), "element": "Copies", "role": "AXIncrementor", "value": "7"});
    server.call("set_value_and_traverse", copies).ok();
    app.wait_for("copies 7");
    let start = Instant::now();
    server.click(app.pid(), "AXButton", "Pick").ok();
    assert!(start.elapsed() < POPOVER, "{:?}", start.elapsed());
    let opened = server.click(app.pid(), "AXButton", "Next Month").ok();
    assert!(opened.text.contains("December"), "{opened}");
    for day in ["15", "17", "20"] {
        let clicked = server.click(app.pid(), "AXStaticText", day);
        if days {
            clicked.ok();
            app.wait_for(&format!("day {day}"));
        } else {
            let why = clicked.error();
            assert!(why.contains("does not report where"), "{why}");
        }
    }
    server.click(app.pid(), "AXRow", "Row 6").ok();
    app.wait_for("activated Row 6");
    until("the person's window", || {
        server.has_in_front(&persons).then_some(())
    });
    let log = app.log();
    let expected = ["copies 7", "day 15", "day 17", "day 20", "activated Row 6"];
    let expected = expected
        .iter()
        .filter(|line| days || !line.starts_with("day"));
    assert!(log.iter().eq(expected), "{log:?}");
}

/// Raising the person's window again and again, while the popover keeps it from coming, took 23 s.
const POPOVER: Duration = Duration::from_secs(5);

/// Buttons beside a page that is scrolled are clicked, and a button on it that is scrolled away.
fn clicks_beside_scrolled_pages(session: &Session) {
    let server = session.server();
    for toolkit in ["gtk3", "gtk4", "qt6"] {
        let app = session.script(&["scrolled.py", toolkit], &server, ["AXButton", "Above"]);
        app.wait_for("ready");
        let persons = session.widgets_with(Toolkit::Gtk3, &server, toolkit, &[]);
        for button in ["Above", "Below", "Row 1.3", "Above"] {
            app.clear_log();
            assert!(server.has_in_front(&persons));
            server.click(app.pid(), "AXButton", button).ok();
            app.logs("clicked ");
            assert_eq!(app.log(), [format!("clicked {button}")], "{toolkit}");
        }
    }
}

/// The windows behind two others come to the front ten times in a row, and the person's each time
/// after.
fn raises_among_four(session: &Session) {
    let server = session.server();
    let [gtk3, gtk4, qt6] = Toolkit::DEBIAN_13.map(|toolkit| session.widgets(toolkit, &server));
    let persons = session.widgets_with(Toolkit::Gtk3, &server, "-persons", &[]);
    for time in 1..=10 {
        for app in [&gtk3, &gtk4, &qt6] {
            until("the person's window", || {
                server.has_in_front(&persons).then_some(())
            });
            server.toggles(app, json!({"element": "Bold"}), 1, &format!("time {time}"));
        }
    }
}

/// A click waits no longer than this, on a machine with four times the load that it can handle.
const CLICK: Duration = Duration::from_millis(4 * 400);

/// Each click of a fresh session has its effect.
fn clicks_at_once(session: &Session) {
    let server = session.server();
    let [behind, front] = [Toolkit::Gtk4, Toolkit::Qt6].map(|t| session.widgets(t, &server));
    for app in [&behind, &front, &behind] {
        let start = Instant::now();
        server.toggles(app, json!({"element": "Bold"}), 1, "a fresh session");
        let took = start.elapsed();
        println!("{took:?}");
        assert!(took < CLICK, "{took:?}");
    }
}

/// A sandboxed app's file dialog, its question for the control of the desktop, and its choice of a
/// screenshot. All belong to another process: the desktop's portal or, on GNOME, Nautilus and the
/// shell.
fn asks_the_portal(compositor: Compositor, backend: &str) {
    let Some(setup) = Setup::next_release(compositor) else {
        return;
    };
    let session = setup.start().ends_with_the_test();
    let start = |program: &str, name: &str| {
        let log = session.folder().join(format!("{name}.log"));
        let portal = session.app(session.command(program), log);
        let mut wait = session.command("/usr/bin/gdbus");
        wait.args(["wait", "--session", "--timeout", "30", name]);
        assert!(wait.status().unwrap().success(), "{name}");
        portal
    };
    let desktop = backend.rsplit('-').next().unwrap();
    let of_the_desktop = format!("org.freedesktop.impl.portal.desktop.{desktop}");
    let _portals = [
        start(backend, &of_the_desktop),
        start(
            "/usr/libexec/xdg-desktop-portal",
            "org.freedesktop.portal.Desktop",
        ),
    ];
    let server = session.server();
    let app = session.script(&["picker.py"], &server, ["AXButton", "Keep"]);
    let click = |button: &str, persons: Toolkit| {
        let persons = session.widgets(persons, &server);
        assert!(server.has_in_front(&persons));
        (server.click(app.pid(), "AXButton", button).ok(), persons)
    };
    let dialog_of = |answer: &Answer| {
        let shown = answer.list("app_switch_visible_elements");
        assert!(!shown.is_empty(), "{answer}");
        let pid = answer.field("app_switch").split("(PID: ").nth(1);
        let pid = pid.and_then(|rest| rest.split(')').next()?.parse().ok());
        pid.filter(|pid| *pid != app.pid()).unwrap()
    };
    let (answer, _persons) = click("Keep", Toolkit::Gtk3);
    let dialog = dialog_of(&answer);
    server.press_key(dialog, "a", &["Control"]).ok();
    server.type_text(dialog, "kept.txt").ok();
    server.click(dialog, "AXButton", "Save").ok();
    app.logs("kept ");
    let path = session.folder().join("kept.txt");
    assert_eq!(app.log(), [format!("kept {}", path.display())]);
    let (answer, _persons) = click("Share", Toolkit::Qt6);
    server.press_key(dialog_of(&answer), "Escape", &[]).ok();
    app.logs("Start ");
    assert_eq!(app.logged("Start 0"), 0, "{:?}", app.log());
    app.clear_log();
    let (answer, _persons) = click("Choice", Toolkit::Gtk4);
    if desktop == "gnome" {
        leaves_to_the_person(&server, &app);
        return;
    }
    // A virtual screen gives KWin no picture, so none can be saved.
    let dialog = dialog_of(&answer);
    let cursor = server.click(dialog, "AXCheckBox", "Include cursor pointer");
    assert!(cursor.ok().text.contains("effect: changed"));
    server.click(dialog, "AXButton", "Cancel").ok();
    app.logs("Screenshot ");
    assert_eq!(app.log(), ["Screenshot 1"]);
}

/// GNOME Shell draws the choice itself. Alt+Esc would close it: it stays open, and a call that
/// needs Alt+Esc says so.
fn leaves_to_the_person(server: &Client, app: &NativeApp) {
    let refused = server.click(app.pid(), "AXButton", "Keep");
    let why = refused.error();
    assert!(why.contains("GNOME Shell's own"), "{why}");
    assert!(app.log().is_empty(), "{:?}", app.log());
}
