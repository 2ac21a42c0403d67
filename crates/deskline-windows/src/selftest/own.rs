//! Checks on windows of the test's own, judged by their output.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use deskline_contract::{
    Cancel, Pictures as _, Platform as _, Raising as _, Scope, Screen as _, Sign, Window,
};
use deskline_core::Rect;
use deskline_link::call::Typing;
use deskline_link::selftest::{Found, judge, within};
use deskline_link::{Action, Target};

use super::test::{SHOWS, Test};
use super::window::{BLOCK, COLOUR, on_screen, place};
use crate::display::WinDisplay;
use crate::display::monitors;
use crate::platform::WinPlatform;

/// How long a program may take to show its window.
const STARTS: Duration = Duration::from_secs(20);

/// How long the window hangs in the check of a hung window.
const HANGS: Duration = Duration::from_secs(8);

/// A program that the test has started, with its standard input and output. Ends when this is
/// dropped.
pub(super) struct Own {
    child: Child,
    orders: ChildStdin,
    lines: Receiver<String>,
    pub(super) pid: u32,
}

impl Drop for Own {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Own {
    pub(super) fn start(command: &mut Command) -> Result<Self, String> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let child = command.stderr(Stdio::null()).spawn();
        let mut child = child.map_err(|e| e.to_string())?;
        let (Some(orders), Some(out)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("no pipes".into());
        };
        let (send, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(out).lines().map_while(Result::ok) {
                if send.send(line).is_err() {
                    return;
                }
            }
        });
        let pid = child.id();
        Ok(Self {
            child,
            orders,
            lines,
            pid,
        })
    }

    pub(super) fn order(&mut self, order: &str) {
        // If the program has ended, the check fails because the output is missing.
        let _ = writeln!(self.orders, "{order}").and_then(|()| self.orders.flush());
    }

    /// Waits for a line with this start; returns the rest of it.
    pub(super) fn hears(&self, start: &str, time: Duration) -> Option<String> {
        let begun = Instant::now();
        loop {
            let left = time.saturating_sub(begun.elapsed());
            let line = self.lines.recv_timeout(left).ok()?;
            if let Some(rest) = line.trim().strip_prefix(start) {
                return Some(rest.trim().to_owned());
            }
        }
    }

    /// Drops its output so far.
    pub(super) fn forget(&self) {
        while self.lines.try_recv().is_ok() {}
    }

    pub(super) fn window(&mut self) -> Result<Window, String> {
        let window = within(STARTS, || {
            let window = WinDisplay::plain(self.pid).into_iter().next();
            let ended = matches!(self.child.try_wait(), Ok(Some(_)));
            (window.is_some() || ended).then_some(window)
        });
        let window = window.flatten();
        window.ok_or_else(|| "shows no window".to_owned())
    }

    /// Whether it prints this line within a short time, as a finding.
    fn said(&self, start: &str, wanted: &str) -> Found {
        match self.hears(start, SHOWS) {
            Some(rest) => judge(
                rest.contains(wanted),
                format!("the window says {start} {rest}"),
            ),
            None => Err(format!("the window does not say {start}")),
        }
    }
}

