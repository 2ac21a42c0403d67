//! MCP over HTTP, by the official Python SDK and the protocol's conformance suite: who gets in, and
//! a private desktop for each client. Judged by the files that the apps save, and by the processes.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use deskline_testbed::{deskline, until};
use serde_json::{Value, json};
use tempfile::TempDir;

const TOKEN: &str = "0123456789abcdef0123456789abcdef";

/// A server over HTTP with its own home, and no desktop of a person.
struct Server {
    child: Child,
    url: String,
    folder: TempDir,
}

impl Server {
    fn start(options: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut child = Command::new(deskline())
            .args(["serve", "--http", "127.0.0.1:0"])
            .args(options)
            .arg("--dir")
            .arg(folder.path().join("journal"))
            .env("DESKLINE_TOKEN", TOKEN)
            .env("HOME", folder.path())
            // Each process of this server has it, and no other.
            .env("SERVER_OF_TEST", folder.path())
            .env_remove("DISPLAY")
            .env_remove("WAYLAND_DISPLAY")
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let first = lines.next().unwrap().unwrap();
        let url = first
            .split(' ')
            .find(|word| word.starts_with("http://"))
            .unwrap();
        let url = url.trim_end_matches(';').to_owned();
        std::thread::spawn(move || lines.map_while(Result::ok).for_each(|l| eprintln!("{l}")));
        Self { child, url, folder }
    }

    fn port(&self) -> u16 {
        let (_, rest) = self.url.rsplit_once(':').unwrap();
        rest.split('/').next().unwrap().parse().unwrap()
    }

    /// The processes that it has started, and theirs.
    fn processes(&self) -> usize {
        let mark = format!("SERVER_OF_TEST={}\0", self.folder.path().display());
        let has_it = |path: PathBuf| {
            let environment = fs::read(path.join("environ")).unwrap_or_default();
            String::from_utf8_lossy(&environment).contains(&mark)
        };
        let all = fs::read_dir("/proc").unwrap().flatten();
        all.filter(|process| has_it(process.path())).count()
    }

    /// The status of a request without a body.
    fn status(&self, head: &str) -> u16 {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port())).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(10)))
            .unwrap();
        write!(stream, "{head}\r\nConnection: close\r\n\r\n").unwrap();
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).unwrap();
        std::str::from_utf8(&answer[9..]).unwrap().parse().unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        // Dropping the folder before they end would leave files.
        until("its processes to end", || {
            (self.processes() == 0).then_some(())
        });
    }
}

fn sdks(program: &str) -> PathBuf {
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/sdks");
    target.join(program)
}

/// A client of the official Python SDK.
struct Client {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    hello: Value,
}

impl Client {
    fn connect(url: &str) -> Self {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/apps/http_client.py");
        let mut child = Command::new(sdks("bin/python"))
            .args([script, url])
            .env("DESKLINE_TOKEN", TOKEN)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("scripts/sdks target/sdks");
        let mut client = Self {
            input: child.stdin.take().unwrap(),
            output: BufReader::new(child.stdout.take().unwrap()),
            child,
            hello: Value::Null,
        };
        client.hello = client.read();
        client
    }

