//! `--ask`: the client asks its person before an agent acts in an app for the first time. Judged by
//! what the app did, with the person's window in front.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use deskline_testbed::person::{CONTROL, Person, SHIFT};
use deskline_testbed::watcher::Watcher;
use deskline_testbed::{App, Bed, Client, SdkClient, Toolkit, deskline, sdks, signal, until};
use serde_json::{Value, json};

const CLICK: &str = "click_and_traverse";
const OPEN: &str = "open_application_and_traverse";

/// `a` on the person's keyboard, and the keys that answer a question.
const A: u32 = 0x61;
const F9: u32 = 0xffc6;
const F10: u32 = 0xffc7;
const F11: u32 = 0xffc8;

fn grants(bed: &Bed, args: &[&str]) -> String {
    let command = bed.command(deskline()).arg("grants").args(args).output();
    let output = command.unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn file(bed: &Bed) -> PathBuf {
    let environment = bed.environment();
    let state = environment.get("XDG_STATE_HOME").map(PathBuf::from);
    let state = state.unwrap_or_else(|| Path::new(&environment["HOME"]).join(".local/state"));
    state.join("deskline/grants.json")
}

/// How often the toggle has been toggled since the last time.
fn toggled(app: &App<'_>) -> usize {
    let log = app.log();
    app.clear_log();
    log.iter()
        .filter(|line| line.starts_with("toggled Bold"))
        .count()
}

/// Answers the question on the desktop by the person's keys.
fn answer(watcher: &Watcher, hands: &mut Person, key: u32) {
    watcher.await_overlay();
    for held in [CONTROL, SHIFT] {
        hands.press(held);
    }
    hands.tap(key);
    for held in [SHIFT, CONTROL] {
        hands.release(held);
    }
}

/// The questions so far.
fn questions(client: &Client) -> Vec<String> {
    let mut heard = client.notifications();
    heard.retain(|heard| !heard.starts_with("progress "));
    heard
}

#[test]
fn before_acting_in_an_app_the_person_is_asked_and_the_answer_is_kept() {
    let bed = Bed::new();
    let app = bed.widgets(Toolkit::Gtk3);
    let (persons, _) = bed.mousepad("mine\n");
    persons.bring_to_front();
    let mine = bed.screen().front();
    let click = json!({"pid": app.pid, "element": "Bold"});
    for modern in [false, true] {
        let of = format!("modern: {modern}");
        let (client, person) = Client::asking(bed.serve(&["--ask"]), modern);
        let read = client
            .call_asking("refresh_traversal", json!({"pid": app.pid}))
            .ok();
        assert_eq!((questions(&client).len(), read.pid()), (0, app.pid), "{of}");

        person.send("cancel".into()).unwrap();
        let refused = client.call_asking(CLICK, click.clone());
        assert!(
            refused.error().contains("asked just now"),
            "{of}: {refused}"
        );
        assert_eq!((questions(&client).len(), toggled(&app)), (1, 0), "{of}");

        person.send("once".into()).unwrap();
        client.call_asking(CLICK, click.clone()).ok();
        client.call_asking(CLICK, click.clone()).ok();
        assert_eq!((questions(&client).len(), toggled(&app)), (2, 2), "{of}");
        let asked = questions(&client);
        assert!(asked[1].contains("gtk3.py"), "{asked:?}");
        assert_eq!(bed.screen().front(), mine, "{of}");
        client.hang_up();

        // "Once" was valid for that server; "always" is valid for all servers.
        let (client, person) = Client::asking(bed.serve(&["--ask"]), modern);
        person.send("always".into()).unwrap();
        client.call_asking(CLICK, click.clone()).ok();
        assert_eq!((questions(&client).len(), toggled(&app)), (1, 1), "{of}");
        client.hang_up();
        let mode = fs::metadata(file(&bed)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{of}");
        let (client, person) = Client::asking(bed.serve(&["--ask"]), modern);
        client.call_asking(CLICK, click.clone()).ok();
        assert_eq!((questions(&client).len(), toggled(&app)), (0, 1), "{of}");

        // The person may withdraw the answer while the server runs.
        let exported: Value = serde_json::from_str(&grants(&bed, &["export"])).unwrap();
        let (key, answer) = exported.as_object().unwrap().iter().next().unwrap();
        assert!(
            key.ends_with("/gtk3.py") && answer == "always",
            "{exported}"
        );
        let doctor = bed
            .command(deskline())
            .args(["doctor", "--json"])
            .output()
            .unwrap();
        let doctor = String::from_utf8_lossy(&doctor.stdout);
        assert!(doctor.contains(&format!("always {key}")), "{doctor}");
        grants(&bed, &["revoke", key]);
        person.send("never".into()).unwrap();
        let refused = client.call_asking(CLICK, click.clone());
        assert!(refused.error().contains("blocked"), "{of}: {refused}");
        let refused = client.call_asking("refresh_traversal", json!({"pid": app.pid}));
        assert!(refused.error().contains("blocked"), "{of}: {refused}");
        assert_eq!((questions(&client).len(), toggled(&app)), (1, 0), "{of}");
        // Other servers also observe the answer, even those that do not ask.
        let refused = bed.server(&[]).call(CLICK, click.clone());
        assert!(refused.error().contains("blocked"), "{of}: {refused}");
        assert!(grants(&bed, &[]).starts_with("never"));
        grants(&bed, &["revoke", key]);
    }

    // A client that cannot ask, on a desktop at which nobody sits.
    let server = Client::start(bed.serve_alone(&["--ask"]));
    let refused = server.call(CLICK, click.clone());
    let error = refused.error();
    let command = error.split("deskline grants allow '").nth(1);
    let key = command.expect(error).split('\'').next().unwrap();
    assert_eq!(toggled(&app), 0);
    grants(&bed, &["allow", key]);
    server.call(CLICK, click).ok();
    assert_eq!(toggled(&app), 1);
}

#[test]
fn only_the_persons_keys_answer_the_question_shown_on_the_desktop() {
    let bed = Bed::with(&["--watch"]);
    let app = bed.widgets(Toolkit::Gtk3);
    let (persons, _) = bed.mousepad("");
    persons.bring_to_front();
    let mine = bed.screen().front();
    let (watcher, mut hands) = (Watcher::on(&bed), Person::at(&bed));
    let click = json!({"pid": app.pid, "element": "Bold"});

    let server = bed.server(&["--ask"]);
    let asking = server.send(CLICK, click.clone());
    watcher.await_overlay();
    // The same key, sent as an agent or an app would send it.
    let sent = bed
        .command("xdotool")
        .args(["key", "ctrl+shift+F9", "ctrl+shift+F10"])
        .status();
    assert!(sent.unwrap().success());
    // An app may make a keyboard while the question shows.
    bed.run("xinput", &["create-master", "Evil"]);
    watcher.chord_on("Evil", &[CONTROL, SHIFT, F10]);
    // Keys that the person types meanwhile go to their app.
    hands.tap(A);
    let typed = || {
        let read = server.refresh(persons.pid);
        read.ok().file().contains("\"a\" ").then_some(())
    };
    until("the person's own key in their window", typed);
    assert_eq!(toggled(&app), 0);
    assert_eq!(grants(&bed, &["export"]).trim(), "{}");
    answer(&watcher, &mut hands, F9);
    asking.answer(deskline_testbed::PATIENCE).unwrap().ok();
    server.call(CLICK, click.clone()).ok();
    assert_eq!(toggled(&app), 2);
    assert_eq!(bed.screen().front(), mine);

    // "Once" was valid for that server; "never" is valid for all servers.
    let server = bed.server(&["--ask"]);
    let asking = server.send(CLICK, click.clone());
    answer(&watcher, &mut hands, F11);
    let refused = asking.answer(deskline_testbed::PATIENCE).unwrap();
    assert!(refused.error().contains("blocked"), "{refused}");
    assert!(grants(&bed, &[]).starts_with("never"));
    let refused = bed.server(&["--ask"]).call(CLICK, click);
    assert!(refused.error().contains("blocked"), "{refused}");
    assert_eq!(toggled(&app), 0);
}

#[test]
fn a_button_of_an_alert_is_pressed_only_as_the_person_says() {
    const QUESTION: &str = "Delete \"all\"?\nAn agent wants to rest.";
    let bed = Bed::new();
    let persons = bed.zenity(&["--entry", "--title", "Mine"]);
    for (toolkit, modern) in [("gtk3", false), ("qt5", true)] {
        let app = bed.alerts(toolkit, QUESTION);
        persons.bring_to_front();
        let (client, person) = Client::asking(bed.serve(&["--ask"]), modern);
        // Sends an answer, and returns whether the call did not fail and how often it asked.
        let call = |tool: &str, mut arguments: Value, answer: &str| {
            let before = questions(&client).len();
            arguments["pid"] = app.pid.into();
            if !answer.is_empty() {
                person.send(answer.into()).unwrap();
            }
            let answer = client.call_asking(tool, arguments);
            (!answer.is_error, questions(&client).len() - before)
        };
        let click = |button: &str| json!({"element": button, "role": "AXButton"});
        let key = |name: &str| json!({"keyName": name});
        let (delete, press) = (click("Delete"), "press_key_and_traverse");
        let open = |answer| call(CLICK, click("Empty"), answer);

        assert_eq!(open("once"), (true, 1), "{toolkit}: the app");
        for answer in ["cancel", "no"] {
            let refused = call(CLICK, delete.clone(), answer);
            assert_eq!(refused, (false, 1), "{toolkit}, {answer}");
            assert_eq!(call(press, key("Return"), answer), (false, 1), "{toolkit}");
        }
        let asked: Value = serde_json::from_str(&questions(&client)[1]).unwrap();
        let lines: Vec<_> = asked["message"].as_str().unwrap().lines().collect();
        assert_eq!(lines.len(), 2, "{toolkit}: {asked}");
        assert!(
            lines[0].contains("press \"Delete\" in an alert of"),
            "{asked}"
        );
        let asks = r#"The app asks: "Delete \"all\"?\nAn agent wants to rest. They "#;
        assert!(lines[1].starts_with(asks), "{toolkit}: {asked}");
        assert_eq!(app.log(), Vec::<String>::new(), "{toolkit}: it was pressed");

        assert_eq!(call(CLICK, delete.clone(), "once"), (true, 1), "{toolkit}");
        app.wait_for("deleted");
        app.clear_log();
        assert_eq!(open(""), (true, 0), "{toolkit}");
        let pressed = call("press_ax_and_traverse", delete.clone(), "once");
        assert_eq!(pressed, (true, 1), "{toolkit}");
        app.wait_for("deleted");
        app.clear_log();
        assert_eq!(open(""), (true, 0), "{toolkit}");
        assert_eq!(call(press, key("Escape"), ""), (true, 0), "{toolkit}");
        app.wait_for("kept");
        app.clear_log();

        // Input that opens the alert does not answer it too.
        let opens = if toolkit == "gtk3" { "\n" } else { " " };
        let text = |text: String| json!({"text": text});
        let kept = |call: &dyn Fn() -> (bool, usize), what: &str| {
            assert_eq!(call(), (false, 0), "{toolkit}: {what}");
            assert_eq!(app.log(), [""; 0], "{toolkit}: {what}");
        };
        let tool = "type_and_traverse";
        let twice = text(format!("{opens}\n"));
        kept(&|| call(tool, twice.clone(), ""), "a text");
        assert_eq!(call(press, key("Escape"), ""), (true, 0), "{toolkit}");
        app.wait_for("kept");
        app.clear_log();
        let mut fused = text(opens.to_owned());
        fused["pressKey"] = "Return".into();
        kept(&|| call(tool, fused.clone(), ""), "a text and a key");
        assert_eq!(call(press, key("Escape"), ""), (true, 0), "{toolkit}");
        app.wait_for("kept");
        app.clear_log();
        for rest in ["\n", "d"] {
            let letters = text(format!("e{rest}"));
            kept(&|| call(tool, letters.clone(), ""), "a letter");
            assert_eq!(call(press, key("Escape"), ""), (true, 0), "{toolkit}");
            app.wait_for("kept");
            app.clear_log();
        }
        let choose = json!({"element": "Empty", "choose": "Delete"});
        kept(&|| call(CLICK, choose.clone(), ""), "a choice");
        assert_eq!(call(press, key("Escape"), ""), (true, 0), "{toolkit}");
        app.wait_for("kept");
        app.clear_log();
        let held = json!({"keyName": "Return", "hold": 2});
        kept(&|| call(press, held.clone(), ""), "a held key");

        // The answer "always" is for all alerts of the app.
        for (answer, asked) in [("always", 1), ("", 0)] {
            assert_eq!(open(""), (true, 0), "{toolkit}");
            assert_eq!(
                call(press, key("Return"), answer),
                (true, asked),
                "{toolkit}"
            );
            app.wait_for("deleted");
            app.clear_log();
        }
        let kept: Value = serde_json::from_str(&grants(&bed, &["export"])).unwrap();
        let key = kept.as_object().unwrap().keys().next().unwrap();
        assert!(key.starts_with("alerts of /"), "{kept}");
        grants(&bed, &["revoke", key]);
        assert_eq!(bed.screen().front(), persons.window.id, "{toolkit}");
    }
}

/// A double click opens an alert, whose button is where the second click goes.
#[test]
fn the_second_click_of_a_double_click_answers_no_alert() {
    let bed = Bed::new();
    let persons = bed.zenity(&["--entry", "--title", "Mine"]);
    let app = bed.alerts("gtk3", "Delete all?");
    grants(&bed, &["allow", &executable(app.pid)]);
    persons.bring_to_front();
    let (client, _person) = Client::asking(bed.serve(&["--ask"]), false);
    let call = |tool: &str, mut arguments: Value| {
        arguments["pid"] = app.pid.into();
        client.call_asking(tool, arguments)
    };
    let opened = call(CLICK, json!({"element": "Empty"})).ok();
    let delete = opened.line_of("AXButton", "Delete").extents;
    let at = delete.unwrap().center();
    call("press_key_and_traverse", json!({"keyName": "Escape"})).ok();
    app.wait_for("kept");
    app.clear_log();
    let twice = json!({"x": at.x, "y": at.y, "doubleClick": true});
    let refused = call(CLICK, twice);
    let error = refused.error();
    assert!(error.starts_with("Clicked once; then: "), "{refused}");
    // The alert may also come so late that it counts as a window in the way.
    let is_known = ["in an alert", " covers "]
        .iter()
        .any(|why| error.contains(why));
    assert!(is_known, "{refused}");
    assert_eq!(app.log(), [""; 0]);
    assert_eq!(questions(&client), [""; 0]);
}

/// A click has another allowed app ask, and brings its alert to the front.
#[test]
fn a_key_sent_with_a_click_answers_no_alert_of_another_process() {
    let bed = Bed::new();
    let persons = bed.zenity(&["--entry", "--title", "Mine"]);
    let asks = bed.alerts("gtk3", "Delete all?");
    let app = bed.alerts_of(&asks, "Delete all?");
    grants(&bed, &["allow", &executable(app.pid)]);
    persons.bring_to_front();
    let (client, _person) = Client::asking(bed.serve(&["--ask"]), false);
    for keys in [json!({"pressKey": "Return"}), json!({"text": "\n"})] {
        let mut arguments = keys;
        arguments["pid"] = app.pid.into();
        arguments["element"] = "Let it ask".into();
        let refused = client.call_asking(CLICK, arguments);
        // The alert may also come so late that it counts as a window in the way.
        let is_known = ["in an alert", "is in front now"];
        let is_known = is_known.iter().any(|why| refused.error().contains(why));
        assert!(is_known, "{refused}");
        assert_eq!([asks.log(), app.log()], [[""; 0]; 2], "{refused}");
        let leave = json!({"pid": asks.pid, "keyName": "Escape"});
        client.call_asking("press_key_and_traverse", leave).ok();
        asks.wait_for("kept");
        asks.clear_log();
    }
}

/// The program of a process.
fn executable(pid: u32) -> String {
    let path = fs::read_link(format!("/proc/{pid}/exe")).unwrap();
    path.display().to_string()
}

/// The client shows the question in a window of its own, which the person has allowed.
#[test]
fn no_agent_answers_the_question_of_its_own_client() {
    let bed = Bed::new();
    let app = bed.widgets(Toolkit::Gtk3);
    let (persons, _) = bed.mousepad("");
    for allowed in ["/usr/bin/zenity", "/usr/bin/mousepad"] {
        grants(&bed, &["allow", allowed]);
    }
    let (client, person) = Client::asking(bed.serve(&["--ask"]), false);
    let bold = client.send(CLICK, json!({"pid": app.pid, "element": "Bold"}));
    until("the question", || questions(&client).len() == 1);
    // This process is the client.
    let mut shown = bed.zenity(&["--question", "--text", "Always allow it?"]);
    persons.bring_to_front();
    let yes = json!({"pid": shown.pid, "element": "Yes", "role": "AXButton"});
    for (tool, arguments) in [
        (CLICK, yes.clone()),
        ("press_ax_and_traverse", yes.clone()),
        (
            "press_key_and_traverse",
            json!({"pid": shown.pid, "keyName": "Return"}),
        ),
    ] {
        let refused = client.call_asking(tool, arguments);
        assert!(
            refused.error().contains("may be asking the user"),
            "{refused}"
        );
    }
    assert!(shown.is_running(), "it was answered");
    // Other apps are acted in meanwhile.
    let typed = json!({"pid": persons.pid, "text": "meanwhile"});
    client.call_asking("type_and_traverse", typed).ok();
    person.send("once".into()).unwrap();
    bold.answer(deskline_testbed::PATIENCE).unwrap().ok();
    assert_eq!(toggled(&app), 1);
    client.call_asking(CLICK, yes).ok();
    until("its end", || !shown.is_running());
    assert!(shown.ending().contains('0'), "{}", shown.ending());
}

#[test]
fn an_alert_button_waits_for_the_persons_keys_if_the_client_cannot_ask() {
    let bed = Bed::with(&["--watch"]);
    let app = bed.alerts("gtk3", "Delete all?");
    let (persons, _) = bed.mousepad("");
    persons.bring_to_front();
    let (watcher, mut hands) = (Watcher::on(&bed), Person::at(&bed));
    let server = bed.server(&["--ask"]);
    let mut click = |button: &str, key: u32| {
        let button = json!({"pid": app.pid, "element": button, "role": "AXButton"});
        let asking = server.send(CLICK, button);
        answer(&watcher, &mut hands, key);
        let answer = asking.answer(deskline_testbed::PATIENCE).unwrap();
        watcher.await_no_overlay();
        answer
    };
    click("Empty", F9).ok();
    let refused = click("Delete", F11);
    assert!(refused.error().contains("\"Delete\""), "{refused}");
    assert_eq!(app.log(), [""; 0]);
    click("Delete", F9).ok();
    app.wait_for("deleted");
    assert_eq!(bed.screen().front(), persons.window.id);
}

#[test]
fn no_device_is_locked_while_the_person_decides() {
    let bed = Bed::with(&["--watch"]);
    let app = bed.widgets(Toolkit::Gtk3);
    let (persons, _) = bed.mousepad("");
    persons.bring_to_front();
    let mut hands = Person::at(&bed);
    let (client, person) = Client::asking(bed.serve(&["--ask"]), false);
    let click = client.send(CLICK, json!({"pid": app.pid, "element": "Bold"}));
    // Two simultaneous calls ask only once.
    let again = client.send(CLICK, json!({"pid": app.pid, "element": "Bold"}));
    until("the question", || questions(&client).len() == 1);
    hands.tap(A);
    let typed = || {
        let read = client.refresh(persons.pid).ok();
        read.file().contains("\"a\" ").then_some(())
    };
    until("the person's own key in their window", typed);
    assert_eq!(toggled(&app), 0);
    person.send("once".into()).unwrap();
    click.answer(deskline_testbed::PATIENCE).unwrap().ok();
    again.answer(deskline_testbed::PATIENCE).unwrap().ok();
    assert_eq!((questions(&client).len(), toggled(&app)), (1, 2));
}

#[test]
fn an_app_is_started_only_after_the_person_allows_it() {
    let bed = Bed::new();
    let persons = bed.zenity(&["--entry", "--title", "Mine"]);
    persons.bring_to_front();
    let windows = || bed.screen().windows().len();
    let alone = windows();
    for modern in [false, true] {
        let (client, person) = Client::asking(bed.serve(&["--ask"]), modern);
        let open = json!({"identifier": "mousepad"});
        person.send("cancel".into()).unwrap();
        let refused = client.call_asking(OPEN, open.clone());
        assert!(refused.error().contains("asked just now"), "{refused}");
        assert_eq!(windows(), alone);
        person.send("once".into()).unwrap();
        let opened = client.call_asking(OPEN, open).ok();
        assert_eq!((questions(&client).len(), windows()), (2, alone + 1));
        // This is the same app, under another of its names.
        let typed = json!({"pid": opened.pid(), "text": "Hello"});
        client.call_asking("type_and_traverse", typed).ok();
        assert_eq!(questions(&client).len(), 2);
        let unknown = json!({"identifier": "bash -c 'mousepad'"});
        client
            .call_asking(OPEN, unknown)
            .fails_with("interpreters and programs that run others");
        signal(opened.pid(), rustix::process::Signal::KILL);
        until("it to end", || windows() == alone);
    }
}

#[test]
fn the_python_sdk_asks_the_person_in_both_protocol_generations() {
    let bed = Bed::new();
    let app = bed.widgets(Toolkit::Gtk3);
    let (persons, _) = bed.mousepad("mine\n");
    persons.bring_to_front();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/apps/asking_client.py");
    let server = bed.serve_alone(&["--ask"]);
    let arguments = json!({"pid": app.pid, "element": "Bold"}).to_string();
    let call = |mode: &str, answers: &[&str]| -> Vec<Value> {
        let mut command = bed.command(sdks("bin/python"));
        command
            .args([script, mode, CLICK, &arguments])
            .args(answers)
            .arg("--");
        command.arg(server.get_program()).args(server.get_args());
        let output = command.output().unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let lines = String::from_utf8(output.stdout).unwrap();
        lines
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    };
    for mode in ["legacy", "2026-07-28"] {
        let answers = call(mode, &["cancel", "once", "never"]);
        let errors: Vec<_> = answers
            .iter()
            .map(|answer| answer["error"].clone())
            .collect();
        assert_eq!(errors, [true, false, false], "{mode}: {answers:#?}");
        let asked = |answer: &Value| answer["asked"].as_array().unwrap().len();
        let asked: Vec<_> = answers.iter().map(asked).collect();
        assert_eq!(asked, [1, 1, 0], "{mode}: {answers:#?}");
        assert_eq!(toggled(&app), 2, "{mode}");
    }
    let answers = call("2026-07-28", &["none"]);
    let text = answers[0]["text"].as_str().unwrap();
    assert!(text.contains("deskline grants allow"), "{text}");
    assert_eq!(toggled(&app), 0);
}

/// A client on an SDK passes questions on to its person, and the answers take effect. `command`
/// starts the client; the server's command is appended. Returns the client's protocol version.
fn an_sdk_asks(bed: &Bed, name: &str, command: impl Fn() -> Command) -> Value {
    let app = bed.widgets(Toolkit::Gtk3);
    let (persons, _) = bed.mousepad("mine\n");
    persons.bring_to_front();
    let mine = bed.screen().front();
    let server = bed.serve(&["--ask"]);
    let start = || {
        let mut command = command();
        command.arg(server.get_program()).args(server.get_args());
        SdkClient::start(command)
    };
    // Makes a call whose question the client's person answers. Returns whether the call failed, and
    // the number of questions.
    let click = |client: &mut SdkClient, answer: &str| {
        let arguments = json!({"pid": app.pid, "element": "Bold"});
        let done = client.ask(&json!([CLICK, arguments, null, answer]));
        let asked = done["asked"].as_array().expect(name).len();
        (done["error"] == true, asked, toggled(&app))
    };
    let mut client = start();
    assert_eq!(click(&mut client, "cancel"), (true, 1, 0), "{name}");
    assert_eq!(click(&mut client, "once"), (false, 1, 1), "{name}");
    assert_eq!(click(&mut client, "never"), (false, 0, 1), "{name}");
    assert_eq!(bed.screen().front(), mine, "{name}");
    for (answer, done) in [("always", (false, 1, 1)), ("never", (true, 1, 0))] {
        assert_eq!(click(&mut start(), answer), done, "{name}: {answer}");
        let kept = (done.0, 0, done.2);
        assert_eq!(click(&mut start(), "cancel"), kept, "{name}: {answer}");
        let exported: Value = serde_json::from_str(&grants(bed, &["export"])).unwrap();
        let key = exported.as_object().unwrap().keys().next().unwrap();
        grants(bed, &["revoke", key]);
    }
    client.hello["protocol"].take()
}

#[test]
fn the_typescript_sdks_ask_the_person_in_both_protocol_generations() {
    let bed = Bed::new();
    for package in ["@modelcontextprotocol/sdk", "@modelcontextprotocol/client"] {
        an_sdk_asks(&bed, package, || {
            let mut command = bed.command(sdks("bin/node"));
            command.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/apps/client.mjs"));
            command.arg(sdks("")).arg(package);
            command
        });
    }
}

/// `apps/client.go` describes how the client is built.
#[test]
#[ignore = "needs Go and its modules"]
fn the_go_sdk_asks_the_person_in_both_protocol_generations() {
    let bed = Bed::new();
    for protocol in ["2025-11-25", "2026-07-28"] {
        let spoken = an_sdk_asks(&bed, protocol, || {
            let mut command = bed.command(sdks("bin/go-client"));
            command.arg(protocol);
            command
        });
        assert_eq!(spoken, protocol);
    }
}

/// The Inspector's command line cannot show a question.
#[test]
fn under_the_inspector_the_question_is_asked_on_the_desktop() {
    let bed = Bed::with(&["--watch"]);
    let app = bed.widgets(Toolkit::Gtk3);
    let (persons, _) = bed.mousepad("");
    persons.bring_to_front();
    let (watcher, mut hands) = (Watcher::on(&bed), Person::at(&bed));
    let server = bed.serve(&["--ask"]);
    let start = || {
        let mut command = bed.command(sdks("bin/node"));
        command
            .arg(sdks("node_modules/.bin/mcp-inspector"))
            .arg("--cli");
        // It passes hardly any variable on, and without a display the server would choose one of
        // the desktops on this machine.
        let variables = bed.environment().iter();
        command.arg("env");
        command.args(variables.map(|(name, value)| format!("{name}={value}")));
        command.arg(server.get_program()).args(server.get_args());
        command.args(["--method", "tools/call", "--tool-name", CLICK]);
        command.args([
            "--tool-arg",
            &format!("pid={}", app.pid),
            "--tool-arg",
            "element=Bold",
        ]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    };
    let done = |child: std::process::Child| {
        let output = child.wait_with_output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
            + &String::from_utf8_lossy(&output.stderr)
    };
    let asks = |mut asking: std::process::Child| {
        let is_over = |asking: &mut std::process::Child| asking.try_wait().unwrap().is_some();
        until("the question", || {
            watcher.overlay().is_some() || is_over(&mut asking)
        });
        assert!(!is_over(&mut asking), "no question: {}", done(asking));
        asking
    };
    let asking = asks(start());
    answer(&watcher, &mut hands, F9);
    let said = done(asking);
    assert_eq!(toggled(&app), 1, "{said}");
    let asking = asks(start());
    answer(&watcher, &mut hands, F11);
    let said = done(asking);
    assert!(said.contains("blocked"), "{said}");
    assert_eq!(toggled(&app), 0);
}
