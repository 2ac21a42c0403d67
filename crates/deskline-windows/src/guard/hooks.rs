//! The guard's process: the hooks and their message loop.

use std::cell::RefCell;
use std::io::{BufRead as _, Write as _};
use std::process::ExitCode;
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::{Duration, Instant};

use deskline_core::Modifiers;
use deskline_input::Button;
use deskline_input::guard::{Event, Machine};
use windows::Win32::Foundation::{LPARAM, LRESULT, WPARAM};
use windows::Win32::System::Threading::{
    GetCurrentThread, INFINITE, OpenProcess, PROCESS_SYNCHRONIZE, SetThreadPriority,
    THREAD_PRIORITY_TIME_CRITICAL, WaitForSingleObject,
};
use windows::Win32::UI::WindowsAndMessaging::{
    CallNextHookEx, HC_ACTION, HHOOK, KBDLLHOOKSTRUCT, KillTimer, MSLLHOOKSTRUCT, SetTimer,
    SetWindowsHookExW, UnhookWindowsHookEx, WH_KEYBOARD_LL, WH_MOUSE_LL, WM_APP, WM_KEYDOWN,
    WM_LBUTTONDOWN, WM_LBUTTONUP, WM_MBUTTONDOWN, WM_MBUTTONUP, WM_QUIT, WM_RBUTTONDOWN,
    WM_RBUTTONUP, WM_SYSKEYDOWN, WM_XBUTTONDOWN, WM_XBUTTONUP,
};
use windows::core::Result;

use super::judge::{self, BUTTON, button, key};
use super::panels::Panels;
use super::{Order, Report, line, parse};
use crate::input::{MARK, keys, send};
use crate::os::{become_aware, messages};

/// Posted to the thread with the hooks when an order is in its channel.
const ORDERED: u32 = WM_APP + 1;

/// Our numbers of the first three buttons, above the numbers that Windows gives to the fourth and
/// the fifth.
const LEFT: u16 = 10;
const RIGHT: u16 = 11;
const MIDDLE: u16 = 12;

thread_local! {
    /// The state of the thread with the hooks, on which Windows calls the hooks.
    static GUARD: RefCell<Option<Running>> = const { RefCell::new(None) };
}

struct Running {
    machine: Machine<()>,
    hooks: Option<[HHOOK; 2]>,
    reports: Sender<Report>,
    timer: usize,
}

/// `deskline guard`: executes orders until the standard input or the parent process ends.
pub fn run(parent: u32) -> ExitCode {
    become_aware();
    let (order, orders) = mpsc::channel();
    let (report, reports) = mpsc::channel();
    let hooks = messages::queue();
    // Windows skips a hook that does not answer in time, and removes it when that happens
    // repeatedly, so this process must not wait for a processor on a busy machine. SAFETY: the
    // arguments are numbers.
    let _ = unsafe { SetThreadPriority(GetCurrentThread(), THREAD_PRIORITY_TIME_CRITICAL) };
    std::thread::spawn(move || write(&reports));
    std::thread::spawn(move || {
        follow(parent);
        leave(hooks);
    });
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines() {
            let Ok(line) = line else { break };
            let Some(parsed) = parse(&line) else {
                continue;
            };
            let sent = order.send(parsed);
            if sent.is_err() || messages::post(hooks, ORDERED).is_err() {
                break;
            }
        }
        leave(hooks);
    });
    GUARD.set(Some(Running {
        machine: Machine::default(),
        hooks: None,
        reports: report,
        timer: 0,
    }));
    serve(&orders);
    let held = guard(|guard| {
        guard.remove();
        guard.machine.take_ours()
    });
    lift(held);
    ExitCode::SUCCESS
}

/// Writes reports. Runs on its own thread, because a server that does not read must not block a
/// hook.
fn write(reports: &Receiver<Report>) {
    for report in reports {
        let mut out = std::io::stdout().lock();
        if out
            .write_all(line(&report).as_bytes())
            .and_then(|()| out.flush())
            .is_err()
        {
            std::process::exit(0);
        }
    }
}

/// How long the thread with the hooks may take to end.
const ENDS: Duration = Duration::from_secs(1);

