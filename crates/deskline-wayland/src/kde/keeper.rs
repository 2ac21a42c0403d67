//! The process that owns KWin's capture. When this process ends, its D-Bus connection ends, and
//! with that the capture: the person has their devices back. It also ends the capture at the time
//! limit and shortly after Esc, even if the server is stopped (SIGSTOP).
//!
//! Orders arrive on the standard input, one JSON value per line, and reports go to the standard
//! output. When the server ends, the standard input closes, and this process ends too.

use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use deskline_contract::{Error, Result};
use deskline_input::guard::Machine;
use deskline_unix::alarm::Alarm;
use deskline_unix::{codes, wait};
use reis::ei::handshake::ContextType;
use rustix::event::{PollFd, PollFlags};
use serde::{Deserialize, Serialize};
use zbus::zvariant::{OwnedFd, OwnedObjectPath};

use super::bus::{Bus, PATIENCE, lost};
use crate::dbus::{Arguments, Reply};
use crate::eis::{Connection, Eis, Heard};

pub(super) const MANAGER: &str = "/org/kde/KWin/EIS/InputCapture";
pub(super) const MANAGER_INTERFACE: &str = "org.kde.KWin.EIS.InputCaptureManager";
const INTERFACE: &str = "org.kde.KWin.EIS.InputCapture";

/// The captured devices: keyboard, pointer. Touch is 4.
const DEVICES: u32 = 1 | 2;

const WHAT: &str = "blocking your devices";

/// The keys of Super+Shift+Esc, the shortcut by which KWin itself ends a capture.
const ENDS: [u32; 3] = [125, 42, codes::ESCAPE];

/// An order of the server.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Order {
    /// Capture the input once a pointer crosses this line, for at most this many milliseconds.
    Begin {
        top: (i32, i32),
        bottom: (i32, i32),
        limit: u64,
    },
    /// End the present capture, and put the pointer at this point.
    Open(f64, f64),
    /// Capture nothing any more, and put the pointer at this point.
    End(f64, f64),
}

/// A report of this process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Report {
    /// The answer to an order: `None` if it was carried out, otherwise the reason why not.
    Done(Option<String>),
    /// Whether the person's input is captured now.
    Captured(bool),
    /// The person has pressed Esc.
    Escape,
    /// The person has ended the capture (Super+Shift+Esc).
    Stopped,
    /// The capture has ended because its time was over: the time limit or, if `escaped`, the short
    /// time after Esc.
    Limit { escaped: bool },
}

/// KWin's D-Bus object for the capture.
struct Capture {
    bus: Bus,
    path: OwnedObjectPath,
}

impl Capture {
    fn new(bus: Bus) -> Result<Self> {
        let path = bus.ask(MANAGER, MANAGER_INTERFACE, "addInputCapture", &DEVICES);
        // KWin 6.3 takes a signed number.
        let signed = DEVICES.cast_signed();
        let path =
            path.or_else(|_| bus.ask(MANAGER, MANAGER_INTERFACE, "addInputCapture", &signed))?;
        Ok(Self { bus, path })
    }

    fn ask<R: Reply>(&self, member: &str, body: &impl Arguments) -> Result<R> {
        self.bus.ask(self.path.as_str(), INTERFACE, member, body)
    }

    /// The connection that gets the captured input.
    fn receiver(&self) -> Result<Connection> {
        let socket: OwnedFd = self.ask("connectToEIS", &())?;
        let mut receiver = Connection::open(socket.into(), ContextType::Receiver)?;
        // The device has to exist before the capture begins. Otherwise the beginning would not be
        // reported.
        let there = |it: &Connection| {
            let mut devices = it.devices.iter();
            devices.any(|d| d.keyboard.is_some() && d.resumed)
        };
        if !receiver.until(Instant::now() + PATIENCE, there)? {
            return Err(lost("KWin's input capture has no keyboard"));
        }
        Ok(receiver)
    }

    fn enable(&self, top: (i32, i32), bottom: (i32, i32)) -> Result<()> {
        let enabled = self.ask("enable", &(vec![(0_u32, top, bottom)],));
        // In KWin 6.3 barriers have no numbers.
        enabled.or_else(|_| self.ask("enable", &(vec![(top, bottom)],)))
    }

    /// Ends the present capture, and moves the pointer to this point.
    fn release(&self, pointer: (f64, f64)) -> Result<()> {
        self.ask("release", &(pointer, true))
    }

    /// Removes the barrier, and ends the present capture.
    fn disable(&self) -> Result<()> {
        self.ask("disable", &())
    }
}

/// The state that results from KWin's events and the server's orders.
#[derive(Debug, Default)]
struct State {
    captured: bool,
    /// Whether we have ended the capture ourselves, so that its end is not the person's doing.
    opened: bool,
    machine: Machine<()>,
    /// Keys whose press an app has seen, and whose release was captured.
    lost: Vec<u32>,
}

impl State {
    fn begin(&mut self, limit: Duration, now: Instant) {
        // Ignores the result: a capture ends with its task, so no Esc came between two tasks.
        let _ = self.machine.begin((), now);
        self.machine.take(limit, now);
    }

    fn end(&mut self, now: Instant) {
        self.opened = true;
        self.machine.release(now);
        self.machine.end();
    }

    /// The report to send if the time is over. The caller then ends the capture.
    fn expire(&mut self, now: Instant) -> Option<Report> {
        let escaped = self.machine.expire(now)?;
        self.opened = true;
        Some(Report::Limit { escaped })
    }

