//! Changes after an action are noticed: changes that an app takes back, controls behind their
//! labels, texts that have no effect, dates in parts. Another app's window, the person's, is in
//! front.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::time::Duration;

use deskline_testbed::web::Page;
use deskline_testbed::{Answer, App, Bed, Client, PATIENCE, Toolkit, signal, until};
use rustix::process::Signal;
use serde_json::{Value, json};

const CLICK: &str = "click_and_traverse";
const SET: &str = "set_value_and_traverse";
const SELECT: &str = "set_selected_and_traverse";

struct Subject<'b> {
    bed: &'b Bed,
    server: Client,
    app: App<'b>,
    person: App<'b>,
}

impl<'b> Subject<'b> {
    fn new(bed: &'b Bed, app: App<'b>) -> Self {
        let (person, _) = bed.mousepad("notes\n");
        let server = bed.server(&[]);
        Self {
            bed,
            server,
            app,
            person,
        }
    }

    fn chromium(bed: &'b Bed, html: &str) -> (Self, Page) {
        let (app, page) = bed.chromium(html);
        (Self::new(bed, app), page)
    }

    fn gtk(bed: &'b Bed, body: &str) -> Self {
        let script = format!(
            "import gi\ngi.require_version('Gtk', '3.0')\nfrom gi.repository import GLib, Gtk\n\
             window = Gtk.Window(title='Subject')\nbox = Gtk.VBox()\nwindow.add(box)\n{body}\n\
             window.show_all()\nGtk.main()\n"
        );
        Self::python(bed, &script)
    }

    fn python(bed: &'b Bed, script: &str) -> Self {
        let mut command = bed.command("/usr/bin/python3");
        command.arg("-c").arg(script);
        Self::new(bed, App::start_when(bed, command, |w| w.title == "Subject"))
    }

    /// Calls a tool about the app, with the person's window in front before and after it.
    fn call(&self, tool: &str, mut arguments: Value) -> Answer {
        self.person.bring_to_front();
        arguments["pid"] = self.app.pid.into();
        let answer = self.server.call(tool, arguments);
        println!("{}\n", answer.text);
        until("the person's window", || {
            self.bed.screen().front() == self.person.window.id
        });
        answer
    }

    fn on(&self, tool: &str, role: &str, element: &str, mut more: Value) -> Answer {
        more["element"] = element.into();
        more["role"] = role.into();
        self.call(tool, more)
    }
}

#[test]
fn a_box_or_a_choice_that_a_page_takes_back_is_no_success() {
    let times = [60, 150, 280];
    let control = |ms| {
        format!(
            "<p><label><input type=checkbox onchange='back(()=>{{this.checked=false;\
             said.textContent=\"Not {ms}\"}},{ms})'> Agree {ms}</label><label>Plan {ms} <select onchange='back(()=>this.value=0,{ms})'><option value=0>\
             Basic<option value=1>Premium</select></label><label>Code {ms} <input value=old oninput=\
             'back(()=>this.value=\"old\",{ms})'></label>"
        )
    };
    let html = times.map(control).concat();
    let html = format!(
        "<script>function back(undo, ms) {{ setTimeout(() => {{ undo(); log('back') }}, ms) }}\
         </script>{html}<p id=said><p><label><input type=checkbox> Stays</label>"
    );
    let bed = Bed::new();
    let (subject, page) = Subject::chromium(&bed, &html);
    for ms in times {
        let name = format!("Agree {ms}");
        let answer = subject.on(CLICK, "AXCheckBox", &name, json!({}));
        answer.fails_with("not checked");
        page.wait_for("back");
        page.clear_log();
        subject
            .on(SELECT, "AXCheckBox", &name, json!({}))
            .fails_with("checked");
        page.wait_for("back");
        page.clear_log();
        let new = json!({"text": "new"});
        let answer = subject.on(CLICK, "AXTextField", &format!("Code {ms}"), new);
        answer.fails_with("old");
        page.wait_for("back");
        page.clear_log();
        let plan = json!({"choose": "Premium"});
        let answer = subject.on(CLICK, "AXComboBox", &format!("Plan {ms}"), plan);
        answer.fails_with("it shows 'Basic' and not 'Premium'");
        page.wait_for("back");
        page.clear_log();
    }
    let answer = subject.on(CLICK, "AXCheckBox", "Stays", json!({})).ok();
    answer.field_has("target", "checked");
    // The box stays checked.
    subject
        .on(SELECT, "AXCheckBox", "Stays", json!({}))
        .ok()
        .field_has("target", "checked");
    let off = json!({"selected": false});
    let answer = subject.on(SELECT, "AXCheckBox", "Stays", off).ok();
    assert!(!answer.field("target").contains("checked"), "{answer}");
}

