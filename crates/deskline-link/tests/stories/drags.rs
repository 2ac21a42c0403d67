//! Drags that end in another app, and what a drag has moved.

use deskline_core::{Modifiers, Rect, States};
use deskline_link::call::Input;
use deskline_link::{Action, Call, Target};
use insta::assert_snapshot;

use crate::story::{EDITOR_WINDOW, MAIL, MUSIC, Story};
use crate::world::World;

fn field(at: [i32; 4]) -> impl FnOnce(&mut World) {
    let [x, y, w, h] = at;
    move |world| {
        let line = format!("[AXTextField] \"Queue\" x:{x} y:{y} w:{w} h:{h} editable");
        world.window(MUSIC, "Queue", at, &line);
        world.raise(EDITOR_WINDOW);
    }
}

fn drag_to_music(story: &mut Story, from: &str) {
    let drag = Input::Drag {
        from: Target::text(from),
        to: Target::text("Queue"),
        to_pid: Some(MUSIC),
        modifiers: Modifiers::empty(),
    };
    story.run(Action::Input(drag));
}

#[test]
fn a_drag_between_apps_raises_both_windows_and_reports_both_diffs() {
    let mut story = Story::new();
    story.given(field([620, 220, 200, 60]));
    drag_to_music(&mut story, "Inbox");
    assert_snapshot!(story.outcome(), @r##"
    summary: Dragged 'Inbox' [AXStaticText] to 'Queue' [AXTextField] of Music. 0 added, 0 removed, 1 modified. Settled in _ ms.
    effect: changed
    note: in Music: 0 added, 0 removed, 1 modified
    target: [AXStaticText] "Inbox" #e7
    focus: "New Message" › [AXTextField] "To" #e3
    text_changes:
      '' -> 'Inbox'
    "##);
    assert_snapshot!(story.seen(), @"reached: Music: drop Inbox on Queue; front: Notes, pointer: 900,700");
}

#[test]
fn a_drop_goes_to_the_visible_part_of_its_target() {
    let mut story = Story::new();
    story.given(field([100, 100, 700, 200]));
    drag_to_music(&mut story, "Inbox");
    let acts = story.acts();
    let drag = acts.lines().find(|line| line.starts_with("drag"));
    // Mail's window ends at 600.
    assert_snapshot!(drag.unwrap(), @"drag 80,140 646,206");
}

#[test]
fn nothing_is_dragged_if_the_drop_target_is_covered() {
    let mut story = Story::new();
    story.given(field([100, 100, 200, 60]));
    drag_to_music(&mut story, "Inbox");
    assert_snapshot!(story.field("error"), @"the window 'New Message' covers 'Queue' \
        [AXTextField], where the drag was to end. Nothing was dragged. Move one of the two \
        windows");
    assert_snapshot!(story.seen(), @"reached: nothing; front: Notes, pointer: 900,700");
}

#[test]
fn nothing_is_dropped_on_a_blocked_app() {
    let mut story = Story::denying("Music");
    drag_to_music(&mut story, "Inbox");
    assert!(story.field("error").contains("blocked"));
    assert_snapshot!(story.seen(), @"reached: nothing; front: Notes, pointer: 900,700");
}

#[test]
fn a_drag_that_moves_nothing_is_an_error() {
    let mut story = Story::new();
    story.drag("Inbox", "Send");
    assert_snapshot!(story.field("error"), @"Dragged 'Inbox' [AXStaticText] to 'Send' [AXButton], \
        but nothing has moved. Drag another part of it, such as a handle or an icon, or move it in \
        another way: cut and paste, a menu, keys");
    // A drag that only selects what is dragged has not moved it.
    story.after("drag", |world| {
        world.node("Inbox").unwrap().line.states |= States::SELECTED;
    });
    story.drag("Inbox", "Send");
    assert_snapshot!(story.field("error"), @"Dragged 'Inbox' [AXStaticText] to 'Send' [AXButton], \
        but nothing has moved: only the selection has changed. Drag another part of it, such as a \
        handle or an icon, or move it in another way: cut and paste, a menu, keys");
}

#[test]
fn a_chain_of_drags_ends_at_the_first_drag_that_moves_nothing() {
    let mut story = Story::new();
    let drag = |to: &str| Action::drag(Target::text("Inbox"), Target::text(to));
    let steps = ["To", "Send", "To"].map(drag);
    let [first, rest @ ..] = steps;
    story.run_call(&Call::chain(MAIL, first, rest.into()));
    assert_snapshot!(story.outcome(), @"
    status: error
    error: Did 1 of 3 steps. Step 2: \
        Dragged 'To' [AXTextField] to 'Send' [AXButton], but nothing has moved. Drag another part \
        of it, such as a handle or an icon, or move it in another way: cut and paste, a menu, \
        keys
    pid: 100
    app: Mail
    summary: Did 1 of 3 steps. 0 added, 0 removed, 1 \
        modified. Settled in _ ms.
    effect: changed
    steps:
      1 done: Dragged 'Inbox' \
        [AXStaticText] to 'To' [AXTextField]; effect: changed
      2 failed: see error
      3 \
        not done
    target: [AXTextField] \"To\" focused editable value:\"Inbox\" #e3
    focus: \
        \"New Message\" › [AXTextField] \"To\" #e3
    text_changes:
      '' -> 'Inbox'
    ");
}

#[test]
fn the_answer_counts_the_elements_that_a_drag_moves() {
    let mut story = Story::new();
    story.after("drag", |world| {
        for (name, y) in [("Inbox", 180), ("Send", 150)] {
            let place = &mut world.node(name).unwrap().line.extents;
            *place = place.map(|place| Rect { y, ..place });
        }
    });
    story.drag("Inbox", "Send");
    assert_snapshot!(story.field("summary"), @"Dragged 'Inbox' [AXStaticText] to 'Send' \
        [AXButton]. 0 added, 0 removed, 1 modified, 2 moved. Settled in _ ms.");
    assert_eq!(story.field("effect"), "changed");
}
