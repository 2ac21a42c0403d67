//! The trees and actions, on UI Automation in memory.

#![allow(clippy::expect_used)]

use std::time::Duration;

use deskline_contract::{Deed, Error, Obstacle, Refusal, Scope, Sign, Trees};
use deskline_core::{Element, Role, States, Tree, WindowId};

use super::trees::answers;
use super::uia::{Part, Patterns, Range, Raw};
use crate::desktop::WinDesktop;
use crate::tests::fake::{Fake, Guard, PID, raw, with};

const BUTTON: i32 = 50_000;
const CHECK_BOX: i32 = 50_002;
const COMBO: i32 = 50_003;
const EDIT: i32 = 50_004;
const LIST_ITEM: i32 = 50_007;
const LIST: i32 = 50_008;
const MENU: i32 = 50_009;
const MENU_BAR: i32 = 50_010;
const MENU_ITEM: i32 = 50_011;
const RADIO: i32 = 50_013;
const SLIDER: i32 = 50_015;
const TAB_ITEM: i32 = 50_019;
const TEXT: i32 = 50_020;
const DATA_GRID: i32 = 50_028;
const DATA_ITEM: i32 = 50_029;
const DOCUMENT: i32 = 50_030;
const SCROLL_BAR: i32 = 50_014;
const PANE: i32 = 50_033;

const WHOLE: Scope = Scope::Whole {
    budget: Duration::from_millis(500),
};

/// An app with one window.
fn app() -> (Fake, usize, WinDesktop<Fake>) {
    let fake = Fake::default();
    let window = fake.window(9, "Notes", [0.0, 0.0, 400.0, 300.0]);
    (fake.clone(), window, WinDesktop::new(fake, Guard, None))
}

fn read(trees: &mut WinDesktop<Fake>) -> Tree {
    trees.read(PID, WHOLE).expect("the app is read")
}

fn named<'t>(tree: &'t Tree, name: &str) -> &'t Element {
    let mut all = tree.elements.iter();
    all.find(|e| e.title.shown == name)
        .unwrap_or_else(|| panic!("no {name:?} in {:#?}", texts(tree)))
}

fn texts(tree: &Tree) -> Vec<String> {
    let line = |e: &Element| format!("{} {:?}", e.role.ax(), e.title.shown);
    tree.elements.iter().map(line).collect()
}

fn obstacle<T: std::fmt::Debug>(result: Result<T, Error>) -> Obstacle {
    match result {
        Err(Error::Refused(Refusal { obstacle, .. })) => obstacle,
        other => panic!("not refused: {other:?}"),
    }
}

fn at(y: f64) -> [f64; 4] {
    [10.0, y, 100.0, 20.0]
}

#[test]
fn one_request_reads_a_window() {
    let (fake, window, mut trees) = app();
    let group = fake.add(window, raw(PANE, "", [0.0, 0.0, 400.0, 200.0]));
    fake.add(group, with(raw(BUTTON, "Save", at(10.0)), Patterns::INVOKE));
    let mut tick = with(raw(CHECK_BOX, "Bold", at(40.0)), Patterns::TOGGLE);
    tick.toggle = 1;
    fake.add(group, tick);
    let tree = read(&mut trees);
    assert_eq!(
        texts(&tree),
        [
            r#"AXApplication "notes""#,
            r#"AXWindow "Notes""#,
            r#"AXGroup """#,
            r#"AXButton "Save""#,
            r#"AXCheckBox "Bold""#
        ]
    );
    assert_eq!(named(&tree, "Bold").states, States::CHECKED);
    assert!(named(&tree, "Save").visible);
    assert_eq!(tree.windows[0].elements, [1]);
    assert_eq!(fake.requests("window"), 2);
    assert_eq!(fake.requests("children"), 0);
}

