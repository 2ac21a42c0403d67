//! Blocks the person's input by KWin's input capture: during a capture, their keys, clicks and
//! motions reach this program instead of apps. A capture begins when a pointer crosses a barrier,
//! so the guard pushes ours over the left edge of the screen.
//!
//! The capture takes the agent's own events too. So the guard opens it for each burst of input and
//! closes it right afterwards: the person's presses in those milliseconds reach the app. A capture
//! ends with the process, at the limit, and by Super+Shift+Esc, which KWin handles itself.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use deskline_core::Rect;
use deskline_link::Reason;
use deskline_link::{Cancel, Error, Result};
use deskline_unix::codes::{ESCAPE, MODIFIERS};
use deskline_unix::hold::Holding;
use reis::ei::handshake::ContextType;
use zbus::zvariant::{DynamicDeserialize, OwnedFd, OwnedObjectPath};

use super::bus::{Bus, PATIENCE, lost};
use crate::dbus::Arguments;
use crate::eis::{Connection, Heard};
use crate::events::Events;

const MANAGER: &str = "/org/kde/KWin/EIS/InputCapture";
const MANAGER_INTERFACE: &str = "org.kde.KWin.EIS.InputCaptureManager";
const INTERFACE: &str = "org.kde.KWin.EIS.InputCapture";

/// The captured devices: keyboard, pointer. Touch is 4.
const DEVICES: u32 = 1 | 2;

/// How long KWin may take to begin a capture after the pointer has crossed the barrier.
const BEGINS: Duration = Duration::from_millis(300);

/// How far past the edge the pointer is pushed.
const PUSH: f64 = 20.0;

/// How often the watchdog checks the limit.
const LOOK: Duration = Duration::from_millis(50);

/// The answer mentions a total gap of at least this long: people press keys 100 ms apart or more.
const MENTIONED: Duration = Duration::from_millis(100);

/// The state that both threads share.
#[derive(Debug, Default)]
struct State {
    /// Whether the person's input is captured.
    captured: bool,
    /// Whether we have released the capture ourselves, so that its end is not the person's doing.
    opened: bool,
    /// The modifiers that the person holds.
    held: Vec<u32>,
    /// The task, with the link to cancel.
    task: Holding<Cancel>,
    /// The reason if the capture has ended before its task.
    ended: Option<&'static str>,
    /// Whether the guard is being dropped.
    over: bool,
}

#[derive(Debug, Default)]
struct Shared(Mutex<State>, Condvar);

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A capture, which is inactive before [`Guard::begin`].
#[derive(Debug)]
pub(super) struct Guard {
    capture: Capture,
    shared: Arc<Shared>,
    listener: Option<JoinHandle<()>>,
    /// Cancels the task's link.
    cancel: Cancel,
    /// The middle of the barrier.
    edge: (f64, f64),
    /// When the capture was opened for our input; `None` while it is closed.
    open_since: Option<Instant>,
    /// The total time that it was open during this task.
    gap: Duration,
}

/// KWin's D-Bus object for the capture.
#[derive(Debug, Clone)]
struct Capture {
    bus: Bus,
    path: OwnedObjectPath,
}

impl Capture {
    fn ask<R>(&self, member: &str, body: &impl Arguments) -> Result<R>
    where
        R: for<'d> DynamicDeserialize<'d>,
    {
        self.bus.ask(self.path.as_str(), INTERFACE, member, body)
    }

    /// Ends the present capture, and moves the pointer there.
    fn release(&self, pointer: (f64, f64)) -> Result<()> {
        self.ask("release", &(pointer, true))
    }

    /// Removes the barrier, and ends the present capture.
    fn disable(&self) -> Result<()> {
        self.ask("disable", &())
    }
}

/// Whether this KWin has input capture.
pub(super) fn offered(bus: &Bus) -> bool {
    bus.offers(MANAGER, MANAGER_INTERFACE)
}

