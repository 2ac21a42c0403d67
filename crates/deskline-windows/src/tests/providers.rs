//! Providers that hang, report false success, change while they are read, or create elements on
//! demand.

use std::sync::Arc;
use std::time::{Duration, Instant};

use deskline_core::WindowId;
use deskline_link::{Action, Target};

use super::desk::{Desk, EDITOR, FORM, NOTES, tree};
use crate::tests::fake::{PID, raw, with};
use crate::tree::uia::{Patterns, Raw};

const LIST: i32 = 50_008;
const ITEM: i32 = 50_007;

#[test]
fn a_hung_app_is_given_up_within_seconds_and_delays_no_other_app() {
    let mut desk = Desk::new();
    desk.fake.hang(desk.form, true);
    let start = Instant::now();
    let answer = desk.click_on("Bold");
    assert!(answer.is_error, "{}", answer.text);
    assert!(answer.text.contains("does not answer"), "{}", answer.text);
    assert!(start.elapsed() < Duration::from_secs(3));
    let start = Instant::now();
    let answer = desk.refresh(EDITOR);
    assert!(!answer.is_error, "{}", answer.text);
    assert!(start.elapsed() < Duration::from_secs(1));
}

#[test]
fn a_hang_of_the_app_in_the_middle_of_a_link_ends_the_link() {
    let mut desk = Desk::new();
    let form = desk.form;
    let hangs = Arc::new(move |world: &mut crate::tests::fake::World| {
        world.elements[form].hung = true;
        world.apps.get_mut(&PID).unwrap().hung = true;
    });
    desk.fake.world().pressed.insert(desk.bold, hangs);
    let start = Instant::now();
    let answer = desk.click_on("Bold");
    assert!(answer.text.contains("no answer"), "{}", answer.text);
    assert!(
        start.elapsed() < Duration::from_secs(8),
        "{:?}",
        start.elapsed()
    );
    assert_eq!(desk.front(), Some(super::desk::NOTES));
}

/// WPF reports items that are scrolled out of a list as on the screen, with bounds beyond it.
#[test]
fn an_item_beyond_its_list_is_not_clicked_at_its_reported_place() {
    let mut desk = Desk::new();
    let list = desk
        .fake
        .add(desk.form, raw(LIST, "people", [250.0, 120.0, 200.0, 60.0]));
    let item = with(
        raw(ITEM, "Zoe", [250.0, 250.0, 200.0, 24.0]),
        Patterns::SELECTION_ITEM,
    );
    desk.fake.add(list, item);
    let answer = desk.click_on("Zoe");
    assert!(answer.is_error, "{}", answer.text);
    assert_eq!(desk.fake.requests("click"), 0, "{}", answer.text);
}

/// An app that adds a line at each request, as a log does.
#[test]
fn an_app_that_changes_during_a_reading_is_still_read() {
    let mut desk = Desk::new();
    desk.fake.world().odd.subtree_times_out = true;
    let list = desk
        .fake
        .add(desk.form, raw(LIST, "log", [250.0, 120.0, 200.0, 200.0]));
    let lines = Arc::new(move |world: &mut crate::tests::fake::World| {
        let count = world.elements[list].children.len();
        if count >= 3 {
            world.elements[list].children.remove(0);
        }
        let at = [250.0, 130.0, 200.0, 20.0];
        world.add(
            Some(list),
            raw(ITEM, &format!("line {}", world.elements.len()), at),
        );
    });
    desk.fake.world().meanwhile = Some(lines);
    let answer = desk.refresh(PID);
    assert!(!answer.is_error, "{}", answer.text);
    let answer = desk.press_on(Target::text("Bold"));
    assert!(!answer.is_error && desk.is_bold(), "{}", answer.text);
}

