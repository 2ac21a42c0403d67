//! The port against an EIS server in the test's process, which pauses, replaces and removes devices
//! on demand.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use deskline_core::{KeyPress, Point};
use deskline_input::{Button, Cancel, Port as _};
use reis::ei::connection::DisconnectReason;
use reis::ei::device::DeviceType;
use reis::ei::keyboard::KeymapType;
use reis::handshake::EisHandshaker;
use reis::request::{
    Connection as Served, Device as Offered, DeviceCapability as Can, EisRequest,
    EisRequestConverter, Seat,
};
use reis::{PendingRequestResult, eis};
use rustix::event::{PollFd, PollFlags};
use rustix::fs::{MemfdFlags, memfd_create};

use super::*;
use crate::events::Sent;
use crate::keymap::{Gives, Keymap};

/// An action of the server between two requests.
type Order = Box<dyn FnOnce(&mut Server) + Send>;

/// The server's side of the connection.
struct Server {
    connection: Served,
    seat: Seat,
    pointer: Option<Offered>,
    keyboard: Option<Offered>,
    /// The extra characters of the keyboard's keymap.
    types: &'static str,
    hung: bool,
    ended: bool,
}

impl Server {
    fn offer_pointer(&mut self) {
        let can = Can::PointerAbsolute | Can::Pointer | Can::Button | Can::Scroll;
        let pointer = self
            .seat
            .add_device(None, DeviceType::Virtual, can, |device| {
                let device = device.device();
                device.region_mapping_id("screen");
                device.region(0, 0, 800, 600, 1.0);
                device.region_mapping_id("stream");
                device.region(0, 0, 400, 300, 1.0);
            });
        pointer.resumed();
        self.pointer = Some(pointer);
    }

    /// Offers a keyboard that replaces the present one.
    fn offer_keyboard(&mut self, types: &'static str) {
        if let Some(old) = self.keyboard.take() {
            old.remove();
        }
        self.types = types;
        let text = Keymap::with(types.chars().map(Gives::Char)).text;
        let mut file = File::from(memfd_create("keymap", MemfdFlags::CLOEXEC).unwrap());
        file.write_all(text.as_bytes()).unwrap();
        let size = u32::try_from(text.len()).unwrap();
        let can = Can::Keyboard.into();
        let keyboard = self
            .seat
            .add_device(None, DeviceType::Virtual, can, |device| {
                let keyboard: eis::Keyboard = device.interface().unwrap();
                keyboard.keymap(KeymapType::Xkb, size, file.as_fd());
            });
        keyboard.resumed();
        self.keyboard = Some(keyboard);
    }

    fn handle(&mut self, request: EisRequest) -> Option<String> {
        match request {
            EisRequest::Bind(bind) => {
                assert!(!bind.capabilities.contains(Can::Touch));
                self.offer_pointer();
                self.offer_keyboard(self.types);
                None
            }
            EisRequest::PointerMotionAbsolute(to) => {
                Some(format!("to {},{}", to.dx_absolute, to.dy_absolute))
            }
            EisRequest::PointerMotion(by) => Some(format!("by {},{}", by.dx, by.dy)),
            EisRequest::Button(button) => Some(format!("{:?} {:#x}", button.state, button.button)),
            EisRequest::ScrollDiscrete(by) => {
                Some(format!("wheel {},{}", by.discrete_dx, by.discrete_dy))
            }
            EisRequest::KeyboardKey(key) => Some(format!("{:?} key {}", key.state, key.key)),
            EisRequest::DeviceStartEmulating(_) => Some("start".into()),
            EisRequest::Disconnect => {
                self.ended = true;
                None
            }
            _ => None,
        }
    }
}

/// A server with a connected port.
struct Bed {
    /// The events received from the port.
    seen: Arc<Mutex<Vec<String>>>,
    /// Orders, each with the number of events after which it is due.
    orders: Sender<(usize, Order)>,
    waker: UnixStream,
    thread: Option<JoinHandle<()>>,
    eis: Option<Eis>,
}

