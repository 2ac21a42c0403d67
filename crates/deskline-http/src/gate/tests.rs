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
fn only_requests_with_the_token_are_accepted() {
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
fn only_the_viewers_password_opens_the_viewer_under_any_user_name() {
    let basic = |text: &str| format!("Basic {}", BASE64_STANDARD.encode(text));
    let host = ("host", "127.0.0.1:80");
    let ask =
        |method: &str, headers: &[(&'static str, &str)]| ask_for_view(method, "/view/", headers);
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
fn fuzz_no_request_without_the_token_is_accepted() {
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
