//! The same events for every guard, and what it has to do about them: the table that the tests of
//! each valve run. No link in it releases the devices by itself, as if it hung.

use std::time::{Duration, Instant};

/// How long the devices may be taken in each row.
pub const LIMIT: Duration = Duration::from_secs(1);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    Escape,
    Shift,
    A,
}

/// Why the link was cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    Escape,
    Limit,
}

/// A guard that has just taken the devices, with the limit [`LIMIT`].
pub trait Valve {
    /// Whether it hears Esc between the release of the devices and the end of the link.
    const HEARS_AFTER: bool = true;

    /// How late it may be: none of its own time, or what a busy machine takes of real time.
    const SLACK: Duration = Duration::ZERO;

    /// Lets a time pass: real time, unless the valve has its own.
    fn pass(&mut self, time: Duration) {
        std::thread::sleep(time);
    }

    /// The person presses or releases a key.
    fn stroke(&mut self, key: Key, down: bool);

    /// The agent presses and releases a key.
    fn agent(&mut self, key: Key);

    /// The link releases the devices.
    fn release(&mut self);

    /// Whether the person's keys reach apps.
    fn is_free(&mut self) -> bool;

    fn cancelled(&mut self) -> Option<Why>;
}

#[derive(Debug, Clone, Copy)]
enum Step {
    Down(Key),
    Up(Key),
    Tap(Key),
    Agent(Key),
    Pass(u64),
    Release,
    /// The person's keys reach apps, or do not.
    Free(bool),
    Cancelled(Option<Why>),
    /// The rest is for valves that hear Esc after the release.
    After,
}

use Step::{After, Agent, Cancelled, Down, Free, Pass, Release, Tap, Up};

const ESC: Step = Tap(Key::Escape);
const BY_ESC: Step = Cancelled(Some(Why::Escape));

/// Esc leaves the link 200 ms, and the person has the devices within 250 ms.
#[rustfmt::skip]
const TABLE: [(&str, &[Step]); 9] = [
    ("the person's keys reach no app until the link releases the devices",
        &[Free(false), Tap(Key::A), Cancelled(None), Pass(300), Free(false), Release, Free(true)]),
    ("after Esc a link that hangs loses the devices",
        &[ESC, Pass(250), Free(true), BY_ESC]),
    ("a second Esc leaves it no more time",
        &[ESC, Pass(150), ESC, Pass(100), Free(true), BY_ESC]),
    ("Esc with a modifier is the person's own",
        &[Down(Key::Shift), ESC, Up(Key::Shift), Pass(300), Cancelled(None), Free(false)]),
    ("Esc after a modifier cancels",
        &[Down(Key::Shift), Tap(Key::A), Up(Key::Shift), ESC, Pass(250), BY_ESC, Free(true)]),
    ("the agent's own Esc cancels nothing",
        &[Agent(Key::Escape), Pass(300), Cancelled(None), Free(false)]),
    ("at the limit the devices are released",
        &[Pass(700), Free(false), Pass(300), Free(true), Cancelled(Some(Why::Limit))]),
    ("Esc shortly before the limit gives no more time",
        &[Pass(850), ESC, Pass(150), BY_ESC, Free(true)]),
    ("Esc counts until the link has ended",
        &[Release, Free(true), After, ESC, Pass(50), BY_ESC, Free(true)]),
];

/// Runs the table, each row on a guard of its own.
pub fn run<V: Valve>(taken: impl Fn() -> V) {
    for (row, steps) in TABLE {
        let mut valve = taken();
        for (at, step) in steps.iter().enumerate() {
            match *step {
                Down(key) => valve.stroke(key, true),
                Up(key) => valve.stroke(key, false),
                Tap(key) => [true, false]
                    .into_iter()
                    .for_each(|down| valve.stroke(key, down)),
                Agent(key) => valve.agent(key),
                Pass(ms) => valve.pass(Duration::from_millis(ms)),
                Release => valve.release(),
                Free(free) => {
                    let is = in_time::<V, _>(&free, || valve.is_free());
                    assert_eq!(is, free, "{row}: step {at}, free");
                }
                Cancelled(why) => {
                    let is = in_time::<V, _>(&why, || valve.cancelled());
                    assert_eq!(is, why, "{row}: step {at}");
                }
                After if V::HEARS_AFTER => {}
                After => break,
            }
        }
    }
}

/// What it is once it is as expected, or after the valve's slack.
fn in_time<V: Valve, T: PartialEq>(expected: &T, mut is: impl FnMut() -> T) -> T {
    let late = Instant::now() + V::SLACK;
    loop {
        let now = is();
        if now == *expected || Instant::now() >= late {
            return now;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}
