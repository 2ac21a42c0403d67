//! A recording of what a person does on a Wayland session, with devices of their own, and its
//! recipe done again there.

use std::fs::{File, Permissions};
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::Duration;

use deskline_core::Point;
use deskline_testbed::{
    Client, Compositor, Running, Session, Setup, Toolkit, effects, has, signal, tests, until,
};
use rustix::process::Signal;

tests! {
    a_gtk3_app_is_recorded_on_sway => is_recorded(Compositor::Sway, Toolkit::Gtk3),
    a_qt6_app_is_recorded_on_kwin => is_recorded(Compositor::Kwin, Toolkit::Qt6),
    a_gtk4_app_is_recorded_on_gnome => is_recorded(Compositor::Gnome, Toolkit::Gtk4),
    menus_are_recorded_on_sway => menus_are_recorded(),
    drags_are_recorded_on_kwin => drags_are_recorded(Compositor::Kwin, "qt6"),
    drags_are_recorded_on_gnome => drags_are_recorded(Compositor::Gnome, "gtk4"),
    drags_are_recorded_on_sway => drags_are_recorded(Compositor::Sway, "gtk4"),
    a_recording_without_the_right_to_read_devices_is_refused => is_refused(),
}

/// `BTN_LEFT`
const LEFT: u32 = 0x110;
/// `KEY_LEFTSHIFT`
const SHIFT: u32 = 42;

/// A US keyboard, by the codes of its keys from `KEY_1`.
const KEYS: &str = "1234567890-=\u{8}\tqwertyuiop[]\n\0asdfghjkl;'`\0\\zxcvbnm,./";

struct Recording<'s> {
    session: &'s Session,
    server: Client,
    person: Running,
    program: Child,
    said: PathBuf,
    pid: u32,
}

/// A person's session, and the name of their devices there. GNOME has the extension: without it
/// nothing tells where windows are, to the test neither.
fn of_person(compositor: Compositor) -> (Session, &'static str) {
    let setup = Setup::debian_13(compositor).person();
    match compositor {
        Compositor::Kwin => (setup.start(), "kwin"),
        Compositor::Gnome => (setup.extension().start(), "gnome"),
        _ => (setup.start(), "wlroots"),
    }
}

impl<'s> Recording<'s> {
    fn begin(session: &'s Session, name: &str, app: &str, input: &[&str]) -> Self {
        let (server, person) = (session.server(), session.person(name));
        let said = session.folder().join("said");
        let options = ["--recipes", ".", "record", app, "--here"];
        let program = session
            .deskline(&options)
            .args(["--name", "job"])
            .args(input)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(File::create(&said).unwrap())
            .spawn()
            .unwrap();
        until("the recording", || {
            let said = std::fs::read_to_string(&said).unwrap();
            said.contains("Ctrl+C ends it").then_some(())
        });
        let apps = server.applications().text;
        let is_app = |line: &&str| line.contains(".py") || line.contains("\"Lists\"");
        let line = apps.lines().find(is_app);
        let pid = line.and_then(|line| line.split("PID: ").nth(1)?.split(')').next()?.parse().ok());
        Self {
            session,
            server,
            person,
            program,
            said,
            pid: pid.unwrap_or_else(|| panic!("no app in {apps}")),
        }
    }

    fn said(&self) -> String {
        std::fs::read_to_string(&self.said).unwrap()
    }

    fn does(&mut self, line: &str) {
        let person = self.person.0.stdin.as_mut().unwrap();
        writeln!(person, "{line}").unwrap();
    }

    /// Does something, and waits until that is noted.
    fn noted(&mut self, what: &str, does: impl FnOnce(&mut Self)) {
        let before = self.said().lines().count();
        does(self);
        until(what, || {
            (self.said().lines().count() > before).then_some(())
        });
    }

