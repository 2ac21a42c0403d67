//! A thread that serves a clipboard: the orders to it, and what it saves and gives back.

use std::sync::mpsc::{self, SyncSender};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use deskline_core::KeyPress;
use deskline_input::{Cancel, clock};

use super::{Clipboard, READS, SAVES};
use crate::error::{Error, Result};
use crate::wait;

/// How long the thread may take to carry out an order: it may have to save the clipboard first.
const PATIENCE: Duration = SAVES.saturating_add(Duration::from_secs(5));

/// The time between two checks of the cancel flag.
const SLICE: Duration = Duration::from_millis(10);

/// An order to the thread.
pub enum Order {
    /// [`Clipboard::save`]
    Save(Cancel, SyncSender<Result<Option<String>>>),
    /// [`Clipboard::offer`]: the text, and the process that is to read it.
    Offer(String, u32, Cancel, SyncSender<Result<()>>),
    /// [`Clipboard::give_back`]
    GiveBack(SyncSender<Result<()>>),
}

/// Whether the app has read the agent's text. Clones share this state.
#[derive(Debug, Clone, Default)]
pub struct Reading(Arc<(Mutex<bool>, Condvar)>);

impl Reading {
    /// Records that the app has read the text (`true`), or that there is a new text to read
    /// (`false`).
    pub fn set(&self, read: bool) {
        let (flag, came) = &*self.0;
        *flag.lock().unwrap_or_else(PoisonError::into_inner) = read;
        came.notify_all();
    }

    /// Waits until the app has read the text, for at most [`READS`]. `false` if it has not read it
    /// by then.
    ///
    /// # Errors
    ///
    /// The link was cancelled.
    pub fn await_it(&self, cancel: &Cancel) -> Result<bool> {
        let (flag, came) = &*self.0;
        let look = || {
            let read = flag.lock().unwrap_or_else(PoisonError::into_inner);
            let slice = if *read || clock::pass(SLICE) {
                Duration::ZERO
            } else {
                SLICE
            };
            let waited = came.wait_timeout_while(read, slice, |read| !*read);
            Ok(waited
                .unwrap_or_else(PoisonError::into_inner)
                .0
                .then_some(()))
        };
        Ok(wait::until(cancel, READS, Duration::ZERO, look)?.is_some())
    }
}

pub struct ClipboardThread {
    tell: Box<dyn Fn(Order) + Send>,
    reading: Reading,
}

impl ClipboardThread {
    /// `tell` owns the thread, sends orders to it, and returns at once.
    pub fn new(tell: impl Fn(Order) + Send + 'static, reading: Reading) -> Self {
        let tell = Box::new(tell);
        Self { tell, reading }
    }

    fn ask<T>(&self, order: impl FnOnce(SyncSender<Result<T>>) -> Order) -> Result<T> {
        let (reply, done) = mpsc::sync_channel(1);
        (self.tell)(order(reply));
        done.recv_timeout(PATIENCE).unwrap_or_else(|_| {
            Err(Error::Unavailable(String::from(
                "the display server does not answer about the clipboard. The next call reconnects",
            )))
        })
    }
}

impl Clipboard for ClipboardThread {
    fn save(&mut self, cancel: &Cancel) -> Result<Option<String>> {
        self.ask(|reply| Order::Save(cancel.clone(), reply))
    }

    fn offer(&mut self, text: &str, app: u32, cancel: &Cancel) -> Result<()> {
        self.reading.set(false);
        self.ask(|reply| Order::Offer(text.to_owned(), app, cancel.clone(), reply))
    }

    fn await_reader(&mut self, cancel: &Cancel) -> Result<bool> {
        self.reading.await_it(cancel)
    }

    fn give_back(&mut self) -> Result<()> {
        self.ask(Order::GiveBack)
    }

    fn keys(&self, terminal: bool) -> KeyPress {
        super::keys(terminal)
    }
}

/// A display server's clipboard, as the clipboard thread uses it.
pub trait Board {
    /// The data of all types. Empty if nothing is on the clipboard.
    type Content: Clone;

    /// Handles the display server's pending messages.
    fn hear(&mut self) -> Result<()>;

    /// Whether somebody else has put something on the clipboard since the last call.
    fn take_changed(&mut self) -> bool;

    /// Reads the data that somebody else has put on the clipboard. Returns the data, and a note
    /// about the parts that were left out, if any. Blocks for at most [`SAVES`].
    fn fetch(&mut self, cancel: &Cancel) -> Result<(Self::Content, Option<String>)>;

    /// The text on the clipboard, if the clipboard's owner hands it over at once.
    fn fetch_text(&mut self) -> Result<Option<Vec<u8>>>;

    /// The content that offers `text` under all text types, with the hint that clipboard managers
    /// should not record it.
    fn text(&self, text: &str) -> Result<Self::Content>;

    /// Puts `content` on the clipboard and serves it: the agent's text for the process `reader`, or
    /// the person's data. Empties the clipboard if `content` is empty.
    fn own(&mut self, content: Self::Content, reader: Option<u32>) -> Result<()>;

    /// The data that this thread serves now, and whether it is the agent's text.
    fn owned(&self) -> Option<(Self::Content, bool)>;
}

/// The person's saved data, and the text that is lent to the agent. Both are missing at first.
#[derive(Debug, Default)]
pub struct Lending<C> {
    saved: Option<C>,
    lent: Option<String>,
}

impl<C: Clone> Lending<C> {
    /// Carries out an order. A reply that nobody waits for any more is dropped.
    pub fn obey(&mut self, board: &mut impl Board<Content = C>, order: Order) {
        match order {
            Order::Save(cancel, reply) => _ = reply.send(self.save(board, &cancel)),
            Order::Offer(text, app, cancel, reply) => {
                _ = reply.send(self.offer(board, &text, app, &cancel));
            }
            Order::GiveBack(reply) => _ = reply.send(self.give_back(board)),
        }
    }

    fn save(
        &mut self,
        board: &mut impl Board<Content = C>,
        cancel: &Cancel,
    ) -> Result<Option<String>> {
        board.hear()?;
        board.take_changed();
        let (content, lost) = match board.owned() {
            Some((content, false)) => (content, None),
            _ => board.fetch(cancel)?,
        };
        self.saved = Some(content);
        Ok(lost)
    }

    fn offer(
        &mut self,
        board: &mut impl Board<Content = C>,
        text: &str,
        app: u32,
        cancel: &Cancel,
    ) -> Result<()> {
        board.hear()?;
        if board.take_changed() || self.saved.is_none() {
            self.save(board, cancel)?;
        }
        let content = board.text(text)?;
        self.lent = Some(text.to_owned());
        board.own(content, Some(app))
    }

    /// Does [`Clipboard::give_back`]. Has to be called when the thread ends, too.
    ///
    /// # Errors
    /// Those of the display server.
    pub fn give_back(&mut self, board: &mut impl Board<Content = C>) -> Result<()> {
        board.hear()?;
        let (Some(lent), Some(saved)) = (self.lent.take(), self.saved.take()) else {
            return Ok(());
        };
        let is_lent = board.owned().is_some_and(|(_, lent)| lent);
        // Some clipboard managers take over a copied text, and so become the owner.
        if is_lent || board.fetch_text()?.as_deref() == Some(lent.as_bytes()) {
            board.own(saved, None)?;
        }
        Ok(())
    }
}
