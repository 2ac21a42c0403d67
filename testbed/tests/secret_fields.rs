//! Password fields of each toolkit, and each way to enter text in them: afterwards the secret is
//! found nowhere.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use deskline_testbed::web::Page;
use deskline_testbed::{App, Bed, Client, Running, Toolkit, Window, deskline, until};
use serde_json::{Value, json};

const CLICK: &str = "click_and_traverse";
const CHAIN: &str = "chain_and_traverse";

macro_rules! ways {
    ($($name:literal: $tool:tt $arguments:literal;)*) => { [$([$name, $tool, $arguments]),*] };
}

/// Each way, as a call on the test app's form. `§` stands for the secret.
const WAYS: [[&str; 3]; 9] = ways! {
    "typed": CLICK r#"{"element": "Secret", "role": "AXTextField", "text": "§"}"#;
    "set_value": "set_value_and_traverse" r#"{"element": "Secret", "role": "AXTextField", "value": "§"}"#;
    "Tab, in a chain": CHAIN r#"{"steps": [{"do": "click", "element": "Name", "role": "AXTextField"},
        {"do": "press_key", "keyName": "Tab"}, {"do": "type", "text": "§"}]}"#;
    "an error after it": CHAIN r#"{"steps": [
        {"do": "click", "element": "Secret", "role": "AXTextField", "text": "§"},
        {"do": "click", "element": "There is none"}]}"#;
    "Tab in the text": CLICK r#"{"element": "Name", "role": "AXTextField", "text": "a\t§"}"#;
    "paste": CHAIN r#"{"steps": [{"do": "click", "element": "Secret", "role": "AXTextField"},
        {"do": "type", "text": "§", "paste": true}]}"#;
    "a character that the layout lacks": CLICK
        r#"{"element": "Secret", "role": "AXTextField", "text": "§ж漢"}"#;
    "a choice that it has not": CLICK r#"{"element": "Secret", "role": "AXTextField", "choose": "§"}"#;
    "an argument that there is not": CLICK
        r#"{"element": "Secret", "role": "AXTextField", "text": "§", "txt": "§"}"#;
};

fn secret() -> String {
    let mut random = [0; 8];
    let from = fs::File::open("/dev/urandom").unwrap();
    std::io::Read::read_exact(&mut &from, &mut random).unwrap();
    let letters = random.map(|byte| char::from(b'a' + byte % 26));
    format!("zq{}", letters.iter().collect::<String>())
}

/// The files below this folder that have one of the secrets.
fn leaks(folder: &Path, secrets: &[String]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(leaks(&path, secrets));
            continue;
        }
        let content = fs::read(&path).unwrap_or_default();
        let has = |secret: &String| {
            let mut windows = content.windows(secret.len());
            windows.any(|window| window == secret.as_bytes())
        };
        found.extend(secrets.iter().any(has).then_some(path));
    }
    found
}

struct Desk<'b> {
    bed: &'b Bed,
    server: Client,
    persons: App<'b>,
    secrets: Vec<String>,
    /// The pictures of each app after its last secret was entered.
    pictures: Vec<String>,
}