impl Guard {
    pub(super) fn new(bus: &Bus) -> Result<Self> {
        let add = "addInputCapture";
        let path = bus.ask(MANAGER, MANAGER_INTERFACE, add, &DEVICES);
        // KWin 6.3 takes a signed number.
        let path =
            path.or_else(|_| bus.ask(MANAGER, MANAGER_INTERFACE, add, &DEVICES.cast_signed()));
        let capture = Capture {
            bus: bus.clone(),
            path: path?,
        };
        let socket: OwnedFd = capture.ask("connectToEIS", &())?;
        let mut receiver = Connection::open(socket.into(), ContextType::Receiver)?;
        // A capture that begins before the device exists would not be reported.
        let there = |it: &Connection| {
            let mut devices = it.devices.iter();
            devices.any(|d| d.keyboard.is_some() && d.resumed)
        };
        if !receiver.until(Instant::now() + PATIENCE, there)? {
            return Err(lost("KWin's input capture has no keyboard"));
        }
        let shared = Arc::new(Shared::default());
        let listener = std::thread::Builder::new().name("guard".into()).spawn({
            let (shared, capture) = (Arc::clone(&shared), capture.clone());
            move || listen(receiver, &shared, &capture)
        });
        Ok(Self {
            capture,
            shared,
            listener: Some(listener.map_err(Error::system("starting the guard"))?),
            cancel: Cancel::new(),
            edge: (0.0, 0.0),
            open_since: None,
            gap: Duration::ZERO,
        })
    }

    /// Captures the person's input until [`Guard::end`]. `screen` is the leftmost screen.
    pub(super) fn begin(
        &mut self,
        events: &mut dyn Events,
        screen: Rect,
        limit: Duration,
        cancel: &Cancel,
    ) -> Result<()> {
        let Rect { x, y, h, .. } = screen;
        self.edge = (f64::from(x), f64::from(y) + f64::from(h) / 2.0);
        let mut state = State::default();
        state.task.grab(cancel.clone(), limit, Instant::now());
        *self.shared.state() = state;
        (self.gap, self.open_since) = (Duration::ZERO, None);
        self.cancel = cancel.clone();
        let (top, bottom) = ((x, y), (x, y + h - 1));
        let enabled = self
            .capture
            .ask::<()>("enable", &(vec![(0_u32, top, bottom)],));
        // In KWin 6.3 a barrier has no number.
        enabled.or_else(|_| self.capture.ask("enable", &(vec![(top, bottom)],)))?;
        self.close(events)
    }

    /// Opens the capture for our input, with the pointer there.
    pub(super) fn open(&mut self, pointer: (f64, f64)) -> Result<()> {
        {
            let mut state = self.shared.state();
            self.cancel.check()?;
            state.opened = true;
        }
        self.open_since = Some(Instant::now());
        self.capture.release(pointer)
    }

    /// Closes the capture: the person's input is captured again.
    pub(super) fn close(&mut self, events: &mut dyn Events) -> Result<()> {
        let closed = self.push(events);
        if let Some(since) = self.open_since.take() {
            self.gap += since.elapsed();
        }
        closed
    }

    fn push(&mut self, events: &mut dyn Events) -> Result<()> {
        events.push_over(self.edge, (-PUSH, 0.0))?;
        let state = self.shared.state();
        let waits = |state: &mut State| !state.captured && state.ended.is_none();
        let waited = self.shared.1.wait_timeout_while(state, BEGINS, waits);
        let state = waited.unwrap_or_else(PoisonError::into_inner).0;
        if state.captured {
            return Ok(());
        }
        drop(state);
        self.cancel.check()?;
        Err(Error::system("keeping the user's input out")(
            "no capture of KWin's began within 300 ms",
        ))
    }

    /// Whether a task has begun and has not ended.
    pub(super) fn holds(&self) -> bool {
        self.shared.state().task.is_held()
    }

    /// Ends the capture, with the pointer there.
    pub(super) fn end(&mut self, pointer: (f64, f64)) {
        {
            let mut state = self.shared.state();
            state.opened = true;
            state.task.release();
        }
        // `release` restores the pointer; `disable` ends the capture even if `release` failed.
        if let Err(e) = self.capture.release(pointer) {
            tracing::warn!("the capture was not released: {e}");
        }
        if let Err(e) = self.capture.disable() {
            tracing::warn!("the capture was not ended: {e}");
        }
    }

