//! The action goes to the named element, also if its bounds cover other elements, if it is scrolled
//! away, or if accessibility selects or presses another element.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use deskline_testbed::{Answer, App, Bed, Client, oracle, until};
use serde_json::{Value, json};

/// A tree whose expanded rows cover their children, like Thunderbird's folders, and a list of plain
/// boxes in a scroll area of its own. The clicked row is in the window's title.
const PAGE: &str = "<style>#plain,#listed{height:100px;width:200px;overflow:auto}</style>\
    <ul role=tree><li role=treeitem aria-expanded=true><span>Local Folders</span><ul role=group>\
    <li role=treeitem>Inbox</li><li role=treeitem aria-expanded=true><span>Archives</span>\
    <ul role=group><li role=treeitem>Older<li role=treeitem>Newer</ul></li>\
    <li role=treeitem>Sent</li></ul></li></ul>\
    <p><label>Size<select><option>Small</option>\
    <option label=' Very large '>b</option></select></label>\
    <div id=plain></div>\
    <script>for (let i = 0; i < 30; i++) {\
      const box = document.createElement('div'); box.textContent = 'Box ' + i; plain.append(box);\
    }\
    const own = e => e.target.closest('li,div').firstChild.textContent.trim();\
    addEventListener('click', e => { document.title = 'Reading ' + own(e); });\
    addEventListener('change', e => { document.title = 'Reading ' + e.target.value; });</script>";

fn call(server: &Client, app: &App<'_>, tool: &str, element: &str, mut more: Value) -> Answer {
    more["pid"] = app.pid.into();
    more["element"] = element.into();
    server.call(tool, more)
}

/// Clicks rows and boxes of [`PAGE`]; the window's title shows which one was hit.
fn page_is_hit(bed: &Bed, server: &Client, app: &App<'_>) {
    let (editor, _) = bed.mousepad("notes\n");
    until("the page's tree", || {
        let answer = server.refresh(app.pid);
        (!answer.is_error && answer.file().contains("Box 29")).then_some(())
    });
    for (element, more) in [
        ("Local Folders", json!({"role": "AXRow"})),
        ("Archives", json!({"role": "AXRow"})),
        ("Newer", json!({"role": "AXRow"})),
        ("Box 20", json!({})),
        ("Box 1", json!({})),
    ] {
        editor.bring_to_front();
        call(server, app, "click_and_traverse", element, more).ok();
        until(&format!("a click on {element}"), || {
            let title = app.window_now().title;
            title
                .starts_with(&format!("Reading {element} "))
                .then_some(())
        });
        assert_eq!(bed.screen().front(), editor.window.id, "{element}");
    }
}

#[test]
fn a_row_is_clicked_and_not_the_rows_inside_its_box_in_firefox() {
    let (bed, server) = Bed::with_server();
    let app = bed.firefox(PAGE);
    page_is_hit(&bed, &server, &app);
}

#[test]
fn a_row_is_clicked_and_a_choice_with_blanks_is_set_in_chromium() {
    let (bed, server) = Bed::with_server();
    let file = bed.path("page.html");
    std::fs::write(
        &file,
        format!("<!doctype html><title>Reading</title>{PAGE}"),
    )
    .unwrap();
    let app = bed.chromium_at(&format!("file://{}", file.display()), "Reading");
    page_is_hit(&bed, &server, &app);
    let large = json!({"value": "very large", "role": "AXComboBox"});
    call(&server, &app, "set_value_and_traverse", "Size", large).ok();
    until("the choice", || {
        app.window_now().title.starts_with("Reading b ")
    });
}

