//! A person who continues their own work: types, clicks, switches windows, presses Esc.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use deskline_testbed::person::{ESCAPE, Person};
use deskline_testbed::{App, Bed, Client};
use fastrand::Rng;

/// The letters that the person types. The agent types none of them.
pub const LETTERS: [char; 3] = ['x', 'y', 'z'];

/// How long a key of theirs may take to reach their window.
const SOON: Duration = Duration::from_secs(3);

/// A window of the person's own, with a field.
pub struct Own<'b> {
    app: App<'b>,
    /// The middle of its field, from the window's corner.
    field: (i32, i32),
}

impl<'b> Own<'b> {
    pub fn open(bed: &'b Bed, server: &Client, toolkit: &str, y: u16) -> Self {
        let spec = format!("Mine {toolkit}|Mine {toolkit}|300x240+1500+{y}");
        let app = bed.windows(toolkit, &[], &[&spec]);
        let tree = server.refresh(app.pid).ok();
        let place = tree.line_of("AXTextField", "Note Mine").extents.unwrap();
        let (x, y, ..) = app.window_now().bounds;
        let field = (place.x + place.w / 2 - x, place.y + place.h / 2 - y);
        Self { app, field }
    }

    /// The text of its field.
    pub fn text(&self) -> String {
        let log = self.app.log();
        let mut lines = log.iter().rev();
        let text = lines.find_map(|line| line.strip_prefix("text Mine ")?.split_once(' '));
        text.map(|(_, text)| text.to_owned()).unwrap_or_default()
    }

    /// How often its text has changed. The text need not grow: a double click selects it all.
    fn changes(&self) -> usize {
        let log = self.app.full_log();
        let is_change = |line: &&String| line.starts_with("text Mine ");
        log.iter().filter(is_change).count()
    }

    /// The events in its log that the person has not caused.
    pub fn wrong(&self) -> Vec<String> {
        let mut log = self.app.log();
        log.retain(|line| !line.starts_with("text Mine "));
        log
    }

    /// Clicks its field, unless the window manager has just started and does not know it yet.
    /// Returns the window.
    fn click(&self, bed: &Bed, person: &mut Person) -> Option<u32> {
        let window = bed.screen().windows_of(self.app.pid).into_iter().next()?;
        let (x, y, ..) = window.bounds;
        let at = |base: i32, offset: i32| u16::try_from(base + offset).unwrap_or(0);
        person.click(at(x, self.field.0), at(y, self.field.1));
        Some(window.id)
    }
}

/// The state that the person and the test share.
#[derive(Default)]
pub struct Shared {
    /// Locked while the person's devices are used. Holds the window that the person last switched
    /// to: the window manager may bring it to the front a moment after that.
    pub desk: Mutex<Option<u32>>,
    pub over: AtomicBool,
    pub typed: AtomicUsize,
    pub acts: AtomicUsize,
}

/// Acts as the person until the run is over.
pub fn works(bed: &Bed, own: &[Own<'_>], shared: &Shared, mut rng: Rng) {
    let mut person = Person::at(bed);
    let mut left = 0;
    while !shared.over.load(Ordering::Relaxed) {
        {
            let mut turned_to = shared.desk.lock().unwrap();
            shared.acts.fetch_add(1, Ordering::Relaxed);
            match rng.u8(..16) {
                _ if left > 0 => {
                    left -= 1;
                    shared.typed.fetch_add(1, Ordering::Relaxed);
                    person.tap(LETTERS[rng.usize(..LETTERS.len())].into());
                }
                0..10 => {
                    *turned_to = own[rng.usize(..own.len())].click(bed, &mut person);
                    left = rng.usize(3..20);
                }
                10..12 => person.point(rng.u16(1400..1900), rng.u16(600..1000)),
                12..15 => {
                    let windows = bed.screen().windows();
                    if let Some(window) = rng.choice(&windows) {
                        let id = window.id.to_string();
                        // This fails if the window closes, or if the window manager is not running.
                        let _ = bed
                            .command("xdotool")
                            .args(["windowactivate", &id])
                            .output();
                        *turned_to = Some(window.id);
                    }
                }
                _ => person.tap(ESCAPE),
            }
        }
        // A person types at about this pace.
        thread::sleep(Duration::from_millis(rng.u64(30..160)));
    }
}

/// Whether the person's click and key arrive, while no link runs and the caller has locked the
/// person's devices.
pub fn is_let_in(bed: &Bed, person: &mut Person, own: &Own<'_>, shared: &Shared) -> bool {
    let start = Instant::now();
    let before = own.changes();
    while start.elapsed() < SOON {
        own.click(bed, person);
        shared.typed.fetch_add(1, Ordering::Relaxed);
        person.tap(LETTERS[0].into());
        let typed = Instant::now();
        while typed.elapsed() < SOON / 3 {
            if own.changes() > before {
                return true;
            }
            thread::sleep(Duration::from_millis(10));
        }
    }
    false
}
