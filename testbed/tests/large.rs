//! Apps with more content than can be read at once: long pages and spreadsheets.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::fmt::Write as _;
use std::time::Duration;

use deskline_testbed::{Answer, Bed, kilobytes, until};
use serde_json::json;

const GROUPS: usize = 2_500;

/// A page whose body has 10,000 children.
fn page() -> String {
    let mut html = String::new();
    for i in 0..GROUPS {
        let _ = write!(
            html,
            "<div><button>Button {i}</button> <a href='#{i}'>Link {i}</a> \
             <label><input type=checkbox> Option {i}</label><p>Paragraph {i}</p></div>"
        );
    }
    html
}

/// The numbers of the visible elements with this role and name prefix.
fn visible(answer: &Answer, role: &str, name: &str) -> Vec<usize> {
    let file = answer.file();
    let lines = file
        .lines()
        .filter(|l| l.starts_with(' ') && l.contains(role) && l.contains(" visible"));
    let numbers = lines.filter_map(|l| {
        let (_, text) = l.split_once(&format!("\"{name} "))?;
        text.split('"').next()?.parse().ok()
    });
    numbers.collect()
}

#[test]
fn the_visible_part_of_a_long_page_is_read_wherever_it_is_scrolled() {
    let (bed, server) = Bed::with_server();
    let (app, _page) = bed.chromium(&page());
    let refresh = || server.refresh(app.pid).ok();
    let key = |name: &str| {
        let key = json!({"pid": app.pid, "keyName": name});
        server.call("press_key_and_traverse", key).ok();
    };
    // Chromium exposes a long page in pieces, some after the page is ready.
    until("a tree that says that it is not whole", || {
        refresh().file().contains("\n# partial: ")
    });
    for (name, first) in [("Home", Some(0)), ("End", None), ("PageUp", None)] {
        key(name);
        // While Chromium is busy with the rest of the tree, the page scrolls with a delay.
        let answer = until(name, || {
            let answer = refresh();
            let buttons = visible(&answer, "[AXButton", "Button");
            let is_last = buttons.last() == Some(&(GROUPS - 1));
            let is_there = is_last || name != "End" && !buttons.is_empty();
            is_there.then_some(answer)
        });
        let buttons = visible(&answer, "[AXButton", "Button");
        let (from, to) = (buttons[0], buttons[buttons.len() - 1]);
        assert!(buttons.len() >= 5, "{name}: {buttons:?}");
        assert_eq!(buttons, (from..=to).collect::<Vec<_>>(), "{name}");
        assert!(first.is_none_or(|first| first == from), "{name}: {from}");
        // Each line of the page has one of each.
        let links = visible(&answer, "[AXLink", "Link");
        assert_eq!(links, buttons, "{name}");
    }
}

/// One reading has no time for the whole page; the rest is read between the calls.
#[test]
fn a_long_page_is_read_whole_over_several_refreshes() {
    let (bed, server) = Bed::with_server();
    let rename = "document.querySelectorAll('button')[2000].textContent += '!'";
    let html = format!("<button onclick=\"{rename}\">Rename</button>{}", page());
    let (app, _page) = bed.chromium(&html);
    let refresh = || server.refresh(app.pid);
    let has = |file: &str, header: &str| file.lines().any(|l| l.starts_with(header));
    let mut partial = 0;
    let mut reads = |buttons: usize| {
        let file = refresh().ok().file();
        let is_partial = has(&file, "# partial: ");
        partial += usize::from(is_partial);
        let all = (0..buttons).all(|n| file.contains(&format!("\"Button {n}\"")));
        (all && (buttons < GROUPS || !is_partial)).then_some(file)
    };
    until("half of the page", || reads(GROUPS / 2));
    let whole = until("the whole page", || reads(GROUPS));
    assert!(partial > 0, "it was whole at once");
    assert!(has(&whole, "# older: "), "{whole:.300}");
    server.press_ax(app.pid, "AXButton", "Rename").ok();
    let changed = refresh().ok().file();
    assert!(changed.contains("\"Button 1999!\""), "{changed:.300}");
}

#[test]
fn a_spreadsheet_does_not_grow_by_being_read() {
    const TIMES: usize = 30;
    /// The pause between calls: longer than `LibreOffice` keeps a cell that is not requested.
    const THOUGHT: Duration = Duration::from_secs(16);
    /// The maximum growth: less than the memory for the cells of one window.
    const MOST_GROWTH_MB: u64 = 5;
    let (bed, server) = Bed::with_server();
    let (app, _file) = bed.calc(&[&["apple", "3"], &["pear", "4"]]);
    let memory = || kilobytes(app.pid, "VmRSS") / 1024;
    let refresh = || server.refresh(app.pid).ok();
    let value = |answer: &Answer, text: &str| {
        let line = answer.find("AXCell", text);
        line.is_some_and(|line| line.visible)
    };
    assert!(value(&refresh(), "B2 4"));
    let before = memory();
    for _ in 0..TIMES {
        refresh();
    }
    for _ in 0..2 {
        // An agent makes such a pause to think. Nothing in the app changes.
        std::thread::sleep(THOUGHT);
        assert!(value(&refresh(), "B2 4"));
    }
    let grown = memory().saturating_sub(before);
    println!("{} readings: {grown} MB", TIMES + 2);
    assert!(grown < MOST_GROWTH_MB, "soffice grew by {grown} MB");

    // The current values of known cells are read, and cells that were scrolled into view are found.
    let cell = json!({"pid": app.pid, "element": "B2", "role": "AXCell", "text": "seven",
                      "pressKey": "Return"});
    server.call("click_and_traverse", cell).ok();
    let after = refresh();
    assert!(value(&after, "B2 seven"), "{after}");
    let sheet = after.line_of("AXTable", "Sheet Prices").extents.unwrap();
    let down = json!({"pid": app.pid, "x": sheet.x + 50, "y": sheet.y + 50, "deltaY": 3});
    server.call("scroll_and_traverse", down).ok();
    let scrolled = refresh();
    assert!(!value(&scrolled, "B2 seven"), "{scrolled}");
    assert!(value(&scrolled, "B20"), "{scrolled}");
}

/// A list of 3,000 choices is searched by name within a time limit.
#[test]
fn a_choice_of_a_long_list_is_set() {
    let (bed, server) = Bed::with_server();
    let mut options = String::new();
    for i in 0..3_000 {
        let _ = write!(options, "<option>Choice {i}");
    }
    let (app, page) = bed.chromium(&format!(
        "<select aria-label=Pick onchange=\"log('picked', this.value)\">{options}</select>"
    ));
    // Chromium needs a while to build the list.
    until("the combo box", || {
        let answer = server.refresh(app.pid).ok();
        answer.find("AXComboBox", "Pick").map(drop)
    });
    let pick = |value: &str| json!({"pid": app.pid, "element": "Pick", "role": "AXComboBox", "value": value});
    server
        .call("set_value_and_traverse", pick("Choice 2999"))
        .ok();
    page.wait_for("picked Choice 2999");
    let start = std::time::Instant::now();
    let missing = server.call("set_value_and_traverse", pick("Choice 3000"));
    assert!(missing.error().contains("choice"), "{missing}");
    assert!(start.elapsed() < Duration::from_secs(8), "{missing}");
}
