//! The desktop for the scenarios: an editor in front, a mail app behind it, two displays.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use deskline_contract::Cancel;
use deskline_core::{KeyPress, Line, Ref};
use deskline_input::clock::{self, Instant};
use deskline_journal::{Journal, Retention};
use deskline_link::call::Typing;
use deskline_link::{Action, Answer, Call, Links, Policy, Target};
use tempfile::TempDir;

use crate::checks::sheet;
use crate::os::fake::{Fake, Id, World, text};
use crate::os::{Display, Value};
use crate::platform::MacPlatform;

pub(crate) const MAIL: u32 = 100;
pub(crate) const EDITOR: u32 = 200;

/// The desktop, and the parts of it that tests inspect.
pub(crate) struct Desk {
    pub(crate) mac: Fake,
    pub(crate) links: Links,
    pub(crate) journal: Journal,
    pub(crate) dir: TempDir,
    pub(crate) window: Id,
    pub(crate) send: Id,
    pub(crate) body: Id,
    pub(crate) secret: Id,
    pub(crate) urgent: Id,
    pub(crate) volume: Id,
}

/// Asserts that a text has this part.
#[track_caller]
pub(crate) fn has(text: impl AsRef<str>, part: &str) {
    let text = text.as_ref();
    assert!(text.contains(part), "no {part:?} in {text}");
}

/// Asserts that no more time has passed.
#[track_caller]
pub(crate) fn within(start: Instant, time: Duration) {
    let took = start.elapsed();
    assert!(took < time, "{took:?}");
}

/// The assertions on an answer.
pub(crate) trait Expect {
    /// The answer; panics if it is an error.
    fn ok(self) -> Self;

    /// Asserts that the answer is an error with this text.
    fn fails_with(&self, part: &str);
}

impl Expect for Answer {
    #[track_caller]
    fn ok(self) -> Self {
        assert!(!self.is_error, "{}", self.text);
        self
    }

    #[track_caller]
    fn fails_with(&self, part: &str) {
        assert!(self.is_error, "no error: {}", self.text);
        has(&self.text, part);
    }
}

impl Desk {
    /// The clock is the fake's: only calls and waits advance it.
    pub(crate) fn new() -> Self {
        clock::stop();
        Self::in_real_time()
    }

    /// A desktop in real time, for tests in which a person acts at the same time on another thread.
    pub(crate) fn in_real_time() -> Self {
        let mac = Fake(Arc::default());
        let dir = tempfile::tempdir().unwrap();
        let mut world = mac.world();
        world.trusted = true;
        world.may_capture = true;
        world.pointer = (1_000.0, 800.0);
        world.displays = displays(1.0);
        world.folders = vec![dir.path().to_owned()];

        let root = world.app(MAIL, "Mail", "/Applications/Mail.app".into());
        let place = [100.0, 100.0, 600.0, 400.0];
        let window = world.add(root, "AXWindow", "New Message", place);
        let send = world.add(window, "AXButton", "Send", [620.0, 110.0, 60.0, 28.0]);
        let place = [120.0, 200.0, 560.0, 200.0];
        let body = field(&mut world, window, "AXTextArea", "Message", place);
        world.set(body, "AXValue", text(""));
        let place = [120.0, 150.0, 200.0, 22.0];
        let secret = field(&mut world, window, "AXTextField", "Password", place);
        let subrole = text("AXSecureTextField");
        world.node(secret).attributes.insert("AXSubrole", subrole);
        world.set(secret, "AXValue", text("hunter2"));
        let urgent = world.add(window, "AXCheckBox", "Urgent", [350.0, 150.0, 80.0, 20.0]);
        world.set(urgent, "AXValue", Value::Number(0.0));
        let volume = world.add(window, "AXSlider", "Volume", [450.0, 150.0, 100.0, 20.0]);
        world.set(volume, "AXValue", Value::Number(10.0));
        world.set(volume, "AXMinValue", Value::Number(0.0));
        world.set(volume, "AXMaxValue", Value::Number(100.0));
        world.node(volume).settable.insert("AXValue");

        world.node(send).pressed = Some(Arc::new(move |world| {
            let place = [130.0, 420.0, 90.0, 18.0];
            world.add(window, "AXStaticText", "Sending…", place);
            world.set(body, "AXValue", text(""));
        }));
        world.node(urgent).pressed = Some(Arc::new(move |world| {
            let on = world.value(urgent).contains("0.0");
            world.set(urgent, "AXValue", Value::Number(if on { 1.0 } else { 0.0 }));
        }));

        let root = world.app(EDITOR, "Editor", "/Applications/Editor.app".into());
        world.add(root, "AXWindow", "Notes", [700.0, 500.0, 500.0, 400.0]);
        world.bring_forward(EDITOR);
        drop(world);
        let journal =
            Journal::open(Some(&dir.path().join("journal")), Retention::default()).unwrap();
        let links = Links::new(
            Arc::new(MacPlatform::new(mac.clone())),
            journal.clone(),
            Policy::default(),
        );
        Self {
            mac,
            links,
            journal,
            dir,
            window,
            send,
            body,
            secret,
            urgent,
            volume,
        }
    }

