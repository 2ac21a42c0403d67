//! A person's input method does not take the agent's keys, and is on again afterwards: IBus with
//! Pinyin, which makes 合理咯 of "hello", and Fcitx 5 with Hangul. Apps reach them in their
//! toolkit's way, a terminal by XIM. On Wayland (sway) they reach them over the bus or, without a
//! module of the toolkit's, by the compositor's text input.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use deskline_testbed::{
    App, Bed, Client, Compositor, FCITX_ON as ON, Setup, Toolkit, hangul_is_on, until,
};
use serde_json::json;

/// The engine of IBus that is on.
const ENGINE: &str = "libpinyin";

/// Characters that the input methods would take, and characters that the layout lacks.
const TEXT: &str = "hello nihao Yz äß漢字 ok";

/// A process that ends with this value.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// IBus on a bed. It ends with this value.
struct Ibus<'b> {
    bed: &'b Bed,
    _daemon: Ended,
}

impl<'b> Ibus<'b> {
    fn start(bed: &'b Bed) -> Self {
        let mut command = bed.command("ibus-daemon");
        command.args(["--xim", "--panel", "disable", "--replace"]);
        let daemon = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let ibus = Self {
            bed,
            _daemon: Ended(daemon.expect("ibus-daemon")),
        };
        until("IBus", || {
            ibus.ask(&["engine", ENGINE]);
            (ibus.engine() == ENGINE).then_some(())
        });
        ibus
    }

    /// The output of `ibus`, which exits with an error if it cannot change the keyboard layout.
    fn ask(&self, args: &[&str]) -> String {
        let output = self.bed.command("ibus").args(args).output().unwrap();
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    fn engine(&self) -> String {
        self.ask(&["engine"])
    }
}

impl Drop for Ibus<'_> {
    fn drop(&mut self) {
        self.ask(&["exit"]);
    }
}

/// The command with this input method.
fn through(mut command: Command, method: &str) -> Command {
    command.env("GTK_IM_MODULE", method);
    command.env("QT_IM_MODULE", method);
    command.env("XMODIFIERS", format!("@im={method}"));
    // Xlib takes no input method in the C locale.
    command.env("LC_ALL", "C.UTF-8");
    command
}

/// An editor with an empty file.
fn editor<'b>(bed: &'b Bed, program: &[&str], method: &str) -> (App<'b>, PathBuf) {
    let file = bed.path(&format!("{}-{method}.txt", program[0]));
    fs::write(&file, "").unwrap();
    let mut command = through(bed.command(program[0]), method);
    command.args(&program[1..]).arg(&file);
    (App::start_when(bed, command, |_| true), file)
}

