use super::*;

fn node(kind: u32, name: &str, value: &str, children: &[usize]) -> Node {
    Node {
        role: Some(kind),
        name: name.into(),
        value: Text::new(value),
        children: children.to_vec(),
        children_read: true,
        ..Node::default()
    }
}

fn settled(mut nodes: Vec<Node>) -> Vec<String> {
    settle(&mut nodes);
    nodes.into_iter().map(|node| node.value.shown).collect()
}

#[test]
fn a_childs_text_is_inserted_at_its_mark() {
    let nodes = vec![
        node(role::SECTION, "", "Outer\u{fffc}end, \u{fffc}s", &[1, 3]),
        node(role::SECTION, "", "a \u{fffc}!", &[2]),
        node(role::LINK, "link", "", &[]),
        node(role::LINK, "word", "", &[]),
    ];
    assert_eq!(settled(nodes)[..2], ["Outer a link! end, words", "a link!"]);
}

#[test]
fn a_child_at_an_unknown_mark_is_left_out() {
    let nodes = vec![
        node(role::SECTION, "", "two \u{fffc}\u{fffc}", &[1]),
        node(role::LINK, "link", "", &[]),
    ];
    assert_eq!(settled(nodes)[0], "two ");
}

#[test]
fn a_text_that_only_repeats_the_name_or_the_children_is_left_out() {
    let said = vec![
        node(role::SECTION, "", "a long  text", &[1, 2]),
        node(role::STATIC, "a long", "", &[]),
        node(role::STATIC, " text", "", &[]),
        node(role::LINK, "link", " link", &[]),
    ];
    assert!(settled(said).iter().all(String::is_empty));
    let editable = Node {
        states: StateSet(1 << StateSet::EDITABLE),
        ..node(role::SECTION, "same", "same", &[])
    };
    assert_eq!(settled(vec![editable]), ["same"]);
}

fn spin(value: &str) -> Node {
    node(role::SPIN_BUTTON, "Month", value, &[])
}

#[test]
fn the_value_of_a_combo_box_is_its_choice() {
    let selected = Node {
        states: StateSet(1 << StateSet::SELECTED),
        ..node(role::MENU_ITEM, " Very large ", "", &[])
    };
    let nodes = vec![
        node(role::COMBO_BOX, "Size", "", &[1]),
        node(role::MENU, "", "", &[2, 3]),
        node(role::MENU_ITEM, "Small", "", &[]),
        selected,
    ];
    assert_eq!(settled(nodes)[0], "Very large");
    let combo = node(role::COMBO_BOX, "Size", "", &[1]);
    let mut unread = vec![combo, Node::default()];
    settle(&mut unread);
    assert!(unread[0].value.is_unread(), "the menu was not read");
    let typed = node(role::COMBO_BOX, "Size", "12", &[]);
    assert_eq!(settled(vec![typed]), ["12"]);
}

#[test]
fn the_value_of_a_date_is_joined_from_its_parts() {
    // Chromium: the parts and their separators are elements.
    let date = |month: &str| {
        settled(vec![
            node(role::DATE_EDITOR, "Day", "", &[1, 5]),
            node(role::SECTION, "", "\u{fffc}/\u{fffc}", &[2, 3, 4]),
            spin(month),
            node(role::STATIC, "/", "", &[]),
            spin("04"),
            node(role::PUSH_BUTTON, "Show date picker", "", &[]),
        ])
    };
    assert_eq!(date("03")[0], "03/04");
    assert_eq!(date("")[0], "", "not set");
    // Gecko: the separators are in the text; a time field is an editable panel.
    let time = Node {
        states: StateSet(1 << StateSet::EDITABLE),
        ..node(role::PANEL, "At", "\u{fffc}:\u{fffc} \u{fffc}", &[1, 2, 3])
    };
    let nodes = vec![
        time,
        spin("10"),
        spin("20"),
        node(role::ENTRY, "AM/PM", "AM", &[]),
    ];
    assert_eq!(settled(nodes)[0], "10:20 AM");
}

#[test]
fn the_text_of_a_terminal_ends_with_its_last_written_line() {
    assert_eq!(screen("$ ls\na b\n$ \n\n  \n", 9).shown, "$ ls\na b\n$ ");
    assert_eq!(screen("\n\n", 0).shown, "");
    let long = "line\n".repeat(400) + "$ \n\n\n";
    let text = screen(&long, 2_002);
    assert!(text.shown.ends_with("$ ") && text.omitted_before == 1_002);
}
