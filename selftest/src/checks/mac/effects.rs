//! Checks judged by effects on the screen, not by summaries: the scroll bar, a moved window, an
//! app's count of clicks, an opened menu, the pixels of a picture.

use std::time::{Duration, Instant};

use deskline_core::{Line, Point, Role};
use deskline_input::Click;
use deskline_link::call::{ClickKind, Input, Typing};
use deskline_link::{Action, Answer, Button, Cancel, Picture, Target, wait};
use deskline_macos::MacDesktop;
use deskline_macos::os::{Event, Os, Value};

use super::super::sheet::{Found, Miss, judge, said, skip, tree_of, within};
use super::Test;
use super::guard::{grew, length};
use super::tools::{AREA, place, reference, visible};

/// How often a button is clicked for the count.
const CLICKS: u32 = 50;

/// How long an effect may take to show.
pub(super) const SHOWS: Duration = Duration::from_secs(2);

/// The names of Calculator's button = in different versions of macOS.
const EQUALS: [&str; 3] = ["=", "equals", "Equals"];

/// Quotes and marks that are dead keys in many layouts. `TextEdit` curls the quotes.
const QUOTES: &str = "it's \"x\" ^ ~ `";

const PANEL_TEXT: &str = "under a panel";

/// How often the person's mouse moves while text is typed, and the pause between two motions.
const MOTIONS: usize = 5;
const MOTION: Duration = Duration::from_millis(20);

/// Repeats the check until it holds, for at most `time`.
pub(super) fn until(time: Duration, mut holds: impl FnMut() -> bool) -> bool {
    within(time, || holds().then_some(())).is_some()
}

/// Whether two points are the same within the accuracy of the pointer's position.
fn near(a: (f64, f64), b: (f64, f64)) -> bool {
    (a.0 - b.0).abs() < 1.5 && (a.1 - b.1).abs() < 1.5
}

fn pixel(picture: &Picture, x: usize, y: usize) -> Option<&[u8]> {
    let at = 3 * (y * picture.width as usize + x);
    picture.rgb.get(at..at + 3)
}

impl<O: Os> Test<'_, '_, O> {
    /// Where the vertical scroll bar of the focused text is, from 0 to 1.
    fn scrolled(&self, pid: u32) -> Option<f64> {
        let os = self.os;
        let focused = os.element(&os.application(pid), "AXFocusedUIElement")?;
        let area = os.element(&focused, "AXParent")?;
        let bar = os.element(&area, "AXVerticalScrollBar")?;
        match os.attribute(&bar, "AXValue").ok()? {
            Value::Number(at) => Some(at),
            _ => None,
        }
    }

    pub(super) fn click_at(
        &mut self,
        pid: u32,
        target: Target,
        button: Button,
        text: Option<&str>,
    ) -> Answer {
        let click = Input::Click {
            target,
            kind: ClickKind::with_button(button),
            then: text.map(Typing::text).unwrap_or_default(),
        };
        self.call(Some(pid), Action::Input(click))
    }

    /// Turns the wheel over the text, with the pointer elsewhere beforehand: judged by the scroll
    /// bar.
    pub(super) fn wheel(&mut self, pid: u32) -> Found {
        let area = || Target::titled("", AREA);
        let turn = |delta_y| {
            Action::Input(Input::Scroll {
                at: area(),
                delta_x: 0,
                delta_y,
                until: None,
            })
        };
        let long = Action::set_value(area(), "line\n".repeat(200));
        // Start at the top: setting the text may have scrolled to its end.
        for action in [long, turn(-500)] {
            self.call(Some(pid), action);
        }
        let before = self.scrolled(pid);
        self.call(Some(pid), turn(40));
        let moved = until(SHOWS, || self.scrolled(pid) > before);
        let now = self.scrolled(pid);
        self.call(Some(pid), Action::set_value(area(), "line"));
        let seen = format!("the scroll bar went from {before:?} to {now:?}");
        judge(moved && before.is_some(), seen)
    }

    /// A drag of the window by its title bar: judged by the window's position.
    pub(super) fn drag_window(&mut self, pid: u32) -> Found {
        let before = self.window(pid)?.extents.ok_or("the window has no place")?;
        let grip = Point::at(before.x + before.w / 2, before.y + 8);
        let to = Point::at(grip.x + 70, grip.y + 50);
        let drag = Action::drag(Target::Point(grip), Target::Point(to));
        self.call(Some(pid), drag);
        let mut now = None;
        let moved = until(SHOWS, || {
            now = self.window(pid).ok().and_then(|window| window.extents);
            now.is_some_and(|now| now.x.abs_diff(before.x) > 20)
        });
        judge(moved, format!("{before:?} → {now:?}"))
    }

