//! Pasting on Wayland, by data control or GNOME's own interface.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use serde_json::json;

use crate::{Session, Toolkit};

/// Characters that no layout has.
const TEXT: &str = "Grüße 漢字 😀  two  blanks";

impl Session {
    /// A command for the person's clipboard: "copy" or "show".
    fn clipboard(&self, what: &str) -> Command {
        let is_private = self.environment.contains_key("DESKLINE_DESKTOP");
        let script = match self.environment["XDG_CURRENT_DESKTOP"].as_str() {
            "GNOME" if !is_private => "gnome_clipboard.py",
            _ => "wl_clipboard.py",
        };
        let mut command = self.command("/usr/bin/python3");
        command.arg("-B").arg(self.folder().join(script)).arg(what);
        command
    }

    /// A text is pasted into an app of each toolkit, behind another one. The person's clipboard is
    /// as it was, with all its types. The session ends with the test.
    pub fn pastes(self, toolkits: &[Toolkit]) {
        let session = self.ends_with_the_test();
        let server = session.server();
        // A line for each type.
        let on_clipboard = || {
            let output = session.clipboard("show").output().unwrap();
            assert!(output.status.success(), "{output:?}");
            String::from_utf8_lossy(&output.stdout).into_owned()
        };
        let mut copied = session.clipboard("copy");
        let mut copied = copied.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        let mut output = BufReader::new(copied.stdout.take().unwrap());
        output.read_line(&mut line).unwrap();
        assert_eq!(line.trim(), "ready");
        let before = on_clipboard();
        assert!(before.contains("image/png 1048576"), "{before}");
        let apps: Vec<_> = { toolkits.iter() }
            .map(|toolkit| session.widgets(*toolkit, &server))
            .collect();
        for (app, persons) in apps.iter().zip(apps.iter().cycle().skip(1)) {
            server.click(app.pid(), "AXTextField", "Name").ok();
            server.click(persons.pid(), "AXButton", "OK").ok();
            let paste = json!({"text": TEXT, "paste": true});
            server.call_for(app, "type_and_traverse", paste).ok();
            app.wait_for(&format!("text Name {TEXT}"));
            assert_eq!(on_clipboard(), before);
        }
        copied.kill().unwrap();
        copied.wait().unwrap();
        assert_eq!(on_clipboard(), before);
    }
}
