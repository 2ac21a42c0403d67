//! The guard's thread on fake devices: pipes whose bytes are strokes, and a flag for the grab. No
//! `/dev/input` and no `EVIOCGRAB` is involved.
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, PipeReader, PipeWriter, Read as _, Write as _};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use deskline_link::Reason;
use deskline_link::guard::{Grab, Guards as _, Task};
use deskline_link::{Cancel, Cancelled};
use deskline_unix::codes::{ESCAPE, LEFT};
use rustix::fs::{OFlags, fcntl_setfl};

use crate::Guard;
use deskline_grab::count;
use deskline_grab::device::{Device, Node, Opened, Source, Stroke};

const A: u32 = 30;
const CONTROL: u32 = 29;

#[derive(Default)]
struct State {
    inode: u64,
    /// Neither a keyboard nor a pointer.
    other: bool,
    grabbed: bool,
    down: BTreeSet<u32>,
    /// The keys that reached the compositor.
    passed: Vec<u32>,
    reader: Option<PipeReader>,
    writer: Option<PipeWriter>,
}

/// All devices by name, and the names of those that may not be read.
#[derive(Clone, Default)]
struct Fake(
    Arc<Mutex<BTreeMap<String, Arc<Mutex<State>>>>>,
    Arc<Mutex<BTreeSet<String>>>,
);

impl Fake {
    fn with(names: &[&str]) -> Self {
        let fake = Self::default();
        for name in names {
            fake.plug(name);
        }
        fake
    }

    fn plug(&self, name: &str) {
        static INODES: AtomicU64 = AtomicU64::new(1);
        let state = State {
            inode: INODES.fetch_add(1, Ordering::Relaxed),
            ..State::default()
        };
        let state = Arc::new(Mutex::new(state));
        self.0.lock().unwrap().insert(name.to_owned(), state);
    }

    fn unplug(&self, name: &str) {
        let gone = self.0.lock().unwrap().remove(name).unwrap();
        gone.lock().unwrap().writer = None;
    }

    fn deny(&self, name: &str) {
        self.1.lock().unwrap().insert(name.to_owned());
    }

    fn state<T>(&self, name: &str, of: impl FnOnce(&mut State) -> T) -> T {
        let device = Arc::clone(&self.0.lock().unwrap()[name]);
        let mut state = device.lock().unwrap();
        of(&mut state)
    }

    fn grabbed(&self, name: &str) -> bool {
        self.state(name, |state| state.grabbed)
    }

    fn passed(&self, name: &str) -> Vec<u32> {
        self.state(name, |state| state.passed.clone())
    }

    /// The person presses or releases a key.
    fn stroke(&self, name: &str, key: u32, down: bool) {
        self.state(name, |state| {
            if down {
                state.down.insert(key);
            } else {
                state.down.remove(&key);
            }
            if down && !state.grabbed {
                state.passed.push(key);
            }
            let [low, high, ..] = key.to_le_bytes();
            if let Some(writer) = &mut state.writer {
                let _ = writer.write_all(&[low, high, u8::from(down)]);
            }
        });
    }

    fn tap(&self, name: &str, key: u32) {
        self.stroke(name, key, true);
        self.stroke(name, key, false);
    }

    fn guard(&self) -> Guard {
        Guard::over(self.clone()).unwrap()
    }
}

impl Source for Fake {
    fn nodes(&self) -> io::Result<Vec<Node>> {
        let all = self.0.lock().unwrap();
        let node = |(name, state): (&String, &Arc<Mutex<State>>)| Node {
            name: name.clone(),
            inode: state.lock().unwrap().inode,
        };
        Ok(all.iter().map(node).collect())
    }

    fn open(&self, name: &str) -> Opened {
        if self.1.lock().unwrap().contains(name) {
            return Opened::Closed;
        }
        let Some(state) = self.0.lock().unwrap().get(name).cloned() else {
            return Opened::Gone;
        };
        if name.starts_with("lid") || state.lock().unwrap().other {
            return Opened::Other;
        }
        let (reader, writer) = io::pipe().unwrap();
        fcntl_setfl(&reader, OFlags::NONBLOCK).unwrap();
        let poll = reader.try_clone().unwrap();
        {
            let mut state = state.lock().unwrap();
            state.reader = Some(reader);
            state.writer = Some(writer);
        }
        Opened::Theirs(Box::new(FakeDevice { state, poll }))
    }
}

