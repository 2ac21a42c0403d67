//! The desktop for the stories: the person's editor in front, a form behind it.

use std::sync::Arc;

use deskline_contract::{Cancel, Desktop, Platform, Result};
use deskline_core::WindowId;
use deskline_journal::{Journal, Retention};
use deskline_link::call::Typing;
use deskline_link::{Action, Answer, Call, Links, Policy, Target};
use tempfile::TempDir;

use crate::desktop::WinDesktop;
use crate::tests::fake::{App, Fake, Guard, PID, raw, with};
use crate::tree::answers;
use crate::tree::uia::Patterns;

pub const EDITOR: u32 = 50;
pub const FORM: WindowId = WindowId(9);
pub const NOTES: WindowId = WindowId(20);

struct FakePlatform(Fake);

impl Platform for FakePlatform {
    fn connect(&self) -> Result<Box<dyn Desktop>> {
        let desktop = WinDesktop::new(self.0.clone(), Guard, None);
        Ok(Box::new(desktop))
    }

    fn ping(&self, pid: u32) -> Result<()> {
        answers(&self.0, pid)
    }
}

pub struct Desk {
    pub fake: Fake,
    pub links: Links,
    /// The elements of the form: the window, a button, a check box, a field.
    pub form: usize,
    pub send: usize,
    pub bold: usize,
    pub name: usize,
    _dir: TempDir,
}

impl Desk {
    pub fn new() -> Self {
        let fake = Fake::default();
        let form = fake.window(FORM.0, "Form", [100.0, 100.0, 400.0, 300.0]);
        let at = |y: f64| [120.0, y, 100.0, 24.0];
        let send = with(raw(50_000, "Send", at(140.0)), Patterns::INVOKE);
        let send = fake.add(form, send);
        let bold = with(raw(50_002, "Bold", at(180.0)), Patterns::TOGGLE);
        let bold = fake.add(form, bold);
        let mut name = with(raw(50_004, "Name", at(220.0)), Patterns::VALUE);
        name.focusable = true;
        let name = fake.add(form, name);
        fake.world().apps.insert(EDITOR, App::named("editor"));
        fake.window_of(EDITOR, NOTES.0, "Notes", [900.0, 500.0, 500.0, 400.0]);
        let dir = tempfile::tempdir().unwrap();
        let at = dir.path().join("journal");
        let journal = Journal::open(Some(&at), Retention::default()).unwrap();
        let platform = Arc::new(FakePlatform(fake.clone()));
        Self {
            links: Links::new(platform, journal, Policy::default()),
            fake,
            form,
            send,
            bold,
            name,
            _dir: dir,
        }
    }

    pub fn run(&mut self, pid: u32, action: Action) -> Answer {
        self.links.run(&Call::new(pid, action), &Cancel::new())
    }

    pub fn refresh(&mut self, pid: u32) -> Answer {
        self.run(pid, Action::Refresh)
    }

    pub fn click(&mut self, pid: u32, target: Target) -> Answer {
        let action = Action::click(target, Typing::default());
        self.run(pid, action)
    }

    pub fn click_on(&mut self, text: &str) -> Answer {
        self.click(PID, Target::text(text))
    }

    pub fn press_on(&mut self, target: Target) -> Answer {
        let action = Action::press_ax(target);
        self.run(PID, action)
    }

    pub fn type_text(&mut self, text: &str) -> Answer {
        let typing = Typing::text(text);
        self.run(PID, Action::type_text(typing))
    }

    pub fn is_bold(&self) -> bool {
        self.fake.raw(self.bold).toggle == 1
    }

    pub fn front(&self) -> Option<WindowId> {
        self.fake.world().front
    }
}

/// Reads the tree file of an answer.
pub fn tree(answer: &Answer) -> String {
    let mut lines = answer.text.lines();
    let file = lines.find_map(|line| line.strip_prefix("file: "));
    std::fs::read_to_string(file.unwrap_or_else(|| panic!("no file: {}", answer.text))).unwrap()
}