impl Desk<'_> {
    /// Gets a secret into the app in each of the ways. `log` is what the app has.
    fn fill(&mut self, toolkit: &str, app: &App<'_>, log: &dyn Fn() -> Vec<String>) {
        self.persons.bring_to_front();
        for [way, tool, arguments] in &WAYS {
            let of = format!("{toolkit}, {way}");
            let secret = secret();
            let mut arguments: Value =
                serde_json::from_str(&arguments.replace('§', &secret)).unwrap();
            arguments["pid"] = app.pid.into();
            let answer = self.server.call(tool, arguments);
            assert!(!answer.text.contains(&secret), "{of}: {answer}");
            let refused = way.starts_with("a choice") || way.starts_with("an argument");
            // Chromium lets accessibility set no password.
            let refused = refused || *way == "set_value" && answer.is_error;
            assert_eq!(
                answer.is_error,
                refused || way.starts_with("an error"),
                "{of}: {answer}"
            );
            // Firefox sends no event for a text that was set through accessibility.
            let unseen = *way == "set_value" && toolkit == "Firefox";
            if !refused && !unseen {
                until(&format!("{of} in the app\n{answer}"), || {
                    let has =
                        |line: &String| line.starts_with("text Secret") && line.contains(&secret);
                    log().iter().any(has).then_some(())
                });
            }
            self.secrets.push(secret);
        }
        let front = self.bed.screen().front();
        assert_eq!(front, self.persons.window.id, "{toolkit}");
        let read = self.server.refresh(app.pid).ok();
        self.pictures.push(read.field("screenshot").to_owned());
    }

    /// Neither a person nor an OCR engine can read a secret in the pictures of the apps.
    fn pictures_have_none(&self) {
        let list = self.bed.path("pictures.txt");
        fs::write(&list, self.pictures.join("\n")).unwrap();
        let mut reading = Command::new("tesseract");
        reading.arg(list).arg("-");
        let text = String::from_utf8(reading.output().unwrap().stdout).unwrap();
        let pages: Vec<&str> = text.split('\u{c}').collect();
        for page in &pages[..self.pictures.len()] {
            // The engine must find some words of each window; which ones depends on fonts and
            // theme.
            let is_read = ["Row", "Late", "First"]
                .iter()
                .any(|word| page.contains(word));
            assert!(is_read, "it reads what is there: {page:?}");
        }
        let shown = |secret: &&String| text.contains(&secret[2..]);
        assert_eq!(self.secrets.iter().find(shown), None, "{text}");
    }
}

#[test]
fn a_secret_is_recorded_nowhere_in_any_toolkit_by_any_way_of_entry() {
    let bed = Bed::new();
    let kept = bed.path("kept");
    fs::create_dir(&kept).unwrap();
    let mut command = bed.serve(&["-vvv"]);
    command.stderr(fs::File::create(kept.join("log")).unwrap());
    let mut desk = Desk {
        bed: &bed,
        server: Client::start(command),
        persons: bed.zenity(&["--entry", "--title", "Mine"]),
        secrets: Vec::new(),
        pictures: Vec::new(),
    };
    let toolkits = [Toolkit::Gtk3, Toolkit::Gtk4, Toolkit::Qt5, Toolkit::Qt6];
    let native = toolkits.map(|toolkit| (toolkit, bed.widgets(toolkit)));
    let (chromium, page) = bed.chromium_widgets();
    let html = Path::new(env!("CARGO_MANIFEST_DIR")).join("apps/page.html");
    let read = Page::serve(&fs::read_to_string(html).unwrap());
    let firefox = bed.firefox_at(&read.address(), read.title());
    read.wait_for("ready");
    for (toolkit, app) in &native {
        desk.fill(&format!("{toolkit:?}"), app, &|| app.log());
    }
    desk.fill("Chromium", &chromium, &|| page.log());
    desk.fill("Firefox", &firefox, &|| read.log());
    desk.pictures_have_none();

    // LibreOffice's own prompt accepts only one password.
    let password = secret();
    let letter = bed.locked_letter(&password);
    desk.persons.bring_to_front();
    let typed = json!({"pid": letter.pid, "text": password, "pressKey": "Return"});
    let answer = desk.server.call("type_and_traverse", typed).ok();
    assert!(!answer.text.contains(&password), "{answer}");
    until("the letter", || {
        let windows = bed.screen().windows_of(letter.pid);
        let is_open = |w: &Window| w.title.starts_with("locked.odt");
        windows.iter().any(is_open).then_some(())
    });
    desk.secrets.push(password);

    // A prompt in a process of its own, like those of portals and keyrings.
    let prompt = bed.zenity(&["--password", "--title", "Unlock"]);
    desk.persons.bring_to_front();
    let secret = secret();
    let typed = json!({"pid": prompt.pid, "text": secret, "pressKey": "Return"});
    let answer = desk.server.call("type_and_traverse", typed).ok();
    assert!(!answer.text.contains(&secret), "{answer}");
    prompt.wait_for(&secret);
    fs::write(bed.path("prompted"), &secret).unwrap();
    desk.secrets.push(secret);

    let Desk {
        server, secrets, ..
    } = desk;
    for line in server.notifications() {
        assert!(
            !secrets.iter().any(|secret| line.contains(secret)),
            "{line}"
        );
    }
    server.hang_up();
    let export = kept.join("view.html");
    let mut exported = bed.command(deskline());
    exported
        .arg("view")
        .arg(bed.journal())
        .arg("--export")
        .arg(&export);
    assert!(exported.status().unwrap().success());
    // Check that the search itself works: it finds the secret in the app's own files.
    assert_eq!(leaks(bed.folder(), &secrets[secrets.len() - 1..]).len(), 2);
    for folder in [bed.journal(), kept] {
        assert_eq!(leaks(&folder, &secrets), Vec::<PathBuf>::new());
    }
}

