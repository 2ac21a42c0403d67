//! Programs of GTK and Qt.

use deskline_testbed::{App, Bed, until};
use serde_json::json;

/// A Python program of one test, which writes its log to its standard output.
fn program<'b>(bed: &'b Bed, code: &str) -> App<'b> {
    let path = bed.path("program.py");
    std::fs::write(&path, code).unwrap();
    let mut command = bed.command("/usr/bin/python3");
    // Qt 6.4 does not join the bus if this is set.
    command.env_remove("AT_SPI_BUS_ADDRESS").arg("-u").arg(path);
    App::start_when(bed, command, |_| true)
}

const AGAIN: &str = r"
import os, subprocess, sys
from PyQt5.QtWidgets import *
app = QApplication([])
window = QWidget()
button = QPushButton('Restart', window)
def again():
    subprocess.Popen([sys.executable] + sys.argv, start_new_session=True)
    os._exit(0)
button.clicked.connect(again)
window.resize(200, 100)
window.show()
print('ready', os.getpid(), flush=True)
app.exec()
";

#[test]
fn the_error_names_the_new_pid_of_an_app_that_restarts_itself() {
    let (bed, server) = Bed::with_server();
    let (persons, _) = bed.mousepad("");
    let app = program(&bed, AGAIN);
    let click = json!({"element": "Restart"});
    persons.call_behind(&server, app.pid, "click_and_traverse", click.clone());
    let pids = || {
        app.full_log()
            .into_iter()
            .filter_map(|l| l.strip_prefix("ready ").map(str::to_owned))
    };
    let anew = until("the new process", || pids().nth(1));
    until("its window", || {
        let windows = bed.screen().windows();
        windows
            .iter()
            .any(|w| w.pid.to_string() == anew)
            .then_some(())
    });
    let answer = persons.call_behind(&server, app.pid, "click_and_traverse", click);
    let error = answer.error().to_owned();
    bed.run("kill", &[&anew]);
    assert!(
        error.contains(&format!("It runs again as pid {anew}")),
        "{error}"
    );
}

const POPOVER: &str = r"
import gi
gi.require_version('Gtk', '4.0')
from gi.repository import Gtk
def activate(app):
    window = Gtk.ApplicationWindow(application=app, title='Bubble')
    inner = Gtk.Button(label='Inside')
    inner.connect('clicked', lambda _: print('inside'))
    window.set_child(Gtk.MenuButton(label='More', popover=Gtk.Popover(child=inner)))
    window.set_default_size(200, 60)
    window.present()
app = Gtk.Application(application_id='org.example.Bubble')
app.connect('activate', activate)
app.run()
";

#[test]
fn a_popover_below_its_window_is_clicked() {
    let (bed, server) = Bed::with_server();
    let (persons, _) = bed.mousepad("");
    let app = program(&bed, POPOVER);
    let more = json!({"element": "More"});
    persons
        .call_behind(&server, app.pid, "click_and_traverse", more)
        .ok();
    let inside = json!({"pid": app.pid, "element": "Inside", "role": "AXButton"});
    server.call("click_and_traverse", inside).ok();
    app.wait_for("inside");
}

const CELLS: &str = r"
import gi
gi.require_version('Gtk', '3.0')
from gi.repository import Gtk
store = Gtk.ListStore(bool, str)
for name in ('Alpha', 'Beta'):
    store.append((False, name))
def toggled(_, path):
    store[path][0] = not store[path][0]
    print('tick', store[path][1], store[path][0])
view = Gtk.TreeView(model=store)
tick = Gtk.CellRendererToggle()
tick.connect('toggled', toggled)
view.append_column(Gtk.TreeViewColumn('On', tick, active=0))
view.append_column(Gtk.TreeViewColumn('Part', Gtk.CellRendererText(), text=1))
view.connect('row-activated', lambda *_: print('activated'))
window = Gtk.Window(title='Cells')
window.add(view)
window.set_default_size(300, 200)
window.show_all()
Gtk.main()
";

/// GTK 3.24 answers that it has done the action, and does nothing.
#[test]
fn a_press_switches_a_cell_with_a_check_box_or_is_an_error() {
    let (bed, server) = Bed::with_server();
    let (persons, _) = bed.mousepad("");
    let app = program(&bed, CELLS);
    let cell = until("the cell", || {
        let lines = server.refresh(app.pid).ok().lines();
        lines
            .into_iter()
            .find(|l| l.cell.is_some() && l.text.is_none())
    });
    let cell = json!({"ref": cell.reference.unwrap().to_string()});
    let answer = persons.call_behind(&server, app.pid, "press_ax_and_traverse", cell);
    let ticked = app.log().iter().any(|line| line.starts_with("tick"));
    assert_ne!(ticked, answer.is_error, "{:?}\n{answer}", app.log());
}

