//! Saves the CLIPBOARD selection (ICCCM §2), lends it to the agent, and gives it back. PRIMARY is
//! not touched.
//!
//! A selection has no content of its own: its owner answers each request for it. So a thread with a
//! connection of its own, [`keeper`], owns the selection. It has the agent's text during a paste,
//! and after that the person's data, until another client takes the selection. When the thread
//! ends, it hands the data over to the clipboard manager, if there is one (`SAVE_TARGETS`).

mod fetch;
mod keeper;
mod serve;

use std::path::Path;

use deskline_contract::clipboard::{ClipboardThread, Reading};
use deskline_contract::{Error, Result};
use deskline_unix::worker::Worker;

/// Starts the thread, which then connects to the display. Dropping the result ends the thread
/// within a second.
pub(crate) fn start(display: &str, xauthority: Option<&Path>) -> Result<ClipboardThread> {
    let (display, xauthority) = (display.to_owned(), xauthority.map(Path::to_owned));
    let reading = Reading::default();
    let its = reading.clone();
    let run = move |inbox| keeper::run(&display, xauthority.as_deref(), its, &inbox);
    let worker = Worker::start("clipboard", run);
    let worker = worker.map_err(Error::system("starting the clipboard's thread"))?;
    let send = move |order| worker.send(order);
    Ok(ClipboardThread::new(send, reading))
}
