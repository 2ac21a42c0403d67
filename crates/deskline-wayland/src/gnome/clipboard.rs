//! The clipboard, through a session of Mutter's remote desktop: Mutter has no data-control
//! protocol. The session is never started and sends no input, so GNOME shows no indicator in its
//! panel.
//!
//! Mutter reads the data for the app that pastes, and does not report which app that is. It also
//! keeps a copy of a text or a picture, in one type, to offer it once the owner has gone. It makes
//! that copy as soon as something is offered, before the app that gets the paste key reads.

use std::collections::HashMap;
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::Arc;

use async_io::Async;
use deskline_contract::clipboard::{Board, ClipboardThread, HINT, Lending, Order, Reading};
use deskline_contract::{Cancel, Error, Result};
use deskline_unix::wait;
use deskline_unix::worker::Inbox;
use futures_lite::{StreamExt as _, future};
use rustix::event::{PollFd, PollFlags};
use zbus::zvariant::{OwnedValue, Value};
use zbus::{Message, MessageStream};

use super::bus::{Calls, On, Options, read};
use super::session::{REMOTE, REMOTE_SESSION};
use crate::clipboard::content::{self, Bounds, Content, Missing, Received, SLICE};
use crate::clipboard::pipe::{Progress, Writer};
use crate::clipboard::thread::{self, Keep};

const TYPES: &str = "mime-types";

/// Starts the thread. Dropping the result ends the thread.
///
/// # Errors
///
/// [`Error::Unsupported`] if Mutter refuses this program the clipboard.
pub fn clipboard(session_bus: &str) -> Result<ClipboardThread> {
    thread::keep(|reading| Keeper::connect(session_bus, reading))
}

struct Keeper {
    calls: Calls,
    /// The signals of the session.
    signals: MessageStream,
    path: String,
    /// The types that another client offers.
    offered: Vec<String>,
    /// Whether another client has replaced or cleared the selection.
    changed: bool,
    owned: Option<Owned>,
    reading: Reading,
}

struct Owned {
    content: Content,
    /// Whether the data is the agent's text, not the person's.
    lent: bool,
    /// Whether Mutter has made its copy. If so, further reads are for apps.
    copied: bool,
}

impl Keeper {
    fn connect(session_bus: &str, reading: Reading) -> Result<Self> {
        let calls = Calls::connect(session_bus)?;
        let closed = |e: Error| Error::Unsupported {
            what: "pasting",
            why: format!("GNOME Shell does not let this program have the clipboard ({e})"),
        };
        let path = calls.make(REMOTE, "CreateSession", &()).map_err(closed)?;
        let signals = calls.signals(REMOTE.0, &path)?;
        let mut keeper = Self {
            calls,
            signals,
            path,
            offered: Vec::new(),
            changed: false,
            owned: None,
            reading,
        };
        let none = Options::new();
        keeper.tell("EnableClipboard", &none).map_err(closed)?;
        keeper.hear()?;
        Ok(keeper)
    }

    fn on(&self) -> On<'_> {
        (REMOTE.0, &self.path, REMOTE_SESSION)
    }

    fn tell(&self, method: &str, options: &Options<'_>) -> Result<()> {
        self.calls.tell(self.on(), method, &(options,))
    }

    /// Waits for an order or a signal, and handles it.
    fn wait(&mut self, orders: &Async<OwnedFd>) -> Result<()> {
        let order = async {
            // If this fails, the next check reports the reason.
            let _ = orders.readable().await;
            None
        };
        let signal = async { Some(self.signals.next().await) };
        match async_io::block_on(future::or(signal, order)) {
            None => Ok(()),
            Some(Some(Ok(signal))) => self.handle(&signal),
            Some(_) => Err(ended()),
        }
    }

    fn handle(&mut self, signal: &Message) -> Result<()> {
        let header = signal.header();
        let Some(member) = header.member() else {
            return Ok(());
        };
        match member.as_str() {
            "SelectionOwnerChanged" => {
                let (mut options,): (HashMap<String, OwnedValue>,) = read(signal)?;
                let own = options.remove("session-is-owner");
                if own.is_some_and(|own| bool::try_from(own).unwrap_or_default()) {
                    return Ok(());
                }
                self.owned = None;
                self.changed = true;
                self.offered = options.remove(TYPES).map(types).unwrap_or_default();
            }
            "SelectionTransfer" => {
                let (kind, serial): (String, u32) = read(signal)?;
                // Mutter reports a cancelled transfer as an error.
                if let Err(error) = self.hand_over(&kind, serial) {
                    tracing::debug!(%error, "the clipboard's {kind:?}");
                }
            }
            "Closed" => return Err(ended()),
            _ => {}
        }
        Ok(())
    }

    /// Writes the data of this type to the reader, on a separate thread.
    fn hand_over(&self, kind: &str, serial: u32) -> Result<()> {
        let owned = self.owned.as_ref();
        let found = owned.and_then(|owned| {
            let data = owned.content.iter().find(|(known, _)| known == kind);
            data.map(|(_, data)| (Arc::clone(data), owned.lent && owned.copied && kind != HINT))
        });
        let Some((data, to_reader)) = found else {
            return self
                .calls
                .tell(self.on(), "SelectionWriteDone", &(serial, false));
        };
        let pipe = self.calls.socket(self.on(), "SelectionWrite", &(serial,))?;
        let writer = Writer::new(pipe, data, to_reader);
        let mut writer = writer.map_err(Error::system("writing to the clipboard"))?;
        let (calls, path, reading) = (self.calls.clone(), self.path.clone(), self.reading.clone());
        std::thread::spawn(move || {
            let progress = loop {
                let progress = writer.write();
                if progress != Progress::More {
                    break progress;
                }
                let mut pipe = [PollFd::from_borrowed_fd(writer.pipe(), PollFlags::OUT)];
                // If this fails, the next write reports the reason.
                let _ = wait::any(&mut pipe, Some(SLICE));
            };
            let done = progress == Progress::Done;
            let to_reader = writer.to_reader;
            drop(writer);
            let on = (REMOTE.0, path.as_str(), REMOTE_SESSION);
            let reported = calls.tell(on, "SelectionWriteDone", &(serial, done));
            if done && to_reader {
                reading.set(true);
            }
            if let Err(error) = reported {
                tracing::debug!(%error, "the clipboard's reader");
            }
        });
        Ok(())
    }

    fn receive(&self, kind: &str, bounds: Bounds<'_>) -> Result<Received> {
        let pipe = loop {
            match self.calls.socket(self.on(), "SelectionRead", &(kind,)) {
                Ok(pipe) => break pipe,
                Err(e) if e.costs_connection() => return Err(e),
                // Mutter allows one transfer at a time, and notices the end of the previous
                // transfer a little late.
                Err(e) if bounds.is_over() => {
                    tracing::debug!("the clipboard's {kind:?}: {e}");
                    return Ok(Err(Missing::Late));
                }
                Err(_) => bounds.cancel.wait(SLICE)?,
            }
        };
        content::read(pipe, bounds, |pipe, time| {
            let waited = wait::any(&mut [pipe], Some(time));
            waited
                .map(drop)
                .map_err(Error::system("reading the clipboard"))
        })
    }

    /// Offers these types. Clears the selection if there are no types.
    fn select(&self, types: &[&str]) -> Result<()> {
        let mut options = Options::new();
        if !types.is_empty() {
            options.insert(TYPES, Value::from(types));
        }
        self.tell("SetSelection", &options)
    }
}