const DUE: &str = r"
from PyQt6.QtCore import *
from PyQt6.QtWidgets import *
app = QApplication([])
window = QWidget()
due = QDateEdit(QDate(2025, 1, 2), window)
due.setDisplayFormat('d MMM yyyy')
due.setAccessibleName('Due')
due.dateChanged.connect(lambda d: print('due', d.toString(Qt.DateFormat.ISODate), flush=True))
window.resize(300, 60)
window.show()
app.exec()
";

#[test]
fn an_error_is_reported_if_a_date_box_takes_another_date() {
    let (bed, server) = Bed::with_server();
    let (persons, _) = bed.mousepad("");
    let app = program(&bed, DUE);
    let due = json!({"element": "Due", "role": "AXIncrementor", "text": "2026-03-14"});
    let answer = persons.call_behind(&server, app.pid, "click_and_traverse", due);
    let is_meant = app
        .log()
        .last()
        .is_some_and(|line| line == "due 2026-03-14");
    assert_ne!(is_meant, answer.is_error, "{:?}\n{answer}", app.log());
}

#[test]
fn scrolling_over_a_slider_until_a_text_shows_changes_no_slider() {
    let (bed, server) = Bed::with_server();
    let (persons, _) = bed.mousepad("");
    let app = program(&bed, include_str!("../../apps/mixer.py"));
    let until = json!({"element": "0", "role": "AXSlider", "until": "Save", "deltaY": 3});
    let answer = persons.call_behind(&server, app.pid, "scroll_and_traverse", until);
    assert_eq!(app.log(), [""; 0], "{answer}");
    answer.ok();
}

const ROWS: &str = r"
from PyQt6.QtCore import *
from PyQt6.QtWidgets import *
app = QApplication([])
rows = QListWidget()
for n in range(80):
    rows.addItem(f'Row {n}')
    rows.item(n).setSizeHint(QSize(0, 47))
rows.currentRowChanged.connect(lambda n: print('row', n, flush=True))
box = QGroupBox('Net', checkable=True, checked=False)
box.toggled.connect(lambda on: print('net', on, flush=True))
QVBoxLayout(box).addWidget(QCheckBox('Deep'))
table = QTableWidget(40, 1)
table.setHorizontalHeaderLabels(['Name'])
for n in range(40):
    table.setItem(n, 0, QTableWidgetItem(f'Cell {n}'))
table.currentCellChanged.connect(lambda n, *_: print('cell', n, flush=True))
table.horizontalHeader().sectionClicked.connect(lambda _: print('header', flush=True))
QTimer.singleShot(0, lambda: table.verticalScrollBar().setValue(1))
window = QWidget()
layout = QVBoxLayout(window)
for each in (box, rows, table):
    layout.addWidget(each)
window.resize(300, 600)
window.show()
app.exec()
";

#[test]
fn tall_rows_a_row_under_a_header_and_a_group_box_of_qt_are_clicked() {
    let (bed, server) = Bed::with_server();
    let (persons, _) = bed.mousepad("");
    let app = program(&bed, ROWS);
    for (name, logged) in [
        ("Row 60", "row 60"),
        ("Row 9", "row 9"),
        ("Net", "net True"),
        // It has scrolled under the header.
        ("Cell 0", "cell 0"),
    ] {
        let click = json!({"element": name});
        persons
            .call_behind(&server, app.pid, "click_and_traverse", click)
            .ok();
        app.wait_for(logged);
    }
}

#[test]
fn the_answer_reports_a_cell_that_refuses_a_text_or_a_choice() {
    let (bed, server) = Bed::with_server();
    let (persons, _) = bed.mousepad("");
    let app = program(&bed, include_str!("../../apps/table.py"));
    app.wait_for("ready");
    let edit = json!({"element": "Ann", "doubleClick": true, "text": "One", "pressKey": "Return"});
    let answer = persons.call_behind(&server, app.pid, "click_and_traverse", edit);
    app.wait_for("refused One");
    assert!(answer.text.contains("shows 'Ann' still"), "{answer}");
    let high = json!({"element": "Low", "role": "AXCell", "choose": "High"});
    let answer = persons.call_behind(&server, app.pid, "click_and_traverse", high);
    assert!(
        answer.is_error || app.log().contains(&"level High".to_owned()),
        "{answer}"
    );
}

