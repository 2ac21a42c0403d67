//! Decides who may ask: a client that has the token. `Host` and `Origin` are rmcp's to check.

use hyper::header::AUTHORIZATION;
use hyper::{HeaderMap, Method, StatusCode, Uri};

use crate::profile::Profile;
use crate::token::Token;

/// The path of the protocol. Below it are the handles of desktops.
pub(crate) const PATH: &str = "/mcp";

/// Whether the server runs, for what watches over it: needs no token.
const HEALTH: &str = "/health";

/// Whether a new client would get a desktop, for what sends clients here: needs no token.
const READY: &str = "/ready";

/// Numbers for Prometheus.
const METRICS: &str = "/metrics";

/// The fewest characters of a handle: 128 bits in hexadecimal.
const HANDLE: usize = 32;

/// The purpose of a request.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    Protocol,
    Health,
    Ready,
    Metrics,
}

/// Why a request is refused: a status, and what to do.
pub(crate) type Refusal = (StatusCode, &'static str);

/// What the request is for, if it may be answered. With `open_metrics`, the numbers need no token.
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
    let mut given = headers.get_all(AUTHORIZATION).iter();
    let bearer = given.next().and_then(|value| {
        let (scheme, token) = value.to_str().ok()?.split_once(' ')?;
        scheme
            .eq_ignore_ascii_case("bearer")
            .then_some(token.trim())
    });
    if given.next().is_some() || !bearer.is_some_and(|text| token.matches(text)) {
        return Err((
            StatusCode::UNAUTHORIZED,
            "Send the token: Authorization: Bearer TOKEN. The server printed where it is.",
        ));
    }
    if asked != Asked::Protocol {
        return if method == Method::GET {
            Ok(asked)
        } else {
            Err((StatusCode::METHOD_NOT_ALLOWED, "GET it."))
        };
    }
    profile(uri)?;
    match uri.path().strip_prefix(PATH) {
        Some("") => Ok(Asked::Protocol),
        Some(rest) if rest.strip_prefix('/').is_some_and(is_handle) => Ok(Asked::Protocol),
        Some(rest) if rest.starts_with('/') => Err((
            StatusCode::NOT_FOUND,
            "A desktop's handle is 32 to 128 letters and digits that nobody can guess: /mcp/HANDLE.",
        )),
        _ => Err((StatusCode::NOT_FOUND, "The protocol is at /mcp.")),
    }
}

/// The handle of a desktop in a request's path.
pub(crate) fn handle(uri: &Uri) -> Option<&str> {
    uri.path().strip_prefix(PATH)?.strip_prefix('/')
}

/// The profile that a request is for: `?profile=NAME`.
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
mod tests {
    use super::*;
    use hyper::header::HeaderValue;

    fn ask_for(method: &str, path: &str, authorization: &[&str]) -> Result<Asked, StatusCode> {
        let token = Token::new("0123456789abcdef").unwrap();
        let values = authorization
            .iter()
            .map(|v| (AUTHORIZATION, v.parse().unwrap()));
        let headers: HeaderMap = values.collect();
        let uri: Uri = path.parse().unwrap();
        ask(&token, false, &method.parse().unwrap(), &uri, &headers).map_err(|(status, _)| status)
    }

    #[test]
    fn only_the_token_gets_in() {
        const GOOD: &str = "Bearer 0123456789abcdef";
        let refused = Err(StatusCode::UNAUTHORIZED);
        assert_eq!(ask_for("POST", "/mcp", &[GOOD]), Ok(Asked::Protocol));
        assert_eq!(
            ask_for("POST", "/mcp", &["bearer 0123456789abcdef"]),
            Ok(Asked::Protocol)
        );
        for bad in [
            &[][..],
            &["Bearer 0123456789abcdeg"],
            &["0123456789abcdef"],
            &["Basic 0123456789abcdef"],
            &[GOOD, GOOD],
        ] {
            assert_eq!(ask_for("POST", "/mcp", bad), refused, "{bad:?}");
            assert_eq!(ask_for("GET", "/nowhere", bad), refused, "{bad:?}");
        }
        assert_eq!(ask_for("GET", "/health", &[]), Ok(Asked::Health));
        assert_eq!(ask_for("POST", "/health", &[]), refused);
        assert_eq!(ask_for("GET", "/ready", &[]), Ok(Asked::Ready));
        assert_eq!(ask_for("GET", "/metrics", &[]), refused);
        assert_eq!(ask_for("GET", "/metrics", &[GOOD]), Ok(Asked::Metrics));
        let handle = "0123456789abcdef0123456789ABCDEF";
        assert_eq!(
            ask_for("POST", &format!("/mcp/{handle}"), &[GOOD]),
            Ok(Asked::Protocol)
        );
        let named = ask_for("POST", "/mcp?profile=ann", &[GOOD]);
        assert_eq!(named, Ok(Asked::Protocol));
        for query in ["profile=", "profile=..%2Fbob", "profile=a&profile=b"] {
            let answer = ask_for("POST", &format!("/mcp?{query}"), &[GOOD]);
            assert_eq!(answer, Err(StatusCode::BAD_REQUEST), "{query}");
        }
        for path in [
            "/",
            "/mcpx",
            "/mcp/",
            "/mcp/short",
            &format!("/mcp/{handle}/x"),
        ] {
            assert_eq!(
                ask_for("POST", path, &[GOOD]),
                Err(StatusCode::NOT_FOUND),
                "{path}"
            );
        }
    }

    #[test]
    fn fuzz_nothing_but_the_token_gets_in_whatever_the_request() {
        const TOKEN: &str = "0123456789abcdef";
        let token = Token::new(TOKEN).unwrap();
        let corpus = [
            format!("POST\n/mcp?profile=ann\nBearer {TOKEN}"),
            format!("GET\n/mcp/0123456789abcdef0123456789ABCDEF?x=1#y\nbearer {TOKEN} "),
            "GET\n/health\nBasic eDp5".to_owned(),
            format!("DELETE\nhttp://127.0.0.1:80/mcp/\nBearer\t{TOKEN}\nBearer {TOKEN}"),
            format!("GET\n/metrics?profile=a&profile=b\nBearer  {TOKEN}"),
        ];
        deskline_fuzz::fuzz("requests over HTTP", &corpus, |input| {
            let mut lines = input.split(|byte| *byte == b'\n');
            let mut line = || lines.next().unwrap_or_default();
            let (Ok(method), Ok(uri)) = (Method::from_bytes(line()), Uri::try_from(line())) else {
                return;
            };
            let values = lines.filter_map(|value| HeaderValue::from_bytes(value).ok());
            let headers: HeaderMap = values.map(|value| (AUTHORIZATION, value)).collect();
            let _ = handle(&uri);
            if let Ok(Some(profile)) = profile(&uri) {
                assert!(!profile.to_string().contains(['/', '.']), "{profile}");
            }
            let asked = ask(&token, false, &method, &uri, &headers);
            if matches!(asked, Ok(Asked::Protocol | Asked::Metrics)) {
                let given = headers
                    .get(AUTHORIZATION)
                    .map(HeaderValue::as_bytes)
                    .unwrap();
                let scheme = given.trim_ascii().strip_suffix(TOKEN.as_bytes()).unwrap();
                assert!(scheme.trim_ascii().eq_ignore_ascii_case(b"bearer"));
                assert_eq!(headers.len(), 1);
            }
            if asked == Ok(Asked::Protocol) {
                assert!(uri.path().starts_with(PATH) && profile(&uri).is_ok());
            }
        });
    }
}
