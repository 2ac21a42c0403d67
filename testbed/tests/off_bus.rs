//! Apps that are not on the accessibility bus. They are driven by the picture of their windows,
//! behind the person's window. If a package would give an app a tree, the answer and the doctor
//! name the package, and installing it works.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use deskline_core::{Line, Rect};
use deskline_testbed::table::driven;
use deskline_testbed::{Answer, App, Bed, Client, deskline, until};
use serde_json::{Value, json};

const SWING: &str = "import javax.swing.*;\n\
    public class Swing {\n\
      public static void main(String[] arguments) {\n\
        JFrame frame = new JFrame(\"Swing\");\n\
        JButton button = new JButton(\"OK\");\n\
        button.addActionListener(event -> { System.out.println(\"clicked\"); \
        frame.setTitle(\"Clicked\"); });\n\
        frame.add(button);\n\
        frame.setSize(300, 200);\n\
        frame.setVisible(true);\n\
      }\n\
    }\n";

#[test]
fn a_swing_app_is_driven_with_the_wrapper_that_the_error_names() {
    let (bed, server) = Bed::with_server();
    let source = bed.path("Swing.java");
    fs::write(&source, SWING).unwrap();
    let mut deaf = bed.command("java").arg(&source).spawn().unwrap();
    let windows = || bed.screen().windows_of(deaf.id());
    until("a window", || !windows().is_empty());
    let refused = server.refresh(deaf.id());
    let doctor = bed.command(deskline()).arg("doctor").output().unwrap();
    let doctor = String::from_utf8_lossy(&doctor.stdout).into_owned();
    // Start the app as the error advises.
    for message in [&refused.text, &doctor] {
        assert!(message.contains("Java"), "{message}");
        assert!(message.contains("libatk-wrapper-java-jni"), "{message}");
    }
    deaf.kill().unwrap();
    deaf.wait().unwrap();
    let options = refused.text.split_once("JAVA_TOOL_OPTIONS='").unwrap().1;
    let options = options.split('\'').next().unwrap();
    let line = format!(
        "env 'JAVA_TOOL_OPTIONS={options}' java '{}'",
        source.display()
    );
    let opened = server.open(&line).ok();
    let click = json!({"pid": opened.pid(), "element": "OK", "role": "AXButton"});
    server.call("click_and_traverse", click).ok();
    until("the click", || {
        let windows = bed.screen().windows_of(opened.pid());
        windows.iter().any(|w| w.title == "Clicked").then_some(())
    });
}

/// Starts the app three times: without the address on the root window, Qt 5 loses a race in most
/// starts.
#[test]
fn qt_5_finds_the_bus_although_the_session_did_not_write_its_address() {
    let bed = Bed::new();
    bed.run("xprop", &["-root", "-remove", "AT_SPI_BUS"]);
    let server = bed.server(&[]);
    server.applications().ok();
    for content in ["one", "two", "three"] {
        let (app, _) = bed.featherpad(content);
        let read = server.refresh(app.pid).ok();
        assert!(read.file().contains(content), "{read}");
    }
}

/// A Qt 5 app that does not find the session bus. Without the variable, it registers an empty tree.
#[test]
fn the_answer_does_not_advise_a_package_that_the_app_already_has() {
    const TOLD: &str = "QT_LINUX_ACCESSIBILITY_ALWAYS_ON";
    let bed = Bed::new();
    bed.run("xprop", &["-root", "-remove", "AT_SPI_BUS"]);
    let server = bed.server(&[]);
    let _person = bed.mousepad("");
    let advice = |app: &App<'_>| {
        until("the app to be listed without a tree", || {
            let read = server.refresh(app.pid);
            let why = read.get("no_tree").map(str::to_owned);
            why.filter(|why| why.contains("Qt"))
        })
    };
    // The app expects another bus than the present one.
    let bus = &bed.environment()["DBUS_SESSION_BUS_ADDRESS"];
    let bus = format!("{},guid={:032x}", bus.split(",guid=").next().unwrap(), 7);
    let qt5 = |told: &str| {
        let mut command = bed.command("featherpad");
        command.env_remove("AT_SPI_BUS_ADDRESS").env(TOLD, told);
        command.env("DBUS_SESSION_BUS_ADDRESS", &bus);
        App::start_unread(&bed, command, |_| true)
    };
    let lost = qt5("1");
    let why = advice(&lost);
    assert!(why.contains("accessibility turned on"), "{why}");
    assert!(!why.contains(TOLD), "{why}");
    drop(lost);
    let off = qt5("");
    let why = advice(&off);
    assert!(why.contains(TOLD), "{why}");
}