struct FakeDevice {
    state: Arc<Mutex<State>>,
    poll: PipeReader,
}

impl Drop for FakeDevice {
    /// The kernel releases a closed device.
    fn drop(&mut self) {
        let mut state = self.state.lock().unwrap();
        state.grabbed = false;
        state.writer = None;
    }
}

impl Device for FakeDevice {
    fn fd(&self) -> BorrowedFd<'_> {
        self.poll.as_fd()
    }

    fn grab(&mut self) -> io::Result<()> {
        self.state.lock().unwrap().grabbed = true;
        Ok(())
    }

    fn ungrab(&mut self) -> io::Result<()> {
        self.state.lock().unwrap().grabbed = false;
        Ok(())
    }

    fn down(&self) -> io::Result<BTreeSet<u32>> {
        Ok(self.state.lock().unwrap().down.clone())
    }

    fn strokes(&mut self) -> io::Result<Vec<Stroke>> {
        let mut bytes = [0; 3];
        let mut strokes = Vec::new();
        loop {
            match self.poll.read(&mut bytes) {
                Ok(3) => strokes.push(Stroke {
                    key: u32::from_le_bytes([bytes[0], bytes[1], 0, 0]),
                    down: bytes[2] == 1,
                }),
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return Ok(strokes),
                // ENODEV of a device that was unplugged.
                _ => return Err(io::ErrorKind::NotFound.into()),
            }
        }
    }
}

