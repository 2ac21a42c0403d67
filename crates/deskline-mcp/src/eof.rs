//! Reports the end of the input at once. The protocol layer lets handlers run for seconds after the
//! end, but nothing may be typed or clicked for a client that has gone.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, ReadBuf};

/// A reader that reports the end of its input.
pub(crate) struct Watched<R, F> {
    reader: R,
    ended: Option<F>,
}

impl<R, F: FnOnce()> Watched<R, F> {
    /// Calls `ended` once, at the end of the input or at its first error.
    pub(crate) fn new(reader: R, ended: F) -> Self {
        Self {
            reader,
            ended: Some(ended),
        }
    }
}

impl<R: AsyncRead + Unpin, F: FnOnce() + Unpin> AsyncRead for Watched<R, F> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.reader).poll_read(context, buffer);
        let ended = match &read {
            Poll::Ready(Ok(())) => buffer.filled().len() == before && buffer.remaining() > 0,
            Poll::Ready(Err(_)) => true,
            Poll::Pending => false,
        };
        if ended && let Some(ended) = self.ended.take() {
            ended();
        }
        read
    }
}
