//! The program on Windows, as a client uses it: Qt Designer driven over standard input and output,
//! judged by the file that it saves, while the person's window is in front. Run by scripts/windows
//! under Wine: `DESKLINE_BIN` is the program, `DESKLINE_QT` the folder with designer.exe.
#![cfg(windows)]
#![allow(clippy::unwrap_used)]

#[path = "../../../deskline-windows/tests/common/bed.rs"]
mod bed;
#[allow(unsafe_code)] // a job
mod first;
mod linguist;
mod twins;

use std::fs;
use std::io::{Read as _, Write as _};
use std::os::windows::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use bed::{App, FORM};

/// How long anything may take here; the machine may be busy.
const PATIENCE: Duration = Duration::from_secs(60);

/// The server has a console of its own, without a window (`CREATE_NO_WINDOW`).
const NO_WINDOW: u32 = 0x0800_0000;

/// A client's session.
struct Client {
    server: App,
    requests: ChildStdin,
    answers: Receiver<Value>,
    next: u64,
    _journal: TempDir,
}

impl Client {
    fn start(options: &[&str]) -> Self {
        Self::start_with(options, &[])
    }

    /// `None` without the environment that scripts/windows sets.
    fn of_test() -> Option<Self> {
        std::env::var_os("DESKLINE_BIN")?;
        Some(Self::start(&[]))
    }

    fn start_with(options: &[&str], environment: &[(&str, &str)]) -> Self {
        let mut command = Self::command(options);
        command.envs(environment.iter().copied());
        Self::spawn(command)
    }

    fn command(options: &[&str]) -> Command {
        let mut command = Command::new(std::env::var_os("DESKLINE_BIN").unwrap());
        command.arg("serve").args(options);
        command
    }

