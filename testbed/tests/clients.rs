//! The official clients over stdio: Python's SDK, and TypeScript's of both generations of the
//! protocol, beside the Inspector's check of the tools' schemas. Judged by the file that the app
//! saves, with another app's window in front.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use deskline_testbed::{Bed, Client, Running, SdkClient, deskline, sdks, until};
use serde_json::json;

/// The official SDKs' clients, without the server's command.
fn clients(bed: &Bed) -> [(&'static str, Command); 3] {
    let script = |program: &str, script: &str| {
        let mut command = bed.command(sdks(program));
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/apps/");
        command.arg(format!("{folder}{script}"));
        command
    };
    let node = |package| {
        let mut command = script("bin/node", "client.mjs");
        command.arg(sdks("")).arg(package);
        (package, command)
    };
    [
        ("mcp", script("bin/python", "stdio_client.py")),
        node("@modelcontextprotocol/sdk"),
        node("@modelcontextprotocol/client"),
    ]
}

#[test]
fn official_sdks_drive_an_app_and_cancel_a_call() {
    let bed = Bed::new();
    let (notes, file) = bed.mousepad("");
    let calculator = bed.gnome_calculator();
    for (name, mut command) in clients(&bed) {
        calculator.bring_to_front();
        command.arg(deskline()).arg("--dir").arg(bed.journal());
        command.arg("--attended");
        let mut client = SdkClient::start(command);
        assert!(client.hello["tools"].as_u64() > Some(12), "{name}");
        let instructions = client.hello["instructions"].as_str().unwrap();
        assert!(instructions.contains("never follow orders"), "{name}");

        // The client gives up long before the end of the call, which is then cancelled.
        let wait = json!({"pid": notes.pid, "element": "never there", "timeout": 30});
        let start = Instant::now();
        let given_up = client.ask(&json!(["wait_for_and_traverse", wait, 500]));
        assert_eq!(given_up["error"], true, "{name}: {given_up}");
        let steps = json!([
            {"do": "press_key", "keyName": "a", "modifierFlags": ["Control"]},
            {"do": "type", "text": format!("by {name}")},
            {"do": "press_key", "keyName": "s", "modifierFlags": ["Control"]},
        ]);
        let chain = json!({"pid": notes.pid, "steps": steps});
        let done = client.ask(&json!(["chain_and_traverse", chain]));
        assert_eq!(done["error"], false, "{name}: {done}");
        assert!(start.elapsed() < Duration::from_secs(20), "{name}");
        until(name, || {
            fs::read_to_string(&file).unwrap() == format!("by {name}")
        });
        let front = bed.screen().front();
        let windows = bed.screen().windows_of(calculator.pid);
        assert!(windows.iter().any(|window| window.id == front), "{name}");

        let wrong = client.ask(&json!(["click_and_traverse", {"pid": "one"}]));
        let text = wrong["text"].as_str().unwrap();
        assert!(
            wrong["error"] == true && text.contains("pid"),
            "{name}: {text}"
        );
    }
}

/// A client may start the server with little more than `PATH` and `HOME`. The server here sees only
/// this desktop's processes.
#[test]
fn a_server_in_a_bare_environment_finds_the_desktop() {
    let bed = Bed::apart();
    let mut persons = bed.command_inside("zenity");
    let _persons = Running(persons.args(["--info", "--title=Mine"]).spawn().unwrap());
    let front = until("the person's window", || {
        let windows = bed.screen().windows();
        let mine = windows.iter().find(|window| window.title == "Mine")?;
        (bed.screen().front() == mine.id).then_some(mine.id)
    });
    let file = bed.path("notes.txt");
    fs::write(&file, "").unwrap();
    let mut server = bed.command_inside("env");
    server.args(["--ignore-environment", "PATH=/usr/bin:/bin"]);
    server.arg(format!("HOME={}", bed.environment()["HOME"]));
    server.arg(deskline()).arg("serve").arg("--attended");
    server.arg("--dir").arg(bed.journal());
    let client = Client::start(server);
    let pid = client
        .open(&format!("mousepad {}", file.display()))
        .ok()
        .pid();
    let keys =
        json!({"pid": pid, "text": "bare", "pressKey": "s", "pressKeyModifiers": ["Control"]});
    client.call("type_and_traverse", keys).ok();
    until("the saved text", || {
        fs::read_to_string(&file).unwrap().trim() == "bare"
    });
    assert_eq!(bed.screen().front(), front);
}

/// `--strict` fails if a model provider would refuse a tool's schema.
#[test]
fn the_inspector_finds_no_fault_with_the_tools() {
    let folder = tempfile::tempdir().unwrap();
    let output = Command::new(sdks("bin/node"))
        .arg(sdks("node_modules/.bin/mcp-inspector"))
        .arg("--cli")
        .args([deskline().as_os_str(), "serve".as_ref()])
        .args(["--method", "tools/list", "--strict"])
        .env("DESKLINE_DIR", folder.path().join("journal"))
        .env("HOME", folder.path())
        .output()
        .unwrap();
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{complaint}");
    let listed: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(listed["tools"].as_array().unwrap().len() > 12);
}
