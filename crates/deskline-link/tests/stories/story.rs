//! One story: a desk, links on it, and their results in a form that does not vary.

use deskline_core::{KeyPress, Point};
use deskline_input::clock;
use deskline_journal::{Journal, Retention};
use deskline_link::call::{Awaited, Input, Typing};
use deskline_link::grants::Question;
use deskline_link::{
    Action, Answer, Call, Cancel, Desk, Links, Looked, Options, Policy, Target, Waiting,
    WindowTarget,
};
use std::sync::{Arc, MutexGuard};
use std::time::Duration;

use tempfile::TempDir;

use crate::script::{Happens, Script, When};
use crate::scripted::Scripted;
use crate::world::World;

pub(crate) const MAIL: u32 = 100;
pub(crate) const EDITOR: u32 = 200;
pub(crate) const MUSIC: u32 = 300;

/// Mail's window is behind the editor's, which the person has in front. Music is behind both.
pub(crate) const MUSIC_WINDOW: u64 = 1;
pub(crate) const MAIL_WINDOW: u64 = 2;
pub(crate) const EDITOR_WINDOW: u64 = 3;

pub(crate) struct Story {
    pub(crate) desktop: Scripted,
    links: Links,
    journal: Journal,
    _dir: TempDir,
    pub(crate) options: Options,
    pub(crate) answer: Option<Answer>,
}

/// A person writes notes while an agent sends a mail in a window behind theirs.
pub(crate) fn desk() -> World {
    let mut world = World::new();
    world.app(MUSIC, "Music");
    world.app(MAIL, "Mail");
    world.app(EDITOR, "Editor");
    world.window(
        MUSIC,
        "Songs",
        [600, 0, 300, 200],
        "[AXButton] \"Play\" x:610 y:40 w:60 h:20",
    );
    world.window(
        MAIL,
        "New Message",
        [0, 0, 600, 400],
        r#"[AXTextField] "To" x:20 y:40 w:300 h:24 editable
           [AXTextField] "Password" x:20 y:80 w:300 h:24 editable secure
           [AXButton] "Send" x:500 y:40 w:80 h:24
           [AXList] "Folders" x:20 y:120 w:200 h:200
             [AXStaticText] "Inbox" x:30 y:130 w:100 h:20
             [AXStaticText] "Archive" x:30 y:500 w:100 h:20 away"#,
    );
    world.window(
        EDITOR,
        "Notes",
        [300, 200, 600, 400],
        r#"[AXTextArea] "Text" x:310 y:240 w:580 h:340 editable"#,
    );
    world.focus(MAIL_WINDOW, 0);
    world.focus(EDITOR_WINDOW, 0);
    world.on_press("Send", |world| {
        if let Some(to) = world.node("To") {
            to.value.clear();
            to.says("Sent");
        }
    });
    world
}

impl Story {
    pub(crate) fn new() -> Self {
        Self::with(Policy::default())
    }

    pub(crate) fn with(policy: Policy) -> Self {
        clock::stop();
        // The journal syncs each file to its disk: two thousand links take 1.5 s in memory, and 13
        // s on a disk.
        let memory = std::path::Path::new("/dev/shm");
        let dir = if memory.is_dir() {
            tempfile::tempdir_in(memory).unwrap()
        } else {
            tempfile::tempdir().unwrap()
        };
        let journal =
            Journal::open(Some(&dir.path().join("journal")), Retention::default()).unwrap();
        let desktop = Scripted::new(desk());
        let links = Links::new(Arc::new(desktop.clone()), journal.clone(), policy);
        Self {
            desktop,
            links,
            journal,
            _dir: dir,
            options: Options::default(),
            answer: None,
        }
    }

