//! Finds out what the person presses. On X11 the X server tells. On Wayland the input devices tell
//! what is pressed, and the compositor and the apps' events tell where.

use std::collections::VecDeque;
use std::io::{self, ErrorKind};
use std::path::Path;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use deskline_atspi::bus::{Body, Call, Connection, Message};
use deskline_atspi::{PATIENCE, accessibility_bus, on_bus};
use deskline_contract::guard::Task;
use deskline_contract::presses::{Named, Presses};
pub use deskline_contract::presses::{Press, Pressed};
use deskline_contract::{Cancel, Error, Pointer, Result};
use deskline_core::{ElementId, Point};
use deskline_evdev::{Stroke, Strokes};
use deskline_unix::codes::{BUTTONS, LEFT};
use deskline_wayland::{Keys, ListedWindow, Listing};
use deskline_x11::presses::Presses as X11Presses;

use crate::desktop::Announcer;
use crate::display::{self, DisplaySystem};
use crate::session::Session;

/// X11's numbers of the buttons, in the order of their evdev codes: left, right, middle, and those
/// at the side.
const NUMBERS: [u32; 8] = [1, 3, 2, 8, 9, 10, 11, 12];

/// Listens to what is pressed on a session, and shows a banner that says so. Apps may report what a
/// button has pressed until `after` has passed since it went up.
///
/// # Errors
/// This user may not read the presses, or the session does not answer.
pub fn presses(session: &Session, caption: &str, after: Duration) -> Result<Box<dyn Presses>> {
    Ok(match &session.display {
        Some(display) if session.wayland_display.is_none() => {
            let cookies = session.cookies();
            Box::new(X11Presses::listen(display, cookies.as_deref(), caption)?)
        }
        _ => Box::new(Devices::of(session, caption, after)?),
    })
}

/// How far a mouse must move for a drag, in the mouse's own units. A hand that clicks moves it
/// less.
const DRAGS: u32 = 24;

/// An app that has reported nothing yet is given up to this many times `after`: under load, an app
/// handles a press late.
const SLOW: u32 = 6;

/// The states whose changes tell what was pressed, and what a click has changed.
const STATES: [&str; 7] = [
    "active", "focused", "armed", "pressed", "checked", "selected", "expanded",
];

/// A state that an element has got or lost.
struct Change {
    element: ElementId,
    state: String,
    on: bool,
}

/// The person's devices, and the sources that tell which app and element each press goes to.
struct Devices {
    strokes: Strokes,
    pending: VecDeque<(Stroke, u32)>,
    /// How far mice have moved since the last button went down, according to the handled strokes.
    moved: u32,
    keys: Keys,
    display: Box<dyn DisplaySystem>,
    changes: Receiver<Change>,
    /// The id of the desktop.
    desktop: String,
    /// The element that was selected or focused last, if it still is.
    current: Option<ElementId>,
    /// Whether the next result has to be what the apps named around the last press of a button.
    asks: bool,
    /// Where the left button went down, while it is down.
    down: Option<Point>,
    /// How long an app may take, after a button went up, to report what was clicked.
    after: Duration,
    _banner: Announcer,
}

impl Devices {
    fn of(session: &Session, caption: &str, after: Duration) -> Result<Self> {
        let strokes = Strokes::open().map_err(|error| unreadable(&error))?;
        let socket = session.wayland_socket();
        let socket = socket.as_deref().unwrap_or(Path::new(""));
        let mut display = display::connect(session)?;
        let mut banner = Announcer::new(Some(socket.to_owned()));
        let task = Task {
            caption: Some(caption.to_owned()),
            place: None,
            pointer: false,
            limit: Duration::MAX,
        };
        let shown = banner.show(&task, &mut *display);
        banner.check(shown);
        let bus = session.session_bus.as_deref().unwrap_or_default();
        let (changes, desktop) = changes(bus)?;
        Ok(Self {
            strokes,
            pending: VecDeque::new(),
            moved: 0,
            keys: Keys::of(socket)?,
            display,
            changes,
            desktop,
            current: None,
            asks: false,
            down: None,
            after,
            _banner: banner,
        })
    }

