//! Ordinary apps in ordinary states: a window behind another one of its app, a context menu, a
//! terminal, text that is hard to type, a mouse that moves meanwhile.

use std::time::{Duration, Instant};

use deskline_contract::Picture;
use deskline_core::{KeyPress, Line, Point, Role};
use deskline_input::Button;
use deskline_link::call::{ClickKind, Input, Typing};
use deskline_link::selftest::{Found, field, judge, said, tree_of};
use deskline_link::{Action, Answer, Target};

use super::effects::{SHOWS, until};
use super::guard::length;
use super::test::Test;
use super::tools::{AREA, reference};
use crate::os::{Event, Os, Value};
use crate::windows;

/// Quotes and marks that are dead keys of many layouts, and that `TextEdit` curls.
const QUOTES: &str = "it's \"x\" ^ ~ `";

/// Longer than the pieces in which other systems enter a text.
const LONG: usize = 600;

/// The end of the terminal's output, which its command line does not contain.
const LAST: &str = "42-deskline";
const COMMAND: &str = "seq 5000; echo $((40+2))-deskline";

/// The role of a row of a list in the Finder, in each of its views.
const FILES: [&str; 4] = ["[AXRow", "[AXImage", "[AXCell", "[AXGroup"];

/// How often the person's mouse moves while text is typed, and the pause between two motions.
const MOTIONS: usize = 5;
const MOTION: Duration = Duration::from_millis(20);

/// The text areas in an element, a few levels deep.
fn areas<O: Os>(os: &O, element: &O::Element, levels: usize) -> Vec<O::Element> {
    let values = os.attributes(element, &["AXRole", "AXChildren"]);
    let values = values.unwrap_or_default();
    if matches!(values.first(), Some(Value::Text { start, .. }) if start == AREA) {
        return vec![element.clone()];
    }
    let Some(Value::Elements(children)) = values.last().filter(|_| levels > 0) else {
        return Vec::new();
    };
    let below = |child| areas(os, child, levels - 1);
    children.iter().flat_map(below).collect()
}

/// How many UTF-16 units a text has.
fn units<O: Os>(os: &O, area: &O::Element) -> Option<usize> {
    match os.attribute(area, "AXValue") {
        Ok(Value::Text { units, .. }) => Some(units),
        _ => None,
    }
}

fn pixel(picture: &Picture, x: usize, y: usize) -> Option<&[u8]> {
    let at = 3 * (y * picture.width as usize + x);
    picture.rgb.get(at..at + 3)
}

fn center<O: Os>(os: &O, element: &O::Element) -> Option<Point> {
    match os.attributes(element, &["AXPosition", "AXSize"]).ok()?[..] {
        [Value::Point(x, y), Value::Size(w, h)] => {
            Some(Point::at((x + w / 2.0) as i32, (y + h / 2.0) as i32))
        }
        _ => None,
    }
}

