use deskline_core::{Point, Tree, TreeWindow, WindowId};

use crate::fixture::tree;

fn at(tree: &Tree, id: &str) -> usize {
    tree.elements
        .iter()
        .position(|e| e.id.as_str() == id)
        .unwrap()
}

fn over(tree: &Tree, id: &str, x: i32, y: i32) -> Option<String> {
    let over = tree.drawn_over((at(tree, id), false), Point { x, y }, false);
    over.map(|over| tree.elements[over].id.as_str().to_owned())
}

fn toast() -> Tree {
    tree(
        r#"
[AXApplication] visible #e1
  [AXWindow] x:0 y:0 w:400 h:300 visible #e2
    [AXGroup] x:0 y:0 w:400 h:300 visible #e3
      [AXButton] "Archive" x:0 y:0 w:400 h:70 visible #e4
      [AXStaticText] "Archive" x:10 y:10 w:60 h:20 visible #e5
      [AXList] x:0 y:100 w:400 h:100 visible #e6
        [AXRow] "a" x:0 y:100 w:400 h:60 visible #e7
        [AXRow] "b" x:0 y:120 w:400 h:60 visible #e8
    [AXGroup] x:0 y:0 w:400 h:40 visible #e9
      [AXButton] "Undo" x:0 y:0 w:200 h:40 visible #e10
    [AXButton] "Hidden" x:0 y:0 w:400 h:300 #e11
    [AXScrollBar] x:390 y:0 w:10 h:300 visible #e12
    [AXMenu (menu)] x:0 y:0 w:400 h:300 visible #e13
"#,
    )
}

#[test]
fn a_visible_later_branch_of_the_tree_covers_an_earlier_one() {
    let tree = toast();
    assert_eq!(over(&tree, "e4", 100, 20).as_deref(), Some("e10"));
    assert_eq!(over(&tree, "e4", 300, 20).as_deref(), Some("e9"));
    assert_eq!(over(&tree, "e4", 100, 60), None);
    assert_eq!(over(&tree, "e10", 100, 20), None);
    let first = tree.drawn_over((at(&tree, "e9"), true), Point { x: 300, y: 20 }, false);
    assert_eq!(first, Some(at(&tree, "e4")), "where the first is on top");
}

#[test]
fn a_document_window_covers_elements_under_it_and_a_dialog_does_not() {
    let tree = tree(
        r#"
[AXApplication] visible #e1
  [AXWindow (frame)] x:0 y:0 w:400 h:300 visible #e2
    [AXGroup (layered pane)] x:0 y:0 w:400 h:300 visible #e3
      [AXWindow (frame)] x:0 y:0 w:200 h:200 visible #e4
        [AXButton] "Save" x:0 y:0 w:200 h:50 visible #e5
      [AXWindow (frame)] x:50 y:0 w:200 h:200 visible #e6
    [AXWindow (dialog)] x:0 y:0 w:400 h:300 visible #e7
"#,
    );
    assert_eq!(over(&tree, "e5", 100, 20).as_deref(), Some("e6"));
    assert_eq!(over(&tree, "e5", 20, 20), None);
}

#[test]
fn rows_texts_scroll_bars_and_menus_cover_nothing() {
    let tree = toast();
    assert_eq!(over(&tree, "e7", 100, 130), None);
    assert_eq!(over(&tree, "e4", 395, 60), None);
    let text = tree.drawn_over((at(&tree, "e4"), false), Point { x: 20, y: 60 }, true);
    assert_eq!(text, None);
}

/// GTK 3 lists the items of a menu button's menu right in the button.
#[test]
fn nothing_covers_the_item_that_opens_a_menu() {
    let tree = tree(
        r#"
[AXApplication] visible #e1
  [AXWindow] x:0 y:0 w:400 h:300 visible #e2
    [AXCheckBox (toggle button)] "More" x:0 y:0 w:400 h:40 visible #e3
      [AXMenu (menu)] "Settings" x:0 y:40 w:120 h:25 visible #e4
    [AXComboBox] "Colour" x:0 y:40 w:400 h:40 visible #e5
"#,
    );
    assert_eq!(over(&tree, "e4", 60, 50), None);
}

