//! Answers and their headers.

use std::convert::Infallible;

use http_body_util::Full;
use http_body_util::combinators::BoxBody;
use hyper::body::Bytes;
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::{Response, StatusCode};

/// Permits scripts, styles and data of this server only, and no frame around the page, no form, no
/// plugin.
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

/// An answer with the headers that separate the page from other pages.
pub type Answer = Response<Content>;

pub(crate) type Content = BoxBody<Bytes, Infallible>;

/// An answer of the media type `kind`.
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
    answer(StatusCode::OK, kind, Content::new(Full::new(bytes.into())))
}

pub(crate) fn json(value: &impl serde::Serialize) -> Answer {
    match serde_json::to_vec(value) {
        Ok(bytes) => whole("application/json", bytes),
        Err(error) => text(StatusCode::INTERNAL_SERVER_ERROR, error.to_string()),
    }
}

pub(crate) fn text(status: StatusCode, text: impl Into<String>) -> Answer {
    let content = Content::new(Full::from(text.into()));
    answer(status, "text/plain; charset=utf-8", content)
}

/// Sends the browser to the address `place`.
pub(crate) fn elsewhere(status: StatusCode, place: &str) -> Answer {
    let mut answer = text(status, "");
    if let Ok(place) = HeaderValue::from_str(place) {
        answer.headers_mut().insert(header::LOCATION, place);
    }
    answer
}
