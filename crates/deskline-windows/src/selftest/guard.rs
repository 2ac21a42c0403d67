//! Checks the guarantees of the guard. The test acts as the person: its events have no mark.

use std::time::{Duration, Instant};

use deskline_contract::guard::{Grab, Guards as _, LIMIT, Task};
use deskline_contract::{Cancel, KeyInput as _, Reason, Window};
use deskline_core::{KeyPress, Rect};
use deskline_link::selftest::{Found, guarded, judge, reached, within};

use super::banner;
use super::own::Own;
use super::test::{SHOWS, Test};
use crate::display::WinDisplay;
use crate::guard::Guard;
use crate::input::keys::ESCAPE;
use crate::input::send;
use crate::platform;

/// How long to wait for what should not happen.
const NOTHING: Duration = Duration::from_millis(500);

/// The limit in the check that the guard opens by itself.
const SHORT: Duration = Duration::from_secs(1);

/// How many keys the person presses on a busy machine. Windows removes a hook that answers late.
const KEYS: usize = 40;

const LETTER: u16 = 0x58;

fn task(limit: Duration) -> Task {
    guarded(Some(Rect::at(300, 300, 10, 10)), limit)
}

/// Closes the guard until this process is killed.
pub(super) fn hold(say: &mut dyn FnMut(&str)) {
    let mut display = WinDisplay::new(Guard::new(Box::new(platform::guard)));
    let cancel = Cancel::new();
    match display.guard.grab(&task(LIMIT), &cancel) {
        Ok(Grab::Held) => say("held"),
        other => say(&format!("{other:?}")),
    }
    // The role ends when the test kills it, at Esc, or at the limit.
    let _ = cancel.wait(LIMIT);
}

/// Whether the person's key reaches the window, which has the keyboard, within this time.
fn passes(own: &Own, time: Duration) -> Result<bool, String> {
    own.forget();
    send::persons_key(LETTER).map_err(|e| e.to_string())?;
    Ok(own.hears("text", time).is_some())
}

impl Test<'_> {
    /// `own` has the window.
    pub(super) fn guard(&mut self, own: &Own, window: &Window) {
        self.raise("its own window comes to the front", window);
        let note = |test: &mut Self, name: &str, found| test.sheet.note(name, found);
        note(
            self,
            "without the guard: the person's key",
            reached(passes(own, SHOWS), true),
        );
        let cancel = Cancel::new();
        let screen = banner::screen();
        match self.display.guard.grab(&task(LIMIT), &cancel) {
            Ok(Grab::Held) => {}
            other => return note(self, "guard", Err(format!("{other:?}"))),
        }
        note(
            self,
            "guard: the person's key",
            reached(passes(own, NOTHING), false),
        );
        own.forget();
        let typed = self
            .display
            .type_text("x", &cancel)
            .map_err(|e| e.to_string());
        let typed = typed.map(|()| own.hears("text", SHOWS).is_some());
        note(self, "guard: our own key", reached(typed, true));
        let seen = banner::seen(&screen);
        note(self, "banner", seen);
        note(self, "guard: on a busy machine", busy(own));
        let ours = KeyPress::parse("Escape", &[])
            .map_err(|e| e.to_string())
            .and_then(|key| {
                let pressed = self.display.press_key(key, Duration::ZERO, &cancel);
                pressed
                    .and_then(|()| Ok(cancel.wait(NOTHING)?))
                    .map_err(|e| e.to_string())
            });
        note(
            self,
            "guard: our own Esc",
            ours.map(|()| "does not cancel".into()),
        );
        let start = Instant::now();
        let theirs = send::persons_key(ESCAPE).map_err(|e| e.to_string());
        let _ = cancel.wait(SHOWS);
        let seen = format!("{:?} after {:?}", cancel.reason(), start.elapsed());
        let good = cancel.reason() == Some(Reason::Person);
        note(
            self,
            "guard: the person's Esc",
            theirs.and_then(|()| judge(good, seen)),
        );
        self.display.guard.ungrab();
        note(self, "guard: let in", reached(passes(own, SHOWS), true));
        let gone = within(SHOWS, || banner::shown().is_none().then_some(()));
        note(
            self,
            "banner: gone",
            gone.map(|()| "with the guard".into())
                .ok_or("still there".into()),
        );

        let (cancel, start) = (Cancel::new(), Instant::now());
        let held = self.display.guard.grab(&task(SHORT), &cancel);
        let _ = cancel.wait(SHORT * 2);
        let opens = matches!(held, Ok(Grab::Held)) && cancel.reason() == Some(Reason::Watchdog);
        let seen = format!("{:?} after {:?}", cancel.reason(), start.elapsed());
        note(self, "guard: its limit", judge(opens, seen));
        note(
            self,
            "guard: after its limit",
            reached(passes(own, SHOWS), true),
        );
        self.display.guard.unwatch();
        let found = self.killed(own);
        note(self, "guard: its server killed", found);
    }

    /// When a server that has closed the guard is killed, the person's input passes again.
    fn killed(&self, own: &Own) -> Found {
        let mut command = std::process::Command::new(self.program);
        let holder = Own::start(command.args(["selftest", "--role", "hold-guard"]))?;
        let held = holder.hears("held", SHOWS * 3).is_some() && passes(own, NOTHING) == Ok(false);
        drop(holder);
        let start = Instant::now();
        let open = within(SHOWS, || {
            (passes(own, NOTHING) == Ok(true)).then(|| start.elapsed())
        });
        judge(
            held && open.is_some(),
            format!("held: {held}, opened after {open:?}"),
        )
    }
}

/// The person types while every processor is busy.
fn busy(own: &Own) -> Found {
    let stop = std::sync::atomic::AtomicBool::new(false);
    let cores = std::thread::available_parallelism().map_or(4, usize::from);
    own.forget();
    let typed = std::thread::scope(|scope| {
        for _ in 0..cores * 2 {
            scope.spawn(|| {
                while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let typed = (0..KEYS).try_for_each(|_| {
            deskline_contract::wait::pause(Duration::from_millis(25));
            send::persons_key(LETTER)
        });
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        typed
    });
    typed.map_err(|e| e.to_string())?;
    let passed = own.hears("text", NOTHING).is_some();
    let what = if passed {
        "some reached the app"
    } else {
        "none reached the app"
    };
    judge(!passed, format!("{KEYS} keys, {what}"))
}