#[test]
fn a_click_on_a_targets_part_or_label_reaches_the_target() {
    let tree = tree(
        r#"
[AXApplication] visible #e1
  [AXWindow] x:0 y:0 w:400 h:300 visible #e2
    [AXGroup] x:0 y:0 w:400 h:40 visible #e3
      [AXStaticText] "In 1953" x:0 y:0 w:200 h:40 visible #e4
      [AXLink] "Prize" x:200 y:0 w:100 h:40 visible #e5
        [AXStaticText] "Prize" x:200 y:0 w:100 h:40 visible #e6
    [AXButton] "Save" x:0 y:50 w:100 h:40 visible #e7
      [AXImage] x:0 y:50 w:20 h:40 visible #e8
      [AXStaticText] "Save" x:20 y:50 w:80 h:40 visible #e9
    [AXCheckBox] "Mail" x:0 y:100 w:1 h:1 visible #e10
    [AXStaticText (label)] "Mail" x:0 y:100 w:100 h:20 visible #e11
    [AXRow] x:0 y:130 w:400 h:20 visible #e12
      [AXStaticText] "Ann" x:0 y:130 w:100 h:20 visible #e13
      [AXButton] "Delete" x:300 y:130 w:100 h:20 visible #e14
"#,
    );
    let receives = |hit, id| tree.receives_for(at(&tree, hit), at(&tree, id));
    for (hit, id) in [
        ("e6", "e5"),
        ("e7", "e9"),
        ("e8", "e9"),
        ("e11", "e10"),
        ("e12", "e13"),
    ] {
        assert!(receives(hit, id), "{hit} passes a click on to {id}");
    }
    for (hit, id) in [
        ("e3", "e5"),
        ("e4", "e5"),
        ("e14", "e13"),
        ("e5", "e4"),
        ("e7", "e10"),
        ("e14", "e12"),
        ("e12", "e14"),
    ] {
        assert!(!receives(hit, id), "{hit} is not {id}");
    }
}

#[test]
fn rows_outside_their_list_do_not_show_and_a_label_is_named_by_its_text() {
    let tree = tree(
        r#"
[AXApplication] visible #e1
  [AXWebArea] x:0 y:0 w:400 h:300 visible #e2
    [AXList] x:0 y:100 w:100 h:60 visible #e3
      [AXRow] "Green" x:0 y:80 w:100 h:30 visible #e4
    [AXRadioButton] "Large" x:0 y:200 w:10 h:10 visible #e5
    [AXStaticText (label)] x:0 y:195 w:100 h:30 visible #e6
      [AXStaticText] "Large" x:20 y:200 w:60 h:20 visible #e7
"#,
    );
    let [page, row] = ["e2", "e4"].map(|id| at(&tree, id));
    let around = |y| tree.is_around(page, row, Point { x: 50, y });
    assert!(!around(90) && around(105));
    assert!(tree.receives_for(at(&tree, "e6"), at(&tree, "e5")));
}

#[test]
fn a_panel_plug_in_covers_nothing_beyond_its_pane() {
    let tree = tree(
        r#"
[AXApplication] visible #e1
  [AXWindow (frame)] x:0 y:0 w:1920 h:27 visible #e2
    [AXCheckBox (toggle button)] "Applications" x:0 y:0 w:102 h:26 visible #e3
    [AXButton] "Notes" x:1880 y:0 w:40 h:26 visible #e4
    [AXGroup (filler)] x:1892 y:0 w:28 h:26 visible #e5
      [AXGroup (filler)] #e6
        [AXWindow (frame)] x:0 y:0 w:1920 h:27 visible #e7
"#,
    );
    assert_eq!(over(&tree, "e3", 50, 13), None);
    assert_eq!(over(&tree, "e4", 1900, 13).as_deref(), Some("e7"));
}

#[test]
fn the_window_with_the_focus_is_on_top_of_the_others_in_its_pane() {
    let tree = tree(
        r#"
[AXApplication] visible #e1
  [AXWindow (frame)] x:0 y:0 w:400 h:300 visible #e2
    [AXGroup (layered pane)] x:0 y:0 w:400 h:300 visible #e3
      [AXWindow (frame)] x:0 y:0 w:200 h:200 visible #e4
        [AXButton] "Save" x:0 y:0 w:200 h:50 visible focused #e5
      [AXWindow (frame)] x:50 y:0 w:200 h:200 visible #e6
        [AXButton] "Other" x:50 y:0 w:200 h:50 visible #e7
"#,
    );
    assert_eq!(over(&tree, "e5", 100, 20), None);
    assert_eq!(over(&tree, "e7", 100, 20).as_deref(), Some("e5"));
    assert_eq!(over(&tree, "e7", 230, 20), None);
}

