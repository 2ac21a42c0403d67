//! Electron and Chromium build their trees on request, after some time.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Duration;

use deskline_contract::{Scope, Trees as _};
use deskline_link::{Action, Target};

use super::desk::{Desk, EDITOR, Expect, MAIL, has, tree, within};
use crate::desktop::MacDesktop;
use crate::os::fake::quirks::Wakes;
use crate::os::fake::{Id, World, text};
use crate::os::{AxError, Value};
use deskline_input::clock::Instant;

/// Mail is an Electron app that answers a request for its tree like this.
pub(super) fn electron(answers: Option<AxError>) -> Desk {
    let desk = Desk::new();
    let bundle = desk.dir.path().join("Mail.app");
    let resources = "Contents/Frameworks/Electron Framework.framework/Versions/Current/Resources";
    let resources = bundle.join(resources);
    std::fs::create_dir_all(&resources).unwrap();
    std::fs::write(resources.join("chrome_100_percent.pak"), "").unwrap();
    let window = desk.window;
    let mut world = desk.mac.world();
    let app = world.apps.get_mut(&MAIL).unwrap();
    app.path = bundle;
    app.wakes = Some(Wakes {
        after: Duration::from_secs(2),
        answers,
        hears: None,
        forgets: false,
        deaf: 0,
        deaf_behind: false,
        builds: Duration::ZERO,
        page: Arc::new(move |world| {
            let page = world.add(window, "AXWebArea", "page", [100.0, 120.0, 600.0, 380.0]);
            world.add(page, "AXLink", "Home", [110.0, 130.0, 60.0, 20.0]);
        }),
    });
    drop(world);
    desk
}

/// Mail is a browser: it refuses Electron's attribute.
pub(super) fn browser(change: impl FnOnce(&mut Wakes)) -> Desk {
    let desk = electron(Some(AxError(-25205)));
    desk.given(|world| {
        let app = world.apps.get_mut(&MAIL).unwrap();
        let frameworks = app.path.join("Contents/Frameworks");
        let electron = frameworks.join("Electron Framework.framework");
        let chrome = frameworks.join("Google Chrome Framework.framework");
        std::fs::rename(electron, chrome).unwrap();
    });
    wakes(&desk, |wakes| {
        wakes.hears = Some("AXEnhancedUserInterface");
        change(wakes);
    });
    desk
}

/// Changes how Mail answers a request for its tree.
pub(super) fn wakes(desk: &Desk, change: impl FnOnce(&mut Wakes)) {
    let mut world = desk.mac.world();
    change(world.apps.get_mut(&MAIL).unwrap().wakes.as_mut().unwrap());
}

#[test]
fn a_page_that_is_built_two_seconds_after_the_request_is_in_the_first_tree() {
    // -25205: as Electron before 26 answers; -25208: kAXErrorNotImplemented.
    for answers in [None, Some(AxError(-25205)), Some(AxError(-25208))] {
        let desk = electron(answers);
        let mut desktop = MacDesktop::new(desk.mac.clone());
        let tree = desktop.read(MAIL, Scope::Showing).unwrap();
        let home = tree.elements.iter().any(|e| e.title.shown == "Home");
        assert!(home, "{answers:?}");
    }
}

#[test]
fn an_app_without_chromium_is_not_waited_for() {
    let desk = Desk::new();
    let start = Instant::now();
    let mut desktop = MacDesktop::new(desk.mac.clone());
    desktop.read(MAIL, Scope::Showing).unwrap();
    within(start, Duration::from_millis(500));
}

/// Chrome refuses Electron's attribute, and does not answer while it builds a large page.
#[test]
fn a_browser_is_woken_by_its_own_attribute_and_waited_for() {
    let desk = browser(|wakes| {
        wakes.after = Duration::from_millis(200);
        wakes.builds = Duration::from_millis(2_400);
    });
    let mut desktop = MacDesktop::new(desk.mac.clone());
    let tree = desktop.read(MAIL, Scope::Showing).unwrap();
    assert!(tree.elements.iter().any(|e| e.title.shown == "Home"));
}

