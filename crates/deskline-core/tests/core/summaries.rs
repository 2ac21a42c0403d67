use deskline_core::listing::{LateChanges, Listed, new_elements, text_changes, tree_elements};
use deskline_core::summary::{FIELDS, File, Handoff, LIMIT, counts, name_of};
use deskline_core::target::{gone, own_change, target};
use deskline_core::{Diff, States, Summary, Text, Tree};
use proptest::prelude::*;

use crate::fixture::{any_tree, at, hostile, tree};

/// A click, as in the README.
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
        target: Some("[AXButton (push button)] \"Send\" disabled #e42".into()),
        text_changes: vec!["'Hey are you free Friday' -> ''".into()].into(),
        visible_elements: vec!["[AXStaticText] \"Sending…\" (40,610 90×18) #e97".into()].into(),
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
    target: [AXButton (push button)] "Send" disabled #e42
    focus: "Messages" › [AXTextField] "Message" #e31
    text_changes:
      'Hey are you free Friday' -> ''
    visible_elements:
      [AXStaticText] "Sending…" (40,610 90×18) #e97
    "##);
}

#[test]
fn a_summary_prints_its_fields_in_a_fixed_order() {
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
            elements: vec!["[AXButton] \"Open\" (1,2 3×4) #e98".into()].into(),
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
    target: [AXButton (push button)] "Send" disabled #e42
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
fn an_error_is_printed_in_the_form_of_a_summary() {
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
        let place = "x:1000 y:1000 w:100 h:100";
        let name = "A name that is a good deal longer than fifty characters are";
        write!(
            lines,
            " [AXStaticText] \"{i}: {name}\" {place} visible #e{label}\n \
            [AXButton] \"{i} {name}\" {place} visible checked editable #e{button}\n",
        )
        .unwrap();
    }
    lines
}

#[test]
fn a_summary_has_the_hint_only_if_a_list_was_cut() {
    let mut summary = click();
    assert!(!summary.render().contains("hint:"));
    summary.visible_elements = vec!["[AXButton] \"x\"".repeat(20); 19].into();
    let cut = summary.render();
    assert!(
        cut.contains(" more, in the file)\n") && cut.contains("hint:"),
        "{cut}"
    );
    summary.visible_elements = tree_elements(&tree(&window_with(31)));
    let capped = summary.render();
    assert!(
        capped.ends_with("  … (+28 more, in the file)\n"),
        "1 button, 21 texts, and 6 that have no room: {capped}"
    );
    assert!(capped.contains("hint:"), "{capped}");
    let mut summary = click();
    summary.late_changes.counts = "6 added".into();
    summary.late_changes.elements = Listed {
        lines: vec!["[AXButton]".into(); 5],
        more: 1,
    };
    let late = summary.render();
    assert!(
        late.contains("  [AXButton]\n  … (+1 more, in the file)\n"),
        "{late}"
    );
    let mut summary = click();
    summary.steps = vec!["x".repeat(120); 25];
    let chain = summary.render();
    assert!(chain.contains("  … (+9 more)\n"), "{chain}");
}

#[test]
fn interactive_elements_come_first_and_each_kind_has_a_limit() {
    let full = tree(&window_with(50));
    let Listed { lines, more } = tree_elements(&full);
    assert_eq!((lines.len(), more), (40, 20 + 40));
    let role = |line: &String| line.split(' ').next().unwrap().to_owned();
    assert!(lines[..30].iter().all(|line| role(line) == "[AXButton]"));
    assert!(
        lines[30..]
            .iter()
            .all(|line| role(line) == "[AXStaticText]")
    );
    insta::assert_snapshot!(
        lines[0],
        @"[AXButton] \"0 A name that is a good deal longer than fifty ch…\" (1000,1000 100×100) \
            checked #e0"
    );
    let empty = tree("[AXWindow] x:0 y:0 w:999 h:999 visible\n");
    let added = new_elements(&empty, &full, &Diff::between(&empty, &full));
    assert_eq!((added.lines.len(), added.more), (30, 30 + 40));
    let hidden = tree_elements(&tree("[AXButton] \"Hidden\""));
    assert_eq!(hidden, Listed::default());
}

#[test]
fn a_label_inside_a_button_is_not_listed_beside_the_button() {
    let tree = tree("[AXButton] visible\n [AXStaticText] \"Send\" visible");
    assert_eq!(tree_elements(&tree).lines, ["[AXButton] \"Send\""]);
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
  [AXCell] "Tuesday" visible row:1 col:2 #e5
  [AXCell] visible #e6
 [AXRow] visible #e7
  [AXCheckBox] "Bob" visible #e8
"#,
    );
    let listed = new_elements(&before, &after, &Diff::between(&before, &after));
    let expected = [
        "[AXCheckBox] \"Bob\" #e8",
        "[AXRow] \"Ann\" #e2",
        "[AXCell] \"Tuesday\" row:1 col:2 #e5",
    ];
    assert_eq!(listed.lines, expected);
    assert_eq!(tree_elements(&after).lines, expected);
}

