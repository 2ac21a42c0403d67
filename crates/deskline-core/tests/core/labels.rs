//! Which text names a field, and where cells are.

use deskline_core::Tree;

use crate::fixture::tree;

/// The name that the last element gets.
fn name_of_last(lines: &str) -> String {
    let mut tree = tree(lines);
    tree.label_fields();
    let last = tree.elements.last().unwrap();
    last.title.shown.clone()
}

#[test]
fn a_field_takes_the_text_above_or_beside_it() {
    let above = r#"
        [AXWebArea] x:0 y:0 w:800 h:600 visible
          [AXGroup (section)] x:8 y:100 w:700 h:18 visible
            [AXStaticText] "Company" x:8 y:100 w:70 h:18 visible
          [AXTextField] x:8 y:118 w:150 h:22 visible editable
        "#;
    assert_eq!(name_of_last(above), "Company");
    let beside = r#"
        [AXGroup] x:0 y:0 w:800 h:600 visible
          [AXStaticText] "Name:" x:10 y:14 w:60 h:18 visible
          [AXTextField] x:80 y:10 w:150 h:26 visible editable value:"Ann"
        "#;
    assert_eq!(name_of_last(beside), "Name:");
    // The cell of a form that is laid out as a table; a text view in its scroll area.
    let row = r#"
        [AXRow] x:0 y:0 w:400 h:30 visible
          [AXCell] "Street" x:0 y:0 w:60 h:30 visible
          [AXCell] x:60 y:0 w:200 h:30 visible
            [AXTextField] x:62 y:4 w:190 h:22 visible editable
        "#;
    assert_eq!(name_of_last(row), "Street");
    let view = r#"
        [AXGroup] x:0 y:0 w:800 h:600 visible
          [AXStaticText] "Notes" x:10 y:10 w:60 h:18 visible
          [AXScrollArea] x:10 y:32 w:300 h:200 visible
            [AXScrollBar] x:300 y:32 w:10 h:200 visible
            [AXTextArea] x:10 y:32 w:290 h:200 visible editable
        "#;
    assert_eq!(name_of_last(view), "Notes");
}

#[test]
fn a_field_is_not_named_by_a_text_that_may_belong_elsewhere() {
    let field = "[AXTextField] x:8 y:118 w:150 h:22 visible editable";
    for other in [
        // None of these is a label: a sentence, a heading, a text too far above, one that is not
        // aligned, one to the right, a hidden one, one of another field.
        "[AXStaticText] \"Welcome to the shop!\" x:8 y:100 w:200 h:18 visible",
        "[AXHeading] \"Search\" x:8 y:100 w:200 h:18 visible",
        "[AXStaticText] \"Company\" x:8 y:60 w:70 h:18 visible",
        "[AXStaticText] \"Company\" x:90 y:100 w:70 h:18 visible",
        "[AXStaticText] \"Company\" x:170 y:120 w:70 h:18 visible",
        "[AXStaticText] \"Hidden\" x:8 y:100 w:70 h:18",
        "[AXGroup] x:8 y:98 w:90 h:20 visible\n   [AXLink] \"Help\" x:8 y:98 w:40 h:20 visible",
    ] {
        let lines = format!("[AXGroup] x:0 y:0 w:800 h:600 visible\n  {other}\n  {field}");
        assert_eq!(name_of_last(&lines), "", "{other}");
    }
    let taken = r#"
        [AXGroup] x:0 y:0 w:800 h:600 visible
          [AXStaticText] "Phone" x:8 y:10 w:60 h:20 visible
          [AXTextField] "Phone" x:70 y:10 w:60 h:20 visible editable
          [AXTextField] x:140 y:10 w:60 h:20 visible editable
        "#;
    assert_eq!(name_of_last(taken), "");
    let named = r#"
        [AXGroup] x:0 y:0 w:800 h:600 visible
          [AXStaticText] "Phone" x:8 y:10 w:60 h:20 visible
          [AXTextField] "Fax" x:70 y:10 w:60 h:20 visible editable
        "#;
    assert_eq!(name_of_last(named), "Fax");
}

fn cells(tree: &Tree) -> Vec<(String, u32, u32)> {
    let elements = tree.elements.iter();
    elements
        .filter_map(|e| Some((e.title.shown.clone(), e.cell?.row, e.cell?.column)))
        .collect()
}

#[test]
fn cells_get_the_row_and_column_numbers_of_their_table() {
    let lines = r#"
        [AXTable] "Ages"
          [AXRow (table row)]
            [AXButton (column header)] "Name"
            [AXButton (column header)] "Age"
          [AXGroup (section)]
            [AXRow (table row)]
              [AXCell] "Ann"
              [AXCell] "31"
            [AXRow (table row)]
              [AXCell] "Bob"
              [AXCell] "42"
        "#;
    let mut whole = tree(lines);
    whole.number_cells();
    let expected = [("Ann", 2, 1), ("31", 2, 2), ("Bob", 3, 1), ("42", 3, 2)];
    let expected = expected.map(|(name, row, column)| (name.to_owned(), row, column));
    assert_eq!(cells(&whole), expected);
    let mut part = tree(lines);
    part.elements[0].children_read = false;
    part.number_cells();
    assert_eq!(cells(&part), [], "the first rows may be missing");
    let mut spanned = tree(&lines.replace("              [AXCell] \"42\"\n", ""));
    spanned.number_cells();
    assert_eq!(cells(&spanned), [], "a cell takes up two columns");
}

/// The name and the value of a combo box that its toolkit names by the choice "red".
fn combo_box(label: &str, inside: &str) -> (String, String) {
    let mut tree = tree(&format!(
        r#"
        [AXGroup] x:0 y:0 w:800 h:600 visible
          {label}
          [AXComboBox] "red" x:80 y:10 w:90 h:26 visible
        {inside}
        "#
    ));
    tree.label_fields();
    let mut elements = tree.elements.iter();
    let combo = elements
        .find(|e| e.role == deskline_core::Role::COMBO_BOX)
        .unwrap();
    (combo.title.shown.clone(), combo.value.shown.clone())
}

#[test]
fn a_combo_box_is_not_named_by_its_choice() {
    let label = "[AXStaticText] \"Colour\" x:10 y:14 w:60 h:18 visible";
    let list =
        "    [AXMenu]\n              [AXMenuItem] \"blue\"\n              [AXMenuItem] \"red\"";
    let both = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
    assert_eq!(combo_box(label, list), both(("Colour", "red")));
    assert_eq!(combo_box("", list), both(("", "red")));
    let above = |text: &str| format!("[AXStaticText] \"{text}\" x:80 y:-10 w:60 h:18 visible");
    assert_eq!(combo_box(&above("idle"), list), both(("", "red")));
    assert_eq!(combo_box(&above("Colour:"), list), both(("Colour:", "red")));
    // The combo box has another chosen item, or shows its name as a text.
    assert_eq!(
        combo_box(label, &list.replace("red", "green")),
        both(("red", ""))
    );
    assert_eq!(
        combo_box(label, "    [AXStaticText] \"red\""),
        both(("red", ""))
    );
}