impl Bed {
    fn new(types: &'static str) -> Self {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let (waker, woken) = UnixStream::pair().unwrap();
        let (orders, inbox) = mpsc::channel();
        let seen = Arc::default();
        let log = Arc::clone(&seen);
        let thread = std::thread::spawn(move || serve(theirs, woken, types, &inbox, &log));
        let eis = Eis::connect(ours.into(), true).unwrap();
        Self {
            seen,
            orders,
            waker,
            thread: Some(thread),
            eis: Some(eis),
        }
    }

    /// Runs an order on the server after it has received this many events.
    fn at_event(&mut self, nth: usize, order: impl FnOnce(&mut Server) + Send + 'static) {
        self.orders.send((nth, Box::new(order))).unwrap();
        self.waker.write_all(&[1]).unwrap();
    }

    /// Runs an order on the server, and waits until the port has read the resulting events.
    fn change(&mut self, order: impl FnOnce(&mut Server) + Send + 'static) {
        let (reply, done) = mpsc::channel();
        self.at_event(0, move |server| {
            order(server);
            reply.send(()).unwrap();
        });
        done.recv().unwrap();
        self.act(|port| port.sync()).0.unwrap();
    }

    /// Runs an action. Returns its result and the events that the server received.
    fn act(
        &mut self,
        action: impl FnOnce(&mut Sent<'_>) -> Result<()>,
    ) -> (Result<()>, Vec<String>) {
        self.seen.lock().unwrap().clear();
        let mut port = Sent {
            events: self.eis.as_mut().unwrap(),
            offset: (10.0, 20.0),
            went: None,
        };
        let done = action(&mut port);
        let seen = self.seen.lock().unwrap().clone();
        (done, seen)
    }
}

impl Drop for Bed {
    fn drop(&mut self) {
        // The disconnect ends the thread. If the server hangs, the other socket ends it.
        self.waker.shutdown(std::net::Shutdown::Both).unwrap();
        drop(self.eis.take());
        let ended = self.thread.take().unwrap().join();
        assert!(ended.is_ok() || std::thread::panicking());
    }
}

fn serve(
    socket: UnixStream,
    mut woken: UnixStream,
    types: &'static str,
    inbox: &Receiver<(usize, Order)>,
    seen: &Mutex<Vec<String>>,
) {
    let context = eis::Context::new(socket).unwrap();
    let mut handshake = Some(EisHandshaker::new(&context, 1));
    let mut running: Option<(EisRequestConverter, Server)> = None;
    let mut waiting: Vec<(usize, Order)> = Vec::new();
    loop {
        let hung = running.as_ref().is_some_and(|(_, server)| server.hung);
        let mut fds = vec![PollFd::new(&woken, PollFlags::IN)];
        if !hung {
            fds.push(PollFd::new(&context, PollFlags::IN));
        }
        rustix::event::poll(&mut fds, None).unwrap();
        let ready: Vec<bool> = fds.iter().map(|fd| !fd.revents().is_empty()).collect();
        drop(fds);
        if ready[0] && woken.read(&mut [0]).unwrap() == 0 {
            return;
        }
        if ready.get(1) == Some(&true) && context.read().is_err() {
            return;
        }
        waiting.extend(inbox.try_iter());
        while let Some(pending) = context.pending_request() {
            // A request for a device that was removed meanwhile is no error.
            let PendingRequestResult::Request(request) = pending else {
                continue;
            };
            if let Some(shaking) = &mut handshake {
                if let Some(response) = shaking.handle_request(request).unwrap() {
                    let converter = EisRequestConverter::new(&context, response, 1);
                    let connection = converter.handle().clone();
                    let can = Can::PointerAbsolute
                        | Can::Button
                        | Can::Scroll
                        | Can::Pointer
                        | Can::Keyboard
                        | Can::Touch;
                    let seat = connection.add_seat(None, can);
                    running = Some((
                        converter,
                        Server {
                            connection,
                            seat,
                            pointer: None,
                            keyboard: None,
                            types,
                            hung: false,
                            ended: false,
                        },
                    ));
                    handshake = None;
                }
                continue;
            }
            let Some((converter, server)) = &mut running else {
                continue;
            };
            converter.handle_request(request).unwrap();
            while let Some(request) = converter.next_request() {
                if let Some(event) = server.handle(request) {
                    seen.lock().unwrap().push(event);
                }
                obey(server, &mut waiting, seen.lock().unwrap().len());
            }
        }
        let Some((_, server)) = &mut running else {
            let _ = context.flush();
            continue;
        };
        obey(server, &mut waiting, seen.lock().unwrap().len());
        // A client that is gone is no error.
        let _ = context.flush();
        if server.ended {
            return;
        }
    }
}

/// Runs the orders that are due after this many events.
fn obey(server: &mut Server, waiting: &mut Vec<(usize, Order)>, events: usize) {
    for (_, order) in waiting.extract_if(.., |(nth, _)| *nth <= events) {
        order(server);
    }
}

fn click(port: &mut Sent<'_>) -> Result<()> {
    port.go(Point { x: 30, y: 40 })?;
    port.button(Button::Left, true, 1)?;
    port.button(Button::Left, false, 1)?;
    port.wheel(-1, 2)
}

fn type_one(port: &mut Sent<'_>, char: char) -> Result<()> {
    // `lacks` reads the layout, once per text.
    assert_eq!(port.lacks(&[char])?, None);
    let (stroke, _) = port.stroke(&[char], &Cancel::new())?.unwrap();
    assert!(stroke.held.is_empty());
    port.key(&stroke.key, true)?;
    port.key(&stroke.key, false)?;
    port.sync()
}

#[test]
fn events_arrive_in_order_after_start_emulating() {
    let mut bed = Bed::new("");
    let (done, seen) = bed.act(click);
    done.unwrap();
    let wanted = [
        "start",
        "to 40,60",
        "Press 0x110",
        "Released 0x110",
        "wheel -120,240",
    ];
    assert_eq!(seen, wanted);
    let (done, seen) = bed.act(|port| {
        let press = KeyPress::parse("q", &["Control"]).unwrap();
        port.tap(press)
    });
    done.unwrap();
    let wanted = [
        "start",
        "Press key 29",
        "Press key 16",
        "Released key 16",
        "Released key 29",
    ];
    assert_eq!(seen, wanted);
}

#[test]
fn characters_are_typed_by_the_layout_of_the_present_keyboard() {
    let last = |seen: Vec<String>| seen.last().cloned();
    // Keys are assigned in order, so é has a different key on each keyboard.
    let mut bed = Bed::new("éü");
    let (done, seen) = bed.act(|port| type_one(port, 'é'));
    done.unwrap();
    assert_eq!(last(seen).as_deref(), Some("Released key 12"));
    bed.change(|server| server.offer_keyboard("ßé"));
    let (done, seen) = bed.act(|port| type_one(port, 'é'));
    done.unwrap();
    assert_eq!(last(seen).as_deref(), Some("Released key 13"));
}

#[test]
fn a_paused_device_gets_no_input_until_it_is_resumed() {
    let mut bed = Bed::new("");
    bed.act(click).0.unwrap();
    bed.change(|server| server.pointer.as_ref().unwrap().paused());
    let (refused, seen) = bed.act(click);
    let expected = matches!(refused, Err(Error::Display(DisplayError::NoDevice(_))));
    assert!(expected && seen.is_empty(), "{refused:?} {seen:?}");
    bed.change(|server| server.pointer.as_ref().unwrap().resumed());
    let (done, seen) = bed.act(click);
    done.unwrap();
    assert_eq!(seen[..2], ["start", "to 40,60"]);
}

#[test]
fn the_pointer_is_moved_once_out_of_a_screen_corner() {
    let mut bed = Bed::new("");
    bed.eis.as_mut().unwrap().in_a_corner();
    let seen = bed.act(click).1;
    assert_eq!(seen[..4], ["start", "by 1,0", "by 0,1", "to 40,60"]);
    assert_eq!(bed.act(click).1[0], "to 40,60");
}

#[test]
fn a_stream_without_a_region_is_out_of_reach() {
    let mut bed = Bed::new("");
    bed.eis.as_mut().unwrap().select(Some("stream")).unwrap();
    assert!(bed.act(click).0.is_ok());
    let reaches = ["stream", "another"].map(|name| bed.eis.as_mut().unwrap().reaches(name));
    assert_eq!(reaches, [true, false]);
    let begun = Instant::now();
    let missing = bed.eis.as_mut().unwrap().select(Some("another"));
    assert!(matches!(
        missing,
        Err(Error::Display(DisplayError::OutOfReach))
    ));
    assert!(begun.elapsed() < 2 * PATIENCE);
}

#[test]
fn a_server_that_ends_the_connection_at_any_event_is_an_error() {
    for nth in 1..=4 {
        let mut bed = Bed::new("");
        assert!(bed.eis.as_mut().unwrap().is_open());
        bed.at_event(nth, |server| {
            server
                .connection
                .disconnected(DisconnectReason::Error, Some("bored"));
            server.ended = true;
        });
        let (lost, seen) = bed.act(click);
        assert!(
            matches!(lost, Err(Error::Lost { .. })),
            "{nth}: {lost:?} {seen:?}"
        );
        assert!(!bed.eis.as_mut().unwrap().is_open());
    }
}

#[test]
fn a_server_that_hangs_is_given_up_within_seconds() {
    let mut bed = Bed::new("");
    bed.at_event(2, |server| server.hung = true);
    let begun = Instant::now();
    let (lost, _) = bed.act(click);
    assert!(matches!(lost, Err(Error::Lost { .. })), "{lost:?}");
    assert!(begun.elapsed() < 2 * PATIENCE, "{:?}", begun.elapsed());
}

/// The messages that a server sends to a client that connects.
fn recorded() -> Vec<u8> {
    let (ours, near) = UnixStream::pair().unwrap();
    let (far, theirs) = UnixStream::pair().unwrap();
    let (waker, woken) = UnixStream::pair().unwrap();
    let server = std::thread::spawn(move || {
        serve(theirs, woken, "", &mpsc::channel().1, &Mutex::default());
    });
    let (mut to_far, mut from_near) = (far.try_clone().unwrap(), near.try_clone().unwrap());
    let forth = std::thread::spawn(move || {
        let _ = std::io::copy(&mut from_near, &mut to_far);
    });
    let back = std::thread::spawn(move || {
        let (mut sent, mut far, mut near) = (Vec::new(), far, near);
        let mut part = [0; 4096];
        while let Ok(n @ 1..) = far.read(&mut part) {
            sent.extend(&part[..n]);
            let _ = near.write_all(&part[..n]);
        }
        sent
    });
    drop(Eis::connect(ours.into(), false));
    drop(waker);
    let sent = back.join().unwrap();
    forth.join().unwrap();
    server.join().unwrap();
    sent
}

/// Connects to a server that sends these bytes, and clicks.
fn connect_to(sent: &[u8]) {
    let (ours, mut theirs) = UnixStream::pair().unwrap();
    theirs.set_nonblocking(true).unwrap();
    let _ = theirs.write(sent);
    theirs.shutdown(std::net::Shutdown::Write).unwrap();
    if let Ok(mut eis) = Eis::connect(ours.into(), false) {
        let mut port = Sent {
            events: &mut eis,
            offset: (0.0, 0.0),
            went: None,
        };
        let _ = click(&mut port);
        let _ = port.lacks(&['a']);
        let _ = port.sync();
    }
}

#[test]
fn the_largest_number_anywhere_in_a_message_causes_no_panic() {
    let sent = recorded();
    for at in (0..sent.len() - 8).step_by(4) {
        let mut sent = sent.clone();
        sent[at..at + 8].copy_from_slice(&u64::MAX.to_le_bytes());
        connect_to(&sent);
    }
}

#[test]
fn fuzz_any_bytes_from_a_server_are_devices_or_an_error() {
    let corpus = [recorded()];
    assert!(corpus[0].len() > 500, "{}", corpus[0].len());
    deskline_fuzz::fuzz("EIS", &corpus, connect_to);
}
