//! Checks that many links leave little behind, and that this program ends with the session like an
//! app.

use std::time::Duration;

use deskline_core::Rect;
use deskline_link::selftest::guard::CAPTION;
use deskline_link::selftest::{Found, Helper, judge, skip};

use super::effects::{SHOWS, until};
use super::test::Test;
use crate::os::Os;
use crate::panels;

/// How many guarded links are made on a Mac, and on a fake.
const LINKS: (usize, usize) = (500, 5);

/// The maximum number of windows and kilobytes of memory that they may leave.
const LEFT: (usize, usize) = (1, 30_000);

/// How long the process shows its banner before it is asked to quit.
const BANNER: Duration = Duration::from_secs(10);

/// Shows the guard's banner until the process is asked to quit.
pub(super) fn banner<O: Os>(os: &O, say: &mut dyn FnMut(&str)) {
    let place = Rect::at(200, 300, 100, 20);
    let shown = panels::panels(&os.displays(), Some(place), CAPTION, false);
    os.overlay(&shown);
    say("shown");
    deskline_contract::wait::pause(BANNER);
}

impl<O: Os> Test<'_, O> {
    /// This process's windows, and its memory in kilobytes.
    fn own(&self) -> (usize, Option<usize>) {
        let own = std::process::id();
        let windows = self.os.all_windows();
        let windows = windows.iter().filter(|w| w.pid == own).count();
        let pid = own.to_string();
        let resident = self.os.tool("/bin/ps", &["-o", "rss=", "-p", &pid]);
        (windows, resident.and_then(|kb| kb.trim().parse().ok()))
    }

    /// Links with guard and banner, each of one arrow key.
    pub(super) fn many_links(&mut self, pid: u32) -> Found {
        let links = self.program.map_or(LINKS.1, |_| LINKS.0);
        // The first links create what remains for good.
        for _ in 0..links / 5 {
            self.press(pid, "Right", &[]);
        }
        let (windows, memory) = self.own();
        let failed = (0..links).filter(|_| self.press(pid, "Right", &[]).is_error);
        let failed = failed.count();
        let now = self.own();
        let grown = memory.zip(now.1).is_some_and(|(was, is)| is > was + LEFT.1);
        let seen = format!(
            "windows {windows} → {}, memory {memory:?} → {:?} kB, {failed} failed",
            now.0, now.1
        );
        judge(now.0 <= windows + LEFT.0 && !grown && failed == 0, seen)
    }

    /// A process with a banner is an app, and ends when it is asked to, as at a logout.
    pub(super) fn quits(&mut self) -> Found {
        let program = self
            .program
            .ok_or_else(|| skip("there is no program to start"))?;
        let mut banner = Helper::role(program, "banner")?;
        let shown = banner.hears("shown", BANNER).is_some();
        let asked = self.os.quit(banner.pid);
        let ended = until(SHOWS, || banner.has_ended());
        let seen = format!("shown: {shown}, asked: {asked}, ended: {ended}");
        judge(shown && asked && ended, seen)
    }
}
