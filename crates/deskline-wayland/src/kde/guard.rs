//! Blocks the person's input by KWin's input capture. During a capture, their keys, clicks and
//! motions reach a process of ours (`keeper`) and no app. A capture begins when a pointer crosses a
//! barrier. So the guard pushes our pointer over the left edge of the screen.
//!
//! A capture also takes the agent's own events. So the guard opens it for each burst of input and
//! closes it right after that. In these milliseconds, what the person presses reaches the app. A
//! capture ends when its process ends, at the time limit, shortly after Esc, or by Super+Shift+Esc,
//! which KWin handles itself.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use deskline_contract::{Cancel, Error, Reason, Result};
use deskline_core::Rect;
use deskline_unix::alarm::Alarm;
use deskline_unix::process;

use super::bus::{Bus, lost};
use super::keeper::{MANAGER, MANAGER_INTERFACE, Order, Report};
use crate::eis::Eis;
use crate::helper;

/// How long the process may take to carry out an order, for which it calls KWin about twice.
const OBEYS: Duration = Duration::from_secs(5);

/// How long KWin may take to begin a capture after the pointer has crossed the barrier.
const BEGINS: Duration = Duration::from_millis(300);

/// How far past the edge the pointer is pushed.
const PUSH: f64 = 20.0;

/// Gaps in the capture are mentioned in the answer only if they add up to at least this. People
/// press keys 100 ms apart or more.
const MENTIONED: Duration = Duration::from_millis(100);

/// The state that both threads share.
#[derive(Debug, Default)]
struct State {
    /// Whether the person's input is captured.
    captured: bool,
    /// The task's link; `None` while there is no task.
    task: Option<Cancel>,
    /// Why the capture ended, if it ended before its task was done.
    ended: Option<&'static str>,
}

#[derive(Debug, Default)]
struct Shared(Mutex<State>, Condvar);

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A handle to the process. Dropping it ends the process, and with it the capture.
#[derive(Debug)]
pub(super) struct Guard {
    process: Child,
    bus: Bus,
    orders: ChildStdin,
    answers: Receiver<Option<String>>,
    shared: Arc<Shared>,
    /// Cancels the task's link.
    cancel: Cancel,
    /// The middle of the barrier.
    edge: (f64, f64),
    /// When the capture was opened for our input; `None` while it is closed.
    open_since: Option<Instant>,
    /// The total time that the capture was open during this task.
    gap: Duration,
    /// Wakes this process at the time limit if it is stopped (SIGSTOP), so that it releases its own
    /// keys.
    alarm: Alarm,
}

/// Whether this KWin has input capture.
pub(super) fn offered(bus: &Bus) -> bool {
    bus.offers(MANAGER, MANAGER_INTERFACE)
}

impl Guard {
    pub(super) fn start(bus: &Bus) -> Result<Self> {
        const WHAT: &str = "starting the input lock";
        let alarm = Alarm::wakes().map_err(Error::system(WHAT))?;
        let pid = bus.pid.to_string();
        let mut process = helper::start([helper::CAPTURE, &bus.address, &pid])?;
        let (orders, reports) = (process.stdin.take(), process.stdout.take());
        let (Some(orders), Some(reports)) = (orders, reports) else {
            return Err(lost("no pipe to the guard's process"));
        };
        let (sender, answers) = mpsc::channel();
        let shared = Arc::new(Shared::default());
        let listener = std::thread::Builder::new().name("guard".into()).spawn({
            let (shared, bus, pid) = (Arc::clone(&shared), bus.clone(), process.id());
            move || {
                listen(reports, &sender, &shared);
                await_end(pid, &bus);
                let ended = Some("the guard's process has ended");
                shared.state().end(Reason::Unguarded, ended);
                shared.1.notify_all();
            }
        });
        listener.map_err(Error::system(WHAT))?;
        Ok(Self {
            process,
            bus: bus.clone(),
            orders,
            answers,
            shared,
            cancel: Cancel::new(),
            edge: (0.0, 0.0),
            open_since: None,
            gap: Duration::ZERO,
            alarm,
        })
    }

    /// Sends an order, and waits until it is carried out. Ends a process that does not answer: KWin
    /// then ends the capture.
    fn order(&mut self, order: &Order) -> Result<()> {
        while self.answers.try_recv().is_ok() {}
        let mut line = serde_json::to_vec(order).map_err(lost)?;
        line.push(b'\n');
        let sent = self.orders.write_all(&line).map_err(lost);
        let silent = |_| lost("the guard's process does not answer");
        match sent.and_then(|()| self.answers.recv_timeout(OBEYS).map_err(silent)) {
            Ok(failed) => failed.map_or(Ok(()), |why| Err(lost(why))),
            Err(error) => {
                self.kill();
                await_end(self.process.id(), &self.bus);
                Err(error)
            }
        }
    }

