//! GNOME Shell 48 with Deskline's extension: windows come to the front and go back by it.

use std::time::{Duration, Instant};

use deskline_testbed::{NativeApp, Session, Toolkit, until};
use serde_json::{Value, json};

/// The windows of the session, as the extension tells them: for each its pid, whether it has the keyboard, and its
/// rectangle.
fn windows(session: &Session) -> Vec<(u32, bool, [i64; 4])> {
    let code = "import gi, json\n\
        from gi.repository import Gio\n\
        bus = Gio.bus_get_sync(Gio.BusType.SESSION)\n\
        n = 'org.deskline.Shell'\n\
        told = bus.call_sync(n, '/org/deskline/Shell', n, 'Windows', None, None, 0, 5000, None).unpack()[0]\n\
        print(json.dumps([(w[1], w[4], w[7]) for w in told if w[6]]))\n";
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

/// Raises the app's window by the extension, and returns how long it took until the shell gave it the keyboard.
fn raise(session: &Session, app: &NativeApp) -> Duration {
    let code = "import sys, time\n\
        from gi.repository import Gio, GLib\n\
        bus = Gio.bus_get_sync(Gio.BusType.SESSION)\n\
        n = 'org.deskline.Shell'\n\
        ask = lambda m, a=None: bus.call_sync(n, '/org/deskline/Shell', n, m, a, None, 0, 5000, None).unpack()[0]\n\
        id = next(w[0] for w in ask('Windows') if w[1] == int(sys.argv[1]) and w[6])\n\
        start = time.monotonic()\n\
        assert ask('Activate', GLib.Variant('(t)', (id,)))\n\
        while not any(w[0] == id and w[4] for w in ask('Windows')): assert time.monotonic() < start + 5\n\
        print(round((time.monotonic() - start) * 1e6))\n";
    let mut command = session.command("/usr/bin/python3");
    let output = command.args(["-c", code, &app.pid().to_string()]).output();
    let output = output.unwrap();
    assert!(output.status.success(), "{output:?}");
    let took = String::from_utf8_lossy(&output.stdout);
    Duration::from_micros(took.trim().parse().unwrap())
}

#[test]
fn windows_come_to_the_front_and_the_persons_comes_back() {
    let session = Session::gnome_with_extension();
    let server = session.server();
    let apps = Toolkit::DEBIAN_13.map(|toolkit| session.widgets(toolkit, &server));
    let person = &apps[2];
    let persons = || has_keyboard(&session, person).then_some(());
    // On a busy machine GNOME leaves a new window behind.
    raise(&session, person);
    until("the person's window", persons);
    until("its app's own word", || {
        server.has_in_front(person).then_some(())
    });
    let call = |app, tool: &str, arguments: Value| server.call_for(app, tool, arguments).ok();
    for round in 1..=3 {
        for app in &apps[..2] {
            let start = Instant::now();
            let ok = json!({"element": "OK", "role": "AXButton"});
            call(app, "click_and_traverse", ok);
            let took = start.elapsed();
            println!("click in a window behind: {took:?}");
            until("the click", || {
                (app.said("clicked OK") == round).then_some(())
            });
            // It has come back with the answer, not later.
            assert!(has_keyboard(&session, person), "{:?}", windows(&session));
        }
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
}

#[test]
fn a_raise_takes_a_few_milliseconds() {
    let session = Session::gnome_with_extension();
    let server = session.server();
    let apps = Toolkit::DEBIAN_13.map(|toolkit| session.widgets(toolkit, &server));
    let mut fastest = Duration::MAX;
    for app in apps.iter().cycle().take(9) {
        let took = raise(&session, app);
        println!("raise: {took:?}");
        fastest = fastest.min(took);
        until("the app's own word", || {
            server.has_in_front(app).then_some(())
        });
    }
    // Alt+Esc takes over 100 ms.
    assert!(fastest < Duration::from_millis(50), "{fastest:?}");
}

#[test]
fn the_doctor_names_the_extension() {
    let session = Session::gnome_with_extension();
    let output = session
        .deskline(&["doctor", "--dir", "j"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let row = said.lines().find(|line| line.contains("raise"));
    assert!(
        row.is_some_and(|row| row.contains("✓") && row.contains("by Deskline's extension")),
        "{said}"
    );
}