/// The colour is red again a moment after another one was chosen, and an opened row is closed
/// again.
const QT: &str = "from PyQt5.QtCore import QTimer
from PyQt5.QtWidgets import *
app = QApplication([])
window = QWidget()
window.setWindowTitle('Subject')
colour = QComboBox()
tree = QTreeWidget()
fruit = QTreeWidgetItem(tree, ['Fruit'])
QTreeWidgetItem(fruit, ['Apple'])
tree.itemExpanded.connect(lambda row: QTimer.singleShot(200, lambda: tree.collapseItem(row)))
box = QVBoxLayout(window)
box.addWidget(colour)
box.addWidget(tree)
colour.addItems(['red', 'green', 'blue'])
colour.activated.connect(lambda _: QTimer.singleShot(100, lambda: colour.setCurrentIndex(0)))
window.show()
app.exec()
";

#[test]
fn a_choice_that_a_toolkit_takes_back_is_no_success() {
    let bed = Bed::new();
    let green = || json!({"choose": "green"});
    let qt = Subject::python(&bed, QT);
    qt.on(CLICK, "AXComboBox", "red", green())
        .fails_with("it shows 'red' and not 'green'");
    // On a busy machine the row is closed before a reading has seen it open.
    let answer = qt.on(CLICK, "AXCell", "Fruit", json!({"doubleClick": true}));
    answer.has("collapsed");
    let gtk = Subject::gtk(
        &bed,
        "colour = Gtk.ComboBoxText()\n\
         for name in ('red', 'green', 'blue'):\n\
         \x20   colour.append_text(name)\n\
         colour.set_active(0)\n\
         colour.get_accessible().set_name('Colour')\n\
         colour.connect('changed', lambda _: GLib.timeout_add(100, colour.set_active, 0))\n\
         box.add(colour)",
    );
    gtk.on(CLICK, "AXComboBox", "Colour", green())
        .fails_with("it shows 'red' and not 'green'");
}

/// Shows the details of the selected row a moment later.
const DETAILS: &str = "import sys
from PyQt5.QtCore import QTimer
from PyQt5.QtWidgets import *
app = QApplication([])
window = QSplitter()
window.setWindowTitle('Subject')
people, pages = QListWidget(), QStackedWidget()
for name in ('Ann', 'Bob', 'Cid'):
    people.addItem(name)
    page = QWidget()
    box = QVBoxLayout(page)
    remove = QPushButton('Remove')
    remove.clicked.connect(lambda _, name=name: window.setWindowTitle('Removed ' + name))
    box.addWidget(QLabel('Details of ' + name))
    box.addWidget(remove)
    pages.addWidget(page)
def select(row):
    QTimer.singleShot(120, lambda: pages.setCurrentIndex(row))
people.currentRowChanged.connect(select)
window.addWidget(people)
window.addWidget(pages)
window.show()
app.exec()
";

#[test]
fn a_step_after_a_click_on_a_row_waits_for_its_details() {
    let bed = Bed::new();
    let subject = Subject::python(&bed, DETAILS);
    let steps = json!([
        {"do": "click", "element": "Bob"},
        {"do": "click", "element": "Remove", "role": "AXButton"},
    ]);
    subject
        .call("chain_and_traverse", json!({"steps": steps}))
        .ok();
    until("the button of the row", || {
        let mut windows = subject.bed.screen().windows_of(subject.app.pid).into_iter();
        windows.any(|window| window.title == "Removed Bob")
    });
}

#[test]
fn a_button_that_a_page_has_cut_to_no_height_is_not_clicked() {
    let bed = Bed::new();
    let html = "<style>div{height:0;overflow:hidden}div.open{height:auto}</style>\
         <button onclick='a.classList.toggle(\"open\")'>Section</button>\
         <div id=a><button onclick=\"log('inner')\">Erase</button></div>";
    let (subject, page) = Subject::chromium(&bed, html);
    subject
        .on(CLICK, "AXButton", "Erase", json!({}))
        .fails_with("not showing");
    subject.on(CLICK, "AXButton", "Section", json!({})).ok();
    assert!(page.log().is_empty(), "{:?}", page.log());
    subject.on(CLICK, "AXButton", "Erase", json!({})).ok();
    page.wait_for("inner");
}