#[test]
fn an_id_is_the_same_in_the_next_process() {
    let (fake, window, mut trees) = app();
    fake.add(window, raw(BUTTON, "Save", at(10.0)));
    let id = named(&read(&mut trees), "Save").id.clone();
    let mut next = WinDesktop::new(fake, Guard, None);
    assert_eq!(named(&read(&mut next), "Save").id, id);
    assert_eq!(id.as_str(), "40.7/2a.1");
}

#[test]
fn elements_with_the_same_runtime_id_or_none_have_ids_of_their_own() {
    let (fake, window, mut trees) = app();
    for (name, id) in [("A", vec![42, 9]), ("B", vec![42, 9])] {
        let index = fake.add(window, raw(BUTTON, name, at(10.0)));
        fake.change(index, |raw| raw.runtime_id = id);
    }
    for name in ["C", "D"] {
        let index = fake.add(window, raw(BUTTON, name, at(40.0)));
        fake.change(index, |raw| raw.runtime_id = Vec::new());
    }
    let tree = read(&mut trees);
    let mut ids: Vec<_> = tree.elements.iter().map(|e| e.id.clone()).collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), tree.elements.len());
}

#[test]
fn roles_follow_from_patterns_and_places() {
    let (fake, window, mut trees) = app();
    fake.add(
        window,
        with(raw(BUTTON, "Toggle", at(1.0)), Patterns::TOGGLE),
    );
    let mut drop = with(raw(BUTTON, "Drop", at(2.0)), Patterns::EXPAND_COLLAPSE);
    drop.expand = 0;
    fake.add(window, drop);
    let bar = fake.add(window, raw(MENU_BAR, "bar", at(3.0)));
    fake.add(bar, raw(MENU_ITEM, "File", at(3.0)));
    let grid = fake.add(window, raw(DATA_GRID, "grid", at(4.0)));
    let mut cell = with(raw(DATA_ITEM, "cell", at(4.0)), Patterns::GRID_ITEM);
    cell.cell = (2, 0);
    fake.add(grid, cell);
    fake.add(window, with(raw(PANE, "scroll", at(5.0)), Patterns::SCROLL));
    let area = fake.add(window, raw(PANE, "Qt's", at(5.0)));
    let own = fake.add(area, raw(PANE, "", at(5.5)));
    fake.add(own, raw(SCROLL_BAR, "", at(5.5)));
    let mut page = raw(DOCUMENT, "page", at(6.0));
    page.framework = "Chrome".into();
    fake.add(window, page);
    fake.add(window, raw(DOCUMENT, "letter", at(7.0)));
    let tree = read(&mut trees);
    let role = |name| named(&tree, name).role;
    assert_eq!(role("Toggle"), Role::CHECK_BOX);
    assert_eq!(role("Drop"), Role::MENU_BUTTON);
    assert_eq!(role("File"), Role::MENU_BAR_ITEM);
    assert_eq!(role("cell"), Role::CELL);
    assert_eq!(role("scroll"), Role::SCROLL_AREA);
    assert_eq!(role("Qt's"), Role::SCROLL_AREA);
    assert_eq!(role("page"), Role::WEB_AREA);
    assert_eq!(role("letter"), Role::TEXT_AREA);
    let cell = named(&tree, "cell").cell.expect("a place");
    assert_eq!((cell.row, cell.column), (3, 1));
}

#[test]
fn invalid_bounds_are_left_out() {
    let (fake, window, mut trees) = app();
    let infinite = f64::INFINITY;
    fake.add(
        window,
        raw(TEXT, "inf", [infinite, infinite, -infinite, -infinite]),
    );
    fake.add(window, raw(TEXT, "nan", [f64::NAN, 0.0, 10.0, 10.0]));
    fake.add(
        window,
        raw(TEXT, "far", [-2_147_483_648.0, 0.0, 10.0, 10.0]),
    );
    fake.add(window, raw(TEXT, "empty", [0.0; 4]));
    fake.add(window, raw(TEXT, "half", [10.5, 10.4, 99.2, 19.8]));
    let tree = read(&mut trees);
    for name in ["inf", "nan", "far", "empty"] {
        assert_eq!(named(&tree, name).extents, None, "{name}");
        assert!(!named(&tree, name).visible);
    }
    let half = named(&tree, "half").extents.expect("a place");
    assert_eq!((half.x, half.y, half.w, half.h), (11, 10, 99, 20));
}

