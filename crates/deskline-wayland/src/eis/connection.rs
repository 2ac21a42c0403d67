//! A connection to the compositor's EIS socket. Every wait in it has a time limit, which the waits
//! of the crate `reis` lack.

use std::collections::VecDeque;
use std::io::ErrorKind;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use deskline_contract::{Error, Result};
use deskline_unix::wait;
use reis::PendingRequestResult;
use reis::ei::{self, handshake::ContextType};
use reis::handshake::EiHandshaker;
use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;

use super::device::Device;
use crate::layout;

/// How long the compositor may take for an answer.
pub(crate) const PATIENCE: Duration = Duration::from_secs(2);

/// How long to wait, after our disconnect request, until the compositor closes its end of the
/// socket. The compositor takes about 0.1 ms.
const CLOSES: Duration = Duration::from_millis(100);

/// How many events to keep on a receiver's connection. Each further event replaces the oldest.
const KEPT: usize = 1000;

/// The interface of touchscreens.
const TOUCH: &str = "ei_touchscreen";

/// Input received from the compositor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Heard {
    /// A key, and whether it is pressed. Codes are those of `linux/input-event-codes.h`.
    Key(u32, bool),
    /// A button, and whether it is pressed.
    Button(u32, bool),
    /// The compositor starts to send us the person's input.
    Start,
    /// The compositor stops sending us the person's input.
    Stop,
}

/// A connection, and the devices that the compositor offers on it.
#[derive(Debug)]
pub(crate) struct Connection {
    context: ei::Context,
    proto: ei::Connection,
    /// Whether this is a sender's connection. Otherwise it is a receiver's.
    sends: bool,
    /// The compositor's last serial, which requests have to repeat.
    pub(crate) serial: u32,
    /// Each seat and the capabilities that it offers.
    seats: Vec<(ei::Seat, u64)>,
    pub(crate) devices: Vec<Device>,
    /// The completed round trips.
    done: Vec<ei::Callback>,
    /// Why the compositor has ended the connection, if it has.
    gone: Option<String>,
    pub(crate) heard: VecDeque<Heard>,
}

fn lost(e: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
    Error::lost("talking to the compositor's input socket")(e)
}

/// Sends a disconnect request before the socket closes. Without it, Mutter's EIS took the close for
/// an error of the client, and in one of five sessions GNOME Shell then stopped reading its session
/// bus. After the request, waits until the compositor has closed its end: if Mutter's session ends
/// before that, Mutter up to 48.7 writes to freed memory (fixed by f88209feb7, in 48.8 and 50).
impl Drop for Connection {
    fn drop(&mut self) {
        self.proto.disconnect();
        let deadline = Instant::now() + CLOSES;
        // Fails if the compositor has ended the connection already.
        while self.context.flush().is_ok() && receive(&self.context, deadline).unwrap_or(false) {}
    }
}

impl Connection {
    /// Performs the handshake on a socket from the compositor.
    pub(crate) fn open(socket: OwnedFd, kind: ContextType) -> Result<Self> {
        let context = ei::Context::new(UnixStream::from(socket)).map_err(lost)?;
        let mut handshaker = EiHandshaker::new("deskline", kind);
        let deadline = Instant::now() + PATIENCE;
        let response = loop {
            let mut response = None;
            while response.is_none()
                && let Some(event) = next(&context)?
            {
                response = handshaker.handle_event(event).map_err(lost)?;
            }
            if let Some(response) = response {
                break response;
            }
            if !receive(&context, deadline)? {
                return Err(lost("no answer within 2 s"));
            }
        };
        Ok(Self {
            context,
            proto: response.connection,
            sends: kind == ContextType::Sender,
            serial: response.serial,
            seats: Vec::new(),
            devices: Vec::new(),
            done: Vec::new(),
            gone: None,
            heard: VecDeque::new(),
        })
    }