/// An app without a tree, behind the person's window.
struct Treeless<'b> {
    bed: &'b Bed,
    server: &'b Client,
    persons: &'b App<'b>,
    pid: u32,
    /// Its window.
    place: Rect,
}

impl<'b> Treeless<'b> {
    fn open(bed: &'b Bed, server: &'b Client, persons: &'b App<'b>, line: &str) -> (Self, Answer) {
        persons.bring_to_front();
        let opened = server.open(line).ok();
        let window = opened.lines().remove(0);
        let app = Self {
            bed,
            server,
            persons,
            pid: opened.pid(),
            place: window.extents.unwrap(),
        };
        (app, opened)
    }

    /// Calls a tool with the person's window in front, which it is again afterwards.
    #[track_caller]
    fn call(&self, tool: &str, mut more: Value) -> Answer {
        self.persons.bring_to_front();
        more["pid"] = self.pid.into();
        let answer = self.server.call(tool, more).ok();
        let front = self.bed.screen().front();
        assert_eq!(front, self.persons.window.id, "{answer}");
        answer
    }

    /// A place in its window.
    fn at(&self, x: i32, y: i32, mut more: Value) -> Value {
        more["x"] = (self.place.x + x).into();
        more["y"] = (self.place.y + y).into();
        more
    }

    /// The element for a text in its picture. On a busy machine, recognising the text takes more
    /// than one call.
    fn reads(&self, text: &str) -> Line {
        until(&format!("\"{text}\" in the picture"), || {
            let tree = self.call("refresh_traversal", json!({}));
            tree.find("AXStaticText", text)
        })
    }

    fn click(&self, x: i32, y: i32, more: Value) -> Answer {
        self.call("click_and_traverse", self.at(x, y, more))
    }
}

fn tk_app(bed: &Bed) -> (String, std::path::PathBuf) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("apps/tk.py");
    let log = bed.path("tk.log");
    let line = format!("/usr/bin/python3 -B {} {}", script.display(), log.display());
    (line, log)
}

fn has_logged(log: &Path, line: &str) {
    until(&format!("\"{line}\" in the log"), || {
        let log = fs::read_to_string(log).unwrap();
        log.lines().any(|l| l == line).then_some(())
    });
}

fn windows(answer: &Answer) -> Vec<Line> {
    let mut lines = answer.lines();
    lines.retain(|line| line.role.ax() == "AXWindow");
    lines
}

/// The actions in the Tk app.
const TK: [&str; 7] = [
    "refresh",
    "picture",
    "click",
    "type",
    "press key",
    "drag",
    "chain",
];

/// The viewer shows another desktop, and what lies there is in no tree of this one.
#[test]
fn an_app_in_a_vnc_viewer_is_driven_by_the_viewers_picture() {
    let inner = Bed::with(&["--watch"]);
    let app = inner.windows("gtk3", &[], &["W|Inside|300x240+20+40"]);
    let tree = inner.server(&[]).refresh(app.pid).ok();
    let middle = |role: &str, name: &str| tree.line_of(role, name).extents.unwrap().center();
    let (push, note) = (
        middle("AXButton", "Push W"),
        middle("AXTextField", "Note W"),
    );

    let (bed, server) = Bed::with_server();
    let (persons, _) = bed.mousepad("");
    let desktop = Path::new(&inner.environment()["DESKLINE_DESKTOP"]).join("vnc");
    let line = format!(
        "xtigervncviewer -geometry 1000x700+60+60 -RemoteResize=0 {}",
        desktop.display()
    );
    let (viewer, _) = Treeless::open(&bed, &server, &persons, &line);
    viewer.reads("Push W");
    viewer.click(push.x, push.y, json!({}));
    app.wait_for("pushed W");
    viewer.click(note.x, note.y, json!({"text": "Hello, Ann!"}));
    app.wait_for("text W Hello, Ann!");
    viewer.call(
        "press_key_and_traverse",
        json!({"keyName": "a", "modifierFlags": ["Control"]}),
    );
    viewer.call("press_key_and_traverse", json!({"keyName": "Delete"}));
    app.wait_for("text W ");
}

