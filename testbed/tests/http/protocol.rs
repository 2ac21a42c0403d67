//! The protocol over HTTP: authentication, progress, resumption, cancellation, conformance.

use std::io::{BufRead as _, BufReader, ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use deskline_testbed::{sdks, until};
use serde_json::{Value, json};

use crate::TOKEN;
use crate::server::Server;

/// A request of the protocol, whose answer is a stream of events.
fn post(server: &Server, session: &str, message: &Value) -> BufReader<TcpStream> {
    let body = message.to_string();
    let head = format!(
        "POST /mcp HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: {}\r\n{session}",
        body.len()
    );
    server.send(&head, &body)
}

/// The next event of a stream with data: its id, and the message.
fn event(stream: &mut BufReader<TcpStream>) -> (String, Value) {
    let mut id = String::new();
    loop {
        let mut line = String::new();
        assert!(
            stream.read_line(&mut line).unwrap() > 0,
            "the stream has ended"
        );
        if let Some(text) = line.strip_prefix("id:") {
            id = text.trim().to_owned();
        }
        let data = line
            .strip_prefix("data:")
            .map(str::trim)
            .filter(|text| !text.is_empty());
        if let Some(data) = data {
            return (id, serde_json::from_str(data).unwrap());
        }
    }
}

#[test]
fn a_call_is_followed_resumed_and_cancelled() {
    let server = Server::start(&["--desktops", "1"]);
    let request = |id: u32, method: &str, params: Value| {
        json!({"jsonrpc": "2.0",
        "id": id, "method": method, "params": params})
    };
    let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"}});
    let mut stream = post(&server, "", &request(1, "initialize", hello));
    let mut line = String::new();
    while !line.to_lowercase().starts_with("mcp-session-id:") {
        line.clear();
        stream.read_line(&mut line).unwrap();
    }
    let session = line.clone();
    drop(stream);
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    drop(post(&server, &session, &ready));
    let call = |id: u32, tool: &str, arguments: Value| {
        let meta = json!({"progressToken": id});
        let params = json!({"name": tool, "arguments": arguments, "_meta": meta});
        post(&server, &session, &request(id, "tools/call", params))
    };
    let result = |stream: &mut BufReader<TcpStream>, id: u32| loop {
        let (_, message) = event(stream);
        if message["id"] == id {
            return message["result"]["content"][0]["text"].to_string();
        }
    };
    let open = json!({"identifier": "zenity --info --text=here"});
    let opened = result(&mut call(2, "open_application_and_traverse", open), 2);
    let pid = opened
        .split("pid: ")
        .nth(1)
        .and_then(|rest| rest.split("\\n").next());
    let pid: u32 = pid.unwrap().parse().unwrap();
    let wait = |seconds: u32| json!({"pid": pid, "element": "never", "timeout": seconds});

    // The connection breaks after the first progress report. A new connection resumes after that
    // report.
    let mut stream = call(3, "wait_for_and_traverse", wait(4));
    let (last, report) = event(&mut stream);
    assert_eq!(report["method"], "notifications/progress", "{report}");
    assert_eq!(report["params"]["progressToken"], 3);
    drop(stream);
    let resume = format!("GET /mcp HTTP/1.1\r\nLast-Event-ID: {last}\r\n{session}");
    let answer = result(&mut server.send(&resume, ""), 3);
    assert!(answer.contains("never"), "{answer}");

    let mut stream = call(4, "wait_for_and_traverse", wait(60));
    let (_, report) = event(&mut stream);
    assert_eq!(report["method"], "notifications/progress", "{report}");
    let start = Instant::now();
    let cancel =
        json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 4}});
    drop(post(&server, &session, &cancel));
    let read = json!({"pid": pid});
    let answer = result(&mut call(5, "refresh_traversal", read), 5);
    assert!(answer.contains("status: success"), "{answer}");
    assert!(
        start.elapsed() < Duration::from_secs(20),
        "{:?}",
        start.elapsed()
    );
}

#[test]
fn only_clients_with_the_token_get_in() {
    let server = Server::start(&[]);
    let host = format!("127.0.0.1:{}", server.port());
    let with = |more: &str| server.status(&format!("GET /mcp HTTP/1.1\r\n{more}"));
    let bearer = format!("Authorization: Bearer {TOKEN}\r\nAccept: text/event-stream");
    assert_eq!(with(&format!("Host: {host}")), 401);
    assert_eq!(
        with(&format!("Host: {host}\r\nAuthorization: Bearer {TOKEN}0")),
        401
    );
    assert_eq!(with(&format!("Host: evil.example\r\n{bearer}")), 403);
    for origin in ["http://evil.example", "http://127.0.0.1:1", "null"] {
        let status = with(&format!("Host: {host}\r\nOrigin: {origin}\r\n{bearer}"));
        assert_eq!(status, 403, "{origin}");
    }
    // The request is authenticated, but has no session.
    assert_eq!(with(&format!("Host: {host}\r\n{bearer}")), 400);
    for (path, status) in [("health", 200), ("ready", 200), ("metrics", 401)] {
        let asked = server.status(&format!("GET /{path} HTTP/1.1\r\nHost: {host}"));
        assert_eq!(asked, status, "{path}");
    }
}

