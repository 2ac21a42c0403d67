//! Checks on windows of the test's own, judged by their output.

use std::sync::Arc;
use std::time::{Duration, Instant};

use deskline_core::Rect;
use deskline_link::call::Typing;
use deskline_link::{Action, Platform, Scope, Sign, Target, Window};
use deskline_windows::display::monitors;

use super::guard::{Keys, screen};
use super::window::{BLOCK, COLOUR, on_screen, place};
use super::{SHOWS, Test};
use crate::checks::guard;
use crate::checks::helper::Helper;
use crate::checks::sheet::{Found, Miss, judge, within};
use crate::checks::tools::{Row, texts};

/// How long a program may take to show its window.
const STARTS: Duration = Duration::from_secs(20);

/// How long the window hangs in the check of a hung window.
const HANGS: Duration = Duration::from_secs(8);

/// Waits until the window prints a line that begins with `start` and contains `wanted`.
fn said(own: &Helper, start: &str, wanted: &str) -> Found {
    let it = || own.hears(start, SHOWS).filter(|it| it.contains(wanted));
    let it = within(SHOWS, it);
    let it = it.ok_or_else(|| format!("the window does not say {start} {wanted}"))?;
    Ok(format!("the window says {start} {it}"))
}

impl Test<'_, '_> {
    /// The window that a program shows.
    pub(super) fn window_of_own(&mut self, own: &mut Helper) -> Result<Window, Miss> {
        let window = within(STARTS, || {
            let window = self.sheet.window(own.pid).ok();
            (window.is_some() || own.has_ended()).then_some(window)
        });
        Ok(window.flatten().ok_or("shows no window")?)
    }

    /// Starts a test window in a process of its own.
    fn another(&mut self) -> Result<(Helper, Window), Miss> {
        let mut own = Helper::role(self.program, "window")?;
        own.hears("ready", STARTS)
            .ok_or("the window is not ready")?;
        let window = self.window_of_own(&mut own)?;
        Ok((own, window))
    }

    pub(super) fn own_windows(&mut self) {
        let two = self.another().and_then(|own| Ok((own, self.another()?)));
        let ((mut own, window), (over, above)) = match two {
            Ok(two) => two,
            Err(why) => return self.sheet.note("windows of its own", Err(why)),
        };
        place(&window, 60, 60);
        // `above` covers a part of the coloured block.
        place(&above, 220, 200);
        self.raise("a window comes to the front", &above);
        self.controls(&own, &window);
        let found = self.picture(&window);
        self.sheet.note("a picture of a covered window", found);
        let platform = Arc::clone(&self.sheet.platform);
        for (name, order) in [
            ("events: a new window", "open"),
            ("events: a changed title", "title Deskline test, changed"),
            ("events: a changed text", "text changed"),
        ] {
            self.sheet.note(name, heard(&*platform, &mut own, order));
        }
        self.sheet
            .note("a window that hangs", hung(&*platform, &mut own, &over));
        let awake = own.hears("awake", HANGS * 2).is_some();
        self.sheet.note("it wakes", judge(awake, awake.to_string()));
        self.monitors(&own, &window);
        self.raise("its own window comes to the front", &window);
        let desktop = match platform.connect() {
            Ok(desktop) => desktop,
            Err(why) => return self.sheet.note("guard", Err(why.into())),
        };
        let (own, screen) = (&own, screen());
        let mut keys = Keys {
            desktop,
            own,
            screen,
        };
        guard::check(self.sheet, &mut keys, Some(self.program));
    }

    /// Checks that a window comes to the front although the last input did not go to this program.
    fn raise(&mut self, name: &str, window: &Window) {
        let start = Instant::now();
        let raised = self.sheet.raise(window);
        let ms = start.elapsed().as_millis();
        let there = self.sheet.front() == window.pid;
        let found = raised.and_then(|()| judge(there, format!("{there} in {ms} ms")));
        self.sheet.note(name, found);
    }

    /// Makes a call, and judges it by what the window prints after it.
    fn effect(&mut self, (name, action, wanted): Row, own: &Helper, start: &str) {
        own.forget();
        let answer = self.sheet.call(Some(own.pid), action);
        let found = said(own, start, wanted);
        let found = found.map_err(|why| format!("{why:?}: {}", answer.text).into());
        self.sheet.note(name, found);
    }

