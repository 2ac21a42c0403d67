//! An app with two windows that are alike, beside the person's editor; and servers that end or are
//! stopped while they hold a key down in it.

use super::*;

/// An app with two windows that are alike. It moves the editor off them, asks for a file in another
/// process, and can hand over to the editor.
const TWINS: &str = r#"
import ctypes, subprocess, sys, time
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QFileDialog, QPushButton, QVBoxLayout, QWidget

user, own = ctypes.windll.user32, QFileDialog.Option.DontUseNativeDialog
while not (editor := user.FindWindowW("Notepad", None)):
    time.sleep(0.05)
user.MoveWindow(editor, 600, 300, 400, 300, True)
app, log = QApplication([]), open(sys.argv[1], "a", buffering=1, newline="\n")

def say(*words):
    print(*words, file=log)

class Window(QWidget):
    def __init__(self, name):
        super().__init__(windowTitle=name)
        box = QVBoxLayout(self)
        for text, act in {
            "Apply " + name: lambda: say("applied", name),
            "Save " + name: self.save,
            "Export " + name: lambda: subprocess.Popen([sys.executable, "-c", ASKS, sys.argv[1]]),
            "Edit " + name: lambda: user.SetForegroundWindow(editor),
        }.items():
            button = QPushButton(text)
            button.clicked.connect(act)
            box.addWidget(button)
        self.setGeometry(100, 100, 300, 200)
        self.show()

    def save(self):
        name, _ = QFileDialog.getSaveFileName(self, "Save it", options=own)
        say("saved", name)

    def keyPressEvent(self, event):
        say("down", Qt.Key(event.key()).name)

    def keyReleaseEvent(self, event):
        say("up", Qt.Key(event.key()).name)

# The system's own dialog, of another process.
ASKS = """
import sys
from PySide6.QtWidgets import QApplication, QFileDialog
app = QApplication([])
name, _ = QFileDialog.getSaveFileName(None, "Export it")
print("exported", name, file=open(sys.argv[1], "a", newline="\\n"))
"""

windows = [Window("Left"), Window("Right")]
app.exec()
"#;

/// Sends Ctrl+C to all processes of another one's console.
const CTRL_C: &str = "
import ctypes, sys
console = ctypes.windll.kernel32
console.FreeConsole()
console.SetConsoleCtrlHandler(None, True)
sys.exit(not (console.AttachConsole(int(sys.argv[1])) and console.GenerateConsoleCtrlEvent(0, 0)))
";

struct Desk {
    folder: TempDir,
    python: PathBuf,
    editor: App,
    app: App,
    client: Client,
    /// The place of the uppermost button in both windows, one over the other.
    apply: [String; 2],
    /// The lines that the app had written before `hold`.
    begun: usize,
}

impl Desk {
    /// `None` without the environment that scripts/windows sets.
    fn new(options: &[&str]) -> Option<Self> {
        let qt = std::env::var_os("DESKLINE_QT").map(PathBuf::from)?;
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("twins.py"), TWINS).unwrap();
        fs::write(at("theirs.txt"), "").unwrap();
        let editor = Command::new("notepad.exe").arg(at("theirs.txt")).spawn();
        let packages = qt.parent().unwrap();
        let python = packages.with_file_name("py").join("python.exe");
        let app = Command::new(&python)
            .args([at("twins.py"), at("log")])
            .env("PYTHONPATH", packages)
            .spawn();
        let mut desk = Self {
            folder,
            python,
            editor: App(editor.unwrap()),
            app: App(app.unwrap()),
            client: Client::start(options),
            apply: Default::default(),
            begun: 0,
        };
        let pid = json!({"pid": desk.pid()});
        let line = until("the windows are not open", || {
            let id = desk.client.begin("refresh_traversal", &pid);
            let (text, is_error) = desk.client.end(id);
            let tree = (!is_error).then(|| tree(&text))?;
            let line = |name: &str| tree.lines().find(|line| line.contains(name));
            line("Edit Left").and(line("Edit Right"))?;
            line("Apply Left").map(str::to_owned)
        });
        desk.apply = middle(&line);
        Some(desk)
    }

    fn pid(&self) -> u32 {
        self.app.0.id()
    }

    /// The lines that the app has written.
    fn log(&self) -> Vec<String> {
        let log = fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
        log.lines().map(str::to_owned).collect()
    }

    /// Waits for a line since the last `hold`.
    fn logs(&self, line: &str) {
        until(line, || {
            let is_it = |each: &String| each == line;
            self.log()[self.begun..].iter().any(is_it).then_some(())
        });
    }

    /// Begins to hold Shift+F8 down in the app, for a minute.
    fn hold(&mut self) -> u64 {
        self.begun = self.log().len();
        let (key, shift) = ("F8", ["Shift"]);
        let hold = json!({"do": "press_key", "keyName": key, "modifierFlags": shift, "hold": 10});
        let steps = json!({"pid": self.pid(), "steps": vec![hold; 6]});
        let call = self.client.begin("chain_and_traverse", &steps);
        self.logs("down Key_F8");
        call
    }

    /// Waits until the app has none of these keys down.
    fn await_release(&self) {
        self.logs("up Key_F8");
        self.logs("up Key_Shift");
    }

    /// Waits until a click of the person's arrives in the app.
    fn until_the_person_clicks(&self) {
        let clicks = || {
            let log = self.log();
            log.iter()
                .filter(|line| line.starts_with("applied"))
                .count()
        };
        let (before, [x, y]) = (clicks(), &self.apply);
        until("the person's click does not arrive", || {
            person(&["mousemove", x, y, "click", "1"]);
            (clicks() > before).then_some(())
        });
    }
}

