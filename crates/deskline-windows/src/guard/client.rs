//! The server's side of the guard: starts the guard's process and sends it orders.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::windows::process::CommandExt as _;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use deskline_contract::guard::{Grab, Guards, Task};
use deskline_contract::{Error, Overlay, Result, Shown};
use deskline_core::escape;
use deskline_input::{Cancel, Reason};
use windows::Win32::System::Threading::{CREATE_NO_WINDOW, HIGH_PRIORITY_CLASS};

use super::{Banner, Order, Report, line, parse};
use crate::input::send;

/// How long the guard's process may take to start and to install its hooks.
const ANSWERS: Duration = Duration::from_secs(5);

/// Returns the command that starts the guard's process: `deskline guard <pid of this process>`.
pub type Starts = Box<dyn Fn() -> Command + Send>;

pub struct Guard {
    starts: Starts,
    running: Option<Running>,
    holds: bool,
}

struct Running {
    child: Child,
    orders: ChildStdin,
    state: Arc<Mutex<State>>,
    answers: Receiver<Report>,
}

/// The state shared by the link and the thread that reads the reports.
#[derive(Default)]
struct State {
    /// The link to cancel; `None` after the link has ended.
    cancel: Option<Cancel>,
    /// Whether the person's input is swallowed.
    held: bool,
    pressed: bool,
    /// Whether the guard's process ended while it swallowed input.
    lapsed: bool,
}

impl Guard {
    /// A guard that starts its process with the command of `starts` when the guard is first needed.
    pub fn new(starts: Starts) -> Self {
        Self {
            starts,
            running: None,
            holds: false,
        }
    }

    fn hold(&mut self, task: &Task, cancel: &Cancel) -> Result<(), String> {
        self.start()?;
        if let Some(running) = &self.running {
            let mut state = running.state();
            state.cancel = Some(cancel.clone());
            state.held = true;
            state.lapsed = false;
        }
        let caption = task.caption.as_deref();
        let banner = caption.map(|caption| Banner::new(caption, task.place));
        self.order(&Order::Grab(task.limit, banner))
    }

    fn start(&mut self) -> Result<(), String> {
        let ended = |running: &mut Running| running.child.try_wait().is_ok_and(|end| end.is_some());
        if self.running.as_mut().is_some_and(ended) {
            self.running = None;
        }
        if self.running.is_none() {
            let running = Running::start((self.starts)());
            self.running = Some(running.map_err(|e| format!("the guard did not start: {e}"))?);
        }
        Ok(())
    }

    /// Sends an order, and waits until it is carried out. Kills the guard's process if that fails.
    fn order(&mut self, order: &Order) -> Result<(), String> {
        self.start()?;
        let Some(running) = &mut self.running else {
            return Ok(());
        };
        let done = running.order(order);
        if done.is_err() {
            self.running = None;
        }
        done
    }
}

impl Guards for Guard {
    fn watch(&mut self) {
        if let Err(why) = self.order(&Order::Watch) {
            tracing::warn!("your input is not watched: {why}");
        }
    }

    fn pressed(&mut self) -> Option<bool> {
        Some(self.running.as_ref()?.state().pressed)
    }

    fn grab(&mut self, task: &Task, cancel: &Cancel) -> Result<Grab> {
        if !self.holds {
            if let Err(why) = self.hold(task, cancel) {
                return Ok(Grab::Unable(why));
            }
            self.holds = true;
        }
        // Keys that the person holds would change the agent's input.
        send::release_keys()?;
        Ok(Grab::Held)
    }

    fn ungrab(&mut self) {
        if !std::mem::take(&mut self.holds) {
            return;
        }
        if let Some(running) = &self.running {
            running.state().held = false;
        }
        if let Err(why) = self.order(&Order::Release) {
            tracing::warn!("the guard did not answer, and was ended: {why}");
        }
    }

    fn unwatch(&mut self) {
        self.ungrab();
        if let Some(running) = &self.running {
            running.state().cancel = None;
            // If this fails, the guard's process is killed, and Windows removes its hooks.
            let _ = self.order(&Order::Unwatch);
        }
    }

    fn lapse(&mut self) -> Option<String> {
        let lapsed = std::mem::take(&mut self.running.as_ref()?.state().lapsed);
        lapsed.then(|| "the guard's process ended".to_owned())
    }
}

impl Overlay for Guard {
    fn show(&mut self, what: Shown<'_>, cancel: &Cancel) -> Result<()> {
        let caption = match what.caption {
            "" => String::new(),
            caption => format!("AI: {}", escape::short(caption, 60)),
        };
        let mut order = |order| self.order(&order).map_err(Error::Unavailable);
        order(Order::Show(Banner::new(&caption, what.place)))?;
        // A cancellation ends the wait. The link checks for it next.
        let _ = cancel.wait(what.time);
        order(Order::Release)
    }
}

impl Running {
    fn start(mut command: Command) -> std::io::Result<Self> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .creation_flags(CREATE_NO_WINDOW.0 | HIGH_PRIORITY_CLASS.0)
            .spawn()?;
        let missing = || std::io::Error::from(std::io::ErrorKind::BrokenPipe);
        let orders = child.stdin.take().ok_or_else(missing)?;
        let reports = BufReader::new(child.stdout.take().ok_or_else(missing)?);
        let state = Arc::new(Mutex::new(State::default()));
        let (answer, answers) = mpsc::channel();
        let shared = Arc::clone(&state);
        let reader = std::thread::Builder::new().name("guard".into());
        reader.spawn(move || {
            for line in reports.lines().map_while(Result::ok) {
                if let Some(report) = parse(&line) {
                    hear(report, &shared, &answer);
                }
            }
            lost(&shared);
        })?;
        Ok(Self {
            child,
            orders,
            state,
            answers,
        })
    }

    fn order(&mut self, order: &Order) -> Result<(), String> {
        if *order == Order::Watch {
            self.state().pressed = false;
        }
        while self.answers.try_recv().is_ok() {}
        let sent = self.orders.write_all(line(order).as_bytes());
        sent.map_err(|e| format!("the guard's process is gone: {e}"))?;
        match self.answers.recv_timeout(ANSWERS) {
            Ok(Report::Failed(code)) => Err(format!("Windows refused the hooks: error {code:#x}")),
            Ok(_) => Ok(()),
            Err(_) => Err("the guard's process does not answer".into()),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Kills the guard's process. Windows then removes its hooks.
impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn hear(report: Report, state: &Mutex<State>, answer: &Sender<Report>) {
    let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
    let cancel = |reason| {
        if let Some(cancel) = &state.cancel {
            cancel.cancel(reason);
        }
    };
    match report {
        Report::Ready | Report::Failed(_) => {
            // Fails if there is no receiver any more, after a timeout.
            let _ = answer.send(report);
        }
        Report::Escape => cancel(Reason::Person),
        Report::Limit => {
            cancel(Reason::Watchdog);
            state.held = false;
        }
        Report::Pressed => state.pressed = true,
    }
}

/// Cancels the link after the guard's process has ended: without the guard, the person's input
/// could mix with the agent's.
fn lost(state: &Mutex<State>) {
    let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
    if std::mem::take(&mut state.held) {
        state.lapsed = true;
        if let Some(cancel) = &state.cancel {
            cancel.cancel(Reason::Unguarded);
        }
    }
}