/// Types a text behind the person's window, and saves the file, which must then contain `all`.
fn writes(
    server: &Client,
    persons: &App<'_>,
    (app, file): &(App<'_>, PathBuf),
    text: &str,
    all: &str,
) {
    persons.bring_to_front();
    let typed =
        json!({"pid": app.pid, "text": text, "pressKey": "s", "pressKeyModifiers": ["Control"]});
    let answer = server.call("type_and_traverse", typed).ok();
    until(&format!("{all} in {}: {answer}", file.display()), || {
        let saved = fs::read_to_string(file).unwrap();
        (saved.trim_end() == all).then_some(())
    });
}

#[test]
fn the_keys_reach_the_app_and_ibus_is_on_again() {
    let bed = Bed::new();
    let ibus = Ibus::start(&bed);
    let app = editor(&bed, &["mousepad"], "ibus");
    let (persons, _) = bed.featherpad("");
    let server = bed.server(&[]);
    writes(&server, &persons, &app, TEXT, TEXT);
    assert_eq!(ibus.engine(), ENGINE);
    let pid = app.0.pid;
    persons.bring_to_front();
    server.press_key(pid, "x", &[]).ok();
    assert_eq!(ibus.engine(), ENGINE);
    let all = format!("{TEXT}x and more");
    writes(&server, &persons, &app, " and more", &all);

    // A server that was killed meanwhile has left the input method off. The next server switches it
    // on.
    let runtime = bed.environment().get("XDG_RUNTIME_DIR").unwrap();
    let record = Path::new(runtime).join("deskline-input-method");
    assert!(!record.exists());
    fs::write(&record, format!("999999999\nibus {ENGINE}\n")).unwrap();
    ibus.ask(&["engine", "xkb:us::eng"]);
    assert_eq!(ibus.engine(), "xkb:us::eng");
    drop(server);
    let server = bed.server(&[]);
    server.refresh(pid).ok();
    assert_eq!(ibus.engine(), ENGINE);
    assert!(!record.exists());
}

/// `fcitx5-remote`'s word for off.
const OFF: &str = "1";

/// The arguments of `gdbus` that ask Fcitx for its fields, a line each, and which has the focus.
const FIELDS: [&str; 6] = [
    "call",
    "--session",
    "--dest=org.fcitx.Fcitx5",
    "--object-path=/controller",
    "--method=org.fcitx.Fcitx.Controller1.DebugInfo",
    "--timeout=10",
];

/// A Qt 5 window that was behind for 0.4 s tells Fcitx of its focus at once.
const BEHIND: Duration = Duration::from_millis(500);

#[test]
fn the_keys_reach_the_app_and_fcitx_is_as_it_was_in_each_field() {
    let bed = Bed::new();
    hangul_is_on(Path::new(&bed.environment()["HOME"]));
    let is = |app: &App<'_>, state: &str| {
        app.bring_to_front();
        let command = fs::read_to_string(format!("/proc/{}/comm", app.pid)).unwrap();
        let program = format!("program:{}", command.trim());
        until(&format!("Fcitx's state {state} in {program}"), || {
            // A Qt 5 window that was behind for less than 0.4 s reports its focus only with the
            // next key.
            bed.run("xdotool", &["key", "Control_R"]);
            // Fcitx's state is that of the field before until it hears of this field's focus.
            let fields = bed.run("gdbus", &FIELDS);
            let mut fields = fields.split("\\n");
            let has_focus =
                fields.any(|field| field.contains(&program) && field.contains("focus:1"));
            (has_focus && bed.run("fcitx5-remote", &[]).trim() == state).then_some(())
        });
    };
    let _fcitx = Ended(bed.command("fcitx5").stderr(Stdio::null()).spawn().unwrap());
    bed.run("gdbus", &["wait", "--session", "org.fcitx.Fcitx5"]);
    let editor = |program: &[&str]| editor(&bed, program, "fcitx");
    let apps = [
        editor(&["mousepad"]),
        editor(&["gnome-text-editor", "--standalone"]),
        editor(&["featherpad", "--standalone"]),
    ];
    let serve = through(bed.serve(&[]), "fcitx");
    let server = Client::start(serve);
    let mut entry = through(bed.command("zenity"), "fcitx");
    entry.args(["--entry", "--title=Mine"]);
    let persons = App::start_when(&bed, entry, |_| true);
    is(&persons, ON);
    bed.run("fcitx5-remote", &["-c"]);
    for app in &apps {
        is(&app.0, ON);
        is(&persons, OFF);
        // No event tells how long a window has been behind: see above.
        std::thread::sleep(BEHIND);
        writes(&server, &persons, app, TEXT, TEXT);
        is(&persons, OFF);
        is(&app.0, ON);
    }
    // The input method is off in the app, and on in the person's field.
    let (app, _) = &apps[0];
    let again = format!("{TEXT}{TEXT}");
    is(app, ON);
    bed.run("fcitx5-remote", &["-c"]);
    is(&persons, OFF);
    bed.run("fcitx5-remote", &["-o"]);
    is(app, OFF);
    is(&persons, ON);
    writes(&server, &persons, &apps[0], TEXT, &again);
    is(&persons, ON);
    is(app, OFF);

    // A terminal, by XIM.
    let typed = bed.path("xterm.txt");
    let line = format!("xterm -e sh -c 'cat > {}'", typed.display());
    persons.bring_to_front();
    let open = json!({"identifier": line});
    let opened = server.call("open_application_and_traverse", open).ok();
    persons.bring_to_front();
    let text = json!({"pid": opened.pid(), "text": TEXT, "pressKey": "Return"});
    server.call("type_and_traverse", text).ok();
    until("the text in the terminal", || {
        fs::read_to_string(&typed).unwrap().trim_end() == TEXT
    });
}

#[test]
fn on_sway_the_keys_reach_the_app_and_the_input_method_is_on_again() {
    let session = Setup::here(Compositor::Sway).start();
    hangul_is_on(session.folder());
    let ask = |program: &str, args: &[&str]| {
        let output = session.command(program).args(args).output().unwrap();
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    };
    let _fcitx = Ended(
        session
            .command("fcitx5")
            .stderr(Stdio::null())
            .spawn()
            .unwrap(),
    );
    ask(
        "gdbus",
        &["wait", "--session", "--timeout=20", "org.fcitx.Fcitx5"],
    );
    let is = |script: &str, state: &str| {
        session.sway(&format!("[title=\"Window of {script}\"] focus"));
        until(&format!("Fcitx's state {state} in {script}"), || {
            (ask("fcitx5-remote", &[]) == state).then_some(())
        });
    };
    let server = session.server();
    let persons = session.widgets(Toolkit::Gtk4, &server);
    server.click(persons.pid(), "AXTextField", "Name").ok();
    for (toolkit, script, module) in [
        (Toolkit::Gtk3, "gtk3.py", Some(("GTK_IM_MODULE", "fcitx"))),
        (Toolkit::Qt5, "qt5.py", Some(("QT_IM_MODULE", "fcitx"))),
        (Toolkit::Gtk3, "gtk3.py", None),
    ] {
        let suffix = ["", "-fcitx"][usize::from(module.is_some())];
        let app = session.widgets_with(toolkit, &server, suffix, module.as_slice());
        server.click(app.pid(), "AXTextField", "Name").ok();
        is(script, ON);
        is("gtk4.py", ON);
        let answer = server.type_text(app.pid(), TEXT).ok();
        until(
            &format!("the text in {script} {module:?}\n{answer}"),
            || app.text() == TEXT,
        );
        assert!(server.has_in_front(&persons), "{answer}");
        is("gtk4.py", ON);
        is(script, ON);
    }
}
