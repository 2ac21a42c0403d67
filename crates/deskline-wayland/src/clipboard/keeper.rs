//! The thread that owns the clipboard.

use std::os::fd::AsFd as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::TryRecvError;
use std::time::{Duration, Instant};

use deskline_link::clipboard::{Board, HINT, Lending, Order, Reading};
use deskline_link::{Cancel, Error, Result};
use deskline_unix::worker::Inbox;
use deskline_unix::{socket, wait};
use rustix::event::{PollFd, PollFlags};
use rustix::pipe::{PipeFlags, pipe_with};
use wayland_client::backend::WaylandError;
use wayland_client::{Connection, EventQueue};

use super::content::{self, Bounds, Content, Received, SLICE};
use super::pipe::{Progress, Writer, is_read_by};
use super::protocol::{Control, Heard, Offer, Source};
use crate::wlroots::client::{PATIENCE, lost};

/// The content of the owned clipboard.
struct Owned {
    source: Source,
    content: Content,
    /// The process that the agent's text is for; `None` for the person's data.
    reader: Option<u32>,
}

pub(super) struct Keeper {
    connection: Connection,
    queue: EventQueue<Heard>,
    heard: Heard,
    asked: u32,
    control: Control,
    /// The compositor's process, which reads on behalf of apps in Xwayland.
    compositor: u32,
    owned: Option<Owned>,
    writers: Vec<Writer>,
    reading: Reading,
}

impl Keeper {
    pub(super) fn connect(path: &Path, reading: Reading) -> Result<Self> {
        let stream = socket::connect(path, PATIENCE).map_err(lost)?;
        let peer = socket::peer(&stream).map_err(lost)?;
        let connection = Connection::from_socket(stream).map_err(lost)?;
        let queue = connection.new_event_queue();
        let handle = queue.handle();
        let registry = connection.display().get_registry(&handle, ());
        let mut start = Start {
            connection,
            queue,
            heard: Heard::default(),
        };
        start.roundtrip(1)?;
        let control = Control::bind(&start.heard, &registry, &handle);
        let control = control.ok_or_else(|| Error::Unsupported {
            what: "pasting",
            why: "the compositor offers no data control".into(),
        })?;
        start.roundtrip(2)?;
        Ok(Self {
            connection: start.connection,
            queue: start.queue,
            heard: start.heard,
            asked: 2,
            control,
            compositor: peer.pid.unwrap_or_default(),
            owned: None,
            writers: Vec::new(),
            reading,
        })
    }

    /// Runs until the handle is dropped or the connection is lost.
    pub(super) fn run(mut self, inbox: &Inbox<Order>) {
        let mut lending = Lending::new();
        let ended = self.work(&mut lending, inbox);
        if let Err(error) = ended.and_then(|()| lending.give_back(&mut self)) {
            tracing::warn!(%error, "the clipboard's thread ended");
        }
    }

    fn work(&mut self, lending: &mut Lending<Content>, inbox: &Inbox<Order>) -> Result<()> {
        loop {
            match inbox.next() {
                Ok(order) => lending.obey(self, order),
                Err(TryRecvError::Empty) => {
                    let limit = (!self.writers.is_empty()).then_some(SLICE);
                    self.step(&[inbox.poll()], limit)?;
                    inbox.awake();
                }
                Err(TryRecvError::Disconnected) => return Ok(()),
            }
        }
    }

