//! Debian's next release, whose packages change every day: each kind of action on each compositor.
//! Skipped without a root of it. Last seen with sway 1.12, labwc 0.20, KWin 6.7 and GNOME Shell 50,
//! GTK 4.24 and Qt 6.11.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::time::{Duration, Instant};

use deskline_testbed::{
    Answer, Client, Compositor, Lack, NativeApp, Session, Setup, Toolkit, tests, until,
};
use serde_json::json;

tests! {
    promises_are_kept_and_menus_used_on_sway => on(Compositor::Sway, |setup| setup, |session| {
        let desk = Desk::keeps(session, [Toolkit::Gtk4, Toolkit::Gtk3], &[Lack::Guard]);
        desk.uses_a_menu_with_a_shadow();
        desk.uses_a_submenu();
        desk.uses_a_calendar(false);
    }),
    clicks_beside_scrolled_pages_land_on_sway => on(
        Compositor::Sway,
        |setup| setup,
        clicks_beside_scrolled_pages,
    ),
    labwc_keeps_the_promises_of_every_desktop => on(Compositor::Labwc, |setup| setup, |session| {
        let lacks = [Lack::Guard, Lack::Places];
        session.keeps_all_but(&lacks, [Toolkit::Qt6, Toolkit::Gtk4]);
    }),
    a_private_desktop_takes_clicks_and_texts => on(Compositor::Private, |setup| setup, |session| {
        let server = session.server_with(&["--attended"]);
        let apps = [Toolkit::Gtk4, Toolkit::Qt6].map(|t| session.widgets(t, &server));
        for app in &apps {
            server.clicks_are_exact(app, "a private desktop");
            server.types_and_types_over(app, "Grüße, 漢字 😀");
        }
        server.menu_item_is_clicked(&apps[0]);
    }),
    promises_are_kept_and_menus_used_on_kwin => on(Compositor::Kwin, |setup| setup, |session| {
        let lacks = [Lack::OtherText, Lack::Pictures];
        let desk = Desk::keeps(session, [Toolkit::Qt6, Toolkit::Gtk3], &lacks);
        desk.uses_a_submenu();
        desk.uses_a_calendar(true);
    }),
    the_guard_keeps_the_persons_keys_out_on_kwin => on(
        Compositor::Kwin,
        |setup| setup,
        Session::keeps_the_persons_keys_out,
    ),
    a_panel_of_kwin_is_clicked => on(Compositor::Kwin, |setup| setup, Session::clicks_a_panel),
    dialogs_of_kwins_portal_are_answered => asks_the_portal(
        Compositor::Kwin,
        "/usr/lib/x86_64-linux-gnu/libexec/xdg-desktop-portal-kde",
    ),
    /// KWin has data control by its second name only.
    a_text_is_pasted_on_kwin => if let Some(setup) = Setup::next_release(Compositor::Kwin) {
        setup.start().pastes(&[Toolkit::Gtk4, Toolkit::Qt6]);
    },
    promises_are_kept_and_menus_used_on_gnome => on(Compositor::Gnome, |setup| setup, |session| {
        let lacks = [Lack::OtherText, Lack::Guard, Lack::Places];
        let desk = Desk::keeps(session, [Toolkit::Gtk4, Toolkit::Gtk3], &lacks);
        desk.raises_in_turn();
        desk.names_the_window_in_front();
        desk.uses_a_submenu();
        desk.uses_a_calendar(false);
    }),
    gnome_with_extension_keeps_the_promises => on(Compositor::Gnome, Setup::extension, |session| {
        let lacks = [Lack::OtherText, Lack::Guard];
        session.keeps_all_but(&lacks, [Toolkit::Qt6, Toolkit::Gtk4]);
    }),
    dialogs_of_gnomes_portal_are_answered => asks_the_portal(
        Compositor::Gnome,
        "/usr/libexec/xdg-desktop-portal-gnome",
    ),
    /// The pointer is in GNOME's hot corner, and the first click creates it.
    clicks_land_on_gnome_without_devices => on(Compositor::Gnome, Setup::bare, clicks_at_once),
    clicks_land_on_gnome_extension_without_devices => on(
        Compositor::Gnome,
        |setup| setup.extension().bare(),
        clicks_at_once,
    ),
}

fn on(compositor: Compositor, change: fn(Setup) -> Setup, run: impl FnOnce(&Session)) {
    if let Some(setup) = Setup::next_release(compositor) {
        run(&change(setup).start());
    }
}

/// Four windows over each other: a menu's, rows, a test app's, and the person's in front.
struct Desk(Client, [NativeApp; 4]);

impl Desk {
    /// Tests the promises in a window of the first toolkit, with one of the second in front. On
    /// Debian 13's compositors each toolkit is tested.
    fn keeps(session: &Session, toolkits: [Toolkit; 2], lacks: &[Lack]) -> Self {
        let server = session.server();
        let script = |name, button| session.script(&[name], &server, ["AXButton", button]);
        let menu = script("menu_button.py", "Actions");
        let rows = script("adw_rows.py", "Pick");
        let (_, server, [behind, persons]) = session.keeps_all_but(lacks, toolkits);
        Self(server, [menu, rows, behind, persons])
    }

    /// Acts behind the person's window. The app must log this line.
    fn logs(&self, app: &NativeApp, line: &str, act: impl FnOnce(&Client, u32)) {
        let Self(server, [.., persons]) = self;
        app.clear_log();
        until("the person's window", || server.has_in_front(persons));
        act(server, app.pid());
        app.wait_for(line);
        assert_eq!(app.log(), [line]);
    }