    fn place(&self, role: &str, text: &str) -> Point {
        until(text, || {
            let line = self.server.refresh(self.pid).find(role, text);
            Some(line.filter(|line| line.visible)?.extents?.center())
        })
    }

    /// Drags one text to another.
    fn drag(&mut self, text: &str, onto: &str) {
        let [from, to] = [text, onto].map(|text| self.place("AX", text));
        self.does(&format!("0 {} {}", from.x, from.y));
        sleep(Duration::from_millis(800));
        self.noted(text, |it| {
            it.does(&format!("{LEFT} 1"));
            for part in 1..=10 {
                sleep(Duration::from_millis(40));
                let at = |from, to| from + (to - from) * part / 10;
                it.does(&format!("0 {} {}", at(from.x, to.x), at(from.y, to.y)));
            }
            sleep(Duration::from_millis(200));
            it.does(&format!("{LEFT} 0"));
        });
    }

    fn click(&mut self, role: &str, text: &str) {
        let at = self.place(role, text);
        self.does(&format!("0 {} {}", at.x, at.y));
        // A person needs some time to see what is new.
        sleep(Duration::from_millis(800));
        self.noted(text, |it| {
            it.does(&format!("{LEFT} 1"));
            // As long as a finger is on a button.
            sleep(Duration::from_millis(90));
            it.does(&format!("{LEFT} 0"));
        });
    }

    fn types(&mut self, text: &str) {
        self.noted(text, |it| {
            for char in text.chars() {
                let low = char.to_ascii_lowercase();
                let at = KEYS.chars().position(|key| key == low);
                let code = at.map_or(57, |at| at + 2);
                let is_upper = char.is_ascii_uppercase();
                if is_upper {
                    it.does(&format!("{SHIFT} 1"));
                }
                it.does(&code.to_string());
                if is_upper {
                    it.does(&format!("{SHIFT} 0"));
                }
                sleep(Duration::from_millis(20));
            }
        });
    }

    /// Sends Ctrl+C, and the password for the first run. Returns the program's output. The person's
    /// keyboard stays: without one on the seat, no app gets the focus.
    fn end(&mut self) -> String {
        let (outside, _) = self.session.pid_of(self.program.id());
        signal(outside, Signal::INT);
        let mut input = self.program.stdin.take().unwrap();
        input.write_all(b"hush-7\n").unwrap();
        drop(input);
        let ended = self.program.wait().unwrap();
        let said = self.said();
        assert!(ended.success(), "{said}");
        said
    }
}

impl Drop for Recording<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            println!("{}", self.said());
        }
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}

fn job(name: &str) -> Vec<String> {
    let mut job = vec![format!("text Name {name}"), "text Secret hush-7".into()];
    let rest = [
        "checked Wrap true",
        "chose Blue",
        "clicked Ask",
        "clicked OK",
        "answered Yes",
    ];
    job.extend(rest.map(str::to_owned));
    job.sort();
    job
}