/// The agent of GNOME 3 and many others (package policykit-1-gnome).
const POLKIT_AGENT: &str = "/usr/lib/policykit-1-gnome/polkit-gnome-authentication-agent-1";

/// The password of polkit's prompt. The test runs itself again in a session of an administrator.
#[test]
fn polkits_prompt_is_blocked_until_allowed_and_its_secret_is_nowhere() {
    if let Ok(secret) = std::env::var("POLKIT_PASSWORD") {
        return unlocks_by_polkit(secret);
    }
    // Only root can make such a session.
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("apps/polkit.sh");
    let ended = Command::new(script)
        .arg(secret())
        .arg(std::env::current_exe().unwrap())
        .args([
            "polkits_prompt_is_blocked_until_allowed_and_its_secret_is_nowhere",
            "--nocapture",
        ])
        .status();
    assert!(ended.unwrap().success());
}

fn unlocks_by_polkit(secret: String) {
    let bed = Bed::new();
    let persons = bed.zenity(&["--entry", "--title", "Mine"]);
    let mut agent = bed.command(POLKIT_AGENT);
    let _agent = Running(agent.stderr(Stdio::null()).spawn().unwrap());
    // pkexec ends with 127 until the agent is registered.
    let mut asks = bed.command("sh");
    asks.arg("-c").arg(
        "until pkexec --disable-internal-agent touch /run/opened; do [ $? = 127 ] || exit; done",
    );
    let prompt = App::start_when(&bed, asks, |w| w.title == "Authenticate");
    persons.bring_to_front();
    let typed = json!({"pid": prompt.pid, "text": secret, "pressKey": "Return"});

    let server = bed.server(&[]);
    for (tool, arguments) in [
        ("refresh_traversal", json!({"pid": prompt.pid})),
        ("type_and_traverse", typed.clone()),
    ] {
        let refused = server.call(tool, arguments);
        assert!(refused.error().contains("blocked for agents"), "{refused}");
        assert!(!refused.text.contains(&secret), "{refused}");
    }
    assert!(!Path::new("/run/opened").exists());
    assert_eq!(prompt.window_now().title, "Authenticate");

    let name = Path::new(POLKIT_AGENT).file_name().unwrap();
    let allowed = bed.server(&["--allow-app", name.to_str().unwrap()]);
    let answer = allowed.call("type_and_traverse", typed).ok();
    assert!(!answer.text.contains(&secret), "{answer}");
    // The command that only root may run has run.
    until("the command that polkit allowed", || {
        let opened = fs::metadata("/run/opened").ok()?;
        (std::os::unix::fs::MetadataExt::uid(&opened) == 0).then_some(())
    });
    assert_eq!(bed.screen().front(), persons.window.id);
    for server in [server, allowed] {
        server.hang_up();
    }
    fs::write(bed.path("prompted"), &secret).unwrap();
    let found = leaks(bed.folder(), &[secret]);
    assert_eq!(found, [bed.path("prompted")]);
}
