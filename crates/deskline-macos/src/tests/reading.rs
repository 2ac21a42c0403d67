//! Reading trees: visible elements first, large tables by their visible rows, menus, identity,
//! retained references.

use std::time::Duration;

use deskline_contract::doctor::Status;
use deskline_contract::{Platform as _, Scope, Trees as _};
use deskline_core::{Role, Tree};
use deskline_link::call::Typing;
use deskline_link::{Action, Target};

use super::desk::{Desk, Expect, MAIL, element, field, reference};
use crate::desktop::MacDesktop;
use crate::os::Value;
use crate::os::fake::{Fake, text};
use crate::platform::MacPlatform;

fn read(mac: &Fake, scope: Scope) -> Tree {
    let mut desktop = MacDesktop::new(mac.clone());
    desktop.read(MAIL, scope).unwrap()
}

const WHOLE: Scope = Scope::Whole {
    budget: Duration::from_secs(5),
};

fn titles(tree: &Tree) -> Vec<&str> {
    let named = tree.elements.iter().filter(|e| !e.title.shown.is_empty());
    named.map(|e| e.title.shown.as_str()).collect()
}

/// Adds a table whose rows are 20 points high. 5 of them are visible.
fn table(desk: &Desk, rows: u64) -> (u64, Vec<u64>) {
    let mut world = desk.mac.world();
    let at = [110.0, 400.0, 200.0, 100.0];
    let area = world.add(desk.window, "AXScrollArea", "", at);
    let at = [110.0, 400.0 - 1_000.0, 200.0, rows as f64 * 20.0];
    let table = world.add(area, "AXTable", "Big", at);
    let ids: Vec<u64> = (0..rows)
        .map(|n| {
            let y = 400.0 - 1_000.0 + n as f64 * 20.0;
            world.add(table, "AXRow", &format!("row {n}"), [110.0, y, 200.0, 20.0])
        })
        .collect();
    let visible = ids[50..55].to_vec();
    world.set(table, "AXVisibleRows", Value::Elements(visible));
    (table, ids)
}

#[test]
fn a_big_table_is_asked_for_its_visible_rows_and_never_for_all() {
    let desk = Desk::new();
    let (id, _) = table(&desk, 20_000);
    let calls = desk.mac.world().calls;
    let tree = read(&desk.mac, Scope::Showing);
    let rows: Vec<&str> = titles(&tree)
        .into_iter()
        .filter(|t| t.starts_with("row"))
        .collect();
    assert_eq!(rows, ["row 50", "row 51", "row 52", "row 53", "row 54"]);
    assert!(desk.mac.world().calls - calls < 60);
    assert_eq!(desk.mac.world().whole_reads.get(&id), None);
    assert_eq!(
        tree.partial,
        ["not read: 19995 hidden rows of 'Big' [AXTable]"]
    );
    let table = tree
        .elements
        .iter()
        .find(|e| e.title.shown == "Big")
        .unwrap();
    assert!(!table.children_read);
}

#[test]
fn the_hidden_rows_of_a_table_are_read_in_ranges_and_listed_in_order() {
    let desk = Desk::new();
    let (id, _) = table(&desk, 333);
    let tree = read(&desk.mac, WHOLE);
    let rows: Vec<String> = titles(&tree)
        .into_iter()
        .filter(|t| t.starts_with("row"))
        .map(str::to_owned)
        .collect();
    let wanted: Vec<String> = (0..333).map(|n| format!("row {n}")).collect();
    assert_eq!(rows, wanted);
    assert!(tree.partial.is_empty(), "{:?}", tree.partial);
    assert_eq!(desk.mac.world().whole_reads.get(&id), None);
    let visible = tree
        .elements
        .iter()
        .filter(|e| e.visible && e.title.shown.starts_with("row"));
    assert_eq!(visible.count(), 5);
}

#[test]
fn cells_have_their_row_and_column_and_a_field_its_label_beside_it() {
    let desk = Desk::new();
    desk.given(|world| {
        let table = world.add(desk.window, "AXTable", "Sums", [110.0, 400.0, 200.0, 60.0]);
        for row in 0..3 {
            let y = 400.0 + f64::from(row) * 20.0;
            let row = world.add(table, "AXRow", "", [110.0, y, 200.0, 20.0]);
            for x in [110.0, 210.0] {
                let cell = world.add(row, "AXCell", "", [x, y, 100.0, 20.0]);
                world.add(cell, "AXStaticText", "some", [x, y, 50.0, 20.0]);
            }
        }
        let label = [350.0, 420.0, 60.0, 20.0];
        world.add(desk.window, "AXStaticText", "Subject", label);
        let place = [420.0, 420.0, 150.0, 20.0];
        field(world, desk.window, "AXTextField", "", place);
    });
    let tree = read(&desk.mac, WHOLE);
    let cells = tree.elements.iter().filter_map(|e| e.cell);
    let cells: Vec<(u32, u32)> = cells.map(|cell| (cell.row, cell.column)).collect();
    assert_eq!(cells, [(1, 1), (1, 2), (2, 1), (2, 2), (3, 1), (3, 2)]);
    let labelled = tree.elements.iter().filter(|e| e.title.shown == "Subject");
    let roles: Vec<_> = labelled.map(|e| e.role).collect();
    assert_eq!(roles, [Role::TEXT_FIELD]);
}

