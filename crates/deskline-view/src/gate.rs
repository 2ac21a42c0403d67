//! Authenticates requests: only a page of this server gets answers, in a browser that was given the
//! address.
//!
//! The token in the path keeps other users and other pages out. `Host` and `Origin` are checked in
//! case a page has found out the token: a host name that was rebound to 127.0.0.1 is not this
//! server's `Host`, and a script of another page has another `Origin`.
//!
//! A browser is started with a code instead of the token, because every user can read the arguments
//! of a process. The code leads to the page once, within [`OPENS`], and for this user alone
//! ([`crate::peer`]).

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use hyper::header::{HOST, ORIGIN};
use hyper::{HeaderMap, Method, StatusCode, Uri};

use crate::secret::{same, secret};

/// How long a browser may take to start and send the request.
const OPENS: Duration = Duration::from_secs(60);

/// The first part of a path that has a code.
const OPEN: &str = "open";

/// Decides which requests get an answer.
pub(crate) struct Gate {
    /// The values of `Host` that mean this server.
    hosts: [String; 2],
    token: String,
    /// The unused code, and when it was made.
    code: Mutex<Option<(String, Instant)>>,
}

/// The purpose of a request.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Asked<'u> {
    /// A part of the page: the path after the token.
    Page(&'u str),
    /// A request for the page with this code.
    Code(&'u str),
}

/// Why a request is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// The request does not only read.
    Method,
    /// The request is for another host.
    Host,
    /// A page of another server sent it.
    Origin,
    /// The request has no token, or a wrong one.
    Token,
}

impl Refusal {
    /// The status of the answer.
    pub fn status(self) -> StatusCode {
        match self {
            Self::Method => StatusCode::METHOD_NOT_ALLOWED,
            Self::Host => StatusCode::MISDIRECTED_REQUEST,
            Self::Origin => StatusCode::FORBIDDEN,
            Self::Token => StatusCode::NOT_FOUND,
        }
    }

    /// The words of the answer.
    pub fn text(self) -> &'static str {
        match self {
            Self::Method => "This server only answers GET and HEAD.",
            Self::Host => "This server answers to 127.0.0.1 and localhost only.",
            Self::Origin => "This server answers only requests of its own page.",
            Self::Token => "Open the whole address that deskline view has printed.",
        }
    }
}

impl Gate {
    /// A gate with a new token.
    pub(crate) fn new(port: u16) -> Result<Self, getrandom::Error> {
        Ok(Self {
            hosts: [format!("127.0.0.1:{port}"), format!("localhost:{port}")],
            token: secret()?,
            code: Mutex::default(),
        })
    }

    /// Makes an address that leads to the page once. An address that was made earlier no longer
    /// works.
    pub(crate) fn url_for_one(&self) -> Result<String, getrandom::Error> {
        let code = secret()?;
        let url = format!("http://{}/{OPEN}/{code}", self.hosts[0]);
        *self.code.lock().unwrap_or_else(PoisonError::into_inner) = Some((code, Instant::now()));
        Ok(url)
    }

    /// Uses up the code. Returns the path of the page if `code` was the right one.
    pub(crate) fn let_in(&self, code: &str) -> Option<String> {
        let mut good = self.code.lock().unwrap_or_else(PoisonError::into_inner);
        let right =
            |(known, since): &(String, Instant)| since.elapsed() < OPENS && same(code, known);
        if !good.as_ref().is_some_and(right) {
            return None;
        }
        *good = None;
        Some(format!("/{}/", self.token))
    }

    /// The address of the page.
    pub(crate) fn url(&self) -> String {
        format!("http://{}/{}/", self.hosts[0], self.token)
    }

    /// The purpose of a request, if the request is permitted.
    pub(crate) fn ask<'u>(
        &self,
        method: &Method,
        uri: &'u Uri,
        headers: &HeaderMap,
    ) -> Result<Asked<'u>, Refusal> {
        let is_ours = |host: &str| self.hosts.iter().any(|ours| ours == host);
        check(method, uri, headers, is_ours, &["http"])?;
        let path = uri.path().strip_prefix('/').unwrap_or_default();
        let (token, rest) = path.split_once('/').ok_or(Refusal::Token)?;
        if same(token, &self.token) {
            Ok(Asked::Page(rest))
        } else if token == OPEN && *method == Method::GET {
            Ok(Asked::Code(rest))
        } else {
            Err(Refusal::Token)
        }
    }
}

