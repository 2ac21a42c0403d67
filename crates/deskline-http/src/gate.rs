//! Authenticates requests: a client needs the token, a browser the viewer's. `rmcp` checks `Host`
//! and `Origin` of clients, and the viewer those of browsers.

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

/// Whether the server runs, for monitoring. Needs no token.
const HEALTH: &str = "/health";

/// Whether a new client would get a desktop, for load balancers. Needs no token.
const READY: &str = "/ready";

/// Numbers for Prometheus.
const METRICS: &str = "/metrics";

/// The header of a desktop's handle. Proxies log paths.
const HANDLE_HEADER: &str = "deskline-handle";

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
            Err((StatusCode::METHOD_NOT_ALLOWED, "GET it."))
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

/// Whether the path is one of those that monitoring asks for.
pub(crate) fn is_probe(uri: &Uri) -> bool {
    [HEALTH, READY].contains(&uri.path())
}

/// The part of a request's path after the viewer's, with its slash; `None` if it is not for the
/// viewer.
pub(crate) fn below_view(uri: &Uri) -> Option<&str> {
    let rest = uri.path().strip_prefix(VIEW)?;
    (rest.is_empty() || rest.starts_with('/')).then_some(rest)
}

/// Whether a browser may see the pages of the journals: it sends the viewer's token as its
/// password, and its `Host` and `Origin` are ours. A proxy may have added TLS.
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
            "Any user name, and the viewer's token as the password. The server printed where it is.",
        ))
    }
}

/// Whether a `Host` means this server. A name without a port stands for any port.
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

/// The credentials after this scheme in the only `Authorization` header of a request.
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
    match headers.get(HANDLE_HEADER) {
        Some(handle) => handle.to_str().ok(),
        None => below(),
    }
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
mod tests {
    use super::*;
    use hyper::header::{HOST, HeaderValue};

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
        for (path, handles, known) in [
            ("/mcp", vec![handle], true),
            ("/mcp", vec![handle, handle], false),
            ("/mcp", vec!["short"], false),
            (&format!("/mcp/{handle}"), vec![handle], false),
            ("/mcpx", vec![handle], false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(AUTHORIZATION, HeaderValue::from_static(GOOD));
            for handle in handles {
                headers.append(HANDLE_HEADER, handle.parse().unwrap());
            }
            let token = Token::new("0123456789abcdef").unwrap();
            let asked = ask(
                &token,
                false,
                &Method::POST,
                &path.parse().unwrap(),
                &headers,
            );
            assert_eq!(asked == Ok(Asked::Protocol), known, "{path}");
        }
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

    fn ask_for_view(method: &str, path: &str, headers: &[(&'static str, &str)]) -> u16 {
        let token = Token::new("0123456789abcdef").unwrap();
        let hosts = [
            "localhost",
            "127.0.0.1",
            "::1",
            "Desk.example",
            "two.example:81",
        ];
        let headers: HeaderMap = headers
            .iter()
            .map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()))
            .collect();
        let (method, uri) = (method.parse().unwrap(), path.parse().unwrap());
        match ask_view(&token, &hosts.map(str::to_owned), &method, &uri, &headers) {
            Ok(()) => 200,
            Err((status, _)) => status.as_u16(),
        }
    }

    #[test]
    fn only_the_viewers_password_gets_in_whoever_asks() {
        let basic = |text: &str| format!("Basic {}", BASE64_STANDARD.encode(text));
        let host = ("host", "127.0.0.1:80");
        let ask = |method: &str, headers: &[(&'static str, &str)]| {
            ask_for_view(method, "/view/", headers)
        };
        let good = basic("anyone:0123456789abcdef");
        let good = ("authorization", good.as_str());
        assert_eq!(ask("GET", &[host, good]), 200);
        assert_eq!(ask("HEAD", &[host, good]), 200);
        let nobody = basic(":0123456789abcdef");
        assert_eq!(ask("GET", &[host, ("authorization", &nobody)]), 200);
        for bad in [
            "Bearer 0123456789abcdef",
            "Basic 0123456789abcdef",
            "Basic",
            "Basic !!!!",
            &basic("0123456789abcdef"),
            &basic("0123456789abcdef:"),
            &basic("a:0123456789abcdeg"),
            &basic("a:0123456789abcdef:"),
            &basic("a:"),
        ] {
            assert_eq!(ask("GET", &[host, ("authorization", bad)]), 401, "{bad}");
        }
        assert_eq!(ask("GET", &[host]), 401);
        assert_eq!(ask("GET", &[host, good, good]), 401);
        for method in ["POST", "PUT", "DELETE", "OPTIONS"] {
            assert_eq!(ask(method, &[host, good]), 405, "{method}");
        }
        for ours in [
            "localhost",
            "[::1]:8765",
            "desk.example:443",
            "two.example:81",
        ] {
            assert_eq!(ask("GET", &[("host", ours), good]), 200, "{ours}");
        }
        for other in [
            "evil.example",
            "127.0.0.1.evil.example",
            "two.example",
            "::1",
            "",
        ] {
            assert_eq!(ask("GET", &[("host", other), good]), 403, "{other}");
        }
        assert_eq!(ask("GET", &[good]), 403);
        assert_eq!(ask("GET", &[host, host, good]), 403);
        for own in ["http://127.0.0.1:80", "https://127.0.0.1:80"] {
            assert_eq!(ask("GET", &[host, good, ("origin", own)]), 200, "{own}");
        }
        for other in [
            "null",
            "http://127.0.0.1",
            "http://evil.example",
            "file://127.0.0.1:80",
        ] {
            let asked = ask("GET", &[host, good, ("origin", other)]);
            assert_eq!(asked, 403, "{other}");
        }
        let absolute = ask_for_view("GET", "http://evil.example/view/", &[host, good]);
        assert_eq!(absolute, 403);
    }

    #[test]
    fn only_paths_below_view_belong_to_the_viewer() {
        let below = |path: &str| below_view(&path.parse().unwrap()).map(str::to_owned);
        assert_eq!(below("/view"), Some(String::new()));
        assert_eq!(below("/view/a/b?c"), Some("/a/b".to_owned()));
        for other in ["/", "/views", "/mcp/view/", "/VIEW/"] {
            assert_eq!(below(other), None, "{other}");
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
            "GET\n/view/1-1/links?last=9\nBasic bTowMTIzNDU2Nzg5YWJjZGVm".to_owned(),
        ];
        deskline_fuzz::fuzz("requests over HTTP", &corpus, |input| {
            let mut lines = input.split(|byte| *byte == b'\n');
            let mut line = || lines.next().unwrap_or_default();
            let (Ok(method), Ok(uri)) = (Method::from_bytes(line()), Uri::try_from(line())) else {
                return;
            };
            let values = lines.filter_map(|value| HeaderValue::from_bytes(value).ok());
            let mut headers: HeaderMap = values.map(|value| (AUTHORIZATION, value)).collect();
            let _ = handle(&uri, &headers);
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
            let hosts = ["localhost".to_owned()];
            headers.insert(HOST, HeaderValue::from_static("localhost"));
            if ask_view(&token, &hosts, &method, &uri, &headers).is_ok() {
                let given = credentials(&headers, "basic").unwrap();
                let given = BASE64_STANDARD.decode(given).unwrap();
                assert!(given.ends_with(format!(":{TOKEN}").as_bytes()));
                assert_eq!(headers.len(), 2);
            }
        });
    }
}