    /// Fifty clicks on Calculator's =, which repeats the last addition: judged by the sum.
    pub(super) fn count_clicks(&mut self, pid: u32) -> Found {
        // The first Escape clears the entry, the second everything.
        for _ in 0..2 {
            self.press(pid, "Escape", &[]);
        }
        self.call(Some(pid), Action::type_text(Typing::text("0+1")));
        let tree = self.tree(pid);
        let names = EQUALS.map(|name| format!("\"{name}\""));
        let is = |line: &&str| {
            line.contains("[AXButton") && names.iter().any(|name| line.contains(name))
        };
        let line = tree.lines().find(is);
        let line = line.and_then(|l| l.trim().parse::<Line>().ok());
        let at = line.and_then(|line| line.extents);
        let at = at.ok_or("there is no button =")?.center();
        self.show(pid)
            .ok_or("Calculator did not come to the front")?;
        let mut desktop = MacDesktop::new(self.os.clone());
        let start = Instant::now();
        for _ in 0..CLICKS {
            let (click, cancel) = (Click::left(at), Cancel::new());
            deskline_input::click(&mut desktop, click, &mut || None, &cancel)?;
        }
        let ms = start.elapsed().as_millis() / u128::from(CLICKS);
        let mut shown = String::new();
        let good = until(SHOWS, || {
            shown = sum(&self.tree(pid)).unwrap_or_default();
            shown == CLICKS.to_string()
        });
        let seen = format!("Calculator shows {shown} after {CLICKS} clicks, {ms} ms each");
        judge(good, seen)
    }

    /// Opens a menu of an app that is behind, and closes it.
    pub(super) fn menu_bar(&mut self, pid: u32) -> Found {
        let tree = self.tree(pid);
        let titles = tree.lines().filter(|l| l.contains("[AXMenuBarItem"));
        // The menu after the Apple menu and the app's own menu.
        let target = titles.filter_map(reference).nth(2);
        let target = Target::Ref(target.ok_or("the tree has no menu bar")?);
        let answer = self.call(Some(pid), Action::click(target, Typing::default()));
        let items = |tree: &str| {
            let items = visible(tree).filter(|l| l.starts_with(" [AXMenuItem"));
            items.count()
        };
        let opened = items(&tree_of(&answer).unwrap_or_default());
        self.press(pid, "Escape", &[]);
        let closed = items(&self.tree(pid));
        let said = said(&answer);
        let seen = format!("{opened} items showed, {closed} after Escape: {said}");
        judge(opened > 0 && closed == 0, seen)
    }

    /// While the person's mouse moves, types a text that layouts and input methods can spoil. It is
    /// longer than the pieces in which Deskline enters text on other systems. Judged by how much
    /// arrives, and by whether the pointer comes back.
    pub(super) fn hard_text(&mut self, pid: u32) -> Found {
        let text = QUOTES.to_owned() + &"a1 b2 c3 d4 e5 ".repeat(40);
        let (had, before) = (length(self.os, pid), self.os.pointer());
        let os = self.os.clone();
        let mouse = std::thread::spawn(move || {
            // The mouse starts to move once the click has moved the pointer, and stops before the
            // text is complete.
            until(SHOWS, || !near(os.pointer(), before));
            for _ in 0..MOTIONS {
                wait::pause(MOTION);
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
        let target = Target::titled("", AREA);
        let answer = self.click_at(pid, target, Button::Left, Some(&text));
        let _ = mouse.join();
        let now = self.os.pointer();
        let came = grew(had, length(self.os, pid), &text);
        let guarded = !answer.text.contains("may have mixed");
        let back = near(now, before);
        let seen = format!("came: {came}, guarded: {guarded}, pointer back: {back}");
        judge(came && guarded && back, seen + " " + said(&answer))
    }

    /// A click and text under a floating panel (Fonts): judged by the text's length.
    pub(super) fn under_a_panel(&mut self, pid: u32) -> Found {
        self.press(pid, "t", &["Command"]);
        let windows = self.os.windows();
        if !windows.iter().any(|w| w.pid == pid && w.layer == 3) {
            return Err(skip("Cmd+T opened none"));
        }
        let before = length(self.os, pid);
        let target = Target::titled("", AREA);
        let answer = self.click_at(pid, target, Button::Left, Some(PANEL_TEXT));
        let now = length(self.os, pid);
        self.press(pid, "t", &["Command"]);
        judge(grew(before, now, PANEL_TEXT), said(&answer))
    }

    /// The context menu of a text. It closes when its app goes behind.
    pub(super) fn context_menu(&mut self, pid: u32) -> Found {
        self.show(pid);
        let at = place(&self.tree(pid), AREA);
        let at = at.ok_or_else(|| skip("there is nothing to click"))?;
        let found = self.in_picture(pid, Role::MENU, |test| {
            test.click_at(pid, Target::Point(at), Button::Right, None);
        });
        self.press(pid, "Escape", &[]);
        found
    }

    /// Opens a menu or sheet over a window of an app: judged by the pixels where the menu or sheet
    /// is.
    pub(super) fn in_picture(
        &mut self,
        pid: u32,
        role: Role,
        opens: impl FnOnce(&mut Self),
    ) -> Found {
        let window = self.window(pid)?;
        let before = self.picture(window.id);
        opens(self);
        let after = self.picture(window.id);
        let tree = self.tree(pid);
        let mut lines = visible(&tree).filter_map(|l| l.trim().parse::<Line>().ok());
        let place = lines
            .find(|line| line.role == role)
            .and_then(|line| line.extents);
        let unable = |why: Miss| skip(format!("{why:?}"));
        let (before, after) = (before.map_err(unable)?, after.map_err(unable)?);
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

/// The number that Calculator shows: the last text that is a number and not the name of a button.
fn sum(tree: &str) -> Option<String> {
    let texts = visible(tree).filter(|l| !l.contains("[AXButton"));
    let quoted = texts.filter_map(|l| l.split('"').nth(1));
    // Calculator marks the direction of digits by an invisible character.
    let mut plain = quoted.map(|t| t.chars().filter(char::is_ascii).collect::<String>());
    plain.rfind(|t| !t.is_empty() && t.chars().all(|c| c.is_ascii_digit()))
}
