//! Input, windows, pictures and the guard, judged by the input of Win32 apps in other processes.
#![cfg(windows)]
#![allow(unsafe_code, clippy::unwrap_used)]

mod common;

use std::process::Command;
use std::time::{Duration, Instant};

use common::{App, GLOWS, PATIENCE, SLOW, be_an_app, person};
use deskline_contract::guard::{Grab, Guards as _, LIMIT, Task};
use deskline_contract::{
    Aim, Button, Cancel, Click, KeyInput as _, Pictures as _, Platform as _, PointerInput as _,
    Raising as _, Reason, Screen as _, Window,
};
use deskline_core::{KeyPress, Point, Rect};
use deskline_windows::display::WinDisplay;
use deskline_windows::guard::Guard;
use deskline_windows::{WinPlatform, become_aware};
use windows::Win32::Foundation::{HWND, RECT};
use windows::Win32::Graphics::Gdi::{COLOR_MENU, GetDC, GetPixel, GetSysColor, ReleaseDC};
use windows::Win32::UI::WindowsAndMessaging::{
    FindWindowW, GUITHREADINFO, GetGUIThreadInfo, GetWindowRect, GetWindowThreadProcessId,
    IsWindowVisible, SWP_NOACTIVATE, SWP_NOZORDER, SetWindowPos,
};
use windows::core::{PCWSTR, w};

/// The environment variable with the pid of the guard's parent.
const GUARD: &str = "DESKLINE_TEST_GUARD";

#[test]
fn an_app() {
    be_an_app();
}

#[test]
fn a_guard() {
    if let Some(parent) = std::env::var_os(GUARD) {
        let parent = parent.into_string().unwrap().parse().unwrap();
        deskline_windows::guard::run(parent);
        std::process::exit(0);
    }
}

fn display() -> WinDisplay {
    become_aware();
    WinDisplay::new(Guard::new(Box::new(|| {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "a_guard", "--nocapture"]);
        command.env(GUARD, std::process::id().to_string());
        command
    })))
}

/// An app to act in, and the person's, which is in front with the keyboard.
struct Desk {
    display: WinDisplay,
    app: App,
    persons: App,
    cancel: Cancel,
    _folder: tempfile::TempDir,
}

impl Desk {
    fn new() -> Self {
        Self::with("Target")
    }

    fn with(title: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut display = display();
        // Wine does not know the pointer's position before its first motion.
        let away = Point { x: 1200, y: 800 };
        if person(&["mousemove", "1200", "800"]).is_some() {
            wait("the pointer to move", || {
                display.pointer().unwrap().unwrap().at == away
            });
        }
        let app = App::start("an_app", folder.path(), title, (40, 40));
        let persons = App::start("an_app", folder.path(), "Persons", (600, 300));
        let cancel = Cancel::new();
        let front = window(&mut display, &persons);
        display.activate(front.id, &cancel).unwrap();
        Self {
            display,
            app,
            persons,
            cancel,
            _folder: folder,
        }
    }

    fn aim(&mut self) -> Window {
        let window = window(&mut self.display, &self.app);
        self.display
            .set_aim(Some(Aim::new(self.app.pid(), Some(window.id))));
        window
    }

    /// Brings the target to the front, and waits until it has the keyboard. The app's log may lack
    /// this: a window that was the only one of its thread may have stayed active there.
    fn raise(&mut self) -> Window {
        let window = self.aim();
        self.display.activate(window.id, &self.cancel).unwrap();
        wait("keyboard in the target", || has_focus(&window));
        window
    }

    fn grab(&mut self, task: &Task) {
        let grab = self.display.guard.grab(task, &self.cancel);
        assert_eq!(grab.unwrap(), Grab::Held);
    }

    fn click(&mut self, at: Point, button: Button) {
        let click = Click {
            button,
            ..Click::left(at)
        };
        let clicked = self.display.click(click, &mut || None, &self.cancel);
        clicked.unwrap();
    }