    pub(crate) fn script(&self) -> MutexGuard<'_, Script> {
        self.desktop.script()
    }

    /// A desktop that lacks these abilities.
    pub(crate) fn lacking(lacks: &[(&'static str, &'static str)]) -> Self {
        let story = Self::new();
        story.script().lacks.extend(lacks.iter().copied());
        story
    }

    /// A desk where only apps of these names are allowed.
    pub(crate) fn allowing(names: &[&str]) -> Self {
        Self::with(Policy {
            allow: names.iter().map(|name| (*name).to_owned()).collect(),
            ..Policy::default()
        })
    }

    pub(crate) fn denying(name: &str) -> Self {
        Self::with(Policy {
            deny: vec![name.to_owned()],
            ..Policy::default()
        })
    }

    /// A desk where Mail has a menu open, which a click on 'Send' opened.
    pub(crate) fn with_open_menu() -> Self {
        let mut story = Self::new();
        story.on_press("Send", opens_menu);
        story.click("Send");
        story
    }

    /// A desktop at which nobody sits.
    pub(crate) fn alone() -> Self {
        let story = Self::new();
        story.script().private = true;
        story
    }

    /// Changes the desk before its first link.
    pub(crate) fn given<T>(&self, change: impl FnOnce(&mut World) -> T) -> T {
        change(&mut self.script().world)
    }

    /// Sets the effect of a press or a click on an element.
    pub(crate) fn on_press(&self, name: &str, effect: impl Fn(&mut World) + Send + Sync + 'static) {
        self.given(|world| world.on_press(name, effect));
    }

    /// Adds an event after the first call of this name in the next link.
    pub(crate) fn after(&mut self, call: &'static str, happens: impl Happens) -> &mut Self {
        self.happens(When::After(call), happens)
    }

    /// Adds an event before a call of the next link; calls count from 1.
    pub(crate) fn before(&mut self, call: usize, happens: impl Happens) -> &mut Self {
        self.happens(When::Before(call), happens)
    }

    /// Adds an event for when the next link has waited this long for changes.
    pub(crate) fn later(&mut self, ms: u64, happens: impl Happens) -> &mut Self {
        self.happens(When::Waited(Duration::from_millis(ms)), happens)
    }

    fn happens(&mut self, when: When, happens: impl Happens) -> &mut Self {
        self.script().happenings.push((when, Box::new(happens)));
        self
    }

    pub(crate) fn run_on(&mut self, pid: u32, action: Action) -> &mut Self {
        let text = text_of(&action).map(|text| ("text".to_owned(), text.into()));
        let arguments = text.into_iter().collect();
        let call = Call {
            options: self.options.clone(),
            arguments,
            ..Call::new(pid, action)
        };
        self.run_call(&call)
    }

    pub(crate) fn run_call(&mut self, call: &Call) -> &mut Self {
        self.script().calls.clear();
        self.script().waited = Duration::ZERO;
        self.answer = Some(self.links.run(call, &Cancel::new()));
        self
    }

    /// The next process of the server, on the same desktop.
    pub(crate) fn restart(&mut self) {
        let desktop = Arc::new(self.desktop.clone());
        self.links = Links::new(desktop, self.journal.clone(), Policy::default());
    }

    /// A chain on Mail. `window` is a part of a title.
    pub(crate) fn chain(&mut self, window: Option<&str>, steps: Vec<Action>) -> &mut Self {
        self.repeated_chain(window, steps, &[])
    }

    /// A chain whose steps run this many times.
    pub(crate) fn repeated_chain(
        &mut self,
        window: Option<&str>,
        steps: Vec<Action>,
        repeats: &[usize],
    ) -> &mut Self {
        let reported = steps.iter().map(|action| match text_of(action) {
            Some(text) => serde_json::json!({"text": text}),
            None => serde_json::json!({}),
        });
        let arguments = [("steps".to_owned(), reported.collect())]
            .into_iter()
            .collect();
        let mut steps = steps.into_iter();
        let first = steps.next().unwrap();
        let call = Call {
            window: window.map(|title| WindowTarget::Titled(title.into())),
            repeats: repeats.to_vec(),
            options: self.options.clone(),
            arguments,
            ..Call::chain(MAIL, first, steps.collect())
        };
        self.run_call(&call)
    }

    pub(crate) fn run(&mut self, action: Action) -> &mut Self {
        self.run_on(MAIL, action)
    }

    pub(crate) fn click(&mut self, target: &str) -> &mut Self {
        self.click_then(target, None, None)
    }

    /// The question for the person that a click leads to.
    pub(crate) fn asks(&mut self, target: &str) -> Option<Box<Question>> {
        self.asks_before(&Call::new(MAIL, click(target, None, None)))
    }

    /// The question for the person that a call leads to.
    pub(crate) fn asks_before(&mut self, call: &Call) -> Option<Box<Question>> {
        self.script().calls.clear();
        Desk::run(&mut self.links, call, &Cancel::new()).err()
    }

    pub(crate) fn click_then(
        &mut self,
        target: &str,
        text: Option<&str>,
        key: Option<&str>,
    ) -> &mut Self {
        self.run(click(target, text, key))
    }

    pub(crate) fn click_at(&mut self, x: i32, y: i32) -> &mut Self {
        let target = Target::at(x, y);
        self.run(Action::click(target, Typing::default()))
    }

    pub(crate) fn open(&mut self, identifier: &str) -> &mut Self {
        self.run(Action::open(identifier))
    }

    pub(crate) fn wait_for(&mut self, target: &str, state: Awaited, ms: u64) -> &mut Self {
        self.run(wait_for(target, state, ms))
    }

    pub(crate) fn type_text(&mut self, text: &str) -> &mut Self {
        self.run(types(text))
    }

    pub(crate) fn paste(&mut self, text: &str) -> &mut Self {
        self.run(pastes(text))
    }

    pub(crate) fn press_key(&mut self, key: &str) -> &mut Self {
        self.run(presses(key))
    }

    pub(crate) fn drag(&mut self, from: &str, to: &str) -> &mut Self {
        self.run(Action::drag(Target::text(from), Target::text(to)))
    }

    pub(crate) fn set_value(&mut self, target: &str, value: &str) -> &mut Self {
        self.run(Action::set_value(Target::text(target), value))
    }

    pub(crate) fn press(&mut self, target: &str) -> &mut Self {
        self.run(press_ax(target))
    }

    pub(crate) fn refresh(&mut self) -> &mut Self {
        self.run(Action::Refresh)
    }

    pub(crate) fn text(&self) -> &str {
        self.answer.as_ref().map_or("", |answer| &answer.text)
    }

    pub(crate) fn is_error(&self) -> bool {
        self.answer.as_ref().is_some_and(|answer| answer.is_error)
    }

    #[track_caller]
    pub(crate) fn succeeds(&self) {
        assert!(!self.is_error(), "{}", self.text());
    }

    #[track_caller]
    pub(crate) fn fails(&self) {
        assert!(self.is_error(), "{}", self.text());
    }

    /// The answer contains this text.
    #[track_caller]
    pub(crate) fn says(&self, text: &str) {
        assert!(self.text().contains(text), "{}", self.text());
    }

    /// One look of a wait; `others` is whether another call wants the desktop.
    pub(crate) fn look(&mut self, waiting: Box<Waiting>, others: bool) -> Option<Box<Waiting>> {
        self.script().calls.clear();
        match self.links.look(waiting, &Cancel::new(), &|| others) {
            Looked::NotYet(waiting) => Some(waiting),
            Looked::Asks(question) => panic!("{question}"),
            Looked::Answer(answer) => {
                self.answer = Some(answer);
                None
            }
        }
    }

    /// `list_applications`.
    pub(crate) fn listed(&mut self) -> String {
        self.links.applications("").text
    }

    /// A field of the answer.
    pub(crate) fn field(&self, name: &str) -> String {
        let mut lines = self.text().lines();
        let found = lines.find_map(|l| l.strip_prefix(name)?.strip_prefix(": "));
        found.map(settled).unwrap_or_default()
    }

    /// The line with this text in the answer's tree file.
    pub(crate) fn tree_line(&self, text: &str) -> String {
        let file = std::fs::read_to_string(self.field("file")).unwrap();
        let mut lines = file.lines().filter(|line| line.contains(text));
        lines.next().unwrap_or_default().to_owned()
    }

    /// The answer without the parts that vary (paths, sizes, times). The head is left out if it
    /// reports success for Mail.
    pub(crate) fn outcome(&self) -> String {
        let varies = ["file: ", "file_size: ", "hint: ", "screenshot: "];
        let head = "status: success\npid: 100\napp: Mail\n";
        let text = self.text();
        let lines = text.strip_prefix(head).unwrap_or(text).lines();
        let kept = lines.filter(|line| !varies.iter().any(|name| line.starts_with(name)));
        kept.map(settled).collect::<Vec<_>>().join("\n")
    }

    /// The calls that did something or announced it. Leaves out questions, and the usual calls at
    /// the start (the reading of Mail) and at the end, if both are there.
    pub(crate) fn acts(&self) -> String {
        const QUESTIONS: [&str; 13] = [
            "front",
            "windows",
            "every_window",
            "pointer",
            "popup_open",
            "computed",
            "handoff_pending",
            "wait_for_change",
            "person_pressed",
            "watch_person",
            "unwatch_person",
            "picture",
            "applications",
        ];
        let script = self.script();
        let asks = |call: &&String| !QUESTIONS.contains(&call.split(' ').next().unwrap_or(""));
        let calls = script.calls.iter().filter(asks).map(String::as_str);
        let calls: Vec<&str> = calls.collect();
        let calls = calls.join("\n");
        let between = calls.strip_prefix("listen 100\nread 100 again\n");
        let rested = between.and_then(|calls| calls.split_once("release_all\n"));
        rested.map_or_else(
            || calls.clone(),
            |(acts, after)| format!("{acts}{}", after.trim_start_matches("rest").trim_start()),
        )
    }

    pub(crate) fn calls(&self) -> Vec<String> {
        self.script().calls.clone()
    }

    /// How many calls of the last link begin with this.
    pub(crate) fn count(&self, call: &str) -> usize {
        let calls = self.calls();
        calls.iter().filter(|made| made.starts_with(call)).count()
    }

    /// The index of the last call that begins with this.
    pub(crate) fn last(&self, call: &str) -> Option<usize> {
        let calls = self.calls();
        calls.iter().rposition(|made| made.starts_with(call))
    }

    pub(crate) fn front(&self) -> u64 {
        self.given(|world| world.front().map_or(0, |w| w.id))
    }

    /// The input that reached apps.
    pub(crate) fn reached(&self) -> String {
        match self.given(|world| world.reached.join(", ")) {
            reached if reached.is_empty() => "nothing".into(),
            reached => reached,
        }
    }

    /// The input that reached apps, and the person's front window now.
    pub(crate) fn seen(&self) -> String {
        let reached = self.reached();
        let script = self.script();
        let world = &script.world;
        let front = world.front().map_or("nothing", |w| &w.title);
        let Point { x, y } = world.pointer;
        format!("reached: {reached}; front: {front}, pointer: {x},{y}")
    }

    /// All texts in the journal.
    pub(crate) fn journal(&self) -> String {
        let path = self.journal.path().join("journal.jsonl");
        std::fs::read_to_string(path).unwrap_or_default()
    }
}