#[test]
fn an_open_bubble_covers_other_elements_but_not_its_own() {
    let tree = tree(
        r#"
[AXApplication] visible #e1
  [AXWindow (frame)] x:0 y:0 w:400 h:300 visible #e2
    [AXGroup] x:0 y:0 w:400 h:300 visible #e3
      [AXButton] "More" x:0 y:0 w:400 h:30 visible #e4
        [AXGroup] x:50 y:32 w:300 h:100 visible #e5
          [AXButton] "Delete" x:60 y:40 w:280 h:80 visible #e6
      [AXButton] "Save" x:0 y:30 w:400 h:100 visible #e7
"#,
    );
    let bubble = |id, x| {
        let over = tree.bubble_over(at(&tree, id), Point { x, y: 80 });
        over.map(|over| tree.elements[over].id.as_str().to_owned())
    };
    assert_eq!(bubble("e7", 200).as_deref(), Some("e6"));
    assert_eq!(bubble("e7", 20), None);
    assert_eq!(bubble("e6", 200), None);
}

#[test]
fn a_click_on_an_image_map_goes_to_the_smallest_area_there() {
    let tree = tree(
        r#"
[AXApplication] visible #e1
  [AXImage] "Map" x:0 y:0 w:400 h:300 visible #e2
    [AXLink] "Road" x:0 y:0 w:400 h:300 visible #e3
    [AXLink] "Lake" x:100 y:100 w:100 h:100 visible #e4
"#,
    );
    let area = |x| {
        let area = tree.area_at(at(&tree, "e3"), Point { x, y: 150 });
        tree.elements[area].id.as_str().to_owned()
    };
    assert_eq!([area(150), area(300)], ["e4", "e3"]);
}

/// A page that is scrolled under a bar: by their bounds, parts of it lie over the bar.
#[test]
fn an_element_that_is_scrolled_away_covers_nothing() {
    let tree = tree(
        r#"
[AXApplication] visible #e1
  [AXWindow] x:0 y:0 w:400 h:300 visible #e2
    [AXButton] "Above" x:0 y:0 w:400 h:40 visible #e3
    [AXScrollArea] x:0 y:40 w:400 h:200 visible #e4
      [AXGroup] "Card" x:0 y:-100 w:400 h:400 visible #e5
        [AXButton] "Half" x:0 y:30 w:400 h:30 visible #e6
    [AXGroup (filler)] x:0 y:240 w:400 h:30 visible #e7
      [AXGroup (filler)] x:0 y:200 w:400 h:100 visible #e8
    [AXButton] "Below" x:0 y:270 w:400 h:30 visible #e9
"#,
    );
    assert_eq!(over(&tree, "e3", 100, 20), None);
    assert_eq!(over(&tree, "e3", 100, 35), None);
    assert_eq!(over(&tree, "e4", 100, 220), None);
    assert_eq!(over(&tree, "e4", 100, 250).as_deref(), Some("e8"));
    let seen = |id: &str, y| tree.is_in_view(at(&tree, id), Point { x: 100, y });
    assert!(seen("e6", 45) && !seen("e6", 35));
    assert!(seen("e8", 250) && !seen("e8", 220));
}

/// Two windows of Chromium, with a bar in each, a question and a window that seldom shows.
#[test]
fn a_window_drawn_inside_another_covers_what_lies_under_it() {
    let mut tree = tree(
        r#"
[AXApplication] visible #e1
  [AXWindow (frame)] x:0 y:0 w:400 h:300 visible #e2
    [AXWindow (alert)] "Infobar" x:0 y:40 w:400 h:60 visible #e3
      [AXButton] "Close" x:380 y:40 w:20 h:20 visible #e4
  [AXWindow (frame)] x:0 y:0 w:400 h:300 visible #e5
    [AXButton] "Push" x:0 y:50 w:400 h:30 visible #e6
    [AXWindow (frame)] "Find" x:0 y:70 w:100 h:30 visible #e7
      [AXTextField] x:0 y:70 w:100 h:30 visible #e8
  [AXWindow (frame)] x:0 y:50 w:400 h:30 visible #e9
  [AXWindow (alert)] x:300 y:60 w:100 h:100 visible #e10
    [AXButton] "Allow" x:310 y:60 w:50 h:20 visible #e11
"#,
    );
    let over = |tree: &Tree, x, y| {
        let over = tree.drawn_window_over(at(tree, "e6"), Point { x, y });
        over.map(|over| tree.elements[over].id.as_str().to_owned())
    };
    assert_eq!(over(&tree, 350, 65), None, "no window is known");
    let window = |id, element: usize| TreeWindow {
        id: WindowId(id),
        extents: tree.elements[element].extents.unwrap(),
        on_screen: true,
        elements: vec![element],
    };
    let [first, second] = ["e2", "e5"].map(|id| at(&tree, id));
    tree.windows = vec![window(1, second), window(2, first)];
    let covers = [(200, 65), (50, 75), (350, 65)].map(|(x, y)| over(&tree, x, y));
    assert_eq!(covers, [None, Some("e8".into()), Some("e11".into())]);
}
