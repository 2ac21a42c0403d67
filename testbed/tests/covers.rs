//! A click reaches what was meant, where something else of the app lies over it, and where its
//! shape is not its box. Another app's window, the person's, is in front.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use deskline_testbed::grabber::Grabber;
use deskline_testbed::table::rows;
use deskline_testbed::web::Page;
use deskline_testbed::{Answer, App, Bed, Client, Toolkit, until};
use serde_json::{Value, json};

const KITS: [&str; 4] = ["gtk3", "gtk4", "qt5", "qt6"];

fn click(persons: &App<'_>, server: &Client, pid: u32, more: Value) -> Answer {
    persons.call_behind(server, pid, "click_and_traverse", more)
}

#[test]
fn only_the_visible_part_of_a_covered_button_is_clicked() {
    let (bed, server) = Bed::with_server();
    let (persons, _) = bed.mousepad("");
    for kit in KITS {
        let app = bed.covers(&[kit]);
        let answer = click(&persons, &server, app.pid, json!({"element": "Whole"}));
        let error = answer.error().to_owned();
        assert!(
            error.starts_with("'Whole' [AXButton] is covered by "),
            "{kit}: {error}"
        );
        click(&persons, &server, app.pid, json!({"element": "Free"})).ok();
        app.wait_for("clicked Free");
        click(&persons, &server, app.pid, json!({"element": "Part"})).ok();
        app.wait_for("clicked Part");
        assert_eq!(app.log(), ["clicked Free", "clicked Part"], "{kit}");
        for action in [
            json!({"element": "Whole", "hover": true}),
            json!({"element": "Whole", "doubleClick": true}),
        ] {
            click(&persons, &server, app.pid, action).error();
        }
        assert_eq!(app.log().len(), 2, "{kit}: {:?}", app.log());
    }
}

#[test]
fn a_window_of_no_known_process_gets_no_click() {
    let (bed, server) = Bed::with_server();
    let app = bed.widgets(Toolkit::Gtk3);
    let ok = json!({"pid": app.pid, "element": "OK", "role": "AXButton"});
    server.call("click_and_traverse", ok.clone()).ok();
    app.wait_for("clicked OK");
    app.clear_log();
    Grabber::on(&bed).leave_a_window(app.window.bounds);
    let answer = server.call("click_and_traverse", ok);
    assert!(answer.error().contains("Nobody's"), "{answer}");
    assert_eq!(app.log(), [""; 0]);
}

#[test]
fn an_expander_and_a_number_field_are_clicked_in_both_text_directions() {
    let (bed, server) = Bed::with_server();
    let (persons, _) = bed.mousepad("");
    for kit in KITS {
        for direction in ["ltr", "rtl"] {
            let app = bed.covers(&[kit, direction]);
            for open in ["true", "false"] {
                click(&persons, &server, app.pid, json!({"element": "Details"})).ok();
                app.wait_for(&format!("details {open}"));
            }
            let amount = json!({"element": "Amount", "role": "AXIncrementor"});
            let answer = click(&persons, &server, app.pid, amount).ok();
            let changed = app.log().iter().any(|line| line.starts_with("amount"));
            assert!(!changed, "{kit} {direction}: {answer}");
        }
    }
}

const STICKY: &str = r#"<style>body{margin:0}#h{position:fixed;top:0;left:0;right:0;height:120px;z-index:9}
#h button{width:100%;height:120px}button{display:block;width:300px;height:40px;margin:0}</style>
<div id=h><button onclick="log('DELETE')">Delete all</button></div><div style="height:120px"></div><div id=l></div>
<script>for(let i=1;i<60;i++){const b=document.createElement('button');b.textContent='Item '+i;b.id='i'+i;
b.onclick=()=>log('item',i);l.append(b)}
onload=()=>setTimeout(()=>{scrollTo(0,document.getElementById('i20').offsetTop-60);log('ready')},300)</script>"#;

const SHEET: &str = r#"<button onclick="log('BUY')" style="margin:100px">Buy now</button>
<div onclick="log('sheet')" style="position:fixed;inset:0;z-index:9;background:#0001"></div><script>log('ready')</script>"#;

const WRAPPED: &str = r##"<style>body{font:16px/24px sans-serif;margin:20px}div{width:400px}
i{display:inline-block;width:310px;font-style:normal}</style>
<div><i>In the year nineteen fifty-three he was given the</i> <a href="#" onclick="log('link');return false">Nobel
Prize in Literature of that year</a> and the rest of the sentence goes on here.</div>
<script>document.onclick=e=>log('at',e.target.tagName);log('ready')</script>"##;

