//! Text that an app shows is in the tree, exactly once: documents, web pages, terminals and lists
//! of many toolkits. The tests make the documents, so their content is known.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::fs;
use std::time::{Duration, Instant};

use deskline_core::Line;
use deskline_testbed::{Answer, App, Bed, Client, PATIENCE, has, kilobytes, oracle, until};
use serde_json::json;

fn shown(line: &Line) -> &str {
    line.text.as_ref().map_or("", |text| &text.shown)
}

/// The lines with this role, which may be a native one, and exactly this text.
fn with_text(answer: &Answer, role: &str, text: &str) -> Vec<Line> {
    let is = |line: &Line| {
        let native = line.native_role.as_deref() == Some(role);
        (native || line.role.ax() == role) && shown(line) == text
    };
    answer.lines().into_iter().filter(is).collect()
}

/// Waits until the tree has exactly one visible line with this role and text.
#[track_caller]
fn see(server: &Client, app: &App<'_>, role: &str, text: &str) -> Line {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let answer = server.refresh(app.pid).ok();
        let found = with_text(&answer, role, text);
        assert!(found.len() <= 1, "{found:?}");
        if let Some(line) = found.into_iter().find(|line| line.visible) {
            return line;
        }
        let late = Instant::now() > deadline;
        assert!(
            !late,
            "no [{role}] {text:?} in\n{answer}\n{}",
            answer.file()
        );
    }
}

/// Waits until the office has laid its document out. `LibreOffice` 7.4 on a loaded machine keeps an
/// empty text for each paragraph whose text any client requests before that.
fn laid_out(app: &App<'_>) {
    let ran = || {
        let stat = fs::read_to_string(format!("/proc/{}/stat", app.pid)).unwrap();
        let (_, fields) = stat.rsplit_once(") ").unwrap();
        let fields: Vec<&str> = fields.split(' ').collect();
        // User and system time, in ticks of 10 ms: proc(5), counted from the state.
        let ticks = |i: usize| fields[i].parse::<u64>().unwrap();
        ticks(11) + ticks(12)
    };
    let deadline = Instant::now() + PATIENCE;
    loop {
        let before = ran();
        std::thread::sleep(Duration::from_millis(500));
        if ran() <= before + 2 || Instant::now() > deadline {
            return;
        }
    }
}

#[test]
fn writers_paragraphs_and_status_bar_are_in_the_tree() {
    let (bed, server) = Bed::with_server();
    let (app, _file) = bed.writer(&["First of all", "Then this", "At last"]);
    for text in ["First of all", "Then this", "At last"] {
        see(&server, &app, "paragraph", text);
    }
    see(&server, &app, "AXStaticText", "Page 1 of 1");
    let body = see(&server, &app, "paragraph", "First of all");
    let place = body.extents.unwrap();
    let click = json!({"pid": app.pid, "x": place.x + 1, "y": place.y + place.h / 2, "text": "Q"});
    let answer = server.call("click_and_traverse", click).ok();
    let change = answer
        .diff_lines()
        .into_iter()
        .find(|line| line.starts_with("~ ") && line.contains("(paragraph)"));
    let change = change.unwrap_or_else(|| panic!("{answer}\n{:?}", answer.diff_lines()));
    has(&change, "AXValue: \"First of all\" -> \"QFirst of all\"");
    oracle::wait_for(&bed, app.pid, "paragraph", "", |p| {
        p.text == "QFirst of all"
    });
}

#[test]
fn only_the_visible_part_of_a_letter_is_read_and_writer_does_not_grow() {
    let (bed, server) = Bed::with_server();
    let paragraphs: Vec<String> = (0..2_000)
        .map(|i| format!("Paragraph {i} of many"))
        .collect();
    let paragraphs: Vec<&str> = paragraphs.iter().map(String::as_str).collect();
    let (app, _file) = bed.writer(&paragraphs);
    laid_out(&app);
    see(&server, &app, "paragraph", "Paragraph 0 of many");
    see(&server, &app, "paragraph", "Paragraph 9 of many");
    let first = server.refresh(app.pid).ok();
    for _ in 0..10 {
        server.refresh(app.pid).ok();
    }
    let before = kilobytes(app.pid, "VmRSS");
    for _ in 0..50 {
        server.refresh(app.pid).ok();
    }
    let grown = kilobytes(app.pid, "VmRSS").saturating_sub(before);
    println!("{grown} kB in 50 readings of {}", first.lines().len());
    // Each of the 2,000 paragraphs would cost some kilobytes per reading. LibreOffice 7.4.7 grows
    // by 3.0 to 3.2 MB in 50 readings of the visible ones.
    assert!(
        grown < 6_000,
        "soffice has grown by {grown} kB in 50 readings"
    );

    let place = see(&server, &app, "paragraph", "Paragraph 9 of many")
        .extents
        .unwrap();
    let click = json!({"pid": app.pid, "x": place.x + 1, "y": place.y + place.h / 2});
    server.call("click_and_traverse", click).ok();
    server.press_key(app.pid, "End", &["Control"]).ok();
    see(&server, &app, "paragraph", "Paragraph 1999 of many");
}