    /// Sends all requests so far.
    pub(crate) fn flush(&self) -> Result<()> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            match self.context.flush() {
                Ok(()) => return Ok(()),
                Err(Errno::AGAIN | Errno::INTR) => {}
                Err(e) => return Err(lost(e)),
            }
            let left = deadline.saturating_duration_since(Instant::now());
            let mut fds = [PollFd::new(&self.context, PollFlags::OUT)];
            if !wait::any(&mut fds, Some(left)).map_err(lost)? {
                return Err(lost("the compositor read no requests for 2 s"));
            }
        }
    }

    /// Handles events until `done` holds or until `deadline`. Returns whether `done` holds.
    pub(crate) fn until(
        &mut self,
        deadline: Instant,
        done: impl Fn(&Self) -> bool,
    ) -> Result<bool> {
        loop {
            while let Some(event) = next(&self.context)? {
                self.handle(event);
            }
            if done(self) {
                return Ok(true);
            }
            if let Some(why) = &self.gone {
                return Err(lost(format!("the compositor ended the connection: {why}")));
            }
            self.flush()?;
            if !receive(&self.context, deadline)? {
                return Ok(false);
            }
        }
    }

    /// The socket, to be polled beside other file descriptors.
    pub(crate) fn poll(&self) -> PollFd<'_> {
        PollFd::new(&self.context, PollFlags::IN)
    }

    /// Handles the events received so far.
    pub(crate) fn pump(&mut self) -> Result<()> {
        self.until(Instant::now(), |_| false).map(drop)
    }

    /// Waits until the compositor has processed all requests so far.
    pub(crate) fn sync(&mut self) -> Result<()> {
        let callback = self.proto.sync(1);
        self.flush()?;
        let deadline = Instant::now() + PATIENCE;
        let done = self.until(deadline, |it| it.done.contains(&callback))?;
        self.done.clear();
        if done {
            Ok(())
        } else {
            Err(lost("no answer within 2 s"))
        }
    }

    fn handle(&mut self, event: ei::Event) {
        use ei::{connection, device, keyboard, seat};
        if let Some(serial) = serial_of(&event) {
            self.serial = serial;
        }
        match event {
            ei::Event::Connection(_, connection::Event::Seat { seat }) => {
                self.seats.push((seat, 0));
            }
            ei::Event::Connection(_, connection::Event::Ping { ping }) => ping.done(0),
            ei::Event::Connection(_, connection::Event::Disconnected { explanation, .. }) => {
                self.gone = Some(explanation.unwrap_or_default());
            }
            ei::Event::Callback(callback, _) => self.done.push(callback),
            // No touchscreen is taken: it would make GNOME Shell hide the pointer for a moment and
            // lose clicks.
            ei::Event::Seat(_, seat::Event::Capability { interface, .. })
                if self.sends && interface == TOUCH => {}
            ei::Event::Seat(seat, seat::Event::Capability { mask, .. }) => {
                if let Some((_, can)) = self.seats.iter_mut().find(|(s, _)| *s == seat) {
                    *can |= mask;
                }
            }
            ei::Event::Seat(seat, seat::Event::Done) => {
                for (seat, can) in self.seats.iter().filter(|(s, _)| *s == seat) {
                    seat.bind(*can);
                }
            }
            ei::Event::Seat(_, seat::Event::Device { device }) => {
                self.devices.push(Device::new(device));
            }
            ei::Event::Device(proto, device::Event::Destroyed { .. }) => {
                self.devices.retain(|d| d.proto != proto);
            }
            // All devices of a capture start and stop together. So only the keyboard is watched.
            ei::Event::Device(proto, event) => {
                let mut keyboards = self.devices.iter().filter(|d| d.keyboard.is_some());
                let keyboard = keyboards.any(|d| d.proto == proto);
                match event {
                    device::Event::StartEmulating { .. } if keyboard => self.hear(Heard::Start),
                    device::Event::StopEmulating { .. } if keyboard => self.hear(Heard::Stop),
                    _ => {}
                }
                if let Some(device) = self.devices.iter_mut().find(|d| d.proto == proto) {
                    device.hear(event, self.sends);
                }
            }
            ei::Event::Keyboard(keyboard, event) => {
                let mut devices = self.devices.iter_mut();
                let device = devices.find(|d| d.keyboard.as_ref() == Some(&keyboard));
                match (event, device) {
                    (keyboard::Event::Keymap { size, keymap, .. }, Some(device)) => {
                        device.keymap = layout::text(keymap, size);
                    }
                    (keyboard::Event::Modifiers { locked, group, .. }, Some(device)) => {
                        device.locked = (locked, group);
                    }
                    (keyboard::Event::Key { key, state }, _) => {
                        self.hear(Heard::Key(key, state == keyboard::KeyState::Press));
                    }
                    _ => {}
                }
            }
            ei::Event::Button(_, ei::button::Event::Button { button, state }) => {
                self.hear(Heard::Button(
                    button,
                    state == ei::button::ButtonState::Press,
                ));
            }
            _ => {}
        }
    }

    fn hear(&mut self, heard: Heard) {
        if self.heard.len() == KEPT {
            self.heard.pop_front();
        }
        self.heard.push_back(heard);
    }
}

/// The serial of an event, if it has one.
fn serial_of(event: &ei::Event) -> Option<u32> {
    use ei::{device::Event as DeviceEvent, keyboard::Event as Key};
    match event {
        ei::Event::Device(
            _,
            DeviceEvent::Resumed { serial }
            | DeviceEvent::Paused { serial }
            | DeviceEvent::Destroyed { serial }
            | DeviceEvent::StartEmulating { serial, .. }
            | DeviceEvent::StopEmulating { serial }
            | DeviceEvent::Frame { serial, .. },
        )
        | ei::Event::Keyboard(_, Key::Modifiers { serial, .. })
        | ei::Event::Seat(_, ei::seat::Event::Destroyed { serial }) => Some(*serial),
        _ => None,
    }
}

/// The next received event.
fn next(context: &ei::Context) -> Result<Option<ei::Event>> {
    loop {
        return match context.pending_event() {
            None => Ok(None),
            Some(PendingRequestResult::Request(event)) => Ok(Some(event)),
            Some(PendingRequestResult::ParseError(e)) => Err(lost(e)),
            // The event's device has been destroyed meanwhile.
            Some(PendingRequestResult::InvalidObject(_)) => continue,
        };
    }
}

/// Waits until `deadline` for data, and reads it. Returns whether any data came.
fn receive(context: &ei::Context, deadline: Instant) -> Result<bool> {
    let left = deadline.saturating_duration_since(Instant::now());
    if !wait::readable(context, left).map_err(lost)? {
        return Ok(false);
    }
    match context.read() {
        Ok(_) => Ok(true),
        Err(e) if e.kind() == ErrorKind::Interrupted => Ok(true),
        Err(e) => Err(lost(e)),
    }
}
