//! Checks the guarantees of the guard. The test acts as the person: it posts events without the
//! tag.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use deskline_contract::Cancel;
use deskline_contract::Reason;
use deskline_contract::guard::{Grab, LIMIT};
use deskline_link::selftest::{guarded, judge, reached, within};

use super::test::Test;
use crate::guard::Guard;
use crate::keys::ESCAPE;
use crate::os::{Event, Os, TAG, Value};

/// How long an event may take to pass through the `WindowServer` to a tap or an app.
const ARRIVES: Duration = Duration::from_millis(500);

/// A key that gives a letter in every layout (`kVK_ANSI_X`).
const LETTER: u16 = 7;

/// The time limit of the guard in the check that it opens by itself.
const SHORT: Duration = Duration::from_secs(1);

/// Presses and releases a key as the person (no tag) or as this program.
fn press<O: Os>(os: &O, code: u16, tag: i64) -> Result<(), String> {
    for down in [true, false] {
        os.post(
            &Event::Key {
                code,
                down,
                flags: 0,
            },
            tag,
        )?;
    }
    Ok(())
}

/// The length of the focused text in an app.
pub(super) fn length<O: Os>(os: &O, pid: u32) -> Result<usize, String> {
    let Some(focused) = os.element(&os.application(pid), "AXFocusedUIElement") else {
        return Err("nothing has the keyboard".into());
    };
    let value = os.attribute(&focused, "AXValue");
    match value.map_err(|e| e.to_string())? {
        Value::Text { units, .. } => Ok(units),
        _ => Err("what has the keyboard has no text".into()),
    }
}

/// Whether a key reaches the app, judged by the app's own text.
fn passes<O: Os>(os: &O, pid: u32, tag: i64) -> Result<bool, String> {
    let before = length(os, pid)?;
    press(os, LETTER, tag)?;
    let changed = || match length(os, pid) {
        Ok(now) => (now != before).then_some(Ok(true)),
        Err(why) => Some(Err(why)),
    };
    within(ARRIVES, changed).unwrap_or(Ok(false))
}

/// Keeps the guard closed until the process is killed.
pub(super) fn hold<O: Os>(os: &O, say: &mut dyn FnMut(&str)) {
    let mut guard = Guard::new(os.clone());
    let cancel = Cancel::new();
    match guard.grab(&guarded(None, LIMIT), &cancel) {
        Grab::Held | Grab::Partly(_) => say("held"),
        Grab::Unable(why) | Grab::NotYet(why) => say(&why),
    }
    // The role ends by the test's SIGKILL, by Esc, at the time limit, or when the guard may not
    // stay closed any more.
    let start = Instant::now();
    let _ = cancel.wait(LIMIT);
    let (reason, ms) = (cancel.reason(), start.elapsed().as_millis());
    say(&format!("let go after {ms} ms: {reason:?}"));
}

impl<O: Os> Test<'_, O> {
    pub(super) fn guard(&mut self, pid: u32) {
        let os = self.os.clone();
        let mut guard = Guard::new(os.clone());
        let cancel = Cancel::new();
        if let Grab::Unable(why) | Grab::NotYet(why) = guard.grab(&guarded(None, LIMIT), &cancel) {
            self.note("guard", Err(why));
            return;
        }
        self.note(
            "guard: the person's key",
            reached(passes(&os, pid, 0), false),
        );
        self.note("guard: our own key", reached(passes(&os, pid, TAG), true));
        let own = press(&os, ESCAPE, TAG).and(cancel.wait(ARRIVES).map_err(|e| e.to_string()));
        self.note("guard: our own Esc", own.map(|()| "does not cancel".into()));
        let theirs = press(&os, ESCAPE, 0);
        let _ = cancel.wait(ARRIVES);
        let reason = cancel.reason();
        let esc = theirs.and(judge(reason == Some(Reason::Person), format!("{reason:?}")));
        self.note("guard: the person's Esc", esc);
        guard.ungrab();
        self.note("guard: let in", reached(passes(&os, pid, 0), true));
        guard.end();

        let cancel = Cancel::new();
        let start = Instant::now();
        let kept = guard.grab(&guarded(None, SHORT), &cancel);
        let _ = cancel.wait(SHORT * 2);
        let reason = cancel.reason();
        let took = start.elapsed().as_millis();
        let opens = kept == Grab::Held && reason == Some(Reason::Watchdog);
        self.note(
            "guard: its limit",
            judge(opens, format!("{reason:?} after {took} ms")),
        );
        self.note("guard: after its limit", reached(passes(&os, pid, 0), true));
        guard.end();
        self.killed(pid);
    }

    /// When a process that has closed the guard is killed, the person's input passes again.
    fn killed(&mut self, pid: u32) {
        let Some(program) = self.program else { return };
        let os = self.os.clone();
        let holder = Command::new(program)
            .args(["selftest", "--role", "hold-guard"])
            .stdout(Stdio::piped())
            .spawn();
        let mut holder = match holder {
            Ok(holder) => holder,
            Err(e) => return self.note("guard: SIGKILL", Err(e.to_string())),
        };
        let mut line = String::new();
        if let Some(out) = holder.stdout.take() {
            let _ = std::io::BufRead::read_line(&mut std::io::BufReader::new(out), &mut line);
        }
        let held = line.trim() == "held" && passes(&os, pid, 0) == Ok(false);
        let killed = holder.kill().and_then(|()| holder.wait());
        let opened = passes(&os, pid, 0) == Ok(true);
        let seen = format!("held: {held}, killed: {}, opened: {opened}", killed.is_ok());
        self.note("guard: SIGKILL", judge(held && opened, seen));
    }
}
