//! A link that chooses opens the list of choices and never leaves it open. A link that scrolls
//! until a text shows stops there, or at the end.

use deskline_core::Rect;
use deskline_link::{Action, Target};
use insta::assert_snapshot;

use crate::script::person;
use crate::story::{EDITOR_WINDOW, MAIL, Story, scrolls};
use crate::world::World;

/// A combo box in Mail's window whose list is a menu of its own.
pub(crate) fn with_sizes(world: &mut World) {
    let lines = r#"[AXComboBox] "Size" x:20 y:440 w:200 h:24 value:"Small""#;
    world.window(MAIL, "Format", [0, 420, 290, 100], lines);
    world.raise(EDITOR_WINDOW);
    world.on_press("Size", |world| {
        let lines = r#"[AXMenuItem] "Small" x:20 y:470 w:200 h:20
                       [AXMenuItem] "Large" x:20 y:490 w:200 h:20
                       [AXMenuItem] "Larger" x:20 y:510 w:200 h:20"#;
        world.menu(MAIL, [20, 464, 200, 80], lines);
        for size in ["Large", "Larger"] {
            world.on_press(size, move |world| {
                if let Some(node) = world.node("Size") {
                    node.value = size.into();
                }
            });
        }
    });
}

pub(crate) fn choose(choice: &str) -> Action {
    Action::choose(Target::text("Size"), choice)
}

fn desk() -> Story {
    let story = Story::new();
    story.given(with_sizes);
    story
}

const CLOSED: usize = 4;

fn windows(story: &Story) -> usize {
    story.given(|world| world.stack.len())
}

