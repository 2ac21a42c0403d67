use deskline_core::{Rect, Tree, TreeWindow, WindowId, tree_file};
use proptest::prelude::*;

use crate::fixture::{any_tree, at, tree};

/// The ids of the visible elements.
fn seen(mut tree: Tree) -> Vec<String> {
    tree.scope_visible();
    let visible = tree.elements.iter().filter(|e| e.visible);
    visible.map(|e| e.id.as_str().to_owned()).collect()
}

#[test]
fn an_element_with_its_centre_outside_window_or_scroll_area_is_hidden() {
    let tree = tree(
        r"
[AXApplication] visible #e1
  [AXWindow] x:100 y:100 w:400 h:300 visible #e2
    [AXButton] x:110 y:110 w:50 h:20 visible #e3
    [AXButton] x:490 y:110 w:50 h:20 visible #e4
    [AXButton] x:110 y:140 w:0 h:20 visible #e5
    [AXButton] x:110 y:140 w:50 h:20 #e6
    [AXScrollArea] x:100 y:200 w:400 h:100 visible #e7
      [AXGroup (viewport)] x:100 y:200 w:400 h:50 visible #e8
        [AXButton] x:110 y:210 w:50 h:20 visible #e9
        [AXButton] x:110 y:255 w:50 h:20 visible #e10
        [AXList] x:100 y:220 w:400 h:80 visible #e11
          [AXRow] x:100 y:225 w:50 h:20 visible #e12
          [AXRow] x:100 y:265 w:50 h:20 visible #e13
",
    );
    assert_eq!(seen(tree), ["e2", "e3", "e7", "e8", "e9", "e12"]);
}

#[test]
fn an_open_dialog_hides_all_but_itself_and_its_pop_ups() {
    let mut tree = tree(
        r"
[AXApplication] #e1
  [AXWindow] x:0 y:0 w:400 h:300 visible #e2
    [AXButton] x:10 y:10 w:50 h:20 visible #e3
  [AXWindow (dialog)] x:50 y:50 w:200 h:100 visible #e4
    [AXButton] x:60 y:60 w:50 h:20 visible #e5
  [AXWindow (window)] x:60 y:90 w:50 h:300 visible #e6
    [AXMenu (menu)] x:60 y:90 w:50 h:300 visible #e7
      [AXMenuItem] x:60 y:370 w:50 h:20 visible #e8
",
    );
    tree.dialog = tree.elements.iter().position(|e| e.id.as_str() == "e4");
    assert_eq!(seen(tree), ["e4", "e5", "e7", "e8"]);
}

#[test]
fn menus_and_drop_downs_reach_beyond_their_window() {
    let tree = tree(
        r#"
[AXApplication] #e1
  [AXWindow] x:0 y:0 w:200 h:100 visible #e2
    [AXMenuBar] x:0 y:0 w:200 h:20 visible #e3
      [AXMenu (menu)] "File" x:0 y:0 w:30 h:20 visible #e4
        [AXMenuItem] "Open" x:0 y:200 w:50 h:20 visible #e5
        [AXMenu (menu)] "Recent" x:0 y:220 w:50 h:20 visible #e6
          [AXMenuItem] "a.txt" x:60 y:220 w:50 h:20 visible #e7
    [AXComboBox] x:0 y:60 w:100 h:20 visible #e8
      [AXList] x:0 y:80 w:100 h:60 visible #e9
        [AXRow] x:0 y:110 w:100 h:20 visible #e10
        [AXRow] x:0 y:150 w:100 h:20 visible #e11
    [AXMenu (popup menu)] x:150 y:90 w:100 h:60 visible #e12
      [AXMenuItem] "Cut" x:150 y:120 w:100 h:20 visible #e13
      [AXMenuItem] "Far" x:150 y:220 w:100 h:20 visible #e14
    [AXCheckBox (toggle button)] "Menu button" x:0 y:80 w:100 h:20 visible #e15
      [AXMenuItem] "Home" x:0 y:100 w:50 h:20 visible #e16
"#,
    );
    let expected = [
        "e2", "e3", "e4", "e5", "e6", "e7", "e8", "e9", "e10", "e12", "e13", "e15", "e16",
    ];
    assert_eq!(seen(tree), expected);
}

