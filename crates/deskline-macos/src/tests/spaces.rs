//! Apps on another Space or in full screen.

use std::sync::Arc;
use std::time::Duration;

use deskline_contract::Cancel;
use deskline_contract::wait::pause;
use deskline_input::clock::Instant;
use deskline_link::call::{Typing, WindowTarget};
use deskline_link::{Action, Call, Target};

use super::desk::{Desk, EDITOR, Expect, MAIL, element, front, has, line, reference, tree, within};
use crate::os::fake::clicks;

/// Mail's window is on a Space of its own, as in full screen.
fn away() -> Desk {
    let desk = Desk::new();
    desk.given(|world| {
        let window = desk.window;
        world.move_to_space(window, 1);
        world.quirks.animation = Duration::from_millis(400);
    });
    desk
}

#[test]
fn an_app_on_another_space_is_clicked_and_the_persons_space_comes_back() {
    let mut desk = away();
    // Twice, because the first link shows the person's own Space again.
    for nth in 1..=2 {
        let answer = desk.click_on("Send", "AXButton").ok();
        has(tree(&answer), "+ [AXStaticText] \"Sending…\"");
        let clicked = clicks(&desk.mac.world()).len();
        assert_eq!((clicked, front(&desk)), (nth, Some(EDITOR)));
        pause(Duration::from_millis(450));
        assert_eq!(desk.mac.world().space, 0);
    }
}

#[test]
fn text_for_an_app_on_another_space_arrives() {
    let mut desk = away();
    let body = desk.body;
    desk.mac.world().focus(super::desk::MAIL, body);
    desk.type_text("hello").ok();
    assert_eq!(desk.mac.world().value(body), "hello");
}

#[test]
fn a_reading_reports_windows_on_another_space_and_moves_nothing() {
    let mut desk = away();
    let answer = desk.run(Action::Refresh).ok();
    let tree = tree(&answer);
    has(&tree, "# partial: ");
    has(&tree, "'New Message' is on another Space");
    assert_eq!(desk.mac.world().fronts.last(), Some(&EDITOR));
    let target = Target::titled("Send", "AXButton");
    let press = Action::press_ax(target);
    desk.run(press).fails_with("another Space");
    assert_eq!(desk.mac.world().fronts.last(), Some(&EDITOR));
}

#[test]
fn list_applications_has_an_app_on_another_space() {
    let mut desk = away();
    let listed = desk.links.applications("").text;
    has(&listed, "Mail (PID: 100) \"New Message\"");
}

/// The ref's element still exists, but accessibility does not list it.
#[test]
fn a_ref_of_an_app_on_another_space_is_not_reported_as_stale() {
    let mut desk = Desk::new();
    let send = reference(element(&desk.refresh(), "\"Send\""));
    let window = desk.window;
    desk.mac.world().move_to_space(window, 1);
    let target = Target::Ref(send);
    let press = Action::press_ax(target);
    let answer = desk.run(press);
    assert!(
        answer.is_error
            && answer.text.contains("another Space or in full screen")
            && answer.text.contains("click_and_traverse")
            && !answer.text.contains("stale"),
        "{}",
        answer.text
    );
    // The tool that the error names takes the same ref.
    desk.click(Target::Ref(send), Typing::default()).ok();
    assert_eq!(clicks(&desk.mac.world()).len(), 1);
}

#[test]
fn a_call_goes_to_the_space_of_its_window_or_reports_that_space() {
    let mut desk = away();
    let body = desk.body;
    desk.mac.world().focus(MAIL, body);
    let typing = Typing::text("hello");
    let window = Some(WindowTarget::Titled("new mess".into()));
    let mut call = Call::new(Some(MAIL), Action::type_text(typing));
    call.window.clone_from(&window);
    desk.links.run(&call, &Cancel::new()).ok();
    assert_eq!(desk.mac.world().value(body), "hello");
    pause(Duration::from_millis(450));
    let mut call = Call::new(MAIL, Action::Refresh);
    call.window = window;
    desk.links
        .run(&call, &Cancel::new())
        .fails_with("another Space");
}

