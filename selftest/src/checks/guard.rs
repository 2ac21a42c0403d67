//! Checks the guarantees of the guard, with the test as the person.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use deskline_core::Rect;
use deskline_link::guard::{Grab, Guards, LIMIT, Task};
use deskline_link::{Cancel, Desktop, Reason, wait};

use super::helper::Helper;
use super::sheet::{Found, Miss, Sheet, judge, within};

/// How long an effect may take to show.
const SHOWS: Duration = Duration::from_secs(5);

/// How long to wait for what should not happen.
const NOTHING: Duration = Duration::from_millis(500);

/// The limit in the check that the guard opens by itself.
const SHORT: Duration = Duration::from_secs(1);

/// How many keys the person presses on a busy machine, and the time between two of them. If a hook
/// or tap for input answers late, Windows removes the hook, and macOS turns the tap off.
const KEYS: usize = 40;
const BETWEEN: Duration = Duration::from_millis(25);

pub const CAPTION: &str = "AI: testing itself — press Esc to cancel";

/// Whose input it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Who {
    Person,
    Ours,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    /// A key that types a letter.
    Letter,
    Escape,
}

/// What the checks need from a system. An app of the test has the keyboard.
pub trait Keyboard {
    fn desktop(&mut self) -> &mut dyn Desktop;

    /// Presses and releases a key.
    fn press(&mut self, who: Who, key: Key) -> Result<(), Miss>;

    /// Drops the text that the app has got so far.
    fn forget(&mut self) -> Result<(), Miss>;

    /// Whether the app gets text within this time.
    fn hears(&mut self, time: Duration) -> Result<bool, Miss>;

    /// Judges the banner, which should show if `shown` is true, and else be gone. `None` if the
    /// test cannot see it.
    fn banner(&mut self, _shown: bool) -> Option<Found> {
        None
    }
}

type Check = fn(&mut dyn Keyboard, &Cancel) -> Found;

/// The checks while the guard is closed. The last check opens it.
const CLOSED: [(&str, Check); 5] = [
    ("guard: your key", |keyboard, _| {
        letter(keyboard, Who::Person, false)
    }),
    ("guard: our own key", |keyboard, _| {
        letter(keyboard, Who::Ours, true)
    }),
    ("guard: on a busy machine", |keyboard, _| busy(keyboard)),
    ("guard: our own Esc", |keyboard, cancel| {
        keyboard.press(Who::Ours, Key::Escape)?;
        cancel.wait(NOTHING)?;
        Ok("does not cancel".into())
    }),
    ("guard: your Esc", |keyboard, cancel| {
        let start = Instant::now();
        keyboard.press(Who::Person, Key::Escape)?;
        ends(cancel, SHOWS, start, Reason::Person)
    }),
];

fn task(limit: Duration) -> Task {
    Task {
        caption: Some(CAPTION.into()),
        place: Some(Rect::at(300, 300, 10, 10)),
        pointer: false,
        limit,
    }
}

fn guards(desktop: &mut dyn Desktop) -> Result<&mut dyn Guards, Miss> {
    Ok(desktop.guard().map_err(|missing| missing.0)?)
}

fn open(keyboard: &mut dyn Keyboard, also: fn(&mut dyn Guards)) {
    if let Ok(guards) = guards(keyboard.desktop()) {
        guards.ungrab();
        also(guards);
    }
}

fn close(desktop: &mut dyn Desktop, limit: Duration, cancel: &Cancel) -> Result<(), Miss> {
    match guards(desktop)?.grab(&task(limit), cancel)? {
        Grab::Held | Grab::Partly(_) => Ok(()),
        Grab::Unable(why) | Grab::NotYet(why) => Err(why.into()),
    }
}

/// Closes the guard until this process is killed, the person presses Esc, or [`LIMIT`] is over.
pub fn hold(desktop: &mut dyn Desktop, say: &mut dyn FnMut(&str)) {
    let cancel = Cancel::new();
    match close(desktop, LIMIT, &cancel) {
        Ok(()) => say("held"),
        Err(why) => say(&format!("{why:?}")),
    }
    let start = Instant::now();
    let _ = cancel.wait(LIMIT);
    let (reason, ms) = (cancel.reason(), start.elapsed().as_millis());
    say(&format!("let go after {ms} ms: {reason:?}"));
}