pub(crate) fn click(target: &str, text: Option<&str>, key: Option<&str>) -> Action {
    Action::click(
        Target::text(target),
        Typing {
            paste: false,
            text: text.map(str::to_owned),
            key: key.map(|key| KeyPress::parse(key, &[]).unwrap()),
        },
    )
}

pub(crate) fn types(text: &str) -> Action {
    Action::type_text(Typing::text(text))
}

pub(crate) fn pastes(text: &str) -> Action {
    let typing = Typing {
        paste: true,
        text: Some(text.into()),
        key: None,
    };
    Action::type_text(typing)
}

pub(crate) fn presses(key: &str) -> Action {
    Action::press_key(KeyPress::parse(key, &[]).unwrap())
}

pub(crate) fn press_ax(target: &str) -> Action {
    Action::press_ax(Target::text(target))
}

pub(crate) fn wait_for(target: &str, state: Awaited, ms: u64) -> Action {
    Action::WaitFor {
        target: Target::text(target),
        state,
        timeout: Duration::from_millis(ms),
    }
}

/// Turns the wheel over Mail's list of folders; down if `delta_y` is positive.
pub(crate) fn scrolls(delta_y: i32, until: Option<&str>) -> Action {
    Action::Input(Input::Scroll {
        at: Target::at(100, 150),
        delta_x: 0,
        delta_y,
        until: until.map(str::to_owned),
    })
}

/// A menu of Mail opens, with the item 'Later'.
pub(crate) fn opens_menu(world: &mut World) {
    let item = r#"[AXMenuItem] "Later" x:510 y:70 w:80 h:20"#;
    world.menu(MAIL, [500, 64, 100, 60], item);
}

/// The text that an action types, if any.
fn text_of(action: &Action) -> Option<String> {
    match action {
        Action::Input(Input::Type { typing } | Input::Click { then: typing, .. }) => {
            typing.text.clone()
        }
        _ => None,
    }
}

/// A line in which each number of milliseconds is `_`.
fn settled(line: &str) -> String {
    let mut words: Vec<&str> = line.split(' ').collect();
    for i in 1..words.len() {
        if words[i].trim_end_matches('.') == "ms" && words[i - 1].parse::<u64>().is_ok() {
            words[i - 1] = "_";
        }
    }
    words.join(" ")
}
