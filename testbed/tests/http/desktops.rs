//! A private desktop for each client: which resources are its own, and when it ends.

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use deskline_testbed::{deskline, has, until};
use serde_json::{Value, json};

use crate::client::Client;
use crate::server::{Server, kill};

/// The maximum time of a first call on an idle machine: 50 ms.
const READY: Duration = Duration::from_millis(50);

/// The attacks of an app on another client's desktop. Prints a line for each success. Two sandboxes
/// may have the same path for different buses, and the same number for different screens, so the
/// buses' ids and the windows on the screens are compared.
const ATTACK: &str = "\
    cat /tmp/bob.txt && echo file; \
    ls JOURNALS | grep -v OWN && echo journal; \
    cat HOME/.local/state/deskline/token && echo token; \
    touch /etc/attack && echo written; \
    test $(grep -lx mousepad /proc/[0-9]*/comm | wc -l) -gt 1 && echo process; \
    bash -c \"exec 3<>/dev/tcp/127.0.0.1/PORT\" && echo network; \
    for n in SCREENS; do xwininfo -root -tree -display $n 2> /dev/null; done | \
    grep -o -e ann.txt -e bob.txt | sort -u; \
    (for bus in BUSES; do dbus-send --bus=$bus --print-reply=literal \
    --dest=org.freedesktop.DBus / org.freedesktop.DBus.GetId 2> /dev/null && echo; done) | \
    sort -u | sed \"s/.*/bus/\"";

#[test]
fn each_client_has_a_desktop_of_its_own() {
    let mut server = Server::start(&["--desktops", "2"]);
    let mut ann = Client::connect(&server.url);
    let instructions = ann.hello()["instructions"].as_str().unwrap();
    assert!(instructions.contains("out of your reach"), "{instructions}");
    assert_eq!(ann.hello()["tools"], 15);
    ann.note(&server, "Ann's\n", "ann.txt");
    // A client that cannot open files uses these tools.
    let found = ann.call("search_tree", &json!({"pattern": "AXTextArea"}));
    assert!(found.contains("AXTextArea"), "{found}");
    let shown = ann.say(&json!(["view_screenshot", {}]));
    assert_eq!(shown["pictures"], 1, "{shown}");
    let resources = ann.say(&json!([]));
    let resources = resources["text"].as_str().unwrap();
    assert!(resources.contains(".txt"), "{resources}");

    // A desktop with a handle outlives the connection.
    let handle = "0123456789abcdef".repeat(2);
    let mut bob = Client::with(&[&server.url, &handle]);
    let listed = bob.call("list_applications", &json!({}));
    assert!(!listed.contains("mousepad"), "{listed}");
    bob.note(&server, "Bob's\n", "bob.txt");
    bob.leave();
    // The path names the same desktop.
    let mut bob = Client::connect(&format!("{}/{handle}", server.url));
    let listed = bob.call("list_applications", &json!({}));
    assert!(listed.contains("bob.txt"), "{listed}");

    attack(&server, &mut ann);
    check_numbers(&server);

    let mut carl = Client::connect(&server.url);
    let text = carl.refused("list_applications", &json!({}));
    has(&text, "all 2 desktops are taken. Try again in");
    assert_eq!(server.running("mousepad").len(), 2);
    ann.leave();
    let ended = || (server.running("mousepad").len() == 1).then_some(());
    until("Ann's app to end", ended);
    let listed = carl.call("list_applications", &json!({}));
    assert!(!listed.contains("mousepad"), "{listed}");
    server.child.kill().unwrap();
    server.child.wait().unwrap();
    until("its desktops to end", || server.processes() == 0);
}

/// The number of this name in the metrics.
fn number(metrics: &str, name: &str) -> u64 {
    let line = metrics.lines().find_map(|line| line.strip_prefix(name));
    let number: f64 = line.expect(name).trim().parse().unwrap();
    number as u64
}

/// Compares the fastest of four first calls with a second call, because the machine may be busy.
#[test]
fn the_first_call_to_a_desktop_that_is_ready_is_fast() {
    let server = Server::start(&["--desktops", "4", "--warm", "4"]);
    until("four desktops", || {
        let warm = number(&server.get("/metrics"), "deskline_desktops{state=\"warm\"}");
        (warm == 4).then_some(())
    });
    let mut clients: Vec<Client> = (0..4).map(|_| Client::connect(&server.url)).collect();
    let mut calls = || {
        let took = clients.iter_mut().map(|client| {
            let start = Instant::now();
            client.call("list_applications", &json!({}));
            start.elapsed()
        });
        took.min().expect("four clients")
    };
    let [first, second] = [calls(), calls()];
    println!("first calls: {first:?}, second: {second:?}");
    assert!(first < READY + 10 * second, "{first:?}, {second:?}");
}