/// In GTK and Qt, the rows of an open tree do not overlap. Rows that contain a list, open expanders
/// and group boxes cover their content.
#[test]
fn rows_and_titles_are_clicked_and_not_the_content_of_their_box() {
    let (bed, server) = Bed::with_server();
    let (editor, _) = bed.mousepad("notes\n");
    for toolkit in ["gtk3", "gtk4", "qt5", "qt6"] {
        let app = bed.nested(toolkit);
        let own: &[(&str, Value, &str)] = if toolkit.starts_with("gtk") {
            &[
                ("Inbox", json!({"role": "AXRow"}), "row Inbox"),
                ("Sent", json!({"role": "AXRow"}), "row Sent"),
                ("More", json!({}), "expanded false"),
            ]
        } else {
            &[("Group", json!({}), "checked false")]
        };
        let tree = [
            ("Beta 1", json!({}), "row Beta 1"),
            ("Beta", json!({}), "row Beta"),
            ("Alpha", json!({}), "row Alpha"),
        ];
        for (element, more, logged) in tree.iter().chain(own) {
            app.clear_log();
            editor.bring_to_front();
            let answer = call(&server, &app, "click_and_traverse", element, more.clone()).ok();
            app.wait_for(logged);
            assert_eq!(app.log(), [*logged], "{toolkit}: {answer}");
            assert_eq!(
                bed.screen().front(),
                editor.window.id,
                "{toolkit}: {element}"
            );
        }
    }
}

#[test]
fn a_row_is_scrolled_into_view_and_a_note_names_the_current_row() {
    let (bed, server) = Bed::with_server();
    let app = bed.tree();
    let (editor, _) = bed.mousepad("notes\n");
    editor.bring_to_front();
    let answer = call(
        &server,
        &app,
        "set_selected_and_traverse",
        "Folder 3",
        json!({}),
    )
    .ok();
    let note = "note: it is selected, but keys still act on the current row, 'Folder 0' [AXCell]";
    assert!(answer.text.contains(note), "{answer}");
    call(&server, &app, "click_and_traverse", "Folder 11", json!({})).ok();
    app.wait_for("current Folder 11");
    assert_eq!(app.log(), ["current Folder 11"]);
    // Scroll back to a row that was re-created meanwhile.
    call(&server, &app, "click_and_traverse", "Folder 0", json!({})).ok();
    app.wait_for("current Folder 0");
    assert_eq!(bed.screen().front(), editor.window.id);
}

#[test]
fn a_press_does_not_run_another_command_of_the_widget() {
    let (bed, server) = Bed::with_server();
    let app = bed.gnome_text_editor();
    server.type_text(app.pid, "one\ntwo\nthree").ok();
    let (editor, _) = bed.mousepad("notes\n");
    editor.bring_to_front();
    let pressed = server.press_ax(app.pid, "AXTextArea", "one");
    let why = "is a press. Use click_and_traverse with its ref";
    assert!(pressed.error().contains(why), "{pressed}");
    let answer = server.refresh(app.pid);
    assert!(
        answer.file().contains("one\\ntwo\\nthree"),
        "{}",
        answer.file()
    );
}

/// A GTK 3 list with headers and no rows, as a mail program shows before it has messages.
const EMPTY: &str = "
import gi
gi.require_version('Gtk', '3.0')
from gi.repository import Gtk
window = Gtk.Window(title='Empty')
view = Gtk.TreeView(model=Gtk.ListStore(str, str))
for place, name in enumerate(['Date', 'Headline']):
    view.append_column(Gtk.TreeViewColumn(name, Gtk.CellRendererText(), text=place))
window.add(view)
window.set_default_size(300, 200)
window.show_all()
Gtk.main()
";

#[test]
fn the_headers_of_a_list_without_rows_are_in_the_tree() {
    let (bed, server) = Bed::with_server();
    let mut command = bed.command("/usr/bin/python3");
    command.args(["-c", EMPTY]);
    let app = App::start_when(&bed, command, |_| true);
    for header in ["Date", "Headline"] {
        until(header, || {
            let answer = server.refresh(app.pid);
            answer.find("AXButton", header).filter(|line| line.visible)
        });
    }
}

/// GTK 4 names the pages of a stack switcher with their mnemonics. Other tabs have nearly the same
/// names.
#[test]
fn a_page_is_found_by_the_name_that_it_shows() {
    let (bed, server) = Bed::with_server();
    let app = bed.gtk4_widget_factory();
    let (persons, _) = bed.mousepad("");
    persons.bring_to_front();
    for page in ["Page 2", "Page 3"] {
        let click = json!({"pid": app.pid, "element": page});
        let answer = server.call("click_and_traverse", click).ok();
        let target = answer.field("target");
        assert!(target.contains(&format!("{page:?} selected")), "{answer}");
        let name = page.replace(' ', " _");
        oracle::wait_for(&bed, app.pid, "page tab", &name, |e| e.is("selected"));
    }
}
