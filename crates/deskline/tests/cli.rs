//! The program as a client or a person starts it: exit codes, the ends of a session, and which
//! stream gets which output.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, Command, Output, Stdio};

use tempfile::TempDir;

const META: &str = concat!(
    r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
    r#""io.modelcontextprotocol/clientInfo":{"name":"test","version":"1"},"#,
    r#""io.modelcontextprotocol/clientCapabilities":{}}"#
);
const INITIALIZE: &str = concat!(
    r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","#,
    r#""capabilities":{},"clientInfo":{"name":"test","version":"1"}}}"#
);

/// A temporary folder for the journal.
fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

fn deskline(folder: &TempDir, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_deskline"));
    command
        .args(args)
        .env("DESKLINE_DIR", folder.path().join("journal"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn run(args: &[&str], input: &str) -> Output {
    let folder = folder();
    let mut child = deskline(&folder, args).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // The program may exit without reading its input.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    child.wait_with_output().unwrap()
}

fn outcome(output: &Output) -> (i32, String) {
    let out = String::from_utf8(output.stdout.clone()).unwrap();
    (output.status.code().expect("a signal ended it"), out)
}

#[test]
fn a_client_may_disconnect_after_discover() {
    let line = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"server/discover\",\"params\":{{{META}}}}}\n"
    );
    let (code, out) = outcome(&run(&[], &line));
    assert_eq!(code, 0);
    assert_eq!(out.lines().count(), 1);
    assert!(out.contains("2026-07-28"), "{out}");
    assert_eq!(outcome(&run(&["serve"], "")), (0, String::new()));
}

#[test]
fn a_client_of_another_protocol_ends_with_an_error() {
    let output = run(
        &[],
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n",
    );
    assert_eq!(outcome(&output), (1, String::new()));
    assert!(String::from_utf8_lossy(&output.stderr).contains("did not speak MCP"));
}

fn served(folder: &TempDir) -> Child {
    let mut child = deskline(folder, &["-vvv"]).spawn().unwrap();
    let stdin = child.stdin.as_mut().unwrap();
    writeln!(stdin, "{INITIALIZE}").unwrap();
    let mut answer = String::new();
    let mut stdout = BufReader::new(child.stdout.as_mut().unwrap());
    stdout.read_line(&mut answer).unwrap();
    assert!(
        answer.contains("\"protocolVersion\":\"2025-06-18\""),
        "{answer}"
    );
    child
}

#[test]
fn signals_end_the_server_cleanly() {
    for signal in ["-TERM", "-INT", "-HUP"] {
        let folder = folder();
        let mut child = served(&folder);
        let pid = child.id().to_string();
        assert!(
            Command::new("kill")
                .args([signal, &pid])
                .status()
                .unwrap()
                .success()
        );
        assert_eq!(child.wait().unwrap().code(), Some(0), "{signal}");
    }
}

#[test]
fn typed_text_is_not_written_to_traces() {
    let folder = folder();
    let mut child = served(&folder);
    let mut stdin = child.stdin.take().unwrap();
    let call = concat!(
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"type_and_traverse","#,
        r#""arguments":{"pid":1,"text":"correct horse"}}}"#
    );
    writeln!(stdin, "{call}").unwrap();
    let mut answer = String::new();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    stdout.read_line(&mut answer).unwrap();
    assert!(answer.contains("status: error"), "{answer}");
    drop(stdin);
    let mut traces = String::new();
    child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut traces)
        .unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(!traces.contains("correct horse"), "{traces}");
}

#[test]
fn the_call_command_reports_errors_by_exit_code_and_text() {
    let wrong = run(&["call", "list_application"], "");
    assert_eq!(outcome(&wrong), (2, String::new()));
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("Did you mean \"list_applications\"?"));
    let (code, out) = outcome(&run(&["call", "refresh_traversal"], ""));
    assert_eq!(code, 1);
    assert!(
        out.starts_with("status: error\nerror: pid is missing."),
        "{out}"
    );
    // Arguments from standard input are in no list of processes.
    let (code, out) = outcome(&run(&["call", "refresh_traversal", "-"], r#"{"pid": "x"}"#));
    assert!(code == 1 && out.contains("pid"), "{out}");
    assert!(!out.contains("missing"), "{out}");
    let arguments = r#"{"pattern": "a"}"#;
    let (code, out) = outcome(&run(&["call", "search_tree", arguments, "--json"], ""));
    assert_eq!(code, 1);
    let result: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(result["isError"], true);
}

#[test]
fn log_and_grep_find_earlier_calls() {
    assert_eq!(outcome(&run(&["log"], "")), (0, "No calls yet.\n".into()));
    assert_eq!(outcome(&run(&["log", "--json"], "")), (0, String::new()));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_output_device_is_no_failure() {
    let full = std::fs::File::create("/dev/full").unwrap();
    let mut install = deskline(&folder(), &["install", "cursor", "--dry-run"]);
    assert!(install.stdout(full).status().unwrap().success());
}

#[test]
fn completions_and_manual_pages_are_generated() {
    for shell in ["bash", "zsh", "fish"] {
        let (code, script) = outcome(&run(&["completions", shell], ""));
        assert!(code == 0 && script.contains("uninstall"), "{script}");
    }
    let folder = folder();
    let path = folder.path().to_str().unwrap();
    assert_eq!(outcome(&run(&["manual", path], "")).0, 0);
    let page = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    assert!(page("deskline.1").contains("accessibility tree"));
    assert!(page("deskline-install.1").contains("dry"));
}

#[cfg(target_os = "linux")]
#[test]
fn the_doctor_names_the_one_command_that_installs_what_is_missing() {
    let folder = folder();
    let mut doctor = deskline(&folder, &["doctor", "--fix"]);
    for variable in ["WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS"] {
        doctor.env_remove(variable);
    }
    // Without a display of its own it would find that of another test.
    doctor.env("DISPLAY", ":64999").env("PATH", "/nonexistent");
    let output = doctor.output().unwrap();
    let (_, out) = outcome(&output);
    let last = out.lines().last().unwrap();
    assert_eq!(
        last.replace(" tesseract-ocr", ""),
        "What is missing, as root: apt-get install xvfb xfwm4 dbus-daemon"
    );
}

#[cfg(unix)]
#[test]
fn the_configuration_file_completes_the_command_line() {
    let folder = folder();
    std::fs::create_dir(folder.path().join("deskline")).unwrap();
    let with = |text: &str| {
        std::fs::write(folder.path().join("deskline/config.toml"), text).unwrap();
        let mut command = deskline(&folder, &["log"]);
        let command = command.env("XDG_CONFIG_HOME", folder.path());
        command.env_remove("DESKLINE_DIR").output().unwrap()
    };
    let place = folder.path().join("own");
    let output = with(&format!("dir = \"{}\"", place.display()));
    assert_eq!(outcome(&output), (0, "No calls yet.\n".into()));
    assert!(place.is_dir());
    let output = with("keep = \"3d\"\nkeeps = 1");
    assert_eq!(outcome(&output), (2, String::new()));
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(
        error.contains("config.toml:2: there is no option keeps"),
        "{error}"
    );
}