#[test]
fn overlays_and_undone_changes_in_gtk_4_are_noticed() {
    let (bed, server) = Bed::with_server();
    let (persons, _) = bed.mousepad("");
    let app = program(&bed, include_str!("../../apps/book.py"));
    let click = |call| persons.call_behind(&server, app.pid, "click_and_traverse", call);
    click(json!({"element": "Sheet 2"})).ok();
    app.wait_for("page 1");
    for number in ["33", "3"] {
        let choose = format!("Item {number}");
        click(json!({"element": "Pick", "role": "AXComboBox", "choose": choose})).ok();
        app.wait_for(&format!("pick {number}"));
    }
    // On a busy machine it is collapsed again before a reading has seen it expanded.
    let more = click(json!({"element": "More", "role": "AXButton"}));
    assert!(more.text.contains("collapsed"), "{more}");
    click(json!({"element": "Actions", "role": "AXButton"})).ok();
    let compose = json!({"pid": app.pid, "element": "Compose", "role": "AXButton"});
    server.call("click_and_traverse", compose).ok();
    app.wait_for("compose");
    assert!(!app.log().contains(&"closed".to_owned()), "{:?}", app.log());
}

#[test]
fn menus_of_gtk_3_close_and_their_items_are_hidden_again() {
    let (bed, server) = Bed::with_server();
    let (persons, _) = bed.mousepad("");
    let app = program(&bed, include_str!("../../apps/menus.py"));
    let message = json!({"element": "Message", "role": "AXButton"});
    let open = json!({"element": "Message", "role": "AXButton", "rightClick": true});
    let call = |call| persons.call_behind(&server, app.pid, "click_and_traverse", call);
    call(open).ok();
    call(message).ok();
    app.wait_for("clicked Message");
    let wrap = json!({"element": "Wrap"});
    persons
        .call_behind(&server, app.pid, "press_ax_and_traverse", wrap)
        .error();
    call(json!({"element": "View", "choose": "Wrap"})).error();
    call(json!({"element": "Open", "role": "AXButton", "choose": "Two"})).ok();
    app.wait_for("item Two");
    assert!(!app.log().contains(&"open".to_owned()), "{:?}", app.log());
}

#[test]
fn what_slides_or_lies_below_in_gtk_3_is_reached_and_what_goes_back_is_told() {
    let (bed, server) = Bed::with_server();
    let (persons, _) = bed.mousepad("");
    let app = program(&bed, include_str!("../../apps/slides.py"));
    let call = |call| persons.call_behind(&server, app.pid, "click_and_traverse", call);
    let steps = json!({"steps": [{"do": "click", "element": "Page B"},
        {"do": "click", "element": "Save"}]});
    persons
        .call_behind(&server, app.pid, "chain_and_traverse", steps)
        .ok();
    app.wait_for("saved B");
    call(json!({"element": "Second", "role": "AXTab"})).error();
    for name in ["Below", "Tall", "Last"] {
        call(json!({"element": name, "role": "AXButton"})).ok();
        app.wait_for(&format!("clicked {name}"));
    }
    call(json!({"element": "Size", "choose": "Wide"})).ok();
    app.wait_for("size Wide");
    let row = json!({"element": "Women", "role": "AXCell"});
    persons
        .call_behind(&server, app.pid, "press_ax_and_traverse", row)
        .ok();
    app.wait_for("expanded Women");
    let astray = |line: &String| line.starts_with("slider") || line == "saved A";
    assert!(!app.log().iter().any(astray), "{:?}", app.log());
}

/// A dialog that asks again 500 ms after the word "again", and one that comes late.
const ASKS: &str = r"
from PyQt{V}.QtCore import *
from PyQt{V}.QtWidgets import *
app = QApplication([])
window = QMainWindow()
def ask():
    box = QDialog(window)
    box.setWindowTitle('Ask')
    reply = QLineEdit(box)
    reply.setAccessibleName('Reply')
    reply.textChanged.connect(lambda text: print('reply', text, flush=True))
    def end():
        print('got', reply.text(), flush=True)
        box.accept()
        if reply.text() == 'again':
            QTimer.singleShot(500, ask)
    reply.returnPressed.connect(end)
    box.resize(200, 60)
    box.open()
