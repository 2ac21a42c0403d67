//! The CLIPBOARD selection (ICCCM §2): saved, lent to the agent, given back. PRIMARY is not touched.
//!
//! A selection has no content of its own: its owner answers each request for it. So a thread with its
//! own connection, [`keeper`], owns it: for a paste with the agent's text, and afterwards with the
//! person's data, until somebody copies something else. At its end it hands the data over to the
//! clipboard manager, if there is one (`SAVE_TARGETS`).

mod fetch;
mod keeper;
mod serve;

use std::path::Path;
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use deskline_link::clipboard::{Clipboard, READS, SAVES};
use deskline_link::{Cancel, Error, Result};
use deskline_unix::process;
use deskline_unix::worker::Worker;

/// How long the thread may take to carry out an order: it may have to save first, and the server may
/// be slow.
const PATIENCE: Duration = SAVES.saturating_add(Duration::from_secs(5));

/// The time between two checks of the cancel flag.
const SLICE: Duration = Duration::from_millis(10);

/// An order to the thread.
enum Order {
    Save(Cancel, SyncSender<Result<Option<String>>>),
    Offer(String, Cancel, SyncSender<Result<()>>),
    GiveBack(SyncSender<Result<()>>),
}

/// The processes that have read the agent's text; 0 for one whose pid the server does not report.
#[derive(Clone, Default)]
struct Readers(Arc<(Mutex<Vec<u32>>, Condvar)>);

impl Readers {
    fn add(&self, pid: u32) {
        let (pids, came) = &*self.0;
        let mut pids = pids.lock().unwrap_or_else(PoisonError::into_inner);
        pids.push(pid);
        came.notify_all();
    }

    fn clear(&self) {
        let mut pids = self.0.0.lock().unwrap_or_else(PoisonError::into_inner);
        pids.clear();
    }

    fn await_one(&self, is_wanted: impl Fn(u32) -> bool, cancel: &Cancel) -> Result<bool> {
        let until = Instant::now() + READS;
        let (pids, came) = &*self.0;
        let mut pids = pids.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            cancel.check()?;
            if pids.drain(..).any(&is_wanted) {
                return Ok(true);
            }
            if Instant::now() >= until {
                return Ok(false);
            }
            let waited = came.wait_timeout(pids, SLICE);
            pids = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// A handle to the thread. Dropping it ends the thread, within a second.
pub(crate) struct X11Clipboard {
    worker: Worker<Order>,
    readers: Readers,
}

impl X11Clipboard {
    /// Starts the thread, which then connects to the display.
    pub(crate) fn start(display: &str, xauthority: Option<&Path>) -> Result<Self> {
        let (display, xauthority) = (display.to_owned(), xauthority.map(Path::to_owned));
        let readers = Readers::default();
        let its = readers.clone();
        let run = move |inbox| keeper::run(&display, xauthority.as_deref(), its, &inbox);
        let worker = Worker::start("clipboard", run);
        Ok(Self {
            worker: worker.map_err(Error::system("starting the clipboard's thread"))?,
            readers,
        })
    }

    fn ask<T>(&self, order: impl FnOnce(SyncSender<Result<T>>) -> Order) -> Result<T> {
        self.worker.ask(PATIENCE, order).unwrap_or_else(|| {
            Err(Error::Unavailable(
                "the X server does not answer about the clipboard. The next call connects anew"
                    .into(),
            ))
        })
    }
}

impl Clipboard for X11Clipboard {
    fn save(&mut self, cancel: &Cancel) -> Result<Option<String>> {
        self.ask(|reply| Order::Save(cancel.clone(), reply))
    }

    fn offer(&mut self, text: &str, cancel: &Cancel) -> Result<()> {
        self.readers.clear();
        self.ask(|reply| Order::Offer(text.to_owned(), cancel.clone(), reply))
    }

    fn await_reader(&mut self, pid: u32, cancel: &Cancel) -> Result<bool> {
        let is_apps = |reader| reader == 0 || reader == pid || process::descends(reader, pid);
        self.readers.await_one(is_apps, cancel)
    }

    fn give_back(&mut self) -> Result<()> {
        self.ask(Order::GiveBack)
    }
}
