//! Every tool on every toolkit, on all common widgets: one table.
//!
//! A cell is a call and the line that the app then logs. If the toolkit or the display refuses the
//! call, the table has the agent's error. Before each cell another app's window is in front.

pub mod calc;
mod cells;
pub mod driven;
mod lacks;
pub mod rows;

use std::cell::RefCell;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::web::Page;
use crate::{Answer, App, Client, NativeApp, Session, Toolkit, until};
use cells::{COMBO, Cell, KEY, SET, cells, chain};
pub use lacks::{Column, GTK_3, GTK_4, Lack, OTHER_TEXT, serves_all_but, serves_input_but};

/// How long an app's log may lag behind the answer: one turn of its event loop, or a page's
/// request.
const LAG: Duration = Duration::from_millis(700);

pub trait Log {
    fn lines(&self) -> Vec<String>;

    fn clear(&self);
}

impl Log for App<'_> {
    fn lines(&self) -> Vec<String> {
        self.full_log()
    }

    fn clear(&self) {
        self.clear_log();
    }
}

impl Log for NativeApp {
    fn lines(&self) -> Vec<String> {
        self.log()
    }

    fn clear(&self) {
        self.clear_log();
    }
}

impl Log for Page {
    fn lines(&self) -> Vec<String> {
        self.full_log()
    }

    fn clear(&self) {
        self.clear_log();
    }
}

/// An app with one of each widget.
#[allow(missing_debug_implementations)]
pub struct Subject<'b> {
    pub pid: u32,
    pub log: &'b dyn Log,
    /// The process whose window is in front before each cell. If `None`, the app's own window is.
    pub person: Option<u32>,
    /// The client that drives the app.
    pub server: &'b Client,
    /// The combo boxes of Qt and GTK 4.18 have their choice as name.
    pub combo_has_no_name: bool,
    /// In UI Automation, Qt reports text areas as fields.
    pub areas_are_fields: bool,
    /// Why there is no picture: a server says it once.
    pub no_picture: Option<String>,
    /// The late changes so far.
    pub late: RefCell<Vec<String>>,
}

impl<'b> Subject<'b> {
    /// An app, its log, and the process whose window is in front before each cell.
    pub fn new(pid: u32, log: &'b dyn Log, person: Option<u32>, server: &'b Client) -> Self {
        Self {
            pid,
            log,
            person,
            server,
            combo_has_no_name: false,
            areas_are_fields: false,
            no_picture: None,
            late: RefCell::default(),
        }
    }

    /// A test app of a session.
    pub fn native(
        session: &Session,
        app: &'b NativeApp,
        person: Option<u32>,
        toolkit: Toolkit,
        server: &'b Client,
    ) -> Self {
        let first = session.server().refresh(app.pid());
        let named = toolkit == Toolkit::Gtk3 || toolkit == Toolkit::Gtk4 && session.is_here();
        Self {
            combo_has_no_name: !named,
            no_picture: first.get("note").map(str::to_owned),
            ..Self::new(app.pid(), app, person, server)
        }
    }

    /// Brings the person's window to the front. Closes a menu that a cell has left open, as it
    /// would prevent that.
    fn goes_behind(&self) {
        let Some(person) = self.person else { return };
        if !self.server.has_process_in_front(person) {
            self.leave();
        }
        until("the person's window in front", || {
            self.server.has_process_in_front(person)
        });
    }

    /// Closes open menus and dialogs. Changes by a refused action are not late.
    fn leave(&self) {
        let escape = json!({"pid": self.pid, "keyName": "Escape"});
        self.server.call(KEY, escape);
    }

    /// Calls a tool with the app's pid, and with `element` and `role` if they are given.
    pub fn call(&self, tool: &str, target: &str, more: &Value) -> Answer {
        let mut arguments = json!({"pid": self.pid});
        if target == COMBO && self.combo_has_no_name {
            let chosen_before = tool == SET || more.get("choose").is_some();
            let choice = if chosen_before { "Medium" } else { "Small" };
            arguments["role"] = "AXComboBox".into();
            arguments["element"] = choice.into();
        } else if let Some((role, text)) = target.split_once(' ') {
            let is_field = self.areas_are_fields && role == "AXTextArea";
            arguments["role"] = if is_field { "AXTextField" } else { role }.into();
            arguments["element"] = text.into();
        }
        for (name, value) in more.as_object().unwrap() {
            arguments[name] = value.clone();
        }
        let answer = self.server.call(tool, arguments);
        if let Some((_, late)) = answer.text.split_once("\nlate_changes: ") {
            let lines = late.lines().take(3);
            let found = format!(
                "before {tool} {target}: {}",
                lines.collect::<Vec<_>>().join(" ")
            );
            self.late.borrow_mut().push(found);
        }
        answer
    }

    /// The changes of the app between two answers, which the first answer should have reported.
    fn late(&self) -> (String, String) {
        let late = self.late.borrow();
        let outcome = if late.is_empty() {
            "✓".into()
        } else {
            format!("WRONG: {}", late.join("; "))
        };
        ("late changes".into(), outcome)
    }
}

/// `✓`, `refused: …` with the agent's error, or what the app has logged instead.
fn try_cell(subject: &Subject<'_>, cell: &Cell) -> String {
    subject.goes_behind();
    subject.log.clear();
    let mut answers = Vec::new();
    for (tool, target, more) in &cell.calls {
        let answer = subject.call(tool, target, more);
        if answer.is_error {
            // Close dialogs and menus of an earlier call: they would cover the next cell.
            subject.leave();
            return format!("refused: {}", plain(answer.error()));
        }
        answers.push(answer);
    }
    let outcome = logged(subject, cell.logs);
    if outcome != "✓" {
        for answer in &answers {
            println!("{answer}\n");
        }
    }
    outcome
}