#[test]
fn a_switch_that_gtk_3_takes_back_is_no_success() {
    let bed = Bed::new();
    let subject = Subject::gtk(
        &bed,
        "bold = Gtk.ToggleButton(label='Bold')\n\
         bold.connect('toggled', lambda _: bold.set_active(False))\n\
         rows = Gtk.ListStore(bool)\n\
         rows.append((False,))\n\
         def switch(*_):\n\
         \x20   rows[0][0] = True\n\
         \x20   GLib.timeout_add(200, lambda: rows.set_value(rows.get_iter(0), 0, False))\n\
         cell = Gtk.CellRendererToggle()\n\
         cell.connect('toggled', switch)\n\
         table = Gtk.TreeView(model=rows, headers_visible=False)\n\
         table.append_column(Gtk.TreeViewColumn('On', cell, active=0))\n\
         box.add(bold)\n\
         box.add(table)",
    );
    let answer = subject.on(CLICK, "AXCheckBox", "Bold", json!({}));
    answer.fails_with("it is still not checked");
    let read = subject.call("refresh_traversal", json!({})).ok();
    let cell = read.line_of("AXCell", "").reference.unwrap();
    // On a busy machine the cell is back before a reading has seen the change, and the error is
    // another.
    let answer = subject.call(CLICK, json!({"ref": cell.to_string()}));
    answer.fails_with("not checked");
}

#[test]
fn words_inside_a_label_are_clicked_at_their_own_place() {
    let bed = Bed::new();
    let subject = Subject::gtk(
        &bed,
        "label = Gtk.Label()\n\
         label.set_markup('See <a href=\"x:1\">the manual</a> or <a href=\"x:2\">the forum</a>.')\n\
         label.connect('activate-link', lambda _, link: window.set_title('Link ' + link) or True)\n\
         box.add(label)",
    );
    for (words, link) in [("the forum", "Link x:2"), ("The manual", "Link x:1")] {
        subject.on(CLICK, "AXStaticText", words, json!({})).ok();
        until(link, || {
            let mut windows = subject.bed.screen().windows_of(subject.app.pid).into_iter();
            windows.any(|window| window.title == link)
        });
    }
}

#[test]
fn a_tick_or_text_that_gtk_3_takes_back_later_is_no_success() {
    let bed = Bed::new();
    let subject = Subject::gtk(
        &bed,
        "def back(box, ms):\n\
         \x20   if box.get_active(): GLib.timeout_add(ms, lambda: box.set_active(False))\n\
         def empty(entry, ms):\n\
         \x20   if entry.get_text(): GLib.timeout_add(ms, lambda: entry.set_text(''))\n\
         for ms in (60, 200, 250):\n\
         \x20   agree = Gtk.CheckButton(label=f'Agree {ms}')\n\
         \x20   agree.connect('toggled', back, ms)\n\
         \x20   box.add(agree)\n\
         \x20   code = Gtk.Entry()\n\
         \x20   code.get_accessible().set_name(f'Code {ms}')\n\
         \x20   code.connect('changed', empty, ms)\n\
         \x20   box.add(code)",
    );
    for ms in [60, 200, 250] {
        for tool in [CLICK, "press_ax_and_traverse", SELECT] {
            let answer = subject.on(tool, "AXCheckBox", &format!("Agree {ms}"), json!({}));
            answer.fails_with("checked");
        }
        let text = json!({"text": "x"});
        let answer = subject.on(CLICK, "AXTextField", &format!("Code {ms}"), text);
        answer.fails_with("'");
        subject
            .call("type_and_traverse", json!({"text": "x"}))
            .fails_with("'");
    }
}

#[test]
fn a_text_that_loses_keys_is_typed_once_more_and_slowly() {
    let bed = Bed::new();
    let subject = Subject::gtk(
        &bed,
        "import time\nlast = {}\n\
         def drop(entry, event):\n\
         \x20   if not event.string or not event.string.isprintable(): return False\n\
         \x20   now = time.time()\n\
         \x20   late = now - last.get(entry, 0)\n\
         \x20   last[entry] = now\n\
         \x20   return late < 0.03\n\
         for name, text in (('Code', ''), ('Note', 'old '), ('Sent', '')):\n\
         \x20   entry = Gtk.Entry(text=text)\n\
         \x20   entry.get_accessible().set_name(name)\n\
         \x20   entry.connect('key-press-event', drop)\n\
         \x20   entry.connect('activate', lambda e: window.set_title('Sent ' + e.get_text()))\n\
         \x20   box.add(entry)\n\
         short = Gtk.Entry(max_length=3)\n\
         short.get_accessible().set_name('Short')\n\
         box.add(short)",
    );
    for (name, holds) in [("Code", "PTO request"), ("Note", "old PTO request")] {
        let text = json!({"text": "PTO request"});
        let answer = subject.on(CLICK, "AXTextField", name, text).ok();
        answer.field_has("summary", "slowly typed again");
        answer.field_has("target", holds);
    }
    let text = json!({"text": "PTO", "pressKey": "Return"});
    subject.on(CLICK, "AXTextField", "Sent", text).ok();
    until("the sent text", || {
        let mut windows = subject.bed.screen().windows_of(subject.app.pid).into_iter();
        windows.any(|window| window.title == "Sent PTO")
    });
    // The field limits the text that it takes.
    let text = json!({"text": "PTO request"});
    let answer = subject.on(CLICK, "AXTextField", "Short", text);
    answer.fails_with("took 3 of 11 characters, and contains 'PTO' now");
}