/// The middle of an element, from its line in the tree.
fn middle(line: &str) -> [String; 2] {
    let number = |name: &str| {
        let (_, rest) = line.split_once(name).unwrap();
        rest.split(' ').next().unwrap().parse::<i32>().unwrap()
    };
    [(" x:", " w:"), (" y:", " h:")].map(|(at, size)| (number(at) + number(size) / 2).to_string())
}

#[test]
fn input_reaches_twin_windows_a_file_dialog_and_another_program() {
    let Some(mut desk) = Desk::new(&[]) else {
        return;
    };
    let pid = desk.pid();
    // One is over the other: each comes up for its click.
    let names = ["Left", "Right", "Left"];
    for (nth, name) in names.into_iter().enumerate() {
        let click = json!({"pid": pid, "element": format!("Apply {name}")});
        desk.client.call("click_and_traverse", &click);
        until("the click does not arrive", || {
            (desk.log().len() > nth).then_some(())
        });
    }
    assert_eq!(desk.log(), names.map(|name| format!("applied {name}")));
    let file = desk.folder.path().join("out.txt");
    let file = file.to_str().unwrap().replace('\\', "/");
    let steps = json!({"pid": pid, "steps": [
        {"do": "click", "element": "Save Right"},
        {"do": "wait_for", "element": "Save it", "role": "AXWindow"},
        {"do": "type", "text": file},
        {"do": "press_key", "keyName": "Return"},
    ]});
    let answer = desk.client.call("chain_and_traverse", &steps);
    assert!(answer.contains("Did 4 of 4 steps"), "{answer}");
    desk.logs(&format!("saved {file}"));

    let export = json!({"pid": pid, "element": "Export Left"});
    desk.client.call("click_and_traverse", &export);
    let dialog = until("the other process shows no dialog", || {
        let apps = desk.client.call("list_applications", &json!({}));
        let line = apps.lines().find(|line| line.contains("\"Export it\""))?;
        let (_, rest) = line.split_once("(PID: ")?;
        rest.split_once(')')?.0.parse::<u32>().ok()
    });
    assert_ne!(dialog, pid);
    let exported = file.replace("out.txt", "exported.txt");
    let steps = json!({"pid": dialog, "steps": [
        {"do": "type", "text": exported.replace('/', "\\")},
        {"do": "press_key", "keyName": "Return"},
    ]});
    let answer = desk.client.call("chain_and_traverse", &steps);
    assert!(answer.contains("Did 2 of 2 steps"), "{answer}");
    desk.logs(&format!("exported {exported}"));

    let edit = json!({"pid": pid, "element": "Edit Left"});
    let answer = desk.client.call("click_and_traverse", &edit);
    let switched = format!("(PID: {}) is now frontmost", desk.editor.0.id());
    assert!(answer.contains(&switched), "{answer}");
}

/// At its limit the guard releases the keys that the server holds and lets the person's input pass;
/// also when the server is killed.
#[test]
fn a_stopped_or_killed_server_gives_the_keys_back() {
    let Some(mut desk) = Desk::new(&["--guard-timeout", "2"]) else {
        return;
    };
    let begun = Instant::now();
    let call = desk.hold();
    desk.client.server.suspend();
    desk.until_the_person_clicks();
    let held = begun.elapsed();
    assert!(held > Duration::from_secs(2), "{held:?}");
    desk.await_release();
    desk.client.server.resume();
    let (answer, is_error) = desk.client.end(call);
    assert!(is_error && answer.contains("for too long"), "{answer}");
    desk.until_the_person_clicks();

    desk.hold();
    desk.client.server.0.kill().unwrap();
    desk.await_release();
    desk.until_the_person_clicks();
}

#[test]
fn ctrl_c_ends_the_server_and_releases_the_keys_it_held() {
    let Some(mut desk) = Desk::new(&[]) else {
        return;
    };
    let call = desk.hold();
    let server = desk.client.server.0.id().to_string();
    let sent = Command::new(&desk.python)
        .args(["-c", CTRL_C, &server])
        .creation_flags(NO_WINDOW)
        .status();
    assert!(sent.unwrap().success());
    let (answer, is_error) = desk.client.end(call);
    assert!(is_error && answer.contains("was stopped"), "{answer}");
    let status = until("the server does not end", || {
        desk.client.server.0.try_wait().unwrap()
    });
    assert!(status.success(), "{status}");
    desk.await_release();
    desk.until_the_person_clicks();
}
