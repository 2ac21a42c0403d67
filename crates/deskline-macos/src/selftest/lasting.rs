//! Checks that many links leave little behind, and that this program ends with the session like an
//! app.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

use deskline_core::Rect;
use deskline_link::selftest::judge;

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
    let caption = "AI: testing itself — press Esc to cancel";
    let shown = panels::panels(&os.displays(), Some(place), caption, false);
    os.overlay(&shown);
    say("shown");
    deskline_contract::wait::pause(BANNER);
}

impl<O: Os> Test<'_, O> {
    /// This process's windows, and its memory in kilobytes.
    fn own(&self) -> (usize, Option<usize>) {
        let own = std::process::id();
        let windows = self
            .os
            .all_windows()
            .iter()
            .filter(|w| w.pid == own)
            .count();
        let pid = own.to_string();
        let resident = self.os.tool("/bin/ps", &["-o", "rss=", "-p", &pid]);
        (windows, resident.and_then(|kb| kb.trim().parse().ok()))
    }

    /// Links with guard and banner, each of one arrow key.
    pub(super) fn many_links(&mut self, pid: u32) {
        let links = self.program.map_or(LINKS.1, |_| LINKS.0);
        // The first links create what remains for good.
        for _ in 0..links / 5 {
            self.press(pid, "Right", &[]);
        }
        let before = self.own();
        let failed = (0..links).filter(|_| self.press(pid, "Right", &[]).is_error);
        let failed = failed.count();
        let now = self.own();
        let windows = now.0 <= before.0 + LEFT.0;
        let memory = before
            .1
            .zip(now.1)
            .is_none_or(|(was, is)| is <= was + LEFT.1);
        let seen = format!(
            "windows {} → {}, memory {:?} → {:?} kB, {failed} failed",
            before.0, now.0, before.1, now.1
        );
        self.note("500 links", judge(windows && memory && failed == 0, seen));
    }

    /// A process with a banner is an app, and ends when it is asked to, as at a logout.
    pub(super) fn quits(&mut self) {
        const NAME: &str = "a request to quit";
        let Some(program) = self.program else { return };
        let started = Command::new(program)
            .args(["selftest", "--role", "banner"])
            .stdout(Stdio::piped())
            .spawn();
        let mut banner = match started {
            Ok(banner) => banner,
            Err(e) => return self.note(NAME, Err(e.to_string())),
        };
        let mut line = String::new();
        if let Some(out) = banner.stdout.take() {
            let _ = BufReader::new(out).read_line(&mut line);
        }
        let asked = self.os.quit(banner.id());
        let ended = until(SHOWS, || matches!(banner.try_wait(), Ok(Some(_))));
        let _ = banner.kill();
        let _ = banner.wait();
        let shown = line.trim() == "shown";
        let seen = format!("shown: {shown}, asked: {asked}, ended: {ended}");
        self.note(NAME, judge(shown && asked && ended, seen));
    }
}