/// The metrics while both desktops are in use.
fn check_numbers(server: &Server) {
    let head = server.get("/ready");
    assert!(head.starts_with("HTTP/1.1 503"), "{head}");
    let numbers = server.get("/metrics");
    let value = |name: &str| number(&numbers, name);
    assert!(value("deskline_links_total{tool=\"chain_and_traverse\",outcome=\"ok\"}") == 2);
    assert!(value("deskline_link_seconds_count{tool=\"chain_and_traverse\"}") == 2);
    assert!(value("deskline_link_step_seconds_count{step=\"settle\"}") >= 2);
    assert!(value("deskline_desktops{state=\"used\"}") == 2, "{numbers}");
    assert!(value("deskline_desktops{state=\"free\"}") == 0, "{numbers}");
    let memory = value("deskline_desktops_memory_bytes");
    assert!((50_000_000..1_000_000_000).contains(&memory), "{memory}");
    assert!(value("deskline_desktop_start_seconds_count") >= 2);
    assert!(numbers.trim_end().ends_with("# EOF"), "{numbers}");
}

/// An app of one client tries to reach another client's resources.
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
        .replace("PORT", &server.port().to_string())
        .replace("SCREENS", &given_to(server, "Xvfb", ":", 2))
        .replace("BUSES", &given_to(server, "dbus-daemon", "--address=", 4))
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
    // It reaches only its own screen and its own two buses.
    assert_eq!(won, ["ann.txt", "bus", "bus", "done"], "{tried}");
}

#[test]
fn typescripts_sdks_of_both_generations_drive_desktops_of_their_own() {
    let server = Server::start(&["--desktops", "2"]);
    for (letter, package, generation) in [
        ("a", "@modelcontextprotocol/sdk", "2025-"),
        ("b", "@modelcontextprotocol/client", "2026-07-28"),
    ] {
        let handle = letter.repeat(32);
        let mut client = Client::by(package, &format!("{}/{handle}", server.url));
        let protocol = client.hello()["protocol"].as_str().unwrap();
        assert!(protocol.starts_with(generation), "{package}: {protocol}");
        assert_eq!(client.hello()["tools"], 15, "{package}");
        client.note(
            &server,
            &format!("By {package}\n"),
            &format!("{handle}.txt"),
        );
        let found = client.call("search_tree", &json!({"pattern": "AXTextArea"}));
        assert!(found.contains("AXTextArea"), "{package}: {found}");
    }
}

/// The argument with this prefix of each process of a program. There must be this many processes.
fn given_to(server: &Server, program: &str, prefix: &str, number: usize) -> String {
    let of = |pid: &u32| {
        let arguments = arguments(*pid);
        let mut arguments = arguments.split('\0');
        let found = arguments.find(|argument| argument.starts_with(prefix));
        found.unwrap().trim_start_matches("--address=").to_owned()
    };
    let found: Vec<String> = server.running(program).iter().map(of).collect();
    assert_eq!(found.len(), number, "{program}: {found:?}");
    found.join(" ")
}

fn arguments(pid: u32) -> String {
    fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default()
}

/// The error for a client whose desktop has ended.
const ENDED: &str = "your desktop and its apps have ended";

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
    // The X server of Bob's desktop ends between two calls. One call reports that.
    kill(&of_bob("Xvfb"));
    until("the end of his desktop", || of_bob("Xvfb").is_empty());
    until("the end of its server", || server.journals() == 1);
    let told = bob.refused("list_applications", &json!({}));
    assert!(told.contains(ENDED), "{told}");
    assert!(!list(&mut bob).contains("mousepad"));
    // The server of Bob's desktop ends in the middle of a call, whose error reports it.
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

