//! What the contract promises of every port. Each port's tests include this file, and try it on
//! their own desktop.

use std::time::Duration;

use deskline_contract::{Aim, Cancel, Deed, Desktop, Error, Obstacle, Refusal, Scope};
use deskline_core::{ElementId, KeyPress, Point};

const WHOLE: Scope = Scope::Whole {
    budget: Duration::from_millis(500),
};

/// A process that does not exist.
const NOBODY: u32 = 4_000_000;

/// Checks the promises on a desktop with two apps that have one window each. `theirs` is in front.
pub(crate) fn is_kept_by(desktop: &mut dyn Desktop, app: u32, theirs: u32) {
    desktop.begin_link(true);
    lists_apps_and_windows(desktop, app, theirs);
    reads_the_same_twice(desktop, app);
    names_what_is_gone(desktop);
    sends_nothing_elsewhere(desktop, app);
    brings_windows_to_the_front_and_back(desktop, app, theirs);
}

fn lists_apps_and_windows(desktop: &mut dyn Desktop, app: u32, theirs: u32) {
    let listed = desktop.applications().unwrap();
    for pid in [app, theirs] {
        let its = listed.iter().find(|known| known.app.pid == pid);
        let its = its.unwrap_or_else(|| panic!("no {pid} in {listed:?}"));
        assert_eq!((its.windows.is_empty(), its.front), (false, pid == theirs));
        let windows = desktop.windows_of(pid).unwrap();
        assert!(
            windows.iter().all(|window| window.pid == Some(pid)),
            "{windows:?}"
        );
    }
    let front = desktop.front().unwrap().unwrap();
    assert_eq!(front.pid, Some(theirs));
    // The frontmost is the first.
    assert_eq!(desktop.every_window().unwrap()[0].id, front.id);
}

fn reads_the_same_twice(desktop: &mut dyn Desktop, app: u32) {
    let tree = desktop.read(app, WHOLE).unwrap();
    assert_eq!(tree.app.pid, app);
    for (index, element) in tree.elements.iter().enumerate() {
        assert!(
            element.parent.is_none_or(|parent| parent < index),
            "{element:?}"
        );
    }
    let known = desktop.windows_of(app).unwrap();
    for window in &tree.windows {
        assert!(
            known.iter().any(|known| known.id == window.id),
            "{window:?}"
        );
    }
    let ids = |tree: deskline_core::Tree| tree.elements.into_iter().map(|e| e.id);
    let again = desktop.read(app, WHOLE).unwrap();
    assert!(ids(tree).eq(ids(again)));
}

fn names_what_is_gone(desktop: &mut dyn Desktop) {
    let read = desktop.read(NOBODY, WHOLE);
    assert!(matches!(read, Err(Error::NoProcess(NOBODY))), "{read:?}");
    let own = std::process::id();
    let read = desktop.read(own, WHOLE);
    assert!(
        matches!(read, Err(Error::NoWindow { pid, .. }) if pid == own),
        "{read:?}"
    );
    let pressed = desktop.act(&ElementId::new("nothing"), Deed::Press);
    let is_gone = |refusal: &Refusal| matches!(refusal.obstacle, Obstacle::Gone);
    assert!(
        matches!(&pressed, Err(Error::Refused(why)) if is_gone(why)),
        "{pressed:?}"
    );
}

fn sends_nothing_elsewhere(desktop: &mut dyn Desktop, app: u32) {
    let window = desktop.windows_of(app).unwrap()[0].id;
    desktop.set_aim(Aim::new(app, Some(window)));
    let cancel = Cancel::new();
    let front = desktop.front().unwrap();
    let typed = desktop.key_input().unwrap().type_text("x", &cancel);
    let says_none = |why: &str| why.contains("Nothing was typed");
    assert!(
        matches!(&typed, Err(Error::Elsewhere { why, .. }) if says_none(why)),
        "{typed:?}"
    );
    let key = KeyPress::parse("Return", &[]).unwrap();
    let pressed = desktop
        .key_input()
        .unwrap()
        .press_key(key, Duration::ZERO, &cancel);
    assert!(
        matches!(&pressed, Err(Error::Elsewhere { .. })),
        "{pressed:?}"
    );
    assert_eq!(desktop.front().unwrap(), front);
}

fn brings_windows_to_the_front_and_back(desktop: &mut dyn Desktop, app: u32, theirs: u32) {
    let cancel = Cancel::new();
    let front = desktop.front().unwrap().unwrap();
    let before = desktop.pointer().unwrap().unwrap().at;
    let window = desktop.windows_of(app).unwrap()[0].id;
    desktop
        .raising()
        .unwrap()
        .activate(window, &cancel)
        .unwrap();
    assert_eq!(desktop.front().unwrap().unwrap().id, window);
    let to = Point::at(before.x - 7, before.y - 7);
    desktop.screen().unwrap().move_pointer(to).unwrap();
    assert_eq!(desktop.pointer().unwrap().unwrap().at, to);
    desktop
        .raising()
        .unwrap()
        .activate(front.id, &cancel)
        .unwrap();
    desktop.screen().unwrap().move_pointer(before).unwrap();
    let now = desktop.front().unwrap().unwrap();
    assert_eq!((now.id, now.pid), (front.id, Some(theirs)));
    assert_eq!(desktop.pointer().unwrap().unwrap().at, before);
    desktop.release_all();
}
