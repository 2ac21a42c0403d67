//! Typed text arrives unchanged, and the keyboard is restored.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod common;

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use common::{Look, Manager, PlainWindow, Seen, TestDesktop, eventually};
use deskline_contract::{Error, Raising as _, WindowId};
use deskline_core::{Key, KeyPress, Modifiers};
use deskline_input::{Aim, Cancel, Reason, press_key, type_text};
use deskline_x11::X11;

const MIXED: &str = "Hé漢字😀Ω£ zB!\tA1@\n~`^end";

fn focused(desktop: &TestDesktop, look: Look) -> (X11, PlainWindow) {
    let window = PlainWindow::open(&desktop.display, look);
    let mut x11 = desktop.connect();
    let id = WindowId(window.id.into());
    x11.activate(id, &Cancel::new()).unwrap();
    (x11, window)
}

/// Different characters that no layout has.
fn ideographs(count: u32) -> String {
    (0..count)
        .filter_map(|i| char::from_u32(0x4e00 + i))
        .collect()
}

fn press(key: Key, modifiers: Modifiers) -> KeyPress {
    KeyPress { key, modifiers }
}

/// The symbols and states of key presses.
fn keys(window: &PlainWindow) -> Vec<(u32, u16)> {
    let seen = window.seen().into_iter();
    seen.filter_map(|seen| match seen {
        Seen::Key { symbol, state } => Some((symbol, state)),
        _ => None,
    })
    .collect()
}

/// The keys that are down on the server.
fn down(desktop: &TestDesktop) -> Vec<u8> {
    use x11rb::protocol::xproto::ConnectionExt as _;
    let (c, _) = x11rb::connect(Some(&desktop.display)).unwrap();
    let keys = c.query_keymap().unwrap().reply().unwrap().keys;
    keys.into_iter().filter(|byte| *byte != 0).collect()
}

/// The symbols of all key codes.
fn keyboard_map(desktop: &TestDesktop) -> Vec<u32> {
    use x11rb::connection::Connection as _;
    use x11rb::protocol::xproto::ConnectionExt as _;
    let (c, _) = x11rb::connect(Some(&desktop.display)).unwrap();
    let (low, high) = (c.setup().min_keycode, c.setup().max_keycode);
    let map = c.get_keyboard_mapping(low, high - low + 1).unwrap();
    let map = map.reply().unwrap();
    let width = usize::from(map.keysyms_per_keycode);
    let codes = map.keysyms.chunks(width);
    codes.flat_map(|code| code[..2].to_vec()).collect()
}

#[test]
fn any_unicode_arrives_and_the_keyboard_map_is_put_back() {
    let desktop = TestDesktop::start(Manager::None);
    let (mut x11, window) = focused(&desktop, Look::default());
    let before = keyboard_map(&desktop);
    let text = format!("{MIXED}{}\r\nend", ideographs(200));
    type_text(&mut x11, &text, &Cancel::new()).unwrap();
    let text = text.replace("\r\n", "\n");
    eventually("the text", || window.text() == text);
    assert_eq!(keyboard_map(&desktop), before);
    assert!(down(&desktop).is_empty());
}

/// The next client that types frees the key codes that a killed process has bound.
#[test]
fn key_codes_bound_by_a_dead_client_are_freed() {
    let desktop = TestDesktop::start(Manager::None);
    let (mut x11, window) = focused(&desktop, Look::default());
    let before = keyboard_map(&desktop);
    desktop.run("xmodmap", &["-e", "keycode 93 = U4E00 U4E00"]);
    let name = "_DESKLINE_BOUND_KEYCODES";
    let note = [
        "-root",
        "-f",
        name,
        "32c",
        "-set",
        name,
        "0x3ffffff, 93, 300",
    ];
    desktop.run("xprop", &note);
    assert_ne!(keyboard_map(&desktop), before);
    type_text(&mut x11, "丁", &Cancel::new()).unwrap();
    eventually("the text", || window.text() == "丁");
    assert_eq!(keyboard_map(&desktop), before);
}

/// A short-lived process restores everything before it exits.
#[test]
fn a_client_that_ends_at_once_restores_the_keyboard_map() {
    let desktop = TestDesktop::start(Manager::None);
    let (x11, _window) = focused(&desktop, Look::default());
    drop(x11);
    let before = keyboard_map(&desktop);
    for _ in 0..5 {
        let mut x11 = desktop.connect();
        type_text(&mut x11, &ideographs(40), &Cancel::new()).unwrap();
        drop(x11);
        assert_eq!(keyboard_map(&desktop), before);
    }
}