#[test]
fn each_element_is_read_by_one_batched_call() {
    let desk = Desk::new();
    let calls = desk.mac.world().calls;
    let tree = read(&desk.mac, Scope::Showing);
    // One more call reads the app's toplevels.
    assert_eq!(
        desk.mac.world().calls - calls,
        tree.elements.len() as u64 + 1
    );
}

#[test]
fn only_the_items_of_an_open_menu_are_visible() {
    let desk = Desk::new();
    let item = desk.given(|world| {
        let root = world.apps[&MAIL].root;
        let bar = world.add(root, "AXMenuBar", "", [0.0, 0.0, 1_440.0, 24.0]);
        let item = world.add(bar, "AXMenuBarItem", "File", [50.0, 0.0, 40.0, 24.0]);
        let menu = world.add(item, "AXMenu", "", [50.0, 24.0, 200.0, 300.0]);
        let entry = world.add(menu, "AXMenuItem", "Close", [50.0, 30.0, 200.0, 22.0]);
        world.set(entry, "AXMenuItemMarkChar", text("✓"));
        world.bring_forward(MAIL);
        item
    });
    let close = |tree: &Tree| {
        let found = tree.elements.iter().find(|e| e.title.shown == "Close");
        found.map(|e| (e.visible, e.states.words().collect::<Vec<_>>().join(" ")))
    };
    assert_eq!(close(&read(&desk.mac, Scope::Showing)), None);
    assert_eq!(
        close(&read(&desk.mac, WHOLE)),
        Some((false, "checked".into()))
    );
    desk.mac.world().set(item, "AXSelected", Value::Bool(true));
    assert_eq!(
        close(&read(&desk.mac, Scope::Showing)),
        Some((true, "checked".into()))
    );
}

#[test]
fn hidden_elements_are_read_after_visible_ones() {
    let desk = Desk::new();
    desk.given(|world| {
        let area = world.add(desk.window, "AXScrollArea", "", [110.0, 400.0, 200.0, 80.0]);
        world.add(area, "AXButton", "Below", [110.0, 700.0, 60.0, 20.0]);
        let root = world.apps[&MAIL].root;
        let window = world.add(root, "AXWindow", "Inbox", [10.0, 10.0, 300.0, 200.0]);
        world.set(window, "AXMinimized", Value::Bool(true));
        world.add(window, "AXButton", "Reply", [20.0, 20.0, 60.0, 20.0]);
    });
    let tree = read(&desk.mac, Scope::Showing);
    assert!(!titles(&tree).contains(&"Reply"));
    let whole = read(&desk.mac, WHOLE);
    for name in ["Below", "Reply"] {
        let found = whole
            .elements
            .iter()
            .find(|e| e.title.shown == name)
            .unwrap();
        assert!(!found.visible, "{name}");
    }
}

#[test]
fn a_busy_element_is_asked_again_and_a_silent_one_is_reported() {
    let desk = Desk::new();
    let send = desk.send;
    desk.mac.world().node(send).busy = 1;
    let tree = read(&desk.mac, Scope::Showing);
    assert!(titles(&tree).contains(&"Send") && tree.partial.is_empty());
    desk.mac.world().node(send).busy = 2;
    let tree = read(&desk.mac, Scope::Showing);
    assert!(!titles(&tree).contains(&"Send"));
    assert_eq!(
        tree.partial,
        ["1 element did not answer, though the app does"]
    );
    let window = tree
        .elements
        .iter()
        .find(|e| e.title.shown == "New Message");
    assert!(!window.unwrap().children_read);
}

#[test]
fn two_elements_with_the_same_hash_stay_apart_and_keep_their_refs() {
    let mut desk = Desk::new();
    let (send, urgent) = (desk.send, desk.urgent);
    desk.given(|world| {
        world.node(urgent).hash = 7;
        world.node(send).hash = 7;
    });
    let first = desk.refresh();
    let refs = ["\"Send\"", "\"Urgent\""].map(|name| reference(element(&first, name)));
    assert_ne!(refs[0], refs[1]);
    let again = desk.refresh();
    assert_eq!(
        refs,
        ["\"Send\"", "\"Urgent\""].map(|n| reference(element(&again, n)))
    );
}