    /// The next stroke before `until`.
    fn stroke(&mut self, until: Instant, cancel: &Cancel) -> Result<Option<Stroke>> {
        while self.pending.is_empty() {
            cancel.check()?;
            let left = until.saturating_duration_since(Instant::now());
            let strokes = self.strokes.next(left);
            self.pending
                .extend(strokes.map_err(Error::lost("reading /dev/input"))?);
            if left.is_zero() {
                break;
            }
        }
        let (stroke, moved) = self.pending.pop_front().unzip();
        self.moved = self.moved.saturating_add(moved.unwrap_or(0));
        Ok(stroke)
    }

    /// What apps have reported since the last call. Notes what is selected or focused now.
    fn heard(&mut self) -> Vec<Change> {
        let changes: Vec<Change> = self.changes.try_iter().collect();
        for change in &changes {
            if !matches!(&*change.state, "selected" | "focused") {
                continue;
            }
            if change.on {
                self.current = Some(change.element.clone());
            } else {
                self.current.take_if(|current| *current == change.element);
            }
        }
        changes
    }

    fn button(&mut self, number: u32) -> Result<Press> {
        let (at, pid) = self.there()?;
        (self.asks, self.down) = (at.is_none(), at.filter(|_| number == 1));
        let what = Pressed::Button { number, at };
        Ok(Press { pid, what })
    }

    /// The pointer's place, and the process whose window is there, if the compositor tells them.
    fn there(&mut self) -> Result<(Option<Point>, Option<u32>)> {
        let Some(wayland) = self.display.wayland() else {
            return Ok((None, None));
        };
        let Some(Pointer { at, .. }) = wayland.pointer()? else {
            return Ok((None, None));
        };
        let Listing::Listed(all) = wayland.windows()? else {
            return Ok((Some(at), None));
        };
        let there = |window: &&ListedWindow| window.visible && window.frame.contains(at);
        Ok((Some(at), all.iter().find(there).map(|window| window.pid)))
    }

    /// Waits at most `limit` for the next press, and handles the keys that go up before it. If
    /// `for_button`, returns as soon as a button goes up.
    fn rest(&mut self, limit: Duration, for_button: bool, cancel: &Cancel) -> Result<()> {
        let until = Instant::now() + limit;
        while let Some(stroke) = self.stroke(until, cancel)? {
            let is_button = BUTTONS.contains(&stroke.key);
            if stroke.down {
                self.pending.push_front((stroke, 0));
                break;
            } else if !is_button {
                self.keys.stroke(stroke.key, false);
            } else if for_button {
                break;
            }
        }
        Ok(())
    }

    /// What the apps name while the button is down, and a moment later.
    fn named(&mut self, cancel: &Cancel) -> Result<Named> {
        let mut named = Named {
            desktop: self.desktop.clone(),
            before: self.current.iter().cloned().collect(),
            ..Named::default()
        };
        self.moved = 0;
        self.rest(PATIENCE, true, cancel)?;
        named.dragged = self.moved >= DRAGS;
        let (down, mut up) = (self.heard(), Vec::new());
        for _ in 0..SLOW {
            if self.pending.is_empty() {
                self.rest(self.after, false, cancel)?;
                up.extend(self.heard());
            }
            if !down.is_empty() || !up.is_empty() || !self.pending.is_empty() {
                break;
            }
        }
        let (during, mut active, mut late) = (down.len(), None, Vec::new());
        for (n, Change { element, state, on }) in down.into_iter().chain(up).enumerate() {
            let list = match &*state {
                "checked" | "selected" | "expanded" if on => &mut named.on,
                "checked" | "selected" | "expanded" => &mut named.off,
                "focused" | "armed" | "pressed" if on && n < during => &mut named.pressed,
                "armed" | "pressed" if on => &mut late,
                "focused" if on => &mut named.late,
                "active" if on => {
                    active = active.or(Some(n));
                    continue;
                }
                _ => continue,
            };
            list.push(element);
        }
        // A window that comes to the front gives the focus back to the element that had it. That
        // element was not pressed.
        if active.is_some_and(|first| first < during) && !named.pressed.is_empty() {
            named.pressed.remove(0);
        }
        // A busy app draws the press only after the button has gone up.
        if named.pressed.is_empty() {
            named.pressed = late;
        }
        if active.is_some() {
            named.late.clear();
        }
        Ok(named)
    }
}

