use deskline_core::{
    Coordinates, Element, Match, Point, Rect, Ref, States, Text, Tree, TreeWindow, WindowId, fold,
    nearest,
};
use proptest::prelude::*;

use crate::fixture::{any_tree, at, hostile, tree};

const TREE: &str = r#"
[AXApplication] "Messages" #e1
  [AXWindow (frame)] "Chat" x:0 y:0 w:900 h:700 visible #e2
    [AXStaticText (label)] "Send" x:0 y:0 w:60 h:20 visible #e3
    [AXButton (push button)] "Send later" x:0 y:30 w:60 h:20 visible #e4
    [AXButton (push button)] "Send" #e5
    [AXButton (push button)] x:0 y:60 w:60 h:20 visible #e6
      [AXStaticText (label)] "Send" x:5 y:62 w:50 h:16 visible #e7
    [AXMenuItem] "Resend" x:0 y:90 w:60 h:20 visible #e8
    [AXMenuItem] "Resend" x:0 y:120 w:60 h:20 visible #e9
    [AXTextField (password text)] "Secret" x:0 y:150 w:60 h:20 visible secure #e10
    [AXRow (list item)] x:0 y:200 w:60 h:20 visible #e11
      [AXStaticText (label)] "Ann" x:0 y:200 w:60 h:20 visible #e12
"#;

fn find(tree: &Tree, text: &str, role: Option<&str>) -> Option<(u64, usize)> {
    let Match { index, others, .. } = tree.find_text(text, role)?;
    Some((tree.elements[index].reference?.0, others))
}

#[test]
fn matches_rank_by_exact_text_visibility_interactivity_and_own_text() {
    let tree = tree(TREE);
    // The labelled button beats its label, the other label and the hidden button.
    assert_eq!(find(&tree, "send", None), Some((6, 0)));
    assert_eq!(find(&tree, "send", Some("StaticText")), Some((3, 1)));
    assert_eq!(find(&tree, "send lat", None), Some((4, 0)));
    assert_eq!(find(&tree, "  SEND LATER ", None), Some((4, 0)));
    assert_eq!(find(&tree, "chat", None), Some((2, 0)));
    assert_eq!(find(&tree, "nothing", None), None);
}

#[test]
fn a_hidden_exact_match_beats_a_visible_partial_one() {
    let tree = tree("[AXButton] \"Save as\" visible #e1\n[AXStaticText] \"Save\" #e2");
    assert_eq!(find(&tree, "save", None), Some((2, 0)));
}

#[test]
fn a_name_is_found_with_or_without_its_final_colon() {
    let shown = tree("[AXTextField] \"Name:\" visible #e1\n[AXTextField] \"Name\" #e2");
    assert_eq!(find(&shown, "Name", None), Some((1, 0)), "visible");
    let tree = tree("[AXLink] \"Name:\" visible #e1\n[AXButton] \"name\" visible #e2");
    assert_eq!(find(&tree, "Name", None), Some((2, 0)), "the very text");
    assert_eq!(find(&tree, "Name:", None), Some((1, 0)));
}

#[test]
fn of_equal_matches_the_one_in_the_front_window_is_taken() {
    let text = r#"[AXApplication] "Office" #e1
 [AXWindow] "One" x:0 y:0 w:9 h:9 visible #e2
  [AXButton] "Go" x:0 y:0 w:9 h:9 visible #e3
 [AXWindow] "Two" x:50 y:0 w:9 h:9 visible #e4
  [AXButton] "Go" x:50 y:0 w:9 h:9 visible #e5
"#;
    let mut tree = tree(text);
    assert_eq!(find(&tree, "Go", None), Some((3, 1)));
    tree.windows = [(2, 3), (1, 1)].map(|(id, top)| window(id, top)).into();
    assert_eq!(find(&tree, "Go", None), Some((5, 1)));
}

fn window(id: u64, top: usize) -> TreeWindow {
    TreeWindow {
        id: WindowId(id),
        extents: Rect::at(0, 0, 1, 1),
        on_screen: true,
        elements: vec![top],
    }
}

#[test]
fn the_match_in_the_same_case_wins_among_equals() {
    let tree = tree("[AXTab] \"page 2\" visible #e1\n[AXTab] \"Page 2\" visible #e2");
    assert_eq!(find(&tree, "Page 2", None), Some((2, 0)));
    assert_eq!(find(&tree, "page 2", None), Some((1, 0)));
    assert_eq!(find(&tree, "PAGE 2", None), Some((1, 1)));
}

#[test]
fn an_enabled_element_beats_a_disabled_one() {
    let tree = tree("[AXButton] \"Go\" visible disabled #e1\n[AXButton] \"Go\" visible #e2");
    assert_eq!(find(&tree, "go", None), Some((2, 0)));
}

