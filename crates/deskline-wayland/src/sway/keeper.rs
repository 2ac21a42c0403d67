//! The keeper: the process that disables the person's devices, and enables them again when the
//! server says so, when it ends, and at the limit.
//!
//! It has a session of its own, so that what ends the server does not end it. If it ends first, the
//! server enables them (`guard`). Orders come on its standard input, one JSON value a line, and
//! answers go to its standard output. The keeper notices that the server has ended by that too: the
//! kernel closes the pipe.

use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use deskline_link::{Error, Result};
use deskline_unix::hold::Holding;
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
    /// Enable them.
    Release,
}

/// A report of the keeper.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Said {
    /// It is about to disable these: whoever outlives it must enable them.
    Takes(Vec<Device>),
    /// They are disabled.
    Held {
        /// Devices that could not be disabled.
        spared: Vec<String>,
        /// How many virtual keyboards there are.
        virtual_keyboards: usize,
    },
    /// It could not disable them, and why.
    Unable(String),
    /// They are enabled.
    Released {
        /// Devices that came while the others were disabled, and may have reached an app.
        came: Vec<String>,
    },
    /// The limit has passed, and they are enabled.
    Limit,
}

/// How often to look for devices that were plugged in while the others are disabled.
const LOOK: Duration = Duration::from_millis(100);

/// How often to ask a sway that does not answer, and the time between: a minute in all.
const TRIES: u32 = 60;
const AGAIN: Duration = Duration::from_secs(1);

/// The keeper of one sway's devices.
pub(crate) struct Keeper {
    socket: PathBuf,
    ipc: Ipc,
    held: Vec<Device>,
    came: Vec<String>,
    hold: Holding<()>,
}

impl Keeper {
    pub(crate) fn connect(socket: &Path) -> Result<Self> {
        Ok(Self {
            ipc: Ipc::connect(socket)?,
            socket: socket.to_owned(),
            held: Vec::new(),
            came: Vec::new(),
            hold: Holding::default(),
        })
    }

    /// Obeys until the orders end. The devices are enabled then.
    pub(crate) fn serve(&mut self, mut orders: impl Read + AsFd, mut answers: impl Write) {
        let mut text = Vec::new();
        loop {
            let left = self.hold.left(Instant::now());
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
                Ok(false) if self.hold.expire(Instant::now()).is_some() => {
                    self.release();
                    say(&mut answers, &Said::Limit);
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
                        Said::Unable(e.to_string())
                    }
                };
                say(answers, &message);
            }
            Order::Release => {
                self.release();
                let came = std::mem::take(&mut self.came);
                say(answers, &Said::Released { came });
            }
        }
    }

    fn disable(&mut self, limit: Duration, answers: &mut impl Write) -> Result<Said> {
        // A sway that was busy may have left a late answer on the old connection.
        self.ipc = Ipc::connect(&self.socket)?;
        let devices = Devices::look(&mut self.ipc)?;
        if devices.physical.is_empty() {
            return Ok(Said::Unable(NO_DEVICES.into()));
        }
        self.came.clear();
        self.hold.grab((), limit, Instant::now());
        self.take(&devices.physical, answers)?;
        Ok(Said::Held {
            spared: devices.spared,
            virtual_keyboards: devices.virtual_keyboards,
        })
    }

    fn take(&mut self, devices: &[Device], answers: &mut impl Write) -> Result<()> {
        self.held.extend(devices.iter().cloned());
        say(answers, &Said::Takes(self.held.clone()));
        devices::disable(&mut self.ipc, devices)
    }

    /// Disables what was plugged in since. A failure shows at the next look.
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
        self.hold.release();
        restore(&self.socket, &std::mem::take(&mut self.held));
    }
}

/// Gives the devices their setting back, on a connection of its own. Asks again for a minute if
/// sway is too busy to answer. A sway that has ended holds nothing.
pub(super) fn restore(socket: &Path, devices: &[Device]) {
    if devices.is_empty() {
        return;
    }
    for _ in 0..TRIES {
        let Ok(mut ipc) = Ipc::connect(socket) else {
            return;
        };
        match devices::enable(&mut ipc, devices) {
            Ok(()) => return,
            // A device was refused: the others need not wait for it.
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

/// A server that has ended reads nothing: the keeper notices by the end of its orders.
fn say(answers: &mut impl Write, message: &Said) {
    if let Ok(mut line) = serde_json::to_vec(message) {
        line.push(b'\n');
        let _ = answers.write_all(&line).and_then(|()| answers.flush());
    }
}

#[cfg(test)]
#[path = "keeper_tests.rs"]
mod tests;
