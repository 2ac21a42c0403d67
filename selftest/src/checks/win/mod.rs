//! Checks behaviour of Windows that Wine does not have. Opens windows of its
//! own and a few apps, tries the tools and the guard, judges by the windows' output, and prints one
//! line for each finding, to be sent back.

#[allow(unsafe_code)] // each call has a SAFETY comment
mod apps;
#[allow(unsafe_code)] // each call has a SAFETY comment
mod guard;
mod own;
#[allow(unsafe_code)] // each call has a SAFETY comment
pub mod window;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use deskline_journal::Journal;
use deskline_link::{Action, Call, Cancel, Links, Platform, Policy};
use deskline_windows::{WinPlatform, doctor};

use super::sheet::{self, Report, Sheet, tree_of};

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
struct Test<'t, 's> {
    sheet: &'t mut Sheet<'s>,
    program: &'t Path,
}

/// Runs the test. `program` is this executable.
pub fn test(journal: Journal, program: &Path, say: &mut dyn FnMut(&str)) -> Report {
    // Coordinates are physical pixels from here on.
    let platform: Arc<dyn Platform> = Arc::new(WinPlatform::new());
    sheet::run(
        &platform,
        journal,
        &doctor::examine(),
        &BY_HAND,
        say,
        |sheet| {
            let mut test = Test { sheet, program };
            test.cloaked();
            test.own_windows();
            test.apps();
        },
    )
}

/// Opens Character Map, and prints its tree.
pub fn open_private(platform: Arc<dyn Platform>, journal: Journal, say: &mut dyn FnMut(&str)) {
    let mut links = Links::new(platform, journal, Policy::default());
    let answer = links.run(&Call::new(None, Action::open("charmap")), &Cancel::new());
    say(&tree_of(&answer).unwrap_or(answer.text));
}