/// A list that creates its items as they scroll into view: an item that does not exist yet is found
/// by its name.
#[test]
fn a_list_item_that_is_not_created_yet_is_chosen_by_name() {
    let mut desk = Desk::new();
    let has = Patterns::ITEM_CONTAINER | Patterns::SELECTION;
    let list = with(raw(LIST, "people", [250.0, 120.0, 200.0, 60.0]), has);
    let list = desk.fake.add(desk.form, list);
    let has = Patterns::SELECTION_ITEM | Patterns::VIRTUALIZED_ITEM;
    let item = Raw {
        offscreen: true,
        ..with(raw(ITEM, "Zoe", [0.0; 4]), has)
    };
    let item = desk.fake.add(list, item);
    desk.fake.world().elements[item].unmade = true;
    let action = Action::set_value(Target::text("people"), "Zoe");
    let answer = desk.run(PID, action);
    assert!(!answer.is_error, "{}", answer.text);
    assert!(desk.fake.raw(item).selected);
}

/// A page with a button.
fn page(desk: &Desk, framework: &str) -> usize {
    let mut page = raw(50_030, "Page", [250.0, 120.0, 200.0, 200.0]);
    page.framework = framework.into();
    let page = desk.fake.add(desk.form, page);
    let order = raw(50_000, "Order", [260.0, 130.0, 80.0, 24.0]);
    desk.fake.add(page, order);
    page
}

/// A browser creates the elements of its page at the first request for them: VS Code within 3 s.
#[test]
fn the_first_reading_waits_for_the_page_of_a_browser() {
    let mut desk = Desk::new();
    let page = page(&desk, "Chrome");
    desk.fake.world().elements[page].wakes_after = Duration::from_millis(2_500);
    let answer = desk.refresh(PID);
    assert!(tree(&answer).contains("\"Order\""), "{}", tree(&answer));
}

/// A Firefox without providers of its own: the system's bridge takes 4 to 20 s for a page
/// (nvaccess/nvda #17694).
#[test]
fn a_page_that_builds_late_is_reported_and_waited_for_again() {
    let mut desk = Desk::new();
    desk.fake.world().win_mut(FORM).unwrap().class = "MozillaWindowClass";
    page(&desk, "Gecko");
    desk.fake.world().elements[desk.form].wakes_after = Duration::from_millis(4_500);
    let answer = desk.refresh(PID);
    let said = "the page is not in the tree yet";
    assert!(answer.text.contains(said), "{}", answer.text);
    let answer = desk.refresh(PID);
    assert!(tree(&answer).contains("\"Order\""), "{}", tree(&answer));
    assert!(!answer.text.contains(said), "{}", answer.text);
}

/// Explorer's task bar is above its folders, and may be slow.
#[test]
fn the_folders_of_explorer_are_read_before_its_task_bar() {
    let mut desk = Desk::new();
    let bar = desk.fake.window(30, "", [0.0, 1040.0, 1920.0, 40.0]);
    let mut world = desk.fake.world();
    world.win_mut(WindowId(30)).unwrap().class = "Shell_TrayWnd";
    world.elements[bar].costs = Duration::from_millis(2_100);
    world.come(NOTES);
    world.come(WindowId(30));
    drop(world);
    let answer = desk.refresh(PID);
    assert!(tree(&answer).contains("\"Bold\""), "{}", tree(&answer));
}

/// Qt's providers act, and then raise an event. If nobody listens to it, they return an error that
/// has the same number as the error for an element that is gone.
#[test]
fn an_action_succeeds_although_nobody_listens_to_its_event() {
    let mut desk = Desk::new();
    desk.fake.world().odd.events_fail = true;
    let action = Action::set_value(Target::text("Name"), "Ann");
    let answer = desk.run(PID, action);
    assert!(!answer.is_error, "{}", answer.text);
    assert_eq!(desk.fake.raw(desk.name).value, "Ann");
    assert_eq!(desk.fake.actions().len(), 1);
}

/// Excel takes seconds for a subscription (<https://github.com/nvaccess/nvda/issues/7345>).
#[test]
fn several_calls_on_an_app_subscribe_to_its_events_only_once() {
    let mut desk = Desk::new();
    for wanted in [true, false, true] {
        desk.press_on(Target::text("Bold"));
        assert_eq!(desk.is_bold(), wanted);
    }
    assert_eq!(desk.fake.requests("listen"), 1);
    // The pid now belongs to another process.
    desk.fake.world().apps.get_mut(&PID).unwrap().started = 8;
    desk.press_on(Target::text("Bold"));
    assert!(!desk.is_bold());
    assert_eq!(desk.fake.requests("listen"), 2);
}
