//! Several servers and clients on one desktop: their links take turns.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::collections::HashSet;
use std::time::{Duration, Instant};

use deskline_testbed::{Answer, App, Bed, Client, Toolkit, deskline, signal, until};
use rustix::process::Signal;
use serde_json::{Value, json};

/// A text of one letter, which no other link types.
fn word(client: usize, link: usize) -> String {
    let letter = char::from(b'a' + u8::try_from(client).unwrap());
    format!("{link}{}", letter.to_string().repeat(12))
}

/// Replaces the whole text of the field Name.
fn types(app: &App<'_>, text: &str) -> Value {
    json!({"pid": app.pid, "steps": [
        {"do": "click", "element": "Name", "role": "AXTextField"},
        {"do": "press_key", "keyName": "a", "modifierFlags": ["Control"]},
        {"do": "type", "text": text, "pressKey": "Return"},
    ]})
}

/// The texts that were typed completely and without other letters in between, in order.
fn typed(app: &App<'_>) -> Vec<String> {
    let log = app.log();
    let mut whole = Vec::new();
    let mut last = String::new();
    for line in &log {
        let Some(text) = line.strip_prefix("text Name ") else {
            if line == "activated Name" {
                whole.push(std::mem::take(&mut last));
            }
            continue;
        };
        let grows = text.starts_with(&last) && text.len() <= last.len() + 1;
        let anew = last.is_empty() && text.len() == 1 || text.is_empty();
        assert!(grows || anew, "{text:?} after {last:?}\n{log:#?}");
        text.clone_into(&mut last);
    }
    whole
}

fn references(answer: &Answer) -> HashSet<(String, String)> {
    let named = |line: deskline_core::Line| Some((line.text?.shown, line.reference?.to_string()));
    answer.lines().into_iter().filter_map(named).collect()
}

/// Four servers, two of which share a journal; each makes two calls at a time.
#[test]
fn links_of_four_clients_take_turns() {
    const LINKS: usize = 1;
    let bed = Bed::new();
    let app = bed.widgets(Toolkit::Gtk3);
    let (persons, _) = bed.mousepad("");
    persons.bring_to_front();
    bed.screen().move_pointer(1700, 900);
    let own = bed.path("own");
    let servers: Vec<Client> = (0..4)
        .map(|n| {
            let journal = match n {
                0 | 1 => bed.journal(),
                n => own.join(n.to_string()),
            };
            let mut command = bed.command(deskline());
            command.args(["serve", "--attended", "--dir"]).arg(journal);
            Client::start(command)
        })
        .collect();
    let mut answers: Vec<Answer> = Vec::new();
    for link in 0..LINKS {
        let calls: Vec<_> = servers
            .iter()
            .enumerate()
            .map(|(n, server)| server.send("chain_and_traverse", types(&app, &word(n, link))))
            .collect();
        // At the same time, the same clients make calls that only read.
        let reads: Vec<_> = servers
            .iter()
            .map(|server| server.send("refresh_traversal", json!({"pid": app.pid})))
            .collect();
        for call in calls.into_iter().chain(reads) {
            answers.push(
                call.answer(Duration::from_secs(60))
                    .expect("an answer")
                    .ok(),
            );
        }
    }
    let mut whole = typed(&app);
    whole.sort();
    let all = (0..4).flat_map(|n| (0..LINKS).map(move |link| word(n, link)));
    let mut all: Vec<String> = all.collect();
    all.sort();
    assert_eq!(whole, all);
    assert_eq!(bed.screen().front(), persons.window.id);
    assert_eq!(bed.screen().pointer(), (1700, 900));
    assert_eq!(bed.screen().pressed(), (vec![], 0));
    // Each call has files of its own, and in one journal an element has one ref.
    let files: HashSet<&str> = answers.iter().map(|answer| answer.field("file")).collect();
    assert_eq!(files.len(), answers.len());
    let lines = bed.journal_lines();
    assert_eq!(lines.len(), 2 * 2 * LINKS, "{lines:#?}");
    let read = |n: usize| servers[n].refresh(app.pid).ok();
    assert_eq!(references(&read(0)), references(&read(1)));
}

#[test]
fn the_turn_of_a_dead_or_stopped_server_blocks_nobody_for_ever() {
    let bed = Bed::new();
    let app = bed.widgets(Toolkit::Gtk3);
    let (persons, _) = bed.mousepad("");
    persons.bring_to_front();
    let long = json!({"pid": app.pid, "element": "Notes", "role": "AXTextArea",
        "text": "so long ".repeat(2_000)});
    let other = bed.server(&["--guard-timeout", "2"]);
    for stop in [Signal::KILL, Signal::STOP] {
        app.clear_log();
        let first = bed.server(&[]);
        let call = first.send("click_and_traverse", long.clone());
        until("its first letter", || !app.full_log().is_empty());
        signal(first.pid, stop);
        if stop == Signal::STOP {
            // Keys that the stopped server has sent may still be on their way.
            until("its last letter", || {
                let typed = app.log().len();
                std::thread::sleep(Duration::from_millis(100));
                (app.log().len() == typed).then_some(())
            });
            let before = app.full_log();
            let start = Instant::now();
            let waited = other.call("chain_and_traverse", types(&app, "other"));
            let error = waited.error();
            assert!(error.contains(&format!("(pid {})", first.pid)), "{error}");
            assert!(error.contains("Nothing was touched"), "{error}");
            assert!(start.elapsed() < Duration::from_secs(5), "{waited}");
            assert_eq!(app.full_log(), before);
            // Reading needs no turn, and a server without a guard takes none.
            other.refresh(app.pid).ok();
            let free = bed.server(&["--guard", "off"]);
            let bold = json!({"pid": app.pid, "element": "Bold", "role": "AXCheckBox"});
            free.call("click_and_traverse", bold).ok();
            app.wait_for("toggled Bold true");
            signal(first.pid, Signal::KILL);
        }
        drop(call);
        // If the turn were not free, this call would wait for 2 s and be refused.
        other.call("chain_and_traverse", types(&app, "next")).ok();
        app.wait_for("text Name next");
    }
}
