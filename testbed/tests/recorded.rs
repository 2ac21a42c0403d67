//! Recipes of apps of each toolkit, learned from an agent or recorded from a person, and what
//! `lint` finds.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::fs::Permissions;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use deskline_testbed::person::Person;
use deskline_testbed::web::Page;
use deskline_testbed::{Bed, Client, deskline, effects, has, until};
use serde_json::{Value, json};

fn app(name: &str) -> String {
    let app = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("apps")
        .join(name);
    format!("/usr/bin/python3 {}", app.display())
}

/// Runs the program with a password for it on standard input. Returns what it printed.
fn told(folder: &Path, args: &[&str]) -> (bool, String) {
    let mut child = Command::new(deskline())
        .args(["--dir", folder.join("journal").to_str().unwrap()])
        .args(["--recipes", folder.to_str().unwrap()])
        .args(args)
        .env_remove("DESKLINE_DIR")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"hush-7\n").unwrap();
    let output = child.wait_with_output().unwrap();
    let printed = [output.stdout, output.stderr].concat();
    let printed = String::from_utf8_lossy(&printed).into_owned();
    (output.status.success(), printed)
}

fn job(name: &str) -> Vec<String> {
    let name = format!("text Name {name}");
    let rest = [
        "answered Yes",
        "checked Wrap true",
        "chose Blue",
        "clicked Ask",
        "clicked OK",
    ];
    let mut job: Vec<String> = rest.map(str::to_owned).into();
    job.extend([name, "text Secret hush-7".into()]);
    job.sort();
    job
}

/// An agent does the job by parts of texts too, as agents do.
fn by_agent(server: &Client, app: &str) {
    let pid = server.open(app).ok().pid();
    let click = |mut target: Value| {
        target["pid"] = pid.into();
        server.call("click_and_traverse", target).ok()
    };
    click(json!({"element": "Name", "role": "AXTextField", "text": "Ann Lee"}));
    click(json!({"element": "Wrap", "role": "AXCheckBox"}));
    click(json!({"element": "Blue"}));
    click(json!({"element": "Ask", "role": "AXButton"}));
    click(json!({"element": "Yes", "role": "AXButton"}));
    click(json!({"element": "Secret", "role": "AXTextField", "text": "hush-7"}));
    click(json!({"element": "OK", "role": "AXButton"}));
}

#[test]
fn runs_on_gtk_4_and_qt_are_learned_and_done_again() {
    for toolkit in ["gtk4", "qt5", "qt6"] {
        let (folder, bed) = (tempfile::tempdir().unwrap(), Bed::new());
        let log = folder.path().join("log");
        let app = format!("{} {}", app(&format!("{toolkit}.py")), log.display());
        by_agent(&bed.server(&[]), &app);
        assert_eq!(effects(&log), job("Ann Lee"), "{toolkit}");
        let run = bed.journal();
        let learn = ["learn", "--name", "job", "--input", "name=Ann Lee"];
        let more = ["--set", "password=-", run.to_str().unwrap()];
        let (works, printed) = told(folder.path(), &[&learn[..], &more].concat());
        assert!(works, "{toolkit}: {printed}");
        assert_eq!(effects(&log), job("Ann Lee"), "{toolkit}: {printed}");
        let recipe = folder.path().join("job.recipe.toml");
        let text = std::fs::read_to_string(&recipe).unwrap();
        assert!(!text.contains("hush-7"), "{text}");
        let run = ["run", recipe.to_str().unwrap(), "--desktop", "private"];
        let page = folder.path().join("page.html");
        let with = ["--set", "name=Bob", "--set", "password=-"];
        let report = ["--report", page.to_str().unwrap()];
        let (works, printed) = told(folder.path(), &[&run[..], &with, &report].concat());
        assert!(works, "{toolkit}: {printed}\n{text}");
        assert_eq!(effects(&log), job("Bob"), "{toolkit}: {printed}");
        let page = std::fs::read_to_string(page).unwrap();
        has(&page, "<summary>job: done");
        has(&page, "src=\"data:image/png;base64,");
        let (_, listed) = told(folder.path(), &["recipes", "job"]);
        has(&listed, "  password (secret)");
        has(&listed, "  7. click \"OK\"");
        // The error names the line of a step that its tool refuses. Nothing is started.
        std::fs::write(&recipe, text.replace("do = \"click\"", "do = \"clik\"")).unwrap();
        let (works, printed) = told(folder.path(), &[&run[..], &with].concat());
        assert!(!works, "{printed}");
        has(&printed, "job.recipe.toml:");
        has(&printed, "\"do\" is one of");
        assert!(!log.exists(), "{printed}");
    }
}