impl<O: Os> Test<'_, O> {
    /// Presses Cmd+N in an app. Returns the element of the new window.
    fn new_window(&mut self, pid: u32) -> Option<O::Element> {
        let number = |(w, _): &(deskline_contract::Window, _)| w.id;
        let before: Vec<_> = windows::of_app(self.os, pid).iter().map(number).collect();
        self.press(pid, "n", &["Command"]);
        let os = self.os.clone();
        let came = || {
            let mut all = windows::of_app(&os, pid).into_iter();
            all.find_map(|(w, ax)| ax.filter(|_| !before.contains(&w.id)))
        };
        until(SHOWS, || came().is_some());
        came().map(|window| window.element)
    }

    pub(super) fn finder(&self) -> Option<u32> {
        let mut apps = self.os.apps().into_iter();
        let finder = apps.find(|app| app.bundle_id == "com.apple.finder");
        finder.map(|app| app.pid)
    }

    fn close(&self, window: &O::Element) {
        if let Some(button) = self.os.element(window, "AXCloseButton") {
            let _ = self.os.perform(&button, "AXPress");
        }
    }

    fn click_at(&mut self, pid: u32, target: Target, button: Button, text: Option<&str>) -> Answer {
        let click = Input::Click {
            target,
            kind: ClickKind::with_button(button),
            then: Typing {
                text: text.map(str::to_owned),
                ..Typing::default()
            },
        };
        self.call(Some(pid), Action::Input(click))
    }

    /// A click and text in the rear one of two windows of an app, while another app is in front:
    /// judged by both texts.
    pub(super) fn rear_window(&mut self, pid: u32, other: u32) {
        const NAME: &str = "a rear window";
        const TEXT: &str = "rear";
        let os = self.os.clone();
        let rear = windows::of_app(&os, pid).into_iter().find_map(|(_, ax)| ax);
        let (Some(rear), Some(new)) = (rear, self.new_window(pid)) else {
            return self.skip(NAME, "Cmd+N made no second window");
        };
        let area = |window| areas(&os, window, 4).into_iter().next();
        let (Some(back), Some(front)) = (area(&rear.element), area(&new)) else {
            self.close(&new);
            return self.note(NAME, Err("a window has no text".into()));
        };
        let before = (units(&os, &back), units(&os, &front));
        let answer = self.call(Some(pid), Action::Refresh);
        let target = tree_of(&answer).and_then(|tree| {
            // Windows are in the tree front to back.
            let behind = tree.lines().filter(|l| l.contains(" [AXWindow")).nth(1)?;
            let mut below = tree.lines().skip_while(|l| *l != behind);
            reference(below.find(|l| l.contains(&format!("[{AREA}")))?)
        });
        self.show(other);
        let said = match target {
            Some(target) => {
                let target = Target::Ref(target);
                let answer = self.click_at(pid, target, Button::Left, Some(TEXT));
                said(&answer).to_owned()
            }
            None => "the tree has no text in a second window".into(),
        };
        let now = (units(&os, &back), units(&os, &front));
        self.close(&new);
        let good = before.0.is_some_and(|n| now.0 == Some(n + TEXT.len())) && before.1 == now.1;
        self.note(NAME, judge(good, format!("{before:?} → {now:?}: {said}")));
    }

    /// A right-click on a file: judged by the menu's items in the tree.
    pub(super) fn context_menu(&mut self) {
        const NAME: &str = "a context menu in Finder";
        let Some(pid) = self.finder() else {
            return self.skip(NAME, "Finder does not run");
        };
        let Some(window) = self.new_window(pid) else {
            return self.skip(NAME, "Cmd+N made no window");
        };
        let tree = self.tree(pid);
        let is_file = |line: &&str| {
            let line = line.trim_start();
            line.contains(" visible") && FILES.iter().any(|role| line.starts_with(role))
        };
        // The first rows belong to the side bar.
        let file = tree.lines().rfind(is_file).and_then(reference);
        let found: Found = match file {
            None => Err("no file shows".into()),
            Some(file) => {
                let answer = self.click_at(pid, Target::Ref(file), Button::Right, None);
                let tree = tree_of(&answer).unwrap_or_default();
                let items = tree.lines().filter(|l| l.starts_with("+ [AXMenuItem"));
                let items = items.count();
                self.press(pid, "Escape", &[]);
                judge(items > 0, format!("{items} items came into the tree"))
            }
        };
        self.close(&window);
        self.note(NAME, found);
    }

    /// The newest line of a terminal that has scrolled past thousands.
    pub(super) fn terminal(&mut self) {
        const NAME: &str = "a terminal's last line";
        if !self.is_installed("Terminal") {
            return self.skip(NAME, "there is no Terminal");
        }
        let Some(pid) = self.open("Terminal") else {
            return;
        };
        let Some(window) = self.new_window(pid) else {
            return self.skip(NAME, "Cmd+N made no window");
        };
        self.command(pid, COMMAND);
        let (mut took, mut bytes, mut lines) = (Duration::ZERO, 0, 0);
        let shows = until(SHOWS * 3, || {
            let start = Instant::now();
            let answer = self.call(Some(pid), Action::Refresh);
            took = start.elapsed();
            let tree = tree_of(&answer).unwrap_or_default();
            (bytes, lines) = (tree.len(), tree.lines().count());
            tree.contains(LAST)
        });
        let seen = format!("read in {took:?}, {lines} lines, {bytes} bytes");
        self.command(pid, "exit");
        self.close(&window);
        self.note(NAME, judge(shows, seen));
    }

    fn command(&mut self, pid: u32, line: &str) {
        let typing = Typing::text(line).then(KeyPress::parse("Return", &[]).ok());
        self.call(Some(pid), Action::type_text(typing));
    }

    /// Text that layouts, input methods and chunks can spoil: judged by how much of it arrived.
    pub(super) fn hard_texts(&mut self, pid: u32) {
        let long = "a1 b2 c3 d4 e5 ".repeat(LONG / 15);
        for (name, text) in [
            ("quotes and dead keys", QUOTES),
            ("600 characters", long.as_str()),
        ] {
            let before = length(self.os, pid);
            let typing = Typing::text(text);
            let start = Instant::now();
            let answer = self.call(Some(pid), Action::type_text(typing));
            let ms = start.elapsed().as_millis();
            let came = before.is_ok_and(|n| length(self.os, pid) == Ok(n + text.len()));
            let changes = field(&answer, "text_changes").unwrap_or_default();
            let guarded = !answer.text.contains("no guard");
            let said = field(&answer, "error").unwrap_or_default();
            let seen = format!("came: {came}, guarded: {guarded}, {ms} ms {said} {changes}");
            self.note(name, judge(came && guarded, seen));
        }
    }

    /// The person's mouse moves while the agent types: the pointer is restored in spite of that.
    pub(super) fn moving_mouse(&mut self, pid: u32) {
        const NAME: &str = "the pointer, though the mouse moved";
        let Some(area) = self.place(pid, AREA) else {
            return self.skip(NAME, "there is no text");
        };
        let before = self.os.pointer();
        let near =
            |a: (f64, f64), b: (f64, f64)| (a.0 - b.0).abs() < 1.5 && (a.1 - b.1).abs() < 1.5;
        let os = self.os.clone();
        let mouse = std::thread::spawn(move || {
            // The mouse moves from the click on, and stops at the latest when the text is complete.
            until(SHOWS, || !near(os.pointer(), before));
            for _ in 0..MOTIONS {
                deskline_contract::wait::pause(MOTION);
                let (x, y) = os.pointer();
                let motion = Event::Move {
                    to: (x + 1.0, y),
                    delta: (1, 0),
                    number: 0,
                    dragging: None,
                    flags: 0,
                };
                // Events of the person have no tag.
                let _ = os.post(&motion, 0);
            }
        });
        let text = "moved about ".repeat(20);
        let target = Target::Point(area);
        let answer = self.click_at(pid, target, Button::Left, Some(&text));
        let _ = mouse.join();
        let now = self.os.pointer();
        let came = !answer.is_error;
        let seen = format!("{before:?} → {now:?}, typed: {came}");
        self.note(NAME, judge(near(now, before) && came, seen));
    }

    /// Apps of `SwiftUI` and Catalyst: their ids are the same in two readings.
    pub(super) fn same_ids_again(&mut self) {
        for app in ["System Settings", "Maps"] {
            let name = format!("ids of {app}, twice");
            if !self.is_installed(app) {
                self.skip(&name, "it is not there");
                continue;
            }
            let Some(pid) = self.open(app) else { continue };
            let first = super::tools::ids(self.os, pid);
            deskline_contract::wait::pause(Duration::from_secs(1));
            let second = super::tools::ids(self.os, pid);
            let same = first.iter().filter(|id| second.contains(id)).count();
            let good = same * 100 >= first.len() * 95 && !first.is_empty();
            let seen = format!("{same} of {} are the same", first.len());
            self.note(&name, judge(good, seen));
        }
    }

    pub(super) fn is_installed(&self, name: &str) -> bool {
        let folders = self.os.app_folders();
        let app = format!("{name}.app");
        let utilities = folders.iter().map(|f| f.join("Utilities").join(&app));
        let plain = folders.iter().map(|f| f.join(&app));
        utilities.chain(plain).any(|path| path.exists())
    }

    /// The context menu of a text, and the popover of a document's title: they close when their app
    /// goes behind.
    pub(super) fn menu_and_popover(&mut self, pid: u32) {
        const MENU: &str = "a menu in the picture";
        const POPOVER: &str = "a popover in the picture";
        self.show(pid);
        let text = self.place(pid, AREA);
        let window = windows::of_app(self.os, pid).into_iter().next();
        let window = window.and_then(|(_, ax)| Some(ax?.element));
        let title = window.and_then(|window| self.os.element(&window, "AXTitleUIElement"));
        let title = title.and_then(|title| center(self.os, &title));
        for (name, role, at, button) in [
            (MENU, Role::MENU, text, Button::Right),
            (POPOVER, Role::POPOVER, title, Button::Left),
        ] {
            let Some(at) = at else {
                self.skip(name, "there is nothing to click");
                continue;
            };
            self.in_picture(name, pid, role, |test| {
                test.click_at(pid, Target::Point(at), button, None);
            });
            self.press(pid, "Escape", &[]);
        }
    }

    /// Opens a menu or popover over a window of an app: judged by the pixels in its place.
    pub(super) fn in_picture(
        &mut self,
        name: &str,
        pid: u32,
        role: Role,
        opens: impl FnOnce(&mut Self),
    ) {
        let window = windows::of_app(self.os, pid).into_iter().next();
        let Some((window, _)) = window else {
            return self.skip(name, "there is no window");
        };
        let before = crate::picture::take(self.os, window.id);
        opens(self);
        let after = crate::picture::take(self.os, window.id);
        let tree = self.tree(pid);
        let mut lines = tree.lines().filter_map(|l| l.trim().parse::<Line>().ok());
        let over = lines.find(|line| line.role == role && line.visible);
        let place = over.and_then(|line| line.extents);
        let (before, after) = match (before, after) {
            (Ok(before), Ok(after)) => (before, after),
            (Err(e), _) | (_, Err(e)) => return self.note(name, Ok(format!("skipped: {e}"))),
        };
        let Some(place) = place else {
            let seen = format!(
                "skipped: no {} in {} lines",
                role.short(),
                tree.lines().count()
            );
            return self.note(name, Ok(seen));
        };
        let to = |at: i32, origin: i32| (f64::from(at - origin) * after.scale).max(0.0) as usize;
        let across = to(place.x, after.origin.x)..to(place.x + place.w, after.origin.x);
        let down = to(place.y, after.origin.y)..to(place.y + place.h, after.origin.y);
        let all = down.flat_map(|y| across.clone().map(move |x| (x, y)));
        let mut counted = (0_usize, 0_usize);
        for (x, y) in all {
            // A menu may reach beyond its window.
            let Some(now) = pixel(&after, x, y) else {
                continue;
            };
            counted.1 += 1;
            counted.0 += usize::from(pixel(&before, x, y) != Some(now));
        }
        let share = 100 * counted.0 / counted.1.max(1);
        let seen = format!("{share}% of its place has changed");
        self.note(name, judge(share > 5, seen));
    }
}