#[test]
fn a_spin_button_is_listed_with_its_value() {
    let tree = tree(
        r#"
        [AXWindow] visible #e1
          [AXStaticText] "Size" visible #e2
          [AXIncrementor (spin button)] "Size" x:1 y:2 w:3 h:4 visible focused value:"12" #e3
        "#,
    );
    let expected = [
        "[AXIncrementor] \"Size\" (1,2 3×4) focused value:\"12\" #e3",
        "[AXStaticText] \"Size\" #e2",
    ];
    assert_eq!(tree_elements(&tree).lines, expected);
}

#[test]
fn a_label_beside_an_element_of_the_same_text_is_not_listed() {
    let tree = tree(
        r#"
        [AXWindow] x:0 y:0 w:500 h:500 visible #e1
          [AXStaticText] "Owner:" x:10 y:10 w:60 h:20 visible #e2
          [AXTextField] "Owner" x:80 y:10 w:90 h:20 visible #e3
          [AXStaticText] "Bold" x:30 y:60 w:60 h:20 visible #e4
          [AXCheckBox] "Bold" x:10 y:60 w:15 h:20 visible #e5
          [AXStaticText] "Bold" x:10 y:300 w:60 h:20 visible #e6
        "#,
    );
    let expected = [
        "[AXTextField] \"Owner\" (80,10 90×20) #e3",
        "[AXCheckBox] \"Bold\" (10,60 15×20) #e5",
        "[AXStaticText] \"Bold\" (10,300 60×20) #e6",
    ];
    assert_eq!(tree_elements(&tree).lines, expected);
}

#[test]
fn texts_that_lie_on_one_line_are_listed_as_one() {
    let tree = tree(
        r#"
        [AXWebArea] x:0 y:0 w:500 h:500 visible #e1
          [AXStaticText] "Sent to " x:10 y:10 w:50 h:16 visible #e2
          [AXStaticText] "Ann" x:60 y:10 w:30 h:16 visible #e3
          [AXStaticText] "." x:90 y:10 w:4 h:16 visible #e4
          [AXStaticText] "Yesterday" x:300 y:10 w:60 h:16 visible #e5
          [AXStaticText] "Below" x:10 y:26 w:60 h:16 visible #e6
        "#,
    );
    let expected = [
        "[AXStaticText] \"Sent to Ann.\" (10,10 84×16) #e2",
        "[AXStaticText] \"Yesterday\" (300,10 60×16) #e5",
        "[AXStaticText] \"Below\" (10,26 60×16) #e6",
    ];
    assert_eq!(tree_elements(&tree).lines, expected);
}

#[test]
fn buttons_without_a_name_take_few_lines() {
    let boxes = " [AXButton] x:5 y:5 w:9 h:9 visible\n".repeat(30);
    let named =
        " [AXButton] \"Save\" x:5 y:5 w:9 h:9 visible\n [AXTextField] x:5 y:5 w:9 h:9 visible\n";
    let tree = tree(&format!(
        "[AXWindow] x:0 y:0 w:99 h:99 visible\n{boxes}{named}"
    ));
    let listed = tree_elements(&tree);
    assert_eq!((listed.lines.len(), listed.more), (5, 27));
    assert_eq!(listed.lines[3], "[AXButton] \"Save\" (5,5 9×9)");
}

#[test]
fn a_new_button_outside_the_view_is_listed() {
    let before = tree("[AXWindow] x:0 y:0 w:500 h:500 visible #e1");
    let after = tree(
        "[AXWindow] x:0 y:0 w:500 h:500 visible #e1\n [AXButton] \"Pay\" x:9 y:700 w:60 h:20 #e2",
    );
    let listed = new_elements(&before, &after, &Diff::between(&before, &after));
    assert_eq!(
        listed.lines,
        ["[AXButton] \"Pay\" (9,700 60×20) out of view #e2"]
    );
}

/// A browser's window: its toolbar before the page, as in its tree.
const BROWSER: &str = r#"
[AXWindow (frame)] "Shop" x:0 y:0 w:1000 h:800 visible #e1
  [AXToolbar] x:0 y:0 w:1000 h:80 visible #e2
    [AXButton] "Reload" visible #e3
    [AXTextField] "Address" visible #e4
  [AXWebArea] "Shop" x:0 y:80 w:1000 h:720 visible #e5
    [AXButton] "Buy" visible #e6
    [AXGroup] visible #e7