/// Asks the thread with the hooks to end this process, because that thread first releases the keys
/// and buttons that the server holds down. Ends the process anyway after [`ENDS`].
fn leave(hooks: u32) {
    let _ = messages::post(hooks, WM_QUIT);
    deskline_contract::wait::pause(ENDS);
    std::process::exit(0);
}

/// Releases the keys and buttons that the server holds down. A server that is stopped or killed
/// does not do so itself.
fn lift(held: Option<Vec<u32>>) {
    for code in held.into_iter().flatten() {
        let released = match (code as u16, code >= BUTTON) {
            (code, false) => send::key(code, keys::is_extended(code), false),
            (LEFT, _) => send::button(Button::Left, false),
            (RIGHT, _) => send::button(Button::Right, false),
            (MIDDLE, _) => send::button(Button::Middle, false),
            // The server presses no other button.
            _ => Ok(()),
        };
        // If Windows refuses to release one key, still release the others.
        let _ = released;
    }
}

/// Waits until the parent has ended. The pipe may stay open after that, if another program has
/// inherited its other end.
fn follow(parent: u32) {
    // SAFETY: the handle stays open until this process ends.
    unsafe {
        let Ok(parent) = OpenProcess(PROCESS_SYNCHRONIZE, false, parent) else {
            return;
        };
        WaitForSingleObject(parent, INFINITE);
    }
}

fn serve(orders: &Receiver<Order>) {
    // Windows may call the hooks while it shows a window, so do not borrow the state meanwhile.
    let mut panels = Panels::default();
    messages::serve(|message| {
        let is_ordered = message.message == ORDERED;
        for order in orders.try_iter().filter(|_| is_ordered) {
            guard(|guard| guard.obey(&order));
            panels = match &order {
                Order::Watch => continue,
                Order::Grab(_, banner) => Panels::new(banner.as_ref(), false),
                Order::Show(banner) => Panels::new(Some(banner), true),
                Order::Release | Order::Unwatch => Panels::default(),
            };
        }
        // Check at every message, because any message may be the timer's.
        if guard(|guard| guard.machine.is_over(Instant::now())) == Some(true) {
            lift(guard(|guard| guard.machine.take_ours()));
            guard(Running::tick);
            panels = Panels::default();
        }
        is_ordered
    });
}

/// Runs `act` on the state. `None` if the state is borrowed, which is rare: Windows calls hooks
/// only while the thread waits.
fn guard<T>(act: impl FnOnce(&mut Running) -> T) -> Option<T> {
    GUARD.with(|guard| Some(act(guard.try_borrow_mut().ok()?.as_mut()?)))
}

impl Running {
    fn obey(&mut self, order: &Order) {
        match order {
            Order::Watch => {
                self.machine.hold_modifiers(held().bits());
                self.machine.watch(true);
                let report = self.place();
                self.report(report);
            }
            Order::Grab(limit, _) => {
                let report = self.place();
                let now = Instant::now();
                if report == Report::Ready {
                    if !self.machine.begin((), now) {
                        self.report(Report::Escape);
                    }
                    self.machine.take(*limit, now);
                }
                self.report(report);
            }
            Order::Show(_) => self.report(Report::Ready),
            Order::Release => {
                self.machine.release(Instant::now());
                self.report(Report::Ready);
            }
            Order::Unwatch => {
                self.machine.release(Instant::now());
                self.machine.end();
                self.remove();
                self.report(Report::Ready);
            }
        }
        self.set_timer();
    }

    /// Releases the grab when its time is over.
    fn tick(&mut self) {
        if self.machine.expire(Instant::now()).is_some() {
            self.report(Report::Limit);
            self.set_timer();
        }
    }

    /// Wakes the loop when the grab's time is over.
    fn set_timer(&mut self) {
        let left = self.machine.left(Instant::now());
        // SAFETY: a timer of this thread, without a function.
        unsafe {
            if self.timer != 0 {
                let _ = KillTimer(None, self.timer);
                self.timer = 0;
            }
            if let Some(left) = left {
                let ms = left.as_millis().saturating_add(1);
                self.timer = SetTimer(None, 0, u32::try_from(ms).unwrap_or(u32::MAX), None);
            }
        }
    }

    fn report(&self, report: Report) {
        // Fails only after the writing thread has failed, which ends this process.
        let _ = self.reports.send(report);
    }