/// The memory of a process, in bytes.
fn memory(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kb: u64 = line
        .unwrap()
        .trim()
        .trim_end_matches(" kB")
        .parse()
        .unwrap();
    kb * 1_024
}

#[test]
fn strangers_get_little_memory_and_time_and_block_no_client() {
    let server = Server::start(&["--probes", "127.0.0.1:0"]);
    let probes = until("its second address", || {
        let log = server.log.lock().unwrap();
        let line = log.iter().find(|line| line.contains("/health"))?;
        Some(line.rsplit_once('/')?.1.to_owned())
    });
    let long = format!("GET /health HTTP/1.1\r\nX: {}", "a".repeat(20_000));
    assert_eq!(server.status(&long), 431);
    let before = memory(server.child.id());
    let mut strangers: Vec<TcpStream> = (0..400)
        .map(|_| {
            let mut stream = TcpStream::connect(("127.0.0.1", server.port())).unwrap();
            let head = format!("GET / HTTP/1.1\r\nX: {}", "a".repeat(15_000));
            // Most are closed at once.
            let _ = stream.write_all(head.as_bytes());
            stream
                .set_read_timeout(Some(Duration::from_millis(1)))
                .unwrap();
            stream
        })
        .collect();
    let is_open = |stream: &mut TcpStream| {
        let read = stream.read(&mut [0]);
        read.is_err_and(|e| [ErrorKind::WouldBlock, ErrorKind::TimedOut].contains(&e.kind()))
    };
    strangers.retain_mut(is_open);
    assert_eq!(strangers.len(), 64);
    let grown = memory(server.child.id()).saturating_sub(before);
    assert!(grown < 20 << 20, "{grown}");
    // Monitoring has an address of its own, where no other request is answered.
    for (path, status) in [
        ("health", 200),
        ("ready", 200),
        ("mcp", 404),
        ("metrics", 404),
    ] {
        let mut stream = TcpStream::connect(&probes).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(10)))
            .unwrap();
        let head = format!("Host: {probes}\r\nAuthorization: Bearer {TOKEN}");
        write!(
            stream,
            "GET /{path} HTTP/1.1\r\n{head}\r\nConnection: close\r\n\r\n"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert_eq!(answer[9..12].parse(), Ok(status), "{path}");
    }
    let start = Instant::now();
    until("their end", || {
        strangers.retain_mut(is_open);
        strangers.is_empty().then_some(())
    });
    assert!(
        start.elapsed() < Duration::from_secs(11),
        "{:?}",
        start.elapsed()
    );
    assert_eq!(
        server.status("GET /health HTTP/1.1\r\nHost: localhost"),
        200
    );
}

/// The scenarios that do not need the suite's own tools, prompts or resources.
const SCENARIOS: [&str; 7] = [
    "server-initialize",
    "ping",
    "tools-list",
    "prompts-list",
    "resources-list",
    "server-sse-multiple-streams",
    "dns-rebinding-protection",
];

#[test]
fn the_conformance_suite_passes() {
    let server = Server::start(&[]);
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/apps/with_token.py");
    let mut proxy = Command::new(sdks("bin/python"))
        .args([script, &server.port().to_string()])
        .env("DESKLINE_TOKEN", TOKEN)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut port = String::new();
    BufReader::new(proxy.stdout.take().unwrap())
        .read_line(&mut port)
        .unwrap();
    let url = format!("http://127.0.0.1:{}/mcp", port.trim());
    let failed: Vec<String> = SCENARIOS
        .iter()
        .filter_map(|name| {
            let run = Command::new(sdks("bin/node"))
                .arg(sdks("node_modules/.bin/conformance"))
                .args(["server", "--url", &url, "--scenario", name])
                .current_dir(server.folder.path())
                .output()
                .unwrap();
            let text = String::from_utf8_lossy(&run.stdout).into_owned();
            (!run.status.success()).then(|| format!("{name}: {text}"))
        })
        .collect();
    proxy.kill().unwrap();
    proxy.wait().unwrap();
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn the_server_warns_of_an_address_that_other_machines_reach() {
    for (address, warns) in [("0.0.0.0:0", true), ("127.0.0.1:0", false)] {
        let server = Server::at(address, &["--desktops", "1"]);
        // The line that follows the lines with the address.
        until("its desktops", || {
            let log = server.log.lock().unwrap();
            let all = log.iter().any(|line| line.contains("desktops at most"));
            all.then_some(())
        });
        let log = server.log.lock().unwrap().join("\n");
        assert_eq!(
            log.contains("is not loopback: put TLS in front"),
            warns,
            "{log}"
        );
    }
}
