//! The promises of a link: scopes, handoffs, restoring, refs, bounds, secrets.

use std::sync::Arc;
use std::time::Duration;

use deskline_link::call::Typing;
use deskline_link::{Action, Target};

use deskline_input::clock::Instant;

use super::desk::{Desk, EDITOR, Expect, MAIL, element, front, has, line, reference, tree, within};
use super::suite;
use crate::desktop::MacDesktop;
use crate::os::fake::clicks;

#[test]
fn the_desktop_on_macos_keeps_the_contract() {
    let desk = Desk::new();
    let mut desktop = MacDesktop::new(desk.mac.clone());
    suite::is_kept_by(&mut desktop, MAIL, EDITOR);
}

#[test]
fn only_the_elements_of_an_open_sheet_are_visible() {
    let mut desk = Desk::new();
    desk.given(|world| {
        let sheet = world.add(desk.window, "AXSheet", "Save", [200.0, 130.0, 300.0, 150.0]);
        world.add(sheet, "AXButton", "Cancel", [220.0, 240.0, 80.0, 28.0]);
    });
    let answer = desk.run(Action::Refresh);
    assert!(
        line(&answer, "dialog").is_some_and(|d| d.contains("Save")),
        "{}",
        answer.text
    );
    let tree = tree(&answer);
    assert!(element(&tree, "\"Cancel\"").contains(" visible"), "{tree}");
    assert!(!element(&tree, "\"Send\"").contains(" visible"), "{tree}");
    // To the window server, a sheet is a separate window above its parent.
    let sheet = (MAIL, [200.0, 130.0, 300.0, 150.0], 0);
    desk.mac.world().extra.push(sheet);
    let start = Instant::now();
    desk.click_on("Cancel", "AXButton").ok();
    within(start, Duration::from_secs(1));
    assert_eq!(clicks(&desk.mac.world()).len(), 1);
}

#[test]
fn a_dialog_of_another_process_is_a_handoff_and_stays_in_front() {
    let mut desk = Desk::new();
    let send = desk.send;
    desk.mac.world().node(send).pressed = Some(Arc::new(|world| {
        let root = world.app(400, "File Upload", "/System/FileUpload".into());
        let window = world.add(root, "AXWindow", "Open", [300.0, 200.0, 500.0, 300.0]);
        world.add(window, "AXButton", "Choose", [320.0, 450.0, 80.0, 28.0]);
        world.bring_forward(400);
    }));
    let answer = desk.click_on("Send", "AXButton");
    has(
        &answer.text,
        "app_switch: File Upload (PID: 400) is now frontmost",
    );
    assert!(tree(&answer).contains("\"Choose\""));
    assert_eq!(front(&desk), Some(400));
}

/// Pressing Send opens a menu; pressing it again closes the menu.
fn send_opens_a_menu(desk: &Desk) {
    desk.mac.world().node(desk.send).pressed = Some(Arc::new(|world| {
        if world.extra.is_empty() {
            world.extra.push((MAIL, [620.0, 140.0, 100.0, 80.0], 101));
        } else {
            world.extra.clear();
        }
    }));
}

#[test]
fn an_open_menu_keeps_pointer_and_front_until_the_link_that_closes_it() {
    let mut desk = Desk::new();
    send_opens_a_menu(&desk);
    desk.click_on("Send", "AXButton");
    assert_eq!(
        (front(&desk), desk.mac.world().pointer),
        (Some(MAIL), (650.5, 124.5))
    );
    desk.click_on("Send", "AXButton");
    assert_eq!(
        (front(&desk), desk.mac.world().pointer),
        (Some(EDITOR), (1_000.0, 800.0))
    );
}

