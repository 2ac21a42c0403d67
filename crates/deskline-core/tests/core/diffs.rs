use std::collections::BTreeMap;
use std::time::Instant;

use deskline_core::listing::text_changes;
use deskline_core::texts::own_text;
use deskline_core::{
    Attribute, Diff, Element, ElementId, Matching, Rect, Role, States, Text, Texts, Tree, Value,
};
use proptest::prelude::*;

use crate::fixture::{any_tree, at, tree};

const BEFORE: &str = r#"
[AXApplication] "Messages" #e1
  [AXWindow (frame)] "Ann" x:0 y:0 w:900 h:700 visible #e2
    [AXTable] x:0 y:0 w:300 h:700 visible #e3
      [AXRow (table row)] x:0 y:0 w:300 h:20 visible #e4
        [AXCell (table cell)] "Ann" x:0 y:0 w:300 h:20 visible #e5
      [AXScrollBar] x:290 y:0 w:10 h:700 visible #e6
    [AXTextField (text)] "Message" x:320 y:600 w:400 h:30 visible #e7
    [AXButton (push button)] "Send" x:820 y:612 w:60 h:28 visible #e8
"#;

/// The diff in short: the refs added, removed and modified.
fn rendered(before: &Tree, after: &Tree) -> String {
    let diff = Diff::between(before, after);
    let refs = |tree: &Tree, found: &[usize]| -> Vec<String> {
        let id = |&i: &usize| tree.elements[i].id.as_str().to_owned();
        found.iter().map(id).collect()
    };
    let changed: Vec<usize> = diff.modified.iter().map(|m| m.after).collect();
    format!(
        "+{:?} -{:?} ~{:?}",
        refs(after, &diff.added),
        refs(before, &diff.removed),
        refs(after, &changed)
    )
    .replace('"', "")
}

/// `BEFORE` with more lines at the end.
fn with(more: &str) -> Tree {
    tree(&format!("{BEFORE}{more}"))
}

#[test]
fn moves_are_not_reported() {
    let mut after = tree(BEFORE);
    for element in &mut after.elements {
        element.extents = element.extents.map(|r| r.offset(5, 5));
        element.visible = false;
    }
    assert_eq!(rendered(&tree(BEFORE), &after), "+[] -[] ~[]");
}

#[test]
fn what_moves_in_a_window_is_counted_and_the_window_is_not() {
    let before = tree(BEFORE);
    let mut after = before.clone();
    // A window manager that ends takes its frame from the window, and moves what is in it.
    after.elements[1].extents = Some(Rect::at(1, 24, 900, 676));
    for element in &mut after.elements[2..] {
        element.extents = element.extents.map(|r| r.offset(1, 24));
    }
    let moved = |after: &Tree| Diff::between(&before, after).moved(&before, after);
    assert_eq!(moved(&after), 0);
    after.elements[7].extents = Some(Rect::at(700, 636, 60, 28));
    assert_eq!(moved(&after), 1);
}

#[test]
fn a_row_that_moved_is_not_removed_and_added() {
    let row = |name: &str, reference: u32| {
        format!("[AXRow] \"{name}\" x:0 y:0 w:9 h:9 visible #e{reference}\n")
    };
    let before = tree(&(row("Ann", 1) + &row("Bob", 2) + &row("Cy", 3)));
    let after = tree(&(row("Cy", 3) + &row("Ann", 1) + &row("Bob", 2)));
    assert_eq!(rendered(&before, &after), "+[] -[] ~[]");
}

#[test]
fn scroll_bars_and_their_parts_are_not_reported() {
    let parts = "    [AXScrollBar] \"h\" visible #e20\n      [AXButton] \"Line up\" visible #e21\
        \n      [AXValueIndicator] \"7\" visible #e22\n    [AXPageButton] \"x\" #e23\
        \n    [AXArrowButton] \"x\" #e24\n";
    assert_eq!(rendered(&tree(BEFORE), &with(parts)), "+[] -[] ~[]");
    assert_eq!(rendered(&with(parts), &tree(BEFORE)), "+[] -[] ~[]");
    let mut after = tree(BEFORE);
    at(&mut after, 6).value = Text::new("0.5");
    assert_eq!(rendered(&tree(BEFORE), &after), "+[] -[] ~[]");
}

