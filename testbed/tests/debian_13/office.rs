//! `LibreOffice` 25.2, with coordinates of the screen and with those of a window: a cell and a
//! paragraph are clicked, filled in and saved. The tests on sway are in `sway_apps.rs`.

use std::fs;

use deskline_testbed::{Compositor, Session, until};
use serde_json::json;

#[test]
fn a_paragraph_of_writer_is_clicked_filled_in_and_saved_on_kwin() {
    let session = Session::new(Compositor::Kwin);
    let server = session.server();
    let (writer, letter) = session.writer(&["First of all", "Then this"], &server);
    let read = server.refresh(writer.pid()).ok();
    let second = read.line_of("AX", "Then this").extents.unwrap();
    let start = json!({"x": second.x + 1, "y": second.y + second.h / 2, "text": "Now "});
    let typed = server.call_for(&writer, "click_and_traverse", start).ok();
    assert!(typed.find("AX", "Now Then this").is_some(), "{typed}");
    server.saves(&writer);
    until("the saved letter", || {
        // In the file, text typed at a paragraph's start has a span of its own.
        let saved = fs::read_to_string(&letter).unwrap();
        let whole = saved.replace("</text:span>", "");
        whole.contains(">Now Then this<").then_some(())
    });
}

#[test]
fn a_cell_of_calc_is_clicked_filled_in_and_saved_on_gnome() {
    let session = Session::new(Compositor::Gnome);
    let server = session.server();
    let (calc, sheet) = session.calc(&[&["apples", "pears", "plums"]], &server);
    server.fills_a_cell_from_its_corners(&calc, &sheet, ["apples", "plums"]);
}
