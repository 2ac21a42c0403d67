//! New links, as server-sent events: each has the number of links as its id, and rows as its data.

use std::sync::Arc;
use std::time::{Duration, Instant};

use hyper::StatusCode;
use hyper::body::Bytes;
use tokio::sync::mpsc;

use crate::answer::{self, Answer, Content};
use crate::run::Run;

/// At most this many rows in an event.
const ROWS: usize = 500;
/// The polling interval of the log while a page is open.
const LOOK: Duration = Duration::from_millis(200);
/// A comment is sent after this time without an event: only a failing write shows that the page is
/// closed.
const ALIVE: Duration = Duration::from_secs(15);

/// The answer with the rows from `from` on, as they are added.
pub(crate) fn answer(run: &Arc<Run>, from: usize) -> Answer {
    let (sender, receiver) = mpsc::channel(1);
    tokio::spawn(send(Arc::clone(run), from, sender));
    let events = Content::Events(receiver);
    answer::answer(StatusCode::OK, "text/event-stream", events)
}

/// Sends rows until the page is closed.
async fn send(run: Arc<Run>, mut next: usize, events: mpsc::Sender<Bytes>) {
    let mut sent = Instant::now();
    while !events.is_closed() {
        let run = Arc::clone(&run);
        let read = tokio::task::spawn_blocking(move || {
            if let Err(error) = run.update() {
                tracing::debug!(%error, "the log was not read");
            }
            run.rows(next, next.saturating_add(ROWS))
        });
        let rows = read.await.unwrap_or_default();
        let text = if !rows.is_empty() {
            next += rows.len();
            let rows = serde_json::to_string(&rows).unwrap_or_default();
            format!("id: {next}\ndata: {rows}\n\n")
        } else if sent.elapsed() > ALIVE {
            ":\n\n".to_owned()
        } else {
            tokio::time::sleep(LOOK).await;
            continue;
        };
        if events.send(text.into()).await.is_err() {
            return;
        }
        sent = Instant::now();
    }
}