#[test]
fn empty_rows_cells_columns_and_menus_are_not_reported() {
    let empty = "    [AXRow] visible #e20\n      [AXCell] visible #e21\
        \n        [AXGroup] visible #e22\n    [AXColumn] #e23\n    [AXMenu] #e24\n";
    assert_eq!(rendered(&tree(BEFORE), &with(empty)), "+[e22] -[] ~[]");
    let full = "    [AXRow] visible #e20\n      [AXCell] visible #e21\
        \n        [AXStaticText] \"Bob\" visible #e22\n";
    assert_eq!(
        rendered(&tree(BEFORE), &with(full)),
        "+[e20, e21, e22] -[] ~[]"
    );
    assert_eq!(
        rendered(&with(full), &tree(BEFORE)),
        "+[] -[e20, e21, e22] ~[]"
    );
}

#[test]
fn a_cell_that_becomes_empty_is_reported() {
    let mut after = tree(BEFORE);
    at(&mut after, 5).title = Text::default();
    assert_eq!(rendered(&tree(BEFORE), &after), "+[] -[] ~[e5]");
}

#[test]
fn a_change_of_each_attribute_is_reported() {
    let mut after = tree(BEFORE);
    let button = at(&mut after, 8);
    button.value = Text::new("v");
    button.title = Text::new("t");
    button.description = Text::new("d");
    button.states = States::FOCUSED
        | States::SELECTED
        | States::CHECKED
        | States::MIXED
        | States::EXPANDED
        | States::DISABLED;
    let diff = Diff::between(&tree(BEFORE), &after);
    let changes = &diff.modified[0].changes;
    let named: Vec<_> = changes.iter().map(|change| change.attribute).collect();
    assert_eq!(named, Attribute::ALL);
    assert_eq!(changes[5].old, Value::Flag(false));
    assert_eq!(changes[5].new, Value::Mixed);
    assert_eq!(changes[7].old, Value::Flag(true), "enabled is not disabled");
}

#[test]
fn a_text_that_differs_beyond_the_cut_is_modified() {
    let (mut before, mut after) = (tree(BEFORE), tree(BEFORE));
    at(&mut before, 7).value = Text::cut("start", 2_000);
    at(&mut after, 7).value = Text::cut("start", 2_001);
    assert_eq!(rendered(&before, &after), "+[] -[] ~[e7]");
}

#[test]
fn a_secret_is_never_reported() {
    let (mut before, mut after) = (tree(BEFORE), tree(BEFORE));
    at(&mut before, 7).value = Text::new("hunter2");
    at(&mut after, 7).value = Text::new("hunter3");
    at(&mut after, 7).states = States::SECURE;
    assert_eq!(rendered(&before, &after), "+[] -[] ~[]");
}

#[test]
fn unread_elements_are_neither_added_nor_removed() {
    let hidden = "    [AXGroup] \"more\" #e20\n      [AXButton] \"Call\" #e21\n";
    let mut partly = tree(BEFORE);
    at(&mut partly, 2).children_read = false;
    partly.partial = vec!["the window".into()];
    assert_eq!(rendered(&partly, &with(hidden)), "+[] -[] ~[]");
    assert_eq!(rendered(&with(hidden), &partly), "+[] -[] ~[]");
    assert!(Diff::between(&partly, &with(hidden)).partial);
    // Everywhere else both traversals have read all children.
    let mut partly = tree(BEFORE);
    at(&mut partly, 3).children_read = false;
    assert_eq!(rendered(&partly, &with(hidden)), "+[e20, e21] -[] ~[]");
}

