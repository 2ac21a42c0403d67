use std::time::Duration;

use deskline_core::tree_file::{app_switch, diff_and_tree, error, full_tree, window_label};
use deskline_core::{DeltaLine, Diff, Line, Older, Role, States, Text, Texts, Tree};
use proptest::prelude::*;

use crate::fixture::{any_tree, at, hostile, tree};

const TREE: &str = r#"
[AXApplication] "Messages" #e1
  [AXWindow (frame)] "Ann" x:0 y:0 w:900 h:700 visible #e2
    [AXGroup (panel)] x:0 y:0 w:900 h:600 visible #e3
      [AXStaticText (label)] "Hello" x:40 y:610 w:90 h:18 visible #e4
    [AXMenu (popup menu)] "More" #e5
    [AXTextField (text)] "Message" x:320 y:600 w:400 h:30 visible focused editable #e31
    [AXButton (push button)] "Send" x:820 y:612 w:60 h:28 visible #e8
"#;

#[test]
fn a_full_tree_is_as_specified() {
    insta::assert_snapshot!(full_tree(&tree(TREE), false), @r##"
    # Messages — 7 elements (0.08s)
     [AXApplication] "Messages" #e1
     [AXWindow (frame)] "Ann" x:0 y:0 w:900 h:700 visible #e2 in #e1
     [AXGroup (panel)] "Hello" x:0 y:0 w:900 h:600 visible #e3 in #e2
     [AXStaticText (label)] "Hello" x:40 y:610 w:90 h:18 visible #e4 in #e3
     [AXMenu (popup menu)] "More" #e5 in #e2
     [AXTextField (text)] "Message" x:320 y:600 w:400 h:30 visible focused editable #e31 in #e2
     [AXButton (push button)] "Send" x:820 y:612 w:60 h:28 visible #e8 in #e2
    "##);
}

#[test]
fn a_header_counts_the_elements_that_are_older_than_the_call() {
    let mut tree = tree(TREE);
    for (elements, ms, windows, header) in [
        (
            1,
            12_340,
            vec![],
            "1 element of hidden parts, read up to 12.3 s before; no event has reported a change",
        ),
        (
            5,
            3_000,
            vec![1],
            "5 elements of hidden windows (\"Ann\" [AXWindow (frame)] #e2), read up to 3.0 s before",
        ),
    ] {
        tree.older = Some(older(elements, ms, windows));
        let file = full_tree(&tree, false);
        let written = file
            .lines()
            .nth(1)
            .and_then(|line| line.strip_prefix("# older: "));
        assert_eq!(written, Some(header));
    }
}

fn older(elements: usize, ms: u64, windows: Vec<usize>) -> Older {
    let by = Duration::from_millis(ms);
    Older {
        elements,
        by,
        windows,
    }
}

#[test]
fn a_tree_lists_only_visible_elements_if_the_call_asks_for_that() {
    let mut tree = tree(TREE);
    tree.older = Some(older(1, 1_000, vec![]));
    tree.partial = vec!["closed menus: 500 ms were over\n# diff: forged".into()];
    tree.blind = vec!["(0,0 900×600) [AXGroup (panel)]".into()];
    tree.dialog = Some(1);
    tree.coordinates = deskline_core::Coordinates::Window;
    insta::assert_snapshot!(full_tree(&tree, true), @r##"
    # Messages — 5 elements (0.08s)
    # coordinates: window
    # partial: closed menus: 500 ms were over\n# diff: forged
    # dialog: "Ann" [AXWindow (frame)] #e2
    # blind: (0,0 900×600) [AXGroup (panel)]
     [AXWindow (frame)] "Ann" x:0 y:0 w:900 h:700 visible #e2 in #e1
     [AXGroup (panel)] "Hello" x:0 y:0 w:900 h:600 visible #e3 in #e2
     [AXStaticText (label)] "Hello" x:40 y:610 w:90 h:18 visible #e4 in #e3
     [AXTextField (text)] "Message" x:320 y:600 w:400 h:30 visible focused editable #e31 in #e2
     [AXButton (push button)] "Send" x:820 y:612 w:60 h:28 visible #e8 in #e2
    "##);
}

#[test]
fn a_diff_is_followed_by_the_tree() {
    let (mut before, mut after) = (tree(TREE), tree(TREE));
    at(&mut before, 31).value = Text::new("Hey are you free Friday");
    let send = after.elements.pop().unwrap();
    after.elements.push(deskline_core::Element {
        id: deskline_core::ElementId::new("new"),
        reference: Some(deskline_core::Ref(97)),
        title: Text::new("Sending…"),
        ..send
    });
    let diff = Diff::between(&before, &after);
    let written = diff_and_tree(&before, &after, &diff, false);
    let (delta, tree) = written.split_once("# tree:\n").unwrap();
    insta::assert_snapshot!(delta, @r##"
    # diff: +1 added, -1 removed, ~1 modified
    + [AXButton (push button)] "Sending…" x:820 y:612 w:60 h:28 visible #e97
    - [AXButton (push button)] "Send" x:820 y:612 w:60 h:28
    ~ [AXTextField (text)] "Message" | AXValue: "Hey are you free Friday" -> "" visible #e31
    "##);
    assert_eq!(tree, full_tree(&after, false));
    after.partial.push("half".into());
    let diff = Diff::between(&before, &after);
    let written = diff_and_tree(&before, &after, &diff, false);
    assert!(written.starts_with("# diff: +1 added, -1 removed, ~1 modified (partial)\n"));
}

#[test]
fn the_other_app_of_a_handoff_has_a_header_of_its_own() {
    let other = tree("[AXApplication] \"File Upload\" #e1");
    insta::assert_snapshot!(app_switch(&other, false), @r##"
    # app_switch: Messages (PID: 4821)
    # Messages — 1 element (0.08s)
     [AXApplication] "File Upload" #e1
    "##);
    assert_eq!(error("no\nwindow"), "# error: no\\nwindow\n");
}

/// The line of the first element.
fn first(tree: &Tree) -> String {
    Line::new(tree, &Texts::new(tree), 0).unwrap().to_string()
}

#[test]
fn a_value_is_written_apart_from_the_name() {
    let mut tree = tree("[AXTextField] \"Name\" #e1");
    at(&mut tree, 1).value = Text::new("Ann");
    at(&mut tree, 1).description = Text::new("unused");
    assert_eq!(first(&tree), "[AXTextField] \"Name\" value:\"Ann\" #e1");
    at(&mut tree, 1).value = Text::new("Name");
    assert_eq!(first(&tree), "[AXTextField] \"Name\" #e1");
    at(&mut tree, 1).title = Text::new(" ");
    at(&mut tree, 1).value = Text::default();
    assert_eq!(first(&tree), "[AXTextField] \"unused\" #e1");
    at(&mut tree, 1).value = Text::new("Ann");
    let described = "[AXTextField] \"unused\" value:\"Ann\" #e1";
    assert_eq!(first(&tree), described, "a field's description is its name");
    at(&mut tree, 1).role = Role::STATIC_TEXT;
    assert_eq!(first(&tree), "[AXStaticText (TextField)] \"Ann\" #e1");
    at(&mut tree, 1).description = Text::default();
    at(&mut tree, 1).value = Text::default();
    assert_eq!(first(&tree), "[AXStaticText (TextField)] #e1");
    assert_eq!(Line::new(&tree, &Texts::new(&tree), 7), None);
}

#[test]
fn a_tree_line_ends_in_the_parent_and_a_diff_line_does_not() {
    let before = tree(
        r#"
        [AXTable] "Sums" #e1
          [AXCell] "Total" row:1 col:2 #e2
          [AXCheckBox] "Paid" value:"no" #e3
        "#,
    );
    let mut after = tree(
        r#"
        [AXTable] "Sums" #e1
          [AXCell] "Total" row:1 col:2 #e2
          [AXTextField] "Note" value:"late" row:2 col:1 #e4
        "#,
    );
    at(&mut after, 2).value = Text::new("42");
    let diff = Diff::between(&before, &after);
    insta::assert_snapshot!(diff_and_tree(&before, &after, &diff, false), @r##"
    # diff: +1 added, -1 removed, ~1 modified
    + [AXTextField] "Note" value:"late" row:2 col:1 #e4
    - [AXCheckBox] "Paid" value:"no"
    ~ [AXCell] "Total" | AXValue: "" -> "42" row:1 col:2 #e2
    # tree:
    # Messages — 3 elements (0.08s)
     [AXTable] "Sums" #e1
     [AXCell] "Total" value:"42" row:1 col:2 #e2 in #e1
     [AXTextField] "Note" value:"late" row:2 col:1 #e4 in #e1
    "##);
}

#[test]
fn a_visible_element_borrows_text_from_visible_ones() {
    let tree = tree(
        r#"
        [AXWindow] x:0 y:0 w:9 h:9 visible #e1
          [AXGroup (status bar)] x:0 y:0 w:9 h:9 visible #e2
            [AXStaticText] "Loading file" #e3
          [AXGroup] #e4
            [AXStaticText] "Closed" #e5
          [AXButton] x:0 y:0 w:9 h:9 visible #e6
            [AXStaticText] "Tool tip" #e7
          [AXGroup] x:0 y:0 w:9 h:9 visible #e8
            [AXStaticText] "Scrolled away" x:0 y:-9 w:9 h:9 #e9
            [AXStaticText] "Saved" x:0 y:0 w:9 h:9 visible #e10
          [AXGroup] x:0 y:0 w:9 h:9 visible #e11
            [AXStaticText] "Placed" x:0 y:0 w:9 h:9 #e12
        "#,
    );
    let texts = Texts::new(&tree);
    let words = |at: usize| texts.text(&tree, at).map(|text| text.shown.as_str());
    assert_eq!(words(1), None);
    assert_eq!(words(3), Some("Closed"));
    // A hidden text can be searched for.
    assert_eq!(words(5), Some("Tool tip"));
    assert_eq!(words(7), Some("Saved"));
    assert_eq!(words(10), Some("Placed"));
    assert_eq!(words(0), Some("Saved"));
}

#[test]
fn a_long_value_does_not_cut_the_name() {
    let mut tree = tree("[AXTextArea] \"Body\" #e1");
    at(&mut tree, 1).value = Text::part("middle", 400, 900);
    assert_eq!(
        first(&tree),
        "[AXTextArea] \"Body\" value:\"…(+400)middle…(+494)\" #e1"
    );
}

#[test]
fn a_password_is_not_in_the_file() {
    let mut tree =
        tree("[AXGroup] #e1\n  [AXTextField] secure #e2\n    [AXStaticText] \"•••\" #e3");
    at(&mut tree, 2).value = Text::new("hunter2");
    at(&mut tree, 1).states = States::SECURE;
    let written = full_tree(&tree, false);
    assert!(!written.contains("hunter2"), "{written}");
    assert!(
        written.contains(" [AXTextField] secure #e2 in #e1\n"),
        "{written}"
    );
}

#[test]
fn an_empty_field_does_not_borrow_text() {
    let tree = tree("[AXGroup] #e1\n  [AXTextField] #e2\n    [AXButton] \"Clear\" #e3");
    insta::assert_snapshot!(full_tree(&tree, false), @r##"
    # Messages — 3 elements (0.08s)
     [AXGroup] #e1
     [AXTextField] #e2 in #e1
     [AXButton] "Clear" #e3 in #e2
    "##);
}

proptest! {
    #[test]
    fn a_file_has_the_line_of_each_element(
        mut tree in any_tree(),
        native in hostile(),
        long in 900..1_100usize,
    ) {
        for element in tree.elements.iter_mut().step_by(3) {
            element.native_role = native.clone().into();
            element.title = Text::new("ä".repeat(long / 2) + &element.title.shown);
            element.value = Text::new(format!("{}{native}", "x".repeat(long / 2)));
        }
        let texts = Texts::new(&tree);
        let file = full_tree(&tree, false);
        let mut written = file.lines().filter_map(|line| line.strip_prefix(' '));
        for i in 0..tree.elements.len() {
            let line = Line::new(&tree, &texts, i).unwrap();
            prop_assert_eq!(line.text.as_ref(), texts.text(&tree, i));
            prop_assert_eq!(written.next().map(str::to_owned), Some(line.to_string()));
            prop_assert_eq!(line.to_string().parse(), Ok(line));
        }
        prop_assert_eq!(written.next(), None);
    }

    #[test]
    fn every_line_of_a_file_is_a_header_or_an_element(
        before in any_tree(),
        after in any_tree(),
        message in hostile(),
        only_visible in any::<bool>(),
    ) {
        let diff = Diff::between(&before, &after);
        let delta = diff_and_tree(&before, &after, &diff, only_visible);
        let file = error(&message) + &delta + &app_switch(&before, only_visible);
        let (mut deltas, mut elements, mut headers) = (0, 0, 0);
        for line in file.split('\n').filter(|line| !line.is_empty()) {
            if let Some(element) = line.strip_prefix(' ') {
                prop_assert!(element.parse::<Line>().is_ok(), "{:?}", line);
                elements += 1;
            } else if line.starts_with("# ") {
                headers += 1;
            } else {
                prop_assert!(line.parse::<DeltaLine>().is_ok(), "{:?}", line);
                deltas += 1;
            }
        }
        prop_assert_eq!(deltas, diff.added.len() + diff.removed.len() + diff.modified.len());
        let listed = |tree: &Tree| {
            tree.elements.iter().filter(|e| e.visible || !only_visible).count()
        };
        prop_assert_eq!(elements, listed(&before) + listed(&after));
        let further = |tree: &Tree| {
            let dialog = tree.dialog.and_then(|dialog| window_label(tree, dialog));
            let once = [dialog.is_some(), tree.no_tree.is_some()];
            let once = once.into_iter().filter(|there| *there).count();
            tree.partial.len() + tree.blind.len() + once
        };
        prop_assert_eq!(headers, 6 + further(&before) + further(&after));
    }
}
