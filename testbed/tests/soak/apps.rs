//! The apps that the agent drives. Each logs what happened to it.

use std::fs;
use std::path::PathBuf;

use deskline_testbed::web::Page;
use deskline_testbed::{App, Bed, Toolkit};
use fastrand::Rng;
use serde_json::{Value, json};

use crate::person::LETTERS;

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    /// A small window of a toolkit.
    Window(&'static str),
    /// The app with one of each widget.
    Widgets,
    /// A page with the same widgets in Chromium.
    Page,
    /// An editor with a document that grows.
    Editor(&'static str),
}

/// The kinds of apps. A short run uses the first ones.
pub const KINDS: [Kind; 10] = [
    Kind::Window("gtk3"),
    Kind::Window("qt5"),
    Kind::Window("gtk4"),
    Kind::Editor("mousepad"),
    Kind::Page,
    Kind::Editor("featherpad"),
    Kind::Widgets,
    Kind::Window("gtk4"),
    Kind::Window("qt5"),
    Kind::Window("gtk3"),
];

/// The actions of the agent. Their texts have only digits.
#[derive(Debug, Clone, PartialEq)]
pub enum Act {
    Look,
    Hover,
    Press,
    Click,
    Scroll,
    Set(String),
    Type(String),
    Paste(String),
    /// Adds a line at the end of the document, and saves it.
    Write(String),
}

pub struct Driven<'b> {
    bed: &'b Bed,
    kind: Kind,
    number: usize,
    pub app: App<'b>,
    page: Option<Page>,
    document: Option<PathBuf>,
    /// How many lines of its log were checked already.
    known: usize,
    /// The last known text of its field or document.
    text: String,
    /// Whether a link has failed since, which may have typed a part of its text.
    unsure: bool,
}

/// The unexpected input of an app since the last check.
#[derive(Debug, Default)]
pub struct Judged {
    pub wrong: Vec<String>,
    /// The person's letters inside a text of the agent's.
    pub mixed: Vec<String>,
    /// The person's letters elsewhere in the app.
    pub strays: usize,
}

impl<'b> Driven<'b> {
    pub fn start(bed: &'b Bed, kind: Kind, number: usize) -> Self {
        // The app's window is to the left of the person's windows.
        let (x, y) = match kind {
            Kind::Page => (20, 40),
            _ => (20 + number % 4 * 200, 40 + number / 4 * 200),
        };
        let (mut page, mut document) = (None, None);
        let app = match kind {
            Kind::Window(toolkit) => {
                let spec = format!("W{number}|Window {number}|300x240+{x}+{y}");
                bed.windows(toolkit, &[], &[&spec])
            }
            Kind::Widgets => bed.widgets(Toolkit::Gtk3),
            Kind::Page => {
                let (app, served) = bed.chromium_widgets();
                page = Some(served);
                app
            }
            Kind::Editor(program) => {
                let file = bed.path(&format!("document-{number}.txt"));
                // The document outlives its editor.
                fs::OpenOptions::new()
                    .append(true)
                    .create(true)
                    .open(&file)
                    .unwrap();
                let app = bed.editing(program, &file);
                document = Some(file);
                app
            }
        };
        let app = app.at(x as i32, y as i32);
        let mut driven = Self {
            bed,
            kind,
            number,
            app,
            page,
            document,
            known: 0,
            text: String::new(),
            unsure: false,
        };
        driven.known = driven.log().len();
        driven.text = driven.content().unwrap_or_default();
        driven
    }

    /// Restarts the app after it has ended.
    pub fn anew(self) -> Self {
        let Self {
            bed, kind, number, ..
        } = self;
        drop(self);
        Self::start(bed, kind, number)
    }

    pub fn name(&self) -> String {
        format!("{:?} {}", self.kind, self.number)
    }

    fn log(&self) -> Vec<String> {
        let log = self
            .page
            .as_ref()
            .map_or_else(|| self.app.full_log(), Page::full_log);
        // Messages of toolkits and browsers in the log are not lines of the test app.
        let is = |line: &String| {
            !["key ", "ready", "focus"]
                .iter()
                .any(|noise| line.starts_with(noise))
        };
        let own = |line: &String| self.document.is_none() && is(line);
        log.into_iter().filter(own).collect()
    }

    /// The document, once it has one.
    fn content(&self) -> Option<String> {
        self.document
            .as_ref()
            .map(|file| fs::read_to_string(file).unwrap())
    }

    /// Its button, its field, and how it logs them.
    fn names(&self) -> [String; 4] {
        let n = self.number;
        match self.kind {
            Kind::Window(_) => [
                format!("Push W{n}"),
                format!("Note W{n}"),
                format!("pushed W{n}"),
                format!("text W{n} "),
            ],
            _ => ["OK", "Name", "clicked OK", "text Name "].map(str::to_owned),
        }
    }

    pub fn any_act(&self, rng: &mut Rng, token: String) -> Act {
        if self.document.is_some() {
            return match rng.u8(..8) {
                0 => Act::Look,
                _ => Act::Write(token),
            };
        }
        // GTK 4.8 and Chromium let accessibility set no text.
        let sets = !matches!(self.kind, Kind::Window("gtk4") | Kind::Page);
        match rng.u8(..16) {
            0 | 1 => Act::Look,
            2 => Act::Hover,
            3..5 => Act::Press,
            5..8 => Act::Click,
            8 if matches!(self.kind, Kind::Window(_)) => Act::Scroll,
            9 | 10 if sets => Act::Set(token),
            11 => Act::Paste(token),
            _ if sets && self.text.len() > 150 => Act::Set(token),
            _ => Act::Type(token),
        }
    }

