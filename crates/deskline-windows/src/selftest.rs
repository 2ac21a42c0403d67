//! `deskline selftest`: checks behaviour of Windows that Wine does not have. Opens windows of its
//! own and a few apps, tries the tools and the guard, judges by the windows' output, and prints one
//! line for each finding, to be sent back.

mod apps;
#[allow(unsafe_code)] // each call has a SAFETY comment
mod guard;
mod own;
#[allow(unsafe_code)] // each call has a SAFETY comment
mod window;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use deskline_journal::Journal;
use deskline_link::selftest::{Report, Role, Sheet};

use crate::display::WinDisplay;
use crate::display::windows::owner;
use crate::guard::Guard;
use crate::os::front;
use crate::platform::{self, WinPlatform};
use crate::{doctor, facts, process};

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

/// How long an effect may take to show.
const SHOWS: Duration = Duration::from_secs(5);

/// The test in progress.
struct Test<'t> {
    sheet: Sheet<'t>,
    display: WinDisplay,
    program: &'t Path,
}

/// Plays a role. `program` is this executable.
pub fn run(journal: Journal, role: Role, program: &Path, mut say: impl FnMut(&str)) -> Report {
    // Coordinates are physical pixels from here on.
    let platform = Arc::new(WinPlatform::new());
    let mut display = WinDisplay::new(Guard::new(Box::new(platform::guard)));
    match role {
        Role::HoldGuard => deskline_link::selftest::guard::hold(&mut display.guard, &mut say),
        Role::Window => window::run(),
        Role::Test => return test(journal, program, &mut say, platform, display),
        // Roles that only macOS has.
        Role::Banner | Role::Ids(_) => {}
    }
    Report::default()
}

fn test(
    journal: Journal,
    program: &Path,
    say: &mut dyn FnMut(&str),
    platform: Arc<WinPlatform>,
    display: WinDisplay,
) -> Report {
    let front = || front().map_or_else(|| "no app".into(), |window| process::name(owner(window)));
    let mut test = Test {
        sheet: Sheet::new(platform, journal, facts::version(), say, front),
        display,
        program,
    };
    test.sheet.examined(&doctor::examine());
    test.cloaked();
    test.own_windows();
    test.apps();
    test.sheet.by_hand(&BY_HAND);
    test.sheet.end()
}
