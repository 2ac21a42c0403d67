//! The keeper: the process that disables the person's devices, and enables them again at the
//! server's order, at the server's end, and at the limit.
//!
//! It has a session of its own, so that a signal to the server's process group does not end it. If
//! it ends first, the server enables the devices (`guard`). Orders arrive on its standard input,
//! one JSON value per line, and reports go to its standard output. When the server ends, the kernel
//! closes the input, which the keeper notices.

use std::io::{ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use deskline_input::guard::Machine;
use deskline_link::{Error, Result};
use deskline_unix::wait;
use rustix::event::{PollFd, PollFlags};
use serde::{Deserialize, Serialize};

use crate::sway::devices::{self, Device, Devices, NO_DEVICES};
use crate::sway::ipc::Ipc;

/// An order of the server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Order {
    /// Disable the person's devices, for at most this many milliseconds.
    Hold(u64),
    /// Enable the devices.
    Release,
}

/// A report of the keeper.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Report {
    /// The keeper is about to disable these devices. If it ends, the server must enable them.
    Takes(Vec<Device>),
    /// The devices are disabled.
    Held {
        /// Devices that could not be disabled.
        spared: Vec<String>,
        virtual_keyboards: usize,
    },
    /// The reason why the devices could not be disabled.
    Unable(String),
    /// The devices are enabled.
    Released {
        /// Devices that were plugged in meanwhile. Their first input may have reached an app.
        came: Vec<String>,
    },
    /// The limit has passed, and the devices are enabled.
    Limit,
}

/// How often to look for devices that were plugged in while the others are disabled.
const LOOK: Duration = Duration::from_millis(100);

/// How often to try a sway that does not answer, and the pause after each try, which itself takes
/// up to 2 s: three minutes in all.
const TRIES: u32 = 60;
const AGAIN: Duration = Duration::from_secs(1);

/// The keeper of one sway's devices.
pub(crate) struct Keeper {
    socket: PathBuf,
    ipc: Ipc,
    held: Vec<Device>,
    came: Vec<String>,
    machine: Machine<()>,
}

impl Keeper {
    pub(crate) fn connect(socket: &Path) -> Result<Self> {
        Ok(Self {
            ipc: Ipc::connect(socket)?,
            socket: socket.to_owned(),
            held: Vec::new(),
            came: Vec::new(),
            machine: Machine::default(),
        })
    }

    /// Executes orders until they end. Then enables the devices.
    pub(crate) fn serve(&mut self, mut orders: impl Read + AsFd, mut answers: impl Write) {
        let mut text = Vec::new();
        loop {
            let left = self.machine.left(Instant::now());
            let mut fds = [PollFd::new(&orders, PollFlags::IN)];
            match wait::any(&mut fds, left.map(|left| left.min(LOOK))) {
                Ok(true) => {
                    let mut part = [0; 512];
                    match orders.read(&mut part) {
                        Ok(0) | Err(_) => break,
                        Ok(read) => text.extend_from_slice(part.get(..read).unwrap_or_default()),
                    }
                    while let Some(end) = text.iter().position(|b| *b == b'\n') {
                        let line: Vec<u8> = text.drain(..=end).collect();
                        match serde_json::from_slice(&line) {
                            Ok(order) => self.obey(&order, &mut answers),
                            Err(_) => return self.release(),
                        }
                    }
                }
                Ok(false) if self.machine.expire(Instant::now()).is_some() => {
                    self.release();
                    report(&mut answers, &Report::Limit);
                }
                Ok(false) => self.take_new(&mut answers),
                Err(_) => break,
            }
        }
        self.release();
    }

    fn obey(&mut self, order: &Order, answers: &mut impl Write) {
        match order {
            Order::Hold(limit) => {
                self.release();
                let limit = Duration::from_millis(*limit);
                let message = match self.disable(limit, answers) {
                    Ok(message) => message,
                    Err(e) => {
                        self.release();
                        Report::Unable(e.to_string())
                    }
                };
                report(answers, &message);
            }
            Order::Release => {
                self.release();
                let came = std::mem::take(&mut self.came);
                report(answers, &Report::Released { came });
            }
        }
    }

    fn disable(&mut self, limit: Duration, answers: &mut impl Write) -> Result<Report> {
        // The old connection may contain a late answer of a busy sway.
        self.ipc = Ipc::connect(&self.socket)?;
        let devices = Devices::look(&mut self.ipc)?;
        if devices.physical.is_empty() {
            return Ok(Report::Unable(NO_DEVICES.into()));
        }
        self.came.clear();
        self.machine.take(limit, Instant::now());
        self.take(&devices.physical, answers)?;
        Ok(Report::Held {
            spared: devices.spared,
            virtual_keyboards: devices.virtual_keyboards,
        })
    }

    fn take(&mut self, devices: &[Device], answers: &mut impl Write) -> Result<()> {
        self.held.extend(devices.iter().cloned());
        report(answers, &Report::Takes(self.held.clone()));
        devices::disable(&mut self.ipc, devices)
    }

    /// Disables newly plugged devices. A failure is retried at the next [`LOOK`].
    fn take_new(&mut self, answers: &mut impl Write) {
        let Ok(devices) = Devices::look(&mut self.ipc) else {
            return;
        };
        if !devices.physical.is_empty() {
            self.came
                .extend(devices.physical.iter().map(|d| d.name.clone()));
            let _ = self.take(&devices.physical, answers);
        }
    }

    fn release(&mut self) {
        self.machine.release(Instant::now());
        restore(&self.socket, &std::mem::take(&mut self.held));
    }
}

/// Restores the devices' setting, on a new connection. Retries for three minutes if sway is too
/// busy to answer. Does nothing if sway has ended.
pub(super) fn restore(socket: &Path, devices: &[Device]) {
    if devices.is_empty() {
        return;
    }
    for _ in 0..TRIES {
        let mut ipc = match Ipc::open(socket) {
            Ok(ipc) => ipc,
            Err(error) if error.kind() == ErrorKind::TimedOut => continue,
            Err(_) => return,
        };
        match devices::enable(&mut ipc, devices) {
            Ok(()) => return,
            // sway has refused a device: enable the others one by one.
            Err(Error::System { .. }) => {
                for device in devices {
                    let _ = devices::enable(&mut ipc, std::slice::from_ref(device));
                }
                return;
            }
            Err(_) => std::thread::sleep(AGAIN),
        }
    }
}

/// Writes a report. Ignores errors: the end of the orders shows that the server has ended.
fn report(answers: &mut impl Write, message: &Report) {
    if let Ok(mut line) = serde_json::to_vec(message) {
        line.push(b'\n');
        let _ = answers.write_all(&line).and_then(|()| answers.flush());
    }
}

#[cfg(test)]
#[path = "keeper_tests.rs"]
mod tests;