/// Bringing an app forward goes to its Space: its windows are listed once the animation is over.
#[test]
fn an_app_that_an_action_opens_on_another_space_is_read_there() {
    let mut desk = Desk::new();
    let send = desk.send;
    let browser = desk.given(|world| {
        let root = world.app(300, "Browser", "/Applications/Browser.app".into());
        let window = world.add(root, "AXWindow", "Page", [0.0, 0.0, 1_440.0, 900.0]);
        world.add(window, "AXButton", "Reload", [20.0, 20.0, 60.0, 28.0]);
        world.move_to_space(window, 1);
        world.bring_forward(EDITOR);
        world.quirks.animation = Duration::from_millis(400);
        world.node(send).pressed = Some(Arc::new(|world| world.bring_forward(300)));
        300
    });
    let answer = desk.click_on("Send", "AXButton").ok();
    let switch = line(&answer, "app_switch");
    assert!(
        switch.is_some_and(|s| s.contains("Browser")),
        "{}",
        answer.text
    );
    has(tree(&answer), "\"Reload\"");
    assert_eq!(front(&desk), Some(browser));
}

#[test]
fn a_chain_goes_on_in_an_app_that_a_step_brings_up_on_another_space() {
    let mut desk = Desk::new();
    let send = desk.send;
    desk.given(|world| {
        let root = world.app(300, "Browser", "/Applications/Browser.app".into());
        let window = world.add(root, "AXWindow", "Page", [0.0, 0.0, 1_440.0, 900.0]);
        let reload = world.add(window, "AXButton", "Reload", [20.0, 20.0, 60.0, 28.0]);
        world.move_to_space(window, 1);
        world.bring_forward(EDITOR);
        world.quirks.animation = Duration::from_millis(400);
        world.node(send).pressed = Some(Arc::new(|world| world.bring_forward(300)));
        world.node(reload).pressed = Some(Arc::new(move |world| {
            world.add(window, "AXStaticText", "Reloaded", [20.0, 60.0, 90.0, 18.0]);
        }));
    });
    desk.chain(vec![
        super::desk::clicks_on("Send"),
        super::desk::clicks_on("Reload"),
    ])
    .ok();
    assert_eq!(clicks(&desk.mac.world()).len(), 2);
}

/// If a step leaves the app's windows on another Space, the next step switches there.
#[test]
fn a_later_step_of_a_chain_goes_to_the_space_of_the_apps_windows() {
    let mut desk = Desk::new();
    let (send, window, urgent) = (desk.send, desk.window, desk.urgent);
    desk.given(|world| {
        world.quirks.animation = Duration::from_millis(400);
        world.node(send).pressed = Some(Arc::new(move |world| {
            world.move_to_space(window, 1);
            world.tell(MAIL, "AXWindowMiniaturized", window);
        }));
    });
    let tick = Action::click(Target::titled("Urgent", "AXCheckBox"), Typing::default());
    desk.chain(vec![super::desk::clicks_on("Send"), tick]).ok();
    assert_eq!(desk.mac.world().value(urgent), "Some(Number(1.0))");
}

/// The usual place of an agent is a full-screen terminal. Its tool bar is a separate window on top,
/// which accessibility does not list (ghostty #2853). The terminal may also have a window on this
/// Space, and `AXFrontmost` would bring that one forward.
#[test]
fn the_person_is_brought_back_to_their_window_in_full_screen() {
    for elsewhere_too in [false, true] {
        let mut desk = Desk::new();
        desk.given(|world| {
            let editor = world.stack[0];
            world.move_to_space(editor, 1);
            world.space = 1;
            world.quirks.animation = Duration::from_millis(300);
            world.extra.push((EDITOR, [0.0, 0.0, 1_440.0, 60.0], 0));
            if elsewhere_too {
                let root = world.apps[&EDITOR].root;
                let other = world.add(root, "AXWindow", "Other", [800.0, 600.0, 300.0, 200.0]);
                world.stack.retain(|w| *w != other);
                world.stack.push(other);
            }
        });
        let start = Instant::now();
        desk.click_on("Send", "AXButton").ok();
        within(start, Duration::from_secs(3));
        pause(Duration::from_millis(350));
        let world = desk.mac.world();
        assert_eq!((world.front, world.space), (EDITOR, 1), "{elsewhere_too}");
        assert_eq!(clicks(&world).len(), 1);
    }
}

/// "When switching to an application, switch to a Space with open windows" is off.
#[test]
fn the_answer_reports_that_macos_is_set_not_to_switch_to_the_space() {
    let mut desk = away();
    let mut world = desk.mac.world();
    world.quirks.stays_on_space = true;
    let read = "/usr/bin/defaults read com.apple.dock workspaces-auto-swoosh";
    world.tools.insert(read.into(), "0\n".into());
    drop(world);
    desk.click_on("Send", "AXButton")
        .fails_with("switch to a Space with open windows");
    assert!(desk.mac.world().reached.is_empty());
    assert_eq!(front(&desk), Some(EDITOR));
}