    pub fn call(&self, act: &Act) -> (&'static str, Value) {
        let [button, field, ..] = self.names();
        let pid = self.app.pid;
        let button = json!({"pid": pid, "element": button, "role": "AXButton"});
        let field = |more: Value| {
            let mut call = json!({"pid": pid, "element": field, "role": "AXTextField"});
            call.as_object_mut()
                .unwrap()
                .extend(more.as_object().unwrap().clone());
            call
        };
        match act {
            Act::Look => ("refresh_traversal", json!({"pid": pid})),
            Act::Hover => ("click_and_traverse", {
                let mut hover = button;
                hover["hover"] = true.into();
                hover
            }),
            Act::Press => ("press_ax_and_traverse", button),
            Act::Click => ("click_and_traverse", button),
            Act::Scroll => {
                let pad = format!("Pad W{}", self.number);
                (
                    "scroll_and_traverse",
                    json!({"pid": pid, "element": pad, "deltaY": 2}),
                )
            }
            Act::Set(text) => ("set_value_and_traverse", field(json!({"value": text}))),
            Act::Type(text) => ("click_and_traverse", field(json!({"text": text}))),
            Act::Paste(text) => {
                let mut click = field(json!({"do": "click"}));
                click.as_object_mut().unwrap().remove("pid");
                let paste = json!({"do": "type", "text": text, "paste": true});
                (
                    "chain_and_traverse",
                    json!({"pid": pid, "steps": [click, paste]}),
                )
            }
            Act::Write(text) => {
                let key = |name: &str| {
                    json!({"do": "press_key",
                    "keyName": name, "modifierFlags": ["Control"]})
                };
                let line = json!({"do": "type", "text": text, "pressKey": "Return"});
                (
                    "chain_and_traverse",
                    json!({"pid": pid, "steps": [key("End"), line, key("s")]}),
                )
            }
        }
    }

    /// Whether its log has this act already.
    pub fn shows(&self, act: &Act) -> bool {
        let [_, _, pressed, text] = self.names();
        let log = self.log();
        let mut new = log.iter().skip(self.known);
        match act {
            Act::Look | Act::Hover => true,
            Act::Press | Act::Click => new.any(|line| *line == pressed),
            Act::Scroll => new.any(|line| line.starts_with("pad scroll")),
            Act::Set(token) | Act::Type(token) | Act::Paste(token) => new.any(|line| {
                let now = line.strip_prefix(&text).map(agents);
                now.is_some_and(|now| {
                    self.is_right(act, token, &now) || self.unsure && now.contains(token)
                })
            }),
            Act::Write(token) => self
                .content()
                .is_some_and(|all| agents(&all).contains(token.as_str())),
        }
    }

    /// Whether this text is the last one after this act.
    fn is_right(&self, act: &Act, token: &str, is: &str) -> bool {
        match act {
            Act::Set(_) => is == token,
            _ => is.replacen(token, "", 1).trim_end() == agents(&self.text).trim_end(),
        }
    }

    /// Accepts the log as it is, because the app hung and has now handled its pending input.
    pub fn forgive(&mut self) {
        self.judge(None, false);
        self.unsure = true;
    }

    /// Checks the log since the last check. It may show the effect of `act`, and must show the
    /// whole effect if the link was `done`.
    pub fn judge(&mut self, act: Option<&Act>, done: bool) -> Judged {
        let [_, _, pressed, text] = self.names();
        let mut judged = Judged::default();
        let log = self.log();
        let (mut clicks, mut texts) = (0, Vec::new());
        for line in &log[self.known.min(log.len())..] {
            if let Some(content) = line.strip_prefix(&text) {
                texts.push(content.to_owned());
            } else if line.starts_with(&pressed) {
                clicks += 1;
            } else if !(act == Some(&Act::Scroll) && line.starts_with("pad scroll")) {
                judged.wrong.push(format!("{}: {line}", self.name()));
            }
        }
        self.known = log.len();
        texts.extend(self.content());
        if clicks > usize::from(matches!(act, Some(Act::Press | Act::Click))) {
            judged
                .wrong
                .push(format!("{}: pressed {clicks} times", self.name()));
        }
        let token = match act {
            Some(Act::Set(token) | Act::Type(token) | Act::Paste(token) | Act::Write(token)) => {
                Some(token)
            }
            _ => None,
        };
        let Some(now) = texts.last() else {
            return judged;
        };
        let whole = |text: &String| token.is_some_and(|token| text.contains(token.as_str()));
        if done && token.is_some() && !texts.iter().any(whole) {
            judged
                .mixed
                .push(format!("{}: {token:?} is {now:?}", self.name()));
        }
        let letters = |text: &str| text.chars().filter(|c| LETTERS.contains(c)).count();
        judged.strays = letters(now).saturating_sub(letters(&self.text));
        let (was, is) = (agents(&self.text), agents(now));
        let right = match (act, token) {
            (Some(act), Some(token)) if done => self.is_right(act, token, &is),
            (_, Some(_)) => true,
            _ => is == was,
        };
        let right = right || self.unsure;
        self.unsure = token.is_some() && !done || self.unsure && token.is_none();
        if !right {
            judged
                .wrong
                .push(format!("{}: {act:?}: {was:?} became {is:?}", self.name()));
        }
        self.text.clone_from(now);
        judged
    }
}

/// A text without the person's letters.
pub fn agents(text: &str) -> String {
    text.replace(LETTERS, "")
}
