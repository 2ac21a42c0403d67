//! Checks behaviour that only a real Mac can show. Opens `TextEdit` and
//! Calculator, tries each tool and each guarantee of the guard, and prints one line per finding,
//! for the person to send to the developers.

mod apps;
mod effects;
mod guard;
pub mod tools;

use std::collections::HashSet;
use std::ops::{Deref, DerefMut};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use deskline_core::Rect;
use deskline_journal::Journal;
use deskline_link::{Cancel, Desktop, Platform, Shown};
use deskline_macos::os::Os;
use deskline_macos::{MacDesktop, MacPlatform, doctor};

use super::guard::{self as guards, CAPTION};
use super::sheet::{self, Found, Report, Sheet, skip};
use guard::Keys;

/// Apps that contain Chromium, by their names in the Applications folder.
const CHROMIUM: [&str; 4] = [
    "Google Chrome",
    "Microsoft Edge",
    "Brave Browser",
    "Chromium",
];
const ELECTRON: [&str; 4] = ["Visual Studio Code", "Slack", "Discord", "Claude"];

/// The longest time that the role `banner` shows its banner. The test asks the process to quit
/// earlier.
const BANNER: Duration = Duration::from_secs(10);

/// The checks that only the person can make.
const BY_HAND: [&str; 10] = [
    "Have your agent list the running applications, from each client that you use (Claude Desktop \
     above all), and say which app an error names.",
    "Run `deskline-selftest --role hold-guard` in a terminal, turn that terminal off under \
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
struct Test<'t, 's, O: Os> {
    os: &'t O,
    sheet: &'t mut Sheet<'s>,
    /// This executable, for starting the other roles.
    program: Option<&'t Path>,
    /// The pids of the apps that ran before the test.
    before: HashSet<u32>,
    /// The apps that the test has opened.
    started: Vec<(u32, String)>,
}

impl<'s, O: Os> Deref for Test<'_, 's, O> {
    type Target = Sheet<'s>;

    fn deref(&self) -> &Self::Target {
        self.sheet
    }
}

impl<O: Os> DerefMut for Test<'_, '_, O> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        self.sheet
    }
}

/// Runs the test. `program` is this executable; if `None`, the checks that need a second process
/// are skipped.
pub fn test<O: Os>(
    os: &O,
    journal: Journal,
    program: Option<&Path>,
    say: &mut dyn FnMut(&str),
) -> Report {
    let platform: Arc<dyn Platform> = Arc::new(MacPlatform::new(os.clone()));
    let examined = doctor::examine(os, std::process::id());
    sheet::run(&platform, journal, &examined, &BY_HAND, say, |sheet| {
        let mut test = Test {
            os,
            sheet,
            program,
            before: os.apps().into_iter().map(|app| app.pid).collect(),
            started: Vec::new(),
        };
        test.run();
    })
}

/// Shows the guard's banner until the process is asked to quit, for at most [`BANNER`].
pub fn banner(desktop: &mut dyn Desktop, say: &mut dyn FnMut(&str)) {
    say("shown");
    let shown = Shown {
        place: Some(Rect::at(200, 300, 100, 20)),
        caption: CAPTION,
        time: BANNER,
    };
    if let Ok(overlay) = desktop.overlay() {
        let _ = overlay.show(shown, &Cancel::new());
    }
}

impl<O: Os> Test<'_, '_, O> {
    fn row(&mut self, name: &str, check: impl FnOnce(&mut Self) -> Found) {
        let found = check(self);
        self.note(name, found);
    }

    fn run(&mut self) {
        let front = self.desktop().and_then(|desktop| Ok(desktop.front()?));
        let front = front.ok().flatten();
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
            let _ = self.raise(&front);
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
        let mut keys = Keys {
            os: self.os.clone(),
            desktop: MacDesktop::new(self.os.clone()),
            pid: editor,
            had: 0,
        };
        guards::check(self.sheet, &mut keys, self.program);
        self.row("600 characters, though the mouse moved", |test| {
            test.hard_text(editor)
        });
        self.row("under a floating panel", |test| test.under_a_panel(editor));
        self.row("a menu in the picture", |test| test.context_menu(editor));
        self.row("500 links", |test| test.many_links(editor));
    }

    /// Checks that the front app answers: with a stale grant the system reports the process as
    /// trusted, but refuses its calls. The doctor has named the process whose permission applies.
    fn permission(&mut self, front: Option<u32>) -> Found {
        let pid = front.ok_or_else(|| skip("no app is in front"))?;
        match self.os.attributes(&self.os.application(pid), &["AXRole"]) {
            Ok(_) => Ok(format!("pid {pid} answers")),
            Err(e) => Err(format!("pid {pid} does not answer: {e}").into()),
        }
    }
}