#[test]
fn the_first_of_equal_matches_is_taken_and_the_others_are_counted() {
    assert_eq!(find(&tree(TREE), "resend", None), Some((8, 1)));
}

#[test]
fn a_role_is_matched_by_a_prefix_or_by_its_native_name() {
    let tree = tree(TREE);
    for role in ["AXMenuItem", "menuitem", "axmenu", "Menu item"] {
        assert_eq!(find(&tree, "send", Some(role)), Some((8, 1)), "{role}");
    }
    assert_eq!(find(&tree, "send", Some("push button")), Some((6, 0)));
    assert_eq!(find(&tree, "send", Some("AXSlider")), None);
    // An empty text needs a role.
    assert_eq!(find(&tree, "", Some("AXMenuItem")), Some((8, 1)));
    assert_eq!(find(&tree, " ", None), None);
    assert_eq!(find(&tree, "", Some("AX")), None);
}

#[test]
fn search_covers_value_description_and_line_text() {
    let mut tree = tree("[AXTextField] \"Name\" visible #e1");
    at(&mut tree, 1).value = Text::new("Ann Lee");
    at(&mut tree, 1).description = Text::new("Full name");
    for text in ["name", "ann", "full", "Name Ann"] {
        assert_eq!(find(&tree, text, None), Some((1, 0)), "{text}");
    }
}

#[test]
fn a_secret_is_not_searched() {
    let mut tree = tree(TREE);
    at(&mut tree, 10).value = Text::new("hunter2");
    assert!(at(&mut tree, 10).states.contains(States::SECURE));
    assert_eq!(find(&tree, "hunter", None), None);
    assert_eq!(find(&tree, "secret", None), Some((10, 0)));
    assert!(
        !tree
            .nearest_texts("hunter2", None)
            .join("")
            .contains("hunter")
    );
}

#[test]
fn a_ref_is_found() {
    let tree = tree(TREE);
    assert_eq!(tree.find_ref(Ref(1)), Some(0));
    assert_eq!(tree.find_ref(Ref(999)), None);
}

#[test]
fn a_point_finds_the_element_that_a_click_there_presses() {
    let tree = tree(TREE);
    let hit = |x, y| {
        let index = tree.find_at(Point { x, y })?;
        tree.elements[index].reference
    };
    assert_eq!(hit(10, 5), Some(Ref(3)), "a label");
    assert_eq!(hit(10, 65), Some(Ref(6)), "the button around its label");
    assert_eq!(hit(10, 205), Some(Ref(12)), "not further than its row");
    assert_eq!(hit(500, 500), Some(Ref(2)), "the window");
    assert_eq!(hit(5_000, 5), None);
}

#[test]
fn a_point_in_window_coordinates_is_for_the_active_window() {
    let mut tree = tree(
        r#"
[AXApplication] "Mail" #e1
  [AXWindow] "Inbox" x:0 y:0 w:900 h:700 visible #e2
    [AXButton] "Send" x:10 y:10 w:60 h:30 visible focused #e3
  [AXWindow] "Preferences" x:0 y:0 w:300 h:200 visible #e4
    [AXButton] "Reset" x:10 y:10 w:60 h:30 visible #e5
  [AXMenu] "More" x:200 y:10 w:60 h:30 visible #e6
    [AXMenuItem] "Archive" x:200 y:10 w:60 h:30 visible #e7
"#,
    );
    tree.coordinates = Coordinates::Window;
    let hit = |toplevel, x| {
        let index = tree.find_at_in(toplevel, Point { x, y: 20 })?;
        tree.elements[index].reference
    };
    assert_eq!(hit(None, 20), Some(Ref(3)), "the window with the focus");
    assert_eq!(hit(Some(3), 20), Some(Ref(5)), "the window that is named");
    assert_eq!(hit(None, 210), Some(Ref(7)), "an open menu");
}

