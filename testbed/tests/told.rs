//! What an app did is what the answer says, in programs and pages of these tests. Another app's
//! window, the person's, is in front.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use deskline_testbed::web::Page;
use deskline_testbed::{App, Bed, Client, until};
use serde_json::json;

/// The browsers, each with this page.
fn in_each_browser(html: &str, test: impl Fn(&Bed, &Client, &App<'_>, &Page)) {
    for browser in ["Chromium", "Firefox"] {
        let (bed, server) = Bed::with_server();
        let (app, page) = match browser {
            "Firefox" => bed.firefox_page(html),
            _ => bed.chromium(html),
        };
        until("the page in the tree", || {
            server.refresh(app.pid).ok().find("AXButton", "Last")
        });
        test(&bed, &server, &app, &page);
    }
}

/// A Python program of one test, which writes its log to its standard output.
fn program<'b>(bed: &'b Bed, code: &str) -> App<'b> {
    let path = bed.path("program.py");
    std::fs::write(&path, code).unwrap();
    let mut command = bed.command("/usr/bin/python3");
    // Qt 6.4 does not join the bus if this is set.
    command.env_remove("AT_SPI_BUS_ADDRESS").arg("-u").arg(path);
    App::start_when(bed, command, |_| true)
}

/// A radio button cut to nothing in a label, as bars of choices are made.
const SEGMENTS: &str = r"<style>label div{padding:8px 20px;border:1px solid;display:inline-block}
input{position:absolute;clip:rect(0 0 0 0)}</style>
<label><input type=radio name=r value=Day><div>Day</div></label>
<label><input type=radio name=r value=Week><div>Week</div></label><button>Last</button>
<script>onchange=e=>log('chose',e.target.value);log('ready')</script>";

#[test]
fn a_label_around_a_hidden_control_takes_its_click() {
    in_each_browser(SEGMENTS, |bed, server, app, page| {
        let (persons, _) = bed.mousepad("");
        let click = json!({"element": "Week", "role": "AXRadioButton"});
        let answer = persons.call_behind(server, app.pid, "click_and_traverse", click);
        assert!(!answer.is_error, "{answer}");
        page.wait_for("chose Week");
    });
}

/// A table whose head and first column stay, a list with a bar that stays at its top, a link over
/// two lines of a list, a list box, and a strip that scrolls to the left.
const OVER: &str = "<style>#w{height:200px;width:420px;overflow:auto}td,th{min-width:120px;
height:40px;background:#fff}th{position:sticky;top:0}td:first-child{position:sticky;left:0}
#e{height:200px;overflow:auto}#e button{display:block;width:200px;height:40px}
#e #bar{position:sticky;top:0;width:100%;height:60px}</style>
<div id=w tabindex=0><table><thead><tr id=h></tr></thead><tbody id=b></tbody></table></div>
<div id=e><button id=bar>Wipe</button></div><ul style='width:120px'><li><a href='#'>Item with</a>, <a href='#'>another</a>,
<a href='#'>third one</a></ul><select size=4 aria-label=Base onchange=\"log('base',value)\">
<option>Thin<option>Thick<option>Pan<option>Deep<option>Cheese</select>
<div dir=rtl id=s style='width:300px;overflow-x:auto;white-space:nowrap'></div><button>Last</button>
<script>for(let r=0;r<24;r++){const row=b.insertRow();for(let c=0;c<8;c++){
row.insertCell().textContent=`Cell ${r}-${c}.`;if(!r)h.innerHTML+=`<th>Head ${c}`}
s.innerHTML+=`<button style='width:100px'>Strip ${r}.</button>`;
e.insertAdjacentHTML('beforeend',`<button>Entry ${r}.</button>`)}
onclick=({target})=>{if(!target.closest('select'))log('clicked',target.textContent)}
onload=()=>{w.scrollTo(210,130);e.scrollTop=110}</script>";