/// A list whose visible rows alone are read.
fn list(rows: &[u32]) -> Tree {
    let head = "[AXList] \"Names\" x:0 y:0 w:99 h:60 visible #e1\n".to_owned();
    let line = |(i, row): (usize, &u32)| {
        let y = i * 20;
        format!(" [AXRow] \"Row {row}\" x:0 y:{y} w:99 h:20 visible #e{row}\n")
    };
    let lines: Vec<String> = rows.iter().enumerate().map(line).collect();
    let mut list = tree(&(head + &lines.concat()));
    list.elements[0].children_read = false;
    list
}

#[test]
fn rows_scrolled_into_view_are_added_and_rows_scrolled_out_are_not_removed() {
    // A row is inserted at the top, and pushes the last one out of view.
    let diff = rendered(&list(&[11, 12, 13]), &list(&[99, 11, 12]));
    assert_eq!(diff, "+[e99] -[] ~[]");
    // A scroll by two rows, and back.
    let diff = rendered(&list(&[11, 12, 13]), &list(&[13, 14, 15]));
    assert_eq!(diff, "+[e14, e15] -[] ~[]");
    let diff = rendered(&list(&[13, 14, 15]), &list(&[11, 12, 13]));
    assert_eq!(diff, "+[e11, e12] -[] ~[]");
    // A row that is read and hidden is not new.
    let mut after = list(&[11, 12, 13, 14]);
    at(&mut after, 14).visible = false;
    assert_eq!(rendered(&list(&[11, 12, 13]), &after), "+[] -[] ~[]");
    // While a list scrolls, each reading has new visible rows.
    let (before, after) = (list(&[11, 12]), list(&[12, 13]));
    let diff = Diff::between(&before, &after);
    assert_eq!(diff.changed_ids(&before, &after), [&ElementId::new("e13")]);
}

const PANEL: &str = r#"
[AXWindow] "Writer" x:0 y:0 w:900 h:700 visible #e1
  [AXGroup] "Sidebar" x:700 y:0 w:200 h:700 visible #e2
    [AXCheckBox] "Bold" x:700 y:0 w:99 h:20 visible checked #e3
    [AXCheckBox] "Italic" x:700 y:20 w:99 h:20 visible #e4
    [AXGroup] x:700 y:40 w:99 h:20 visible #e5
      [AXButton] "Colour" x:700 y:40 w:99 h:20 visible #e6
"#;

/// `PANEL` with everything below the sidebar re-created: e2 is now e12.
fn re_created() -> String {
    (2..=6).fold(PANEL.to_owned(), |lines, i| {
        lines.replace(&format!("#e{i}\n"), &format!("#e1{i}\n"))
    })
}

#[test]
fn re_created_elements_are_not_reported() {
    let (before, after) = (tree(PANEL), tree(&re_created()));
    assert_eq!(rendered(&before, &after), "+[] -[] ~[]");
    let diff = Diff::between(&before, &after);
    assert_eq!(diff.twins, [(1, 1), (2, 2), (3, 3), (4, 4), (5, 5)]);
    assert!(diff.appeared(&before, &after).is_empty());
    assert!(diff.changed_ids(&before, &after).is_empty());
}

#[test]
fn elements_re_created_with_a_change_are_reported() {
    let rendered_for =
        |from: &str, to: &str| rendered(&tree(PANEL), &tree(&re_created().replace(from, to)));
    assert_eq!(
        rendered_for("visible checked", "visible"),
        "+[] -[] ~[e13]",
        "it keeps its ref"
    );
    assert_eq!(rendered_for("\"Italic\"", "\"Bold\""), "+[e14] -[e4] ~[]");
    assert_eq!(rendered_for("y:20 ", "y:21 "), "+[e14] -[e4] ~[]");
    assert_eq!(
        rendered_for("AXCheckBox] \"Italic\"", "AXRadioButton] \"Italic\""),
        "+[e14] -[e4] ~[]"
    );
    // If a container has no match, its children have none either.
    assert_eq!(
        rendered_for("h:20 visible #e15", "h:21 visible #e15"),
        "+[e15, e16] -[e5, e6] ~[]"
    );
}

