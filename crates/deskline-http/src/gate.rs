//! Authenticates requests: a client needs the token, a browser the viewer's token. `rmcp` checks
//! `Host` and `Origin` of clients, and the viewer those of browsers.

use base64::prelude::{BASE64_STANDARD, Engine as _};
use deskline_view::Refusal as ViewRefusal;
use hyper::header::AUTHORIZATION;
use hyper::http::uri::Authority;
use hyper::{HeaderMap, Method, StatusCode, Uri};

use crate::profile::Profile;
use crate::token::Token;

/// The path of the protocol. Below it are the handles of desktops.
pub(crate) const PATH: &str = "/mcp";

/// The path of the journals' pages.
pub(crate) const VIEW: &str = "/view";

/// The path that tells monitoring whether the server runs. Needs no token.
pub(crate) const HEALTH: &str = "/health";

/// The path that tells load balancers whether a new client would get a desktop. Needs no token.
pub(crate) const READY: &str = "/ready";

/// The path of the metrics for Prometheus.
const METRICS: &str = "/metrics";

/// The header with a desktop's handle. In a path, proxies would log the handle.
const HANDLE_HEADER: &str = "deskline-handle";

/// The fewest characters of a handle. In hexadecimal, this many have 128 bits.
const HANDLE: usize = 32;

/// The purpose of a request.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    Protocol,
    Health,
    Ready,
    Metrics,
}

/// The answer to a refused request: the status, and what the client has to do.
pub(crate) type Refusal = (StatusCode, &'static str);

/// The purpose of a request, if the request is permitted. With `open_metrics`, the metrics need no
/// token.
pub(crate) fn ask(
    token: &Token,
    open_metrics: bool,
    method: &Method,
    uri: &Uri,
    headers: &HeaderMap,
) -> Result<Asked, Refusal> {
    let asked = match uri.path() {
        HEALTH => Asked::Health,
        READY => Asked::Ready,
        METRICS => Asked::Metrics,
        _ => Asked::Protocol,
    };
    let is_open = match asked {
        Asked::Health | Asked::Ready => true,
        Asked::Metrics => open_metrics,
        Asked::Protocol => false,
    };
    if is_open && method == Method::GET {
        return Ok(asked);
    }
    let bearer = credentials(headers, "bearer");
    if !bearer.is_some_and(|text| token.matches(text)) {
        return Err((
            StatusCode::UNAUTHORIZED,
            "Send the token: Authorization: Bearer TOKEN. The server printed where it is.",
        ));
    }
    if asked != Asked::Protocol {
        return if method == Method::GET {
            Ok(asked)
        } else {
            Err((StatusCode::METHOD_NOT_ALLOWED, "Use GET for this path."))
        };
    }
    profile(uri)?;
    let is_below = uri
        .path()
        .strip_prefix(PATH)
        .is_some_and(|rest| rest.starts_with('/'));
    let given = headers.get_all(HANDLE_HEADER).iter().count() + usize::from(is_below);
    match handle(uri, headers) {
        _ if uri.path() != PATH && !is_below => {
            Err((StatusCode::NOT_FOUND, "The protocol is at /mcp."))
        }
        Some(handle) if given == 1 && is_handle(handle) => Ok(Asked::Protocol),
        None if given == 0 => Ok(Asked::Protocol),
        _ => Err((
            StatusCode::NOT_FOUND,
            "A desktop's handle is 32 to 128 letters and digits that nobody can guess, given once: \
            Deskline-Handle: HANDLE.",
        )),
    }
}

/// The part of a request's path after `/view`, with its slash; `None` if the request is not for the
/// viewer.
pub(crate) fn below_view(uri: &Uri) -> Option<&str> {
    let rest = uri.path().strip_prefix(VIEW)?;
    (rest.is_empty() || rest.starts_with('/')).then_some(rest)
}

/// Whether a browser may see the pages of the journals: it must send the viewer's token as its
/// password, and `Host` and `Origin` must name this server. An origin with `https` is accepted too,
/// because a proxy may have added TLS.
pub(crate) fn ask_view(
    token: &Token,
    hosts: &[String],
    method: &Method,
    uri: &Uri,
    headers: &HeaderMap,
) -> Result<(), Refusal> {
    let is_ours = |host: &str| is_one_of(hosts, host);
    let checked = deskline_view::check(method, uri, headers, is_ours, &["http", "https"]);
    checked.map_err(|refusal| match refusal {
        ViewRefusal::Host => (
            StatusCode::FORBIDDEN,
            "This server answers only to loopback and to the names given with --host.",
        ),
        other => (other.status(), other.text()),
    })?;
    let password = credentials(headers, "basic").and_then(|text| {
        let text = String::from_utf8(BASE64_STANDARD.decode(text).ok()?).ok()?;
        Some(text.split_once(':')?.1.to_owned())
    });
    if password.is_some_and(|password| token.matches(&password)) {
        Ok(())
    } else {
        Err((
            StatusCode::UNAUTHORIZED,
            "Log in with any name, and the viewer's token as the password. The server printed where it is.",
        ))
    }
}

/// Whether a `Host` means this server. A name in `hosts` without a port stands for any port.
fn is_one_of(hosts: &[String], given: &str) -> bool {
    let bare = |host: &str| host.trim_matches(['[', ']']).to_ascii_lowercase();
    let Ok(given) = given.parse::<Authority>() else {
        return false;
    };
    hosts.iter().any(|ours| match ours.parse::<Authority>() {
        Ok(ours) if ours.port_u16().is_some() => {
            bare(ours.host()) == bare(given.host()) && ours.port_u16() == given.port_u16()
        }
        _ => bare(ours) == bare(given.host()),
    })
}

/// The credentials of the scheme `wanted`. `None` unless a request has exactly one `Authorization`.
fn credentials<'h>(headers: &'h HeaderMap, wanted: &str) -> Option<&'h str> {
    let mut given = headers.get_all(AUTHORIZATION).iter();
    let (Some(only), None) = (given.next(), given.next()) else {
        return None;
    };
    let (scheme, text) = only.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case(wanted).then_some(text.trim())
}

/// The handle of a desktop: in a header, or in the path for clients that send no such header.
pub(crate) fn handle<'r>(uri: &'r Uri, headers: &'r HeaderMap) -> Option<&'r str> {
    let below = || uri.path().strip_prefix(PATH)?.strip_prefix('/');
    let handle = headers.get(HANDLE_HEADER);
    handle.map_or_else(below, |handle| handle.to_str().ok())
}

/// The profile that a request asks for: `?profile=NAME`.
pub(crate) fn profile(uri: &Uri) -> Result<Option<Profile>, Refusal> {
    let pairs = uri.query().unwrap_or_default().split('&');
    let mut names = pairs.filter_map(|pair| pair.strip_prefix("profile="));
    let name = names.next().map(str::parse).transpose();
    match (name, names.next()) {
        (Ok(name), None) => Ok(name),
        _ => Err((
            StatusCode::BAD_REQUEST,
            "A profile's name has 1 to 64 letters, digits, - and _: /mcp?profile=NAME.",
        )),
    }
}

fn is_handle(text: &str) -> bool {
    (HANDLE..=128).contains(&text.len()) && text.bytes().all(|c| c.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests;