impl Presses for Devices {
    fn next(&mut self, limit: Duration, cancel: &Cancel) -> Result<Option<Press>> {
        if std::mem::take(&mut self.asks) {
            let what = Pressed::Named(self.named(cancel)?);
            return Ok(Some(Press { pid: None, what }));
        }
        let Some(Stroke { key, down }) = self.stroke(Instant::now() + limit, cancel)? else {
            return Ok(None);
        };
        self.heard();
        if BUTTONS.contains(&key) && down {
            return self.button(NUMBERS[(key - LEFT) as usize]).map(Some);
        } else if BUTTONS.contains(&key) {
            let Some(from) = self.down.take_if(|_| key == LEFT) else {
                return Ok(None);
            };
            let (at, pid) = self.there()?;
            let what = Pressed::up(at.unwrap_or(from), from);
            return Ok(Some(Press { pid, what }));
        }
        let what = self.keys.stroke(key, down);
        let front = what.as_ref().map_or(Ok(None), |_| self.display.front())?;
        let pid = front.and_then(|window| window.pid);
        Ok(what.map(|what| Press { pid, what }))
    }
}

/// The changes of states that apps report from now on, and the id of the desktop.
fn changes(session_bus: &str) -> Result<(Receiver<Change>, String)> {
    let address = accessibility_bus::enabled(session_bus)?;
    let listen = || {
        let mut bus = Connection::open(&address, PATIENCE)?;
        let registry = "org.a11y.atspi.Registry";
        let path = "/org/a11y/atspi/registry";
        for (event, signal) in [
            ("object:state-changed", "Object',member='StateChanged'"),
            ("window:activate", "Window',member='Activate'"),
        ] {
            let event = Body::new().str(event).strs(&[]).str("");
            let register = Call::new(registry, path, registry, "RegisterEvent", event);
            bus.call(&register, PATIENCE)?;
            let rule = format!("type='signal',interface='org.a11y.atspi.Event.{signal}");
            bus.call(&Call::to_bus("AddMatch", Body::new().str(&rule)), PATIENCE)?;
        }
        Ok(bus)
    };
    let mut bus = listen().map_err(on_bus("listening to accessibility events"))?;
    let ((send, receive), desktop) = (channel(), bus.guid.clone());
    thread::spawn(move || {
        // Ends when the bus is lost or the recording ends.
        while let Ok(messages) = bus.signals() {
            let mut changes = messages.iter().filter_map(change);
            if changes.any(|change| send.send(change).is_err()) {
                return;
            }
        }
    });
    Ok((receive, desktop))
}

fn change(message: &Message) -> Option<Change> {
    let mut body = message.reader();
    let state = body.str().ok()?;
    let (state, on) = match message.member.as_str() {
        "Activate" => ("active", true),
        _ => (state, body.i32().ok()? != 0),
    };
    STATES.contains(&state).then(|| Change {
        element: ElementId::new(format!("{}{}", message.sender, message.path)),
        state: state.to_owned(),
        on,
    })
}

fn unreadable(error: &io::Error) -> Error {
    let (why, unless) = match error.kind() {
        ErrorKind::PermissionDenied => (
            "this user may not read the devices in /dev/input",
            "Until the next restart this lets every program of yours read them: sudo setfacl -m \
            \"u:$USER:r\" /dev/input/event*. Or record",
        ),
        _ => ("there is no keyboard or pointer in /dev/input", "Record"),
    };
    Error::Unavailable(format!(
        "{why}, and on Wayland nothing else tells what is pressed. {unless} on deskline desktop \
        --watch, with a VNC viewer"
    ))
}
