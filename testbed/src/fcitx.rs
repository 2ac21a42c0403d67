//! Fcitx, an input method.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;

use serde_json::json;

use crate::{Session, Toolkit, until};

/// The keyboard, and Hangul, which is on in each new field.
const PROFILE: &str = "[Groups/0]\nName=Default\nDefault Layout=us\nDefaultIM=hangul\n\
    [Groups/0/Items/0]\nName=keyboard-us\n[Groups/0/Items/1]\nName=hangul\n\
    [GroupOrder]\n0=Default\n";

/// `fcitx5-remote`'s word for an input method that is on.
pub const FCITX_ON: &str = "2";

/// Writes these settings in this home.
pub fn hangul_is_on(home: &Path) {
    let config = home.join(".config/fcitx5");
    fs::create_dir_all(&config).unwrap();
    fs::write(config.join("profile"), PROFILE).unwrap();
    fs::write(config.join("config"), "[Behavior]\nActiveByDefault=True\n").unwrap();
}

impl Session {
    fn says(&self, program: &str, args: &[&str]) -> String {
        let output = self.command(program).args(args).output().unwrap();
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    /// Makes Fcitx KWin's input method, as Plasma's settings do it.
    fn gives_kwin_fcitx(&self) {
        hangul_is_on(self.folder());
        let settings = File::options()
            .append(true)
            .open(self.folder().join(".config/kwinrc"));
        let file = "/usr/share/applications/org.fcitx.Fcitx5.desktop";
        write!(settings.unwrap(), "[Wayland]\nInputMethod={file}\n").unwrap();
        let changed = format!("{{'Wayland': @aay [{:?}]}}", "InputMethod".as_bytes());
        let emit = [
            "emit",
            "--session",
            "--object-path=/kwinrc",
            "--signal=org.kde.kconfig.notify.ConfigChanged",
            &changed,
        ];
        self.says("gdbus", &emit);
        self.says(
            "gdbus",
            &["wait", "--session", "--timeout=20", "org.fcitx.Fcitx5"],
        );
    }

    /// Whether KWin gives the keys to Fcitx.
    fn gives_keys_to_fcitx(&self) -> bool {
        let get = [
            "call",
            "--session",
            "--dest=org.kde.KWin",
            "--object-path=/VirtualKeyboard",
            "--method=org.freedesktop.DBus.Properties.Get",
            "org.kde.kwin.VirtualKeyboard",
            "active",
        ];
        self.says("gdbus", &get) == "(<true>,)"
    }

    /// Types text and shortcuts in apps whose keys go to Fcitx first, which KWin has started.
    pub fn types_past_kwins_input_method(&self, toolkits: &[Toolkit]) {
        self.gives_kwin_fcitx();
        let server = self.server();
        let is_on = |when: &str| {
            until(&format!("Hangul {when}"), || {
                self.gives_keys_to_fcitx() && self.says("fcitx5-remote", &[]) == FCITX_ON
            });
        };
        let field = json!({"do": "click", "element": "Name", "role": "AXTextField"});
        let start = |toolkit: &Toolkit| {
            let app = self.widgets(*toolkit, &server);
            server.click(app.pid(), "AXTextField", "Name").ok();
            is_on("in its field");
            server.type_text(app.pid(), "Mine").ok();
            until("the text", || app.text() == "Mine");
            is_on("in its field again");
            let button = json!({"do": "click", "element": "OK", "role": "AXButton"});
            let steps = json!({"steps": [{"do": "type", "text": "x"}, button]});
            server.call_for(&app, "chain_and_traverse", steps).ok();
            app.wait_for("clicked OK");
            until("no Hangul on the button", || !self.gives_keys_to_fcitx());
            app
        };
        let apps: Vec<_> = toolkits.iter().map(start).collect();
        let persons = self.widgets_with(Toolkit::Gtk4, &server, "-persons", &[]);
        server.click(persons.pid(), "AXTextField", "Name").ok();
        for app in &apps {
            is_on("in the person's field");
            let all = json!({"do": "press_key", "keyName": "a", "modifierFlags": ["Control"]});
            let steps = json!({"steps": [
                field, all, {"do": "type", "text": "hello NIHAO Yz"},
                all, {"do": "type", "text": "Once More"},
            ]});
            let answer = server.call_for(app, "chain_and_traverse", steps).ok();
            app.wait_for("text Name hello NIHAO Yz");
            until(&format!("the text: {answer}"), || app.text() == "Once More");
            assert!(server.has_in_front(&persons), "{answer}");
        }
        is_on("in the person's field again");
    }
}