#[test]
fn a_tk_app_is_driven_by_its_picture() {
    let (bed, server) = Bed::with_server();
    let (persons, _) = bed.mousepad("");
    let (line, log) = tk_app(&bed);
    let (tk, opened) = Treeless::open(&bed, &server, &persons, &line);
    let why = opened.field("no_tree");
    assert!(why.contains("not on the accessibility bus"), "{why}");
    assert!(opened.file().contains(&format!("# no tree: {why}\n")));
    assert_eq!(
        windows(&opened)[0].to_string().split(" #").next().unwrap(),
        format!(
            "[AXWindow] \"Tk form\" x:{} y:{} w:420 h:320 visible",
            tk.place.x, tk.place.y
        )
    );
    assert!(Path::new(opened.field("screenshot")).exists());
    let listed = server.applications().ok();
    assert!(listed.text.contains("\"Tk form\""), "{listed}");

    // The texts of its picture are elements, with refs that stay.
    let total = tk.reads("Total 42");
    assert_eq!(total.native_role.as_deref(), Some("ocr"));
    let place = total.extents.unwrap();
    let (x, y) = (place.x - tk.place.x, place.y - tk.place.y);
    assert!((20..30).contains(&x) && (10..25).contains(&y), "{total}");
    assert!(
        (50..70).contains(&place.w) && (8..16).contains(&place.h),
        "{total}"
    );
    tk.call("click_and_traverse", json!({"element": "Go"}));
    has_logged(&log, "go ");
    assert_eq!(tk.reads("Total 42").reference, total.reference);

    // Enter a text and press a button.
    let typed = tk.click(60, 55, json!({"text": "hello Ann"}));
    let sentence = typed.field("summary");
    assert!(
        !sentence.contains("hello Ann"),
        "it may be a secret: {typed}"
    );
    tk.reads("hello Ann");
    assert!(typed.field("picture_changed").contains('%'), "{typed}");
    tk.click(60, 100, json!({}));
    has_logged(&log, "go hello Ann");

    // The app polls keys and the button at intervals, and misses none.
    tk.click(100, 200, json!({}));
    for n in 2..=5 {
        tk.click(100, 200, json!({}));
        has_logged(&log, &format!("seen 0 {n}"));
    }
    for n in 1..=10 {
        tk.call("press_key_and_traverse", json!({"keyName": "a"}));
        has_logged(&log, &format!("seen {n} 5"));
    }

    // A menu is a window of its own.
    let menu = tk.server.call("click_and_traverse", {
        let mut click = tk.at(200, 200, json!({"rightClick": true}));
        click["pid"] = tk.pid.into();
        click
    });
    let menu = menu.ok();
    let added = menu.diff_lines();
    assert!(
        added.iter().any(|l| l.starts_with("+ [AXWindow (pop-up)]")),
        "{menu}"
    );
    let place = windows(&menu).last().unwrap().extents.unwrap();
    let item = json!({"x": place.x, "y": place.y, "width": place.w, "height": place.h});
    tk.call("click_and_traverse", item);
    has_logged(&log, "mark");

    tk.call("scroll_and_traverse", tk.at(200, 200, json!({"deltaY": 2})));
    has_logged(&log, "wheel");
    let to = (tk.place.x + 300, tk.place.y + 240);
    let drag = json!({"toX": to.0, "toY": to.1});
    tk.call("drag_and_traverse", tk.at(100, 200, drag));
    has_logged(&log, "drag 80 60 280 100");

    // The errors of tools that need accessibility name the tools that work.
    persons.bring_to_front();
    let press = json!({"pid": tk.pid, "element": "Tk form"});
    server
        .call("press_ax_and_traverse", press)
        .fails_with("known only from the screenshot");
    let nothing = tk.call("press_key_and_traverse", json!({"keyName": "F9"}));
    assert_eq!(nothing.field("picture_changed"), "no", "{nothing}");
    server
        .call(
            "chain_and_traverse",
            json!({"pid": tk.pid, "steps": [
                tk.at(60, 55, json!({"do": "click"})),
                {"do": "press_key", "keyName": "a", "modifierFlags": ["Control"]},
                {"do": "type", "text": "llama"},
                tk.at(60, 100, json!({"do": "click"})),
            ]}),
        )
        .ok();
    // In Tk, Control+A moves the caret to the start of the text.
    has_logged(&log, "go llamahello Ann");
    driven::note_served("Tk (no tree)", "X11", &TK);
}

