//! `deskline selftest`: checks behaviour that Wine does not have. Opens windows of its own and a
//! few apps, tries the tools and the guard, judges by the windows' output, and prints one line for
//! each finding, to be sent back.

mod apps;
#[allow(unsafe_code)] // each call has a SAFETY comment
mod banner;
mod guard;
mod own;
mod test;
#[allow(unsafe_code)] // each call has a SAFETY comment
mod window;

use std::path::Path;
use std::process::Command;
use std::str::FromStr;
use std::sync::Arc;

use deskline_journal::Journal;
use deskline_link::selftest::{Report, Sheet};
use deskline_link::{Links, Policy};

use crate::display::WinDisplay;
use crate::display::windows::owner;
use crate::guard::Guard;
use crate::os::front;
use crate::platform::{self, WinPlatform};
use crate::{doctor, process};
use test::Test;

/// The checks that only the person can make.
const BY_HAND: [&str; 7] = [
    "Have your agent click in a program that runs as administrator: the error must say so.",
    "Lock the screen while your agent types, and say what it answers.",
    "With monitors of different scales, drag the test's window across their border, and have your \
     agent click in it.",
    "Minimise Calculator, and have your agent press a button in it.",
    "With a scale over 100 %, have your agent click in an old program that Windows stretches (its \
     text is blurred), and compare the picture with the window.",
    "Turn an input method on (Pinyin, or US International), and run this again.",
    "Connect by Remote Desktop, run this there, and once more after you disconnect.",
];

/// The role of a process in the test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Role {
    /// The test itself.
    #[default]
    Test,
    /// A window that prints the input that reaches it.
    Window,
    /// Closes the guard until it is killed.
    HoldGuard,
}

impl FromStr for Role {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "test" => Ok(Self::Test),
            "window" => Ok(Self::Window),
            "hold-guard" => Ok(Self::HoldGuard),
            _ => Err("test, window or hold-guard".into()),
        }
    }
}

/// Plays a role. `program` is this executable.
pub fn run(journal: Journal, role: Role, program: &Path, mut say: impl FnMut(&str)) -> Report {
    // Coordinates are physical pixels from here on.
    let platform = Arc::new(WinPlatform::new());
    match role {
        Role::Test => {}
        Role::Window => {
            window::run();
            return Report::default();
        }
        Role::HoldGuard => {
            guard::hold(&mut say);
            return Report::default();
        }
    }
    let at = journal.path().display().to_string();
    let links = Links::new(platform, journal, Policy::default());
    let front = || front().map_or_else(|| "no app".into(), |window| process::name(owner(window)));
    let mut test = Test {
        sheet: Sheet::new(links, system(), &mut say, front),
        display: WinDisplay::new(Guard::new(Box::new(platform::guard))),
        program,
    };
    test.sheet.say(&format!("journal: {at}"));
    for check in doctor::examine() {
        test.sheet.check(&check);
    }
    test.cloaked();
    test.own_windows();
    test.apps();
    for line in BY_HAND {
        test.sheet.say(&format!("By hand: {line}"));
    }
    test.sheet.end()
}

/// The version of Windows and the processor.
fn system() -> String {
    let said = Command::new("cmd").args(["/c", "ver"]).output();
    let said = said.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    let version = said.unwrap_or_else(|_| "Windows of an unknown version".into());
    format!("{version}, {}", std::env::consts::ARCH)
}
