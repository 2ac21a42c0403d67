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
use std::time::{Duration, Instant};

use deskline_testbed::{PATIENCE, deskline, until};
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

    /// Sends a request with the token, for a stream of events.
    fn send(&self, head: &str, body: &str) -> BufReader<TcpStream> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port())).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let accept = "Accept: application/json, text/event-stream";
        let host = format!("Host: 127.0.0.1:{}", self.port());
        let head = format!(
            "{}\r\n{host}\r\n{accept}\r\nAuthorization: Bearer {TOKEN}",
            head.trim()
        );
        write!(stream, "{head}\r\n\r\n{body}").unwrap();
        BufReader::new(stream)
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

/// Kills the process of a program, of which there is one.
fn kill(pids: &[u32]) {
    let [pid] = pids else { panic!("{pids:?}") };
    let done = Command::new("kill").args(["-9", &pid.to_string()]).status();
    assert!(done.unwrap().success());
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
    let value = |name: &str| -> u64 {
        let line = numbers.lines().find_map(|line| line.strip_prefix(name));
        let number: f64 = line.expect(name).trim().parse().unwrap();
        number as u64
    };
    assert!(value("deskline_links_total{tool=\"chain_and_traverse\",outcome=\"ok\"}") == 2);
    assert!(value("deskline_link_seconds_count{tool=\"chain_and_traverse\"}") == 2);
    assert!(value("deskline_desktops{state=\"used\"}") == 2, "{numbers}");
    assert!(value("deskline_desktops{state=\"free\"}") == 0, "{numbers}");
    let memory = value("deskline_desktops_memory_bytes");
    assert!((50_000_000..1_000_000_000).contains(&memory), "{memory}");
    assert!(value("deskline_desktop_start_seconds_count") >= 2);
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
    kill(&of_bob("Xvfb"));
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
    kill(&servers);
    let told = bob.read();
    let told = told["text"].as_str().unwrap();
    assert!(told.contains("ended in the middle"), "{told}");
    assert!(!list(&mut bob).contains("mousepad"));
    assert!(list(&mut ann).contains("mousepad"));
}

/// Starts up to 300 processes, ends them and prints how many there were.
const FORKS: &str = r#"perl -e "while (@k < 300) { my \$p = fork; last unless defined \$p; \
    if (!\$p) { sleep 60; exit } push @k, \$p } kill 9, @k; 1 while wait > 0; print @k + 0, q( forks)""#;

/// How a server with limits starts here. Not every machine lets it make control groups.
fn limited(options: &[&str]) -> Server {
    let memory = ["--desktops", "2", "--memory", "400MB"];
    let server = Server::start(&[&memory, options].concat());
    until("its desktops, or its refusal", || {
        let log = server.log.lock().unwrap();
        let is_known =
            |line: &String| line.contains("desktops at most") || line.contains("--processes");
        log.iter().any(is_known).then_some(())
    });
    server
}

#[test]
fn a_desktop_that_takes_too_much_is_held_and_others_go_on() {
    let mut server = limited(&["--processes", "200"]);
    let by_groups = server.child.try_wait().unwrap().is_none();
    if !by_groups {
        server = limited(&[]);
    }
    let mut ann = Client::connect(&server.url);
    let mut bob = Client::connect(&server.url);
    let seen = ann.run("python3 -c \"x = bytes([1]) * (1 << 30); print(len(x))\"; echo status $?");
    assert!(!seen.contains("status 0"), "{seen}");
    assert_eq!(seen.contains("status 137"), by_groups, "{seen}");
    if by_groups {
        let seen = ann.run(FORKS);
        let forks = seen
            .split(" forks")
            .next()
            .and_then(|text| text.rsplit('"').next());
        let forks: u32 = forks.and_then(|n| n.parse().ok()).expect(&seen);
        assert!((50..200).contains(&forks), "{forks}");
    }
    bob.run("echo");
    ann.call("list_applications", &json!({}));
    let pid = server.child.id();
    let ended = Command::new("kill").arg(pid.to_string()).status();
    assert!(ended.unwrap().success() && server.child.wait().unwrap().success());
    let name = format!("deskline-{pid}-[0-9]*");
    let left = Command::new("find")
        .args(["/sys/fs/cgroup", "-name", &name])
        .output();
    assert_eq!(String::from_utf8_lossy(&left.unwrap().stdout), "");
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
    let request = |id: u32, method: &str, params: Value| json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
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

    // The connection breaks after the first report of progress; another one goes on from there.
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
fn two_desktops_at_once_show_every_effect() {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../scripts/fleet");
    let run = Command::new(script)
        .args(["2", "--think", "0", "--rounds", "1", "--no-cold"])
        .env("DESKLINE_BIN", deskline())
        .output()
        .unwrap();
    let table = String::from_utf8_lossy(&run.stdout);
    assert!(
        run.status.success(),
        "{table}{}",
        String::from_utf8_lossy(&run.stderr)
    );
    assert!(table.contains("| 2 | 2 |"), "{table}");
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