/// Waits until the page has reported an event, and returns all.
fn events(page: &Page, some: &str) -> Vec<String> {
    page.wait_for(some);
    page.log()
}

#[test]
fn a_button_behind_a_fixed_header_is_scrolled_clear_and_clicked() {
    let (bed, server) = Bed::with_server();
    let (persons, _) = bed.mousepad("");
    let (app, page) = bed.chromium(STICKY);
    // Chromium reports the places of a page that scrolls by itself half a second later.
    let place = || {
        let read = server.refresh(app.pid).ok();
        read.find("AXButton", "Item 20")?.extents
    };
    let header = || {
        server
            .refresh(app.pid)
            .ok()
            .find("AXButton", "Delete all")?
            .extents
    };
    until("the page that has scrolled", || {
        Some(header()?.contains(place()?.center())).filter(|behind| *behind)
    });
    click(&persons, &server, app.pid, json!({"element": "Item 20"})).ok();
    assert_eq!(events(&page, "item 20"), ["item 20"]);
}

#[test]
fn a_button_under_a_sheet_of_the_page_is_not_clicked() {
    let (bed, server) = Bed::with_server();
    let (persons, _) = bed.mousepad("");
    let (app, page) = bed.chromium(SHEET);
    let answer = click(&persons, &server, app.pid, json!({"element": "Buy now"}));
    assert!(answer.error().contains("is covered by"));
    assert_eq!(page.log(), Vec::<String>::new());
}

#[test]
fn a_link_over_two_lines_is_clicked_on_one_of_them() {
    let (bed, server) = Bed::with_server();
    let (persons, _) = bed.mousepad("");
    let (app, page) = bed.chromium(WRAPPED);
    click(
        &persons,
        &server,
        app.pid,
        json!({"element": "Nobel Prize"}),
    )
    .ok();
    assert_eq!(events(&page, "at A"), ["link", "at A"]);
}

#[test]
fn an_expected_text_is_awaited_and_its_absence_is_an_error() {
    let (bed, server) = Bed::with_server();
    let (persons, _) = bed.mousepad("");
    let html = r#"<button onclick="setTimeout(()=>o.textContent='Thank you',700)">Send</button>
        <p id=o>draft</p><script>log('ready')</script>"#;
    let (app, _page) = bed.chromium(html);
    let send = |expect: &str, timeout: f64| {
        let more = json!({"element": "Send", "expect": expect, "timeout": timeout});
        click(&persons, &server, app.pid, more)
    };
    let answer = send("refused", 0.3);
    assert!(answer.error().contains("'refused' does not show"));
    let answer = send("Thank you", 5.0).ok();
    assert!(
        answer.field("expected").starts_with("met after "),
        "{answer}"
    );
    let answer = send("!Thank", 0.3);
    assert!(answer.error().contains("still shows"));
    let steps = json!([{"do": "click", "element": "Send", "expect": "Thank you"}]);
    let answer = persons.call_behind(
        &server,
        app.pid,
        "chain_and_traverse",
        json!({"steps": steps}),
    );
    assert!(answer.ok().list("steps")[0].contains("; expected: met after "));
}

/// What comes to where "Open" is, in these toolkits, and whether a click can reach "Open" then.
const MOVES: [(&str, &str, bool); 10] = [
    ("fade", "gtk3 gtk4", false),
    ("toast", "gtk3 gtk4 qt5 qt6", false),
    ("away", "gtk3 gtk4 qt5 qt6", true),
    ("tabs", "gtk3 gtk4", true),
    ("windows", "qt5 qt6", false),
    ("box", "gtk3", false),
    ("mask", "qt5 qt6", false),
    ("row", "qt5 qt6", false),
    ("form", "gtk3 gtk4 qt5 qt6", true),
    ("wide", "gtk3 gtk4 qt5 qt6", true),
];

/// A call with more arguments.
fn and(mut call: Value, more: &Value) -> Value {
    let more = more.as_object().unwrap().clone();
    call.as_object_mut().unwrap().extend(more);
    call
}