/// `--here` takes the person's own desktop, even if the options say another.
#[test]
fn a_trial_runs_on_the_persons_own_desktop_with_the_option_here() {
    let (folder, bed) = (tempfile::tempdir().unwrap(), Bed::new());
    let path = |name: &str| folder.path().join(name);
    let (script, displays) = (path("app"), path("displays"));
    let (app, log, to) = (app("gtk3.py"), path("log"), displays.display());
    let text = format!(
        "#!/bin/sh\necho $DISPLAY >> {to}\nexec {app} {}\n",
        log.display()
    );
    std::fs::write(&script, text).unwrap();
    std::fs::set_permissions(&script, Permissions::from_mode(0o755)).unwrap();
    let server = bed.server(&[]);
    let pid = server.open(script.to_str().unwrap()).ok().pid();
    server.click(pid, "AXButton", "OK").ok();
    for learn in [
        &["learn", "--name", "own", "--here"][..],
        &["learn", "--name", "other"],
    ] {
        let learned = bed
            .command(deskline())
            .args(["--desktop", "private", "--recipes"])
            .arg(folder.path())
            .args(learn)
            .arg(bed.journal())
            .output()
            .unwrap();
        assert!(learned.status.success(), "{learned:?}");
    }
    let displays = std::fs::read_to_string(displays).unwrap();
    let own: Vec<bool> = displays
        .lines()
        .map(|d| d == bed.environment()["DISPLAY"])
        .collect();
    assert_eq!(own, [true, true, false], "{displays}");
}

/// A recording, and the person who does something in the app.
struct Recording<'b> {
    bed: &'b Bed,
    server: Client,
    person: Person,
    program: Child,
    said: PathBuf,
    pid: u32,
}

impl<'b> Recording<'b> {
    fn begin(bed: &'b Bed, folder: &Path, app: &str, named: &str, input: &[&str]) -> Self {
        let said = folder.join("said");
        let program = bed
            .command(deskline())
            // As a file of options may say: the person is not on that desktop.
            .args(["--desktop", "private"])
            .args(["--recipes", folder.to_str().unwrap(), "record", app])
            .args(["--name", "job"])
            .args(input)
            .stdin(Stdio::piped())
            .stdout(std::fs::File::create(folder.join("out")).unwrap())
            .stderr(std::fs::File::create(&said).unwrap())
            .spawn()
            .unwrap();
        let server = bed.server(&[]);
        until("the recording", || {
            let said = std::fs::read_to_string(&said).unwrap();
            said.contains("Ctrl+C ends it").then_some(())
        });
        let apps = server.applications().text;
        let line = apps
            .lines()
            .find(|line| line.contains(named))
            .expect("the app");
        let pid = line
            .split("PID: ")
            .nth(1)
            .unwrap()
            .split(')')
            .next()
            .unwrap();
        Self {
            bed,
            server,
            person: Person::at(bed),
            program,
            said,
            pid: pid.parse().unwrap(),
        }
    }

    fn noted(&self) -> usize {
        std::fs::read_to_string(&self.said).unwrap().lines().count()
    }

    /// Does something, and waits until it is noted.
    fn then(&mut self, what: &str, does: impl FnOnce(&mut Person)) {
        let before = self.noted();
        does(&mut self.person);
        until(what, || (self.noted() > before).then_some(()));
    }

    fn click(&mut self, role: &str, text: &str) {
        let place = until(text, || {
            let line = self.server.refresh(self.pid).find(role, text);
            line.filter(|line| line.visible)?.extents
        });
        let (x, y) = (place.x + place.w / 2, place.y + place.h / 2);
        // A person needs some time to see what is new, and to point there.
        sleep(Duration::from_millis(800));
        self.then(text, |person| {
            person.point(u16::try_from(x).unwrap(), u16::try_from(y).unwrap());
            person.buttons(1);
            // As long as a finger is on a button.
            sleep(Duration::from_millis(60));
            person.buttons(0);
        });
    }

    /// Drags one text to another, slowly, as a person does.
    fn drag(&mut self, text: &str, onto: &str) {
        let [from, to] = [text, onto].map(|text| {
            until(text, || {
                let line = self.server.refresh(self.pid).find("AX", text);
                Some(line.filter(|line| line.visible)?.extents?.center())
            })
        });
        sleep(Duration::from_millis(800));
        self.then(text, |person| {
            let at = |from, to, part| u16::try_from(from + (to - from) * part / 10).unwrap();
            person.point(at(from.x, to.x, 0), at(from.y, to.y, 0));
            person.buttons(1);
            for part in 1..=10 {
                sleep(Duration::from_millis(40));
                person.drag(at(from.x, to.x, part), at(from.y, to.y, part));
            }
            sleep(Duration::from_millis(200));
            person.buttons(0);
        });
    }

    fn type_text(&mut self, text: &str) {
        self.then(text, |person| {
            for c in text.chars() {
                person.tap(u32::from(c));
            }
        });
    }