fn ends(cancel: &Cancel, time: Duration, start: Instant, wanted: Reason) -> Found {
    let _ = cancel.wait(time);
    let seen = format!("{:?} after {:?}", cancel.reason(), start.elapsed());
    judge(cancel.reason() == Some(wanted), seen)
}

/// Judges whether a letter reaches the app if `wanted`, and is dropped if not.
fn letter(keyboard: &mut dyn Keyboard, who: Who, wanted: bool) -> Found {
    letter_within(keyboard, who, wanted, if wanted { SHOWS } else { NOTHING })
}

fn letter_within(keyboard: &mut dyn Keyboard, who: Who, wanted: bool, time: Duration) -> Found {
    keyboard.forget()?;
    keyboard.press(who, Key::Letter)?;
    let reached = keyboard.hears(time)?;
    judge(
        reached == wanted,
        if reached {
            "reached the app"
        } else {
            "was dropped"
        },
    )
}

/// Checks that no key of a person who types reaches the app while every processor is busy.
fn busy(keyboard: &mut dyn Keyboard) -> Found {
    let stop = AtomicBool::new(false);
    let cores = std::thread::available_parallelism().map_or(4, usize::from);
    keyboard.forget()?;
    let typed = std::thread::scope(|scope| {
        for _ in 0..cores * 2 {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let typed = (0..KEYS).try_for_each(|_| {
            wait::pause(BETWEEN);
            keyboard.press(Who::Person, Key::Letter)
        });
        stop.store(true, Ordering::Relaxed);
        typed
    });
    typed?;
    let reached = keyboard.hears(NOTHING)?;
    let how_many = if reached { "some" } else { "none" };
    judge(!reached, format!("{KEYS} keys, {how_many} reached the app"))
}

/// Checks that the person's input passes again once a server that has closed the guard is killed.
fn killed(keyboard: &mut dyn Keyboard, program: &Path) -> Found {
    let holder = Helper::role(program, "hold-guard")?;
    let held = holder.hears("held", SHOWS * 3).is_some();
    let held = held && letter(keyboard, Who::Person, false).is_ok();
    drop(holder);
    let start = Instant::now();
    // A key that comes while the system ends the process may be lost: the person presses it again.
    let open = within(SHOWS, || {
        letter_within(keyboard, Who::Person, true, NOTHING)
            .is_ok()
            .then(|| start.elapsed())
    });
    judge(
        held && open.is_some(),
        format!("held: {held}, opened after {open:?}"),
    )
}

/// Makes all checks. Without `program`, those that need a second process are left out.
pub fn check(sheet: &mut Sheet, keyboard: &mut dyn Keyboard, program: Option<&Path>) {
    let passes = |keyboard: &mut dyn Keyboard| letter(keyboard, Who::Person, true);
    sheet.note("without the guard: your key", passes(keyboard));
    let cancel = Cancel::new();
    if let Err(why) = close(keyboard.desktop(), LIMIT, &cancel) {
        return sheet.note("guard", Err(why));
    }
    if let Some(banner) = keyboard.banner(true) {
        sheet.note("banner", banner);
    }
    for (name, check) in CLOSED {
        sheet.note(name, check(keyboard, &cancel));
    }
    open(keyboard, |_| {});
    sheet.note("guard: let in", passes(keyboard));
    if let Some(gone) = keyboard.banner(false) {
        sheet.note("banner: gone", gone);
    }
    open(keyboard, |guards| guards.unwatch());

    let (cancel, start) = (Cancel::new(), Instant::now());
    let closed = close(keyboard.desktop(), SHORT, &cancel);
    let ended = closed.and_then(|()| ends(&cancel, SHORT * 2, start, Reason::Watchdog));
    sheet.note("guard: its limit", ended);
    sheet.note("guard: after its limit", passes(keyboard));
    open(keyboard, |guards| guards.unwatch());
    if let Some(program) = program {
        sheet.note("guard: its server killed", killed(keyboard, program));
    }
}