    fn hear(&mut self, heard: Heard, now: Instant) -> Option<Report> {
        match heard {
            Heard::Start => {
                (self.captured, self.opened) = (true, false);
                Some(Report::Captured(true))
            }
            Heard::Stop => {
                self.captured = false;
                self.machine.hold_modifiers(0);
                let by_person = self.machine.is_held() && !self.opened;
                Some(if by_person {
                    Report::Stopped
                } else {
                    Report::Captured(false)
                })
            }
            Heard::Key(code, down) => {
                let verdict = self.machine.event(codes::event(code, down), now);
                self.lost.extend((!down && !verdict.drop).then_some(code));
                verdict.cancel.then_some(Report::Escape)
            }
            Heard::Button(..) => None,
        }
    }
}

/// The process that owns the capture.
pub(crate) struct Keeper {
    capture: Capture,
    receiver: Connection,
    /// A keyboard of this process's own.
    hand: Eis,
    state: State,
    /// Continues this process at the time limit if it is stopped (SIGSTOP), so that it ends the
    /// capture.
    alarm: Alarm,
}

impl Keeper {
    /// Connects to the KWin that is process `pid`, on the session bus at `address`.
    pub(crate) fn connect(address: &str, pid: u32) -> Result<Self> {
        let capture = Capture::new(Bus::connect(address, pid)?)?;
        Ok(Self {
            receiver: capture.receiver()?,
            hand: Eis::connect(capture.bus.input()?.into(), true)?,
            capture,
            state: State::default(),
            alarm: Alarm::wakes().map_err(Error::system(WHAT))?,
        })
    }

    /// Executes orders until the input of orders ends.
    pub(crate) fn serve(
        &mut self,
        mut orders: impl Read + AsFd,
        mut reports: impl Write,
    ) -> Result<()> {
        let mut text = Vec::new();
        loop {
            self.hear(&mut reports)?;
            if !self.state.captured && !self.state.lost.is_empty() {
                // KWin may report a release only after it has answered that the capture has ended.
                self.give_back(&mut reports)?;
            }
            if let Some(report) = self.state.expire(Instant::now()) {
                // The shortcut is tried first, because `disable` uses the bus, which may hang.
                let freed = self.press_the_shortcut();
                send(&mut reports, Some(&report));
                let _ = self.capture.disable().and(freed);
                self.give_back(&mut reports)?;
            }
            let left = self.state.machine.left(Instant::now());
            let mut fds = [PollFd::new(&orders, PollFlags::IN), self.receiver.poll()];
            wait::any(&mut fds, left).map_err(Error::system(WHAT))?;
            if fds[0].revents().is_empty() {
                continue;
            }
            let mut part = [0; 512];
            let read = orders.read(&mut part).map_err(Error::system(WHAT))?;
            if read == 0 {
                // The server has ended, and KWin has released its keys. But the capture may have
                // swallowed these releases.
                let disabled = self.capture.disable();
                return self.give_back(&mut reports).and(disabled);
            }
            text.extend_from_slice(part.get(..read).unwrap_or_default());
            while let Some(end) = text.iter().position(|b| *b == b'\n') {
                let line: Vec<u8> = text.drain(..=end).collect();
                let order = serde_json::from_slice(&line).map_err(Error::system(WHAT))?;
                let obeyed = self.obey(&order);
                let done = obeyed.and(self.give_back(&mut reports));
                let done = done.err().map(|e| e.to_string());
                send(&mut reports, Some(&Report::Done(done)));
            }
        }
    }

    fn hear(&mut self, reports: &mut impl Write) -> Result<()> {
        self.receiver.pump()?;
        while let Some(heard) = self.receiver.heard.pop_front() {
            let report = self.state.hear(heard, Instant::now());
            send(reports, report.as_ref());
        }
        Ok(())
    }

    /// Releases the keys whose release was captured. KWin ignores the release of a key that is not
    /// down on the same keyboard, so each key is pressed first. That press does not reach the app,
    /// where the key is already down.
    fn give_back(&mut self, reports: &mut impl Write) -> Result<()> {
        self.hear(reports)?;
        let lost = std::mem::take(&mut self.state.lost);
        for code in &lost {
            self.hand.key(*code, true)?;
            self.hand.key(*code, false)?;
        }
        if lost.is_empty() {
            Ok(())
        } else {
            self.hand.sync()
        }
    }

    fn press_the_shortcut(&mut self) -> Result<()> {
        let down = ENDS.map(|code| (code, true));
        let up = ENDS.map(|code| (code, false));
        for (code, down) in down.into_iter().chain(up.into_iter().rev()) {
            self.hand.key(code, down)?;
        }
        self.hand.sync()
    }

    fn obey(&mut self, order: &Order) -> Result<()> {
        match *order {
            Order::Begin { top, bottom, limit } => {
                let limit = Duration::from_millis(limit);
                let _ = self.alarm.set(Some(limit));
                self.state.begin(limit, Instant::now());
                self.capture.enable(top, bottom)
            }
            Order::Open(x, y) => {
                self.state.opened = true;
                self.capture.release((x, y))
            }
            Order::End(x, y) => {
                self.state.end(Instant::now());
                let _ = self.alarm.set(None);
                // `release` restores the pointer. `disable` ends the capture even if `release`
                // failed.
                let released = self.capture.release((x, y));
                self.capture.disable().and(released)
            }
        }
    }
}

/// Writes a report. Ignores errors: the end of the orders shows that the server has ended.
fn send(reports: &mut impl Write, report: Option<&Report>) {
    if let Some(Ok(mut line)) = report.map(serde_json::to_vec) {
        line.push(b'\n');
        let _ = reports.write_all(&line).and_then(|()| reports.flush());
    }
}

#[cfg(test)]
#[path = "../../../deskline-guard/table.rs"]
mod table;

#[cfg(test)]
mod tests;
