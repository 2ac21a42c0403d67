//! Each element says for itself whether it shows: a container that does not show hides nothing that
//! does, and nothing off the screen shows.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use deskline_core::Rect;
use deskline_testbed::web::Page;
use deskline_testbed::{Answer, App, Bed, Client, until};
use serde_json::json;

/// Landmarks of the kinds that Gecko or Chromium report as not showing, and hidden contents.
const PAGE: &str = "<style>button, input { display: inline-block }</style>\
    <main aria-label=Contents style='display: contents'>\
      <button onclick=\"log('clicked Inside')\">Inside</button>\
      <form aria-label=Contact style='display: contents'>\
        <input aria-label=Surname oninput=\"log('surname', this.value)\"></form></main>\
    <section aria-label=Flat style='height: 0; overflow: visible'>\
      <button onclick=\"log('clicked Flat')\">Over</button></section><br><br>\
    <section aria-label=Aside style='position: absolute; left: -700px; top: 200px; width: 9px; height: 9px'>\
      <button style='position: fixed; left: 300px; top: 250px' onclick=\"log('clicked Fixed')\">\
        Fixed</button></section>\
    <div role=group aria-label=Bare style='visibility: hidden'>\
      <button style='visibility: visible' onclick=\"log('clicked Bare')\">Shown</button>\
      <button>Unseen</button></div>\
    <div role=group style='display: none'><button>Gone</button></div>\
    <div role=group style='position: absolute; left: -700px'><button>Away</button></div>\
    <div style='height: 60px; overflow: auto'><div style='height: 300px'>Text</div>\
      <div role=group style='display: contents'><button>Below</button></div></div>\
    <details><summary>More</summary><div role=group><button>Folded</button></div></details>\
    <script>log('ready')</script>";

const HIDDEN: [&str; 5] = ["Unseen", "Gone", "Away", "Below", "Folded"];

fn is_driven(bed: &Bed, server: &Client, app: &App<'_>, page: &Page) {
    let (persons, _) = bed.mousepad("");
    let shows = |answer: &Answer, name: &str| {
        let line = answer.find("AXButton", name);
        line.is_some_and(|line| line.visible)
    };
    let seen = until("the page's buttons", || {
        Some(server.refresh(app.pid).ok()).filter(|seen| shows(seen, "Shown"))
    });
    for name in HIDDEN {
        assert!(!shows(&seen, name), "{name}: {}", seen.file());
    }
    for (name, logged) in [
        ("Inside", "clicked Inside"),
        ("Over", "clicked Flat"),
        ("Fixed", "clicked Fixed"),
        ("Shown", "clicked Bare"),
    ] {
        assert!(shows(&seen, name), "{name}: {}", seen.file());
        persons.bring_to_front();
        let click = json!({"pid": app.pid, "element": name, "role": "AXButton"});
        let answer = server.call("click_and_traverse", click).ok();
        page.wait_for(logged);
        assert_eq!(bed.screen().front(), persons.window.id, "{answer}");
    }
    let typed = json!({"pid": app.pid, "element": "Surname", "text": "Lovelace"});
    server.call("click_and_traverse", typed).ok();
    page.wait_for("surname Lovelace");
}

#[test]
fn invisible_landmarks_hide_no_other_element_in_firefox() {
    let (bed, server) = Bed::with_server();
    let (app, page) = bed.firefox_page(PAGE);
    is_driven(&bed, &server, &app, &page);
}

#[test]
fn invisible_landmarks_hide_no_other_element_in_chromium() {
    let (bed, server) = Bed::with_server();
    let (app, page) = bed.chromium(PAGE);
    is_driven(&bed, &server, &app, &page);
}

/// One window reaches beyond the screen, and one was put aside by its toolkit.
#[test]
fn nothing_off_the_screen_is_visible() {
    let (bed, server) = Bed::with_server();
    let app = bed.aside();
    let id = app.window.id.to_string();
    bed.run("xdotool", &["windowmove", &id, "-200", "100"]);
    let seen = until("the window beside the screen", || {
        let seen = server.refresh(app.pid).ok();
        seen.lines()
            .iter()
            .any(|l| l.to_string().contains("Aside"))
            .then_some(seen)
    });
    let lines = seen.lines();
    let visible = |name: &str| {
        let is = |line: &&deskline_core::Line| line.to_string().contains(&format!("\"{name}\""));
        let line = lines.iter().find(is).unwrap();
        (line.visible, line.extents)
    };
    assert!(visible("Near").0, "{}", seen.file());
    assert!(!visible("Far").0, "{}", seen.file());
    let screen = Rect::at(0, 0, 1920, 1080);
    for line in lines.iter().filter(|line| line.visible) {
        let center = line.extents.unwrap().center();
        assert!(screen.contains(center), "{line}");
    }
    let far = json!({"pid": app.pid, "element": "Far"});
    let refused = server.call("click_and_traverse", far);
    refused.fails_with("is not showing");
    refused.fails_with("onto the screen");
    server.click(app.pid, "AXButton", "Near").ok();
    app.wait_for("clicked Near");
}
