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
use std::str::FromStr;
use std::sync::Arc;

use deskline_contract::Cancel;
use deskline_journal::Journal;
pub use deskline_link::selftest::Report;
use deskline_link::selftest::Sheet;
use deskline_link::{Links, Policy};

use crate::doctor;
use crate::os::{Os, name_of};
use crate::permissions::Holder;
use crate::platform::MacPlatform;
use crate::{activate, front, windows};
use test::{Test, system};

/// The role of a process in the test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Role {
    /// The test itself.
    #[default]
    Test,
    /// Closes the guard until it is killed.
    HoldGuard,
    /// Shows the guard's banner until the system asks it to quit.
    Banner,
    /// Prints the ids of an app's elements.
    Ids(u32),
}

impl FromStr for Role {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            None if text == "test" => Ok(Self::Test),
            None if text == "hold-guard" => Ok(Self::HoldGuard),
            None if text == "banner" => Ok(Self::Banner),
            Some(("ids", pid)) => pid.parse().map(Self::Ids).map_err(|_| "no pid".into()),
            _ => Err("test, hold-guard, banner or ids=PID".into()),
        }
    }
}

/// The name of the finding about the process whose permission applies.
const PERMISSION: &str = "permission under the launching app";

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
        Role::HoldGuard => {
            guard::hold(os, say);
            return Report::default();
        }
        Role::Banner => {
            lasting::banner(os, say);
            return Report::default();
        }
        Role::Ids(pid) => {
            for id in tools::ids(os, pid) {
                say(&id);
            }
            return Report::default();
        }
        Role::Test => {}
    }
    let platform = Arc::new(MacPlatform::new(os.clone()));
    let links = Links::new(platform, journal.clone(), Policy::default());
    let front = || {
        let name = front::pid(os).and_then(|pid| name_of(os, pid));
        name.unwrap_or_else(|| "no app".into())
    };
    let mut test = Test {
        os,
        sheet: Sheet::new(links, system(), say, front),
        journal,
        program,
        before: os.apps().into_iter().map(|app| app.pid).collect(),
        started: Vec::new(),
    };
    test.run();
    test.sheet.end()
}

impl<O: Os> Test<'_, O> {
    fn run(&mut self) {
        let journal = self.journal.path().display().to_string();
        self.say(&format!("journal: {journal}"));
        for check in doctor::examine(self.os, std::process::id()) {
            self.check(&check);
        }
        if !self.os.trusted() {
            self.os.ask_for_trust();
            self.say("Allow Accessibility as said above, then run this again.");
            return;
        }
        let front = windows::front(self.os);
        self.permission(front.as_ref().and_then(|window| window.pid));
        if let Some(editor) = self.tools() {
            // Bring it to the front for the guard's checks, which send keys without a link. A link
            // would restore the old front window.
            let window = windows::of_app(self.os, editor).first().map(|(w, _)| w.id);
            if let Some(window) = window {
                let _ = activate::window(self.os, window, None, &Cancel::new());
            }
            self.guard(editor);
            self.hard_texts(editor);
            self.moving_mouse(editor);
            self.first_hour(editor);
            self.many_links(editor);
        }
        self.quits();
        self.windowless();
        self.context_menu();
        self.terminal();
        self.same_ids_again();
        self.chromium();
        self.close_all();
        if let Some(front) = front {
            let _ = activate::window(self.os, front.id, None, &Cancel::new());
        }
    }

    /// Finds the process whose permission applies, judged by whether the front app answers: with a
    /// stale grant the system reports the process as trusted, but refuses its calls.
    fn permission(&mut self, front: Option<u32>) {
        let holder = Holder::of(self.os, std::process::id());
        let Some(pid) = front else {
            return self.note(PERMISSION, Ok("skipped: no app is in front".into()));
        };
        let app = self.os.application(pid);
        let answer = match self.os.attributes(&app, &["AXRole"]) {
            Ok(_) => Ok("answers"),
            Err(e) => Err(e.to_string()),
        };
        let (name, path) = (&holder.name, holder.path.display());
        let seen = |how: &str| format!("of {name} ({path}): pid {pid} {how}");
        self.note(
            PERMISSION,
            match answer {
                Ok(how) => Ok(seen(how)),
                Err(e) => Err(seen(&format!("does not answer: {e}"))),
            },
        );
    }
}