    fn place(&mut self) -> Report {
        if self.hooks.is_some() {
            return Report::Ready;
        }
        match hooks() {
            Ok(hooks) => {
                self.hooks = Some(hooks);
                Report::Ready
            }
            Err(error) => Report::Failed(error.code().0.cast_unsigned()),
        }
    }

    fn remove(&mut self) {
        if let Some(hooks) = self.hooks.take() {
            unhook(hooks);
        }
    }

    fn judge(&mut self, event: Event, ours: bool) -> bool {
        let verdict = judge::judge(&mut self.machine, event, ours, Instant::now());
        if verdict.pressed {
            self.report(Report::Pressed);
        }
        if verdict.cancel {
            self.report(Report::Escape);
            // Esc makes the limit shorter.
            self.set_timer();
        }
        verdict.drop
    }
}

/// Checks that Windows allows the hooks, by installing and removing them.
pub fn probe() -> Result<()> {
    hooks().map(unhook)
}

fn hooks() -> Result<[HHOOK; 2]> {
    // SAFETY: the functions are in this program. When the program ends, Windows removes the hooks.
    unsafe {
        let keys = SetWindowsHookExW(WH_KEYBOARD_LL, Some(on_key), None, 0)?;
        let pointer = SetWindowsHookExW(WH_MOUSE_LL, Some(on_pointer), None, 0);
        pointer.map(|pointer| [keys, pointer]).inspect_err(|_| {
            let _ = UnhookWindowsHookEx(keys);
        })
    }
}

fn unhook(hooks: [HHOOK; 2]) {
    for hook in hooks {
        // SAFETY: a hook of this thread, removed once.
        let _ = unsafe { UnhookWindowsHookEx(hook) };
    }
}

/// The modifiers that are down.
fn held() -> Modifiers {
    let keys = [
        (Modifiers::SHIFT, 0x10),
        (Modifiers::CONTROL, 0x11),
        (Modifiers::ALT, 0x12),
        (Modifiers::COMMAND, 0x5b),
        (Modifiers::COMMAND, 0x5c),
    ];
    let down = keys.into_iter().filter(|(_, code)| send::is_down(*code));
    down.map(|(modifier, _)| modifier).collect()
}

unsafe extern "system" fn on_key(code: i32, message: WPARAM, data: LPARAM) -> LRESULT {
    // SAFETY: Windows gives a keyboard hook this structure with this code.
    let event = (code == HC_ACTION.cast_signed()).then(|| unsafe {
        let event = &*(data.0 as *const KBDLLHOOKSTRUCT);
        let down = matches!(message.0 as u32, WM_KEYDOWN | WM_SYSKEYDOWN);
        (key(event.vkCode as u16, down), event.dwExtraInfo == MARK)
    });
    pass(event, code, message, data)
}

unsafe extern "system" fn on_pointer(code: i32, message: WPARAM, data: LPARAM) -> LRESULT {
    // SAFETY: Windows gives a mouse hook this structure with this code.
    let event = (code == HC_ACTION.cast_signed()).then(|| unsafe {
        let event = &*(data.0 as *const MSLLHOOKSTRUCT);
        let other = (event.mouseData >> 16) as u16; // the number of a fourth or fifth button
        let seen = match message.0 as u32 {
            WM_LBUTTONDOWN => button(LEFT, true),
            WM_LBUTTONUP => button(LEFT, false),
            WM_RBUTTONDOWN => button(RIGHT, true),
            WM_RBUTTONUP => button(RIGHT, false),
            WM_MBUTTONDOWN => button(MIDDLE, true),
            WM_MBUTTONUP => button(MIDDLE, false),
            WM_XBUTTONDOWN => button(other, true),
            WM_XBUTTONUP => button(other, false),
            _ => Event::Other,
        };
        (seen, event.dwExtraInfo == MARK)
    });
    pass(event, code, message, data)
}

fn pass(event: Option<(Event, bool)>, code: i32, message: WPARAM, data: LPARAM) -> LRESULT {
    if let Some((event, ours)) = event
        && guard(|guard| guard.judge(event, ours)) == Some(true)
    {
        return LRESULT(1);
    }
    // SAFETY: forwards the arguments of the hook.
    unsafe { CallNextHookEx(None, code, message, data) }
}