#[test]
fn an_element_that_moves_over_a_button_is_not_clicked_instead() {
    let (bed, server) = Bed::with_server();
    let (persons, _) = bed.mousepad("");
    let each = MOVES.iter().flat_map(|(mode, kits, reaches)| {
        let kits = kits.split(' ');
        kits.map(move |kit| (kit, *mode, *reaches))
    });
    for (kit, mode, reaches) in each {
        for more in [json!({}), json!({"doubleClick": true})] {
            persons.bring_to_front();
            let app = bed.moves(&[kit, mode]);
            let mut call = json!({"element": "Open"});
            if mode == "tabs" {
                call["role"] = "AXTab".into();
            }
            let answer = click(&persons, &server, app.pid, and(call, &more));
            let clicked = |line: &String| line == "clicked Open";
            let told = answer.is_error != app.log().iter().any(clicked);
            let alone = app.log().iter().all(clicked);
            let as_wanted = answer.is_error != reaches;
            assert!(
                told && alone && as_wanted,
                "{kit} {mode}: {:?}\n{answer}",
                app.log()
            );
        }
    }
}

/// The second press does not even give it the focus.
#[test]
fn an_element_that_shows_no_press_takes_repeated_clicks() {
    let (bed, server) = Bed::with_server();
    let (persons, _) = bed.mousepad("");
    for (kit, mode) in [("gtk3", "own"), ("qt5", "rows"), ("qt6", "rows")] {
        let app = bed.moves(&[kit, mode]);
        for times in 1..=3 {
            click(&persons, &server, app.pid, json!({"element": "Open"})).ok();
            until("the click", || app.log().len() == times);
        }
    }
}

/// The click on the field only closes the popover, and what opened that has the keys.
#[test]
fn a_text_for_a_field_beside_a_popover_arrives_or_is_an_error() {
    let (bed, server) = Bed::with_server();
    let (persons, _) = bed.mousepad("");
    for kit in ["gtk3", "gtk4"] {
        let app = bed.moves(&[kit, "popover"]);
        click(&persons, &server, app.pid, json!({"element": "Open"})).ok();
        let field = json!({"role": "AXTextField", "text": "joe"});
        let answer = click(&persons, &server, app.pid, field);
        let arrived = app.log().last().is_some_and(|line| line == "text joe");
        assert_ne!(arrived, answer.is_error, "{kit}: {:?}\n{answer}", app.log());
    }
}

/// A page whose buttons move from the pointer, lie in what is named, are no boxes, or are under a
/// footer: "Edge" with its middle on the page's scroll bar.
const SHAPES: &str = r"<style>body{margin:0;height:3000px}#w{position:absolute;left:50px;top:60px}
#w button{display:block;width:200px;height:40px}
#o{position:absolute;left:400px;top:20px;width:500px;height:50px}#o button{margin-left:150px;width:200px;height:50px}
#c{position:absolute;left:50px;top:260px;width:200px;height:200px;clip-path:polygon(0 0,100% 0,0 30%)}
#wide{position:absolute;left:400px;top:300px;width:4000px;height:40px}
#l,#e{position:absolute;left:400px;top:2000px;width:200px;height:40px}
#f{position:fixed;bottom:0;left:0;right:0;height:120px}#f button{width:100%;height:120px}</style>
<div id=w><button>Alpha</button><button>Beta</button><button>Delete</button></div>
<div role=option id=o aria-label=Mail tabindex=0>Mail <button>Trash</button></div>
<button id=c>Corner</button><button id=wide>Wide</button><button id=l>Low</button><button id=e>Edge</button>
<div id=f><button>Wipe</button></div><script>
l.style.top=innerHeight-80+'px';l.onclick=()=>e.style.top=scrollY+innerHeight-25+'px';
w.onmouseenter=()=>w.style.top='20px';w.onmouseleave=()=>w.style.top='60px';
onclick=e=>log('clicked',e.target.ariaLabel||e.target.textContent);log('ready')</script>";

