use deskline_core::focus::{focus, windows};
use deskline_core::{Rect, TreeWindow, WindowId};

use crate::fixture::tree;

fn window(id: u64, top: usize) -> TreeWindow {
    TreeWindow {
        id: WindowId(id),
        extents: Rect::at(0, 0, 10, 10),
        on_screen: true,
        elements: vec![top],
    }
}

const TWO: &str = r#"[AXApplication] "Office" #e1
 [AXWindow] "sums.ods" x:0 y:0 w:9 h:9 visible #e2
  [AXTable] x:0 y:0 w:9 h:9 visible focused #e3
   [AXCell] "A7" x:0 y:0 w:9 h:9 visible focused #e4
 [AXWindow] "letter.odt" x:0 y:0 w:9 h:9 visible #e5
  [AXTextArea] "Dear \"all\"" x:0 y:0 w:9 h:9 visible focused #e6
"#;

#[test]
fn the_front_window_and_the_innermost_focused_element_are_named() {
    let mut office = tree(TWO);
    let top = |name| {
        office
            .elements
            .iter()
            .position(|e| e.title.shown == name)
            .unwrap()
    };
    let (sums, letter) = (top("sums.ods"), top("letter.odt"));
    office.windows = vec![window(1, letter), window(2, sums)];
    insta::assert_snapshot!(focus(&office).unwrap(), @r##""letter.odt" › [AXTextArea] "Dear \"all\"" #e6"##);
    insta::assert_snapshot!(windows(&office).unwrap(), @r##""letter.odt" #e5 (front), "sums.ods" #e2"##);
    office.windows.reverse();
    insta::assert_snapshot!(focus(&office).unwrap(), @r##""sums.ods" › [AXCell] "A7" #e4"##);
    insta::assert_snapshot!(windows(&office).unwrap(), @r##""sums.ods" #e2 (front), "letter.odt" #e5"##);
    // Keys go to the dialog, whichever window the display reports as the front one.
    office.dialog = Some(letter);
    assert!(focus(&office).unwrap().starts_with("\"letter.odt\""));
    assert_eq!(office.toplevels_titled("SUMS"), [sums]);
    assert_eq!(office.toplevels_titled("o"), [sums, letter]);
    assert!(office.toplevels_titled("nothing").is_empty());
}

#[test]
fn the_focus_begins_with_the_active_window_and_a_single_window_is_not_listed() {
    let mut office = tree(TWO);
    assert!(office.windows.is_empty());
    assert!(focus(&office).unwrap().starts_with("\"letter.odt\""));
    office.elements.truncate(4);
    assert_eq!(windows(&office), None);
    office.elements.truncate(1);
    assert_eq!(focus(&office), None);
}

/// Chromium while its own toolbar has the keyboard focus. In its tree each page keeps its last
/// focus too.
fn browser(own: &str, page: &str) -> String {
    let tree = tree(&format!(
        r#"[AXApplication] "Chromium" #e1
 [AXWindow] "Address" x:0 y:0 w:9 h:9 visible #e2
  [AXTab] "Address" x:0 y:0 w:9 h:9 visible #e3
  [{own}
  [AXWebArea] "Address" x:0 y:0 w:9 h:9 visible #e5
   [AXGroup] x:0 y:0 w:9 h:9 visible #e6
    [{page}
  [AXWebArea] "Omnibox Popup" x:0 y:0 w:9 h:9 visible focused #e8
"#
    ));
    focus(&tree).unwrap()
}

#[test]
fn focus_in_the_browsers_own_bars_beats_focus_in_its_page() {
    let bar = r#"AXTextField] "Bar" x:0 y:0 w:9 h:9 visible focused editable #e4"#;
    let field = r#"AXTextField] "Name" x:0 y:0 w:9 h:9 visible focused editable #e7"#;
    assert!(browser(bar, field).ends_with("#e4"));
    let button = r#"AXButton] "Reload" x:0 y:0 w:9 h:9 visible focused #e4"#;
    assert!(browser(button, field).ends_with("#e4"));
    let idle = r#"AXTextField] "Bar" x:0 y:0 w:9 h:9 visible editable #e4"#;
    assert!(browser(idle, field).ends_with("#e7"));
}
