use std::time::Instant;

use deskline_core::{App, ElementId, Text, TreeWindow};

use super::*;
use crate::picture::fixture::{paint, plain};

const WINDOW: WindowId = WindowId(7);
const CANVAS: Rect = Rect::at(120, 100, 300, 200);

/// An element whose parent is the element at index `parent`.
fn element(parent: Option<usize>, role: Role, text: &str, extents: Rect) -> Element {
    Element {
        parent,
        title: Text::new(text),
        extents: Some(extents),
        ..Element::new(
            ElementId::new(format!("/{parent:?}/{text}/{extents:?}")),
            role,
            "thing",
        )
    }
}

/// A window at (100,50), 400×300, that holds a canvas.
fn tree() -> Tree {
    let extents = Rect::at(100, 50, 400, 300);
    Tree {
        windows: vec![TreeWindow {
            id: WINDOW,
            extents,
            on_screen: true,
            elements: vec![0],
        }],
        ..Tree::new(
            App {
                name: "Paint".into(),
                pid: 1,
            },
            vec![
                element(None, Role::WINDOW, "Paint", extents),
                element(Some(0), Role::SCROLL_AREA, "", Rect::at(110, 90, 380, 250)),
                element(Some(1), Role::GROUP, "", CANVAS),
            ],
        )
    }
}

const INK: [u8; 3] = [20; 3];

fn picture(width: u32, height: u32) -> Picture {
    plain(width, height, [240; 3])
}

/// The window with six icons in a row, at these pixels.
fn icons(x: usize, y: usize) -> Picture {
    let mut picture = picture(400, 300);
    for n in 0..6 {
        paint(&mut picture, (x + 40 * n, y, 8, 8), INK);
    }
    picture
}

fn spots_in(tree: &Tree, picture: &Picture) -> Vec<String> {
    names(tree, WINDOW, picture)
}

#[test]
fn a_canvas_stays_a_blind_spot_after_texts_are_read_from_its_picture() {
    let mut tree = tree();
    assert!(may_have_spots(&tree, WINDOW) && !may_have_spots(&tree, WindowId(8)));
    let before = names(&tree, WINDOW, &icons(40, 80));
    let read = element(
        Some(2),
        Role::STATIC_TEXT,
        "Total",
        Rect::at(130, 120, 280, 25),
    );
    let id = ElementId::new("ocr|1|7|30,70|Total");
    tree.elements.push(Element { id, ..read });
    assert_eq!(names(&tree, WINDOW, &icons(40, 80)), before);
    tree.elements[2].title = Text::new("Map");
    assert!(!may_have_spots(&tree, WINDOW));
}

#[test]
fn a_password_field_over_a_canvas_counts_as_described() {
    let mut tree = tree();
    let place = Rect::at(130, 120, 100, 25);
    let field = element(Some(1), Role::TEXT_FIELD, "", place);
    // The label describes the canvas even if the label's middle is scrolled away.
    tree.elements.push(Element {
        states: States::SECURE,
        visible: false,
        ..field
    });
    let found = spots(&tree, WINDOW, &icons(40, 180));
    assert_eq!(found[0].described, [place]);
}

#[test]
fn a_canvas_with_undescribed_content_is_a_blind_spot() {
    let named = ["(120,100 300×200) [AXGroup (thing)]"];
    assert_eq!(spots_in(&tree(), &icons(40, 80)), named);
    // Detail around the canvas, none in it.
    assert_eq!(spots_in(&tree(), &icons(40, 20)), [""; 0]);
    assert_eq!(spots_in(&tree(), &picture(400, 300)), [""; 0]);
    // The picture of another window has no such blind spot.
    assert_eq!(
        names(&tree(), WindowId(8), &icons(40, 80)),
        [""; 0],
        "another window"
    );
    let mut unknown = tree();
    unknown.windows.clear();
    assert_eq!(spots_in(&unknown, &icons(40, 80)), named);
}

#[test]
fn described_parts_are_no_blind_spot() {
    let changed = |change: &dyn Fn(&mut Element)| {
        let mut tree = tree();
        change(&mut tree.elements[2]);
        spots_in(&tree, &icons(40, 80))
    };
    assert_eq!(changed(&|e| e.title = Text::new("Map")), [""; 0]);
    assert_eq!(changed(&|e| e.value = Text::new("Once")), [""; 0]);
    assert_eq!(changed(&|e| e.description = Text::new("A map")), [""; 0]);
    assert_eq!(changed(&|e| e.role = Role::SPLITTER), [""; 0]);
    assert_eq!(changed(&|e| e.children_read = false), [""; 0]);
    assert_eq!(
        changed(&|e| e.extents = Some(Rect::at(120, 100, 300, 60))),
        [""; 0]
    );
}