/// `✓` once the app has logged a line that starts with `start`, or else the lines that it has
/// logged.
fn logged(subject: &Subject<'_>, start: &str) -> String {
    let deadline = Instant::now() + LAG;
    loop {
        let log = subject.log.lines();
        if log.iter().any(|line| line.starts_with(start)) {
            return "✓".into();
        }
        if Instant::now() > deadline {
            return format!("WRONG: the app says {log:?}");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn outcome_of(subject: &Subject<'_>, answer: &Answer, start: &str) -> String {
    if answer.is_error {
        return format!("refused: {}", plain(answer.error()));
    }
    logged(subject, start)
}

/// The maximum thickness of a border, a shadow or a title bar around a window, in one direction. It
/// may be a part of the window's extents and not of its picture, or the other way round.
const FRAME: i32 = 64;

/// `✓` if the answer names a picture of the window's size, or else the reason why there is none.
fn picture(subject: &Subject<'_>, answer: &Answer) -> String {
    let Some(path) = answer.get("screenshot") else {
        let why = answer.get("note").or(subject.no_picture.as_deref());
        let why = why.unwrap_or("no picture, and no reason");
        return format!("refused: {}", plain(why));
    };
    let file = std::fs::read(path).unwrap_or_else(|e| panic!("{path}: {e}"));
    // PNG, 11.2.1: the width and the height are at the start.
    let number = |at: usize| i32::from_be_bytes(file[at..at + 4].try_into().unwrap());
    let size = (number(16), number(20));
    let lines = answer.lines();
    let window = lines.iter().find(|line| line.role.ax() == "AXWindow");
    let window = window.and_then(|line| line.extents).unwrap();
    let frame = [window.w - size.0, window.h - size.1];
    if frame.iter().all(|around| (-FRAME..=FRAME).contains(around)) {
        "✓".into()
    } else {
        format!("WRONG: {size:?} of {window:?}")
    }
}

/// An error with its numbers masked, as they differ between runs.
pub fn plain(error: &str) -> String {
    let mut out = String::new();
    let mut digits = false;
    for c in error.chars() {
        if c.is_ascii_digit() {
            if !digits {
                out.push('N');
            }
            digits = true;
        } else {
            digits = false;
            out.push(c);
        }
    }
    out
}

/// Tests scroll, which takes a point, and the two tools that only read.
fn look(subject: &Subject<'_>, table: &mut Vec<(String, String)>) {
    let opened = subject.call("refresh_traversal", "", &json!({})).ok();
    let missing: Vec<&str> = [
        "OK", "Bold", "Wrap", "Red", "Size", "File", "Volume", "Name", "Row 1", "Item 1", "First",
    ]
    .into_iter()
    .filter(|text| !(*text == "Size" && subject.combo_has_no_name))
    .filter(|text| !opened.find("AX", text).is_some_and(|line| line.visible))
    .collect();
    let seen = if missing.is_empty() {
        "✓".into()
    } else {
        format!("WRONG: not visible: {missing:?}")
    };
    table.push(("refresh, all widgets".into(), seen));

    subject.log.clear();
    // The list may be as tall as all of its rows: use its visible top.
    let list = opened.line_of("AXList", "Rows").extents.unwrap();
    let place = json!({"x": list.x + 20, "y": list.y + 40, "deltaY": 5});
    let answer = subject.call("scroll_and_traverse", "", &place);
    let outcome = outcome_of(subject, &answer, "scrolled Rows");
    table.push(("scroll, list".into(), outcome));
    let back = json!({"x": list.x + 20, "y": list.y + 40, "deltaY": -50});
    subject.call("scroll_and_traverse", "", &back);

    let name = opened.field("app").to_owned();
    let answer = subject.server.open(&name);
    let outcome = match answer.is_error {
        true => format!("refused: {}", plain(answer.error())),
        false if answer.pid() == subject.pid => "✓".into(),
        false => format!("WRONG: {answer}"),
    };
    table.push(("open, running app".into(), outcome));
}

/// All cells, each with its outcome.
pub fn column(subject: &Subject<'_>) -> Vec<(String, String)> {
    column_of(subject, &cells())
}

fn column_of(subject: &Subject<'_>, cells: &[Cell]) -> Vec<(String, String)> {
    let mut column = Vec::new();
    look(subject, &mut column);
    for cell in cells {
        column.push((cell.name.into(), try_cell(subject, cell)));
    }
    column
}

/// [`column`], and the changes of the app after the answers.
pub fn column_in_time(subject: &Subject<'_>) -> Vec<(String, String)> {
    let mut column = column(subject);
    column.push(subject.late());
    column
}

/// [`whole_column`], and the changes of the app after the answers.
pub fn whole_column_in_time(subject: &Subject<'_>) -> Vec<(String, String)> {
    let mut column = whole_column(subject, &cells());
    column.push(subject.late());
    column
}

/// [`column`], the cells of several steps, and the picture.
fn whole_column(subject: &Subject<'_>, cells: &[Cell]) -> Vec<(String, String)> {
    let mut table = column_of(subject, cells);
    let chain = chain().remove(0);
    table.push((chain.name.into(), try_cell(subject, &chain)));
    let opened = subject.call("refresh_traversal", "", &json!({})).ok();
    table.push(("picture".into(), picture(subject, &opened)));
    table
}

/// The table as a text.
pub fn render(title: &str, column: &[(String, String)]) -> String {
    let mut text = format!("{title}\n");
    for (name, outcome) in column {
        writeln!(text, "  {name:<26}{outcome}").unwrap();
    }
    text
}