#[test]
fn a_password_has_no_value() {
    let (fake, window, mut trees) = app();
    let mut field = with(raw(EDIT, "PIN", at(10.0)), Patterns::VALUE | Patterns::TEXT);
    field.password = true;
    field.value = "1234".into();
    let field = fake.add(window, field);
    fake.say(
        field,
        Part {
            text: "1234".into(),
            ..Part::default()
        },
    );
    let tree = read(&mut trees);
    let field = named(&tree, "PIN");
    assert!(field.value.is_blank());
    assert!(field.states.contains(States::SECURE));
    assert_eq!(fake.requests("text"), 0);
}

#[test]
fn the_visible_part_of_a_long_text_is_requested() {
    let (fake, window, mut trees) = app();
    let mut field = with(
        raw(DOCUMENT, "", at(10.0)),
        Patterns::VALUE | Patterns::TEXT,
    );
    field.value = "x".repeat(5_000);
    let field = fake.add(window, field);
    let part = Part {
        text: "what shows\r".into(),
        before: 3_000,
        after: 1_989,
    };
    fake.say(field, part);
    let tree = read(&mut trees);
    let value = &tree.elements[2].value;
    assert_eq!(value.shown, "what shows");
    assert_eq!((value.omitted_before, value.total()), (3_000, 5_000));
}

/// The terminal of Windows 11 is a text whose name is that of its profile, and which has no value.
#[test]
fn a_terminal_shows_what_it_has_written() {
    let (fake, window, mut trees) = app();
    let mut terminal = with(raw(TEXT, "Windows PowerShell", at(10.0)), Patterns::TEXT);
    terminal.focusable = true;
    let terminal = fake.add(window, terminal);
    let label = fake.add(window, with(raw(TEXT, "Ready", at(40.0)), Patterns::TEXT));
    for (element, text) in [(terminal, "PS C:\\> dir\r\n"), (label, "Ready")] {
        let text = text.to_owned();
        fake.say(
            element,
            Part {
                text,
                ..Part::default()
            },
        );
    }
    let tree = read(&mut trees);
    assert_eq!(
        named(&tree, "Windows PowerShell").value.shown,
        "PS C:\\> dir"
    );
    assert_eq!(fake.requests("text"), 1);
}