fn is_recorded(compositor: Compositor, toolkit: Toolkit) {
    let (session, name) = of_person(compositor);
    let path = |file: &str| session.folder().join(file);
    let app = format!(
        "/usr/bin/python3 {} {}",
        path(toolkit.file()).display(),
        path("log").display()
    );
    let mut recording = Recording::begin(&session, name, &app, &["--input", "name=Ann Lee"]);
    recording.click("AXTextField", "Name");
    recording.types("Ann Lee");
    recording.click("AXCheckBox", "Wrap");
    recording.click("AXRadioButton", "Blue");
    recording.click("AXButton", "Ask");
    recording.click("AXButton", "Yes");
    recording.click("AXTextField", "Secret");
    recording.types("hush-7");
    recording.click("AXButton", "OK");
    assert_eq!(
        effects(&session.folder().join("log")),
        job("Ann Lee"),
        "{}",
        recording.said()
    );
    let said = recording.end();
    let recipe = path("job.recipe.toml");
    let text = std::fs::read_to_string(&recipe).unwrap();
    // It was done once more, to try it.
    assert_eq!(
        effects(&session.folder().join("log")),
        job("Ann Lee"),
        "{said}\n{text}"
    );
    for secret in ["hush-7", "x = "] {
        assert!(
            !text.contains(secret) && !said.contains(secret),
            "{text}\n{said}"
        );
    }
    let mut run = session.deskline(&["run", recipe.to_str().unwrap()]);
    let mut run = run
        .args(["--set", "name=Bob", "--set", "password=-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    run.stdin.take().unwrap().write_all(b"hush-7\n").unwrap();
    let ran = run.wait_with_output().unwrap();
    assert!(ran.status.success(), "{ran:?}\n{text}");
    assert_eq!(effects(&session.folder().join("log")), job("Bob"), "{text}");
}

/// GTK 3's menu bar, and its combo box, whose list is a menu.
fn menus_are_recorded() {
    let session = Setup::debian_13(Compositor::Sway).person().start();
    let path = |file: &str| session.folder().join(file).display().to_string();
    let app = format!("/usr/bin/python3 {} {}", path("gtk3.py"), path("log"));
    let done = || {
        let log = std::fs::read_to_string(path("log")).unwrap();
        std::fs::remove_file(path("log")).unwrap();
        ["menu New", "combo Medium"].map(|line| log.lines().filter(|l| *l == line).count())
    };
    let mut recording = Recording::begin(&session, "wlroots", &app, &[]);
    for (role, text) in [
        ("AXMenuBarItem", "File"),
        ("AXMenuItem", "New"),
        ("AXComboBox", "Size"),
        ("AXMenuItem", "Medium"),
    ] {
        recording.click(role, text);
    }
    assert_eq!(done(), [1, 1], "{}", recording.said());
    let said = recording.end();
    let text = std::fs::read_to_string(path("job.recipe.toml")).unwrap();
    assert_eq!(done(), [1, 1], "{said}\n{text}");
    has(&text, "choose = \"Medium\"");
}

/// A row is dragged from one list into another. On sway nothing tells where it was dropped.
fn drags_are_recorded(compositor: Compositor, toolkit: &str) {
    let (session, name) = of_person(compositor);
    let path = |file: &str| session.folder().join(file).display().to_string();
    let app = format!(
        "/usr/bin/python3 {} {} {toolkit}",
        path("lists.py"),
        path("log")
    );
    let dropped = || {
        let log = std::fs::read_to_string(path("log")).unwrap();
        std::fs::remove_file(path("log")).unwrap();
        let lines = log.lines().filter(|line| *line != "ready");
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    let mut recording = Recording::begin(&session, name, &app, &[]);
    if compositor == Compositor::Sway {
        recording.drag("Pear", "Nuts");
        has(
            recording.said(),
            "or where you dropped it (use keys there): it is not recorded",
        );
        return;
    }
    recording.drag("Pear", "Nuts");
    assert_eq!(dropped(), ["dropped Pear on To"], "{}", recording.said());
    let said = recording.end();
    let text = std::fs::read_to_string(path("job.recipe.toml")).unwrap();
    assert_eq!(dropped(), ["dropped Pear on To"], "{said}\n{text}");
    assert!(!text.contains("x = "), "{text}");
}

fn is_refused() {
    let session = Setup::debian_13(Compositor::Sway).person().start();
    let device = session.folder().join("input/event0");
    let refused = |why: &str| {
        let refused = session.deskline(&["record", "gedit"]).output().unwrap();
        assert!(!refused.status.success());
        let said = String::from_utf8_lossy(&refused.stderr);
        has(&said, why);
        has(&said, "deskline desktop --watch");
    };
    std::fs::set_permissions(&device, Permissions::from_mode(0o000)).unwrap();
    refused("sudo setfacl -m");
    std::fs::remove_file(&device).unwrap();
    refused("there is no keyboard or pointer in /dev/input");
}