#[test]
fn pixels_under_a_neighbouring_text_make_no_blind_spot() {
    // A label over the icons: as a sibling of the canvas, or as its child and mostly scrolled
    // away.
    for (parent, visible) in [(1, true), (2, false)] {
        let mut tree = tree();
        let label = element(
            Some(parent),
            Role::STATIC_TEXT,
            "News",
            Rect::at(130, 120, 280, 25),
        );
        tree.elements.push(Element { visible, ..label });
        assert_eq!(spots_in(&tree, &icons(40, 80)), [""; 0], "{parent}");
        // Icons below the label count.
        assert_eq!(spots_in(&tree, &icons(40, 180)).len(), 1, "{parent}");
    }
    // A canvas in a text area is a blind spot only if the area has no text.
    for (text, count) in [("News", 0), ("", 1)] {
        let mut tree = tree();
        tree.elements[1].role = Role::TEXT_AREA;
        tree.elements[1].value = Text::new(text);
        assert_eq!(spots_in(&tree, &icons(40, 80)).len(), count, "{text}");
    }
    // A label that covers most of the canvas.
    let mut tree = tree();
    let label = element(
        Some(1),
        Role::STATIC_TEXT,
        "News",
        Rect::at(120, 100, 300, 110),
    );
    tree.elements.push(label);
    assert_eq!(spots_in(&tree, &icons(40, 180)), [""; 0]);
}

#[test]
fn a_container_without_visible_elements_can_be_a_blind_spot() {
    let mut tree = tree();
    // The canvas is larger than the view, and its centre is outside it.
    tree.elements[2].extents = Some(Rect::at(110, 90, 380, 2_000));
    tree.elements[2].visible = false;
    let bar = element(Some(1), Role::SCROLL_BAR, "", Rect::at(480, 90, 10, 250));
    tree.elements.push(bar);
    assert_eq!(
        spots_in(&tree, &icons(40, 80)),
        ["(110,90 380×250) [AXScrollArea (thing)]"]
    );
    // A window's title does not describe its content.
    tree.elements.truncate(1);
    assert_eq!(
        spots_in(&tree, &icons(40, 80)),
        ["(100,50 400×300) [AXWindow (thing)]"]
    );
}

#[test]
fn lines_and_frames_alone_make_no_blind_spot() {
    let mut lines = picture(400, 300);
    for line in [(30, 60, 280, 1), (30, 200, 280, 2), (60, 60, 1, 180)] {
        paint(&mut lines, line, INK);
    }
    // A focus ring of dashes.
    for x in (24..310).step_by(4) {
        paint(&mut lines, (x, 100, 2, 1), INK);
    }
    assert_eq!(spots_in(&tree(), &lines), [""; 0]);
}

#[test]
fn the_three_largest_blind_spots_are_named_in_screen_units() {
    let mut tree = tree();
    tree.elements.truncate(1);
    let mut dense = picture(800, 600);
    dense.scale = 2.0;
    for n in 0..4_usize {
        let (x, height) = (100 * n as i32, 150 + 10 * n as i32);
        let place = Rect::at(100 + x, 60, 98, height);
        tree.elements.push(element(Some(0), Role::GROUP, "", place));
        for icon in 0..8 {
            let place = (200 * n + 40, 60 + 32 * icon, 10, 10);
            paint(&mut dense, place, INK);
        }
    }
    assert_eq!(
        spots_in(&tree, &dense),
        [
            "(400,60 98×180) [AXGroup (thing)]",
            "(300,60 98×170) [AXGroup (thing)]",
            "(200,60 98×160) [AXGroup (thing)]",
        ]
    );
}

#[test]
fn pixels_of_the_wrong_length_cause_no_panic() {
    let mut tree = tree();
    for extents in [Rect::at(i32::MIN, i32::MIN, i32::MAX, i32::MAX), CANVAS] {
        tree.elements[2].extents = Some(extents);
        for (width, height) in [(0, 0), (7, 3), (1_000, 1_000), (400, 300)] {
            let mut odd = icons(40, 80);
            (odd.width, odd.height) = (width, height);
            let _ = spots_in(&tree, &odd);
            odd.scale = 0.0;
            odd.rgb.truncate(100);
            let _ = spots_in(&tree, &odd);
        }
    }
}

#[test]
fn a_whole_screen_is_examined_in_linear_time() {
    let mut tree = tree();
    tree.windows[0].extents = Rect::at(100, 50, 1_920, 1_080);
    for element in &mut tree.elements {
        element.extents = Some(Rect::at(100, 50, 1_920, 1_080));
    }
    // Pixels that differ from row to row, but never within a row: no block has edges in both
    // directions.
    let mut screen = picture(1_920, 1_080);
    for (i, byte) in screen.rgb.iter_mut().enumerate() {
        *byte = (i % 19) as u8;
    }
    let start = Instant::now();
    assert_eq!(spots_in(&tree, &screen), [""; 0]);
    let worst = start.elapsed();
    let plain = picture(1_920, 1_080);
    let start = Instant::now();
    assert_eq!(spots_in(&tree, &plain), [""; 0]);
    println!("looked at in {:?}, at worst {worst:?}", start.elapsed());
    // Only work that grows faster than the number of pixels could take this long.
    let limit = if cfg!(debug_assertions) { 10_000 } else { 30 };
    assert!(worst.as_millis() < limit, "{worst:?}");
}