/// An app that handles a key late uses the keyboard map of that time.
#[test]
fn a_slow_app_gets_the_typed_text() {
    let desktop = TestDesktop::start(Manager::Plain);
    let slow = Look {
        slow: 20,
        ..Look::default()
    };
    let (mut x11, window) = focused(&desktop, slow);
    let text = ideographs(60);
    type_text(&mut x11, &text, &Cancel::new()).unwrap();
    eventually("the text", || window.text() == text);
}

#[test]
fn an_app_that_answers_no_pings_gets_the_typed_text() {
    let desktop = TestDesktop::start(Manager::None);
    let mute = Look {
        pings: false,
        ..Look::default()
    };
    let (mut x11, window) = focused(&desktop, mute);
    let text = ideographs(60);
    type_text(&mut x11, &text, &Cancel::new()).unwrap();
    eventually("the text", || window.text() == text);
}

/// Slow Keys drops short presses, and Bounce Keys drops repeated ones.
#[test]
fn no_key_is_lost_although_slow_keys_and_bounce_keys_are_on() {
    use x11rb::protocol::xkb::{self, AXOption, BoolCtrl, ConnectionExt as _, Control, VMod};
    use x11rb::protocol::xproto::ModMask;
    let desktop = TestDesktop::start(Manager::None);
    let (mut x11, window) = focused(&desktop, Look::default());
    let (c, _) = x11rb::connect(Some(&desktop.display)).unwrap();
    c.xkb_use_extension(1, 0).unwrap().reply().unwrap();
    let core = || xkb::ID::USE_CORE_KBD.into();
    let (mods, vmods) = (ModMask::from(0_u16), VMod::from(0_u16));
    let (options, none) = (AXOption::from(0_u16), BoolCtrl::from(0_u32));
    let on = BoolCtrl::SLOW_KEYS | BoolCtrl::BOUNCE_KEYS;
    let changes = Control::from(u32::from(on));
    c.xkb_set_controls(
        core(),
        mods,
        mods,
        mods,
        mods,
        vmods,
        vmods,
        vmods,
        vmods,
        0,
        0,
        options,
        on,
        on,
        changes,
        0,
        0,
        300,
        500,
        0,
        0,
        0,
        0,
        0,
        0,
        none,
        none,
        options,
        options,
        &[0; 32],
    )
    .unwrap();
    let enabled = || {
        let controls = c.xkb_get_controls(core()).unwrap().reply().unwrap();
        controls.enabled_controls & on
    };
    assert_eq!(enabled(), on);
    type_text(&mut x11, "hello aa 漢漢", &Cancel::new()).unwrap();
    eventually("the text", || window.text() == "hello aa 漢漢");
    assert_eq!(enabled(), on);
    let key = press(Key::Char('x'), Modifiers::empty());
    press_key(&mut x11, key, Duration::ZERO, &Cancel::new()).unwrap();
    eventually("the key", || window.text().ends_with('x'));
    assert_eq!(enabled(), on);
    // If Deskline does not turn them off, they do drop keys.
    window.forget();
    desktop.run("xdotool", &["key", "a"]);
    type_text(&mut x11, "b", &Cancel::new()).unwrap();
    eventually("only the key after it", || window.text() == "b");
}

#[test]
fn control_characters_are_refused_before_anything_is_typed() {
    let desktop = TestDesktop::start(Manager::None);
    let (mut x11, window) = focused(&desktop, Look::default());
    let never = Cancel::new();
    let error = type_text(&mut x11, "abc\u{1b}", &never)
        .unwrap_err()
        .to_string();
    assert!(error.contains("U+001B"), "{error}");
    type_text(&mut x11, "x", &never).unwrap();
    eventually("x", || window.text() == "x");
}