/// Chromium pauses its tree while its window is covered (trycua/cua #1367).
#[test]
fn the_answer_says_that_the_page_of_a_covered_window_may_be_old() {
    let mut desk = electron(None);
    let (send, pressed) = (desk.send, Arc::new(AtomicU32::new(0)));
    desk.refresh();
    desk.given(|world| {
        world.quirks.pauses_covered = true;
        let is_home = |id: &Id| world.title(*id) == "Home";
        let link = world.nodes.keys().copied().find(is_home).unwrap();
        let pressed = Arc::clone(&pressed);
        let press = move |world: &mut World| {
            let nth = pressed.fetch_add(1, Relaxed);
            world.set(link, "AXTitle", text(&format!("Letter {nth}")));
        };
        world.node(send).pressed = Some(Arc::new(press));
    });
    let press = || Action::press_ax(Target::titled("Send", "AXButton"));
    let answer = desk.run(press()).ok();
    assert!(!answer.text.contains("Chromium"), "{}", answer.text);
    has(tree(&answer), "Letter 0");
    desk.given(|world| {
        let notes = world.windows_of(EDITOR)[0];
        world.set(notes, "AXPosition", Value::Point(0.0, 0.0));
        world.set(notes, "AXSize", Value::Size(1_440.0, 900.0));
    });
    let answer = desk.run(press()).ok();
    has(&answer.text, "Chromium may not report");
    assert_eq!(pressed.load(Relaxed), 2);
    assert!(!tree(&answer).contains("Letter 1"));
    let answer = desk.click_on("Urgent", "AXCheckBox").ok();
    has(tree(&answer), "Letter 1");
}

/// VS Code shows its text only to screen readers, unless it is set to.
#[test]
fn the_answer_names_the_setting_of_an_editor_that_hides_its_text() {
    let mut desk = electron(None);
    let body = desk.body;
    let name = "The editor is not accessible at this time. To enable screen reader …";
    desk.given(|world| world.set(body, "AXDescription", text(name)));
    desk.given(|world| world.set(body, "AXTitle", text("")));
    has(
        desk.run(Action::Refresh).ok().text,
        "editor.accessibilitySupport",
    );
}

/// VS Code takes the attribute for a screen reader.
#[test]
fn the_request_to_an_app_is_withdrawn_when_the_server_ends() {
    let desk = electron(None);
    let mut desktop = MacDesktop::new(desk.mac.clone());
    desktop.read(MAIL, Scope::Showing).unwrap();
    let asked = |on| ("AXManualAccessibility", on);
    assert_eq!(desk.mac.world().requests, [asked(true)]);
    drop(desktop);
    assert_eq!(desk.mac.world().requests, [asked(true), asked(false)]);
}

/// CEF's framework, as in Spotify, has no versions.
#[test]
fn chromium_is_recognized_in_a_framework_without_versions() {
    let desk = electron(Some(AxError(-25205)));
    desk.given(|world| {
        let app = world.apps.get_mut(&MAIL).unwrap();
        let frameworks = app.path.join("Contents/Frameworks");
        std::fs::remove_dir_all(&frameworks).unwrap();
        let cef = "Chromium Embedded Framework.framework/Resources";
        std::fs::create_dir_all(frameworks.join(cef)).unwrap();
        std::fs::write(frameworks.join(cef).join("chrome_100_percent.pak"), "").unwrap();
        app.wakes.as_mut().unwrap().after = Duration::from_millis(100);
    });
    let mut desktop = MacDesktop::new(desk.mac.clone());
    let tree = desktop.read(MAIL, Scope::Showing).unwrap();
    assert!(tree.elements.iter().any(|e| e.title.shown == "Home"));
}