layout = QVBoxLayout()
for name, wait in (('Ask', 0), ('Later', 500)):
    button = QPushButton(name)
    button.clicked.connect(lambda _, wait=wait: QTimer.singleShot(wait, ask))
    layout.addWidget(button)
notes = QLineEdit()
notes.setAccessibleName('Notes')
layout.addWidget(notes)
window.setCentralWidget(QWidget())
window.centralWidget().setLayout(layout)
window.show()
app.exec()
";

#[test]
fn a_text_reaches_the_late_dialog_that_is_meant_and_no_other_in_qt() {
    let (bed, server) = Bed::with_server();
    let (persons, _) = bed.mousepad("");
    for version in ["5", "6"] {
        let app = program(&bed, &ASKS.replace("{V}", version));
        let call = |tool: &str, args| persons.call_behind(&server, app.pid, tool, args);
        let steps = json!({"steps": [{"do": "click", "element": "Ask"},
            {"do": "type", "text": "again", "pressKey": "Return"},
            {"do": "wait_for", "element": "Reply"},
            {"do": "type", "text": "Ann", "pressKey": "Return"}]});
        call("chain_and_traverse", steps).ok();
        app.wait_for("got Ann");
        let steps = json!({"steps": [{"do": "click", "element": "Later"},
            {"do": "click", "element": "Notes", "text": "hi"}]});
        let answer = call("chain_and_traverse", steps);
        assert!(!app.log().contains(&"reply h".to_owned()), "{answer}");
    }
}

#[test]
fn a_button_that_is_partly_off_the_screen_is_clicked_where_it_shows() {
    let (bed, server) = Bed::with_server();
    let (persons, _) = bed.mousepad("");
    for kit in ["gtk3", "qt5"] {
        let app = bed.alerts(kit, "Delete all?").at(-200, 300);
        let empty = json!({"element": "Empty"});
        let answer = persons.call_behind(&server, app.pid, "click_and_traverse", empty);
        assert!(answer.ok().text.contains("Delete all?"), "{kit}");
    }
}

const TOOLS: &str = r"
import gi
gi.require_version('Gtk', '3.0')
gi.require_version('Gdk', '3.0')
from gi.repository import Gdk, Gtk
window = Gtk.Window(title='Paper')
wide = Gtk.Button(label='Wide')
wide.connect('clicked', lambda _: print('wide'))
window.add(wide)
window.set_default_size(500, 60)
window.move(200, 300)
window.show_all()
tools = Gtk.Window(title='Tools', transient_for=window, type_hint=Gdk.WindowTypeHint.UTILITY)
tools.add(Gtk.Button(label='Brush'))
tools.set_default_size(120, 120)
tools.move(390, 280)
tools.show_all()
Gtk.main()
";

#[test]
fn a_button_is_clicked_beside_a_window_of_its_app_that_stays_above() {
    let (bed, server) = Bed::with_server();
    let (persons, _) = bed.mousepad("");
    let app = program(&bed, TOOLS);
    let wide = json!({"element": "Wide"});
    persons
        .call_behind(&server, app.pid, "click_and_traverse", wide)
        .ok();
    app.wait_for("wide");
}

const NOT_FOCUSED: &str = r"
from PyQt5.QtCore import *
from PyQt5.QtWidgets import *
app = QApplication([])
window = QWidget()
layout = QVBoxLayout(window)
due = QDateEdit(QDate(2026, 3, 14))
due.setDisplayFormat('yyyy-MM-dd')
due.setAccessibleName('Due')
due.dateChanged.connect(lambda d: print('due', d.toString(Qt.ISODate), flush=True))
for part in (due, QCalendarWidget()):
    layout.addWidget(part)
window.show()
app.exec()
";

/// Qt 5 reports a day of a calendar as focused, whatever has the focus.
#[test]
fn a_date_that_became_another_is_told_where_another_element_seems_focused() {
    let (bed, server) = Bed::with_server();
    let (persons, _) = bed.mousepad("");
    let app = program(&bed, NOT_FOCUSED);
    let due = json!({"element": "Due", "role": "AXIncrementor", "doubleClick": true,
        "text": "2027-04-05", "pressKey": "Tab"});
    let answer = persons.call_behind(&server, app.pid, "click_and_traverse", due);
    let is_meant = app
        .log()
        .last()
        .is_some_and(|line| line == "due 2027-04-05");
    let told = answer.is_error || answer.text.contains("now");
    assert!(is_meant || told, "{:?}\n{answer}", app.log());
}