#[test]
fn a_cancel_stops_within_a_few_characters() {
    let desktop = TestDesktop::start(Manager::None);
    let slow = Look {
        slow: 2,
        ..Look::default()
    };
    let (mut x11, window) = focused(&desktop, slow);
    let cancel = Cancel::new();
    let other = cancel.clone();
    let started = Instant::now();
    let canceller = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(150));
        other.cancel(Reason::Person);
    });
    let result = type_text(
        &mut x11,
        &format!("{}{}", "x".repeat(20_000), ideographs(9)),
        &cancel,
    );
    let took = started.elapsed();
    canceller.join().unwrap();
    assert!(matches!(result, Err(Error::Cancelled(Reason::Person))));
    assert!(took < Duration::from_millis(600), "{took:?}");
    let typed = keys(&window).len();
    assert!(typed < 300, "{typed} keys for 150 ms at 2 ms a key");
    assert!(down(&desktop).is_empty());
    let before = window.seen().len();
    std::thread::sleep(Duration::from_millis(200));
    assert!(
        window.seen().len() - before < 100,
        "only the keys already sent have arrived"
    );
}

#[test]
fn keys_arrive_with_their_modifiers_and_no_key_stays_down() {
    let desktop = TestDesktop::start(Manager::None);
    let (mut x11, window) = focused(&desktop, Look::default());
    let never = Cancel::new();
    let cases = [
        (Key::Char('a'), Modifiers::CONTROL, (0x61, 4)),
        (
            Key::Char('a'),
            Modifiers::CONTROL | Modifiers::SHIFT,
            (0x41, 5),
        ),
        (Key::Char('!'), Modifiers::CONTROL, (0x21, 5)),
        (Key::Return, Modifiers::ALT, (0xff0d, 8)),
        (Key::Char('l'), Modifiers::COMMAND, (0x6c, 0x40)),
        (Key::Char('a'), Modifiers::CAPS_LOCK, (0x61, 2)),
        (Key::Function(5), Modifiers::FUNCTION, (0xffc2, 0)),
        (Key::Function(24), Modifiers::empty(), (0xffd5, 0)),
        (Key::Tab, Modifiers::SHIFT, (0xfe20, 1)),
        (Key::ForwardDelete, Modifiers::empty(), (0xffff, 0)),
        (Key::PageDown, Modifiers::NUMERIC_PAD, (0xff9b, 0)),
        (Key::Char('7'), Modifiers::NUMERIC_PAD, (0xffb7, 0x10)),
        (Key::Char('é'), Modifiers::empty(), (0xe9, 0)),
        (Key::Left, Modifiers::HELP, (0xff51, 0)),
        (
            Key::Symbol(0x1008_ff14),
            Modifiers::empty(),
            (0x1008_ff14, 0),
        ),
        (Key::Symbol(0xffeb), Modifiers::empty(), (0xffeb, 0)),
        (Key::Function(13), Modifiers::CONTROL, (0xffca, 4)),
    ];
    for (key, modifiers, expected) in cases {
        window.forget();
        press_key(&mut x11, press(key, modifiers), Duration::ZERO, &never).unwrap();
        eventually("the key", || keys(&window).contains(&expected));
        assert!(down(&desktop).is_empty());
    }
    let error = press_key(
        &mut x11,
        press(Key::Function(25), Modifiers::empty()),
        Duration::ZERO,
        &never,
    );
    assert!(error.unwrap_err().to_string().contains("F25"));
}

#[test]
fn a_held_key_ends_in_time_or_when_another_window_is_in_front() {
    let desktop = TestDesktop::start(Manager::None);
    let (mut x11, window) = focused(&desktop, Look::default());
    let aim = Aim::new(std::process::id(), Some(WindowId(window.id.into())));
    x11.set_aim(aim);
    let never = Cancel::new();
    let key = press(Key::Char('x'), Modifiers::SHIFT);
    let start = Instant::now();
    press_key(&mut x11, key, Duration::from_millis(900), &never).unwrap();
    assert!(start.elapsed() >= Duration::from_millis(900));
    // The server repeats a key after 660 ms.
    eventually("the key, repeated", || window.text().len() > 2);
    assert!(window.text().chars().all(|c| c == 'X'));
    assert!(down(&desktop).is_empty());
    let display = desktop.display.clone();
    let other = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(200));
        let other = PlainWindow::open(&display, Look::default());
        let mut x11 = X11::connect(&display, None).unwrap();
        x11.activate(WindowId(other.id.into()), &Cancel::new())
            .unwrap();
        other
    });
    let start = Instant::now();
    let stopped = press_key(&mut x11, key, Duration::from_secs(10), &never).unwrap_err();
    assert!(matches!(stopped, Error::Elsewhere { .. }), "{stopped}");
    assert!(start.elapsed() < Duration::from_secs(5));
    assert!(down(&desktop).is_empty());
    drop(other.join().unwrap());
}