    /// Ctrl+C, and the password for the first run.
    fn end(mut self) -> String {
        let program = self.program.id().to_string();
        self.bed.run("kill", &["-INT", program.as_str()]);
        let mut input = self.program.stdin.take().unwrap();
        input.write_all(b"hush-7\n").unwrap();
        let ended = self.program.wait().unwrap();
        let said = std::fs::read_to_string(&self.said).unwrap();
        let out = std::fs::read_to_string(self.said.with_file_name("out")).unwrap();
        assert!(ended.success(), "{out}\n{said}");
        said
    }
}

impl Drop for Recording<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            println!(
                "{}",
                std::fs::read_to_string(&self.said).unwrap_or_default()
            );
        }
    }
}

#[test]
fn the_persons_actions_are_recorded_and_done_again() {
    for toolkit in ["gtk3", "qt5"] {
        let (folder, bed) = (tempfile::tempdir().unwrap(), Bed::with(&["--watch"]));
        let log = folder.path().join("log");
        let script = format!("{toolkit}.py");
        let app = format!("{} {}", app(&script), log.display());
        let input = ["--input", "name=Ann Lee"];
        let mut recording = Recording::begin(&bed, folder.path(), &app, &script, &input);
        recording.click("AXTextField", "Name");
        recording.type_text("Ann Lee");
        recording.click("AXCheckBox", "Wrap");
        recording.click("AXRadioButton", "Blue");
        recording.click("AXButton", "Ask");
        recording.click("AXButton", "Yes");
        recording.click("AXTextField", "Secret");
        recording.type_text("hush-7");
        recording.click("AXButton", "OK");
        assert_eq!(effects(&log), job("Ann Lee"), "{toolkit}");
        let said = recording.end();
        assert_eq!(effects(&log), job("Ann Lee"), "{toolkit}: {said}");
        let recipe = folder.path().join("job.recipe.toml");
        let text = std::fs::read_to_string(&recipe).unwrap();
        for part in ["hush-7", "x = "] {
            assert!(
                !text.contains(part) && !said.contains(part),
                "{part}: {text}\n{said}"
            );
        }
        has(&text, "'[AXCheckBox] \"Wrap\" checked'");
        let run = ["run", recipe.to_str().unwrap(), "--desktop", "private"];
        let with = ["--set", "name=Bob", "--set", "password=-"];
        let (works, printed) = told(folder.path(), &[&run[..], &with].concat());
        assert!(works, "{toolkit}: {printed}\n{text}");
        assert_eq!(effects(&log), job("Bob"), "{toolkit}: {printed}");
    }
}

/// A row is dragged from one list into another. A drag that no element takes is left out, and one
/// within a button is a click.
#[test]
fn drags_are_recorded_and_done_again() {
    for toolkit in ["gtk4", "qt6"] {
        let (folder, bed) = (tempfile::tempdir().unwrap(), Bed::with(&["--watch"]));
        let log = folder.path().join("log");
        let app = format!("{} {} {toolkit}", app("lists.py"), log.display());
        let mut recording = Recording::begin(&bed, folder.path(), &app, "\"Lists\"", &[]);
        recording.drag("Pear", "Nuts");
        let dropped = ["dropped Pear on To"];
        assert_eq!(effects(&log), dropped, "{toolkit}");
        let said = recording.end();
        assert_eq!(effects(&log), dropped, "{toolkit}: {said}");
        let recipe = folder.path().join("job.recipe.toml");
        let text = std::fs::read_to_string(&recipe).unwrap();
        has(&text, "to = { element = \"Nuts\"");
        assert!(!text.contains("x = "), "{text}");
        let run = ["run", recipe.to_str().unwrap(), "--desktop", "private"];
        let (works, printed) = told(folder.path(), &run);
        assert!(works, "{toolkit}: {printed}\n{text}");
        assert_eq!(effects(&log), dropped, "{toolkit}: {printed}");
    }
}

/// Of each app the test is the same.
const TESTED: &str = r#"
format = 1
app = "APP"
[[step]]
do = "click"
element = "Name"
role = "AXTextField"
text = "Ann"
shows = '[AXTextField] "Name" focused value:"Ann"'
[[step]]
do = "click"
element = "Wrap"
role = "AXCheckBox"
shows = '[AXCheckBox] "Wrap" checked'
[[step]]
do = "click"
element = "OK"
role = "AXButton"
[end]
enabled = '[AXButton] "OK"'
absent = '[AXButton] "No such"'
lint = ["labels"]
"#;

