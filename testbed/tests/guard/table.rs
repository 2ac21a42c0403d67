//! The table of all guards, on an X server with a person at its devices.

use std::cell::RefCell;
use std::path::Path;
use std::time::Duration;

use deskline_link::guard::{Grab, Guards as _, Task};
use deskline_link::{Cancel, Reason};
use deskline_testbed::Bed;
use deskline_testbed::person::{ESCAPE, Person, SHIFT};
use deskline_testbed::watcher::Watcher;
use deskline_x11::guard::Guard;

#[path = "../../../crates/deskline-guard/table.rs"]
mod rows;

use rows::{Key, LIMIT, Valve, Why, run};

/// The guard of a link that hangs, in this process.
struct OnX<'b> {
    bed: &'b Bed,
    watcher: Watcher,
    person: &'b RefCell<Person>,
    guard: Guard,
    cancel: Cancel,
}

impl Valve for OnX<'_> {
    const SLACK: Duration = Duration::from_millis(150);

    fn stroke(&mut self, key: Key, down: bool) {
        let key = match key {
            Key::Escape => ESCAPE,
            Key::Shift => SHIFT,
            Key::A => 'a'.into(),
        };
        let mut person = self.person.borrow_mut();
        if down {
            person.press(key);
        } else {
            person.release(key);
        }
    }

    fn agent(&mut self, key: Key) {
        assert_eq!(key, Key::Escape);
        self.bed.run("xdotool", &["key", "Escape"]);
    }

    fn release(&mut self) {
        self.guard.ungrab();
    }

    fn is_free(&mut self) -> bool {
        !self.watcher.holds_a_device()
    }

    fn cancelled(&mut self) -> Option<Why> {
        self.cancel.reason().map(|reason| match reason {
            Reason::Person => Why::Escape,
            Reason::Watchdog => Why::Limit,
            other => panic!("{other:?}"),
        })
    }
}

fn passes_the_table(bed: &Bed) {
    let person = RefCell::new(Person::at(bed));
    run(|| {
        let environment = bed.environment();
        let xauthority = environment.get("XAUTHORITY").map(Path::new);
        let mut guard = Guard::start(&environment["DISPLAY"], xauthority).unwrap();
        let (cancel, watcher, person) = (Cancel::new(), Watcher::on(bed), &person);
        let task = Task {
            caption: None,
            place: None,
            pointer: false,
            limit: LIMIT,
        };
        assert_eq!(guard.grab(&task, &cancel).unwrap(), Grab::Held);
        OnX {
            bed,
            watcher,
            person,
            guard,
            cancel,
        }
    });
}

#[test]
fn the_grab_of_a_viewers_devices_passes_the_cases_for_every_guard() {
    passes_the_table(&crate::bed());
}

#[test]
fn the_grab_of_the_servers_own_devices_passes_the_cases_for_every_guard() {
    passes_the_table(&Bed::on_xorg());
}
