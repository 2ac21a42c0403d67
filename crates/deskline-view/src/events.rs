//! New links, as server-sent events: each has the number of links as its id, and rows as its data.

use std::sync::Arc;
use std::time::Duration;

use hyper::StatusCode;
use hyper::body::Bytes;
use tokio::sync::mpsc;

use crate::answer::{self, Answer, Content};
use crate::run::Run;

/// At most this many rows in an event.
const ROWS: usize = 500;
/// A comment is sent after this time without an event: only a failing write shows that the page is
/// closed.
const ALIVE: Duration = Duration::from_secs(15);

/// The rows from `from` on, as they come.
pub(crate) fn answer(run: &Arc<Run>, from: usize) -> Answer {
    let (sender, receiver) = mpsc::channel(1);
    tokio::spawn(send(Arc::clone(run), from, sender));
    let events = Content::Events(receiver);
    answer::answer(StatusCode::OK, "text/event-stream", events)
}

/// Sends until the page is closed.
async fn send(run: Arc<Run>, mut next: usize, events: mpsc::Sender<Bytes>) {
    let mut counts = run.counts();
    loop {
        let count = *counts.borrow_and_update();
        let text = if next < count {
            let end = count.min(next + ROWS);
            let rows = serde_json::to_string(&run.rows(next, end));
            next = end;
            format!("id: {end}\ndata: {}\n\n", rows.unwrap_or_default())
        } else {
            match tokio::time::timeout(ALIVE, counts.changed()).await {
                Ok(Ok(())) => continue,
                Ok(Err(_)) => return,
                Err(_) => ":\n\n".to_owned(),
            }
        };
        if events.send(text.into()).await.is_err() {
            return;
        }
    }
}