#[test]
fn a_shell_in_xterm_runs_a_typed_command() {
    let (bed, server) = Bed::with_server();
    let (persons, _) = bed.mousepad("");
    let (xterm, opened) = Treeless::open(&bed, &server, &persons, "xterm -e sh");
    assert_eq!(opened.field("app"), "xterm");
    let file = bed.path("typed.txt");
    let command = format!("echo \"Hello, $((6 * 7))\" > {}", file.display());
    let typed = xterm.call(
        "type_and_traverse",
        json!({"text": command, "pressKey": "Return"}),
    );
    assert!(typed.field("picture_changed").contains('%'), "{typed}");
    until("the line in the file", || {
        (fs::read_to_string(&file).ok()? == "Hello, 42\n").then_some(())
    });
    // Opening the app by its name finds the running one.
    persons.bring_to_front();
    let again = server.open("xterm");
    assert_eq!(again.ok().pid(), xterm.pid);
    let ended = xterm.call("type_and_traverse", json!({"text": "exit\n"}));
    assert!(ended.field("summary").contains("ended"), "{ended}");
    driven::note_served("xterm (no tree)", "X11", &["refresh", "type", "press key"]);
}

/// The engine answers only when the test lets it. No time is measured: without the limit, the call
/// would wait for the test, which waits for the call.
#[test]
fn an_answer_waits_no_longer_than_its_limit_for_the_texts_of_a_picture() {
    let bed = Bed::new();
    let (persons, _) = bed.mousepad("");
    let (engine, gate) = (bed.path("tesseract"), bed.path("gate"));
    bed.run("mkfifo", &[gate.to_str().unwrap()]);
    let at = gate.display();
    let script =
        format!("#!/bin/sh\n[ -p {at} ] && read x < {at}\nexec /usr/bin/tesseract \"$@\"\n");
    fs::write(&engine, script).unwrap();
    fs::set_permissions(&engine, fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/bin:/bin", bed.folder().display());
    let mut serve = bed.serve(&[]);
    serve.env("PATH", path);
    let server = Client::start(serve);
    let (line, _) = tk_app(&bed);
    let (tk, opened) = Treeless::open(&bed, &server, &persons, &line);
    let late = |answer: &Answer| {
        let file = answer.file();
        file.contains("lines of the screenshot were not read within 700 ms")
    };
    assert!(late(&opened), "{opened}");
    let read = tk.call("refresh_traversal", json!({}));
    assert!(late(&read), "{read}");
    let may = fs::File::options().write(true).open(&gate).unwrap();
    fs::remove_file(&gate).unwrap();
    drop(may);
    tk.reads("Total 42");
}

#[test]
fn the_doctor_names_the_engine_that_reads_texts_in_pictures() {
    let bed = Bed::new();
    let says = |path: &str| {
        let mut doctor = bed.command(deskline());
        let output = doctor.arg("doctor").env("PATH", path).output().unwrap();
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        let mut lines = printed
            .lines()
            .skip_while(|l| !l.contains("text in screenshots"));
        lines.by_ref().take(2).collect::<Vec<_>>().join("\n")
    };
    let reads = says("/usr/bin:/bin");
    assert!(reads.contains("✓ text in screenshots"), "{reads}");
    assert!(reads.contains("read by tesseract"), "{reads}");
    let lacks = says("/nonexistent");
    assert!(lacks.contains("! text in screenshots"), "{lacks}");
    assert!(lacks.contains("tesseract-ocr"), "{lacks}");
}
