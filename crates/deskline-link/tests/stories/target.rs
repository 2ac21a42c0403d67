//! `target:` describes the element that was acted on, in its present state.

use deskline_core::States;
use insta::assert_snapshot;

use crate::story::{MAIL, MAIL_WINDOW, Story, click, press_ax, presses};
use crate::world::World;

/// A desk whose mail window also has two check boxes, of which one exists twice, and a button that
/// closes its window.
fn with_options() -> Story {
    let story = Story::new();
    story.given(|world| {
        world.window(
            MAIL,
            "Options",
            [0, 0, 600, 400],
            r#"[AXCheckBox (check box)] "Wrap lines" x:20 y:40 w:90 h:24
               [AXGroup] "Shipping" x:20 y:80 w:300 h:30
                 [AXCheckBox] "Same" x:20 y:80 w:90 h:24
               [AXGroup] "Billing" x:20 y:120 w:300 h:30
                 [AXCheckBox] "Same" x:20 y:120 w:90 h:24
               [AXComboBox] "Size" x:20 y:160 w:90 h:24 value:"Small"
               [AXButton] "Close" x:20 y:200 w:90 h:24"#,
        );
        let ticks = |name: &'static str| {
            move |world: &mut World| {
                if let Some(node) = world.node(name) {
                    node.line.states.toggle(States::CHECKED);
                }
            }
        };
        world.on_press("Wrap lines", ticks("Wrap lines"));
        world.on_press("Same", ticks("Same"));
        world.on_press("Size", |world| {
            if let Some(node) = world.node("Size") {
                node.value = "Very large".into();
            }
        });
        world.on_press("Close", |world| {
            if let Some(options) = world.front().map(|window| window.id) {
                world.close(options);
            }
        });
    });
    story
}

#[test]
fn a_ticked_box_is_reported() {
    let mut story = with_options();
    assert_snapshot!(story.click("Wrap lines").field("target"), @"[AXCheckBox] \"Wrap lines\" \
        focused checked #e10");
    assert_snapshot!(story.click("Wrap lines").field("target"), @"[AXCheckBox] \"Wrap lines\" \
        focused #e10");
    assert_snapshot!(story.press("Size").field("target"), @"[AXComboBox] \"Size\" value:\"Very \
        large\" #e15");
}

#[test]
fn the_answer_names_the_container_of_a_target_among_equals() {
    let mut story = with_options();
    assert_snapshot!(story.click("Same").field("target"), @"[AXCheckBox] \"Same\" focused checked \
        #e12 in [AXGroup] \"Shipping\" #e11");
}

#[test]
fn a_target_that_has_gone_is_reported_as_gone() {
    let mut story = with_options();
    assert_snapshot!(story.click("Close").field("target"), @r##"gone: [AXButton] "Close" #e16"##);
}

#[test]
fn each_step_of_a_chain_reports_the_change_of_its_target() {
    let mut story = with_options();
    let steps = vec![
        click("Wrap lines", None, None),
        press_ax("Size"),
        presses("a"),
    ];
    story.chain(None, steps);
    assert_snapshot!(story.outcome(), @r##"
    summary: Did 3 of 3 steps. 0 added, 0 removed, 2 modified. Settled in _ ms.
    effect: changed
    steps:
      1 done: Clicked 'Wrap lines' [AXCheckBox] → checked; effect: changed
      2 done: Pressed 'Size' [AXComboBox] → value:"Very large"; effect: changed
      3 done: Pressed A; effect: nothing
    focus: "Options" › [AXCheckBox] "Wrap lines" #e10
    windows: "Options" #e9 (front), "New Message" #e2
    text_changes:
      'Small' -> 'Very large'
    "##);
}

#[test]
fn the_target_after_keys_is_the_field_that_they_have_changed() {
    let mut story = Story::new();
    story.given(|world| world.raise(MAIL_WINDOW));
    assert_snapshot!(story.type_text("bob").field("target"), @"[AXTextField] \"To\" focused \
        editable value:\"bob\" #e3");
    story.given(|world| world.focus(MAIL_WINDOW, 2));
    assert_eq!(story.press_key("F5").field("target"), "");
}

#[test]
fn a_click_on_a_disabled_element_is_refused() {
    let mut story = with_options();
    story.given(|world| {
        if let Some(node) = world.node("Close") {
            node.line.states.insert(States::DISABLED);
        }
    });
    story.click("Close");
    assert!(
        story
            .field("error")
            .contains("'Close' [AXButton] is disabled")
    );
}

#[test]
fn the_answer_says_that_a_text_was_found_inside_a_longer_one() {
    let mut story = Story::new();
    story.click("Sen");
    assert_snapshot!(story.field("summary"), @"Clicked 'Send' [AXButton]. The text is only a part \
        of the element's text. 0 added, 0 removed, 2 modified. Settled in _ ms.");
}

#[test]
fn a_press_on_the_text_that_a_combo_box_shows_goes_to_that_choice() {
    let mut story = Story::new();
    story.given(|world| {
        let lines = "[AXComboBox] \"red\" x:20 y:440 w:200 h:24\n  \
                       [AXMenu] x:20 y:440 w:200 h:24\n    \
                         [AXMenuItem] \"red\" x:20 y:440 w:200 h:24 away\n    \
                         [AXMenuItem] \"blue\" x:20 y:440 w:200 h:24 away";
        world.window(MAIL, "Format", [0, 420, 290, 100], lines);
        world.raise(crate::story::EDITOR_WINDOW);
    });
    story.press("red");
    assert_snapshot!(story.field("error"), @"'red' [AXMenuItem] refused press_ax: it has no \
        action. Use click_and_traverse with its ref");
}

#[test]
fn the_target_is_not_mixed_up_with_an_equal_element_elsewhere() {
    let mut story = Story::new();
    story.on_press("Send", |world| {
        world.close(MAIL_WINDOW);
        let lines = "[AXButton] \"Send\" x:20 y:440 w:200 h:24";
        world.window(MAIL, "Next", [0, 420, 290, 100], lines);
    });
    story.click("Send");
    assert_snapshot!(story.field("target"), @"gone: [AXButton] \"Send\" #e5");
}