    /// Changes the fake Mac.
    pub(crate) fn given<T>(&self, change: impl FnOnce(&mut World) -> T) -> T {
        change(&mut self.mac.world())
    }

    /// Changes the fake Mac after some milliseconds.
    pub(crate) fn later(&self, ms: u64, does: impl Fn(&mut World) + Send + Sync + 'static) {
        let due = Instant::now() + Duration::from_millis(ms);
        self.mac.world().later.push((due, Arc::new(does)));
    }

    pub(crate) fn run(&mut self, action: impl Into<Action>) -> Answer {
        self.run_on(MAIL, action)
    }

    pub(crate) fn run_on(&mut self, pid: u32, action: impl Into<Action>) -> Answer {
        self.links
            .run(&Call::new(pid, action.into()), &Cancel::new())
    }

    pub(crate) fn refresh(&mut self) -> String {
        let answer = self.run(Action::Refresh).ok();
        tree(&answer)
    }

    pub(crate) fn click(&mut self, target: Target, then: Typing) -> Answer {
        self.run(Action::click(target, then))
    }

    pub(crate) fn click_on(&mut self, text: &str, role: &str) -> Answer {
        self.click(Target::titled(text, role), Typing::default())
    }

    pub(crate) fn chain(&mut self, mut steps: Vec<Action>) -> Answer {
        let first = steps.remove(0);
        self.links
            .run(&Call::chain(MAIL, first, steps), &Cancel::new())
    }

    pub(crate) fn type_text(&mut self, text: &str) -> Answer {
        self.run(Action::type_text(Typing::text(text)))
    }

    pub(crate) fn press(&mut self, key: &str, modifiers: &[&str]) -> Answer {
        let press = KeyPress::parse(key, modifiers).unwrap();
        self.run(Action::press_key(press))
    }
}

pub(crate) fn displays(scale: f64) -> Vec<Display> {
    vec![
        Display {
            bounds: [0.0, 0.0, 1_440.0, 900.0],
            scale,
            main: true,
        },
        Display {
            bounds: [-1_920.0, -300.0, 1_920.0, 1_080.0],
            scale: 1.0,
            main: false,
        },
    ]
}

/// Adds a text field.
pub(crate) fn field(world: &mut World, parent: Id, role: &str, title: &str, at: [f64; 4]) -> Id {
    let id = world.add(parent, role, title, at);
    world.node(id).settable.insert("AXValue");
    id
}

/// A click on a button, for a chain.
pub(crate) fn clicks_on(button: &str) -> Action {
    Action::click(Target::titled(button, "AXButton"), Typing::default())
}

/// Reads the tree file of an answer.
pub(crate) fn tree(answer: &Answer) -> String {
    sheet::tree_of(answer).unwrap_or_else(|| panic!("no file: {}", answer.text))
}

pub(crate) fn line(answer: &Answer, name: &str) -> Option<String> {
    sheet::field(answer, name).map(str::to_owned)
}

/// The line of a tree that contains this text, without its indentation.
pub(crate) fn element<'t>(tree: &'t str, text: &str) -> &'t str {
    let found = tree
        .lines()
        .find(|l| l.starts_with(' ') && l.contains(text));
    found
        .unwrap_or_else(|| panic!("no '{text}' in\n{tree}"))
        .trim()
}

/// The ref in a tree line.
pub(crate) fn reference(line: &str) -> Ref {
    let line: Line = line.trim().parse().unwrap();
    line.reference.unwrap()
}

/// Creates an empty bundle in the folder of apps.
pub(crate) fn install(desk: &Desk, name: &str, start: fn(&mut World, PathBuf) -> u32) -> PathBuf {
    let path = desk.dir.path().join(format!("{name}.app"));
    std::fs::create_dir(&path).unwrap();
    desk.mac.world().installed.insert(path.clone(), start);
    path
}

/// The pid that has the keyboard.
pub(crate) fn front(desk: &Desk) -> Option<u32> {
    crate::front::pid(&desk.mac)
}