/// The types that a signal lists. Mutter puts the list into a structure. For compatibility, this
/// interface still does so in Mutter 51; the newer interface does not (commit 5d4ec9ff95).
fn types(value: OwnedValue) -> Vec<String> {
    let value = Value::from(value);
    let list = match value {
        Value::Structure(structure) => structure.into_fields().into_iter().next(),
        list => Some(list),
    };
    let list = list.and_then(|list| Vec::<String>::try_from(list).ok());
    list.unwrap_or_default()
}

fn ended() -> Error {
    Error::lost("talking to GNOME Shell about the clipboard")("Mutter has ended the session")
}

impl Keep for Keeper {
    fn work(&mut self, lending: &mut Lending<Content>, inbox: &Inbox<Order>) -> Result<()> {
        let failed = Error::system("waiting for an order to the clipboard's thread");
        let orders = inbox.poll().as_fd().try_clone_to_owned();
        let orders = orders.and_then(Async::new).map_err(failed)?;
        inbox.serve(|order| {
            if let Some(order) = order {
                lending.obey(self, order);
                return Ok(());
            }
            self.wait(&orders)
        })
    }
}

impl Board for Keeper {
    type Content = Content;

    /// Calls Mutter first, because the reply to a call arrives after all earlier signals.
    fn hear(&mut self) -> Result<()> {
        let peer = (REMOTE.0, REMOTE.1, "org.freedesktop.DBus.Peer");
        self.calls.tell(peer, "Ping", &())?;
        while let Some(signal) = future::block_on(future::poll_once(self.signals.next())) {
            match signal {
                Some(Ok(signal)) => self.handle(&signal)?,
                _ => return Err(ended()),
            }
        }
        Ok(())
    }

    fn take_changed(&mut self) -> bool {
        std::mem::take(&mut self.changed)
    }

    fn fetch(&mut self, cancel: &Cancel) -> Result<(Content, Option<String>)> {
        content::save(self.offered.clone(), cancel, |kind, bounds| {
            self.receive(kind, bounds)
        })
    }

    fn fetch_text(&mut self) -> Result<Option<Vec<u8>>> {
        content::save_text(&self.offered, |kind, bounds| self.receive(kind, bounds))
    }

    fn text(&self, text: &str) -> Result<Content> {
        Ok(content::text(text))
    }

    fn own(&mut self, content: Content, reader: Option<u32>) -> Result<()> {
        let types: Vec<&str> = content.iter().map(|(kind, _)| kind.as_str()).collect();
        if types.is_empty() {
            // Offers another type first: otherwise Mutter would offer its copy of the agent's text.
            self.select(&[HINT])?;
            self.owned = None;
            return self.select(&[]);
        }
        self.select(&types)?;
        self.owned = Some(Owned {
            content: Arc::clone(&content),
            lent: reader.is_some(),
            copied: false,
        });
        self.hear()?;
        if let Some(owned) = &mut self.owned {
            owned.copied = true;
        }
        Ok(())
    }

    fn owned(&self) -> Option<(Content, bool)> {
        let owned = self.owned.as_ref()?;
        Some((Arc::clone(&owned.content), owned.lent))
    }
}
