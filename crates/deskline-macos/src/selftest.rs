//! `deskline selftest`: checks behaviour that only a real Mac can show. Opens `TextEdit` and
//! Calculator, tries each tool and each guarantee of the guard, and prints one line per finding,
//! for the person to send to the developers.

mod apps;
mod effects;
mod guard;
mod tools;

use std::collections::HashSet;
use std::ops::{Deref, DerefMut};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use deskline_contract::{Cancel, Scope};
use deskline_core::Rect;
use deskline_journal::Journal;
use deskline_link::selftest::guard::{self as guards, CAPTION};
use deskline_link::selftest::{Found, Report, Role, Sheet, skip};

use crate::ax::identity::Identities;
use crate::ax::tree;
use crate::os::{Os, name_of};
use crate::permissions::Holder;
use crate::platform::MacPlatform;
use crate::{MacDesktop, activate, doctor, facts, front, panels, windows};
use guard::Keys;

/// Apps that contain Chromium, by their names in the Applications folder.
const CHROMIUM: [&str; 4] = [
    "Google Chrome",
    "Microsoft Edge",
    "Brave Browser",
    "Chromium",
];
const ELECTRON: [&str; 4] = ["Visual Studio Code", "Slack", "Discord", "Claude"];

/// The longest time that [`Role::Banner`] shows its banner. The test asks the process to quit
/// earlier.
const BANNER: Duration = Duration::from_secs(10);

/// The checks that only the person can make.
const BY_HAND: [&str; 10] = [
    "Have your agent list the running applications, from each client that you use (Claude Desktop \
     above all), and say which app an error names.",
    "Run `deskline selftest --role hold-guard` in a terminal, turn that terminal off under \
     Accessibility within 30 s, and send what it prints: after how long mouse and keys worked again.",
    "Turn Stage Manager on (Control Center), and run this again.",
    "Turn an input method on (Pinyin, or US International for its dead keys), and run this again.",
    "Turn on Secure Keyboard Entry in Terminal, and run this from there.",
    "Open System Settings › Privacy & Security, and have your agent call refresh_traversal on it: \
     it must be refused.",
    "Open two windows of Firefox and another app before them, and have your agent click and type in \
     the rear one.",
    "Have your agent type `it's \"x\" ^` and 600 characters into Chrome and Zed.",
    "Update Deskline by the way that you installed it, run `deskline install CLIENT` again, and \
     say whether the permission is still there.",
    "Run `leaks` and `footprint` on a server (deskline serve) that has made some hundred links.",
];

/// The test in progress, with its sheet of findings.
struct Test<'t, O: Os> {
    os: &'t O,
    sheet: Sheet<'t>,
    /// This executable, for starting the other roles.
    program: Option<&'t Path>,
    /// The pids of the apps that ran before the test.
    before: HashSet<u32>,
    /// The apps that the test has opened.
    started: Vec<(u32, String)>,
}

impl<'t, O: Os> Deref for Test<'t, O> {
    type Target = Sheet<'t>;

    fn deref(&self) -> &Self::Target {
        &self.sheet
    }
}

impl<O: Os> DerefMut for Test<'_, O> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.sheet
    }
}

/// Runs a role. `program` is this executable; if `None`, the checks that need a second process are
/// skipped.
pub fn run<O: Os>(
    os: &O,
    journal: Journal,
    role: Role,
    program: Option<&Path>,
    mut say: impl FnMut(&str),
) -> Report {
    let say: &mut dyn FnMut(&str) = &mut say;
    match role {
        Role::HoldGuard => guards::hold(&mut MacDesktop::new(os.clone()), say),
        Role::Banner => banner(os, say),
        Role::Ids(pid) => ids(os, pid).iter().for_each(|id| say(id)),
        Role::Test => return test(os, journal, program, say),
        // Only the self-test on Windows has this role.
        Role::Window => {}
    }
    Report::default()
}

/// Shows the guard's banner until the process is asked to quit, for at most [`BANNER`].
fn banner<O: Os>(os: &O, say: &mut dyn FnMut(&str)) {
    let place = Rect::at(200, 300, 100, 20);
    let shown = panels::panels(&os.displays(), Some(place), CAPTION, false);
    os.overlay(&shown);
    say("shown");
    deskline_contract::wait::pause(BANNER);
}