#[test]
fn the_three_nearest_texts_are_found_for_an_error() {
    let tree = tree(TREE);
    insta::assert_snapshot!(tree.nearest_texts("Sned", None).join("\n"), @r##"
    "Send" [AXButton] #e6
    "Send later" [AXButton] #e4
    "Resend" [AXMenuItem] #e8
    "##);
    insta::assert_snapshot!(tree.nearest_texts("snd", Some("button")).join("\n"), @r##"
    "Send" [AXButton] #e6
    "Send later" [AXButton] #e4
    "##);
}

#[test]
fn an_equal_text_of_another_role_is_nearest_and_hidden_ones_are_left_out() {
    let tree = tree(
        r#"
        [AXWindow] "Chat" x:0 y:0 w:900 h:700 visible #e1
          [AXButton] "Sent" x:0 y:0 w:9 h:9 visible #e2
          [AXLink] "Send" x:0 y:10 w:9 h:9 visible #e3
          [AXButton] "Send" #e4
        "#,
    );
    let near = |role| tree.nearest_texts("send", role).join(", ");
    assert_eq!(
        near(Some("MenuItem")),
        "\"Send\" [AXLink] #e3, \"Sent\" [AXButton] #e2, \"Chat\" [AXWindow] #e1"
    );
    assert_eq!(
        near(Some("AXButton")),
        "\"Send\" [AXLink] #e3, \"Sent\" [AXButton] #e2"
    );
}

#[test]
fn a_choice_in_an_open_list_beats_the_combo_box_that_shows_it() {
    const OPEN: &str = r#"
        [AXWindow] "Form" x:0 y:0 w:300 h:300 visible #e1
          [AXComboBox] "Colour" x:0 y:0 w:90 h:20 visible value:"blue" #e2
            [AXList] x:0 y:20 w:90 h:40 visible #e3
              [AXStaticText] "red" x:0 y:20 w:90 h:20 visible #e4
              [AXStaticText] "blue" x:0 y:40 w:90 h:20 visible #e5
        "#;
    assert_eq!(find(&tree(OPEN), "Blue", None), Some((5, 0)));
    assert_eq!(find(&tree(OPEN), "Colour", None), Some((2, 0)));
    assert_eq!(find(&tree(OPEN), "Blue", Some("combo")), Some((2, 0)));
    let closed = OPEN
        .replace("h:20 visible #e5", "h:20 #e5")
        .replace("h:40 visible", "h:40");
    assert_eq!(find(&tree(&closed), "Blue", None), Some((2, 0)));
}

#[test]
fn the_nearest_name_is_suggested() {
    let names = [
        "doubleClick",
        "rightClick",
        "text",
        "pressKey",
        "pressKeyModifiers",
    ];
    for (word, meant) in [
        ("double_click", "doubleClick"),
        ("presskey", "pressKey"),
        ("txet", "text"),
        ("pressKeyModifier", "pressKeyModifiers"),
        ("press", "pressKey"),
    ] {
        assert_eq!(nearest(word, names), Some(meant));
    }
    assert_eq!(nearest("x", []), None);
}

proptest! {
    #[test]
    fn a_search_for_any_text_finds_at_most_three_short_nearest_texts(
        tree in any_tree(),
        wanted in hostile(),
        role in prop::option::of(hostile()),
    ) {
        let _ = tree.find_text(&wanted, role.as_deref());
        let near = tree.nearest_texts(&wanted, role.as_deref());
        prop_assert!(near.len() <= 3);
        prop_assert!(near.iter().all(|n| n.chars().count() < 120));
        let _ = nearest(&wanted, [wanted.as_str(), "Return"]);
    }

    #[test]
    fn an_element_is_found_by_its_whole_title(tree in any_tree(), pick in any::<prop::sample::Index>()) {
        // A title of invisible marks alone is an empty text for a search.
        let is_titled = |e: &&Element| !fold(&e.title.shown).is_empty();
        let titled: Vec<_> = tree.elements.iter().filter(is_titled).collect();
        if !titled.is_empty() {
            let element = titled[pick.index(titled.len())];
            prop_assert!(tree.find_text(&element.title.shown, None).is_some());
        }
    }
}

#[test]
fn search_ignores_invisible_marks_kinds_of_space_and_ellipses() {
    let tree = tree(
        "[AXWindow] \"Mail\u{a0}\u{2013} Inbox\" visible #e9\n\
         [AXButton] \"\\u{2066} 5\\u{2069}\" visible #e1\n\
         [AXButton] \"Speichern\u{a0}unter\u{2026}\" visible #e2\n\
         [AXButton] \"Co\u{ad}operate\" visible #e3\n\
         [AXButton] \"a\u{200b}b\" visible #e4",
    );
    for (text, found) in [
        ("5", 1),
        ("Speichern unter...", 2),
        ("speichern  unter\u{2026}", 2),
        ("Cooperate", 3),
        ("ab", 4),
        ("a\u{200b}b", 4),
    ] {
        assert_eq!(find(&tree, text, None), Some((found, 0)), "{text}");
    }
    assert_eq!(tree.toplevels_titled("mail \u{2013} inbox"), [0]);
}

proptest! {
    #[test]
    fn folding_a_folded_text_changes_nothing(text in hostile()) {
        let once = fold(&text).into_owned();
        prop_assert_eq!(fold(&once), once.as_str());
    }
}