    fn read(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    fn say(&mut self, value: &Value) -> Value {
        writeln!(self.input, "{value}").unwrap();
        self.read()
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> String {
        let answer = self.say(&json!([tool, arguments]));
        let text = answer["text"].as_str().unwrap();
        assert_eq!(answer["error"], false, "{text}");
        text.to_owned()
    }

    /// Writes a text in an editor and saves it.
    fn note(&mut self, text: &str, file: &Path) -> u64 {
        let opened = self.call(
            "open_application_and_traverse",
            &json!({"identifier": "mousepad"}),
        );
        let pid = opened
            .lines()
            .find_map(|line| line.strip_prefix("pid: "))
            .unwrap();
        let pid: u64 = pid.parse().unwrap();
        let steps = json!([
            {"do": "type", "text": text},
            {"do": "press_key", "keyName": "s", "modifierFlags": ["Control"]},
            {"do": "type", "text": file, "pressKey": "Return"},
            {"do": "wait_for", "element": "Save As", "role": "AXWindow", "state": "absent"},
        ]);
        self.call("chain_and_traverse", &json!({"pid": pid, "steps": steps}));
        assert_eq!(fs::read_to_string(file).unwrap(), text);
        pid
    }

    /// Ends the session.
    fn leave(mut self) {
        writeln!(self.input, "null").unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn each_client_has_a_desktop_of_its_own() {
    let mut server = Server::start(&["--desktops", "2"]);
    let file = |name: &str| server.folder.path().join(name);
    let mut ann = Client::connect(&server.url);
    let instructions = ann.hello["instructions"].as_str().unwrap();
    assert!(instructions.contains("out of your reach"), "{instructions}");
    assert_eq!(ann.hello["tools"], 15);
    let pid = ann.note("Ann's\n", &file("ann.txt"));
    // What a client does that cannot open files.
    let found = ann.call("search_tree", &json!({"pattern": "AXTextArea"}));
    assert!(found.contains("AXTextArea"), "{found}");
    let shown = ann.say(&json!(["view_screenshot", {}]));
    assert_eq!(shown["pictures"], 1, "{shown}");
    let resources = ann.say(&json!([]));
    assert!(
        resources["text"].as_str().unwrap().contains(".txt"),
        "{resources}"
    );

    // A desktop with a handle outlives the connection.
    let handle = format!("{}/{}", server.url, "0123456789abcdef".repeat(2));
    let mut bob = Client::connect(&handle);
    let listed = bob.call("list_applications", &json!({}));
    assert!(!listed.contains("mousepad"), "{listed}");
    let bobs = bob.note("Bob's\n", &file("bob.txt"));
    bob.leave();
    let mut bob = Client::connect(&handle);
    let listed = bob.call("list_applications", &json!({}));
    assert!(
        listed.contains(&format!("pid {bobs}")) || listed.contains(&bobs.to_string()),
        "{listed}"
    );

    let mut carl = Client::connect(&server.url);
    let refused = carl.say(&json!(["list_applications", {}]));
    let text = refused["text"].as_str().unwrap();
    assert!(
        text.contains("all 2 desktops are taken. Try again in"),
        "{text}"
    );
    ann.leave();
    until("Ann's app to end", || {
        (!Path::new(&format!("/proc/{pid}")).exists()).then_some(())
    });
    let listed = carl.call("list_applications", &json!({}));
    assert!(!listed.contains("mousepad"), "{listed}");
    drop((bob, carl));
    server.child.kill().unwrap();
    server.child.wait().unwrap();
    let start = Instant::now();
    until("its desktops to end", || {
        (server.processes() == 0).then_some(())
    });
    println!(
        "all ended {} ms after the server was killed",
        start.elapsed().as_millis()
    );
}

#[test]
fn a_desktop_that_nobody_uses_ends() {
    let server = Server::start(&["--desktops", "1", "--warm", "0", "--idle", "0.1"]);
    let mut ann = Client::connect(&format!("{}/{}", server.url, "0123456789abcdef".repeat(2)));
    ann.call("list_applications", &json!({}));
    assert!(server.processes() > 1);
    // 6 s after her last call only the server is left, although she is connected.
    until("her desktop to end", || {
        (server.processes() == 1).then_some(())
    });
}

#[test]
fn only_who_has_the_token_gets_in() {
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
    // It is let in, and lacks a session.
    assert_eq!(with(&format!("Host: {host}\r\n{bearer}")), 400);
    let health = server.status(&format!("GET /health HTTP/1.1\r\nHost: {host}"));
    assert_eq!(health, 200);
}

/// The scenarios that need no tools, prompts or resources of the suite's own.
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
