//! New links, as server-sent events. The data of an event is rows, and its id is the number of the
//! next row.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_lite::stream;
use http_body_util::StreamBody;
use hyper::StatusCode;
use hyper::body::Frame;

use crate::answer::{self, Answer, Content};
use crate::run::Run;

/// At most this many rows in an event.
const ROWS: usize = 500;
/// The polling interval of the log while a page is open.
const LOOK: Duration = Duration::from_millis(200);
/// A comment is sent after this time without an event: only a failing write shows that the page is
/// closed.
const ALIVE: Duration = Duration::from_secs(15);

/// The answer with the rows from `from` on, as they are added, until the page is closed.
pub(crate) fn answer(run: &Arc<Run>, from: usize) -> Answer {
    let events = stream::unfold((Arc::clone(run), from), |(run, from)| async move {
        let (text, next) = event(&run, from).await;
        Some((Ok(Frame::data(text.into())), (run, next)))
    });
    let events = Content::new(StreamBody::new(events));
    answer::answer(StatusCode::OK, "text/event-stream", events)
}

/// The next event, and the number of the row after it.
async fn event(run: &Arc<Run>, from: usize) -> (String, usize) {
    let asked = Instant::now();
    loop {
        let run = Arc::clone(run);
        let read = tokio::task::spawn_blocking(move || {
            if let Err(error) = run.update() {
                tracing::debug!(%error, "the log was not read");
            }
            run.rows(from, from.saturating_add(ROWS))
        });
        let rows = read.await.unwrap_or_default();
        if !rows.is_empty() {
            let next = from + rows.len();
            let rows = serde_json::to_string(&rows).unwrap_or_default();
            return (format!("id: {next}\ndata: {rows}\n\n"), next);
        }
        if asked.elapsed() > ALIVE {
            return (":\n\n".to_owned(), from);
        }
        tokio::time::sleep(LOOK).await;
    }
}