#[test]
fn what_lies_over_the_target_in_a_page_gets_no_click() {
    in_each_browser(OVER, |bed, server, app, page| {
        let (persons, _) = bed.mousepad("");
        for (name, wanted) in [
            ("Cell 3-2.", "clicked Cell 3-2."),
            ("Entry 1.", "clicked Entry 1."),
            ("Entry 10.", "clicked Entry 10."),
            ("third one", "clicked third one"),
            ("Cheese", "base Cheese"),
            ("Strip 9.", "clicked Strip 9."),
            ("Cell 20-6.", "clicked Cell 20-6."),
        ] {
            page.clear_log();
            let click = json!({"element": name});
            let answer = persons.call_behind(server, app.pid, "click_and_traverse", click);
            assert!(!answer.is_error, "{:?}\n{answer}", page.log());
            page.wait_for(wanted);
            assert_eq!(page.log(), [wanted], "{answer}");
        }
    });
}

/// A section that opens slowly, a button that comes late, a dialog and a frame in a frame that
/// scroll, and another page.
const OPENS: &str = "<style>#a{max-height:0;overflow:hidden;transition:max-height .35s}
#a.open{max-height:90px}</style><button onclick=\"a.classList.add('open')\">Section</button>
<div id=a><p>About it</p><button>Inner</button></div><button onclick=\"setTimeout(()=>
this.outerHTML='<button>Finish</button>',350);this.textContent='Wait'\">Begin</button>
<button onclick=\"sessionStorage.two=1;location='/'\">Leave</button>
<button onclick='d.show()'>Open</button><dialog id=d style='height:120px;overflow:auto'>
<div style='height:500px'></div><button>Save</button></dialog><iframe id=f height=90></iframe>
<div style='height:900px'></div><button>Last</button><script>
onclick=e=>log('clicked',e.target.textContent);const tall='<div style=height:400px></div>';
f.srcdoc=tall+'<iframe id=g height=80></iframe><script>g.srcdoc=`'+tall+
'<button onclick=top.log(\"deep\")>Deep</button>`</'+'script>';
if(sessionStorage.two)document.body.innerHTML='<button>Second</button>';log('ready')</script>";

#[test]
fn a_step_reaches_what_the_step_before_has_opened_in_a_page() {
    in_each_browser(OPENS, |bed, server, app, page| {
        let (persons, _) = bed.mousepad("");
        for (names, wanted) in [
            (&["Section", "Inner"][..], "clicked Inner"),
            (&["Begin", "Finish"], "clicked Finish"),
            (&["Deep"], "deep"),
            (&["Last"], "clicked Last"),
            (&["Open", "Save"], "clicked Save"),
            (&["Leave", "Second"], "clicked Second"),
        ] {
            let step = |name: &&str| json!({"do": "click", "element": name, "role": "AXButton"});
            let steps: Vec<_> = names.iter().map(step).collect();
            let chain = json!({ "steps": steps });
            let answer = persons.call_behind(server, app.pid, "chain_and_traverse", chain);
            assert!(!answer.is_error, "{:?}\n{answer}", page.log());
            page.wait_for(wanted);
        }
    });
}

#[test]
fn a_click_that_an_element_in_no_tree_takes_is_reported() {
    let html = r#"<div style="position:relative;width:200px;height:60px">
        <button style="width:200px;height:60px">Order</button>
        <div aria-hidden=true style="position:absolute;inset:0" onclick="log('over')"></div></div>
        <button onclick="log('last')">Last</button><script>log('ready')</script>"#;
    in_each_browser(html, |bed, server, app, page| {
        let (persons, _) = bed.mousepad("");
        let last = json!({"element": "Last"});
        let answer = persons.call_behind(server, app.pid, "click_and_traverse", last);
        page.wait_for("last");
        assert!(!answer.text.contains("did not get the focus"), "{answer}");
        let order = json!({"element": "Order"});
        let answer = persons.call_behind(server, app.pid, "click_and_traverse", order);
        let told = answer.is_error || answer.text.contains("did not get the focus");
        assert!(told, "{:?}\n{answer}", page.log());
    });
}

#[test]
fn a_number_that_a_page_takes_back_is_no_success() {
    let html = r#"<label>Level <input type=range value=50 oninput="log('level',value);
        clearTimeout(t);t=setTimeout(()=>value=50,120)"></label>
        <button>Last</button><script>let t;log('ready')</script>"#;
    in_each_browser(html, |bed, server, app, page| {
        let (persons, _) = bed.mousepad("");
        let level = json!({"element": "Level", "role": "AXSlider", "value": "80"});
        let answer = persons.call_behind(server, app.pid, "set_value_and_traverse", level);
        page.wait_for("level 80");
        assert!(answer.is_error, "{answer}");
    });
}

