//! Frames of windows, each by a separate screen cast. Starting a cast takes several round trips, so
//! the cast of the window that a link acts in is started before the picture is due.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use deskline_contract::{Result, kept};

use super::bus::{Calls, Options};
use super::session::{self, CAST, CAST_SESSION};
use crate::pipewire::{self, Frame, Stream};

/// The casts of a session.
pub(super) struct Casts {
    bus: Arc<CastBus>,
    begun: Option<Begun>,
}

/// The connection to the session bus for casts, made at first use.
struct CastBus {
    address: String,
    connected: Mutex<Option<Calls>>,
}

impl CastBus {
    fn with<T>(&self, doing: impl FnOnce(&Calls) -> Result<T>) -> Result<T> {
        let mut connected = self
            .connected
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let bus = kept(&mut connected, || Calls::connect(&self.address))?;
        let done = doing(bus);
        if done.is_err() {
            *connected = None;
        }
        done
    }
}

/// A cast that a thread is starting.
struct Begun {
    /// Mutter's id of the window; `None` for the focused window.
    window: Option<u64>,
    /// The window's size. A stream keeps the size that its window had when the stream started.
    size: (i32, i32),
    start: JoinHandle<Result<Cast>>,
}

/// A cast that has started.
struct Cast {
    bus: Arc<CastBus>,
    session: String,
    node: u32,
    stream: Option<Stream>,
}

impl Casts {
    /// For casts on the session bus at `address`.
    pub(super) fn on(address: &str) -> Self {
        Self {
            bus: Arc::new(CastBus {
                address: address.to_owned(),
                connected: Mutex::default(),
            }),
            begun: None,
        }
    }

    /// Starts the cast of the window with this Mutter id, whose buffer has this size, unless that
    /// cast was started already. Does not wait.
    pub(super) fn begin(&mut self, window: u64, size: (i32, i32)) {
        let window = Some(window);
        let is = |begun: &Begun| (begun.window, begun.size) == (window, size);
        if !self.begun.as_ref().is_some_and(is) {
            let bus = Arc::clone(&self.bus);
            let start = Builder::new().spawn(move || Cast::start(bus, window));
            self.begun = start.ok().map(|start| Begun {
                window,
                size,
                start,
            });
        }
    }

    /// A frame of the window with this Mutter id and size; of the focused window if `window` is
    /// `None`. Other windows may cover the window. Waits at most `longest` for the frame.
    pub(super) fn frame(
        &mut self,
        window: Option<u64>,
        size: (i32, i32),
        longest: Duration,
    ) -> Result<Frame> {
        let begun = self.begun.take();
        let begun = begun.filter(|begun| (begun.window, begun.size) == (window, size));
        let begun = begun.and_then(|begun| begun.start.join().ok()?.ok());
        let cast = match begun {
            Some(cast) => cast,
            None => Cast::start(Arc::clone(&self.bus), window)?,
        };
        cast.frame(longest)
    }

    /// Ends a cast that was started in advance: no picture is due any more.
    pub(super) fn end(&mut self) {
        self.begun = None;
    }
}

impl Cast {
    fn start(bus: Arc<CastBus>, window: Option<u64>) -> Result<Self> {
        let session = bus.with(|on| on.make(CAST, "CreateSession", &(Options::new(),)))?;
        let mut it = Self {
            session,
            bus,
            node: 0,
            stream: None,
        };
        it.node = it.bus.with(|on| {
            let stream = session::record(on, &it.session, window)?;
            session::start_stream(on, &stream, (CAST.0, &it.session, CAST_SESSION))
        })?;
        it.stream = Stream::connect(it.node)?;
        Ok(it)
    }

    fn frame(mut self, longest: Duration) -> Result<Frame> {
        pipewire::frame(self.node, self.stream.take(), longest)
    }
}

impl Drop for Cast {
    fn drop(&mut self) {
        self.stream = None;
        let (bus, session) = (Arc::clone(&self.bus), std::mem::take(&mut self.session));
        // Ends the session on a separate thread, because nobody needs to wait for its end.
        let _ = Builder::new().spawn(move || {
            // Fails if the person has ended the session already.
            let _ = bus.with(|on| on.tell((CAST.0, &session, CAST_SESSION), "Stop", &()));
        });
    }
}