#[test]
fn an_element_that_may_have_left_the_view_is_not_paired_with_a_new_one() {
    // The last "Row 1" was scrolled away, and another one has its bounds.
    let row =
        |reference: u32| format!(" [AXRow] \"Row 1\" x:0 y:0 w:9 h:9 visible #e{reference}\n");
    let list = |reference: u32| tree(&format!("[AXList] visible #e1\n{}", row(reference)));
    let mut after = list(3);
    after.elements[0].children_read = false;
    assert_eq!(rendered(&list(2), &after), "+[e3] -[] ~[]");
    assert_eq!(rendered(&list(2), &list(3)), "+[] -[] ~[]");
}

#[test]
fn elements_that_look_the_same_are_paired_in_order() {
    let three = |first: u32| {
        let line = |i| format!("[AXGroup] x:0 y:0 w:9 h:9 visible #e{i}\n");
        tree(&(first..first + 3).map(line).collect::<String>())
    };
    let diff = Diff::between(&three(1), &three(11));
    assert_eq!(diff.twins, [(0, 0), (1, 1), (2, 2)]);
    // Only one of the two elements was really removed.
    let mut after = three(11);
    after.elements.pop();
    assert_eq!(rendered(&three(1), &after), "+[] -[e3] ~[]");
}

#[test]
fn an_id_that_occurs_twice_stands_for_two_elements() {
    let two = "[AXButton] \"A\" #e1\n[AXButton] \"B\" #e1\n";
    let three = format!("{two}[AXButton] \"C\" #e1\n");
    assert_eq!(rendered(&tree(two), &tree(two)), "+[] -[] ~[]");
    assert_eq!(rendered(&tree(two), &tree(&three)), "+[e1] -[] ~[]");
    assert_eq!(rendered(&tree(&three), &tree(two)), "+[] -[e1] ~[]");
}

#[test]
fn a_progress_bar_does_not_keep_an_app_from_settling() {
    let bar = "    [AXProgressIndicator] \"10 %\" visible #e20\n";
    let mut after = with(&bar.replace("10", "20"));
    let before = with(bar);
    let diff = Diff::between(&before, &after);
    assert_eq!(diff.modified.len(), 1);
    assert!(diff.changed_ids(&before, &after).is_empty());
    at(&mut after, 8).title = Text::new("Sent");
    let diff = Diff::between(&before, &after);
    assert_eq!(diff.changed_ids(&before, &after), [&ElementId::new("e8")]);
}

/// A tree of rows with a text each, three levels deep.
fn big(rows: usize) -> Tree {
    let template = tree("[AXStaticText (label)] \"x\" x:0 y:0 w:9 h:9 visible");
    let mut big = template.clone();
    big.elements = (0..rows)
        .map(|i| Element {
            id: ElementId::new(format!(":1.42/org/a11y/atspi/accessible/{i}")),
            parent: (i > 0).then(|| i.saturating_sub(1) / 10 * 10 / 2),
            title: Text::new(format!("row {i}")),
            ..template.elements[0].clone()
        })
        .collect();
    big
}

#[test]
fn two_trees_of_100_000_elements_are_compared_in_linear_time() {
    let before = big(100_000);
    let mut after = big(100_000);
    after.elements.drain(99_000..);
    for element in after.elements.iter_mut().step_by(1_000) {
        element.value = Text::new("changed");
    }
    let start = Instant::now();
    let diff = Diff::between(&before, &after);
    let took = start.elapsed();
    println!("100,000 elements compared in {took:?}");
    assert_eq!((diff.removed.len(), diff.modified.len()), (1_000, 99));
    // Comparing each element with each other one would take minutes.
    let limit = if cfg!(debug_assertions) { 5_000 } else { 300 };
    assert!(took.as_millis() < limit, "{took:?}");
}

