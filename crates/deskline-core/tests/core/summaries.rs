use deskline_core::summary::{
    File, Handoff, LIMIT, LateChanges, counts, name_of, new_elements, text_changes, tree_elements,
};
use deskline_core::{Diff, Summary, Text};
use proptest::prelude::*;

use crate::fixture::{any_tree, at, hostile, tree};

/// The example of the contract.
fn click() -> Summary {
    let base = "/tmp/deskline/1776457217931_click_and_traverse";
    Summary {
        pid: Some(4821),
        app: Some("Messages".into()),
        file: Some(File {
            path: format!("{base}.txt"),
            bytes: 27_343,
            elements: 451,
        }),
        screenshot: Some(format!("{base}.png")),
        summary: "Clicked 'Send' [AXButton]. 2 added, 1 removed, 3 modified. Settled in 84 ms."
            .into(),
        focus: Some("\"Messages\" › [AXTextField] \"Message\" #e31".into()),
        text_changes: vec![("Hey are you free Friday".into(), String::new())],
        visible_elements: vec!["[AXStaticText] \"Sending…\" (40,610 90×18) #e97".into()],
        ..Summary::default()
    }
}

#[test]
fn a_summary_is_as_specified() {
    insta::assert_snapshot!(click().render(), @r##"
    status: success
    pid: 4821
    app: Messages
    file: /tmp/deskline/1776457217931_click_and_traverse.txt
    file_size: 27343 bytes (451 elements)
    screenshot: /tmp/deskline/1776457217931_click_and_traverse.png
    summary: Clicked 'Send' [AXButton]. 2 added, 1 removed, 3 modified. Settled in 84 ms.
    focus: "Messages" › [AXTextField] "Message" #e31
    text_changes:
      'Hey are you free Friday' -> ''
    visible_elements:
      [AXStaticText] "Sending…" (40,610 90×18) #e97
    "##);
}

#[test]
fn every_field_has_its_place() {
    let summary = Summary {
        dialog: Some("\"Choose a file\" [AXWindow (dialog)] #e9".into()),
        partial: vec!["closed menus: 500 ms were over".into()],
        blind: vec!["(40,90 600×400) [AXGroup (drawing area)]".into()],
        hint: true,
        steps: vec!["1 done: Clicked 'Send' [AXButton]".into()],
        windows: Some("\"Messages\" #e2 (front), \"Preferences\" #e77".into()),
        notes: vec!["no guard: the person's input was not kept out".into()],
        app_switch: Some(Handoff {
            app: "File Upload".into(),
            pid: 5120,
            total: 212,
            visible: 180,
            elements: vec!["[AXButton] \"Open\" (1,2 3×4) #e98".into()],
        }),
        ..click()
    };
    insta::assert_snapshot!(summary.render(), @r##"
    status: success
    pid: 4821
    app: Messages
    dialog: "Choose a file" [AXWindow (dialog)] #e9
    partial: closed menus: 500 ms were over
    blind: (40,90 600×400) [AXGroup (drawing area)]: look at the screenshot there
    file: /tmp/deskline/1776457217931_click_and_traverse.txt
    file_size: 27343 bytes (451 elements)
    hint: grep -n 'AXButton' /tmp/deskline/1776457217931_click_and_traverse.txt
    screenshot: /tmp/deskline/1776457217931_click_and_traverse.png
    summary: Clicked 'Send' [AXButton]. 2 added, 1 removed, 3 modified. Settled in 84 ms.
    steps:
      1 done: Clicked 'Send' [AXButton]
    note: no guard: the person's input was not kept out
    focus: "Messages" › [AXTextField] "Message" #e31
    windows: "Messages" #e2 (front), "Preferences" #e77
    text_changes:
      'Hey are you free Friday' -> ''
    visible_elements:
      [AXStaticText] "Sending…" (40,610 90×18) #e97
    app_switch: File Upload (PID: 5120) is now frontmost
    app_switch_elements: 212 total, 180 visible
    app_switch_visible_elements:
      [AXButton] "Open" (1,2 3×4) #e98
    "##);
}

#[test]
fn an_error_has_the_same_form() {
    let summary = Summary {
        error: Some("Cancelled: the user pressed Esc during click_and_traverse".into()),
        pid: Some(4821),
        ..Summary::default()
    };
    insta::assert_snapshot!(summary.render(), @r##"
    status: error
    error: Cancelled: the user pressed Esc during click_and_traverse
    pid: 4821
    "##);
}

#[test]
fn a_path_with_a_space_is_quoted_for_the_shell() {
    let mut summary = click();
    summary.hint = true;
    summary.file.as_mut().unwrap().path = "/tmp/it's mine/1.txt".into();
    let hint = r"hint: grep -n 'AXButton' '/tmp/it'\''s mine/1.txt'";
    assert!(summary.render().contains(hint));
}

/// A window with `n` buttons, `n` labels and a field.
fn window_with(n: usize) -> String {
    use std::fmt::Write as _;
    let mut lines = String::from("[AXWindow] x:0 y:0 w:999 h:999 visible\n");
    for i in 0..n {
        let (button, label) = (i * 2, i * 2 + 1);
        let name = "A name that is a good deal longer than fifty characters are";
        write!(
            lines,
            " [AXStaticText] \"{i} {name}\" x:1000 y:1000 w:100 h:100 visible #e{label}\n [AXButton] \"{i} {name}\" x:1000 y:1000 w:100 h:100 visible checked editable #e{button}\n",
        )
        .unwrap();
    }
    lines
}

#[test]
fn the_hint_stands_where_a_list_was_cut() {
    let mut summary = click();
    assert!(!summary.render().contains("hint:"));
    summary.visible_elements = vec!["[AXButton] \"x\"".repeat(20); 19];
    let cut = summary.render();
    assert!(cut.contains("more)") && cut.contains("hint:"), "{cut}");
    summary.visible_elements = tree_elements(&tree(&window_with(31)));
    let capped = summary.render();
    assert!(capped.contains("… (+1 more that can be acted on, in the file)"));
    assert!(capped.contains("hint:"), "{capped}");
}

#[test]
fn interactive_elements_come_first_and_both_have_their_caps() {
    let full = tree(&window_with(50));
    let listed = tree_elements(&full);
    assert_eq!(listed.len(), 41);
    assert!(
        listed[..30]
            .iter()
            .all(|line| line.starts_with("[AXButton] "))
    );
    assert!(
        listed[31..]
            .iter()
            .all(|line| line.starts_with("[AXStaticText] "))
    );
    assert!(listed[30].starts_with("… (+20 more"), "{}", listed[30]);
    insta::assert_snapshot!(
        listed[0],
        @r##"[AXButton] "0 A name that is a good deal longer than fifty ch…" (1000,1000 100×100) checked #e0"##
    );
    let empty = tree("[AXWindow] x:0 y:0 w:999 h:999 visible\n");
    let added = new_elements(&empty, &full, &Diff::between(&empty, &full));
    assert_eq!(added.len(), 31);
    assert!(tree_elements(&tree("[AXButton] \"Hidden\"")).is_empty());
}

#[test]
fn a_label_in_a_button_is_not_listed_beside_it() {
    let tree = tree("[AXButton] visible\n [AXStaticText] \"Send\" visible");
    assert_eq!(tree_elements(&tree), ["[AXButton] \"Send\""]);
    assert_eq!(name_of(&tree, 0), "'Send' [AXButton]");
}

#[test]
fn rows_and_cells_that_came_into_view_are_listed_once() {
    let table = |rows: &str| {
        tree(&format!(
            "[AXTable] x:0 y:0 w:300 h:700 visible #e1\n{rows}"
        ))
    };
    let before = table("");
    let after = table(
        r#"
 [AXRow] visible #e2
  [AXCell] visible #e3
   [AXStaticText] "Ann" visible #e4
  [AXCell] "Tuesday" visible #e5
  [AXCell] visible #e6
 [AXRow] visible #e7
  [AXCheckBox] "Bob" visible #e8
"#,
    );
    let listed = new_elements(&before, &after, &Diff::between(&before, &after));
    let expected = [
        "[AXCheckBox] \"Bob\" #e8",
        "[AXRow] \"Ann\" #e2",
        "[AXCell] \"Tuesday\" #e5",
    ];
    assert_eq!(listed, expected);
    // The list of a full tree has no rows or cells: a table would fill it.
    let listed = tree_elements(&after);
    let expected = ["[AXCheckBox] \"Bob\" #e8", "[AXStaticText] \"Ann\" #e4"];
    assert_eq!(listed, expected);
}

#[test]
fn a_crowded_handoff_keeps_every_head_field() {
    let full = tree(&window_with(50));
    let summary = Summary {
        text_changes: vec![("x".repeat(500), "y".repeat(500)); 9],
        visible_elements: tree_elements(&full),
        app_switch: Some(Handoff::of(&full)),
        ..click()
    };
    let text = summary.render();
    let length = text.chars().count();
    assert!((3_700..LIMIT).contains(&length), "{length}");
    assert!(text.contains("\napp_switch_elements: 101 total, 101 visible\n"));
    let more = text.lines().filter(|line| line.starts_with("  … (+"));
    assert_eq!(
        more.count(),
        2,
        "each list says what it leaves out:\n{text}"
    );
    let changes = text.lines().filter(|line| line.starts_with("  'xxx"));
    assert!(
        changes
            .clone()
            .all(|line| line.chars().count() == 2 + 62 + 4 + 62)
    );
    assert_eq!(changes.count(), 3);
}

#[test]
fn text_changes_put_values_first() {
    let before = tree("[AXTextField] \"a\" #e1\n[AXTextField] \"b\" #e2");
    let mut after = before.clone();
    at(&mut after, 1).title = Text::new("A");
    at(&mut after, 2).value = Text::new("B");
    let diff = Diff::between(&before, &after);
    let pairs = [(String::new(), "B".to_owned()), ("a".into(), "A".into())];
    assert_eq!(text_changes(&diff), pairs);
    assert_eq!(counts(&diff), "0 added, 0 removed, 2 modified");
}

const FIELDS: [&str; 23] = [
    "status: ",
    "error: ",
    "pid: ",
    "app: ",
    "dialog: ",
    "partial: ",
    "blind: ",
    "file: ",
    "file_size: ",
    "hint: ",
    "screenshot: ",
    "summary: ",
    "steps:",
    "note: ",
    "focus: ",
    "windows: ",
    "late_changes: ",
    "picture_changed: ",
    "text_changes:",
    "visible_elements:",
    "app_switch: ",
    "app_switch_elements: ",
    "app_switch_visible_elements:",
];

/// Hostile text of any length.
fn long() -> impl Strategy<Value = String> {
    (hostile(), 0..400usize).prop_map(|(text, times)| text.repeat(times))
}

prop_compose! {
    fn any_summary()(
        texts in prop::collection::vec(long(), 8),
        present in any::<[bool; 6]>(),
        lists in prop::array::uniform3(prop::collection::vec(long(), 0..50)),
        numbers in any::<(u32, u64, usize)>(),
    ) -> Summary {
        let some = |i: usize| present[i].then(|| texts[i].clone());
        let [partial, elements, more] = lists;
        Summary {
            error: some(0),
            pid: Some(numbers.0),
            app: some(1),
            dialog: some(2),
            file: some(3).map(|path| File { path, bytes: numbers.1, elements: numbers.2 }),
            screenshot: some(4),
            summary: texts[6].clone(),
            hint: present[4],
            steps: elements.clone(),
            focus: some(1),
            windows: some(4),
            notes: partial.clone(),
            blind: more.clone(),
            late_changes: LateChanges {
                counts: texts[7].clone(),
                elements: more.clone(),
            },
            text_changes: partial.iter().cloned().zip(more.clone()).collect(),
            partial,
            picture_changed: some(2),
            visible_elements: elements,
            app_switch: some(5).map(|app| Handoff {
                app, pid: 1, total: numbers.2, visible: 0, elements: more,
            }),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_summary_is_short_and_nothing_in_it_starts_a_field(summary in any_summary()) {
        let text = summary.render();
        prop_assert!(text.chars().count() < LIMIT);
        let status = if summary.error.is_some() { "status: error\n" } else { "status: success\n" };
        prop_assert!(text.starts_with(status));
        // Fields come in order, each at most as often as it may.
        let mut last = 0;
        for line in text.split_terminator('\n').filter(|line| !line.starts_with("  ")) {
            let field = FIELDS.iter().position(|f| line.starts_with(f));
            prop_assert!(field.is_some_and(|f| f >= last), "{:?} in\n{}", line, text);
            last = field.unwrap_or(last);
        }
        let count = |field: &str| text.lines().filter(|l| l.starts_with(field)).count();
        for (i, field) in FIELDS.iter().enumerate() {
            let most = match i { 5 => 2, 6 | 13 => 3, _ => 1 };
            prop_assert!(count(field) <= most, "{} in\n{}", field, text);
        }
        prop_assert!(!text.replace('\n', "").contains(deskline_core::escape::is_hostile));
    }

    #[test]
    fn paths_are_whole(mut summary in any_summary(), name in "[a-z /]{1,200}") {
        let path = format!("/{name}");
        summary.file = Some(File { path: path.clone(), bytes: 1, elements: 1 });
        summary.screenshot = Some(path.clone());
        let text = summary.render();
        let file = format!("\nfile: {path}\n");
        let screenshot = format!("\nscreenshot: {path}\n");
        prop_assert!(text.contains(&file) && text.contains(&screenshot));
        prop_assert_eq!(text.contains("\napp_switch: "), summary.app_switch.is_some());
    }

    #[test]
    fn any_tree_has_a_summary(before in any_tree(), after in any_tree()) {
        let diff = Diff::between(&before, &after);
        let summary = Summary {
            summary: name_of(&after, 0),
            text_changes: text_changes(&diff),
            visible_elements: new_elements(&before, &after, &diff),
            app_switch: Some(Handoff::of(&before)),
            ..Summary::default()
        };
        prop_assert!(summary.render().chars().count() < LIMIT);
    }
}