#[test]
fn a_desktop_that_hangs_is_ended_and_its_place_is_free() {
    let server = Server::start(&["--desktops", "1", "--warm", "0"]);
    let mut ann = Client::connect(&server.url);
    let pid = ann.open_editor();
    let wait = json!({"pid": pid, "element": "never", "timeout": 120});
    ann.begin(&json!(["wait_for_and_traverse", wait]));
    let mut servers = server.running("deskline");
    servers.retain(|pid| arguments(*pid).contains("--desktop=private"));
    let [hung] = servers[..] else {
        panic!("{servers:?}")
    };
    let stop = ["-STOP", &hung.to_string()];
    assert!(Command::new("kill").args(stop).status().unwrap().success());
    let told = ann.read();
    has(told["text"].as_str().unwrap(), "ended in the middle");
    let listed = ann.call("list_applications", &json!({}));
    assert!(!listed.contains("mousepad"), "{listed}");
}

/// The calls are also logged in a folder that no app of the desktop can write to.
#[test]
fn the_audit_of_a_desktop_is_out_of_its_reach_and_has_no_typed_text() {
    let server = Server::start(&["--desktops", "1"]);
    let mut ann = Client::connect(&server.url);
    ann.note(&server, "hunter2 was typed\n", "ann.txt");
    let all = server.folder.path().join("journal");
    let seen = ann.run(&format!(
        "ls {}; rm -rf {}; echo done",
        all.display(),
        all.display()
    ));
    has(&seen, "done");
    assert!(!seen.contains("audit"), "{seen}");
    let files: Vec<_> = fs::read_dir(all.join("audit")).unwrap().flatten().collect();
    let read = |file: &fs::DirEntry| fs::read_to_string(file.path()).unwrap();
    let lines: String = files.iter().map(read).collect();
    let lines: Vec<Value> = lines
        .lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect();
    let tools: Vec<_> = lines
        .iter()
        .map(|line| line["call"]["tool"].as_str().unwrap())
        .collect();
    let open = "open_application_and_traverse";
    assert_eq!(
        tools,
        [open, "chain_and_traverse", open, "search_tree"],
        "{lines:?}"
    );
    assert_eq!(lines[0]["call"]["target"]["identifier"], "mousepad");
    assert!(
        lines.iter().all(|line| line["outcome"] == "ok"),
        "{lines:?}"
    );
    assert!(!format!("{lines:?}").contains("hunter2"), "{lines:?}");
}

#[test]
fn a_read_only_desktop_is_described_as_read_only() {
    let server = Server::start(&["--read-only", "--desktops", "1"]);
    let ann = Client::connect(&server.url);
    let instructions = ann.hello()["instructions"].as_str().unwrap();
    assert_eq!(ann.hello()["tools"], 5);
    has(instructions, "out of your reach");
    has(instructions, "You can only look");
    assert!(
        !instructions.contains("click_and_traverse"),
        "{instructions}"
    );
}

#[test]
fn a_profile_is_kept_and_used_by_one_desktop_at_a_time() {
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
    assert!(
        told.contains("another desktop uses the profile ann"),
        "{told}"
    );
    // A desktop that was started in advance is ended to make room for one with a profile.
    let mut bob = Client::connect(&with("bob"));
    // This desktop has no network: in another test, the same connection succeeds.
    let reach = format!(
        "bash -c \"exec 3<>/dev/tcp/127.0.0.1/{}\"; echo $?",
        server.port()
    );
    let seen = bob.run(&reach);
    assert!(seen.contains("Connection refused"), "{seen}");
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
    has(&seen, "Anns");
    has(&seen, "login.txt");
}

#[test]
fn a_desktop_that_nobody_uses_ends() {
    let json = ["--log-format", "json", "-v"];
    let options = ["--desktops", "2", "--warm", "0", "--idle", "0.1"];
    let server = Server::start(&[&options[..], &json].concat());
    let mut ann = Client::connect(&format!("{}/{}", server.url, "0123456789abcdef".repeat(2)));
    ann.call("list_applications", &json!({}));
    assert_eq!(server.running("Xvfb").len(), 1);
    let mut bob = Client::connect(&server.url);
    bob.call("list_applications", &json!({}));
    // Ann's desktop may have ended since, if the machine is busy.
    assert!(!server.running("Xvfb").is_empty());
    // Bob's client is killed, so it does not end its session.
    drop(bob);
    // 6 s after the last calls, only the server is left, although Ann is still connected.
    until("the desktops to end", || server.processes() == 1);
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
fn every_action_has_its_effect_on_two_desktops_at_once() {
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