    fn spawn(mut command: Command) -> Self {
        let journal = tempfile::tempdir().unwrap();
        let mut server = command
            .env("DESKLINE_DIR", journal.path().join("journal"))
            .creation_flags(NO_WINDOW)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let requests = server.stdin.take().unwrap();
        let mut output = server.stdout.take().unwrap();
        let (send, answers) = channel();
        std::thread::spawn(move || {
            let (mut text, mut part) = (Vec::new(), [0; 65_536]);
            while let Ok(count @ 1..) = output.read(&mut part) {
                text.extend_from_slice(&part[..count]);
                while let Some(end) = text.iter().position(|byte| *byte == b'\n') {
                    let line: Vec<u8> = text.drain(..=end).collect();
                    let Ok(answer) = serde_json::from_slice(&line) else {
                        // Wine's debugger writes here about a crash.
                        eprint!("no JSON: {}", String::from_utf8_lossy(&line));
                        continue;
                    };
                    assert!(!line.contains(&b'\r'), "a carriage return in an answer");
                    if send.send(answer).is_err() {
                        return;
                    }
                }
            }
        });
        let mut client = Self {
            server: App(server),
            requests,
            answers,
            next: 0,
            _journal: journal,
        };
        let info = json!({"name": "test", "version": "1"});
        let hello =
            json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": info});
        client.ask("initialize", &hello);
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        client
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.requests, "{message}").unwrap();
        self.requests.flush().unwrap();
    }

    fn request(&mut self, method: &str, params: &Value) -> u64 {
        self.next += 1;
        let id = self.next;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    fn answer(&mut self, id: u64) -> Value {
        loop {
            let answer = self.answers.recv_timeout(PATIENCE).unwrap();
            if answer["id"] == id {
                assert!(answer["error"].is_null(), "{answer}");
                return answer["result"].clone();
            }
        }
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        let id = self.request(method, params);
        self.answer(id)
    }

    fn begin(&mut self, tool: &str, arguments: &Value) -> u64 {
        self.request("tools/call", &json!({"name": tool, "arguments": arguments}))
    }

    /// The text of a call's answer, and whether it is an error.
    fn end(&mut self, id: u64) -> (String, bool) {
        let result = self.answer(id);
        let texts = result["content"].as_array().unwrap().iter();
        let texts: Vec<&str> = texts.filter_map(|part| part["text"].as_str()).collect();
        (texts.join("\n"), result["isError"] == true)
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> String {
        let id = self.begin(tool, arguments);
        let (text, is_error) = self.end(id);
        assert!(!is_error, "{tool}: {text}");
        text
    }

    fn fail(&mut self, tool: &str, arguments: &Value) -> String {
        let id = self.begin(tool, arguments);
        let (text, is_error) = self.end(id);
        assert!(is_error, "{tool}: {text}");
        text
    }
}

/// The tree that an answer names, as text.
fn tree(answer: &str) -> String {
    let named = answer.lines().find_map(|line| line.split_once("file: "));
    let (_, path) = named.unwrap_or_else(|| panic!("no tree: {answer}"));
    fs::read_to_string(path.trim()).unwrap()
}

/// The ref in a line of a tree.
fn reference(line: &str) -> String {
    let (_, rest) = line.split_once(" #e").unwrap();
    let number: String = rest.chars().take_while(char::is_ascii_digit).collect();
    format!("e{number}")
}

fn until<T>(what: &str, mut find: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = find() {
            return found;
        }
        assert!(start.elapsed() < PATIENCE, "{what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn person(arguments: &[&str]) -> String {
    bed::person(arguments).unwrap()
}

/// The person's pointer, where they left it.
fn pointer() -> String {
    let place = person(&["getmouselocation"]);
    place.split(" screen").next().unwrap().to_owned()
}

/// Designer with a form open, and the person's editor in front of it.
struct Desk {
    folder: TempDir,
    form: PathBuf,
    designer: App,
    editor: App,
    client: Client,
}

impl Desk {
    /// `None` without the environment that scripts/windows sets.
    fn new() -> Option<Self> {
        let Some(qt) = std::env::var_os("DESKLINE_QT").map(PathBuf::from) else {
            eprintln!("skipped: DESKLINE_QT is not set (scripts/windows sets it)");
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        let form = folder.path().join("form.ui");
        fs::write(&form, FORM).unwrap();
        let mut designer = Command::new(qt.join("designer.exe"));
        let designer = App(designer.arg(&form).current_dir(&qt).spawn().unwrap());
        let mut client = Client::start(&[]);
        let pid = designer.0.id();
        until("Designer's form is not open", || {
            let id = client.begin("refresh_traversal", &json!({"pid": pid}));
            let (text, is_error) = client.end(id);
            (!is_error && tree(&text).contains("Second")).then_some(())
        });
        let text = folder.path().join("theirs.txt");
        fs::write(&text, "").unwrap();
        let editor = App(Command::new("notepad.exe").arg(&text).spawn().unwrap());
        let mut desk = Self {
            folder,
            form,
            designer,
            editor,
            client,
        };
        let list = json!({});
        until("the editor is not in front", || {
            let apps = desk.client.call("list_applications", &list);
            let front = format!("(PID: {})", desk.editor.0.id());
            apps.lines()
                .find(|line| line.contains(&front) && line.contains("front"))?;
            Some(())
        });
        Some(desk)
    }

    fn pid(&self) -> u32 {
        self.designer.0.id()
    }

    fn assert_theirs_in_front(&mut self) {
        let apps = self.client.call("list_applications", &json!({}));
        let theirs = format!("(PID: {})", self.editor.0.id());
        let front = apps.lines().find(|line| line.contains(") front "));
        assert!(front.is_some_and(|line| line.contains(&theirs)), "{apps}");
    }

    /// The text in the person's editor, once it is saved.
    fn theirs(&self) -> String {
        let file = self.folder.path().join("theirs.txt");
        fs::remove_file(&file).unwrap();
        person(&["key", "ctrl+s"]);
        // The file is there before its text is.
        until("the person's text is not saved", || {
            let text = fs::read_to_string(&file).ok();
            text.filter(|text| !text.is_empty())
        })
    }

    /// Designer's tree, once it answers: on a busy machine it may take longer than a call waits.
    fn tree(&mut self) -> String {
        let pid = json!({"pid": self.pid()});
        until("Designer does not answer", || {
            let id = self.client.begin("refresh_traversal", &pid);
            let (answer, is_error) = self.client.end(id);
            (!is_error).then(|| tree(&answer))
        })
    }

    /// The ref of a visible field: the first filters Designer's widgets, the second the form's.
    fn field(&mut self, nth: usize) -> String {
        let tree = self.tree();
        let shows = |line: &&str| line.contains("[AXTextField") && line.contains(" visible ");
        let line = tree.lines().filter(shows).nth(nth);
        let line = line.unwrap_or_else(|| panic!("no field: {tree}"));
        reference(line)
    }

    /// The line of the element with this ref.
    fn line(&mut self, reference: &str) -> String {
        let tree = self.tree();
        let end = format!(" #{reference} ");
        let line = tree.lines().find(|line| line.contains(&end));
        line.unwrap_or_else(|| panic!("no {reference}: {tree}"))
            .to_owned()
    }
}

#[test]
fn tools_are_listed() {
    let Some(mut client) = Client::of_test() else {
        return;
    };
    let tools = client.ask("tools/list", &json!({}));
    let tools = tools["tools"].as_array().unwrap();
    assert!(
        tools
            .iter()
            .any(|tool| tool["name"] == "click_and_traverse")
    );
}

#[test]
fn designer_is_driven_behind_the_persons_window() {
    let Some(mut desk) = Desk::new() else { return };
    let pid = desk.pid();
    person(&["mousemove", "1200", "850"]);
    person(&["type", "mine"]);
    let left = pointer();

    // An action without the pointer, which does not bring the app to the front.
    let field = desk.field(0);
    let value = json!({"pid": pid, "ref": field, "value": "Push"});
    desk.client.call("set_value_and_traverse", &value);
    assert!(desk.line(&field).contains("Push"));
    let press = json!({"pid": pid, "element": "Lay Out Vertically"});
    desk.client.call("press_ax_and_traverse", &press);
    let save = json!({"pid": pid, "element": "Save", "role": "AXButton"});
    desk.client.call("press_ax_and_traverse", &save);
    until("the form is not saved", || {
        let saved = fs::read_to_string(&desk.form).ok()?;
        saved.contains("QVBoxLayout").then_some(())
    });
    desk.assert_theirs_in_front();

    // Actions by pointer and keyboard: afterwards the person's window and pointer are restored.
    let click = json!({"pid": pid, "ref": field, "text": " Büsh"});
    desk.client.call("click_and_traverse", &click);
    assert!(
        desk.line(&field).contains("Push Büsh"),
        "{}",
        desk.line(&field)
    );
    let all = json!({"pid": pid, "keyName": "a", "modifierFlags": ["Control"]});
    desk.client.call("press_key_and_traverse", &all);
    let typed = json!({"pid": pid, "text": "List"});
    desk.client.call("type_and_traverse", &typed);
    assert!(
        desk.line(&field).contains("\"List\""),
        "{}",
        desk.line(&field)
    );
    desk.assert_theirs_in_front();
    assert_eq!(pointer(), left);
    assert_eq!(desk.theirs(), "mine");

    // A paste: afterwards the clipboard is the person's again.
    person(&["key", "ctrl+a", "ctrl+c"]);
    assert_eq!(desk.theirs(), "mine");
    let all = json!({"pid": pid, "steps": [
        {"do": "press_key", "keyName": "a", "modifierFlags": ["Control"]},
        {"do": "type", "text": "Pasted", "paste": true},
    ]});
    desk.client.call("chain_and_traverse", &all);
    assert!(
        desk.line(&field).contains("\"Pasted\""),
        "{}",
        desk.line(&field)
    );
    person(&["key", "End", "x", "ctrl+v"]);
    assert_eq!(desk.theirs(), "minexmine");

    // A menu, and a dialog that it opens.
    let steps = json!({"pid": pid, "steps": [
        {"do": "click", "element": "File", "role": "AXMenuBarItem"},
        {"do": "click", "element": "New...", "role": "AXMenuItem"},
        {"do": "wait_for", "element": "New Form", "role": "AXWindow"},
        {"do": "press_ax", "element": "Close", "role": "AXButton"},
    ]});
    let answer = desk.client.call("chain_and_traverse", &steps);
    assert!(answer.contains("Did 4 of 4 steps"), "{answer}");
    desk.assert_theirs_in_front();
}

#[test]
fn the_persons_keys_are_kept_out_and_their_esc_ends_a_call() {
    let Some(mut desk) = Desk::new() else { return };
    let pid = desk.pid();
    let field = desk.field(1);
    let text = "abcdefghij".repeat(20);
    let click = json!({"pid": pid, "ref": field, "text": text});
    let call = desk.client.begin("click_and_traverse", &click);
    // The person types during the whole call: keys that arrive while the agent types reach no app.
    loop {
        person(&["key", "z"]);
        if let Ok(answer) = desk.client.answers.try_recv() {
            assert_eq!(answer["id"], call);
            break;
        }
    }
    // On a busy machine Designer has still to take it.
    until("the text is not there", || {
        desk.tree().contains(&format!("\"{text}")).then_some(())
    });

    // Typing this text takes longer than a slow hand takes to press Esc.
    let text = "klmnopqrst".repeat(500);
    let click = json!({"pid": pid, "ref": field, "text": text});
    let call = desk.client.begin("click_and_traverse", &click);
    let (answer, is_error) = loop {
        person(&["key", "Escape"]);
        if let Ok(answer) = desk.client.answers.try_recv() {
            assert_eq!(answer["id"], call);
            break (answer.to_string(), answer["result"]["isError"] == true);
        }
    };
    assert!(is_error && answer.contains("Esc"), "{answer}");
    assert!(!desk.line(&field).contains(&text), "all was typed");
}

#[test]
fn apps_are_opened_only_within_the_bounds() {
    if std::env::var_os("DESKLINE_QT").is_none() {
        return;
    }
    let qt = PathBuf::from(std::env::var_os("DESKLINE_QT").unwrap());
    let assistant = qt.join("assistant.exe");
    let mut client = Client::start(&[
        "--allow-app",
        assistant.to_str().unwrap(),
        "--allow-app",
        "notepad",
        "--allow-app",
        "explorer",
    ]);
    let opened = client.call(
        "open_application_and_traverse",
        &json!({"identifier": assistant.to_str().unwrap()}),
    );
    let field = |answer: &str, name: &str| {
        let mut lines = answer.lines();
        lines.find_map(|line| Some(line.trim().strip_prefix(name)?.trim().to_owned()))
    };
    let pid = field(&opened, "pid:").unwrap();
    assert!(tree(&opened).contains("[AXMenuBar"), "{}", tree(&opened));
    // The app runs, and is found by its name.
    let again = client.call(
        "open_application_and_traverse",
        &json!({"identifier": "Assistant"}),
    );
    assert_eq!(field(&again, "pid:"), Some(pid.clone()));
    let notepad = client.call(
        "open_application_and_traverse",
        &json!({"identifier": "notepad"}),
    );
    assert!(field(&notepad, "app:").is_some_and(|app| app.eq_ignore_ascii_case("notepad")));
    let explorer = client.call(
        "open_application_and_traverse",
        &json!({"identifier": "explorer"}),
    );
    assert_eq!(field(&explorer, "app:").as_deref(), Some("explorer"));
    assert!(tree(&explorer).contains("[AXWindow"), "{}", tree(&explorer));

    let error = client.fail(
        "open_application_and_traverse",
        &json!({"identifier": "winefile"}),
    );
    assert!(error.contains("allow"), "{error}");
    let error = client.fail(
        "open_application_and_traverse",
        &json!({"identifier": "nosuchthing"}),
    );
    assert!(error.contains("no app"), "{error}");
    let others = [&notepad, &explorer].map(|answer| field(answer, "pid:"));
    for pid in others.into_iter().flatten().chain([pid]) {
        let done = Command::new("taskkill.exe")
            .args(["/f", "/pid", &pid])
            .output();
        assert!(done.unwrap().status.success());
    }
}

#[test]
fn clients_are_configured_in_their_folders_on_windows() {
    let Some(program) = std::env::var_os("DESKLINE_BIN") else {
        return;
    };
    let home = tempfile::tempdir().unwrap();
    let at = |path: &str| home.path().join(path);
    let run = |line: &str| {
        let done = Command::new(&program)
            .args(line.split(' '))
            .env("USERPROFILE", home.path())
            .env("APPDATA", at("Roaming"))
            .env("LOCALAPPDATA", at("Local"))
            .env("PATH", at("npm"))
            .output()
            .unwrap();
        let said = [done.stdout, done.stderr].concat();
        let said = String::from_utf8_lossy(&said).into_owned();
        assert!(done.status.success(), "{line}: {said}");
        said
    };
    let package = "Local/Packages/Claude_pzs8sxrjxfjjc/LocalCache/Roaming/Claude";
    let packaged = format!("{package}/claude_desktop_config.json");
    let files = [
        (
            "claude-desktop",
            "Roaming/Claude/claude_desktop_config.json",
        ),
        ("claude-desktop", &packaged),
        ("claude-code", ".claude.json"),
        ("codex", ".codex/config.toml"),
        ("cursor", ".cursor/mcp.json"),
        ("vscode", "Roaming/Code/User/mcp.json"),
        ("zed", "Roaming/Zed/settings.json"),
        ("goose", "Roaming/Block/goose/config/config.yaml"),
    ];
    for (client, file) in files {
        if file == packaged {
            fs::create_dir_all(at(package)).unwrap();
        }
        run(&format!("install {client}"));
        let text = fs::read_to_string(at(file)).unwrap_or_else(|e| panic!("{file}: {e}"));
        assert!(text.contains("deskline.exe"), "{file}: {text}");
        let said = run(&format!("uninstall {client}"));
        assert!(
            !at(file).exists() && !said.contains(r"\\?\"),
            "{file}: {said}"
        );
    }
    // npm installs two files: a shell script, and one for Windows.
    fs::create_dir(at("npm")).unwrap();
    fs::write(at("npm/codex"), "#!/bin/sh\nexit 1\n").unwrap();
    let script = "@echo %* >%USERPROFILE%\\told.txt\r\n";
    fs::write(at("npm/codex.cmd"), script).unwrap();
    run("install codex");
    let told = fs::read_to_string(at("told.txt")).unwrap();
    assert!(told.contains("mcp add deskline -- "), "{told}");
    assert!(
        told.trim_end()
            .trim_end_matches('"')
            .ends_with("deskline.exe"),
        "{told}"
    );
}

/// With this environment variable, the test below plays an app that fails.
const FAILS: &str = "DESKLINE_TEST_FAILS";

#[test]
fn a_program_that_fails() {
    if std::env::var_os(FAILS).is_some() {
        std::io::stderr().write_all(b"no licence\n").unwrap();
        std::process::exit(3);
    }
}

#[test]
fn the_output_of_a_program_that_fails_is_quoted() {
    if std::env::var_os("DESKLINE_BIN").is_none() {
        return;
    }
    let environment = [(FAILS, "1"), ("RUST_TEST_THREADS", "1")];
    // On the person's desktop Explorer starts it, with streams of its own.
    let mut client = Client::start_with(&["--desktop", "private"], &environment);
    let program = std::env::current_exe().unwrap();
    let error = client.fail(
        "open_application_and_traverse",
        &json!({"identifier": program.to_str().unwrap()}),
    );
    assert!(error.contains("exit status 3"), "{error}");
    assert!(error.contains("no licence"), "{error}");
}

/// The rows that can pass under Wine. The others need Microsoft's providers, or pictures.
#[test]
fn the_self_test_passes_for_the_guard_and_the_input() {
    if std::env::var_os("DESKLINE_QT").is_none() {
        return;
    }
    let journal = tempfile::tempdir().unwrap();
    let program = PathBuf::from(std::env::var_os("DESKLINE_BIN").unwrap());
    let done = Command::new(program.with_file_name("deskline-selftest.exe"))
        .arg("--json")
        .env("DESKLINE_DIR", journal.path().join("journal"))
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&done.stderr);
    let report = serde_json::from_slice(&done.stdout);
    let report: Value = report.unwrap_or_else(|e| panic!("{e}: {errors}"));
    let findings = report["findings"].as_array().unwrap();
    for name in [
        "a window comes to the front",
        "pointer and front window put back",
        "paste",
        "events: a new window",
        "a window that hangs",
        "it wakes",
        "a click on the monitor at 0,0 (scale 1)",
        "Explorer: a folder",
        "without the guard: your key",
        "guard: your key",
        "guard: our own key",
        "guard: on a busy machine",
        "guard: our own Esc",
        "guard: your Esc",
        "guard: let in",
        "banner: gone",
        "guard: its limit",
        "guard: after its limit",
        "guard: its server killed",
    ] {
        let row = findings.iter().find(|row| row["name"] == name);
        assert!(row.is_some_and(|row| row["ok"] == true), "{name}: {row:?}");
    }
    // The rows that the documentation names exist.
    let page = include_str!("../../../../docs/dev/windows.md");
    let guesses = page.split("| row of `deskline-selftest` |").nth(1).unwrap();
    let guesses = guesses.split("\n\n").next().unwrap().lines().skip(2);
    let named: Vec<&str> = guesses
        .filter_map(|line| line.trim_end_matches('|').rsplit_once('|'))
        .flat_map(|(_, rows)| rows.split('`').skip(1).step_by(2))
        .collect();
    assert!(named.len() > 20, "{named:?}");
    for name in named {
        // No picture is taken of a browser that did not open.
        let name = name.trim_end_matches('…').replace(": its picture", ": ");
        let is_it = |row: &Value| row["name"].as_str().unwrap().starts_with(&name);
        assert!(findings.iter().any(is_it), "{name}");
    }
}
