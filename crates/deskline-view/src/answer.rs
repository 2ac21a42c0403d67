//! Answers and their headers.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use hyper::body::{Body, Bytes, Frame, SizeHint};
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::{Response, StatusCode};
use tokio::sync::mpsc::Receiver;

/// Scripts, styles and data of this server only; no frame around it, no form, no plugin.
pub(crate) const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors \
    'none'";

/// The headers of every answer.
#[rustfmt::skip]
const HEADERS: [(HeaderName, &str); 6] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    // The address contains the token.
    (header::REFERRER_POLICY, "no-referrer"),
    // The screen's pictures stay out of the browser's cache on disk.
    (header::CACHE_CONTROL, "no-store"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
];

/// The body of an answer.
pub enum Content {
    /// The whole content; `None` once it is sent.
    Whole(Option<Bytes>),
    /// Parts that are sent as they arrive.
    Events(Receiver<Bytes>),
}

impl Body for Content {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let next = match self.get_mut() {
            Self::Whole(bytes) => Poll::Ready(bytes.take()),
            Self::Events(events) => events.poll_recv(context),
        };
        next.map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(bytes) => {
                SizeHint::with_exact(bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
            }
            Self::Events(_) => SizeHint::default(),
        }
    }
}

/// An answer with the headers that keep a page to itself.
pub type Answer = Response<Content>;

/// An answer of this type.
pub(crate) fn answer(status: StatusCode, kind: &'static str, content: Content) -> Answer {
    let mut answer = Response::new(content);
    *answer.status_mut() = status;
    let headers = answer.headers_mut();
    for (name, value) in HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    answer
}

pub(crate) fn whole(kind: &'static str, bytes: impl Into<Bytes>) -> Answer {
    answer(StatusCode::OK, kind, Content::Whole(Some(bytes.into())))
}

pub(crate) fn json(value: &impl serde::Serialize) -> Answer {
    match serde_json::to_vec(value) {
        Ok(bytes) => whole("application/json", bytes),
        Err(error) => text(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()),
    }
}

pub(crate) fn text(status: StatusCode, text: impl Into<String>) -> Answer {
    let bytes = Bytes::from(text.into());
    answer(
        status,
        "text/plain; charset=utf-8",
        Content::Whole(Some(bytes)),
    )
}

/// Sends the browser elsewhere.
pub(crate) fn elsewhere(status: StatusCode, place: &str) -> Answer {
    let mut answer = text(status, "");
    if let Ok(place) = HeaderValue::from_str(place) {
        answer.headers_mut().insert(header::LOCATION, place);
    }
    answer
}