    fn kill(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }

    /// `self` if the process still runs, otherwise `None`.
    pub(super) fn if_alive(mut self) -> Option<Self> {
        matches!(self.process.try_wait(), Ok(None)).then_some(self)
    }

    /// Captures the person's input until [`Guard::end`]. `screen` is the leftmost screen.
    pub(super) fn begin(
        &mut self,
        events: &mut Eis,
        screen: Rect,
        limit: Duration,
        cancel: &Cancel,
    ) -> Result<()> {
        let Rect { x, y, h, .. } = screen;
        self.edge = (f64::from(x), f64::from(y) + f64::from(h) / 2.0);
        *self.shared.state() = State {
            task: Some(cancel.clone()),
            ..State::default()
        };
        (self.gap, self.open_since) = (Duration::ZERO, None);
        self.cancel = cancel.clone();
        let _ = self.alarm.set(Some(limit));
        let (top, bottom) = ((x, y), (x, y + h - 1));
        let limit = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
        self.order(&Order::Begin { top, bottom, limit })?;
        self.close(events)
    }

    /// Opens the capture for our input, and puts the pointer at this point.
    pub(super) fn open(&mut self, (x, y): (f64, f64)) -> Result<()> {
        self.cancel.check()?;
        self.open_since = Some(Instant::now());
        self.order(&Order::Open(x, y))
    }

    /// Closes the capture: the person's input is captured again.
    pub(super) fn close(&mut self, events: &mut Eis) -> Result<()> {
        let closed = self.push(events);
        if let Some(since) = self.open_since.take() {
            self.gap += since.elapsed();
        }
        closed
    }

    fn push(&mut self, events: &mut Eis) -> Result<()> {
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
            "KWin did not start to capture input within 300 ms",
        ))
    }

    /// Whether a task has begun and has not ended.
    pub(super) fn holds(&self) -> bool {
        self.shared.state().task.is_some()
    }

    /// Ends the capture, and puts the pointer at this point.
    pub(super) fn end(&mut self, (x, y): (f64, f64)) {
        self.shared.state().task = None;
        let _ = self.alarm.set(None);
        if let Err(e) = self.order(&Order::End(x, y)) {
            tracing::warn!("the capture was not ended: {e}");
        }
    }

    /// Why some of the person's input may have reached an app during the last task; `None` if there
    /// is nothing to mention.
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
        self.kill();
    }
}

/// Waits until KWin knows that the process has ended. Before that it captures the releases of our
/// keys, and apps would never see them.
fn await_end(pid: u32, bus: &Bus) {
    process::ends_within(pid, BEGINS);
    // KWin answers this call after it has handled everything that the bus told it before.
    bus.layout();
}

/// Listens to the process until it ends.
fn listen(reports: ChildStdout, answers: &Sender<Option<String>>, shared: &Shared) {
    for line in BufReader::new(reports).lines() {
        let Some(report) = line.ok().and_then(|line| serde_json::from_str(&line).ok()) else {
            break;
        };
        match report {
            // Sending fails only if nobody will wait for the answer.
            Report::Done(failed) => drop(answers.send(failed)),
            report => shared.state().hear(&report),
        }
        shared.1.notify_all();
    }
}

impl State {
    fn hear(&mut self, report: &Report) {
        match report {
            Report::Captured(captured) => self.captured = *captured,
            Report::Escape => self.cancel(Reason::Person),
            Report::Stopped => {
                self.cancel(Reason::Person);
                let why = "the user ended the input lock (Super+Shift+Esc)";
                (self.captured, self.ended) = (false, Some(why));
            }
            Report::Limit { escaped } => {
                let why = "the input lock lasted longer than its time limit";
                let late = (!escaped).then_some(why);
                self.end(Reason::Watchdog, late);
            }
            Report::Done(_) => {}
        }
    }

    fn cancel(&self, reason: Reason) {
        if let Some(link) = &self.task {
            link.cancel(reason);
        }
    }

    /// Records that the capture has ended before its task was done.
    fn end(&mut self, reason: Reason, why: Option<&'static str>) {
        self.captured = false;
        if let Some(link) = self.task.take() {
            link.cancel(reason);
            self.ended = why;
        }
    }
}