#[test]
fn a_control_behind_its_label_is_clicked_by_the_label() {
    let styles = [
        ("Zero", "opacity:0;width:0;height:0"),
        (
            "Pixel",
            "position:absolute;width:1px;height:1px;margin:-1px;clip:rect(0,0,0,0)",
        ),
        ("Away", "position:absolute;left:-9999px"),
    ];
    let around = |(name, style): (&str, &str)| {
        format!(
            "<p><label>{name} <input type=checkbox style='{style}' \
             onchange=\"log('{name}',this.checked)\"></label>\
             <p><input type=radio id={name} style='{style}' onchange=\"log('Radio',this.id)\">\
             <label for={name}>Radio {name}</label>"
        )
    };
    let html = styles.map(around).concat();
    let html = format!(
        "{html}<p><label><input type=checkbox style='{}' onchange=\"log('Terms',this.checked)\">I \
         accept the <a href=# onclick=\"log('link')\">terms of this service</a></label>",
        styles[0].1
    );
    let bed = Bed::new();
    let (subject, page) = Subject::chromium(&bed, &html);
    for (name, _) in styles {
        let answer = subject.on(CLICK, "AXCheckBox", name, json!({})).ok();
        answer.field_has("target", "checked");
        page.wait_for(&format!("{name} true"));
        subject
            .on(SELECT, "AXCheckBox", name, json!({"selected": false}))
            .ok();
        page.wait_for(&format!("{name} false"));
        let radio = format!("Radio {name}");
        let answer = subject.on(CLICK, "AXRadioButton", &radio, json!({})).ok();
        answer.field_has("target", "checked");
        page.wait_for(&radio);
    }
    subject.on(CLICK, "AXCheckBox", "I accept", json!({})).ok();
    page.wait_for("Terms true");
    assert!(!page.log().contains(&"link".to_owned()), "{:?}", page.log());
}

#[test]
fn a_text_for_an_editor_that_has_closed_is_an_error() {
    let bed = Bed::new();
    let subject = Subject::gtk(
        &bed,
        "store = Gtk.ListStore(str)\n\
         for name in ('Ann', 'Bob', 'Cid'): store.append([name])\n\
         view = Gtk.TreeView(model=store)\n\
         cell = Gtk.CellRendererText(editable=True)\n\
         cell.connect('edited', lambda _, row, text: store[row].__setitem__(0, text))\n\
         view.append_column(Gtk.TreeViewColumn('Name', cell, text=0))\n\
         box.add(view)",
    );
    let double = json!({"doubleClick": true, "text": "Rob", "pressKey": "Return"});
    subject.on(CLICK, "AXCell", "Bob", double).ok().has("Rob");
    subject
        .on(CLICK, "AXCell", "Cid", json!({"doubleClick": true}))
        .ok();
    let typed = json!({"text": "Sid", "pressKey": "Return"});
    let answer = subject.call("type_and_traverse", typed);
    answer.fails_with("no field had the focus");
    assert!(
        subject
            .server
            .refresh(subject.app.pid)
            .find("AXCell", "Cid")
            .is_some()
    );
}

#[test]
fn a_page_with_a_list_in_its_middle_is_scrolled_until_a_text_shows() {
    let bed = Bed::new();
    let (subject, _page) = Subject::chromium(
        &bed,
        "<style>#l{height:60vh;overflow:auto;overscroll-behavior:contain}#l button{display:block}\
         </style><h1>Top</h1><div id=l></div><div style='height:1500px'></div>\
         <button>Contact us</button><script>for (let i = 1; i < 200; i++) {\
         const b = document.createElement('button'); b.textContent = 'Entry ' + i; l.append(b) }\
         </script>",
    );
    let page = |until: &str| json!({"deltaY": 1, "until": until});
    let scroll = |until| subject.on("scroll_and_traverse", "AXWebArea", "Test page", page(until));
    scroll("Contact us").ok();
    let answer = scroll("Entry 150").ok();
    answer.has("Entry 150");
}