#[test]
fn moving_nested_and_oddly_shaped_elements_of_a_page_are_clicked() {
    let (bed, server) = Bed::with_server();
    let (persons, _) = bed.mousepad("");
    for browser in ["Chromium", "Firefox"] {
        let page = Page::serve(SHAPES);
        let app = match browser {
            "Firefox" => bed.firefox_at(&page.address(), page.title()),
            _ => bed.chromium_at(&page.address(), page.title()),
        };
        page.wait_for("ready");
        until("the page in the tree", || {
            server.refresh(app.pid).ok().find("AXButton", "Beta")
        });
        for name in ["Beta", "Mail", "Corner", "Wide", "Low", "Edge"] {
            page.clear_log();
            let mut answer = click(&persons, &server, app.pid, json!({"element": name}));
            // Firefox says of what is cut to another shape that it does not show.
            if (browser, name) == ("Firefox", "Corner") {
                answer.fails_with("is not showing");
                answer = server.press_ax(app.pid, "AXButton", name);
            }
            answer.ok();
            page.wait_for(&format!("clicked {name}"));
            assert_eq!(page.log(), [format!("clicked {name}")], "{browser}");
        }
    }
}

#[test]
fn a_button_that_grows_and_moves_under_the_pointer_is_clicked() {
    let (bed, server) = Bed::with_server();
    let (persons, _) = bed.mousepad("");
    let html = r"<style>button{width:120px;height:40px;transition:all .25s}
        button:hover{width:360px;height:120px;margin-top:10px}</style>
        <button>Grow</button><br><button>Second</button>
        <script>onclick=e=>log('clicked',e.target.textContent)</script>";
    let (app, page) = bed.firefox_page(html);
    until("the page in the tree", || {
        server.refresh(app.pid).ok().find("AXButton", "Second")
    });
    for name in ["Grow", "Second"] {
        page.clear_log();
        click(&persons, &server, app.pid, json!({"element": name})).ok();
        page.wait_for(&format!("clicked {name}"));
        assert_eq!(page.log(), [format!("clicked {name}")]);
    }
}

#[test]
fn a_click_that_a_page_gives_to_another_control_is_no_success() {
    let (bed, server) = Bed::with_server();
    let (persons, _) = bed.mousepad("");
    // A label answers hit tests with its control, which is elsewhere, and is in no tree.
    let html = r#"<style>.o{position:absolute;left:20px;top:20px;width:300px;height:60px}</style>
        <label class=o style="z-index:3" for=x>News</label><button class=o>Order</button>
        <button style="position:absolute;top:120px" onclick="log('kept')">Keep</button>
        <input type=checkbox id=x style="position:absolute;left:400px" onchange="log('ticked')">"#;
    let (app, page) = bed.chromium(html);
    let answer = click(&persons, &server, app.pid, json!({"element": "Order"}));
    let error = answer.error();
    assert!(
        error.contains("the click went to 'News' [AXCheckBox]"),
        "{error}"
    );
    page.wait_for("ticked");
    click(&persons, &server, app.pid, json!({"element": "Keep"})).ok();
    page.wait_for("kept");
}

/// The same buttons and panel as a page.
const PANEL: &str = r"<style>
body{margin:0}button{display:block;width:400px;height:60px;border:0;padding:0;margin:0}
#panel{position:fixed;top:0;left:0;width:100%;height:90px;z-index:9}</style>
<button>Whole</button><button>Part</button><button>Free</button><button id=panel>Undo</button><script>
for (const b of document.querySelectorAll('button')) for (const [e, word] of
[['mousemove','over'],['mousedown','pressed'],['wheel','turned'],['click','clicked']])
b.addEventListener(e, () => log(word, b.textContent));</script>";

