//! The common part of the threads that own a clipboard.

use deskline_contract::clipboard::{Board, ClipboardThread, Lending, Order, Reading};
use deskline_contract::{Error, Result};
use deskline_unix::worker::{Inbox, Worker};

use super::content::Content;

/// The work of a clipboard's thread.
pub(crate) trait Keep: Board<Content = Content> + Send + 'static {
    /// Runs until the handle is dropped or the connection is lost.
    fn work(&mut self, lending: &mut Lending<Content>, inbox: &Inbox<Order>) -> Result<()>;
}

/// Connects, and starts the thread. Dropping the result ends the thread.
pub(crate) fn keep<K: Keep>(connect: impl FnOnce(Reading) -> Result<K>) -> Result<ClipboardThread> {
    let reading = Reading::default();
    let mut keeper = connect(reading.clone())?;
    let run = move |inbox| {
        let mut lending = Lending::default();
        let ended = keeper.work(&mut lending, &inbox);
        if let Err(error) = ended.and_then(|()| lending.give_back(&mut keeper)) {
            tracing::warn!(%error, "the clipboard's thread ended");
        }
    };
    let worker = Worker::start("clipboard", run);
    let worker = worker.map_err(Error::system("starting the clipboard's thread"))?;
    Ok(ClipboardThread::new(
        move |order| worker.send(order),
        reading,
    ))
}
