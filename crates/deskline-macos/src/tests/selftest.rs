//! Runs the self-test on a fake with `TextEdit` and Calculator as macOS has them.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::desk::{Desk, field, install};
use crate::checks::mac::test;
use crate::os::Value;
use crate::os::fake::pasteboard::paste;
use crate::os::fake::{Id, Node, World, text};

fn textedit(world: &mut World, path: PathBuf) -> u32 {
    let root = world.app(300, "TextEdit", path);
    let first = world.add(root, "AXWindow", "Welcome", [60.0, 60.0, 300.0, 200.0]);
    let (file, _) = world.menu_bar(300, "Close", Arc::new(|_| {}));
    let bar = world.node(file).parent;
    for name in ["TextEdit", "Apple"] {
        let item = world.add(bar, "AXMenuBarItem", name, [0.0, 0.0, 20.0, 24.0]);
        let children = &mut world.node(bar).children;
        children.pop();
        children.insert(0, item);
    }
    let app = world.apps.get_mut(&300).unwrap();
    app.shortcuts
        .insert(45, Arc::new(move |world| new_window(world, root, first)));
    app.shortcuts.insert(12, Arc::new(|world| world.quit(300)));
    app.shortcuts.insert(1, Arc::new(sheet));
    app.shortcuts.insert(9, Arc::new(paste));
    app.shortcuts.insert(
        53,
        Arc::new(move |world| {
            let over = [text("AXSheet")];
            let is_over = |n: &Node| {
                let role = &n.attributes["AXRole"];
                over.contains(role) || n.parent == 0 && *role == text("AXMenu")
            };
            let sheets = world.nodes.iter().filter(|(_, n)| is_over(n));
            let sheets: Vec<Id> = sheets.map(|(id, _)| *id).collect();
            for id in &sheets {
                world.remove(*id);
            }
            if world.extra.pop().is_some() && sheets.is_empty() {
                world.set(file, "AXSelected", Value::Bool(false));
            }
        }),
    );
    300
}

fn new_window(world: &mut World, root: Id, first: Id) {
    world.remove(first);
    let window = world.add(root, "AXWindow", "Untitled", [80.0, 80.0, 500.0, 400.0]);
    world.draggable.insert(window);
    world.node(window).settable.insert("AXFullScreen");
    let scrolls = world.add(window, "AXScrollArea", "", [90.0, 110.0, 480.0, 360.0]);
    let bar = world.add(scrolls, "AXScrollBar", "", [560.0, 110.0, 10.0, 360.0]);
    world.set(bar, "AXValue", Value::Number(0.0));
    let known = Value::Element(bar);
    world
        .node(scrolls)
        .attributes
        .insert("AXVerticalScrollBar", known);
    let at = [90.0, 110.0, 460.0, 360.0];
    let area = field(world, scrolls, "AXTextArea", "", at);
    world.set(area, "AXValue", text(""));
    world.fields.insert(window, area);
    world.focus(300, area);
    closes(world, window);
    let menu = Arc::new(over);
    world.right_clicks.insert(area, menu);
}

/// Shows a menu over the document.
fn over(world: &mut World) {
    let place = [320.0, 200.0, 150.0, 120.0];
    let menu = world.add(0, "AXMenu", "", place);
    world.node(menu).pid = 300;
    world.extra.push((300, place, 101));
    world.tell(300, "AXMenuOpened", menu);
}

/// Gives a window a button that closes it.
fn closes(world: &mut World, window: Id) {
    let at = world.node(window).attributes["AXPosition"].clone();
    let Value::Point(x, y) = at else { return };
    let close = world.add(window, "AXButton", "", [x + 5.0, y + 5.0, 10.0, 10.0]);
    let button = Value::Element(close);
    world
        .node(window)
        .attributes
        .insert("AXCloseButton", button);
    world.node(close).pressed = Some(Arc::new(move |world| world.remove(window)));
}

fn sheet(world: &mut World) {
    let window = world.stack[0];
    let at = world.node(window).attributes["AXPosition"].clone();
    let Value::Point(x, y) = at else { return };
    let place = [x + 20.0, y + 20.0, 400.0, 300.0];
    let sheet = world.add(window, "AXSheet", "save", place);
    let inner = [x + 30.0, y + 30.0, 100.0, 200.0];
    let outline = world.add(sheet, "AXOutline", "sidebar", inner);
    let row = [x + 30.0, y + 30.0, 100.0, 20.0];
    let row = world.add(outline, "AXRow", "Documents", row);
    world.node(row).settable.insert("AXSelected");
    world.extra.push((300, place, 0));
}