#[test]
fn apps_of_gtk_qt_and_the_web_are_tested_by_one_command() {
    let folder = tempfile::tempdir().unwrap();
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("apps/page.html");
    let page = Page::serve(&std::fs::read_to_string(page).unwrap());
    let log = |toolkit: &str| folder.path().join(toolkit);
    let own = |toolkit: &str| {
        format!(
            "{} {}",
            app(&format!("{toolkit}.py")),
            log(toolkit).display()
        )
    };
    let web = format!(
        "chromium --no-sandbox --no-first-run --incognito {}",
        page.address()
    );
    for (name, app) in [("gtk", own("gtk4")), ("qt", own("qt6")), ("web", web)] {
        let recipe = folder.path().join(format!("{name}.recipe.toml"));
        std::fs::write(recipe, TESTED.replace("APP", &app)).unwrap();
    }
    let report = folder.path().join("report.xml");
    let (dir, file) = (folder.path().to_str().unwrap(), report.to_str().unwrap());
    let (works, printed) = told(
        folder.path(),
        &["test", dir, "--jobs", "3", "--report", file],
    );
    assert!(works, "{printed}");
    has(
        std::fs::read_to_string(report).unwrap(),
        "tests=\"3\" failures=\"0\"",
    );
    let done = ["checked Wrap true", "clicked OK", "text Name Ann"];
    for toolkit in ["gtk4", "qt6"] {
        assert_eq!(effects(&log(toolkit)), done, "{toolkit}");
    }
    for effect in done {
        assert!(
            page.log().iter().any(|line| line == effect),
            "{effect}: {:?}",
            page.log()
        );
    }
}

/// What `lint` finds in an app on this bed.
fn found(bed: &Bed, app: &str) -> String {
    let server = bed.server(&[]);
    let pid = server.open(app).ok().pid();
    let all = json!({"pid": pid, "element": "Save", "role": "AXButton"});
    server.call("wait_for_and_traverse", all).ok();
    let output = bed
        .command(deskline())
        .args(["lint", &pid.to_string()])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Each app has one fault, beside controls without one.
#[test]
fn lint_finds_controls_without_keyboard_access_or_a_clickable_role() {
    let page = "<button>Save</button> <label>Name <input></label>
        <a href=#>Link</a> <ul onclick=this.title=1><li><button>Delegated</button></ul>
        <div onclick=this.title=1>Open</div>";
    let page = Page::serve(page);
    let web = format!(
        "chromium --no-sandbox --no-first-run --incognito --app={}",
        page.address()
    );
    let role = "its role tells of no click: [AX";
    let keys = "unreachable by keyboard: [AX";
    for (app, faults, text) in [
        (app("reach.py gtk"), &[role][..], "Open"),
        (app("reach.py qt"), &[keys], "Open"),
        (web, &[keys, role], ""),
    ] {
        let found = found(&Bed::new(), &app);
        let lines: Vec<&str> = found.lines().collect();
        assert_eq!(lines.len(), faults.len(), "{app}: {found}");
        for (line, fault) in lines.iter().zip(faults) {
            assert!(line.starts_with(fault) && line.contains(text), "{found}");
        }
    }
}

/// A recipe's check by lint stops it, with the element's line.
#[test]
fn a_recipe_checks_labels_and_contrast() {
    let folder = tempfile::tempdir().unwrap();
    let recipe = folder.path().join("poor.recipe.toml");
    let run = |lint: &str| {
        let text = format!(
            "format = 1\napp = {:?}\n[[step]]\ndo = \"click\"\nelement = \"Save\"\n[end]\nwithin = 0\n\
            lint = {lint:?}\n",
            app("poor.py")
        );
        std::fs::write(&recipe, text).unwrap();
        let run = ["run", recipe.to_str().unwrap(), "--desktop", "private"];
        told(folder.path(), &run)
    };
    let (works, printed) = run("contrast");
    assert!(!works, "{printed}");
    has(
        &printed,
        "expected: contrast 1.9:1, not 4.5:1: [AXStaticText",
    );
    assert!(!printed.contains("no label"), "{printed}");
    let (works, printed) = run("labels");
    assert!(!works, "{printed}");
    has(&printed, "expected: no label: [AXButton");
}

#[test]
fn lint_finds_low_contrast_and_missing_labels() {
    let bed = Bed::new();
    let found = found(&bed, &app("poor.py"));
    let lines: Vec<&str> = found.lines().collect();
    assert_eq!(lines.len(), 3, "{found}");
    assert!(
        lines[0].starts_with("contrast 1.9:1, not 4.5:1: [AXStaticText")
            && lines[0].contains("A pale text"),
        "{found}"
    );
    assert!(
        lines[1].starts_with("its label is not tied to it: [AXTextField")
            && lines[1].contains("Town"),
        "{found}"
    );
    assert!(lines[2].starts_with("no label: [AXButton"), "{found}");
    for line in lines {
        let picture = line.rsplit("  ").next().unwrap();
        assert!(Path::new(picture).exists(), "{line}");
    }
}