impl Test<'_> {
    /// A window of the test's own.
    pub(super) fn another(&self) -> Result<Own, String> {
        let own = Own::start(Command::new(self.program).args(["selftest", "--role", "window"]))?;
        own.hears("ready", STARTS)
            .ok_or("the window is not ready")?;
        Ok(own)
    }

    pub(super) fn own_windows(&mut self) {
        let two = self.another().and_then(|own| Ok((own, self.another()?)));
        let shown = two.and_then(|(mut own, mut over)| {
            let windows = (own.window()?, over.window()?);
            Ok((own, over, windows))
        });
        let (mut own, over, (window, above)) = match shown {
            Ok(shown) => shown,
            Err(why) => return self.sheet.note("windows of its own", Err(why)),
        };
        place(&window, 60, 60);
        // This window covers a part of the coloured block.
        place(&above, 220, 200);
        self.raise("a window comes to the front", &above);
        self.controls(&own, &over);
        self.picture(&window);
        self.events(&mut own);
        self.hung(&mut own, &over);
        self.monitors(&own, &window);
        self.guard(&own, &window);
    }

    /// A window comes to the front although the last input did not go to this program.
    pub(super) fn raise(&mut self, name: &str, window: &Window) {
        let start = Instant::now();
        let raised = self.display.activate(window.id, &Cancel::new());
        let front = self.display.front().ok().flatten();
        let there = front.is_some_and(|front| front.id == window.id);
        let found = raised.map_err(|e| e.to_string()).and_then(|()| {
            judge(
                there,
                format!("{there} in {} ms", start.elapsed().as_millis()),
            )
        });
        self.sheet.note(name, found);
    }

    /// Win32's own providers, while another window stays in front; then clicks and text.
    fn controls(&mut self, own: &Own, over: &Own) {
        let pid = Some(own.pid);
        let name = "Win32: the tree";
        self.sheet.expect(name, pid, Action::Refresh, "Press me");
        let front = self.display.front().ok().flatten();
        let mut quiet = |name: &str, action, start: &str, wanted: &str| {
            own.forget();
            let answer = self.sheet.call(pid, action);
            let found = own.said(start, wanted);
            let found = found.map_err(|why| format!("{why}: {}", answer.text));
            self.sheet.note(name, found);
        };
        let target = Target::titled("Press me", "AXButton");
        quiet("Win32: press", Action::press_ax(target), "pressed", "");
        let target = Target::titled("Tick me", "AXCheckBox");
        quiet("Win32: a check box", Action::press_ax(target), "ticked", "");
        let target = Target::titled("", "AXTextField");
        let set = Action::set_value(target, "Büsh");
        quiet("Win32: set_value", set, "text", "Büsh");
        let now = self.display.front().ok().flatten();
        let name = |window: Option<Window>| window.map(|window| window.title);
        let (front, now) = (name(front), name(now));
        let seen = format!("{front:?}, then {now:?}");
        self.sheet.note(
            "the front window through actions",
            judge(front == now, seen),
        );

        own.forget();
        let choose = Action::choose(Target::titled("", "AXComboBox"), "Two");
        let answer = self.sheet.call(pid, choose);
        let found = own
            .said("chose", "1")
            .map_err(|why| format!("{why}: {}", answer.text));
        self.sheet.note("Win32: choose", found);

        let before = (self.display.pointer(), self.display.front());
        own.forget();
        let click = Action::click(Target::titled("", "AXTextField"), Typing::text(" 漢😀"));
        let answer = self.sheet.call(pid, click);
        let typed = within(SHOWS, || {
            own.hears("text", SHOWS).filter(|t| t.contains("漢😀"))
        });
        let typed = typed.ok_or_else(|| format!("it did not arrive: {}", answer.text));
        self.sheet.note("click with text", typed);
        let after = (self.display.pointer(), self.display.front());
        let pointer = before.0.ok().flatten().map(|p| p.at) == after.0.ok().flatten().map(|p| p.at);
        let front = after.1.ok().flatten().and_then(|window| window.pid);
        let there = before.1.ok().flatten().and_then(|window| window.pid) == front;
        let seen = format!(
            "pointer: {pointer}, front: {there}, of the test: {}",
            front == Some(over.pid)
        );
        self.sheet.note(
            "pointer and front window put back",
            judge(pointer && there, seen),
        );

        own.forget();
        let paste = Action::type_text(Typing {
            text: Some("pasted 漢".into()),
            paste: true,
            ..Typing::default()
        });
        let answer = self.sheet.call(pid, paste);
        let found = own.said("text", "pasted 漢");
        let found = found.map_err(|why| format!("{why}: {}", answer.text));
        self.sheet.note("paste", found);
    }

    /// A picture of a covered window shows that window, without those above it.
    fn picture(&mut self, window: &Window) {
        const NAME: &str = "a picture of a covered window";
        let picture = match self.display.picture(window.id) {
            Ok(picture) => picture,
            Err(e) => return self.sheet.note(NAME, Err(e.to_string())),
        };
        let mut corners = [(BLOCK.left, BLOCK.top), (BLOCK.right - 1, BLOCK.bottom - 1)]
            .into_iter()
            .map(|(x, y)| {
                let at = on_screen(window, x, y);
                let (x, y) = (at.x - picture.origin.x, at.y - picture.origin.y);
                let at = (y * picture.width.cast_signed() + x) * 3;
                let at = usize::try_from(at).unwrap_or(usize::MAX);
                picture
                    .rgb
                    .get(at..at.saturating_add(3))
                    .map(<[u8]>::to_vec)
            });
        let good = corners.all(|colour| colour.as_deref() == Some(&COLOUR[..]));
        let seen = format!(
            "{}×{}, the block shows: {good}",
            picture.width, picture.height
        );
        self.sheet.note(NAME, judge(good, seen));
    }

    /// How soon events report changes that the app makes by itself.
    fn events(&mut self, own: &mut Own) {
        for (name, order) in [
            ("a new window", "open"),
            ("a changed title", "title Deskline test, changed"),
            ("a changed text", "text changed"),
        ] {
            let found = heard(own, order);
            self.sheet.note(&format!("events: {name}"), found);
        }
    }

    /// A hung window costs 2 s in calls about it, and nothing in calls about other apps.
    fn hung(&mut self, own: &mut Own, over: &Own) {
        const NAME: &str = "a window that hangs";
        let mut desktop = match WinPlatform::new().connect() {
            Ok(desktop) => desktop,
            Err(e) => return self.sheet.note(NAME, Err(e.to_string())),
        };
        own.forget();
        own.order(&format!("hang {}", HANGS.as_millis()));
        if own.hears("hangs", SHOWS).is_none() {
            return self
                .sheet
                .note(NAME, Err("the window does not hang".into()));
        }
        let mut read = |pid| {
            let start = Instant::now();
            let read = desktop.read(pid, Scope::Showing);
            (read.is_ok(), start.elapsed())
        };
        let (its, its_time) = read(own.pid);
        let (other, time) = read(over.pid);
        let seen = format!("read: {its} in {its_time:?}; another app: {other} in {time:?}");
        let good = !its && its_time < HANGS / 2 && other && time < HANGS / 4;
        self.sheet.note(NAME, judge(good, seen));
        let awake = own.hears("awake", HANGS * 2).is_some();
        self.sheet.note("it wakes", judge(awake, awake.to_string()));
    }

    /// A click arrives at its pixel on each monitor.
    fn monitors(&mut self, own: &Own, window: &Window) {
        for (monitor, scale) in monitors::all() {
            place(window, monitor.x + 20, monitor.y + 20);
            let at = on_screen(window, BLOCK.left + 7, BLOCK.top + 7);
            own.forget();
            let click = Action::click(Target::Point(at), Typing::default());
            let answer = self.sheet.call(Some(own.pid), click);
            let wanted = format!("{},{}", at.x, at.y);
            let found = match own.hears("click", SHOWS) {
                Some(there) => judge(there == wanted, format!("asked {wanted}, came {there}")),
                None => Err(answer.text),
            };
            let Rect { x, y, .. } = monitor;
            let name = format!("a click on the monitor at {x},{y} (scale {scale})");
            self.sheet.note(&name, found);
        }
        place(window, 60, 60);
    }
}

fn heard(own: &mut Own, order: &str) -> Found {
    let mut desktop = WinPlatform::new().connect().map_err(|e| e.to_string())?;
    desktop.listen(own.pid).map_err(|e| e.to_string())?;
    // Handlers are added on another thread, and may also report earlier events.
    while desktop
        .wait_for_change(Duration::from_millis(500))
        .is_ok_and(|sign| sign.is_some())
    {}
    let start = Instant::now();
    own.order(order);
    loop {
        let left = SHOWS.saturating_sub(start.elapsed());
        match desktop.wait_for_change(left).map_err(|e| e.to_string())? {
            Some(Sign::Focus) => {}
            Some(sign) => return Ok(format!("{sign:?} after {:?}", start.elapsed())),
            None => return Err(format!("nothing within {SHOWS:?}")),
        }
    }
}
