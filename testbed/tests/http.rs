//! MCP over HTTP, by the official Python SDK and the protocol's conformance suite: who gets in, and
//! a private desktop for each client. Judged by the files that the apps save, and by the processes.
#![allow(clippy::unwrap_used, clippy::expect_used)]
#![allow(clippy::float_cmp)] // counts, which the metrics have as floats

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex};
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
    /// The lines of its standard error.
    log: Arc<Mutex<Vec<String>>>,
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
        let log = Arc::new(Mutex::new(vec![first]));
        let logged = Arc::clone(&log);
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                eprintln!("{line}");
                logged.lock().unwrap().push(line);
            }
        });
        Self {
            child,
            url,
            folder,
            log,
        }
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

    /// The processes of a program.
    fn running(&self, program: &str) -> Vec<u32> {
        let is_it = |folder: &PathBuf| {
            let name = fs::read_to_string(folder.join("comm"));
            name.is_ok_and(|name| name.trim() == program)
        };
        let folders = self.folders_of_processes().into_iter().filter(is_it);
        let pid = |folder: PathBuf| folder.file_name()?.to_str()?.parse().ok();
        folders.filter_map(pid).collect()
    }

    /// Kills the process of a program, of which there is one.
    fn kill(pids: &[u32]) {
        let [pid] = pids else { panic!("{pids:?}") };
        let done = Command::new("kill").args(["-9", &pid.to_string()]).status();
        assert!(done.unwrap().success());
    }

    /// The journals of desktops.
    fn journals(&self) -> usize {
        let all = fs::read_dir(self.folder.path().join("journal/desktops"));
        all.map_or(0, Iterator::count)
    }

    /// The status of a request without a body.
    fn status(&self, head: &str) -> u16 {
        let answer = self.answer(head);
        answer[9..12].parse().unwrap()
    }

    /// The answer to a GET with the token, head and body.
    fn get(&self, path: &str) -> String {
        let host = format!("Host: 127.0.0.1:{}", self.port());
        self.answer(&format!(
            "GET {path} HTTP/1.1\r\n{host}\r\nAuthorization: Bearer {TOKEN}"
        ))
    }

    fn answer(&self, head: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port())).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(10)))
            .unwrap();
        write!(stream, "{head}\r\nConnection: close\r\n\r\n").unwrap();
        // The stream of a session does not end.
        let mut answer = vec![0; 1 << 16];
        let length = stream.read(&mut answer).unwrap();
        answer.truncate(length);
        String::from_utf8(answer).unwrap()
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

    fn begin(&mut self, call: &Value) {
        writeln!(self.input, "{call}").unwrap();
    }

    fn say(&mut self, value: &Value) -> Value {
        self.begin(value);
        self.read()
    }

    /// A call that is refused.
    fn refused(&mut self, tool: &str, arguments: &Value) -> String {
        let answer = self.say(&json!([tool, arguments]));
        let text = answer["text"].as_str().unwrap();
        assert_eq!(answer["error"], true, "{text}");
        text.to_owned()
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> String {
        let answer = self.say(&json!([tool, arguments]));
        let text = answer["text"].as_str().unwrap();
        assert_eq!(answer["error"], false, "{text}");
        text.to_owned()
    }

    /// Runs a line of the shell on its desktop, and reads what it prints in a window.
    fn run(&mut self, line: &str) -> String {
        let app =
            format!("sh -c 'text=$({{ {line}; }} 2>&1); exec zenity --info --text=\"$text.\"'");
        self.call("open_application_and_traverse", &json!({"identifier": app}));
        self.call("search_tree", &json!({"pattern": "AXStaticText"}))
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
    check_numbers(&server);

    let mut carl = Client::connect(&server.url);
    let text = carl.refused("list_applications", &json!({}));
    assert!(
        text.contains("all 2 desktops are taken. Try again in"),
        "{text}"
    );
    assert_eq!(server.running("mousepad").len(), 2);
    ann.leave();
    let ended = || (server.running("mousepad").len() == 1).then_some(());
    until("Ann's app to end", ended);
    let listed = carl.call("list_applications", &json!({}));
    assert!(!listed.contains("mousepad"), "{listed}");
    server.child.kill().unwrap();
    server.child.wait().unwrap();
    until("its desktops to end", || {
        (server.processes() == 0).then_some(())
    });
}

/// The numbers, with two desktops of two in use.
fn check_numbers(server: &Server) {
    let head = server.get("/ready");
    assert!(head.starts_with("HTTP/1.1 503"), "{head}");
    let numbers = server.get("/metrics");
    let value = |name: &str| -> f64 {
        let line = numbers.lines().find_map(|line| line.strip_prefix(name));
        line.expect(name).trim().parse().unwrap()
    };
    assert!(value("deskline_links_total{tool=\"chain_and_traverse\",outcome=\"ok\"}") == 2.0);
    assert!(value("deskline_link_seconds_count{tool=\"chain_and_traverse\"}") == 2.0);
    assert!(
        value("deskline_desktops{state=\"used\"}") == 2.0,
        "{numbers}"
    );
    assert!(
        value("deskline_desktops{state=\"free\"}") == 0.0,
        "{numbers}"
    );
    let memory = value("deskline_desktops_memory_bytes");
    assert!((5e7..1e9).contains(&memory), "{memory}");
    assert!(value("deskline_desktop_start_seconds_count") >= 2.0);
    assert!(numbers.trim_end().ends_with("# EOF"), "{numbers}");
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

fn arguments(pid: u32) -> String {
    fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default()
}

/// What a client learns whose desktop has ended.
const ENDED: &str = "your desktop has ended, with its apps";

#[test]
fn a_desktop_that_crashes_breaks_only_its_own_calls() {
    let server = Server::start(&["--desktops", "2", "--warm", "0", "--keep", "1GiB,0s"]);
    let mut ann = Client::connect(&server.url);
    let open = json!({"identifier": "mousepad"});
    ann.call("open_application_and_traverse", &open);
    let of_ann = ["Xvfb", "deskline"]
        .map(|program| server.running(program))
        .concat();
    let of_bob = |program: &str| {
        let mut all = server.running(program);
        all.retain(|pid| !of_ann.contains(pid));
        all
    };
    let list = |client: &mut Client| client.call("list_applications", &json!({}));
    let handle = format!("{}/{}", server.url, "0123456789abcdef".repeat(2));
    let mut bob = Client::connect(&handle);
    bob.call("open_application_and_traverse", &open);
    // Its X server, between two calls: he learns it once.
    Server::kill(&of_bob("Xvfb"));
    until("the end of his desktop", || {
        of_bob("Xvfb").is_empty().then_some(())
    });
    until("the end of its server", || {
        (server.journals() == 1).then_some(())
    });
    let told = bob.refused("list_applications", &json!({}));
    assert!(told.contains(ENDED), "{told}");
    assert!(!list(&mut bob).contains("mousepad"));
    // The server of his desktop, in the middle of a call: the call's error says it.
    let opened = bob.call("open_application_and_traverse", &open);
    let pid = opened
        .lines()
        .find_map(|line| line.strip_prefix("pid: "))
        .unwrap();
    let wait = json!({"do": "wait_for", "element": "never", "timeout": 20});
    let chain = json!({"pid": pid.parse::<u32>().unwrap(), "steps": [wait]});
    bob.begin(&json!(["chain_and_traverse", chain]));
    let mut servers = of_bob("deskline");
    servers.retain(|pid| arguments(*pid).contains("--desktop=private"));
    Server::kill(&servers);
    let told = bob.read();
    let told = told["text"].as_str().unwrap();
    assert!(told.contains("ended in the middle"), "{told}");
    assert!(!list(&mut bob).contains("mousepad"));
    assert!(list(&mut ann).contains("mousepad"));
}

#[test]
fn a_profile_is_kept_and_had_by_one_desktop_at_a_time() {
    let server = Server::start(&["--desktops", "2"]);
    let with = |profile: &str| format!("{}?profile={profile}", server.url);
    let all = server.folder.path().join("journal/profiles");
    let look = format!("cat ~/login.txt; ls {}", all.join("ann").display());
    let mut ann = Client::connect(&with("ann"));
    ann.run("echo Anns > ~/login.txt");
    assert_eq!(
        fs::read_to_string(all.join("ann/login.txt")).unwrap(),
        "Anns\n"
    );
    let mut bob = Client::connect(&with("ann"));
    let told = bob.refused("list_applications", &json!({}));
    assert!(told.contains("the profile ann is in use"), "{told}");
    // A desktop that is kept warm makes room for one with a profile.
    let mut bob = Client::connect(&with("bob"));
    let seen = bob.run(&look);
    assert_eq!(seen.matches("No such file").count(), 2, "{seen}");
    ann.leave();
    let mut ann = Client::connect(&with("ann"));
    let free = || {
        let answer = ann.say(&json!(["list_applications", {}]));
        (answer["error"] == false).then_some(())
    };
    until("her profile to be free", free);
    let seen = ann.run(&look);
    assert!(
        seen.contains("Anns") && seen.contains("login.txt"),
        "{seen}"
    );
}

#[test]
fn a_desktop_that_nobody_uses_ends() {
    let json = ["--log-format", "json", "-v"];
    let options = ["--desktops", "1", "--warm", "0", "--idle", "0.1"];
    let server = Server::start(&[&options[..], &json].concat());
    let mut ann = Client::connect(&format!("{}/{}", server.url, "0123456789abcdef".repeat(2)));
    ann.call("list_applications", &json!({}));
    assert!(server.processes() > 1);
    // 6 s after her last call only the server is left, although she is connected.
    until("her desktop to end", || {
        (server.processes() == 1).then_some(())
    });
    let log = server.log.lock().unwrap();
    assert!(
        log.iter().any(|line| line.contains("the desktop of")),
        "{log:?}"
    );
    for line in &*log {
        let line: Value = serde_json::from_str(line).expect(line);
        assert!(line["fields"]["message"].is_string(), "{line}");
    }
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
    for (path, status) in [("health", 200), ("ready", 200), ("metrics", 401)] {
        let asked = server.status(&format!("GET /{path} HTTP/1.1\r\nHost: {host}"));
        assert_eq!(asked, status, "{path}");
    }
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
