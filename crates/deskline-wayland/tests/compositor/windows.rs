//! The list of windows, and raising them.

use std::time::{Duration, Instant};

use deskline_contract::{Display as _, DisplayError, Error, Screen as _};
use deskline_input::Cancel;

use super::server::Options;
use super::server::desktop::Window;
use super::{Bed, PERSONS, TARGET, id};

#[test]
fn the_list_follows_windows_that_open_change_and_close() {
    let mut bed = Bed::new(Options::default());
    assert_eq!(bed.titles(), ["Letter", "Form"]);
    bed.server.with(|state| {
        let desktop = &mut state.desktop;
        desktop.windows[TARGET].title = "Form 2".into();
        let place = desktop.windows[0].place;
        desktop.windows.push(Window::new("New", PERSONS, place));
        desktop.stack.push(2);
    });
    assert_eq!(bed.titles(), ["Letter", "Form 2", "New"]);
    bed.server.with(|state| {
        state.desktop.windows[0].closed = true;
        state.desktop.activate(2);
    });
    assert_eq!(bed.titles(), ["New", "Form 2"]);
    let front = bed.display.front().expect("the front window");
    assert_eq!(front.map(|window| window.id), Some(id(2)));
}

#[test]
fn a_window_that_gets_no_keyboard_is_not_raised() {
    let mut bed = Bed::new(Options::default());
    bed.server
        .with(|state| state.desktop.windows[TARGET].never_active = true);
    let begun = Instant::now();
    let raising = bed.display.raising().expect("windows are raised");
    let refused = raising.activate(id(TARGET), &Cancel::new());
    assert!(
        matches!(refused, Err(Error::Display(DisplayError::NotBroughtUp(_)))),
        "{refused:?}"
    );
    assert!(begun.elapsed() < Duration::from_secs(4));
    let front = bed.display.front().expect("the front window");
    assert_eq!(front.map(|window| window.id), Some(id(0)));
}

#[test]
fn windows_with_the_same_title_are_matched_by_their_app() {
    let mut bed = Bed::new(Options::default());
    bed.server.with(|state| {
        for window in &mut state.desktop.windows {
            window.title = "Untitled".into();
        }
    });
    bed.raise();
    assert_eq!(bed.server.with(|state| state.desktop.active), Some(TARGET));
}

#[test]
fn a_compositor_without_a_list_of_windows_is_no_display() {
    let without = vec!["zwlr_foreign_toplevel_manager_v1"];
    let server = super::Server::start(
        super::desktop(),
        Options {
            without,
            ..Options::default()
        },
    );
    assert!(!deskline_wayland::is_wlr(&server.socket()));
    let lacks = deskline_wayland::wlr_lacks(&server.socket());
    assert_eq!(lacks, ["zwlr_foreign_toplevel_manager_v1"]);
}