/// Grabs the devices as soon as the pause after Esc is over.
fn once_calm(guard: &mut Guard, cancel: &Cancel) -> Grab {
    let start = Instant::now();
    loop {
        match guard.grab(&task(LONG), cancel) {
            Ok(grab) => return grab,
            Err(error) => assert!(error.to_string().contains("just pressed Esc"), "{error}"),
        }
        assert!(start.elapsed() < Duration::from_secs(5), "still refused");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn task(limit: Duration) -> Task {
    Task {
        caption: None,
        place: None,
        pointer: true,
        limit,
    }
}

fn until(what: &str, mut is: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is() {
        assert!(start.elapsed() < Duration::from_secs(5), "{what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

const LONG: Duration = Duration::from_secs(60);

#[test]
fn escape_cancels_until_the_link_rests_and_a_shortcut_with_it_does_not() {
    let fake = Fake::with(&["event0"]);
    let mut guard = fake.guard();
    let cancel = Cancel::default();
    assert_eq!(guard.grab(&task(LONG), &cancel).unwrap(), Grab::Held);
    fake.stroke("event0", CONTROL, true);
    fake.tap("event0", ESCAPE);
    fake.stroke("event0", CONTROL, false);
    guard.ungrab();
    assert!(cancel.check().is_ok());
    // The devices are released while the app settles, but Esc cancels until the link ends.
    fake.tap("event0", ESCAPE);
    until("the Esc", || cancel.check().is_err());
    assert!(matches!(cancel.check(), Err(Cancelled(Reason::Person))));

    // The end of the link releases devices that are still grabbed.
    guard.unwatch();
    let next = Cancel::default();
    assert_eq!(once_calm(&mut guard, &next), Grab::Held);
    guard.unwatch();
    until("the end of the grab", || !fake.grabbed("event0"));
    fake.tap("event0", ESCAPE);
    assert_eq!(guard.pressed(), None);
    assert!(next.check().is_ok());
}

#[test]
fn the_limit_and_the_end_of_the_guard_release_everything() {
    let fake = Fake::with(&["event0", "lid"]);
    let mut guard = fake.guard();
    let cancel = Cancel::default();
    let grab = guard
        .grab(&task(Duration::from_millis(100)), &cancel)
        .unwrap();
    assert_eq!(grab, Grab::Held);
    assert!(!fake.grabbed("lid"));
    until("the limit", || !fake.grabbed("event0"));
    until("the link's end", || {
        matches!(cancel.check(), Err(Cancelled(Reason::Watchdog)))
    });
    let again = guard.grab(&task(LONG), &Cancel::default()).unwrap();
    assert_eq!(again, Grab::Held);
    drop(guard);
    assert!(!fake.grabbed("event0"));
}

#[test]
fn a_device_on_which_a_key_is_held_is_not_grabbed() {
    let fake = Fake::with(&["event0", "event1"]);
    let mut guard = fake.guard();
    fake.stroke("event0", A, true);
    let grab = guard.grab(&task(LONG), &Cancel::default()).unwrap();
    assert!(
        matches!(&grab, Grab::Partly(why) if why.contains("held down")),
        "{grab:?}"
    );
    assert!(!fake.grabbed("event0") && fake.grabbed("event1"));
    // Grabbed as soon as the key is up.
    fake.stroke("event0", A, false);
    until("the keyboard's grab", || fake.grabbed("event0"));
    guard.ungrab();

    fake.stroke("event1", LEFT, true);
    let refused = guard.grab(&task(LONG), &Cancel::default()).unwrap_err();
    assert!(
        refused.to_string().contains("holding a mouse button"),
        "{refused}"
    );
    assert!(!fake.grabbed("event0") && !fake.grabbed("event1"));
}

#[test]
fn devices_come_and_go() {
    let fake = Fake::with(&["event0"]);
    let mut guard = fake.guard();
    assert_eq!(
        guard.grab(&task(LONG), &Cancel::default()).unwrap(),
        Grab::Held
    );
    fake.plug("event1");
    until("the new one's grab", || fake.grabbed("event1"));
    fake.unplug("event0");
    fake.tap("event1", A);
    assert_eq!(
        guard.grab(&task(LONG), &Cancel::default()).unwrap(),
        Grab::Held
    );
    guard.ungrab();
    assert!(fake.passed("event1").is_empty());
}

#[test]
fn a_keyboard_that_takes_the_place_of_another_device_is_grabbed() {
    let fake = Fake::with(&["event0", "event1"]);
    fake.state("event1", |state| state.other = true);
    let mut guard = fake.guard();
    let close = |guard: &mut Guard| guard.grab(&task(LONG), &Cancel::default()).unwrap();
    assert_eq!(close(&mut guard), Grab::Held);
    assert!(!fake.grabbed("event1"));
    guard.unwatch();
    // The kernel reuses the lowest free number.
    fake.unplug("event1");
    fake.plug("event1");
    assert_eq!(close(&mut guard), Grab::Held);
    assert!(fake.grabbed("event0") && fake.grabbed("event1"));
    guard.unwatch();
    // Also while a grab lasts.
    fake.state("event1", |state| state.other = true);
    assert_eq!(close(&mut guard), Grab::Held);
    assert!(!fake.grabbed("event1"));
    fake.unplug("event1");
    fake.plug("event1");
    until("the new keyboard's grab", || fake.grabbed("event1"));
}

#[test]
fn devices_that_may_not_be_read_are_named() {
    let fake = Fake::with(&["event0", "event1"]);
    fake.deny("event1");
    assert_eq!((count(&fake).readable, count(&fake).closed), (1, 1));
    assert!(!count(&fake).can_guard());
    let mut guard = fake.guard();
    let grab = guard.grab(&task(LONG), &Cancel::default()).unwrap();
    assert!(
        matches!(&grab, Grab::Partly(why) if why.starts_with("1 of the devices")),
        "{grab:?}"
    );
    guard.ungrab();
    fake.deny("event0");
    guard.unwatch();
    let grab = guard.grab(&task(LONG), &Cancel::default()).unwrap();
    assert!(
        matches!(&grab, Grab::Unable(why) if why.contains("may not read")),
        "{grab:?}"
    );
    let none = Fake::default();
    assert!(matches!(
        none.guard().grab(&task(LONG), &Cancel::default()).unwrap(),
        Grab::Unable(_)
    ));
}