#[test]
fn a_page_clips_its_content_but_a_list_in_it_does_not() {
    let tree = tree(
        r"
[AXWindow] x:0 y:0 w:200 h:100 visible #e1
  [AXWebArea (document web)] x:0 y:20 w:200 h:80 visible #e2
    [AXList] x:0 y:20 w:50 h:20 visible #e3
      [AXRow] x:60 y:50 w:50 h:20 visible #e4
      [AXRow] x:60 y:0 w:50 h:20 visible #e5
    [AXWindow (alert)] x:60 y:300 w:50 h:20 visible #e6
",
    );
    assert_eq!(seen(tree), ["e1", "e2", "e3", "e4"]);
}

#[test]
fn a_nested_dialog_is_not_clipped_by_its_window() {
    let tree = tree(
        r"
[AXWindow] x:0 y:0 w:200 h:100 visible #e1
  [AXWindow (dialog)] x:150 y:80 w:300 h:200 visible #e2
    [AXButton] x:400 y:250 w:20 h:20 visible #e3
",
    );
    assert_eq!(seen(tree), ["e1", "e2", "e3"]);
}

#[test]
fn a_row_around_other_rows_has_the_bounds_of_its_own_line() {
    let mut tree = tree(
        r#"
[AXWindow] x:0 y:0 w:300 h:200 visible #e1
  [AXOutline] x:0 y:0 w:300 h:200 visible #e2
    [AXRow (tree item)] "Local Folders" x:0 y:10 w:300 h:300 visible #e3
      [AXStaticText] "Local Folders" x:20 y:12 w:90 h:20 visible #e4
      [AXGroup] x:0 y:34 w:300 h:276 visible #e5
        [AXRow (tree item)] "Inbox" x:0 y:34 w:300 h:72 visible #e6
          [AXRow (tree item)] "Lists" x:20 y:58 w:280 h:48 visible #e7
        [AXRow (tree item)] "Sent" x:0 y:106 w:300 h:24 visible #e8
        [AXRow (tree item)] "Far" x:0 y:286 w:300 h:24 #e9
  [AXMenuItem] "Beside" x:0 y:150 w:200 h:40 visible #e10
    [AXMenuItem] "Right" x:100 y:150 w:100 h:40 visible #e11
  [AXRow] "Covered" x:0 y:150 w:200 h:40 visible #e12
    [AXRow] "Over it" x:0 y:150 w:200 h:40 visible #e13
  [AXRow] "All folders" x:0 y:100 w:200 h:84 visible #e14
    [AXRow] "Account" x:0 y:100 w:200 h:84 visible #e15
      [AXRow] "Trash" x:0 y:128 w:200 h:28 visible #e16
"#,
    );
    tree.scope_visible();
    for (reference, [x, y, w, h]) in [
        (3, [0, 10, 300, 24]),
        (6, [0, 34, 300, 24]),
        (7, [20, 58, 280, 48]),
        (8, [0, 106, 300, 24]),
        (9, [0, 286, 300, 24]),
        (10, [0, 150, 100, 40]),
        (12, [0, 150, 200, 40]),
        (14, [0, 100, 200, 28]),
        (15, [0, 100, 200, 28]),
    ] {
        let found = at(&mut tree, reference);
        assert_eq!(found.extents, Some(Rect::at(x, y, w, h)), "{reference}");
        assert_eq!(found.visible, reference != 9, "{reference}");
    }
}