"#;

#[test]
fn the_page_comes_before_the_toolbar_of_its_browser() {
    let refs = |listed: Listed| -> Vec<String> {
        let lines = listed.lines.iter();
        lines
            .map(|l| l.split(' ').next_back().unwrap().to_owned())
            .collect()
    };
    assert_eq!(refs(tree_elements(&tree(BROWSER))), ["#e6", "#e3", "#e4"]);
    // A preview in a mail program's window is not the window's main part.
    let small = BROWSER.replace("h:720", "h:300");
    assert_eq!(refs(tree_elements(&tree(&small))), ["#e3", "#e4", "#e6"]);
    // Elements that the action added come before those that only came into view.
    let before = tree(&BROWSER.replace("\"Reload\" visible", "\"Reload\""));
    let before = Tree {
        elements: before.elements[..6].to_vec(),
        ..before
    };
    let mut after = tree(BROWSER);
    after.elements[2].visible = true;
    after.elements[6] = tree("[AXLink] \"Basket\" visible #e7").elements[0].clone();
    after.elements[6].parent = Some(4);
    let diff = Diff::between(&before, &after);
    assert_eq!(refs(new_elements(&before, &after, &diff)), ["#e7", "#e3"]);
}

#[test]
fn a_browser_s_bars_get_few_lines_beside_its_page() {
    let (bar, page) = BROWSER.split_once("  [AXWebArea]").unwrap();
    let tabs: String = (20..60).fold(String::new(), |all, i| {
        all + &format!("    [AXTab] \"Tab {i}\" visible #e{i}\n")
    });
    let listed = tree_elements(&tree(&format!("{bar}{tabs}  [AXWebArea]{page}")));
    assert_eq!((listed.lines.len(), listed.more), (1 + 10, 32));
    let alone = tree_elements(&tree(&format!("{bar}{tabs}")));
    assert_eq!((alone.lines.len(), alone.more), (30, 12));
}