#[test]
fn texts_of_impress_and_draw_are_in_the_tree() {
    let (bed, server) = Bed::with_server();
    let (slides, _) = bed.impress("Words on a slide");
    see(&server, &slides, "paragraph", "Words on a slide");
    drop(slides);
    let (page, _) = bed.draw("Words on a plan");
    see(&server, &page, "paragraph", "Words on a plan");
}

#[test]
fn a_page_in_firefox_has_each_text_once() {
    let (bed, server) = Bed::with_server();
    let app = bed.firefox(
        "<h1>A heading</h1>\
         <p>Plain text with a <a href=x>link inside</a> and more.</p>\
         <section>Section <b>bold</b> tail</section><pre>one\ntwo</pre><div>A bare div</div>\
         <div>Outer<div>inner</div>end</div><ul><li>item <a href=y>two</a></ul>\
         <table><tr><td>cell <a href=z>b</a></table><button>Push <b>me</b></button>\
         <blockquote>Quoted</blockquote><label>Label <input value=field></label>bare in the body",
    );
    for (role, text) in [
        ("AXHeading", "A heading"),
        ("paragraph", "Plain text with a link inside and more."),
        ("AXLink", "link inside"),
        ("section", "Section bold tail"),
        ("section", "one\ntwo"),
        ("section", "A bare div"),
        ("section", "Outer inner end"),
        ("section", "inner"),
        ("AXRow", "• item two"),
        ("table cell", "cell b"),
        ("AXButton", "Push me"),
        ("block quote", "Quoted"),
    ] {
        see(&server, &app, role, text);
    }
    let answer = server.refresh(app.pid).ok();
    let whole = answer.file();
    assert!(whole.contains("bare in the body"), "{whole}");
    assert!(!whole.contains('\u{fffc}'), "{whole}");
}

#[test]
fn pages_of_evince_are_in_the_tree() {
    let (bed, server) = Bed::with_server();
    let app = bed.evince(&["The first page\nhas two lines", "The second page"]);
    see(&server, &app, "page", "The first page\nhas two lines");
}

#[test]
fn the_screen_of_konsole_is_in_the_tree() {
    let (bed, server) = Bed::with_server();
    let app = bed.konsole();
    see(&server, &app, "terminal", "$ ");
    let run = |text: &str| {
        let call = json!({"pid": app.pid, "text": text, "pressKey": "Return"});
        server.call("type_and_traverse", call).ok()
    };
    run("echo $((6*7))");
    see(&server, &app, "terminal", "$ echo $((6*7))\n42\n$ ");
    // The screen has more than 1,000 characters. The end is kept, as the cursor is there.
    run("clear; seq -s , 400");
    let last = until("the end of what shows", || {
        let answer = server.refresh(app.pid).ok();
        let is_terminal = |line: &Line| line.native_role.as_deref() == Some("terminal");
        let text = answer.lines().into_iter().find(is_terminal)?.text?;
        let end = text.shown.ends_with("399,400\n$ ");
        (end && text.omitted_before > 0 && text.omitted_after == 0).then_some(text)
    });
    assert_eq!(last.shown.chars().count(), 1_000);
}

#[test]
fn geanys_symbols_are_in_the_tree() {
    let (bed, server) = Bed::with_server();
    let app = bed.geany("int alpha(int a) { return a; }\nstruct beta { int gamma; };\n");
    // The list is in a page of tabs that reports the extents of its label.
    until("the symbols", || {
        let answer = server.refresh(app.pid).ok();
        let has = |text: &str| {
            let mut lines = answer.lines().into_iter();
            lines.any(|l| l.role.ax() == "AXCell" && l.visible && shown(&l).starts_with(text))
        };
        ["Functions", "alpha [1]", "gamma [2]"]
            .into_iter()
            .all(has)
            .then_some(())
    });
}

#[test]
fn the_hidden_choices_of_okulars_combo_box_are_in_the_tree() {
    let (bed, server) = Bed::with_server();
    let app = bed.okular(&["A page"]);
    let answer = until("the choices of zoom", || {
        let answer = server.refresh(app.pid).ok();
        let found = with_text(&answer, "AXRow", "400%");
        (!found.is_empty()).then_some(answer)
    });
    // The items are in a closed combo box. Qt reports them as showing, but without extents.
    assert!(!with_text(&answer, "AXRow", "400%")[0].visible);
}

/// The app is asked which page is in front; GTK 4 reports both as visible.
#[test]
fn only_the_front_page_of_a_gtk_4_stack_is_visible() {
    let (bed, server) = Bed::with_server();
    let app = bed.pages();
    for (front, behind) in [("Front", "Back"), ("Back", "Front"), ("Front", "Back")] {
        let shows = || server.refresh(app.pid).ok().shows_page(front, behind);
        until("the page", shows);
        server.press_ax(app.pid, "AXButton", "Turn").ok();
        app.wait_for(&format!("page {behind}"));
    }
}