/// How often each id occurs.
fn ids<'a>(elements: impl Iterator<Item = &'a Element>) -> BTreeMap<&'a str, usize> {
    let mut count = BTreeMap::new();
    elements.for_each(|e| *count.entry(e.id.as_str()).or_default() += 1);
    count
}

proptest! {
    #[test]
    fn a_tree_does_not_differ_from_itself(tree in any_tree()) {
        prop_assert!(Diff::between(&tree, &tree).is_empty());
    }

    #[test]
    fn a_diff_applied_to_the_earlier_tree_gives_the_later_tree(
        before in any_tree(),
        after in any_tree(),
    ) {
        let matching = Matching::between(&before, &after);
        let removed: Vec<usize> = matching.removed().collect();
        let kept = (0..before.elements.len()).filter(|i| !removed.contains(i));
        let added = matching.added().map(|i| &after.elements[i]);
        let applied = kept.map(|i| &before.elements[i]).chain(added);
        prop_assert_eq!(ids(applied), ids(after.elements.iter()));
        for (b, a) in matching.after.iter().enumerate() {
            if let Some(a) = *a {
                prop_assert_eq!(matching.before[a], Some(b));
                prop_assert_eq!(&before.elements[b].id, &after.elements[a].id);
            }
        }
    }

    #[test]
    fn elements_that_share_an_id_are_matched_in_order(
        before in any_tree(),
        other in any_tree(),
        same in 0..30usize,
    ) {
        // A common prefix, as after most changes, then anything.
        let mut after = before.clone();
        after.elements.truncate(same);
        after.elements.extend(other.elements);
        let nth = |tree: &Tree, i: usize| {
            let id = &tree.elements[i].id;
            let earlier = tree.elements[..i].iter().filter(|e| e.id == *id).count();
            (id.clone(), earlier)
        };
        let matching = Matching::between(&before, &after);
        for b in 0..before.elements.len() {
            let mut twins = 0..after.elements.len();
            let twin = twins.find(|&a| nth(&after, a) == nth(&before, b));
            prop_assert_eq!(matching.after[b], twin);
        }
        for a in 0..after.elements.len() {
            let mut twins = 0..before.elements.len();
            let twin = twins.find(|&b| nth(&before, b) == nth(&after, a));
            prop_assert_eq!(matching.before[a], twin);
        }
    }

    #[test]
    fn every_reported_change_is_true(before in any_tree(), after in any_tree()) {
        let matching = Matching::between(&before, &after);
        let diff = Diff::between(&before, &after);
        for &i in &diff.added {
            prop_assert_eq!(matching.before[i], None);
        }
        for &i in &diff.removed {
            prop_assert_eq!(matching.after[i], None);
        }
        for modified in &diff.modified {
            prop_assert_eq!(matching.before[modified.after], Some(modified.before));
            prop_assert!(!modified.changes.is_empty());
            prop_assert!(modified.changes.iter().all(|c| c.old != c.new));
        }
    }

    #[test]
    fn complete_trees_give_the_same_diff_in_both_directions(
        a in any_tree(),
        b in any_tree(),
    ) {
        let (there, back) = (Diff::between(&a, &b), Diff::between(&b, &a));
        // An element that is added only because it is visible is not removed in the reverse diff.
        for (diff, other, tree) in [(&there, &back, &b), (&back, &there, &a)] {
            prop_assert!(other.removed.iter().all(|i| diff.added.contains(i)));
            for i in &diff.added {
                prop_assert!(other.removed.contains(i) || tree.elements[*i].visible);
            }
        }
        let turned: Vec<_> = back.twins.iter().map(|&(b, a)| (a, b)).collect();
        let mut twins = there.twins.clone();
        twins.sort_unstable();
        prop_assert_eq!({ let mut t = turned; t.sort_unstable(); t }, twins);
        prop_assert_eq!(there.partial, back.partial);
    }

    #[test]
    fn everything_newly_visible_is_reported(a in any_tree(), b in any_tree()) {
        let diff = Diff::between(&a, &b);
        let texts = Texts::new(&b);
        for i in Matching::between(&a, &b).added() {
            let element = &b.elements[i];
            let quiet = matches!(element.role, Role::ROW | Role::CELL | Role::COLUMN | Role::MENU)
                && texts.source(i).is_none();
            let parent = element.parent.map(|p| b.elements[p].role);
            let scrolls = element.role.is_scroll_bar_part() || parent == Some(Role::SCROLL_BAR);
            if element.visible && !quiet && !scrolls {
                let twin = diff.twins.iter().any(|&(_, twin)| twin == i);
                prop_assert!(diff.added.contains(&i) != twin);
            }
        }
    }

    #[test]
    fn re_creating_every_element_is_no_change(mut tree in any_tree()) {
        tree.elements.iter_mut().for_each(|e| e.children_read = true);
        let mut anew = tree.clone();
        for element in &mut anew.elements {
            element.id = ElementId::new(format!("anew{}", element.id.as_str()));
        }
        let diff = Diff::between(&tree, &anew);
        prop_assert!(diff.is_empty());
        prop_assert_eq!(diff.twins.len(), tree.elements.len());
    }
}