#[test]
fn a_target_is_shown_with_state_and_value_and_twins_with_their_container() {
    let mut tree = tree(
        r#"
        [AXWindow] "Orders" visible #e1
          [AXCheckBox (check box)] "Paid" x:1 y:2 w:3 h:4 visible checked #e2
          [AXTextArea (text)] "Note" visible focused editable #e3
          [AXRow] visible #e4
            [AXStaticText] "Ann" visible #e5
            [AXButton (push button)] "Delete" visible #e6
          [AXRow] visible #e7
            [AXStaticText] "Bob" visible #e8
            [AXButton (push button)] "Delete" visible disabled #e9
          [AXTextField] visible secure #e10
        "#,
    );
    let line = |tree: &Tree, index: usize| target(tree, index, None).unwrap();
    insta::assert_snapshot!(line(&tree, 1), @r##"[AXCheckBox] "Paid" checked #e2"##);
    insta::assert_snapshot!(line(&tree, 8), @"[AXButton (push button)] \"Delete\" disabled #e9 in \
        [AXRow] \"Bob\" #e7");
    let was = tree.elements[2].clone();
    at(&mut tree, 3).value = Text::new("a \"b\"\n".repeat(20) + "NEW" + &"z".repeat(300));
    let text = target(&tree, 2, Some(&was)).unwrap();
    let value = r#"a \"b\"\n"#.repeat(20) + "NEW" + &"z".repeat(14);
    let shown = format!(r#"[AXTextArea (text)] "Note" focused editable value:"{value}…" #e3"#);
    assert_eq!(text, shown);
    let was = tree.elements[2].clone();
    let longer = Text::new("a \"b\"\n".repeat(20) + "NEWER" + &"z".repeat(300));
    at(&mut tree, 3).value = longer;
    let text = target(&tree, 2, Some(&was)).unwrap();
    assert!(
        text.contains("NEWER") && text.chars().count() < 260,
        "{text}"
    );
    at(&mut tree, 10).value = Text::new("hunter2");
    assert_eq!(line(&tree, 9), "[AXTextField] secure #e10");
    assert_eq!(
        gone(&tree, 5).unwrap(),
        "gone: [AXButton (push button)] \"Delete\" #e6"
    );
}

#[test]
fn a_change_of_the_target_is_described() {
    let tree = tree("[AXCheckBox] \"Paid\"\n[AXComboBox] \"Size\" value:\"S\"");
    let [was, mut is] = [0, 0].map(|i| tree.elements[i].clone());
    assert_eq!(own_change(&was, &is), None);
    is.states = States::CHECKED | States::FOCUSED;
    assert_eq!(own_change(&was, &is).as_deref(), Some("checked"));
    assert_eq!(own_change(&is, &was).as_deref(), Some("not checked"));
    let [was, mut is] = [1, 1].map(|i| tree.elements[i].clone());
    is.value = Text::new("Very large");
    let changed = own_change(&was, &is);
    assert_eq!(changed.as_deref(), Some("value:\"Very large\""));
}

#[test]
fn a_handoff_with_many_elements_keeps_every_head_field() {
    let full = tree(&window_with(50));
    let summary = Summary {
        target: Some("t".repeat(900)),
        text_changes: vec![format!("'{}' -> '{}'", "x".repeat(60), "y".repeat(60)); 3].into(),
        visible_elements: tree_elements(&full),
        app_switch: Some(Handoff::new(&full)),
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
        "each list that was cut says what it leaves out:\n{text}"
    );
    let changes = text.lines().filter(|line| line.starts_with("  'xxx"));
    assert_eq!(changes.count(), 3);
}

#[test]
fn text_changes_put_values_first() {
    let before = tree("[AXTextField] \"a\" #e1\n[AXTextField] \"b\" #e2");
    let mut after = before.clone();
    at(&mut after, 1).title = Text::new("A");
    at(&mut after, 2).value = Text::new("B");
    let diff = Diff::between(&before, &after);
    assert_eq!(
        text_changes(&after, &diff).lines,
        ["'' -> 'B'", "'a' -> 'A'"]
    );
    assert_eq!(counts(&diff), "0 added, 0 removed, 2 modified");
}

#[test]
fn each_changed_row_is_reported_as_a_change_of_its_own() {
    let before = tree(
        r#"
        [AXTable] "open 1 open 2 open 3 open 4" #e1
          [AXRow] "open 1" #e2
            [AXCell] "open" #e3
          [AXRow] "open 2" #e4
            [AXCell] "open" #e5
          [AXRow] "open 3" #e6
            [AXCell] "open" #e7
          [AXRow] "open 4" #e8
            [AXCell] "open" #e9
        "#,
    );
    let mut after = before.clone();
    for e in &mut after.elements {
        e.title = Text::new(e.title.shown.replace("open", "done"));
    }
    let diff = Diff::between(&before, &after);
    let changes = text_changes(&after, &diff);
    assert_eq!(changes.lines, ["'open' -> 'done'"; 3]);
    assert_eq!(changes.more, 1);
    // A value that the name contains already is not repeated.
    let before = tree("[AXCell] \"42\" #e1");
    let mut after = before.clone();
    at(&mut after, 1).title = Text::new("43");
    at(&mut after, 1).value = Text::new("43");
    let mut was = before;
    at(&mut was, 1).value = Text::new("42");
    let diff = Diff::between(&was, &after);
    assert_eq!(text_changes(&after, &diff).lines, ["'42' -> '43'"]);
}

/// The name of the field that a line begins.
fn field_of(line: &str) -> &str {
    line.split_once(':').map_or("", |(name, _)| name)
}

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
            effect: present[4].then_some("changed"),
            expected: some(2),
            hint: present[4],
            steps: elements.clone(),
            target: some(2),
            focus: some(1),
            windows: some(4),
            notes: partial.clone(),
            no_tree: some(5),
            blind: more.clone(),
            late_changes: LateChanges {
                counts: texts[7].clone(),
                elements: Listed { lines: more.clone(), more: numbers.2 },
            },
            text_changes: partial.clone().into(),
            partial,
            picture_changed: some(2),
            visible_elements: elements.into(),
            app_switch: some(5).map(|app| Handoff {
                app, pid: 1, total: numbers.2, visible: 0, elements: more.into(),
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
        // Fields appear in order, each at most as often as the format allows.
        let mut last = 0;
        for line in text.split_terminator('\n').filter(|line| !line.starts_with("  ")) {
            let field = FIELDS.iter().position(|f| *f == field_of(line));
            prop_assert!(field.is_some_and(|f| f >= last), "{:?} in\n{}", line, text);
            last = field.unwrap_or(last);
        }
        let count = |field: &str| text.lines().filter(|l| field_of(l) == field).count();
        for field in &FIELDS {
            let most = match *field { "partial" => 2, "blind" | "note" => 3, _ => 1 };
            prop_assert!(count(field) <= most, "{} in\n{}", field, text);
        }
        prop_assert!(!text.replace('\n', "").contains(deskline_core::escape::is_hostile));
    }

    #[test]
    fn paths_are_not_cut(mut summary in any_summary(), name in "[a-z /]{1,200}") {
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
            target: target(&after, 0, before.elements.first()),
            text_changes: text_changes(&after, &diff),
            visible_elements: new_elements(&before, &after, &diff),
            app_switch: Some(Handoff::new(&before)),
            ..Summary::default()
        };
        prop_assert!(summary.render().chars().count() < LIMIT);
    }
}
