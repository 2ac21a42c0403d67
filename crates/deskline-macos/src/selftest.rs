//! `deskline selftest`: checks behaviour that only a real Mac can show. Opens `TextEdit` and
//! Calculator, tries each tool and each guarantee of the guard, and prints one line for each
//! finding, to be sent back.

mod effects;
mod first_hour;
mod guard;
mod lasting;
mod ordinary;
mod test;
mod tools;

use std::path::Path;
use std::sync::Arc;

use deskline_contract::Cancel;
use deskline_journal::Journal;
use deskline_link::selftest::{Found, Report, Role, Sheet, guard as guards, skip};

use crate::os::{Os, name_of};
use crate::permissions::Holder;
use crate::platform::MacPlatform;
use crate::{MacDesktop, activate, doctor, facts, front, windows};
use first_hour::BY_HAND;
use guard::Keys;
use test::Test;

/// Apps that contain Chromium, by their names in the Applications folder.
const CHROMIUM: [&str; 4] = [
    "Google Chrome",
    "Microsoft Edge",
    "Brave Browser",
    "Chromium",
];
const ELECTRON: [&str; 4] = ["Visual Studio Code", "Slack", "Discord", "Claude"];

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
        Role::Banner => lasting::banner(os, say),
        Role::Ids(pid) => tools::ids(os, pid).iter().for_each(|id| say(id)),
        Role::Test => return test(os, journal, program, say),
        // That of Windows.
        Role::Window => {}
    }
    Report::default()
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
        self.row("an app without windows", Self::windowless);
        self.row("a context menu in Finder", Self::context_menu);
        self.row("a terminal's last line", Self::terminal);
        for app in ["System Settings", "Maps"] {
            self.row(&format!("ids of {app}, twice"), |test| {
                test.same_ids_again(app)
            });
        }
        self.row("a page of Chromium", |test| test.chromium(&CHROMIUM));
        self.row("a page of Electron", |test| test.chromium(&ELECTRON));
        self.row("closing what was opened", Self::close_all);
        if let Some(front) = front {
            let _ = activate::window(self.os, front.id, None, &Cancel::new());
        }
    }

    /// What `TextEdit` is needed for, and Calculator.
    fn on_editor(&mut self, editor: u32) {
        self.editor(editor);
        if let Some(calculator) = self.open("Calculator") {
            self.calculator(calculator);
            self.restored(editor);
            self.row("50 clicks", |test| test.count_clicks(calculator));
            self.row("menu bar", |test| test.menu_bar(editor));
            self.row("front app beside AXFrontmost", |test| {
                test.fronts(editor, calculator)
            });
            self.row("a rear window", |test| test.rear_window(editor, calculator));
            self.row("another Space", |test| {
                test.another_space(editor, calculator)
            });
        }
        self.row("ids in a second process", |test| test.same_ids(editor));
        self.row("list_applications", Self::listed);
        // In front for the guard's checks, which send keys without a link. A link would restore the
        // old front window.
        self.show(editor);
        let (os, desktop) = (self.os.clone(), MacDesktop::new(self.os.clone()));
        let mut keys = Keys {
            os,
            desktop,
            pid: editor,
            had: 0,
        };
        guards::check(&mut self.sheet, &mut keys, self.program);
        self.hard_texts(editor);
        self.row("the pointer, though the mouse moved", |test| {
            test.moving_mouse(editor)
        });
        self.ways();
        self.lists(editor);
        self.row("under a floating panel", |test| test.under_a_panel(editor));
        self.menu_and_popover(editor);
        self.row("time of a picture", |test| test.picture_times(editor));
        self.by_hand(&BY_HAND);
        self.row("500 links", |test| test.many_links(editor));
    }

    /// Finds the process whose permission applies, judged by whether the front app answers: with a
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
