//! Each wrong input has its own error, and nothing is touched.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::time::{Duration, Instant};

use deskline_testbed::{Answer, Bed, Toolkit, deskline, until};
use rustix::process::Signal;
use serde_json::json;

const CLICK: &str = "click_and_traverse";
const KEY: &str = "press_key_and_traverse";

/// Calls, and the texts of their errors.
macro_rules! cases {
    ($($tool:tt {$($arguments:tt)*} => $($words:expr),+;)*) => {
        [$(($tool, json!({$($arguments)*}), vec![$($words.to_string()),+])),*]
    };
}

#[test]
fn wrong_input_is_answered_and_nothing_is_touched() {
    let (bed, server) = Bed::with_server();
    let app = bed.widgets(Toolkit::Gtk3);
    let pid = app.pid;
    let dead = {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        child.id()
    };
    let mut windowless = bed.command("sleep").arg("1000").spawn().unwrap();
    let sleeping = windowless.id();
    let cases = cases! {
        CLICK {"pid": dead, "element": "OK"} => format!("no process has pid {dead}");
        CLICK {"pid": sleeping, "element": "OK"} => format!("pid {sleeping}"), "no window";
        CLICK {"element": "OK"} => "pid is missing";
        KEY {"pid": pid, "keyName": "Retrun"} => "Retrun", "Return";
        KEY {"pid": pid, "keyName": "a", "modifierFlags": ["Contrl"]} => "Contrl", "Control";
        CLICK {"pid": pid, "ref": "e3", "x": 5, "y": 5} => "ref and x,y were given together";
        CLICK {"pid": pid} => "no target";
        CLICK {"pid": pid, "ref": "e987654"} => "#e987654 is stale";
        CLICK {"pid": pid, "element": "Wrep", "role": "AXCheckBox"} =>
            "no element matches 'Wrep'", "\"Wrap\"";
        "scroll_and_traverse" {"pid": pid, "x": "ten", "y": 5, "deltaY": 1} =>
            "x must be a number", "ten";
        CLICK {"pid": pid, "elemnt": "OK"} => "elemnt", "element";
        CLICK {"pid": pid, "x": 1900, "y": 1000} => "none of the app's windows";
        "set_value_and_traverse" {"pid": pid, "element": "OK", "role": "AXButton", "value": 1} =>
            "refused set_value";
        "open_application_and_traverse" {"identifier": "no-such-app-at-all"} =>
            "no-such-app-at-all";
    };
    let mut seen = Vec::new();
    for (tool, arguments, words) in cases {
        let begun = Instant::now();
        let answer = server.call(tool, arguments.clone());
        let took = begun.elapsed();
        assert!(answer.is_error, "{tool} {arguments}: {answer}");
        let error = answer.error().to_owned();
        for word in &words {
            assert!(
                error.contains(word),
                "{tool} {arguments}: no {word:?} in {error:?}"
            );
        }
        assert!(
            took < Duration::from_secs(5),
            "{tool} {arguments} took {took:?}"
        );
        assert!(!seen.contains(&error), "the same words twice: {error}");
        seen.push(error);
    }
    assert_eq!(app.full_log(), [""; 0], "something was touched");
    windowless.kill().unwrap();
    windowless.wait().unwrap();
}

#[test]
fn an_error_names_the_three_nearest_texts() {
    let (bed, server) = Bed::with_server();
    let app = bed.widgets(Toolkit::Qt5);
    let answer = server.call(CLICK, json!({"pid": app.pid, "element": "Tickin g"}));
    let nearest = answer.error().split("Nearest: ").nth(1).unwrap();
    assert!(nearest.contains("\"Ticking\""), "{nearest}");
    assert_eq!(nearest.matches('#').count(), 3, "{nearest}");
}

#[test]
fn a_ref_of_an_element_that_is_gone_is_stale() {
    let (bed, server) = Bed::with_server();
    let app = bed.widgets(Toolkit::Gtk3);
    let asked = server.click(app.pid, "AXButton", "Ask").ok();
    let yes = asked
        .line_of("AXButton", "Yes")
        .reference
        .unwrap()
        .to_string();
    let press = json!({"pid": app.pid, "ref": yes});
    server.call(CLICK, press.clone()).ok();
    let again = server.call(CLICK, press);
    assert!(again.error().contains("is stale"), "{again}");
    assert_eq!(app.log(), ["clicked Ask", "answered Yes"]);
}

#[test]
fn a_hung_app_is_named_in_time_and_delays_no_other() {
    let (bed, server) = Bed::with_server();
    for toolkit in Toolkit::ALL {
        let hung = bed.widgets(toolkit);
        let other = bed.widgets(Toolkit::Gtk3);
        // Make both apps known to the server, as in a running session.
        for app in [&hung, &other] {
            server.refresh(app.pid).ok();
        }
        hung.signal(Signal::STOP);
        let begun = Instant::now();
        let waiting = server.send(CLICK, json!({"pid": hung.pid, "element": "OK"}));
        let meanwhile: Answer = server.refresh(other.pid).ok();
        let after = begun.elapsed();
        assert!(
            after < Duration::from_millis(1500),
            "{toolkit:?}: {after:?}: {meanwhile}"
        );
        let answer = waiting.answer(Duration::from_secs(20)).unwrap();
        let after = begun.elapsed();
        assert!(
            answer.error().contains("does not answer"),
            "{toolkit:?}: {answer}"
        );
        assert!(
            after < Duration::from_millis(3500),
            "{toolkit:?}: {after:?}"
        );
        let log = bed.journal_lines();
        let of_it = |line: &&serde_json::Value| line["pid"] == hung.pid;
        let last = log.iter().rfind(of_it).expect("a line of the failed call");
        assert_eq!(last["tool"], CLICK);
        assert!(
            last["outcome"].to_string().contains("does not answer"),
            "{last}"
        );
        hung.signal(Signal::CONT);
        server.click(hung.pid, "AXButton", "OK").ok();
        assert_eq!(hung.log(), ["clicked OK"], "{toolkit:?}");
    }
}

/// The page describes the desktop for people who cannot look at it, without titles and names.
#[test]
fn the_first_refusal_names_a_page_of_facts() {
    let (bed, server) = Bed::with_server();
    let app = bed.widgets(Toolkit::Gtk3);
    let (_editor, _) = bed.mousepad("notes\n");
    let set = json!({"pid": app.pid, "element": "OK", "role": "AXButton", "value": 1});
    let refuse = || server.call("set_value_and_traverse", set.clone());
    let file = bed.journal().join("facts.txt");
    refuse().has(&file.display().to_string());
    let page = until("the page", || {
        let page = std::fs::read_to_string(&file).ok()?;
        page.contains("read in ").then_some(page)
    });
    assert!(!refuse().to_string().contains("facts.txt"), "named twice");
    assert!(page.contains("Ok tree: "), "{page}");
    assert_eq!(page.matches(" elements (").count(), 2, "{page}");
    let all = bed.command(deskline()).arg("facts").output().unwrap();
    let all = String::from_utf8(all.stdout).unwrap();
    eprintln!("{page}{all}");
    for wanted in [
        "2 apps with 2 windows",
        "app 2: Gtk3, ",
        "screenshot ",
        " events in ",
    ] {
        assert!(all.contains(wanted), "no {wanted:?}: {all}");
    }
    for page in [page, all] {
        assert!(!page.contains("ousepad"), "{page}");
        assert!(page.lines().count() <= 60, "{page}");
    }
}