#[test]
fn a_button_around_other_elements_has_the_bounds_of_its_title() {
    let mut tree = tree(
        r#"
[AXWindow] x:0 y:0 w:300 h:300 visible #e1
  [AXButton] "More" x:0 y:0 w:300 h:118 visible expanded #e2
    [AXGroup] "More" x:0 y:0 w:300 h:16 visible #e3
    [AXGroup] "Deep 0" x:0 y:16 w:300 h:102 visible #e4
      [AXButton] "Deep 0" x:0 y:16 w:300 h:34 visible #e5
      [AXButton] "Deep 1" x:0 y:50 w:300 h:34 visible #e6
      [AXButton] "Deep 2" x:0 y:84 w:300 h:34 visible #e7
  [AXCheckBox] "Group" x:0 y:120 w:300 h:100 visible checked #e8
    [AXTextField] "In" x:10 y:150 w:280 h:60 visible #e9
  [AXButton] "Open" x:0 y:230 w:80 h:30 visible #e10
    [AXButton] "Open" x:0 y:230 w:80 h:30 visible #e11
  [AXButton] "Tab" x:0 y:262 w:80 h:30 visible #e12
    [AXButton] "Close" x:60 y:262 w:20 h:30 visible #e13
  [AXButton] "Save" x:100 y:262 w:80 h:30 visible #e14
    [AXGroup] "Save" x:106 y:268 w:68 h:18 visible #e15
"#,
    );
    tree.scope_visible();
    for (reference, height) in [(2, 16), (8, 30), (10, 30), (12, 30), (14, 30)] {
        let place = at(&mut tree, reference).extents.unwrap();
        assert_eq!(place.h, height, "{reference}");
    }
}

proptest! {
    #[test]
    fn scoping_makes_nothing_visible_and_is_idempotent(tree in any_tree()) {
        let mut once = tree.clone();
        once.scope_visible();
        for (was, is) in tree.elements.iter().zip(&once.elements) {
            prop_assert!(was.visible || !is.visible);
        }
        let mut twice = once.clone();
        twice.scope_visible();
        prop_assert_eq!(once, twice);
    }
}

#[test]
fn a_dialog_in_a_page_does_not_cover_the_browser_around_it() {
    let mut tree = tree(
        r#"
        [AXWindow (frame)] x:0 y:0 w:900 h:700 visible #e1
          [AXTextField] "Address" x:0 y:0 w:900 h:30 visible #e2
          [AXWebArea] x:0 y:30 w:900 h:670 visible #e3
            [AXButton] "Under" x:10 y:40 w:60 h:20 visible #e4
            [AXWindow (dialog)] "Sure?" x:100 y:100 w:300 h:200 visible #e5
              [AXButton] "Yes" x:110 y:110 w:60 h:20 visible #e6
        "#,
    );
    tree.dialog = Some(4);
    assert_eq!(seen(tree), ["e1", "e2", "e5", "e6"]);
}

#[test]
fn an_element_behind_another_window_is_hidden_and_not_found_first() {
    let mut tree = tree(
        r#"
[AXApplication] #e1
  [AXWindow] "one" x:0 y:0 w:200 h:100 visible #e2
    [AXButton] "Bold" x:10 y:10 w:20 h:20 visible #e3
    [AXButton] "Left" x:10 y:60 w:20 h:20 visible #e4
    [AXPopover] x:20 y:0 w:20 h:20 visible #e5
      [AXButton] "Choice" x:20 y:0 w:20 h:20 visible #e6
  [AXWindow] "two" x:5 y:0 w:200 h:50 visible #e7
    [AXButton] "Bold" x:10 y:10 w:20 h:20 visible #e8
"#,
    );
    let window = |id, h, top| TreeWindow {
        id: WindowId(id),
        extents: Rect::at(5, 0, 200, h),
        on_screen: true,
        elements: vec![top],
    };
    tree.windows = vec![window(2, 50, 6), window(1, 100, 1)];
    let seen = |tree: &Tree| -> Vec<String> {
        let all = (0..tree.elements.len()).filter(|&i| tree.is_seen(i));
        all.map(|i| tree.elements[i].id.as_str().to_owned())
            .collect()
    };
    // The centre of e2 lies right below the other window.
    assert_eq!(seen(&tree), ["e2", "e4", "e5", "e6", "e7", "e8"]);
    let found = tree.find_text("Bold", None).unwrap();
    assert_eq!((found.index, found.others), (7, 0));
    let text = tree_file::full_tree(&tree, false);
    assert!(
        !text.contains(r#""Bold" x:10 y:10 w:20 h:20 visible #e3"#),
        "{text}"
    );
    // A window on another workspace covers nothing.
    tree.windows[0].on_screen = false;
    assert!(seen(&tree).contains(&"e3".to_owned()));
}