    /// Presses F9 and waits for it: all earlier input has arrived then.
    fn settle(&mut self) -> Vec<String> {
        let press = KeyPress::parse("F9", &[]).unwrap();
        self.display
            .press_key(press, Duration::ZERO, &self.cancel)
            .unwrap();
        self.app.wait_for("up 78")
    }
}

/// Input of the person; `None` where nobody types.
fn hand(arguments: &[&str]) -> Option<()> {
    if person(arguments).is_none() {
        eprintln!("skipped: nobody types: DESKLINE_HAND is not set");
        return None;
    }
    Some(())
}

fn handle(window: &Window) -> HWND {
    HWND(std::ptr::with_exposed_provenance_mut(window.id.0 as usize))
}

/// Whether keys go to this window, if its thread has the keyboard.
fn has_focus(window: &Window) -> bool {
    let mut thread = GUITHREADINFO {
        cbSize: size_of::<GUITHREADINFO>() as u32,
        ..GUITHREADINFO::default()
    };
    // SAFETY: the structure has the size that it names, and outlives the call.
    unsafe {
        let id = GetWindowThreadProcessId(handle(window), None);
        GetGUIThreadInfo(id, &raw mut thread).is_ok() && thread.hwndFocus == handle(window)
    }
}

fn window(display: &mut WinDisplay, app: &App) -> Window {
    let begun = Instant::now();
    loop {
        let windows = display.windows_of(app.pid()).unwrap();
        if let Some(window) = windows.into_iter().find(|window| window.title == app.title) {
            return window;
        }
        assert!(begun.elapsed() < PATIENCE, "{}", app.title);
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn wait(what: &str, mut done: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !done() {
        assert!(begun.elapsed() < PATIENCE, "no {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn middle(window: &Window) -> Point {
    let rect = window.extents.unwrap();
    Point::at(rect.x + rect.w / 2, rect.y + rect.h / 2)
}

fn task(limit: Duration) -> Task {
    Task {
        caption: None,
        place: None,
        pointer: true,
        limit,
    }
}

#[test]
fn text_keys_clicks_and_the_wheel_reach_the_target_alone() {
    let mut desk = Desk::new();
    let window = desk.raise();
    desk.persons.new_lines();
    let text = "Büsh €日 😀 naïve\tx";
    desk.display.type_text(text, &desk.cancel).unwrap();
    let lines = desk.settle();
    assert_eq!(App::text_of(&lines), text);

    let long: String = "abcdefghij".repeat(100);
    let begun = Instant::now();
    desk.display.type_text(&long, &desk.cancel).unwrap();
    println!("1000 characters: {:?}", begun.elapsed());
    let lines = desk.settle();
    assert_eq!(App::text_of(&lines), long);

    let press = KeyPress::parse("Left", &["Shift", "Control"]).unwrap();
    desk.display
        .press_key(press, Duration::ZERO, &desk.cancel)
        .unwrap();
    let lines = desk.settle();
    let keys: Vec<&str> = lines.iter().filter_map(|line| line.get(..6)).collect();
    assert_eq!(keys[..3], ["key 11", "key 10", "key 25"], "{lines:?}");
    assert!(
        lines[2].ends_with("scan 14b"),
        "an arrow, not one of the pad: {lines:?}"
    );

    let at = middle(&window);
    desk.click(at, Button::Left);
    let lines = desk.settle();
    assert!(
        lines.iter().any(|line| line.starts_with("left ")),
        "{lines:?}"
    );
    assert_eq!(desk.display.pointer().unwrap().unwrap().at, at);

    desk.display.scroll(at, (0, 3), &desk.cancel).unwrap();
    let lines = desk.settle();
    let turned = lines.iter().filter_map(|line| line.strip_prefix("wheel "));
    let turned: i32 = turned.map(|by| by.parse::<i32>().unwrap()).sum();
    assert_eq!(turned, -360, "{lines:?}");

    let stray = desk.persons.new_lines();
    assert!(
        stray.iter().all(|line| line.starts_with("active")),
        "{stray:?}"
    );
}

#[test]
fn a_field_that_takes_characters_slowly_gets_the_exact_text() {
    let mut desk = Desk::with(SLOW);
    desk.raise();
    let text = "Hello World, 1234 äöü €\tx";
    desk.display.type_text(text, &desk.cancel).unwrap();
    let lines = desk.settle();
    assert_eq!(App::text_of(&lines), text);
}

#[test]
fn no_input_goes_to_another_window() {
    let mut desk = Desk::new();
    desk.aim();
    desk.persons.new_lines();
    // The person's window has the keyboard.
    let error = desk.display.type_text("secret", &desk.cancel).unwrap_err();
    assert!(error.to_string().contains("Persons"), "{error}");
    let over = window(&mut desk.display, &desk.persons);
    let click = Click::left(middle(&over));
    let error = desk
        .display
        .click(click, &mut || None, &desk.cancel)
        .unwrap_err();
    assert!(error.to_string().contains("Persons"), "{error}");
    assert_eq!(desk.persons.new_lines(), Vec::<String>::new());
}

#[test]
fn a_window_comes_to_the_front_and_the_persons_window_comes_back() {
    let mut desk = Desk::new();
    let theirs = desk.display.front().unwrap().unwrap();
    assert_eq!(theirs.title, "Persons");
    let ours = desk.raise();
    assert_eq!(desk.display.front().unwrap().unwrap().id, ours.id);
    assert_eq!(desk.display.every_window().unwrap()[0].id, ours.id);
    desk.display.activate(theirs.id, &desk.cancel).unwrap();
    desk.persons.wait_for("active");
    assert_eq!(desk.display.front().unwrap().unwrap().id, theirs.id);
}

#[test]
fn a_picture_shows_the_window() {
    let mut desk = Desk::new();
    let window = desk.raise();
    let picture = desk.display.picture(window.id).unwrap();
    let rect = window.extents.unwrap();
    assert_eq!((picture.origin.x, picture.origin.y), (rect.x, rect.y));
    let size = (picture.width.cast_signed(), picture.height.cast_signed());
    assert_eq!(size, (rect.w, rect.h));
    // The middle of the window is white.
    let at = (picture.height / 2 * picture.width + picture.width / 2) as usize * 3;
    assert_eq!(picture.rgb[at..at + 3], [255; 3]);
}

/// The place of a visible window of this class.
fn place_of(class: PCWSTR) -> Option<Rect> {
    let mut place = RECT::default();
    // SAFETY: the text is a constant, and the rectangle outlives the call.
    unsafe {
        let window = FindWindowW(class, None).ok()?;
        GetWindowRect(window, &raw mut place).ok()?;
        let (w, h) = (place.right - place.left, place.bottom - place.top);
        IsWindowVisible(window)
            .as_bool()
            .then(|| Rect::at(place.left, place.top, w, h))
    }
}

/// A menu is a window of its own. Where it covers the app's window, a picture of that window alone
/// is black.
#[test]
fn a_picture_shows_the_open_menu() {
    let mut desk = Desk::new();
    let window = desk.raise();
    desk.click(middle(&window), Button::Right);
    let rect = window.extents.unwrap();
    // SAFETY: takes a constant.
    let [red, green, blue, _] = unsafe { GetSysColor(COLOR_MENU) }.to_le_bytes();
    wait("menu in the picture", || {
        let Some(menu) = place_of(w!("#32768")) else {
            return false;
        };
        let picture = desk.display.picture(window.id).unwrap();
        let size = (picture.width.cast_signed(), picture.height.cast_signed());
        assert_eq!(size, (rect.w, rect.h));
        let inside = menu.intersect(&rect);
        let is_menus = |(x, y): &(i32, i32)| {
            let at = (y - rect.y) * rect.w + x - rect.x;
            picture.rgb[at as usize * 3..][..3] == [red, green, blue]
        };
        let points = (inside.y..inside.y + inside.h)
            .flat_map(|y| (inside.x..inside.x + inside.w).map(move |x| (x, y)));
        points.filter(is_menus).count() as i32 > inside.w * inside.h / 3
    });
}

#[test]
fn a_glowing_window_edge_does_not_count_as_an_open_menu() {
    let mut desk = Desk::with(GLOWS);
    let mut desktop = WinPlatform::new().connect().unwrap();
    assert!(!desktop.popup_open(desk.app.pid()).unwrap());
    let window = desk.raise();
    desk.click(middle(&window), Button::Right);
    wait("open menu", || desktop.popup_open(desk.app.pid()).unwrap());
}

#[test]
fn the_guard_keeps_the_persons_input_out_and_esc_cancels() {
    let mut desk = Desk::new();
    let theirs = window(&mut desk.display, &desk.persons);
    let at = middle(&theirs);
    let (x, y) = (at.x.to_string(), at.y.to_string());
    let Some(()) = hand(&["mousemove", &x, &y, "click", "1"]) else {
        return;
    };
    desk.persons.wait_for("left up");
    desk.raise();
    desk.display.guard.watch();
    assert_eq!(desk.display.guard.pressed(), Some(false));
    desk.grab(&task(Duration::from_secs(30)));
    desk.persons.new_lines();
    desk.app.new_lines();
    person(&["mousemove", &x, &y, "click", "1", "key", "p"]).unwrap();
    desk.display.type_text("ours", &desk.cancel).unwrap();
    let lines = desk.settle();
    assert_eq!(App::text_of(&lines), "ours");
    assert_eq!(desk.display.guard.pressed(), Some(false));
    assert_eq!(desk.cancel.reason(), None);
    person(&["key", "Escape"]).unwrap();
    let begun = Instant::now();
    while desk.cancel.reason().is_none() {
        assert!(
            begun.elapsed() < PATIENCE,
            "Esc was not seen. The target has {:?}, the person's app {:?}",
            desk.app.new_lines(),
            desk.persons.new_lines()
        );
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(desk.cancel.reason(), Some(Reason::Person));
    desk.display.guard.ungrab();
    // The person's input passes again, and is reported.
    person(&["key", "q"]).unwrap();
    let lines = desk.app.wait_for("up 51");
    assert!(
        lines.iter().all(|line| !line.starts_with("key 1b")),
        "{lines:?}"
    );
    wait("the key to be seen", || {
        desk.display.guard.pressed() == Some(true)
    });
    desk.display.guard.unwatch();
    let theirs = desk.persons.new_lines();
    assert!(
        theirs.iter().all(|line| line.starts_with("active")),
        "{theirs:?}"
    );
}

#[test]
fn the_persons_late_key_release_does_not_release_the_agents_key() {
    let mut desk = Desk::new();
    let theirs = middle(&window(&mut desk.display, &desk.persons));
    let (x, y) = (theirs.x.to_string(), theirs.y.to_string());
    let presses = ["mousemove", &x, &y, "click", "1", "keydown", "Control_L"];
    let Some(()) = hand(&presses) else { return };
    desk.persons.wait_for("key 11");
    desk.raise();
    desk.grab(&task(LIMIT));
    desk.app.new_lines();
    let log = desk.app.log.clone();
    let releases = std::thread::spawn(move || {
        wait("our key", || {
            std::fs::read_to_string(&log).unwrap().contains("key 41")
        });
        person(&["keyup", "Control_L"])
    });
    let press = KeyPress::parse("a", &["Control"]).unwrap();
    let pressed = desk
        .display
        .press_key(press, Duration::from_secs(2), &desk.cancel);
    pressed.unwrap();
    releases.join().unwrap().unwrap();
    let lines = desk.settle();
    let begun = lines.iter().skip_while(|line| !line.starts_with("key 41"));
    let meanwhile: Vec<&String> = begun.take_while(|line| *line != "up 41").collect();
    assert!(!meanwhile.is_empty(), "{lines:?}");
    assert!(!meanwhile.contains(&&"up 11".to_owned()), "{lines:?}");
    desk.display.guard.unwatch();
}

/// Windows opens the menu bar, or Start, when Alt or the Windows key is released alone.
#[test]
fn no_menu_opens_when_the_person_releases_a_held_alt() {
    let mut desk = Desk::new();
    let theirs = middle(&window(&mut desk.display, &desk.persons));
    let (x, y) = (theirs.x.to_string(), theirs.y.to_string());
    let presses = ["mousemove", &x, &y, "click", "1", "keydown", "Alt_L"];
    let Some(()) = hand(&presses) else { return };
    desk.persons.wait_for("key 12");
    desk.grab(&task(LIMIT));
    let mut lines = desk.persons.wait_for("up 12");
    // The raised window gets all of its input after the other one has got its own.
    desk.raise();
    desk.settle();
    desk.display.guard.ungrab();
    person(&["keyup", "Alt_L"]).unwrap();
    desk.display.guard.unwatch();
    lines.extend(desk.persons.new_lines());
    assert!(!lines.contains(&"command f100".to_owned()), "{lines:?}");
}

#[test]
fn the_guard_lets_input_through_after_its_time_limit() {
    let mut desk = Desk::new();
    desk.raise();
    let limit = Duration::from_millis(400);
    let begun = Instant::now();
    desk.grab(&task(limit));
    wait("the limit", || desk.cancel.reason().is_some());
    assert_eq!(desk.cancel.reason(), Some(Reason::Watchdog));
    assert!(begun.elapsed() >= limit);
    desk.app.new_lines();
    if person(&["key", "p"]).is_some() {
        desk.app.wait_for("up 50");
    }
}

/// The banner's window.
fn banner() -> Option<HWND> {
    // SAFETY: the text is a constant.
    unsafe { FindWindowW(deskline_windows::guard::CLASS, None) }.ok()
}

#[test]
fn the_person_sees_a_banner_that_takes_no_clicks() {
    let mut desk = Desk::new();
    let window = desk.raise();
    let task = Task {
        caption: Some("AI: clicking 'Büsh' — press Esc to cancel".to_owned()),
        ..task(Duration::from_secs(30))
    };
    assert!(banner().is_none());
    desk.grab(&task);
    wait("banner", || banner().is_some());
    let mut place = RECT::default();
    // SAFETY: the rectangle outlives the call.
    unsafe { GetWindowRect(banner().unwrap(), &raw mut place) }.unwrap();
    let (x, y) = (
        (place.left + place.right) / 2,
        (place.top + place.bottom) / 2,
    );
    let centre = Point { x, y };
    // The target's window moves under the banner.
    let flags = SWP_NOZORDER | SWP_NOACTIVATE;
    // SAFETY: takes a handle and numbers.
    unsafe { SetWindowPos(handle(&window), None, x - 200, 0, 400, 300, flags) }.unwrap();
    wait("target under the banner", || {
        let windows = desk.display.windows_of(desk.app.pid()).unwrap();
        let place = windows.first().and_then(|window| window.extents);
        place.is_some_and(|place| place.contains(centre) && place.w == 400)
    });
    let all = desk.display.every_window().unwrap();
    assert!(all.iter().all(|window| !window.title.starts_with("AI:")));
    desk.click(centre, Button::Left);
    desk.app.wait_for("left ");
    // The accent colour of the rim shows that the banner is visible. Pictures of the screen contain
    // the banner only under Wine.
    if std::env::var_os("DESKLINE_HAND").is_some() {
        // SAFETY: the context is released once.
        let colour = unsafe {
            let screen = GetDC(None);
            let colour = GetPixel(screen, place.left, y);
            ReleaseDC(None, screen);
            colour
        };
        assert_eq!(format!("{:06x}", colour.0), "008aff");
    }
    desk.display.guard.ungrab();
    wait("end of the banner", || banner().is_none());
    desk.display.guard.unwatch();
}
