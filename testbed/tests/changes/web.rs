//! Answers about web pages: names, values, cells, and the action's effect on its target.

use deskline_core::Line;
use deskline_testbed::{Answer, Bed, Client, until};
use serde_json::{Value, json};

const PAGE: &str = "<label><input type=checkbox onchange=\"log('box', this.checked)\">Box</label>\
    <label>Size <select><option> Small <option selected> Very large </select></label>\
    <label>Phone <input placeholder='(555) 123-4567' value='(555) 000-1111'></label>\
    <label>Fax <input placeholder='(555) 123-4567'></label>\
    <div>Company</div><input value=Acme>\
    <label>Day <input type=date value=2026-03-04></label><label>Due <input type=date></label>\
    <table><tr><th>Name<th>Age<tr><td>Ann<td>31<tr><td>Bob<td>42</table>\
    <button onclick=\"d.showModal(); log('asked')\">Ask</button>\
    <dialog id=d><h2>Sure?</h2><button onclick='d.close()'>Yes</button></dialog>";

/// The line with this role and name: its value, if it has one.
fn value(answer: &Answer, role: &str, name: &str) -> Option<String> {
    let line = answer.line_of(role, name);
    let text = line.text.as_ref().map(|text| text.shown.trim().to_owned());
    assert_eq!(text.as_deref(), Some(name), "{line}");
    line.value.map(|value| value.shown)
}

fn check(server: &Client, pid: u32, log: &dyn Fn(&str), address: &str) {
    let call = |tool: &str, mut arguments: Value| {
        arguments["pid"] = pid.into();
        server.call(tool, arguments).ok()
    };
    // Firefox reports bounds some time after its window has opened.
    let seen = until("the page to show", || {
        let seen = call("refresh_traversal", json!({}));
        let shows = seen
            .find("AXCheckBox", "Box")
            .is_some_and(|line| line.visible);
        let has_cells = seen
            .find("AXCell", "42")
            .is_some_and(|at| at.cell.is_some());
        // The page comes before the browser's own toolbar.
        let first = seen.list("visible_elements").first().copied();
        let is_first = first.is_some_and(|line| line.contains("\"Box\""));
        (shows && has_cells && is_first).then_some(seen)
    });
    let is = |role: &str, name: &str| value(&seen, role, name);
    assert_eq!(is("AXComboBox", "Size").as_deref(), Some("Very large"));
    assert_eq!(
        is("AXTextField", "Phone").as_deref(),
        Some("(555) 000-1111")
    );
    assert_eq!(is("AXTextField", "Fax"), None, "a placeholder is no value");
    assert_eq!(is("AXTextField", "Company").as_deref(), Some("Acme"));
    assert_eq!(is("AXDateField", "Day").as_deref(), Some("03/04/2026"));
    assert_eq!(is("AXDateField", "Due"), None);
    let bob = seen.line_of("AXCell", "42");
    let place = bob.cell.map(|at| (at.row, at.column));
    assert_eq!(place, Some((3, 2)), "{bob}");
    let row = |line: &Line| line.reference == bob.parent && line.role.ax() == "AXRow";
    assert!(seen.lines().iter().any(row), "{}", seen.file());

    let ticked = call("click_and_traverse", json!({"element": "Box"}));
    log("box true");
    let target = ticked.field("target");
    assert!(target.starts_with("[AXCheckBox"), "{target}");
    assert!(target.contains(" checked"), "{target}");

    let asked = call("click_and_traverse", json!({"element": "Ask"}));
    log("asked");
    assert!(asked.field("dialog").contains("Sure?"), "{asked}");
    let shows = |role: &str, name: &str| asked.find(role, name).is_some_and(|line| line.visible);
    assert!(shows("AXButton", "Yes"), "{}", asked.file());
    assert!(!shows("AXCheckBox", "Box"), "{}", asked.file());
    let bar = asked.lines().into_iter().find(|line| {
        let texts = line.value.iter().chain(&line.text);
        // In Chromium this element is a text field, in Firefox a combo box.
        matches!(line.role.ax(), "AXTextField" | "AXComboBox")
            && texts.clone().any(|t| t.shown.contains(address))
    });
    assert!(
        bar.is_some_and(|line| line.visible),
        "the address is not covered"
    );
}

#[test]
fn a_page_has_names_values_and_cells_and_a_click_reports_the_ticked_box() {
    let (bed, server) = Bed::with_server();
    let (app, page) = bed.chromium(PAGE);
    let address = page.address();
    let address = address.trim_start_matches("http://").trim_end_matches('/');
    check(&server, app.pid, &|line| page.wait_for(line), address);
}

#[test]
fn a_page_has_the_same_tree_in_firefox_as_in_chromium() {
    let (bed, server) = Bed::with_server();
    let log =
        "<script>function log(...words) { document.title = 'Reading ' + words.join(' ') }</script>";
    let app = bed.firefox(&format!("{log}{PAGE}"));
    let logged = |line: &str| {
        until(&format!("\"{line}\" in the title"), || {
            app.window_now().title.contains(line)
        });
    };
    check(&server, app.pid, &logged, "page.html");
}