    /// Waits at most `limit` for an event of the compositor, a client that reads, or one of
    /// `others` to become ready, and handles the first two.
    fn step(&mut self, others: &[PollFd<'_>], limit: Option<Duration>) -> Result<()> {
        self.handle()?;
        self.connection.flush().map_err(lost)?;
        let Some(reading) = self.queue.prepare_read() else {
            return self.handle();
        };
        let fd = reading.connection_fd();
        let mut fds = vec![PollFd::new(&fd, PollFlags::IN)];
        let pipes = self.writers.iter().map(Writer::pipe);
        fds.extend(pipes.map(|pipe| PollFd::from_borrowed_fd(pipe, PollFlags::OUT)));
        fds.extend_from_slice(others);
        wait::any(&mut fds, limit).map_err(lost)?;
        let has_message = fds.first().is_some_and(|fd| !fd.revents().is_empty());
        drop(fds);
        if has_message {
            match reading.read() {
                Ok(_) => {}
                Err(WaylandError::Io(e)) if e.kind() == std::io::ErrorKind::WouldBlock => {}
                Err(e) => return Err(lost(e)),
            }
        } else {
            drop(reading);
        }
        self.handle()
    }

    /// Handles the events received so far, and writes to the clients' pipes.
    fn handle(&mut self) -> Result<()> {
        self.queue.dispatch_pending(&mut self.heard).map_err(lost)?;
        for source in std::mem::take(&mut self.heard.cancelled) {
            if self.owned.as_ref().is_some_and(|o| o.source.id() == source)
                && let Some(owned) = self.owned.take()
            {
                owned.source.destroy();
            }
        }
        for (source, kind, pipe) in std::mem::take(&mut self.heard.wanted) {
            let owned = self.owned.as_ref().filter(|o| o.source.id() == source);
            let Some(owned) = owned else { continue };
            let mut content = owned.content.iter();
            let Some((_, data)) = content.find(|(known, _)| *known == kind) else {
                continue;
            };
            let is_readers = |app| kind != HINT && is_read_by(&pipe, app, self.compositor);
            let to_reader = owned.reader.is_some_and(is_readers);
            match Writer::new(pipe, Arc::clone(data), to_reader) {
                Ok(writer) => self.writers.push(writer),
                Err(error) => tracing::debug!(%error, "a client's pipe"),
            }
        }
        let reading = &self.reading;
        self.writers.retain_mut(|writer| {
            let progress = writer.write();
            if progress == Progress::Done && writer.to_reader {
                reading.set(true);
            }
            progress == Progress::More
        });
        Ok(())
    }

    /// Waits until the compositor has processed all requests so far.
    fn roundtrip(&mut self) -> Result<()> {
        self.asked = self.asked.wrapping_add(1);
        self.connection
            .display()
            .sync(&self.queue.handle(), self.asked);
        let until = Instant::now() + PATIENCE;
        while self.heard.done != self.asked {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(lost("no answer within 2 s"));
            }
            self.step(&[], Some(left))?;
        }
        Ok(())
    }

    /// Asks the owner of an offer for its data of one type, and reads it.
    fn receive(&mut self, offer: &Offer, kind: &str, bounds: Bounds<'_>) -> Result<Received> {
        let flags = PipeFlags::CLOEXEC | PipeFlags::NONBLOCK;
        let (reader, writer) = pipe_with(flags).map_err(Error::system("making a pipe"))?;
        // Only our end is non-blocking: owners may not expect that.
        let blocking = rustix::fs::OFlags::empty();
        rustix::fs::fcntl_setfl(&writer, blocking).map_err(Error::system("making a pipe"))?;
        offer.receive(kind, writer.as_fd());
        self.connection.flush().map_err(lost)?;
        drop(writer);
        content::read(reader, bounds, |pipe, time| self.step(&[pipe], Some(time)))
    }
}

/// A connection before its globals are known.
struct Start {
    connection: Connection,
    queue: EventQueue<Heard>,
    heard: Heard,
}

impl Start {
    fn roundtrip(&mut self, number: u32) -> Result<()> {
        self.connection.display().sync(&self.queue.handle(), number);
        let done = |heard: &Heard| heard.done == number;
        crate::wlroots::client::until(
            &self.connection,
            &mut self.queue,
            &mut self.heard,
            Some(PATIENCE),
            done,
        )
    }
}

impl Board for Keeper {
    type Content = Content;

    fn hear(&mut self) -> Result<()> {
        self.roundtrip()
    }

    fn take_changed(&mut self) -> bool {
        // The compositor reports our own selections to us too.
        std::mem::take(&mut self.heard.changed) && self.owned.is_none()
    }

    fn fetch(&mut self, cancel: &Cancel) -> Result<(Content, Option<String>)> {
        let Some((offer, types)) = self.heard.selected() else {
            return Ok((Content::default(), None));
        };
        content::save(types, cancel, |kind, bounds| {
            self.receive(&offer, kind, bounds)
        })
    }

    fn fetch_text(&mut self) -> Result<Option<Vec<u8>>> {
        let Some((offer, types)) = self.heard.selected() else {
            return Ok(None);
        };
        content::save_text(&types, |kind, bounds| self.receive(&offer, kind, bounds))
    }

    fn text(&self, text: &str) -> Result<Content> {
        Ok(content::text(text))
    }

    fn own(&mut self, content: Content, reader: Option<u32>) -> Result<()> {
        let last = self.owned.take();
        if content.is_empty() {
            self.control.clear();
        } else {
            let types = content.iter().map(|(kind, _)| kind.as_str());
            let source = self.control.offer(types, &self.queue.handle());
            self.owned = Some(Owned {
                source,
                content,
                reader,
            });
        }
        self.roundtrip()?;
        if let Some(last) = last {
            last.source.destroy();
        }
        Ok(())
    }

    fn owned(&self) -> Option<(Content, bool)> {
        let owned = self.owned.as_ref()?;
        Some((Arc::clone(&owned.content), owned.reader.is_some()))
    }
}