#[test]
fn iso_dates_are_typed_in_the_order_of_the_field() {
    let fields = [
        ("Day", "date", "2026-03-14"),
        ("Hour", "time", "18:55"),
        ("Noon", "time", "12:05"),
        ("Dawn", "time", "00:30"),
        ("Start", "datetime-local", "2026-11-04T06:05"),
        ("Month", "month", "2026-09"),
        ("Week", "week", "2026-W11"),
    ];
    let field = |(name, kind, _): (&str, &str, &str)| {
        format!("<p><label>{name} <input type={kind} oninput=\"log('{name}',this.value)\"></label>")
    };
    let bed = Bed::new();
    let (subject, page) = Subject::chromium(&bed, &fields.map(field).concat());
    for (name, _, text) in fields {
        let value = json!({"value": text});
        let answer = subject.on(SET, "AXDateField", name, value);
        answer.fails_with("does not let accessibility set its text");
        // A second one replaces the first.
        for _ in 0..2 {
            let answer = subject
                .on(CLICK, "AXDateField", name, json!({"text": text}))
                .ok();
            page.wait_for(&format!("{name} {text}"));
            answer.field_has("target", "value");
            page.clear_log();
        }
    }
}

#[test]
fn iso_dates_are_typed_into_firefox_whose_parts_have_english_names() {
    let bed = Bed::new();
    let app = bed.firefox(
        "<p><label>Day <input type=date></label><p><label>Hour <input type=time></label>\
         <p><label>Month <input type=month></label>",
    );
    let subject = Subject::new(&bed, app);
    let month = json!({"text": "2026-03"});
    let answer = subject.on(CLICK, "AXTextField", "Month", month).ok();
    answer.field_has("target", "2026-03");
    for (role, name, text, shows) in [
        ("AXDateField", "Day", "2026-03-14", "03/14/2026"),
        ("AXGroup", "Hour", "18:55", "06:55"),
    ] {
        let answer = subject.on(CLICK, role, name, json!({ "text": text }));
        answer.ok().field_has("target", shows);
    }
    let set = json!({"value": "2026-03-14"});
    subject.on(SET, "AXDateField", "Day", set);
}

/// A stack of GTK 4 fades to its page for 200 ms, and reports nothing at the end.
#[test]
fn the_answer_to_a_click_on_a_tab_of_gtk_4_has_the_page() {
    let (bed, server) = Bed::with_server();
    let app = bed.gtk4_widget_factory();
    let (persons, _) = bed.mousepad("");
    server.refresh(app.pid).ok();
    for _ in 0..8 {
        for (tab, own, other) in [
            ("Page 2", "Normal icons", "togglebutton"),
            ("Page 1", "togglebutton", "Normal icons"),
        ] {
            persons.bring_to_front();
            let answer = server.click(app.pid, "AXTab", tab).ok();
            let shows = |name| {
                let lines = answer.lines().into_iter().filter(|line| line.visible);
                lines
                    .filter_map(|line| line.text)
                    .any(|text| text.shown == name)
            };
            assert!(shows(own) && !shows(other), "{tab}: {answer}");
        }
    }
}

/// xfwm4 holds each click until it has handled it. Keys pass it by. The desktop is private.
#[test]
fn a_text_goes_to_the_field_whose_click_a_busy_window_manager_holds() {
    let bed = Bed::with_other_managers(&[]);
    let server = Client::start(bed.serve_alone(&[]));
    let app = bed.widgets(Toolkit::Gtk3);
    let manager = std::fs::read_to_string(bed.path("manager")).unwrap();
    let manager = manager.trim().parse().unwrap();
    server.fill(app.pid, "AXTextField", "Name", "Ann").ok();
    signal(manager, Signal::STOP);
    let notes = json!({"pid": app.pid, "element": "Notes"});
    let click = server.send(CLICK, notes);
    std::thread::sleep(Duration::from_millis(600));
    signal(manager, Signal::CONT);
    let clicked = click.answer(PATIENCE).unwrap().ok();
    server.type_text(app.pid, "ring").ok();
    app.wait_for("text Notes ring");
    assert!(
        app.log().iter().all(|line| !line.contains("Annr")),
        "{clicked}"
    );
}