/// Another program asks the window manager for its window at any moment, as a taskbar does.
#[test]
fn no_key_goes_to_a_window_that_another_program_brings_to_the_front() {
    let desktop = TestDesktop::start(Manager::Plain);
    let (mut x11, window) = focused(&desktop, Look::default());
    let other = PlainWindow::open(&desktop.display, Look::default());
    let mut person = desktop.connect();
    let [id, other_id] = [&window, &other].map(|window| WindowId(window.id.into()));
    x11.set_aim(Aim::new(std::process::id(), Some(id)));
    let (over, mut stopped) = (AtomicBool::new(false), 0);
    let text = "abcdefghijklmnopqrstuvwxyz".repeat(8);
    let switches = std::thread::scope(|scope| {
        let switching = scope.spawn(|| {
            let (mut switches, mut wait) = (0_usize, 1_u64);
            while !over.load(Ordering::Relaxed) {
                person.activate(other_id, &Cancel::new()).unwrap();
                person.activate(id, &Cancel::new()).unwrap();
                switches += 1;
                wait = wait.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                std::thread::sleep(Duration::from_micros(wait >> 51));
            }
            switches
        });
        for _ in 0..400 {
            stopped += u32::from(type_text(&mut x11, &text, &Cancel::new()).is_err());
        }
        over.store(true, Ordering::Relaxed);
        switching.join().unwrap()
    });
    let typed = window.text().len();
    let astray = other.text().len();
    println!("{typed} keys, {astray} astray; {switches} switches, {stopped} texts stopped");
    assert!(switches > 20 && stopped > 10 && typed > 1_000);
    // On a busy machine this process may be halted between a check and its key.
    assert!(astray * 8 <= switches, "{astray}: {:?}", other.text());
}

/// Ctrl+C on a Russian layout uses the key that has C in the other group.
#[test]
fn a_shortcut_uses_a_key_of_another_layout_group() {
    let desktop = TestDesktop::start(Manager::None);
    let (mut x11, window) = focused(&desktop, Look::default());
    desktop.run("setxkbmap", &["ru,us"]);
    press_key(
        &mut x11,
        press(Key::Char('c'), Modifiers::CONTROL),
        Duration::ZERO,
        &Cancel::new(),
    )
    .unwrap();
    // The group is in bits 13 and 14 of the state: 2.
    let in_group_2 = |(_, state): &(u32, u16)| *state == 0x2004;
    eventually("the key", || keys(&window).iter().any(in_group_2));
    window.forget();
    desktop.run("xdotool", &["key", "--clearmodifiers", "Return"]);
    eventually("Return", || keys(&window) == [(0xff0d, 0)]);
}

fn dialog_of(desktop: &TestDesktop, window: u32, of: u32) {
    use x11rb::protocol::xproto::{AtomEnum, PropMode};
    use x11rb::wrapper::ConnectionExt as _;
    let (c, _) = x11rb::connect(Some(&desktop.display)).unwrap();
    let (name, kind) = (AtomEnum::WM_TRANSIENT_FOR, AtomEnum::WINDOW);
    c.change_property32(PropMode::REPLACE, window, name, kind, &[of])
        .unwrap();
    c.sync().unwrap();
}

/// Another document of the same process has the keyboard; then a dialog of the wanted window.
#[test]
fn keys_go_to_a_dialog_but_to_no_other_window_of_the_process() {
    let desktop = TestDesktop::start(Manager::Plain);
    let (mut x11, wanted) = focused(&desktop, Look::default());
    let other = PlainWindow::open(&desktop.display, Look::default());
    let aim = Aim::new(std::process::id(), Some(WindowId(wanted.id.into())));
    x11.set_aim(aim);
    // The new window has taken the keyboard.
    let its = WindowId(wanted.id.into());
    x11.activate(its, &Cancel::new()).unwrap();
    type_text(&mut x11, "a", &Cancel::new()).unwrap();
    let id = WindowId(other.id.into());
    x11.activate(id, &Cancel::new()).unwrap();
    let stopped = type_text(&mut x11, "bc", &Cancel::new()).unwrap_err();
    assert!(matches!(stopped, Error::Elsewhere { .. }), "{stopped}");
    dialog_of(&desktop, other.id, wanted.id);
    type_text(&mut x11, "d", &Cancel::new()).unwrap();
    eventually("the dialog's text", || other.text() == "d");
    assert_eq!(wanted.text(), "a");
}