/// After an error the link reconnects to the desktop. A restore that waits for a menu to close must
/// survive that.
#[test]
fn an_error_in_another_app_leaves_a_deferred_restore_in_place() {
    let mut desk = Desk::new();
    send_opens_a_menu(&desk);
    desk.click_on("Send", "AXButton");
    assert_eq!(front(&desk), Some(MAIL));
    desk.mac.world().trusted = false;
    let answer = desk.run_on(EDITOR, Action::Refresh);
    assert!(answer.is_error, "{}", answer.text);
    desk.mac.world().trusted = true;
    desk.click_on("Send", "AXButton");
    assert_eq!(
        (front(&desk), desk.mac.world().pointer),
        (Some(EDITOR), (1_000.0, 800.0))
    );
}

#[test]
fn a_caption_shows_no_text_where_the_app_has_a_secure_field() {
    let mut desk = Desk::new();
    let action = Action::type_text(Typing::text("hunter2"));
    let call = deskline_link::Call {
        options: deskline_link::Options {
            show_animation: true,
            animation_duration: std::time::Duration::from_millis(1),
            ..deskline_link::Options::default()
        },
        ..deskline_link::Call::new(MAIL, action)
    };
    desk.links.run(&call, &deskline_contract::Cancel::new());
    let said = desk.mac.world().said.clone();
    assert!(said.iter().any(|s| s.contains("•••")), "{said:?}");
    assert!(said.iter().all(|s| !s.contains("hunter2")), "{said:?}");
}

#[test]
fn a_ref_is_good_in_the_next_process_and_stale_once_its_element_is_gone() {
    let mut desk = Desk::new();
    let before = reference(element(&desk.refresh(), "\"Send\""));
    let mut next = Desk::new();
    // The same Mac, journal and apps, but another process with its own tables.
    let platform = Arc::new(crate::platform::MacPlatform::new(desk.mac.clone()));
    next.links = deskline_link::Links::new(
        platform,
        desk.journal.clone(),
        deskline_link::Policy::default(),
    );
    let press = Action::press_ax(Target::Ref(before));
    let answer = next.run(press.clone());
    has(&answer.text, "Pressed 'Send'");
    let send = desk.send;
    desk.mac.world().remove(send);
    desk.run(press).fails_with("is stale");
}

#[test]
fn an_app_that_stops_answering_is_an_error_within_seconds() {
    let mut desk = Desk::new();
    desk.mac.world().apps.get_mut(&MAIL).unwrap().hung = true;
    let start = Instant::now();
    desk.run(Action::Refresh)
        .fails_with("Mail (pid 100) does not answer");
    within(start, Duration::from_secs(3));
    // Other apps are not affected.
    desk.run_on(EDITOR, Action::Refresh).ok();
}

#[test]
fn a_missing_process_element_or_permission_has_its_own_error() {
    let mut desk = Desk::new();
    desk.run_on(999, Action::Refresh)
        .fails_with("no process has pid 999");
    desk.click_on("Sned", "AXButton").fails_with("Send");
    desk.mac.world().trusted = false;
    let mut fresh = Desk::new();
    fresh.mac.world().trusted = false;
    fresh
        .run(Action::Refresh)
        .fails_with("Privacy & Security › Accessibility");
    fresh.run(Action::Refresh);
    assert_eq!(fresh.mac.world().asked, 1);
}

#[test]
fn no_answer_and_no_journal_file_contains_a_password() {
    let mut desk = Desk::new();
    let secret = desk.secret;
    desk.mac.world().focus(MAIL, secret);
    let line = element(&desk.refresh(), "Password").to_owned();
    has(&line, "(AXSecureTextField)");
    has(&line, " secure");
    let answer = desk.type_text("opensesame").ok();
    let journal = desk.journal.path();
    for entry in std::fs::read_dir(journal).unwrap() {
        let path = entry.unwrap().path();
        let bytes = std::fs::read(&path).unwrap_or_default();
        let held = String::from_utf8_lossy(&bytes);
        for word in ["hunter2", "opensesame"] {
            assert!(!held.contains(word), "{} holds {word}", path.display());
        }
    }
    assert!(!answer.text.contains("opensesame"), "{}", answer.text);
}