    /// The reason if some of the person's input may have reached an app during the last task.
    pub(super) fn lapse(&mut self) -> Option<String> {
        if let Some(why) = self.shared.state().ended.take() {
            return Some(why.to_owned());
        }
        let gap = std::mem::take(&mut self.gap);
        (gap >= MENTIONED).then(|| {
            format!(
                "KWin lets the user's input through together with the agent's: {} ms in all",
                gap.as_millis()
            )
        })
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.shared.state().over = true;
        let (bus, path) = (&self.capture.bus, &self.capture.path);
        let _ = bus.ask::<()>(MANAGER, MANAGER_INTERFACE, "removeInputCapture", path);
        if let Some(listener) = self.listener.take() {
            let _ = listener.join();
        }
    }
}

/// Runs the thread that listens for the person's Esc and for the end of captures, and enforces the
/// limit.
fn listen(mut receiver: Connection, shared: &Shared, capture: &Capture) {
    loop {
        let heard = receiver.until(Instant::now() + LOOK, |it| !it.heard.is_empty());
        let heard: Vec<Heard> = match heard {
            Ok(_) => receiver.heard.drain(..).collect(),
            Err(e) => {
                let mut state = shared.state();
                state.captured = false;
                if let (Some(cancel), false) = (state.task.link(), state.over) {
                    tracing::warn!("the guard has lost its connection: {e}");
                    cancel.cancel(Reason::Unguarded);
                    state.ended = Some("KWin has ended the guard's connection");
                }
                shared.1.notify_all();
                return;
            }
        };
        let mut state = shared.state();
        for heard in heard {
            state.hear(heard);
        }
        let over = state.over;
        if let Some(expired) = state.task.expire(Instant::now()) {
            expired.link.cancel(Reason::Watchdog);
            (state.ended, state.opened) = (Some("it held for longer than its limit"), true);
            drop(state);
            let _ = capture.disable();
        }
        shared.1.notify_all();
        if over {
            return;
        }
    }
}

impl State {
    fn hear(&mut self, heard: Heard) {
        match heard {
            Heard::Start => (self.captured, self.opened) = (true, false),
            Heard::Stop => {
                self.captured = false;
                self.held.clear();
                if let (Some(cancel), false) = (self.task.link(), self.opened) {
                    cancel.cancel(Reason::Person);
                    self.ended = Some("the user ended it (Super+Shift+Esc)");
                }
            }
            Heard::Key(code, press) if MODIFIERS.contains(&code) => {
                self.held.retain(|held| *held != code);
                if press {
                    self.held.push(code);
                }
            }
            Heard::Key(ESCAPE, true) if self.held.is_empty() => {
                if let Some(cancel) = self.task.link() {
                    cancel.cancel(Reason::Person);
                }
            }
            Heard::Key(..) | Heard::Button(..) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(heard: &[Heard]) -> (Option<Reason>, State) {
        let cancel = Cancel::new();
        let mut state = State::default();
        let limit = Duration::from_secs(60);
        state.task.grab(cancel.clone(), limit, Instant::now());
        for heard in heard {
            state.hear(*heard);
        }
        (cancel.reason(), state)
    }

    #[test]
    fn esc_cancels_without_modifiers_only() {
        let key = |code, press| Heard::Key(code, press);
        let plain = [
            Heard::Start,
            key(30, true),
            key(30, false),
            key(ESCAPE, true),
        ];
        assert_eq!(after(&plain).0, Some(Reason::Person));
        let held = [Heard::Start, key(56, true), key(ESCAPE, true)];
        assert_eq!(after(&held).0, None);
        let let_go = [
            Heard::Start,
            key(56, true),
            key(56, false),
            key(ESCAPE, true),
        ];
        assert_eq!(after(&let_go).0, Some(Reason::Person));
    }

    #[test]
    fn a_capture_that_we_did_not_end_was_ended_by_the_person() {
        let (cancelled, state) = after(&[Heard::Start, Heard::Stop]);
        assert_eq!(cancelled, Some(Reason::Person));
        assert!(state.ended.is_some() && !state.captured);
        let mut state = after(&[Heard::Start]).1;
        state.opened = true;
        state.hear(Heard::Stop);
        assert!(state.ended.is_none());
        state.hear(Heard::Start);
        assert!(state.captured && !state.opened);
    }
}
