//! The thread that owns the clipboard.

use std::mem::take;
use std::os::fd::AsFd as _;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use deskline_contract::clipboard::{Board, HINT, Lending, Order, Reading};
use deskline_contract::{Cancel, Error, Result};
use deskline_unix::worker::Inbox;
use rustix::event::{PollFd, PollFlags};
use rustix::pipe::{PipeFlags, pipe_with};
use wayland_client::Proxy as _;
use wayland_protocols_wlr::data_control::v1::client::zwlr_data_control_device_v1::ZwlrDataControlDeviceV1;
use wayland_protocols_wlr::data_control::v1::client::zwlr_data_control_manager_v1::ZwlrDataControlManagerV1;
use wayland_protocols_wlr::data_control::v1::client::zwlr_data_control_offer_v1::ZwlrDataControlOfferV1;
use wayland_protocols_wlr::data_control::v1::client::zwlr_data_control_source_v1::ZwlrDataControlSourceV1;

use super::content::{self, Bounds, Content, Received, SLICE};
use super::pipe::{Progress, Writer, is_read_by};
use super::protocol;
use super::thread::Keep;
use crate::wlroots::client::{Client, PATIENCE, lost};

/// The content of the clipboard while this thread owns the clipboard.
struct Owned {
    source: ZwlrDataControlSourceV1,
    content: Content,
    /// The process that the agent's text is for; `None` for the person's data.
    reader: Option<u32>,
}

pub(super) struct Keeper {
    client: Client,
    manager: ZwlrDataControlManagerV1,
    device: ZwlrDataControlDeviceV1,
    owned: Option<Owned>,
    writers: Vec<Writer>,
    reading: Reading,
}

impl Keeper {
    pub(super) fn connect(path: &Path, reading: Reading) -> Result<Self> {
        let mut client = Client::connect(path)?;
        let manager = protocol::bind(&client)?;
        let device = manager.get_data_device(&client.seat, &client.handle(), ());
        client.roundtrip()?;
        Ok(Self {
            client,
            manager,
            device,
            owned: None,
            writers: Vec::new(),
            reading,
        })
    }

    /// Waits at most `limit` until the compositor sends an event, a client reads, or one of
    /// `others` is ready. Handles events and clients; `others` are left to the caller.
    fn step(&mut self, others: &[PollFd<'_>], limit: Option<Duration>) -> Result<()> {
        self.handle()?;
        let pipes = self.writers.iter().map(Writer::pipe);
        let mut fds: Vec<_> = pipes
            .map(|pipe| PollFd::from_borrowed_fd(pipe, PollFlags::OUT))
            .collect();
        fds.extend_from_slice(others);
        self.client.step(&fds, limit)?;
        self.handle()
    }

    /// Handles the events received so far, and writes to the clients' pipes.
    fn handle(&mut self) -> Result<()> {
        self.client.dispatch()?;
        let heard = &mut self.client.heard.clipboard;
        let (cancelled, wanted) = (take(&mut heard.cancelled), take(&mut heard.wanted));
        for source in cancelled {
            if self.owned.as_ref().is_some_and(|o| o.source.id() == source)
                && let Some(owned) = self.owned.take()
            {
                owned.source.destroy();
            }
        }
        for (source, kind, pipe) in wanted {
            let owned = self.owned.as_ref().filter(|o| o.source.id() == source);
            let Some(owned) = owned else { continue };
            let mut content = owned.content.iter();
            let Some((_, data)) = content.find(|(known, _)| *known == kind) else {
                continue;
            };
            // The compositor reads on behalf of apps in Xwayland.
            let compositor = self.client.compositor;
            let is_readers = |app| kind != HINT && is_read_by(&pipe, app, compositor);
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
        let number = self.client.sync();
        let until = Instant::now() + PATIENCE;
        while self.client.heard.done != number {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(lost("no answer within 2 s"));
            }
            self.step(&[], Some(left))?;
        }
        Ok(())
    }

    /// Asks the owner of an offer for the data of one type, and reads the data.
    fn receive(
        &mut self,
        offer: &ZwlrDataControlOfferV1,
        kind: &str,
        bounds: Bounds<'_>,
    ) -> Result<Received> {
        let flags = PipeFlags::CLOEXEC | PipeFlags::NONBLOCK;
        let (reader, writer) = pipe_with(flags).map_err(Error::system("making a pipe"))?;
        // Owners may not expect a non-blocking pipe. So only our end is non-blocking.
        let blocking = rustix::fs::OFlags::empty();
        rustix::fs::fcntl_setfl(&writer, blocking).map_err(Error::system("making a pipe"))?;
        offer.receive(kind.to_owned(), writer.as_fd());
        self.client.flush()?;
        drop(writer);
        content::read(reader, bounds, |pipe, time| self.step(&[pipe], Some(time)))
    }
}

impl Keep for Keeper {
    fn work(&mut self, lending: &mut Lending<Content>, inbox: &Inbox<Order>) -> Result<()> {
        inbox.serve(|order| {
            if let Some(order) = order {
                lending.obey(self, order);
                return Ok(());
            }
            let limit = (!self.writers.is_empty()).then_some(SLICE);
            self.step(&[inbox.poll()], limit)
        })
    }
}

impl Board for Keeper {
    type Content = Content;

    fn hear(&mut self) -> Result<()> {
        self.roundtrip()
    }

    fn take_changed(&mut self) -> bool {
        // The compositor reports selections that we have set ourselves, too.
        take(&mut self.client.heard.clipboard.changed) && self.owned.is_none()
    }

    fn fetch(&mut self, cancel: &Cancel) -> Result<(Content, Option<String>)> {
        let Some((offer, types)) = self.client.heard.clipboard.selected() else {
            return Ok((Content::default(), None));
        };
        content::save(types, cancel, |kind, bounds| {
            self.receive(&offer, kind, bounds)
        })
    }

    fn fetch_text(&mut self) -> Result<Option<Vec<u8>>> {
        let Some((offer, types)) = self.client.heard.clipboard.selected() else {
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
            self.device.set_selection(None);
        } else {
            let source = self.manager.create_data_source(&self.client.handle(), ());
            for (kind, _) in content.iter() {
                source.offer(kind.clone());
            }
            self.device.set_selection(Some(&source));
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
