//! A window without a toolkit that records the events that an app would get, on a thread of its
//! own. Like apps, it looks up symbols in the core keyboard map when it handles a key. It can be
//! made slow.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use x11rb::connection::Connection as _;
use x11rb::properties::{WmSizeHints, WmSizeHintsSpecification};
use x11rb::protocol::Event;
use x11rb::protocol::xkb::ConnectionExt as _;
use x11rb::protocol::xproto::{
    AtomEnum, ConnectionExt as _, CreateGCAux, CreateWindowAux, EventMask, PropMode, Rectangle,
    WindowClass,
};
use x11rb::rust_connection::RustConnection;
use x11rb::wrapper::ConnectionExt as _;

/// An event of the window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Seen {
    /// A key press: its symbol at the level of its state, and the state.
    Key {
        symbol: u32,
        state: u16,
    },
    KeyUp {
        code: u8,
    },
    Button {
        button: u8,
        state: u16,
        x: i16,
        y: i16,
        time: u32,
    },
    ButtonUp {
        button: u8,
    },
    Motion {
        x: i16,
        y: i16,
    },
}

#[derive(Clone, Copy)]
pub struct Look {
    pub x: i16,
    pub y: i16,
    pub w: u16,
    pub h: u16,
    /// 0xRRGGBB
    pub color: u32,
    pub override_redirect: bool,
    /// Milliseconds to spend on each key.
    pub slow: u64,
    pub pings: bool,
}

impl Default for Look {
    fn default() -> Self {
        Self {
            x: 100,
            y: 100,
            w: 300,
            h: 200,
            color: 0x0030_60c0,
            override_redirect: false,
            slow: 0,
            pings: true,
        }
    }
}

pub struct PlainWindow {
    pub id: u32,
    seen: Arc<Mutex<Vec<Seen>>>,
    stop: Sender<()>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl PlainWindow {
    pub fn open(display: &str, look: Look) -> Self {
        let seen = Arc::new(Mutex::new(vec![]));
        let (stop, stopped) = channel();
        let (ready, opened) = channel();
        let thread = std::thread::spawn({
            let (display, seen) = (display.to_owned(), Arc::clone(&seen));
            move || serve(&display, look, &seen, &stopped, &ready)
        });
        let id = opened.recv().unwrap();
        Self {
            id,
            seen,
            stop,
            thread: Some(thread),
        }
    }

    pub fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    pub fn forget(&self) {
        self.seen.lock().unwrap().clear();
    }

    /// The text of its key presses, without modifier keys.
    pub fn text(&self) -> String {
        let symbols = self.seen().into_iter().filter_map(|seen| match seen {
            Seen::Key { symbol, .. } => Some(symbol),
            _ => None,
        });
        symbols.filter_map(char_of).collect()
    }
}

impl Drop for PlainWindow {
    fn drop(&mut self) {
        let _ = self.stop.send(());
        let _ = self.thread.take().unwrap().join();
    }
}

fn char_of(symbol: u32) -> Option<char> {
    match symbol {
        0xff0d => Some('\n'),
        0xff09 => Some('\t'),
        0x20..=0xff => char::from_u32(symbol),
        0x0100_0000.. => char::from_u32(symbol - 0x0100_0000),
        _ => None,
    }
}

fn keypad(symbols: &[u32]) -> bool {
    symbols
        .iter()
        .any(|symbol| (0xff80..=0xffb9).contains(symbol))
}

fn serve(
    display: &str,
    look: Look,
    seen: &Mutex<Vec<Seen>>,
    stopped: &Receiver<()>,
    ready: &Sender<u32>,
) {
    let (c, screen) = RustConnection::connect(Some(display)).unwrap();
    let root = c.setup().roots[screen].root;
    let atom = |name: &[u8]| c.intern_atom(false, name).unwrap().reply().unwrap().atom;
    let (protocols, ping) = (atom(b"WM_PROTOCOLS"), atom(b"_NET_WM_PING"));
    c.xkb_use_extension(1, 0).unwrap().reply().unwrap();
    let id = c.generate_id().unwrap();
    let events = EventMask::KEY_PRESS
        | EventMask::KEY_RELEASE
        | EventMask::BUTTON_PRESS
        | EventMask::BUTTON_RELEASE
        | EventMask::POINTER_MOTION
        | EventMask::EXPOSURE
        | EventMask::STRUCTURE_NOTIFY;
    let aux = CreateWindowAux::new()
        .background_pixel(0)
        .override_redirect(u32::from(look.override_redirect))
        .event_mask(events);
    let class = WindowClass::INPUT_OUTPUT;
    c.create_window(
        0, id, root, look.x, look.y, look.w, look.h, 0, class, 0, &aux,
    )
    .unwrap();
    let (name, string) = (AtomEnum::WM_NAME, AtomEnum::STRING);
    c.change_property8(PropMode::REPLACE, id, name, string, b"Plain \xe9")
        .unwrap();
    if look.pings {
        c.change_property32(PropMode::REPLACE, id, protocols, AtomEnum::ATOM, &[ping])
            .unwrap();
    }
    let gc = c.generate_id().unwrap();
    c.create_gc(gc, id, &CreateGCAux::new().foreground(look.color))
        .unwrap();
    let place = (i32::from(look.x), i32::from(look.y));
    let hints = WmSizeHints {
        position: Some((WmSizeHintsSpecification::UserSpecified, place.0, place.1)),
        ..WmSizeHints::default()
    };
    hints.set_normal_hints(&c, id).unwrap();
    c.map_window(id).unwrap();
    c.flush().unwrap();
    let mut sent = false;
    while stopped.try_recv().is_err() {
        let Some(event) = c.poll_for_event().unwrap() else {
            std::thread::sleep(Duration::from_millis(1));
            continue;
        };
        let note = |what| seen.lock().unwrap().push(what);
        match event {
            Event::KeyPress(e) => {
                std::thread::sleep(Duration::from_millis(look.slow));
                let map = c
                    .get_keyboard_mapping(e.detail, 1)
                    .unwrap()
                    .reply()
                    .unwrap();
                let state = u16::from(e.state);
                let level =
                    usize::from(state & 1 == 1 || keypad(&map.keysyms) && state & 0x10 != 0);
                let group = usize::from(state >> 13 & 3);
                note(Seen::Key {
                    symbol: map.keysyms[group * 2 + level],
                    state: e.state.into(),
                });
            }
            Event::KeyRelease(e) => note(Seen::KeyUp { code: e.detail }),
            Event::ButtonPress(e) => note(Seen::Button {
                button: e.detail,
                state: e.state.into(),
                x: e.root_x,
                y: e.root_y,
                time: e.time,
            }),
            Event::ButtonRelease(e) => note(Seen::ButtonUp { button: e.detail }),
            Event::MotionNotify(e) => note(Seen::Motion {
                x: e.root_x,
                y: e.root_y,
            }),
            Event::Expose(_) => {
                let all = Rectangle {
                    x: 0,
                    y: 0,
                    width: 4000,
                    height: 4000,
                };
                c.poly_fill_rectangle(id, gc, &[all]).unwrap();
                c.flush().unwrap();
                if !sent {
                    sent = true;
                    ready.send(id).unwrap();
                }
            }
            Event::ClientMessage(e) if e.type_ == protocols => {
                let mut answer = e;
                answer.window = root;
                let mask = EventMask::SUBSTRUCTURE_NOTIFY | EventMask::SUBSTRUCTURE_REDIRECT;
                c.send_event(false, root, mask, answer).unwrap();
                c.flush().unwrap();
            }
            _ => {}
        }
    }
}