    /// GTK reports the items of the menu off their place by the width of the menu's shadow, and
    /// sway does not report the menu.
    fn uses_a_menu_with_a_shadow(&self) {
        let menu = &self.1[0];
        for item in ["Copy", "Cut", "Paste"] {
            let line = format!("did {item}");
            self.logs(menu, &line, |server, pid| {
                server.click(pid, "AXButton", "Actions").ok();
                server.click(pid, "AXMenuItem", item).ok();
            });
            self.logs(menu, &line, |server, pid| {
                let choose = json!({"pid": pid, "element": "Actions", "choose": item});
                server.call("click_and_traverse", choose).ok();
            });
        }
    }

    /// Chooses, in a chain, an item of a menu that slides in over another. "Plain" comes to where
    /// "Style" was, and so under the pointer.
    fn uses_a_submenu(&self) {
        let names = |item| ["Actions", "Style", item];
        for item in ["Plain", "Bold"] {
            let steps = names(item).map(|name| json!({"do": "click", "element": name}));
            self.logs(&self.1[0], &format!("did {item}"), |server, pid| {
                let chain = json!({"pid": pid, "steps": steps});
                server.call("chain_and_traverse", chain).ok();
            });
        }
    }

    /// Fills in a row that GTK does not list. Then a calendar that a button opens stays open for
    /// clicks in it, and a click beside it reaches its target. No click reaches another day: only
    /// KWin reports where the calendar is.
    fn uses_a_calendar(&self, days: bool) {
        let Self(server, [_, rows, _, persons]) = self;
        let spin = json!({"element": "Copies", "role": "AXIncrementor", "value": "7"});
        self.logs(rows, "copies 7", |server, _| {
            server.call_for(rows, "set_value_and_traverse", spin).ok();
        });
        let pid = rows.pid();
        let start = Instant::now();
        server.click(pid, "AXButton", "Pick").ok();
        assert!(start.elapsed() < POPOVER, "{:?}", start.elapsed());
        let opened = server.click(pid, "AXButton", "Next Month").ok();
        assert!(opened.text.contains("December"), "{opened}");
        let mut expected = vec!["copies 7"];
        if days {
            for day in ["day 15", "day 17", "day 20"] {
                server.click(pid, "AXStaticText", &day[4..]).ok();
                rows.wait_for(day);
                expected.push(day);
            }
        } else {
            let refused = server.click(pid, "AXStaticText", "17");
            refused.fails_with("does not report where");
        }
        server.click(pid, "AXRow", "Row 6").ok();
        expected.push("activated Row 6");
        until("the rows", || rows.log() == expected);
        until("the person's window", || server.has_in_front(persons));
    }

    /// The later one of an app's two windows is in front, also after the person's window was put
    /// back.
    fn names_the_window_in_front(&self) {
        let pid = self.0.open("mousepad").ok().pid();
        self.0.click(pid, "AXMenuBarItem", "Search").ok();
        let item = self.0.click(pid, "AXMenuItem", "Find and Replace...").ok();
        for answer in [item, self.0.refresh(pid)] {
            let windows = answer.field("windows");
            assert!(windows.starts_with("\"Find and Replace\""), "{answer}");
        }
    }

    /// The windows behind come to the front in turn. After each, the person's window does.
    fn raises_in_turn(&self) {
        let Self(server, [_, rows, behind, persons]) = self;
        for time in ["first", "second", "third"] {
            until("the person's window", || server.has_in_front(persons));
            server.toggles(behind, json!({"element": "Bold"}), 1, time);
            self.logs(rows, "activated Row 1", |server, pid| {
                server.click(pid, "AXRow", "Row 1").ok();
            });
        }
    }
}

/// While an open popover kept the person's window from the front, raising that window again and
/// again took 23 s.
const POPOVER: Duration = Duration::from_secs(5);

/// Clicks buttons beside a page that is scrolled, and a button on the page that is scrolled away.
fn clicks_beside_scrolled_pages(session: &Session) {
    let server = session.server();
    let pages = ["gtk3", "gtk4", "qt6"].map(|toolkit| {
        let page = session.script(&["scrolled.py", toolkit], &server, ["AXButton", "Above"]);
        page.wait_for("ready");
        page
    });
    let persons = session.widgets(Toolkit::Gtk3, &server);
    for page in &pages {
        for button in ["Above", "Below", "Row 1.3", "Above"] {
            page.clear_log();
            assert!(server.has_in_front(&persons));
            server.click(page.pid(), "AXButton", button).ok();
            page.logs("clicked ");
            assert_eq!(page.log(), [format!("clicked {button}")]);
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

/// A sandboxed app opens a file dialog, asks for the control of the desktop, and asks for a
/// screenshot. All these windows belong to another process: to the desktop's portal, or on GNOME to
/// Nautilus and the shell.
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
        let taken = answer.field("app_switch");
        assert!(taken.contains("gnome-shell"), "{answer}");
        leaves_to_the_person(&server, &app);
        return;
    }
    let dialog = dialog_of(&answer);
    // A virtual screen gives KWin no picture, so none can be saved.
    let cursor = server.click(dialog, "AXCheckBox", "Include cursor pointer");
    assert!(cursor.ok().text.contains("effect: changed"));
    server.click(dialog, "AXButton", "Cancel").ok();
    app.logs("Screenshot ");
    assert_eq!(app.log(), ["Screenshot 1"]);
}

/// GNOME Shell draws the choice of a screenshot itself. Alt+Esc would close the choice. So it stays
/// open, and a call that needs Alt+Esc says so.
fn leaves_to_the_person(server: &Client, app: &NativeApp) {
    let refused = server.click(app.pid(), "AXButton", "Keep");
    let why = refused.error();
    assert!(why.contains("GNOME Shell's own"), "{why}");
    assert!(app.log().is_empty(), "{:?}", app.log());
}
