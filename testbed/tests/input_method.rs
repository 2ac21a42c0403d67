//! A person's input method does not take the agent's keys, and is on again afterwards: IBus with
//! Pinyin, which makes 合理咯 of "hello".
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use deskline_testbed::{App, Bed, Client, until};
use serde_json::json;

/// The engine of the person.
const ENGINE: &str = "libpinyin";

/// IBus on a bed. It ends with this value.
struct Ibus<'b> {
    bed: &'b Bed,
    daemon: Child,
}

impl<'b> Ibus<'b> {
    fn start(bed: &'b Bed) -> Self {
        let mut command = bed.command("ibus-daemon");
        command.args(["--xim", "--panel", "disable", "--replace"]);
        let daemon = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let ibus = Self {
            bed,
            daemon: daemon.expect("ibus-daemon"),
        };
        until("IBus", || {
            ibus.ask(&["engine", ENGINE]);
            (ibus.engine() == ENGINE).then_some(())
        });
        ibus
    }

    /// The output of `ibus`, which ends with an error where it cannot change the keyboard layout.
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
        let _ = self.daemon.kill();
        let _ = self.daemon.wait();
    }
}

fn with_ibus(mut command: Command) -> Command {
    command.env("GTK_IM_MODULE", "ibus");
    command.env("XMODIFIERS", "@im=ibus");
    command
}

fn types(server: &Client, app: &App<'_>, file: &Path, text: &str) {
    let typed = json!({ "pid": app.pid, "text": text });
    server.call("type_and_traverse", typed).ok();
    let save = json!({"pid": app.pid, "keyName": "s", "modifierFlags": ["Control"]});
    server.call("press_key_and_traverse", save).ok();
    until(&format!("{text} in the file"), || {
        fs::read_to_string(file)
            .unwrap()
            .trim_end()
            .ends_with(text)
            .then_some(())
    });
}

#[test]
fn the_keys_reach_the_app_and_the_input_method_is_on_again() {
    let bed = Bed::new();
    let ibus = Ibus::start(&bed);
    let file = bed.path("typed.txt");
    fs::write(&file, "").unwrap();
    let mut command = with_ibus(bed.command("mousepad"));
    command.arg(&file);
    let app = App::start_when(&bed, command, |_| true);
    let (persons, _) = bed.featherpad("");
    persons.bring_to_front();
    let server = bed.server(&[]);
    types(&server, &app, &file, "hello world");
    assert_eq!(ibus.engine(), ENGINE);
    let key = json!({"pid": app.pid, "keyName": "x"});
    server.call("press_key_and_traverse", key).ok();
    types(&server, &app, &file, "x and more");
    assert_eq!(ibus.engine(), ENGINE);

    // A server that was killed meanwhile has left it off: the next one switches it on.
    let runtime = bed.environment().get("XDG_RUNTIME_DIR").unwrap();
    let record = Path::new(runtime).join("deskline-input-method");
    assert!(!record.exists());
    fs::write(&record, format!("999999999\nibus {ENGINE}\n")).unwrap();
    ibus.ask(&["engine", "xkb:us::eng"]);
    assert_eq!(ibus.engine(), "xkb:us::eng");
    drop(server);
    let server = bed.server(&[]);
    server
        .call("refresh_traversal", json!({"pid": app.pid}))
        .ok();
    assert_eq!(ibus.engine(), ENGINE);
    assert!(!record.exists());
}