#[test]
fn template_parts_without_information_are_left_out() {
    let (fake, window, mut trees) = app();
    let button = fake.add(
        window,
        with(raw(BUTTON, "Save all", at(10.0)), Patterns::INVOKE),
    );
    let part = |name: &str| Raw {
        is_control: false,
        ..raw(TEXT, name, at(10.0))
    };
    let border = fake.add(button, part(""));
    fake.add(border, part("Save"));
    fake.add(border, part("Ctrl+S"));
    let tree = read(&mut trees);
    assert_eq!(texts(&tree)[3..], [r#"AXStaticText "Ctrl+S""#]);
    assert_eq!(tree.elements[3].parent, Some(2));
}

#[test]
fn a_dialog_is_read_once_although_it_is_listed_twice() {
    let (fake, window, mut trees) = app();
    let dialog = fake.window(10, "Really?", [50.0, 50.0, 200.0, 100.0]);
    fake.add(dialog, raw(BUTTON, "Yes", [60.0, 60.0, 50.0, 20.0]));
    fake.add(window, raw(BUTTON, "Save", at(10.0)));
    fake.list_also(window, dialog);
    {
        let mut world = fake.world();
        world.windows[0].owner = Some(WindowId(9));
        world.windows[1].enabled = false;
    }
    let tree = read(&mut trees);
    let yes = texts(&tree).iter().filter(|t| t.contains("Yes")).count();
    assert_eq!(yes, 1);
    let open = tree.dialog.expect("a dialog");
    assert_eq!(tree.elements[open].title.shown, "Really?");
    assert!(named(&tree, "Yes").visible);
    assert!(!named(&tree, "Save").visible);
}

#[test]
fn an_open_menu_is_read_once_although_it_is_listed_twice() {
    let (fake, window, mut trees) = app();
    let at = [0.0, 20.0, 100.0, 60.0];
    let popup = fake.window(10, "", at);
    fake.change(popup, |raw| raw.control_type = MENU);
    let item = fake.add(window, raw(MENU_ITEM, "File", [0.0, 0.0, 40.0, 20.0]));
    let menu = fake.add(item, raw(MENU, "", at));
    for parent in [popup, menu] {
        fake.add(parent, raw(MENU_ITEM, "Quit", [2.0, 22.0, 96.0, 20.0]));
    }
    let tree = read(&mut trees);
    let quits = texts(&tree).iter().filter(|t| t.contains("Quit")).count();
    assert_eq!(quits, 1);
    assert!(named(&tree, "Quit").visible);
}

#[test]
fn a_subtree_that_was_slow_once_is_read_level_by_level_afterwards() {
    let (fake, window, mut trees) = app();
    fake.world().odd.subtree_times_out = true;
    let group = fake.add(window, raw(PANE, "", [0.0, 0.0, 400.0, 200.0]));
    fake.add(group, raw(BUTTON, "Save", at(10.0)));
    let mut page = raw(PANE, "hidden", at(10.0));
    page.offscreen = true;
    let page = fake.add(window, page);
    let mut inner = raw(BUTTON, "Other", at(10.0));
    inner.offscreen = true;
    fake.add(page, inner);
    let tree = read(&mut trees);
    assert!(named(&tree, "Save").visible);
    assert!(!named(&tree, "Other").visible);
    assert_eq!(tree.partial, Vec::<String>::new());
    let tree = trees.read(PID, Scope::Showing).expect("the app is read");
    assert!(named(&tree, "Save").visible);
    assert!(!tree.elements.iter().any(|e| e.title.shown == "Other"));
    assert_eq!(fake.requests("window Subtree"), 1);
}

#[test]
fn only_the_visible_items_of_a_very_long_list_are_read() {
    let (fake, window, mut trees) = app();
    fake.world().odd.subtree_times_out = true;
    fake.world().odd.long_list_times_out = true;
    let list = fake.add(window, raw(LIST, "all", [0.0, 0.0, 100.0, 300.0]));
    for i in 0..1_000 {
        let mut item = raw(LIST_ITEM, &format!("item {i}"), at(f64::from(i) * 20.0));
        item.offscreen = i >= 15;
        fake.add(list, item);
    }
    let tree = read(&mut trees);
    assert!(named(&tree, "item 14").visible);
    assert!(tree.elements.len() < 60);
    assert!(!named(&tree, "all").children_read);
}

#[test]
fn an_app_that_hangs_is_an_error_after_one_request() {
    let (fake, window, mut trees) = app();
    fake.window(10, "Second", [0.0, 0.0, 100.0, 100.0]);
    let roots: Vec<_> = fake.world().windows.iter().map(|w| w.root).collect();
    for root in roots {
        fake.hang(root, true);
    }
    for window in &mut fake.world().windows {
        window.thread = 1;
    }
    let error = trees.read(PID, WHOLE);
    assert!(
        matches!(error, Err(Error::NotAnswering { .. })),
        "{error:?}"
    );
    assert_eq!(fake.requests("window"), 1);
    assert!(matches!(
        answers(&fake, PID),
        Err(Error::NotAnswering { .. })
    ));
    // A window is read if its own thread answers.
    fake.hang(window, false);
    fake.world().windows[1].thread = 2;
    let tree = read(&mut trees);
    assert_eq!(tree.partial, ["the window 'Second' does not answer"]);
}

#[test]
fn an_app_that_ended_or_has_no_window_is_an_error() {
    let fake = Fake::default();
    let mut trees = WinDesktop::new(fake.clone(), Guard, None);
    assert!(matches!(
        trees.read(PID, WHOLE),
        Err(Error::NoWindow { .. })
    ));
    fake.world().apps.clear();
    assert!(matches!(trees.read(PID, WHOLE), Err(Error::NoProcess(PID))));
    assert!(answers(&fake, PID).is_ok());
}

#[test]
fn an_element_that_disappears_during_a_reading_is_left_out() {
    let (fake, window, mut trees) = app();
    fake.world().odd.subtree_times_out = true;
    let gone = fake.add(window, raw(PANE, "going", at(10.0)));
    fake.add(gone, raw(BUTTON, "inner", at(10.0)));
    let tree = read(&mut trees);
    let id = named(&tree, "inner").id.clone();
    fake.remove(gone);
    let inner = tree.elements.iter().position(|e| e.title.shown == "inner");
    assert!(inner.is_some());
    let tree = read(&mut trees);
    assert!(!tree.elements.iter().any(|e| e.title.shown == "going"));
    assert_eq!(obstacle(trees.act(&id, Deed::Press)), Obstacle::Gone);
}

#[test]
fn an_element_that_contains_itself_ends_the_reading() {
    let (fake, window, mut trees) = app();
    let group = fake.add(window, raw(PANE, "loop", at(10.0)));
    fake.list_also(group, group);
    fake.list_also(group, window);
    assert_eq!(read(&mut trees).elements.len(), 3);
    fake.world().odd.subtree_times_out = true;
    assert_eq!(read(&mut trees).elements.len(), 3);
}

#[test]
fn rows_that_an_app_makes_on_demand_are_counted() {
    let (fake, window, mut trees) = app();
    let grid = with(
        raw(DATA_GRID, "books", [0.0, 0.0, 100.0, 300.0]),
        Patterns::GRID,
    );
    let grid = fake.add(
        window,
        Raw {
            size: (100, 1),
            ..grid
        },
    );
    for row in 0..3 {
        let cell = with(raw(DATA_ITEM, "cell", at(10.0)), Patterns::GRID_ITEM);
        fake.add(
            grid,
            Raw {
                cell: (row, 0),
                ..cell
            },
        );
    }
    let tree = read(&mut trees);
    assert_eq!(
        tree.partial,
        ["the app does not list 97 hidden rows of its 'books' [AXTable]"]
    );
}

#[test]
fn a_press_uses_the_pattern_that_the_element_has() {
    let (fake, window, mut trees) = app();
    fake.add(
        window,
        with(
            raw(BUTTON, "Save", at(10.0)),
            Patterns::INVOKE | Patterns::LEGACY,
        ),
    );
    fake.add(
        window,
        with(
            raw(CHECK_BOX, "Bold", at(20.0)),
            Patterns::TOGGLE | Patterns::INVOKE,
        ),
    );
    let select = Patterns::SELECTION_ITEM;
    fake.add(
        window,
        with(raw(RADIO, "Left", at(30.0)), select | Patterns::INVOKE),
    );
    fake.add(window, with(raw(TAB_ITEM, "Page", at(40.0)), select));
    let mut menu = with(raw(MENU_ITEM, "File", at(50.0)), Patterns::EXPAND_COLLAPSE);
    menu.patterns |= Patterns::INVOKE;
    menu.expand = 0;
    fake.add(window, menu);
    fake.add(window, with(raw(BUTTON, "Old", at(60.0)), Patterns::LEGACY));
    fake.add(window, raw(TEXT, "Label", at(70.0)));
    let off = with(raw(BUTTON, "Off", at(80.0)), Patterns::INVOKE);
    fake.add(
        window,
        Raw {
            enabled: false,
            ..off
        },
    );
    let tree = read(&mut trees);
    for name in ["Save", "Bold", "Left", "Page", "File", "Old"] {
        trees.act(&named(&tree, name).id, Deed::Press).expect(name);
    }
    let id = |name| &named(&tree, name).id;
    assert_eq!(
        obstacle(trees.act(id("Label"), Deed::Press)),
        Obstacle::NoPress(vec![])
    );
    assert_eq!(
        obstacle(trees.act(id("Off"), Deed::Press)),
        Obstacle::Disabled
    );
    assert_eq!(
        fake.actions(),
        [
            "act Invoke Save",
            "act Toggle Bold",
            "act Select Left",
            "act Select Page",
            "act Expand File",
            "act DefaultAction Old"
        ]
    );
}

#[test]
fn a_press_that_blocks_in_a_modal_dialog_counts_as_done() {
    let (fake, window, mut trees) = app();
    fake.world().odd.invoke_blocks = true;
    fake.add(
        window,
        with(raw(BUTTON, "About", at(10.0)), Patterns::INVOKE),
    );
    let tree = read(&mut trees);
    trees
        .act(&named(&tree, "About").id, Deed::Press)
        .expect("pressed");
}

#[test]
fn a_value_is_set_by_the_pattern_that_the_element_has() {
    let (fake, window, mut trees) = app();
    let field = fake.add(window, with(raw(EDIT, "Name", at(10.0)), Patterns::VALUE));
    let range = Range {
        value: 3.0,
        low: 0.0,
        high: 10.0,
        read_only: false,
    };
    let slider = with(raw(SLIDER, "Size", at(20.0)), Patterns::RANGE_VALUE);
    let slider = fake.add(
        window,
        Raw {
            range: Some(range),
            ..slider
        },
    );
    let tick = fake.add(
        window,
        with(raw(CHECK_BOX, "Bold", at(30.0)), Patterns::TOGGLE),
    );
    let fixed = with(raw(EDIT, "Fixed", at(40.0)), Patterns::VALUE);
    fake.add(
        window,
        Raw {
            read_only: true,
            ..fixed
        },
    );
    let tree = read(&mut trees);
    let id = |name| named(&tree, name).id.clone();
    trees.act(&id("Name"), Deed::SetValue("Ann")).expect("set");
    assert_eq!(fake.raw(field).value, "Ann");
    trees.act(&id("Size"), Deed::SetValue("7.5")).expect("set");
    assert_eq!(fake.raw(slider).range.map(|range| range.value), Some(7.5));
    trees.act(&id("Bold"), Deed::SetValue("on")).expect("set");
    trees
        .act(&id("Bold"), Deed::SetValue("true"))
        .expect("set already");
    assert_eq!(fake.raw(tick).toggle, 1);
    let refusal = obstacle(trees.act(&id("Size"), Deed::SetValue("11")));
    assert!(
        matches!(refusal, Obstacle::OutOfRange { .. }),
        "{refusal:?}"
    );
    let refusal = obstacle(trees.act(&id("Size"), Deed::SetValue("big")));
    assert_eq!(refusal, Obstacle::NotANumber("big".into()));
    assert_eq!(
        obstacle(trees.act(&id("Fixed"), Deed::SetValue("x"))),
        Obstacle::TextNotSettable
    );
    fake.world().odd.ignores_values = true;
    assert_eq!(
        obstacle(trees.act(&id("Name"), Deed::SetValue("Bob"))),
        Obstacle::TextNotSettable
    );
}

#[test]
fn a_choice_is_made_in_a_closed_list_or_an_open_one() {
    let (fake, window, mut trees) = app();
    let has = Patterns::VALUE | Patterns::EXPAND_COLLAPSE;
    let mut combo = with(raw(COMBO, "Colour", at(10.0)), has);
    (combo.expand, combo.value, combo.read_only) = (0, "Red".into(), true);
    let combo = fake.add(window, combo);
    let list = fake.add(combo, raw(LIST, "", at(30.0)));
    for name in ["Red", "Blue"] {
        let mut item = with(raw(LIST_ITEM, name, at(30.0)), Patterns::SELECTION_ITEM);
        item.offscreen = true;
        fake.add(list, item);
    }
    let tree = read(&mut trees);
    let id = named(&tree, "Colour").id.clone();
    assert_eq!(named(&tree, "Colour").value.shown, "Red");
    assert_eq!(trees.act(&id, Deed::Choose("Blue")).ok(), Some(true));
    assert_eq!(fake.raw(combo).value, "Blue");
    let refusal = obstacle(trees.act(&id, Deed::Choose("Green")));
    assert_eq!(refusal, Obstacle::NoSuchChoice("Green".into()));
    assert_eq!(fake.raw(combo).expand, 0, "it is closed again");
    fake.world().odd.closed_combo_ignores = true;
    assert_eq!(trees.act(&id, Deed::Choose("Red")).ok(), Some(false));
    let refusal = obstacle(trees.act(&id, Deed::SetValue("Red")));
    assert_eq!(refusal, Obstacle::ChoiceNotSettable);
}

#[test]
fn an_item_is_selected_beside_others_or_instead_of_them() {
    let (fake, window, mut trees) = app();
    let list = fake.add(window, raw(LIST, "all", [0.0, 0.0, 100.0, 300.0]));
    let mut items = Vec::new();
    for name in ["a", "b"] {
        let item = with(raw(LIST_ITEM, name, at(30.0)), Patterns::SELECTION_ITEM);
        let item = fake.add(list, item);
        fake.add(item, raw(TEXT, &format!("text of {name}"), at(30.0)));
        items.push(item);
    }
    let tree = read(&mut trees);
    let id = |name| named(&tree, name).id.clone();
    let selected = || [fake.raw(items[0]).selected, fake.raw(items[1]).selected];
    trees
        .act(&id("a"), Deed::SetSelected(true))
        .expect("selected");
    trees
        .act(&id("text of b"), Deed::SetSelected(true))
        .expect("its row is selected");
    assert_eq!(selected(), [true, true]);
    trees
        .act(&id("a"), Deed::SetSelected(false))
        .expect("deselected");
    assert_eq!(selected(), [false, true]);
    fake.world().odd.single_selection = true;
    trees
        .act(&id("a"), Deed::SetSelected(true))
        .expect("selected instead");
    assert_eq!(selected(), [true, false]);
    let window = tree.elements[1].id.clone();
    assert_eq!(
        obstacle(trees.act(&window, Deed::SetSelected(true))),
        Obstacle::NoSelection
    );
}

#[test]
fn only_an_element_with_the_pattern_is_scrolled_into_view() {
    let (fake, window, mut trees) = app();
    let can = Patterns::SCROLL_ITEM | Patterns::VIRTUALIZED_ITEM;
    fake.add(window, with(raw(LIST_ITEM, "far", at(900.0)), can));
    fake.add(window, raw(LIST_ITEM, "fixed", at(10.0)));
    let tree = read(&mut trees);
    assert_eq!(
        trees
            .act(&named(&tree, "far").id, Deed::ScrollIntoView)
            .ok(),
        Some(true)
    );
    assert_eq!(
        trees
            .act(&named(&tree, "fixed").id, Deed::ScrollIntoView)
            .ok(),
        Some(false)
    );
    assert_eq!(
        fake.actions()[..2],
        ["act Realize far", "act ScrollIntoView far"]
    );
}

#[test]
fn of_several_signs_of_change_the_strongest_is_reported() {
    let (fake, _, mut trees) = app();
    trees.listen(PID).expect("listens");
    let now = Duration::ZERO;
    assert_eq!(trees.wait_for_change(now).ok(), Some(None));
    for sign in [Sign::Focus, Sign::Change, Sign::Focus] {
        fake.event(sign);
    }
    assert_eq!(trees.wait_for_change(now).ok(), Some(Some(Sign::Change)));
    assert_eq!(trees.wait_for_change(now).ok(), Some(None));
}
