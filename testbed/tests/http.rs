//! MCP over HTTP, by the official Python SDK and the protocol's conformance suite: who gets in, and
//! a private desktop for each client. Judged by the files that the apps save, and by the processes.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

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
        self.folders_of_processes().len()
    }

    /// Their folders in `/proc`: of those with the mark, and of all in their namespaces.
    fn folders_of_processes(&self) -> Vec<PathBuf> {
        let mark = format!("SERVER_OF_TEST={}\0", self.folder.path().display());
        let has_it = |path: &Path| {
            let environment = fs::read(path.join("environ")).unwrap_or_default();
            String::from_utf8_lossy(&environment).contains(&mark)
        };
        let space = |path: &Path| fs::read_link(path.join("ns/pid")).ok();
        let all = fs::read_dir("/proc").unwrap().flatten();
        let all: Vec<PathBuf> = all.map(|process| process.path()).collect();
        let marked = all.iter().filter(|path| has_it(path));
        let mut spaces: Vec<_> = marked.filter_map(|path| space(path)).collect();
        let own = space(Path::new("/proc/self"));
        spaces.retain(|space| Some(space) != own.as_ref());
        let is_theirs = |path: &PathBuf| {
            has_it(path) || space(path).is_some_and(|space| spaces.contains(&space))
        };
        all.into_iter().filter(is_theirs).collect()
    }

    /// The file with this name in a desktop's own `/tmp`.
    fn file(&self, name: &str) -> Option<String> {
        let processes = self.folders_of_processes();
        let mut files = processes
            .iter()
            .map(|process| process.join("root/tmp").join(name));
        files.find_map(|file| fs::read_to_string(file).ok())
    }

    /// The number of processes of a program.
    fn count(&self, program: &str) -> usize {
        let is_it = |folder: &PathBuf| {
            let name = fs::read_to_string(folder.join("comm"));
            name.is_ok_and(|name| name.trim() == program)
        };
        self.folders_of_processes()
            .into_iter()
            .filter(is_it)
            .count()
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

    /// Writes a text in an editor and saves it in its desktop's own `/tmp`.
    fn note(&mut self, server: &Server, text: &str, name: &str) {
        let open = json!({"identifier": "mousepad"});
        let opened = self.call("open_application_and_traverse", &open);
        let mut lines = opened.lines();
        let pid = lines.find_map(|line| line.strip_prefix("pid: ")).unwrap();
        let pid: u64 = pid.parse().unwrap();
        let steps = json!([
            {"do": "type", "text": text},
            {"do": "press_key", "keyName": "s", "modifierFlags": ["Control"]},
            {"do": "type", "text": format!("/tmp/{name}"), "pressKey": "Return"},
            {"do": "wait_for", "element": "Save As", "role": "AXWindow", "state": "absent"},
        ]);
        self.call("chain_and_traverse", &json!({"pid": pid, "steps": steps}));
        assert_eq!(server.file(name).as_deref(), Some(text));
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

/// What an app tries against the desktop beside its own. A line is printed for each success.
const ATTACK: &str = "\
    cat /tmp/bob.txt && echo file; \
    ls JOURNALS | grep -v OWN && echo journal; \
    cat HOME/.local/state/deskline/token && echo token; \
    touch /etc/attack && echo written; \
    test $(grep -lx mousepad /proc/[0-9]*/comm | wc -l) -gt 1 && echo process; \
    for n in $(grep -o X11-unix/X[0-9]* /proc/net/unix | cut -d X -f 3 | sort -u); do \
    xdpyinfo -display :$n > /dev/null 2>&1 && echo screen; done";

#[test]
fn each_client_has_a_desktop_of_its_own() {
    let mut server = Server::start(&["--desktops", "2"]);
    let mut ann = Client::connect(&server.url);
    let instructions = ann.hello["instructions"].as_str().unwrap();
    assert!(instructions.contains("out of your reach"), "{instructions}");
    assert_eq!(ann.hello["tools"], 15);
    ann.note(&server, "Ann's\n", "ann.txt");
    // What a client does that cannot open files.
    let found = ann.call("search_tree", &json!({"pattern": "AXTextArea"}));
    assert!(found.contains("AXTextArea"), "{found}");
    let shown = ann.say(&json!(["view_screenshot", {}]));
    assert_eq!(shown["pictures"], 1, "{shown}");
    let resources = ann.say(&json!([]));
    let resources = resources["text"].as_str().unwrap();
    assert!(resources.contains(".txt"), "{resources}");

    // A desktop with a handle outlives the connection.
    let handle = format!("{}/{}", server.url, "0123456789abcdef".repeat(2));
    let mut bob = Client::connect(&handle);
    let listed = bob.call("list_applications", &json!({}));
    assert!(!listed.contains("mousepad"), "{listed}");
    bob.note(&server, "Bob's\n", "bob.txt");
    bob.leave();
    let mut bob = Client::connect(&handle);
    let listed = bob.call("list_applications", &json!({}));
    assert!(listed.contains("bob.txt"), "{listed}");

    attack(&server, &mut ann);

    let mut carl = Client::connect(&server.url);
    let refused = carl.say(&json!(["list_applications", {}]));
    let text = refused["text"].as_str().unwrap();
    assert!(
        text.contains("all 2 desktops are taken. Try again in"),
        "{text}"
    );
    assert_eq!(server.count("mousepad"), 2);
    ann.leave();
    let ended = || (server.count("mousepad") == 1).then_some(());
    until("Ann's app to end", ended);
    let listed = carl.call("list_applications", &json!({}));
    assert!(!listed.contains("mousepad"), "{listed}");
    server.child.kill().unwrap();
    server.child.wait().unwrap();
    until("its desktops to end", || {
        (server.processes() == 0).then_some(())
    });
}

/// An app of one client tries to reach what another client has.
fn attack(server: &Server, client: &mut Client) {
    let resources = client.say(&json!([]));
    let resources = resources["text"].as_str().unwrap();
    let (_, rest) = resources.split_once("/desktops/").unwrap();
    let own = rest.split('/').next().unwrap();
    let home = server.folder.path();
    let token = home.join(".local/state/deskline/token");
    fs::create_dir_all(token.parent().unwrap()).unwrap();
    fs::write(token, "secret").unwrap();
    let attack = ATTACK
        .replace("HOME", &home.to_string_lossy())
        .replace("JOURNALS", &home.join("journal/desktops").to_string_lossy())
        .replace("OWN", own);
    let line = format!(
        "sh -c '({attack}; echo done) > /tmp/attack.txt 2>&1; exec zenity --info --text=done'"
    );
    client.call(
        "open_application_and_traverse",
        &json!({"identifier": line}),
    );
    let tried = until("the attack", || {
        server.file("attack.txt").filter(|log| log.contains("done"))
    });
    let won: Vec<&str> = tried.lines().filter(|line| !line.contains(' ')).collect();
    // Its own screen alone.
    assert_eq!(won, ["screen", "done"], "{tried}");
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