#[test]
fn suggestions_of_chromium_are_shown_and_stay_until_the_next_call() {
    let html = r#"<label>City <input list=c oninput="log('city',value)"></label>
        <datalist id=c><option>Berlin<option>Bern</datalist><script>log('ready')</script>"#;
    let (bed, server) = Bed::with_server();
    let (persons, _) = bed.mousepad("");
    let (app, page) = bed.chromium(html);
    let city = json!({"element": "City", "role": "AXComboBox", "text": "Ber"});
    let answer = persons.call_behind(&server, app.pid, "click_and_traverse", city);
    let answer = answer.ok();
    let shown = answer.list("visible_elements");
    assert!(shown.iter().any(|l| l.contains("\"Bern\"")), "{shown:?}");
    let bern = json!({"pid": app.pid, "element": "Bern"});
    let answer = server.call("click_and_traverse", bern).ok();
    page.wait_for("city Bern");
    assert_eq!(bed.screen().front(), persons.window.id, "{answer}");
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
fn a_date_box_that_took_another_date_is_an_error() {
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

/// An area whose middle is another's, and a read-only text.
const ODD: &str = r#"
<img usemap=#m width=300 height=200 src="data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg'/>">
<map name=m>
<area shape=poly coords=0,0,300,0,300,30,30,30,30,200,0,200 alt=North href=#n
 onclick="log('North'); box.focus()">
<area coords=60,60,240,180 alt=Middle href=#m onclick="log('Middle')"></map>
<input id=box aria-label=Box oninput="log(value)">
<label>Notes <textarea readonly>old text</textarea></label>
<button>Last</button><script>log('ready')</script>"#;

#[test]
fn an_area_of_an_image_map_is_clicked_and_a_read_only_field_is_an_error() {
    in_each_browser(ODD, |bed, server, app, page| {
        let (persons, _) = bed.mousepad("");
        let click = |more| persons.call_behind(server, app.pid, "click_and_traverse", more);
        for name in ["North", "Middle"] {
            page.clear_log();
            click(json!({"element": name, "role": "AXLink"})).ok();
            page.wait_for(name);
            assert_eq!(page.log(), [name]);
        }
        click(json!({"element": "North", "role": "AXLink", "text": "typed"})).ok();
        page.wait_for("typed");
        let notes = json!({"element": "Notes", "role": "AXTextArea", "text": "new"});
        click(notes).error();
    });
}

#[test]
fn a_starting_firefox_is_not_closed_by_a_click_meant_for_its_page() {
    let (bed, server) = Bed::with_server();
    let (persons, _) = bed.mousepad("");
    let page = Page::serve("<button onclick=\"log('closed')\">Close</button>");
    let app = bed.firefox_at(&page.address(), "");
    let close = json!({"element": "Close"});
    let answer = persons.call_behind(&server, app.pid, "click_and_traverse", close);
    if !answer.is_error {
        page.wait_for("closed");
    }
}

#[test]
fn scrolling_over_a_slider_until_a_text_shows_changes_no_slider() {
    let (bed, server) = Bed::with_server();
    let (persons, _) = bed.mousepad("");
    let app = program(&bed, include_str!("../apps/mixer.py"));
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
window = QWidget()
layout = QVBoxLayout(window)
for each in (box, rows):
    layout.addWidget(each)
window.resize(300, 400)
window.show()
app.exec()
";

#[test]
fn tall_rows_and_a_group_box_of_qt_are_clicked() {
    let (bed, server) = Bed::with_server();
    let (persons, _) = bed.mousepad("");
    let app = program(&bed, ROWS);
    for (name, logged) in [
        ("Row 60", "row 60"),
        ("Row 9", "row 9"),
        ("Net", "net True"),
    ] {
        let click = json!({"element": name});
        persons
            .call_behind(&server, app.pid, "click_and_traverse", click)
            .ok();
        app.wait_for(logged);
    }
}

#[test]
fn a_card_is_dropped_where_the_page_accepts_it() {
    let html = r#"<div draggable=true style="width:90px;height:40px;background:#ccf"
        ondragstart="event.dataTransfer.setData('text/plain','x')">Card</div>
        <div style="width:200px;height:90px;background:#cfc" ondragover="event.preventDefault()"
        ondrop="event.preventDefault();log('dropped');textContent='Full'">Zone</div>
        <button>Last</button><script>log('ready')</script>"#;
    in_each_browser(html, |bed, server, app, page| {
        let (persons, _) = bed.mousepad("");
        page.clear_log();
        let drag = json!({"element": "Card", "toElement": "Zone"});
        let answer = persons.call_behind(server, app.pid, "drag_and_traverse", drag);
        page.wait_for("dropped");
        assert!(!answer.is_error, "{answer}");
    });
}

#[test]
fn a_text_that_a_page_takes_back_after_return_is_no_success() {
    let html = r#"<label>Code <input value=ten onkeydown="if(event.key=='Enter'){log('got',value);
        setTimeout(()=>value='ten',120)}"></label><button>Last</button>
        <script>log('ready')</script>"#;
    in_each_browser(html, |bed, server, app, page| {
        let (persons, _) = bed.mousepad("");
        let mut code = json!({"element": "Code", "role": "AXTextField", "doubleClick": true});
        (code["text"], code["pressKey"]) = ("nine".into(), "Return".into());
        let answer = persons.call_behind(server, app.pid, "click_and_traverse", code);
        page.wait_for("got nine");
        // It is a note while a browser changes its bars, as it does at its start.
        let told = ["is 'ten' again", "it shows 'ten' still"];
        assert!(
            told.iter().any(|told| answer.text.contains(told)),
            "{answer}"
        );
    });
}

/// What passes clicks on or hides for a while, and lists that show a part of what they hold.
const PARTS: &str = r#"<style>.s{position:absolute;opacity:0;pointer-events:none}.s+label{padding:8px 20px}
    #l{position:absolute;left:500px;margin:0;padding:0;list-style:none;height:90px;overflow:auto}
    #l li{height:30px;width:100px}#veil{position:fixed;inset:0;background:#fff8}
    .b{position:absolute;width:0;height:0}p{width:300px;font:16px/24px sans-serif}</style>
    <input class=s type=radio name=r id=r1><label for=r1>Small</label>
    <input class=s type=radio name=r id=r2><label for=r2>Large</label>
    <div role=combobox tabindex=0 aria-label=Colour aria-expanded=false aria-controls=l id=c
      style="position:absolute;left:500px;width:100px" onclick="show(l.hidden)">Red</div>
    <p><input type=checkbox id=k> Some words first that fill it <label for=k>I agree to all of the
      conditions and rules</label> and more.
    <p><button onclick="veil.hidden=false;setTimeout(()=>veil.remove(),600)">Load</button>
    <button onclick="log('started')">Start</button><div id=veil hidden>Loading</div>
    <div style="height:120px"></div><ul id=l role=listbox hidden></ul><button>Last</button><script>
    function show(open){l.hidden=!open;c.setAttribute('aria-expanded',open)}
    for(const x of ['Red','Green','Blue','Grey','Black','White']){const e=document.createElement('li');
      e.role='option';e.textContent=x;l.append(e);
      e.onclick=()=>{c.textContent=x;show(false);log('colour',x)}}
    onchange=e=>log(e.target.id,e.target.checked);log('ready')</script>"#;

#[test]
fn labels_overlays_and_lists_of_a_page_let_a_click_reach_its_target() {
    in_each_browser(PARTS, |bed, server, app, page| {
        let (persons, _) = bed.mousepad("");
        let large = json!({"element": "Large", "role": "AXRadioButton"});
        let agree = json!({"element": "I agree to all", "role": "AXCheckBox"});
        let choose = |colour| json!({"element": "Colour", "choose": colour});
        let calls = [
            (large, "r2 true"),
            (agree, "k true"),
            (choose("Black"), "colour Black"),
            // Its list is scrolled now.
            (choose("Green"), "colour Green"),
            (choose("White"), "colour White"),
        ];
        for (click, does) in calls {
            page.clear_log();
            let answer = persons.call_behind(server, app.pid, "click_and_traverse", click);
            assert!(!answer.is_error, "{answer}");
            page.wait_for(does);
            assert_eq!(page.log(), [does], "{answer}");
        }
        let steps = json!({"steps": [{"do": "click", "element": "Load"},
            {"do": "click", "element": "Start"}]});
        let answer = persons.call_behind(server, app.pid, "chain_and_traverse", steps);
        assert!(!answer.is_error, "{answer}");
        page.wait_for("started");
    });
}

/// Fields and cells that make something else of a text, and lists with choices that cannot be
/// meant.
const ELSE: &str = r#"<label>Tags <input id=g onkeydown="if(event.key=='Enter'||event.key==','){
      event.preventDefault();log('tag',value);g.value=''}"></label>
    <label>At most ten <input type=number value=1 onchange="if(value>10)value=10;log('number',value)"></label>
    <table role=grid><tr><td tabindex=0>alpha<td tabindex=0>beta</table>
    <select aria-label=Size><optgroup label=Men><option>S<option>L</optgroup>
      <optgroup label=Women><option>S<option>L</optgroup></select>
    <select aria-label=Plan><option>Free<option disabled>Gold</select><button>Last</button><script>
    document.querySelectorAll('td').forEach(cell=>cell.ondblclick=()=>{
      const was=cell.textContent,field=document.createElement('input');
      field.value=was;cell.textContent='';cell.append(field);field.select();
      const end=()=>{cell.textContent=was;log('back',was)};
      field.onkeydown=e=>{if(e.key=='Enter'){field.onblur=null;end()}};field.onblur=end});
    log('ready')</script>"#;

#[test]
fn the_answer_tells_what_a_page_makes_of_a_text_or_does_not_offer() {
    in_each_browser(ELSE, |bed, server, app, page| {
        let (persons, _) = bed.mousepad("");
        let click = |click: serde_json::Value, tells: &str| {
            let answer = persons.call_behind(server, app.pid, "click_and_traverse", click);
            assert!(answer.text.contains(tells), "{answer}");
        };
        let tags = json!({"element": "Tags", "role": "AXTextField", "text": "blue,green",
            "pressKey": "Return"});
        click(tags, "contains 'green' now");
        page.wait_for("tag green");
        assert_eq!(page.log(), ["tag blue", "tag green"]);
        let number = json!({"element": "At most ten", "role": "AXIncrementor", "doubleClick": true,
            "text": "50", "pressKey": "Tab"});
        click(number, "contains '10' now");
        page.wait_for("number 10");
        let cell = json!({"element": "alpha", "doubleClick": true, "text": "one",
            "pressKey": "Return"});
        click(cell, "shows 'alpha' still");
        page.wait_for("back alpha");
        // The cell drops the text once the person's window is in front again.
        let cell = json!({"element": "beta", "doubleClick": true, "text": "two"});
        click(cell, "is 'beta' again");
        click(
            json!({"element": "Size", "choose": "L"}),
            "has 2 choices 'L'",
        );
        click(json!({"element": "Plan", "choose": "Gold"}), "is disabled");
    });
}

#[test]
fn the_answer_tells_of_a_cell_that_refuses_a_text_or_a_choice() {
    let (bed, server) = Bed::with_server();
    let (persons, _) = bed.mousepad("");
    let app = program(&bed, include_str!("../apps/table.py"));
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
fn what_gtk_4_draws_over_others_or_takes_back_is_seen() {
    let (bed, server) = Bed::with_server();
    let (persons, _) = bed.mousepad("");
    let app = program(&bed, include_str!("../apps/book.py"));
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
fn menus_of_gtk_3_end_and_their_items_go_back() {
    let (bed, server) = Bed::with_server();
    let (persons, _) = bed.mousepad("");
    let app = program(&bed, include_str!("../apps/menus.py"));
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
    call(json!({"element": "Open", "role": "AXButton", "choose": "Two"})).ok();
    app.wait_for("item Two");
    assert!(!app.log().contains(&"open".to_owned()), "{:?}", app.log());
}