/// Permits a request that only reads, that has our `Host`, and whose `Origin`, if any, is this host
/// with one of these schemes.
pub fn check(
    method: &Method,
    uri: &Uri,
    headers: &HeaderMap,
    is_ours: impl Fn(&str) -> bool,
    schemes: &[&str],
) -> Result<(), Refusal> {
    if !matches!(*method, Method::GET | Method::HEAD) {
        return Err(Refusal::Method);
    }
    let only = |name| {
        let mut values = headers.get_all(name).iter();
        let first = values.next().map(|value| value.to_str().unwrap_or("?"));
        (first, values.next().is_none())
    };
    let (Some(host), true) = only(HOST) else {
        return Err(Refusal::Host);
    };
    let authority = uri.authority().map(hyper::http::uri::Authority::as_str);
    if !is_ours(host) || authority.is_some_and(|authority| !is_ours(authority)) {
        return Err(Refusal::Host);
    }
    let is_own = |origin: &str| {
        let parts = origin.split_once("://");
        parts.is_some_and(|(scheme, from)| schemes.contains(&scheme) && from == host)
    };
    match only(ORIGIN) {
        (None, _) => Ok(()),
        (Some(origin), true) if is_own(origin) => Ok(()),
        _ => Err(Refusal::Origin),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(method: &str, uri: &str, headers: &[(&'static str, &str)]) -> Result<String, Refusal> {
        let gate = Gate {
            hosts: ["127.0.0.1:80".into(), "localhost:80".into()],
            token: "0123456789abcdef".into(),
            code: Mutex::default(),
        };
        let headers = headers
            .iter()
            .map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()))
            .collect();
        let uri: Uri = uri.parse().unwrap();
        match gate.ask(&method.parse().unwrap(), &uri, &headers)? {
            Asked::Page(path) => Ok(path.to_owned()),
            Asked::Code(code) => Ok(format!("code {code}")),
        }
    }

    #[test]
    fn only_requests_of_the_page_itself_are_answered() {
        const PAGE: &str = "/0123456789abcdef/link/3";
        let host = ("host", "127.0.0.1:80");
        let inside = Ok("link/3".to_owned());
        assert_eq!(ask("GET", PAGE, &[host]), inside);
        assert_eq!(ask("HEAD", PAGE, &[("host", "localhost:80")]), inside);
        let own = ("origin", "http://127.0.0.1:80");
        assert_eq!(ask("GET", PAGE, &[host, own]), inside);
        for method in ["POST", "PUT", "DELETE", "OPTIONS", "CONNECT"] {
            assert_eq!(ask(method, PAGE, &[host]), Err(Refusal::Method));
        }
        for host in [
            "evil.example",
            "evil.example:80",
            "127.0.0.1",
            "127.0.0.1:8080",
            "[::1]:80",
        ] {
            assert_eq!(
                ask("GET", PAGE, &[("host", host)]),
                Err(Refusal::Host),
                "{host}"
            );
        }
        assert_eq!(ask("GET", PAGE, &[]), Err(Refusal::Host));
        assert_eq!(ask("GET", PAGE, &[host, host]), Err(Refusal::Host));
        assert_eq!(ask("GET", "/open/1f", &[host]), Ok("code 1f".into()));
        assert_eq!(ask("HEAD", "/open/1f", &[host]), Err(Refusal::Token));
        let absolute = format!("http://evil.example{PAGE}");
        assert_eq!(ask("GET", &absolute, &[host]), Err(Refusal::Host));
        for origin in [
            "null",
            "http://evil.example",
            "https://127.0.0.1:80",
            "http://localhost:80",
        ] {
            let asked = ask("GET", PAGE, &[host, ("origin", origin)]);
            assert_eq!(asked, Err(Refusal::Origin), "{origin}");
        }
        let foreign = ("host", "evil.example");
        assert_eq!(ask("GET", "/open/1f", &[foreign]), Err(Refusal::Host));
        for path in [
            "/",
            "/link/3",
            "/0123456789abcdef",
            "/0123456789abcdee/",
            "/0123456789abcdef0/",
        ] {
            assert_eq!(ask("GET", path, &[host]), Err(Refusal::Token), "{path}");
        }
    }
    #[test]
    fn a_one_time_code_opens_the_page_only_once() {
        let gate = Gate::new(80).unwrap();
        assert_eq!(gate.let_in(""), None);
        let url = gate.url_for_one().unwrap();
        let code = url.strip_prefix("http://127.0.0.1:80/open/").unwrap();
        assert!(!url.contains(&gate.token));
        assert_eq!(gate.let_in("0"), None);
        assert_eq!(gate.let_in(code), Some(format!("/{}/", gate.token)));
        assert_eq!(gate.let_in(code), None);
    }
}