#[test]
fn a_new_element_never_gets_the_ref_of_a_dead_one_of_the_same_hash() {
    let mut desk = Desk::new();
    let before = reference(element(&desk.refresh(), "\"Send\""));
    desk.given(|world| {
        let (send, window) = (desk.send, desk.window);
        let hash = world.node(send).hash;
        world.remove(send);
        let new = world.add(window, "AXButton", "Discard", [620.0, 110.0, 60.0, 28.0]);
        world.node(new).hash = hash;
    });
    assert_ne!(before, reference(element(&desk.refresh(), "\"Discard\"")));
}

#[test]
fn a_pid_that_is_used_again_is_another_app() {
    let mut desk = Desk::new();
    let before = reference(element(&desk.refresh(), "\"Send\""));
    desk.mac.world().apps.get_mut(&MAIL).unwrap().started += 60;
    assert_ne!(before, reference(element(&desk.refresh(), "\"Send\"")));
}

#[test]
fn element_references_stay_balanced_and_are_all_released_at_the_end() {
    let mut desk = Desk::new();
    assert_eq!(desk.mac.live(), 0);
    desk.refresh();
    let after_one = desk.mac.live();
    for _ in 0..20 {
        desk.click(Target::titled("Urgent", "AXCheckBox"), Typing::default())
            .ok();
    }
    assert_eq!(desk.mac.live(), after_one);
    // Elements that the app destroys are released, once each.
    let (send, urgent) = (desk.send, desk.urgent);
    desk.mac.world().node(urgent).pressed =
        Some(std::sync::Arc::new(move |world| world.remove(send)));
    let held_for_send = 2;
    let target = Target::titled("Urgent", "AXCheckBox");
    assert!(!desk.run(Action::press_ax(target)).is_error);
    desk.refresh();
    assert_eq!(desk.mac.live(), after_one - held_for_send);
    let mac = desk.mac.clone();
    drop(desk);
    assert_eq!(mac.live(), 0);
}

#[test]
fn a_ping_answers_at_once_for_a_living_app_and_in_time_for_a_hung_one() {
    let desk = Desk::new();
    let platform = MacPlatform::new(desk.mac.clone());
    platform.ping(MAIL).unwrap();
    platform.ping(999).unwrap();
    desk.mac.world().apps.get_mut(&MAIL).unwrap().hung = true;
    assert!(platform.ping(MAIL).is_err());
}

#[test]
fn the_first_call_waits_for_the_page_of_an_electron_app() {
    let desk = Desk::in_real_time();
    let (mac, window) = (desk.mac.clone(), desk.window);
    let root = mac.world().apps[&MAIL].root;
    mac.world()
        .node(root)
        .settable
        .insert("AXManualAccessibility");
    let renderer = std::thread::spawn(move || {
        let until = std::time::Instant::now() + Duration::from_secs(5);
        while std::time::Instant::now() < until {
            let mut world = mac.world();
            if world
                .node(root)
                .attributes
                .contains_key("AXManualAccessibility")
            {
                let page = world.add(window, "AXWebArea", "page", [100.0, 120.0, 600.0, 380.0]);
                world.add(page, "AXLink", "Home", [110.0, 130.0, 60.0, 20.0]);
                return;
            }
            drop(world);
            std::thread::yield_now();
        }
    });
    let mut desktop = MacDesktop::new(desk.mac.clone());
    let tree = desktop.read(MAIL, Scope::Showing).unwrap();
    renderer.join().unwrap();
    assert!(titles(&tree).contains(&"Home"));
}

#[test]
fn the_doctor_names_the_pane_for_each_permission_and_prompts_for_none() {
    let desk = Desk::new();
    let check = |name: &str| {
        let checks = crate::doctor::examine(&desk.mac, 1);
        let found = checks.into_iter().find(|c| c.name == name);
        let found = found.unwrap_or_else(|| panic!("no check {name}"));
        (found.status, format!("{} {}", found.finding, found.remedy))
    };
    for name in [
        "display",
        "accessibility",
        "screenshot",
        "tree",
        "input lock",
        "keyboard",
    ] {
        assert_eq!(check(name).0, Status::Ok, "{name}");
    }
    desk.mac.world().may_capture = false;
    let (status, said) = check("screenshot");
    assert!(
        status == Status::Warn && said.contains("Privacy_ScreenCapture"),
        "{said}"
    );
    desk.mac.world().trusted = false;
    let (status, said) = check("accessibility");
    assert!(
        status == Status::Fail && said.contains("Privacy_Accessibility"),
        "{said}"
    );
    assert_eq!(desk.mac.world().asked, 0);
    desk.mac.world().displays.clear();
    assert_eq!(check("display").0, Status::Fail);
}