fn calculator(world: &mut World, path: PathBuf) -> u32 {
    let root = world.app(301, "Calculator", path);
    let window = world.add(root, "AXWindow", "Calculator", [700.0, 100.0, 230.0, 400.0]);
    let seven = world.add(window, "AXButton", "", [710.0, 300.0, 50.0, 50.0]);
    world.set(seven, "AXDescription", text("7"));
    let at = [710.0, 110.0, 200.0, 40.0];
    let shown = field(world, window, "AXTextField", "", at);
    world.set(shown, "AXValue", text(""));
    // The fake types into the field, but the app has to show the result.
    world.set(shown, "AXDescription", Value::Bool(true));
    let sum = world.add(window, "AXStaticText", "42", [710.0, 160.0, 60.0, 20.0]);
    let equals = world.add(window, "AXButton", "=", [780.0, 300.0, 50.0, 50.0]);
    let clicked = AtomicU32::new(0);
    world.node(equals).pressed = Some(Arc::new(move |world| {
        let now = clicked.fetch_add(1, Ordering::Relaxed) + 1;
        world.set(sum, "AXValue", text(&now.to_string()));
    }));
    let app = world.apps.get_mut(&301).unwrap();
    app.shortcuts.insert(12, Arc::new(|world| world.quit(301)));
    world.focus(301, shown);
    301
}

#[test]
fn the_self_test_passes_on_a_working_mac() {
    let desk = Desk::in_real_time();
    install(&desk, "TextEdit", textedit);
    install(&desk, "Calculator", calculator);
    desk.given(|world| {
        world.quirks.loses_quick_ups = true;
        world.quirks.strict_drags = true;
        world.quirks.late_pointer = std::time::Duration::from_millis(10);
        world.quirks.drops_still_move = true;
        world.bring_forward(super::desk::EDITOR);
    });
    let mut lines = Vec::new();
    let say = &mut |line: &str| lines.push(line.to_owned());
    let report = test(&desk.mac, desk.journal.clone(), None, say);
    let bad: Vec<&String> = lines.iter().filter(|l| l.starts_with('✗')).collect();
    assert!(report.passed && bad.is_empty(), "{bad:#?}");
    for part in [
        "permission under the launching app: pid ",
        "✓ set_selected: Selected",
        "✓ a sheet in the picture: 100%",
        "✓ a menu in the picture: 100%",
        "sheet closes",
        "picture",
        "its limit",
        "your Esc",
        "Calculator shows 50 after 50 clicks",
        "scroll, by the scroll bar",
        "drag, by the window's place",
        "items showed, 0 after Escape",
        "another Space: arrived: true, back: true",
        "✓ a rear window: ",
        "✓ back to a window in full screen: back: true",
        "✓ set_value: ",
        "✓ click with text: ",
        "✓ type: ",
        "✓ paste: ",
        "✓ 600 characters, though the mouse moved: came: true, guarded: true, pointer back: true",
        "✓ 500 links: windows 0 → 0",
        "✓ pointer and front window put back: ",
        "order of the other apps' windows",
        "nothing is left open",
        "By hand: Turn Stage Manager on",
    ] {
        assert!(lines.iter().any(|l| l.contains(part)), "{part}: {lines:#?}");
    }
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["passed"], true);
    assert_eq!(
        json["findings"].as_array().map(Vec::len),
        Some(report.findings.len())
    );
}

#[test]
fn the_self_test_names_each_fault() {
    let desk = Desk::new();
    install(&desk, "TextEdit", textedit);
    let mut lines = Vec::new();
    desk.mac.world().secure_input = true;
    let say = &mut |line: &str| lines.push(line.to_owned());
    let report = test(&desk.mac, desk.journal.clone(), None, say);
    assert!(!report.passed);
    assert!(lines.iter().any(|l| l.starts_with("✗ guard")), "{lines:#?}");
    assert!(
        lines.iter().any(|l| l.starts_with("✗ open_application")),
        "{lines:#?}"
    );
}

#[test]
fn without_permission_the_self_test_asks_for_it_and_names_the_pane() {
    let desk = Desk::new();
    desk.mac.world().trusted = false;
    let mut lines = Vec::new();
    let say = &mut |line: &str| lines.push(line.to_owned());
    let report = test(&desk.mac, desk.journal.clone(), None, say);
    assert!(!report.passed);
    assert_eq!(desk.mac.world().asked, 1);
    assert!(
        lines.iter().any(|l| l.contains("Privacy_Accessibility")),
        "{lines:#?}"
    );
}
