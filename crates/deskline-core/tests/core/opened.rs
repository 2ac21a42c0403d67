//! Which element is reported as a dialog, and which as closed.

use deskline_core::focus::focus;
use deskline_core::{Diff, Rect, Tree, TreeWindow, WindowId, summary};

use crate::fixture::{at, tree};

/// The text of what was opened between two trees.
fn opened(before: &Tree, after: &Tree) -> Option<String> {
    let diff = Diff::between(before, after);
    let opened = after.opened_since(before, &diff)?;
    Some(summary::name_of(after, opened))
}

#[test]
fn a_separator_a_suggestion_list_or_a_drag_icon_is_not_a_dialog() {
    let before = tree(r#"[AXWindow (frame)] "Page" x:0 y:0 w:90 h:90 visible #e1"#);
    let with = |line: &str| {
        let page = r#"[AXWindow (frame)] "Page" x:0 y:0 w:90 h:90 visible #e1"#;
        opened(&before, &tree(&format!("{page}\n{line}")))
    };
    assert_eq!(with("[AXSplitter] x:0 y:20 w:90 h:3 visible #e2"), None);
    assert_eq!(with("[AXWindow] x:0 y:20 w:90 h:3 visible #e2"), None);
    let list = r#"[AXWebArea] "Omnibox Popup" x:0 y:20 w:90 h:50 visible #e2"#;
    assert_eq!(with(list), None);
    let line = r#"[AXWindow (frame)] "example.org" x:0 y:20 w:90 h:22 visible #e2"#;
    let inside = |inner: &str| with(&format!("{line}\n {inner} x:0 y:20 w:90 h:20 visible #e3"));
    assert_eq!(inside(r#"[AXStaticText] "example.org""#), None);
    assert!(inside(r#"[AXButton] "Stop""#).is_some());
    // The icon of a drag in GTK 3 has neither a name, nor bounds, nor content.
    assert_eq!(with("[AXWindow] #e2"), None);
    assert!(with("[AXWindow] #e2\n [AXButton] \"Stop\" #e3").is_some());
    let dialog = r#"[AXWindow (dialog)] "Save" x:0 y:20 w:90 h:50 visible #e2"#;
    assert_eq!(with(dialog).as_deref(), Some("'Save' [AXWindow]"));
}

#[test]
fn a_focused_address_field_has_the_keyboard_before_the_page() {
    let browser = tree(
        r#"[AXWindow (frame)] "Page" x:0 y:0 w:90 h:90 visible #e1
 [AXTextField] "Address" x:0 y:0 w:90 h:9 visible focused editable #e2
 [AXWebArea] "Page" x:0 y:9 w:90 h:80 visible focused #e3
 [AXWebArea] "Omnibox Popup" x:0 y:9 w:90 h:30 visible focused #e4"#,
    );
    let focused = focus(&browser).unwrap();
    assert_eq!(focused, r#""Page" › [AXTextField] "Address" #e2"#);
    let page = tree(
        r#"[AXWindow (frame)] "Page" x:0 y:0 w:90 h:90 visible focused #e1
 [AXWebArea] "Page" x:0 y:9 w:90 h:80 visible focused #e3"#,
    );
    assert_eq!(focus(&page).unwrap(), r#""Page" › [AXWebArea] "Page" #e3"#);
}

#[test]
fn a_dialog_whose_window_is_gone_counts_as_closing() {
    let mut app = tree(
        r#"[AXWindow (frame)] "Notes" x:0 y:0 w:90 h:90 visible #e1
[AXWindow (dialog)] "Find" x:0 y:20 w:90 h:50 visible #e2"#,
    );
    app.dialog = Some(1);
    let window = |id, elements| TreeWindow {
        id: WindowId(id),
        extents: Rect::at(0, 0, 90, 90),
        on_screen: true,
        elements,
    };
    assert_eq!(app.dialog_in_front(), Some(1));
    app.windows = vec![window(2, vec![1]), window(1, vec![0])];
    assert_eq!(app.dialog_in_front(), Some(1));
    app.windows.remove(0);
    assert_eq!(app.dialog_in_front(), None);
    // A window that no element fits may belong to the dialog.
    app.windows.push(window(3, vec![]));
    assert_eq!(app.dialog_in_front(), Some(1));
}

#[test]
fn a_menu_that_closed_is_named() {
    let before = tree(
        r#"[AXWindow (frame)] "Notes" x:0 y:0 w:90 h:90 visible #e1
 [AXMenuBar] x:0 y:0 w:90 h:9 visible #e2
  [AXMenuBarItem (menu)] "Insert" x:0 y:0 w:20 h:9 visible #e3
   [AXMenuItem] "Image" x:0 y:9 w:20 h:9 visible #e4
   [AXMenuItem (menu)] "Field" x:0 y:18 w:20 h:9 visible #e5
    [AXMenuItem] "Date" x:20 y:18 w:20 h:9 visible #e6"#,
    );
    let mut after = before.clone();
    at(&mut after, 6).visible = false;
    let closed = |after: &Tree| {
        let menu = after.menu_closed_since(&before)?;
        Some(summary::name_of(&before, menu))
    };
    assert_eq!(closed(&after).as_deref(), Some("'Field' [AXMenuItem]"));
    at(&mut after, 4).visible = false;
    at(&mut after, 5).visible = false;
    assert_eq!(closed(&after).as_deref(), Some("'Insert' [AXMenuBarItem]"));
    assert_eq!(closed(&before), None);
}

#[test]
fn a_menu_of_the_application_itself_that_closed_is_named() {
    let before = tree(
        r#"[AXApplication] "panel" #e1
 [AXWindow (frame)] "Panel" x:0 y:0 w:90 h:9 visible #e2
 [AXMenu] "Applications" x:0 y:9 w:40 h:40 visible #e3
  [AXMenuItem] "Log Out" x:0 y:9 w:40 h:9 visible #e4"#,
    );
    let mut after = before.clone();
    at(&mut after, 3).visible = false;
    at(&mut after, 4).visible = false;
    let menu = after.menu_closed_since(&before);
    let name = menu.map(|menu| summary::name_of(&before, menu));
    assert_eq!(name.as_deref(), Some("'Applications' [AXMenu]"));
}