    /// Checks Win32's own providers while another window stays in front, then clicks and text.
    fn controls(&mut self, own: &Helper, window: &Window) {
        let name = "Win32: the tree";
        self.sheet
            .expect(name, Some(own.pid), Action::Refresh, "Press me");
        let title = |test: &mut Self| Some(test.sheet.desktop().ok()?.front().ok()??.title);
        let press = |name, role| Action::press_ax(Target::titled(name, role));
        let tick = press("Tick me", "AXCheckBox");
        let front = title(self);
        self.effect(
            ("Win32: press", press("Press me", "AXButton"), ""),
            own,
            "pressed",
        );
        self.effect(("Win32: a check box", tick, ""), own, "ticked");
        let [set, entered @ ..] = texts("AXTextField");
        self.effect(set, own, "text");
        let now = title(self);
        let seen = format!("{front:?}, then {now:?}");
        let name = "the front window through actions";
        self.sheet.note(name, judge(front == now, seen));
        let choose = Action::choose(Target::titled("", "AXComboBox"), "Two");
        self.effect(("Win32: choose", choose, "1"), own, "chose");
        for row in entered {
            self.effect(row, own, "text");
        }
        let at = on_screen(window, BLOCK.left + 7, BLOCK.top + 7);
        let click = Action::click(Target::Point(at), Typing::default());
        self.sheet.puts_back(own.pid, click);
    }

    /// Checks that a picture of a covered window shows this window, without the windows above it.
    fn picture(&mut self, window: &Window) -> Found {
        let picture = self.sheet.picture(window.id)?;
        let (width, height) = (picture.width, picture.height);
        let mut corners = [(BLOCK.left, BLOCK.top), (BLOCK.right - 1, BLOCK.bottom - 1)]
            .into_iter()
            .map(|(x, y)| {
                let at = on_screen(window, x, y);
                let (x, y) = (at.x - picture.origin.x, at.y - picture.origin.y);
                let at = usize::try_from((y * width.cast_signed() + x) * 3).unwrap_or(usize::MAX);
                picture.rgb.get(at..at.saturating_add(3))
            });
        let good = corners.all(|colour| colour == Some(&COLOUR[..]));
        judge(good, format!("{width}×{height}, the block shows: {good}"))
    }

    /// Checks that a click arrives at its pixel on each monitor.
    fn monitors(&mut self, own: &Helper, window: &Window) {
        for (monitor, scale) in monitors::all() {
            place(window, monitor.x + 20, monitor.y + 20);
            let at = on_screen(window, BLOCK.left + 7, BLOCK.top + 7);
            own.forget();
            let click = Action::click(Target::Point(at), Typing::default());
            let answer = self.sheet.call(Some(own.pid), click);
            let wanted = format!("{},{}", at.x, at.y);
            let found = match own.hears("click", SHOWS) {
                Some(there) => judge(there == wanted, format!("asked {wanted}, came {there}")),
                None => Err(answer.text.into()),
            };
            let Rect { x, y, .. } = monitor;
            let name = format!("a click on the monitor at {x},{y} (scale {scale})");
            self.sheet.note(&name, found);
        }
        place(window, 60, 60);
    }
}

/// Checks that a call about a hung window fails in time, and does not slow calls about other apps.
fn hung(platform: &dyn Platform, own: &mut Helper, over: &Helper) -> Found {
    let mut desktop = platform.connect()?;
    own.forget();
    own.order(&format!("hang {}", HANGS.as_millis()));
    own.hears("hangs", SHOWS)
        .ok_or("the window does not hang")?;
    let mut read = |pid| {
        let start = Instant::now();
        let read = desktop.read(pid, Scope::Showing);
        (read.is_ok(), start.elapsed())
    };
    let (its, its_time) = read(own.pid);
    let (other, time) = read(over.pid);
    let seen = format!("read: {its} in {its_time:?}; another app: {other} in {time:?}");
    judge(
        !its && its_time < HANGS / 2 && other && time < HANGS / 4,
        seen,
    )
}

/// Measures how soon an event reports a change that the app makes by itself.
fn heard(platform: &dyn Platform, own: &mut Helper, order: &str) -> Found {
    let mut desktop = platform.connect()?;
    desktop.listen(own.pid)?;
    // Handlers are added on another thread, and may also report earlier events.
    while desktop
        .wait_for_change(Duration::from_millis(500))
        .is_ok_and(|sign| sign.is_some())
    {}
    let start = Instant::now();
    own.order(order);
    loop {
        let left = SHOWS.saturating_sub(start.elapsed());
        match desktop.wait_for_change(left)? {
            Some(Sign::Focus) => {}
            Some(sign) => return Ok(format!("{sign:?} after {:?}", start.elapsed())),
            None => return Err(format!("nothing within {SHOWS:?}").into()),
        }
    }
}
