//! Malicious apps: an app that speaks D-Bus itself serves trees that no toolkit would produce. They
//! cannot forge lines or harm others: calls are bounded, memory has a ceiling, the person's window
//! stays in front, and other apps can be driven meanwhile.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::time::{Duration, Instant};

use deskline_testbed::{Answer, App, Bed, Client, kilobytes, until};
use serde_json::{Value, json};

/// The longest that a call may take: a reading ends after 4 s, and a link reads until the app has
/// settled.
const LONGEST: Duration = Duration::from_secs(12);

/// The longest that a call about another app may take meanwhile.
const OTHERS: Duration = Duration::from_secs(3);

/// The most memory that the server ever has, in MB.
const CEILING: u64 = 200;

struct Desk<'b> {
    bed: &'b Bed,
    server: Client,
    persons: App<'b>,
    other: App<'b>,
}

impl<'b> Desk<'b> {
    fn at(bed: &'b Bed) -> Self {
        Self {
            bed,
            server: bed.server(&[]),
            other: bed.hostile("Plain"),
            persons: bed.mousepad("").0,
        }
    }

    /// A call about the app. Its answer comes in time, and its texts stay within their lines.
    #[track_caller]
    fn call(&self, app: &App<'_>, tool: &str, mut arguments: Value) -> Answer {
        arguments["pid"] = app.pid.into();
        let start = Instant::now();
        let answer = self.server.call(tool, arguments);
        let time = start.elapsed();
        println!("{tool}: {time:?}, {:.300}", answer.text);
        assert!(time < LONGEST, "{time:?}: {answer}");
        answer.stays_in_its_lines();
        answer
    }

    fn read(&self, app: &App<'_>) -> Answer {
        self.call(app, "refresh_traversal", json!({}))
    }

    fn click(&self, app: &App<'_>) -> Answer {
        let ok = json!({"element": "OK", "role": "AXButton"});
        self.call(app, "click_and_traverse", ok)
    }

    /// The person's window is in front, another app is driven in time, and the server's memory is
    /// below its ceiling.
    #[track_caller]
    fn is_well(&self, of: &str) {
        assert_eq!(self.bed.screen().front(), self.persons.window.id, "{of}");
        self.other.clear_log();
        let start = Instant::now();
        self.click(&self.other).ok();
        // The bus still delivers the megabytes that were requested from one app.
        let most = OTHERS * if of == "Megabytes" { 3 } else { 1 };
        assert!(start.elapsed() < most, "{of}: {:?}", start.elapsed());
        assert_eq!(self.other.log(), ["clicked OK"], "{of}");
        let listed = self.server.applications().ok();
        assert!(!listed.text.contains("Forged\""), "{of}: {listed}");
        let peak = kilobytes(self.server.pid, "VmHWM") >> 10;
        println!("{of}: at most {peak} MB");
        assert!(peak < CEILING, "{of}: {peak} MB");
    }

    /// The app of this case, behind the person's window.
    fn open(&self, case: &str) -> App<'b> {
        println!("--- {case}");
        let app = self.bed.hostile(case);
        self.persons.bring_to_front();
        app
    }
}

/// The tree of each of these apps is read as far as possible, and its one real button is clicked.
#[test]
fn a_tree_that_no_toolkit_would_produce_is_read_and_its_button_is_clicked() {
    let bed = Bed::new();
    let desk = Desk::at(&bed);
    for case in ["Lies", "Odd", "Blocked", "Flood"] {
        let app = desk.open(case);
        let clicked = desk.click(&app).ok();
        assert_eq!(app.log(), ["clicked OK"], "{case}: {clicked}");
        if case == "Lies" {
            for element in ["Forged", "status"] {
                let press = json!({"element": element, "role": "AXButton"});
                let refused = desk.call(&app, "press_ax_and_traverse", press);
                assert!(refused.is_error, "{refused}");
            }
        }
        desk.is_well(case);
    }
    // These trees cannot be read to the end. A click would read them twice.
    for case in ["Megabytes", "Many", "Deep", "Changing"] {
        let app = desk.open(case);
        let read = desk.read(&app).ok();
        assert!(read.find("AXButton", "OK").is_some(), "{case}: {read}");
        assert!(read.text.contains("partial: "), "{case}: {read}");
        desk.is_well(case);
    }
    // A call has one line in the journal, and its texts cannot add another.
    for line in desk.bed.journal_lines() {
        assert!(line["tool"].as_str().unwrap().contains('_'), "{line}");
        assert_ne!(line["tool"], "Forged");
    }
}

#[test]
fn a_private_socket_that_sends_invalid_data_is_given_up() {
    let bed = Bed::new();
    let desk = Desk::at(&bed);
    for case in ["Raw", "Endless", "Huge", "Garbage"] {
        let app = desk.open(case);
        let read = desk.read(&app);
        assert!(app.full_log().contains(&"connected".to_owned()), "{case}");
        assert_eq!(read.is_error, case != "Raw", "{case}: {read}");
        desk.is_well(case);
    }
}

#[test]
fn an_app_that_hangs_or_dies_when_clicked_is_reported() {
    let bed = Bed::new();
    let desk = Desk::at(&bed);
    for case in ["Hung", "Dies"] {
        let mut app = desk.open(case);
        let clicked = desk.click(&app).ok();
        let summary = clicked.field("summary");
        assert!(summary.starts_with("Clicked 'OK'"), "{clicked}");
        if case == "Dies" {
            until("its end", || !app.is_running());
            assert!(summary.contains("The process ended"), "{clicked}");
        } else {
            assert!(clicked.text.contains("busy"), "{clicked}");
        }
        desk.is_well(case);
    }
}