#[test]
fn a_choice_is_picked_from_the_list_that_opens() {
    let mut story = desk();
    assert_snapshot!(story.run(choose(" large ")).outcome(), @r#"
    summary: Opened 'Size' [AXComboBox], chose 'Large'. 0 added, 0 removed, 1 modified. Settled in _ ms.
    effect: changed
    target: [AXComboBox] "Size" focused value:"Large" #e10
    focus: "Format" › [AXComboBox] "Size" #e10
    windows: "Format" #e9 (front), "New Message" #e2
    text_changes:
      'Small' -> 'Large'
    "#);
    assert_snapshot!(story.seen(), @"reached: Mail: click Size, Mail: click Large; front: Notes, \
        pointer: 900,700");
    assert_snapshot!(story.acts(), @"
    choose
    grab 'AI: choosing from 'Size' in Mail'
    aim 100 4
    activate 4
    click 120,452
    read 100 showing
    read 100 showing
    read 100 showing
    read 100 showing
    aim 100 any
    click 120,500
    ungrab
    read 100 again
    move_pointer 900,700
    activate 3
    read 100 again
    rest
    ");
}

#[test]
fn a_choice_is_made_through_accessibility_alone_where_possible() {
    let mut story = desk();
    story.script().chooses = true;
    assert_snapshot!(story.run(choose("Large")).outcome(), @r#"
    summary: Chose 'Large' in 'Size' [AXComboBox]. 0 added, 0 removed, 1 modified. Settled in _ ms.
    effect: changed
    target: [AXComboBox] "Size" value:"Large" #e10
    focus: "Format"
    windows: "Format" #e9 (front), "New Message" #e2
    text_changes:
      'Small' -> 'Large'
    "#);
    assert_snapshot!(story.seen(), @"reached: nothing; front: Notes, pointer: 900,700");
}

#[test]
fn a_choice_that_is_already_made_stays_and_nothing_is_touched() {
    let mut story = desk();
    story.run(choose("small"));
    assert_snapshot!(story.field("summary"), @"'small' was already chosen in 'Size' [AXComboBox]. \
        0 added, 0 removed, 0 modified. Settled in _ ms.");
    assert_snapshot!(story.seen(), @"reached: nothing; front: Notes, pointer: 900,700");
}

#[test]
fn a_missing_choice_is_an_error_that_names_the_nearest_choices() {
    let mut story = desk();
    story.run(choose("Huge"));
    assert_snapshot!(story.field("error"), @"Opened 'Size' [AXComboBox]; then: 'Size' [AXComboBox] \
        has no choice 'Huge'. Nearest: \"Large\", \"Larger\", \"Small\". Nothing was chosen. Pass \
        the text of one as choose. Look before you repeat it");
    assert_snapshot!(story.seen(), @"reached: Mail: click Size, Mail: ·; front: Notes, pointer: 900,700");
    assert_eq!(windows(&story), CLOSED);
}

#[test]
fn an_app_that_keeps_another_choice_is_an_error() {
    let mut story = desk();
    story.on_press("Size", |world| {
        let lines = r#"[AXMenuItem] "Large" x:20 y:490 w:200 h:20"#;
        world.menu(MAIL, [20, 464, 200, 80], lines);
    });
    story.run(choose("Large"));
    assert_snapshot!(story.field("error"), @"Opened 'Size' [AXComboBox], chose 'Large', but it \
        shows 'Small' and not 'Large': the app did not take the choice. Look at the screenshot");
}

/// The combo box has its choice as its name, and its choices are in no tree once the list has
/// closed.
#[test]
fn a_wrong_choice_is_an_error_even_if_only_the_box_name_shows_it() {
    let mut story = Story::new();
    story.given(|world| {
        let lines = r#"[AXComboBox] "Small" x:20 y:440 w:200 h:24"#;
        world.window(MAIL, "Format", [0, 420, 290, 100], lines);
        world.raise(EDITOR_WINDOW);
        world.on_press("Small", |world| {
            let lines = r#"[AXMenuItem] "Large" x:20 y:490 w:200 h:20"#;
            world.menu(MAIL, [20, 464, 200, 80], lines);
            world.on_press("Large", |world| {
                if let Some(node) = world.node("Small") {
                    node.says("Larger");
                }
            });
        });
    });
    let choose = Action::choose(Target::text("Small"), "Large");
    story.run(choose);
    assert_snapshot!(story.field("error"), @"Opened 'Small' [AXComboBox], chose 'Large', but it \
        shows 'Larger' and not 'Large': the app did not take the choice. Look at the screenshot");
}

#[test]
fn esc_closes_the_open_list_and_nothing_is_chosen() {
    let mut story = desk();
    story.after("click", person::presses_esc);
    story.run(choose("Large"));
    assert_snapshot!(story.field("error"), @"Opened 'Size' [AXComboBox]. Cancelled: the user \
        pressed Esc during click_and_traverse");
    assert_snapshot!(story.seen(), @"reached: Mail: click Size, Mail: ·; front: Notes, pointer: 900,700");
    assert_eq!(windows(&story), CLOSED);
    let size = story.given(|world| world.node("Size").map(|node| node.value.clone()));
    assert_eq!(size.as_deref(), Some("Small"));
}

/// Mail's folders are a list of 20, with elements only for the two that are visible.
pub(crate) fn with_folders(world: &mut World) {
    world.turned = Some(|world, lines| {
        let at = world.scrolled.saturating_add(lines).clamp(0, 18);
        world.scrolled = at;
        for (row, id) in ["2/4", "2/5"].into_iter().enumerate() {
            if let Some(node) = world.node(id) {
                node.says(&format!("Folder {}", at + 1 + row as i32));
                node.away = false;
                node.line.extents = Some(Rect::at(30, 130 + 20 * row as i32, 100, 20));
            }
        }
    });
}

#[test]
fn the_wheel_turns_until_a_text_shows() {
    let mut story = Story::new();
    story.given(with_folders);
    story.run(scrolls(1, Some("Folder 12")));
    let summary = story.field("summary");
    let far = "Scrolled down by 10 lines in 'Folders' [AXList] until 'Folder 12' [AXStaticText]";
    assert!(summary.starts_with(far), "{}", story.text());
    assert_snapshot!(story.seen(), @"reached: nothing; front: Notes, pointer: 900,700");
}

#[test]
fn one_of_several_choices_with_the_same_text_is_not_chosen() {
    let mut story = desk();
    story.given(|world| {
        world.on_press("Size", |world| {
            let lines = r#"[AXMenuItem] "Small" x:20 y:470 w:200 h:20
                           [AXMenuItem] "Large" x:20 y:490 w:200 h:20
                           [AXMenuItem] "Large" x:20 y:510 w:200 h:20"#;
            world.menu(MAIL, [20, 464, 200, 80], lines);
        });
    });
    story.run(choose("large"));
    assert_snapshot!(story.field("error"), @"Opened 'Size' [AXComboBox]; then: 'Size' [AXComboBox] \
        has 2 choices 'large': item 2, item 3. Nothing was chosen. Open it with \
        click_and_traverse, and click the one that is meant by its ref. Look before you repeat it");
    assert_snapshot!(story.seen(), @"reached: Mail: click Size, Mail: ·; front: Notes, pointer: 900,700");
}

#[test]
fn the_wheel_stops_at_the_end_of_the_list() {
    let mut story = Story::new();
    story.given(with_folders);
    story.run(scrolls(1, Some("Folder 21")));
    let error = story.field("error");
    let far = "Scrolled down by 18 lines in 'Folders' [AXList], but its end is reached, and no";
    assert!(error.starts_with(far), "{}", story.text());
    assert!(error.contains("nearest: \"Folder 11\""), "{error}");
    assert_snapshot!(story.seen(), @"reached: nothing; front: Notes, pointer: 900,700");
}

#[test]
fn esc_stops_the_wheel() {
    let mut story = Story::new();
    story.given(with_folders);
    story.after("scroll ", person::presses_esc);
    story.run(scrolls(1, Some("Folder 21")));
    assert_snapshot!(story.field("error"), @"Cancelled: the user pressed Esc during scroll_and_traverse");
    assert_eq!(story.count("scroll "), 1);
}