/// The ids of an app's visible elements.
fn ids<O: Os>(os: &O, pid: u32) -> Vec<String> {
    let known = tree::Known {
        last: None,
        menus: Vec::new(),
    };
    let read = tree::read(os, &mut Identities::default(), pid, Scope::Showing, known);
    let elements = read.map(|read| read.tree.elements).unwrap_or_default();
    elements.iter().map(|e| e.id.as_str().to_owned()).collect()
}

fn test<O: Os>(
    os: &O,
    journal: Journal,
    program: Option<&Path>,
    say: &mut dyn FnMut(&str),
) -> Report {
    let platform = Arc::new(MacPlatform::new(os.clone()));
    let front = || {
        let name = front::pid(os).and_then(|pid| name_of(os, pid));
        name.unwrap_or_else(|| "no app".into())
    };
    let mut test = Test {
        os,
        sheet: Sheet::new(platform, journal, facts::system(os), say, front),
        program,
        before: os.apps().into_iter().map(|app| app.pid).collect(),
        started: Vec::new(),
    };
    test.run();
    test.sheet.end()
}

impl<O: Os> Test<'_, O> {
    fn row(&mut self, name: &str, check: impl FnOnce(&mut Self) -> Found) {
        let found = check(self);
        self.note(name, found);
    }

    fn run(&mut self) {
        let checks = doctor::examine(self.os, std::process::id());
        self.examined(&checks);
        if !self.os.trusted() {
            self.os.ask_for_trust();
            self.say("Allow Accessibility as said above, then run this again.");
            return;
        }
        let front = windows::front(self.os);
        let pid = front.as_ref().and_then(|window| window.pid);
        self.row("permission under the launching app", |test| {
            test.permission(pid)
        });
        if let Some(editor) = self.open("TextEdit") {
            self.on_editor(editor);
        }
        self.row("a request to quit", Self::quits);
        self.row("a page of Chromium", |test| test.chromium(&CHROMIUM));
        self.row("a page of Electron", |test| test.chromium(&ELECTRON));
        self.row("closing what was opened", Self::close_all);
        if let Some(front) = front {
            let _ = activate::window(self.os, front.id, None, &Cancel::new());
        }
    }

    /// The checks that need `TextEdit`, some of them with Calculator.
    fn on_editor(&mut self, editor: u32) {
        self.editor(editor);
        if let Some(calculator) = self.open("Calculator") {
            self.calculator(calculator);
            self.restored(editor);
            self.row("50 clicks", |test| test.count_clicks(calculator));
            self.row("menu bar", |test| test.menu_bar(editor));
            self.row("a rear window", |test| test.rear_window(editor, calculator));
            self.row("another Space", |test| {
                test.another_space(editor, calculator)
            });
        }
        self.row("ids in a second process", |test| test.same_ids(editor));
        self.row("list_applications", Self::listed);
        // The guard's checks send keys without a link, so the editor must be in front. `show` uses
        // no link either: a link would restore the old front window.
        self.show(editor);
        let (os, desktop) = (self.os.clone(), MacDesktop::new(self.os.clone()));
        let mut keys = Keys {
            os,
            desktop,
            pid: editor,
            had: 0,
        };
        guards::check(&mut self.sheet, &mut keys, self.program);
        self.row("600 characters, though the mouse moved", |test| {
            test.hard_text(editor)
        });
        self.row("under a floating panel", |test| test.under_a_panel(editor));
        self.row("a menu in the picture", |test| test.context_menu(editor));
        self.by_hand(&BY_HAND);
        self.row("500 links", |test| test.many_links(editor));
    }

    /// Names the process whose permission applies, and checks that the front app answers: with a
    /// stale grant the system reports the process as trusted, but refuses its calls.
    fn permission(&mut self, front: Option<u32>) -> Found {
        let Holder { name, path, .. } = Holder::of(self.os, std::process::id());
        let pid = front.ok_or_else(|| skip("no app is in front"))?;
        let answer = self.os.attributes(&self.os.application(pid), &["AXRole"]);
        let of = format!("of {name} ({}): pid {pid}", path.display());
        match answer {
            Ok(_) => Ok(format!("{of} answers")),
            Err(e) => Err(format!("{of} does not answer: {e}").into()),
        }
    }
}
