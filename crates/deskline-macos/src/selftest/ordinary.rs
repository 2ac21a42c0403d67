//! Ordinary apps in ordinary states: a window behind another one of its app, a context menu, a
//! terminal, text that is hard to type, a mouse that moves meanwhile.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use deskline_contract::Picture;
use deskline_core::{KeyPress, Line, Point, Role};
use deskline_input::Button;
use deskline_link::call::{ClickKind, Input, Typing};
use deskline_link::selftest::{Found, Miss, field, judge, said, skip, tree_of, within};
use deskline_link::{Action, Answer, Target};

use super::effects::{SHOWS, until};
use super::guard::{grew, length};
use super::test::Test;
use super::tools::{AREA, ids, near, reference, same, visible};
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
        Some(within(SHOWS, came)?.element)
    }

    pub(super) fn finder(&self) -> Result<u32, Miss> {
        let mut apps = self.os.apps().into_iter();
        let finder = apps.find(|app| app.bundle_id == "com.apple.finder");
        Ok(finder.ok_or_else(|| skip("Finder does not run"))?.pid)
    }

    pub(super) fn close(&self, window: &O::Element) {
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
    pub(super) fn rear_window(&mut self, pid: u32, other: u32) -> Found {
        const TEXT: &str = "rear";
        let os = self.os.clone();
        let rear = windows::of_app(&os, pid).into_iter().find_map(|(_, ax)| ax);
        let new = rear.is_some().then(|| self.new_window(pid)).flatten();
        let (rear, new) = rear
            .zip(new)
            .ok_or_else(|| skip("Cmd+N made no second window"))?;
        let area = |window| areas(&os, window, 4).into_iter().next();
        let both = area(&rear.element).zip(area(&new));
        let found = both
            .ok_or("a window has no text".into())
            .and_then(|(back, front)| {
                let lengths = || (units(&os, &back), units(&os, &front));
                let before = lengths();
                let tree = self.tree(pid);
                // Windows are in the tree front to back.
                let windows = tree.split(" [AXWindow").nth(2);
                let mut below = windows.unwrap_or_default().lines();
                let text = below
                    .find(|l| l.contains(&format!("[{AREA}")))
                    .and_then(reference);
                let target = text.ok_or("the tree has no text in a second window")?;
                self.show(other);
                let answer = self.click_at(pid, Target::Ref(target), Button::Left, Some(TEXT));
                let now = lengths();
                let good =
                    before.0.is_some_and(|n| now.0 == Some(n + TEXT.len())) && before.1 == now.1;
                judge(good, format!("{before:?} → {now:?}: {}", said(&answer)))
            });
        self.close(&new);
        found
    }

    /// A right-click on a file: judged by the menu's items in the tree.
    pub(super) fn context_menu(&mut self) -> Found {
        let pid = self.finder()?;
        let window = self
            .new_window(pid)
            .ok_or_else(|| skip("Cmd+N made no window"))?;
        let tree = self.tree(pid);
        let is_file = |line: &&str| FILES.iter().any(|role| line.trim_start().starts_with(role));
        // The first rows belong to the side bar.
        let file = visible(&tree).rfind(is_file).and_then(reference);
        let items = file.map(|file| {
            let answer = self.click_at(pid, Target::Ref(file), Button::Right, None);
            let tree = tree_of(&answer).unwrap_or_default();
            self.press(pid, "Escape", &[]);
            tree.lines()
                .filter(|l| l.starts_with("+ [AXMenuItem"))
                .count()
        });
        self.close(&window);
        let items = items.ok_or("no file shows")?;
        judge(items > 0, format!("{items} items came into the tree"))
    }

    /// The newest line of a terminal that has scrolled past thousands.
    pub(super) fn terminal(&mut self) -> Found {
        if !self.is_installed("Terminal") {
            return Err(skip("there is no Terminal"));
        }
        let pid = self
            .open("Terminal")
            .ok_or_else(|| skip("it does not open"))?;
        let window = self
            .new_window(pid)
            .ok_or_else(|| skip("Cmd+N made no window"))?;
        self.command(pid, COMMAND);
        let mut seen = String::new();
        let shows = until(SHOWS * 3, || {
            let start = Instant::now();
            let tree = self.tree(pid);
            let (took, lines) = (start.elapsed(), tree.lines().count());
            seen = format!("read in {took:?}, {lines} lines, {} bytes", tree.len());
            tree.contains(LAST)
        });
        self.command(pid, "exit");
        self.close(&window);
        judge(shows, seen)
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
            let came = grew(before, length(self.os, pid), text);
            let changes = field(&answer, "text_changes").unwrap_or_default();
            let guarded = !answer.text.contains("may have mixed");
            let said = field(&answer, "error").unwrap_or_default();
            let seen = format!("came: {came}, guarded: {guarded}, {ms} ms {said} {changes}");
            self.note(name, judge(came && guarded, seen));
        }
    }

    /// The person's mouse moves while the agent types: the pointer is restored in spite of that.
    pub(super) fn moving_mouse(&mut self, pid: u32) -> Found {
        let area = self
            .place(pid, AREA)
            .ok_or_else(|| skip("there is no text"))?;
        let before = self.os.pointer();
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
                    clicks: 0,
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
        judge(near(now, before) && came, seen)
    }

    /// An app of `SwiftUI` or Catalyst: its ids are the same in two readings.
    pub(super) fn same_ids_again(&mut self, app: &str) -> Found {
        if !self.is_installed(app) {
            return Err(skip("it is not there"));
        }
        let pid = self.open(app).ok_or_else(|| skip("it does not open"))?;
        let first = ids(self.os, pid);
        deskline_contract::wait::pause(Duration::from_secs(1));
        same(&first, &ids(self.os, pid))
    }

    pub(super) fn is_installed(&self, name: &str) -> bool {
        let app = format!("{name}.app");
        let there = |folder: &PathBuf| {
            folder.join("Utilities").join(&app).exists() || folder.join(&app).exists()
        };
        self.os.app_folders().iter().any(there)
    }

    /// The context menu of a text, and the popover of a document's title: they close when their app
    /// goes behind.
    pub(super) fn menu_and_popover(&mut self, pid: u32) {
        self.show(pid);
        let text = self.place(pid, AREA);
        let window = windows::of_app(self.os, pid).into_iter().next();
        let window = window.and_then(|(_, ax)| Some(ax?.element));
        let title = window.and_then(|window| self.os.element(&window, "AXTitleUIElement"));
        let title = title.and_then(|title| center(self.os, &title));
        for (name, role, at, button) in [
            ("a menu in the picture", Role::MENU, text, Button::Right),
            (
                "a popover in the picture",
                Role::POPOVER,
                title,
                Button::Left,
            ),
        ] {
            let found = at
                .ok_or_else(|| skip("there is nothing to click"))
                .and_then(|at| {
                    self.in_picture(pid, role, |test| {
                        test.click_at(pid, Target::Point(at), button, None);
                    })
                });
            self.note(name, found);
            self.press(pid, "Escape", &[]);
        }
    }

    /// Opens a menu or popover over a window of an app: judged by the pixels in its place.
    pub(super) fn in_picture(
        &mut self,
        pid: u32,
        role: Role,
        opens: impl FnOnce(&mut Self),
    ) -> Found {
        let window = self.window(pid)?;
        let before = crate::picture::take(self.os, window.id);
        opens(self);
        let after = crate::picture::take(self.os, window.id);
        let tree = self.tree(pid);
        let mut lines = visible(&tree).filter_map(|l| l.trim().parse::<Line>().ok());
        let place = lines
            .find(|line| line.role == role)
            .and_then(|line| line.extents);
        let (before, after) = (before.map_err(skip)?, after.map_err(skip)?);
        let Some(place) = place else {
            let lines = tree.lines().count();
            return Err(skip(format!("no {} in {lines} lines", role.short())));
        };
        let to = |at: i32, origin: i32| (f64::from(at - origin) * after.scale).max(0.0) as usize;
        let across = to(place.x, after.origin.x)..to(place.x + place.w, after.origin.x);
        let down = to(place.y, after.origin.y)..to(place.y + place.h, after.origin.y);
        let all = down.flat_map(|y| across.clone().map(move |x| (x, y)));
        // A menu may reach beyond its window.
        let both = all.filter_map(|(x, y)| Some((pixel(&before, x, y), pixel(&after, x, y)?)));
        let changed: Vec<bool> = both.map(|(before, now)| before != Some(now)).collect();
        let share = 100 * changed.iter().filter(|changed| **changed).count() / changed.len().max(1);
        judge(share > 5, format!("{share}% of its place has changed"))
    }
}