#[test]
fn a_field_that_only_mirrors_the_focus_adds_no_text_change() {
    let tree = |focus: &str, bar: &str| {
        let state = |cell: &str| if cell == focus { "focused " } else { "" };
        let mut tree = tree(&format!(
            r#"
[AXWindow] "Table" #e1
  [AXTextArea] #e2
  [AXCell] "A1" {}#e3
  [AXCell] "B1" {}#e4
"#,
            state("A1"),
            state("B1")
        ));
        at(&mut tree, 2).value = Text::new(bar);
        at(&mut tree, 3).value = Text::new("Name");
        tree
    };
    let changes = |before: &Tree, after: &Tree| {
        let diff = Diff::between(before, after);
        assert!(!diff.is_empty());
        text_changes(after, &diff.without_mirrors(before, after)).lines
    };
    let (name, empty) = (tree("A1", "Name"), tree("B1", ""));
    assert_eq!(changes(&name, &empty), [""; 0]);
    assert_eq!(changes(&empty, &name), [""; 0]);
    // If the focus stays, or if the text is not the focused cell's, the change is reported.
    let expected = ["'Name' -> ''"];
    assert_eq!(changes(&name, &tree("A1", "")), expected);
    let expected = ["'Name' -> 'other'"];
    assert_eq!(changes(&name, &tree("B1", "other")), expected);
}

#[test]
fn a_text_that_was_not_read_has_not_changed() {
    let before = tree(r#"[AXTextField] "Name" #e1"#);
    let (mut read, mut unread) = (before.clone(), before);
    at(&mut read, 1).value = Text::new("Ann");
    at(&mut unread, 1).value = Text::unread();
    assert!(Diff::between(&read, &unread).is_empty());
    assert!(Diff::between(&unread, &read).is_empty());
    assert_eq!(own_text(&unread.elements[0]).unwrap().shown, "Name");
}

#[test]
fn a_re_created_element_is_found_by_role_text_and_rank() {
    let before = tree("[AXCell] \"a\" #e1\n[AXCell] \"b\" #e2\n[AXCell] \"b\" #e3\n[AXCell] #e4");
    let after =
        tree("[AXCell] \"b\" #e5\n[AXRow] \"a\" #e6\n[AXCell] \"b\" #e7\n[AXCell] \"a\" #e8");
    let again = |index| after.find_again(&before, index);
    assert_eq!(
        [again(0), again(1), again(2), again(3)],
        [Some(3), Some(0), Some(2), None]
    );
    assert_eq!(before.find_again(&before, 2), Some(2));
    let only = |index| after.only_like(&before, index);
    assert_eq!([only(0), only(1), only(3)], [Some(3), None, None]);
}