/// The pointer actions, and what an app logs of each.
fn actions(element: &str) -> [(&'static str, Value, String); 7] {
    let (click, drag) = ("click_and_traverse", "drag_and_traverse");
    let on = |tool, more: Value, word: &str| {
        let target = json!({"element": element, "role": "AXButton"});
        (tool, and(target, &more), format!("{word} {element}"))
    };
    let onto = json!({"element": "Free", "toElement": element});
    [
        on(click, json!({}), "clicked"),
        on(click, json!({"rightClick": true}), "pressed"),
        on(click, json!({"doubleClick": true}), "clicked"),
        on(click, json!({"hover": true}), "over"),
        on(drag, json!({"toElement": "Free"}), "pressed"),
        (drag, onto, "pressed Free".to_owned()),
        on("scroll_and_traverse", json!({"deltaY": 1}), "turned"),
    ]
}

/// The columns of the table.
const HEAD: &str = "| toolkit | covered | click | right click | double click | hover | drag from \
    it | drag onto it | wheel |";

/// Whether nothing was sent. A drag that reaches a button and moves nothing is an error too.
fn is_refused(answer: &Answer) -> bool {
    answer.is_error && answer.error().contains(" is covered by ")
}

/// Whether what covers the buttons has got more than the pointer.
fn has_undo(log: &[String]) -> bool {
    let mut lines = log.iter();
    lines.any(|line| line.ends_with(" Undo") && !line.starts_with("over "))
}

/// The cell of the table for a call, by the app's log: the app got nothing, or the wanted line.
fn cell(answer: &Answer, log: &[String], wanted: &str) -> String {
    let has = |line: &str| log.iter().any(|logged| logged == line);
    match (is_refused(answer), has(wanted), has_undo(log)) {
        (true, false, false) => "refused".to_owned(),
        (false, true, false) => "reaches it".to_owned(),
        _ => panic!("{log:?} after {answer}"),
    }
}

/// The log once it has the awaited line, or else what is in it, which is removed.
fn taken(
    awaited: Option<&str>,
    wait: impl Fn(&str),
    log: impl Fn() -> Vec<String>,
    clear: impl Fn(),
) -> Vec<String> {
    if let Some(line) = awaited {
        wait(line);
        return log();
    }
    let log = log();
    clear();
    log
}

#[test]
fn the_table_of_covers_is_in_the_docs() {
    let (bed, server) = Bed::with_server();
    let (persons, _) = bed.mousepad("");
    let mut rows = Vec::new();
    let mut add = |name: &str, pid: u32, log: &dyn Fn(Option<&str>) -> Vec<String>| {
        for (cover, element) in [("wholly", "Whole"), ("in part", "Part")] {
            let cells = actions(element).map(|(tool, more, wanted)| {
                let late = log(None);
                assert!(!has_undo(&late), "{name}, before {wanted}: {late:?}");
                let answer = persons.call_behind(&server, pid, tool, more);
                if !is_refused(&answer) {
                    log(Some(&wanted));
                }
                cell(&answer, &log(None), &wanted)
            });
            rows.push(format!("| {name} | {cover} | {} |", cells.join(" | ")));
        }
    };
    for (kit, name) in KITS.into_iter().zip(["GTK 3", "GTK 4", "Qt 5", "Qt 6"]) {
        let app = bed.covers(&[kit, "all"]);
        add(name, app.pid, &|awaited| {
            taken(
                awaited,
                |l| app.wait_for(l),
                || app.log(),
                || app.clear_log(),
            )
        });
    }
    for name in ["Chromium", "Firefox"] {
        let page = Page::serve(PANEL);
        let open = (page.address(), page.title());
        let app = match name {
            "Firefox" => bed.firefox_at(&open.0, open.1),
            _ => bed.chromium_at(&open.0, open.1),
        };
        page.wait_for("ready");
        add(name, app.pid, &|awaited| {
            taken(
                awaited,
                |l| page.wait_for(l),
                || page.log(),
                || page.clear_log(),
            )
        });
    }
    rows::hold("dev/hit-tests.md", HEAD, &rows);
}

/// A table with a column that stays at its left, above a bar that stays at the bottom. Chromium
/// reports pixels in the page alone.
const COLUMNS: &str = "<style>body{margin:0}#w{width:420px;overflow-x:auto}
td{min-width:120px;height:40px;background:#fff}td:first-child{position:sticky;left:0;z-index:4}
#f{position:fixed;bottom:0;left:0;right:0}#f button{width:100%;height:60px}</style>
<div id=w><table id=t></table></div><div id=f><button onclick=\"log('pay')\">Pay</button></div>
<script>for(let r=0;r<24;r++){const row=t.insertRow();for(let c=0;c<8;c++)
row.insertCell().innerHTML=`<button onclick=\"log('${r}-${c}')\">Cell ${r}-${c}.</button>`}</script>";

#[test]
fn cells_behind_a_fixed_column_or_bar_are_clicked_at_each_scale() {
    for (scale, cells) in [("1", ["2-6", "20-1"]), ("2", ["7-0", "3-1"])] {
        let (bed, server) = Bed::with_server();
        let page = Page::serve(COLUMNS);
        let browser = bed.chromium_by(&[("GDK_SCALE", scale)], &page.address(), page.title());
        page.wait_for("ready");
        let (persons, _) = bed.mousepad("");
        for cell in cells {
            page.clear_log();
            let call = json!({"element": format!("Cell {cell}."), "role": "AXButton"});
            click(&persons, &server, browser.pid, call).ok();
            page.wait_for(cell);
            assert_eq!(page.log(), [cell], "{scale}");
        }
    }
}
