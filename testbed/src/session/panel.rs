//! Parts of a Wayland desktop that are no app's windows: a panel (`testbed/apps/panel.py`), which
//! no window covers, and the tray.

use std::process::Command;

use crate::{Client, NativeApp, Session, Toolkit, until};

const WATCHER: &str = "org.kde.StatusNotifierWatcher";

impl Session {
    /// Reads a panel and its menu, and presses both.
    fn presses_a_panel(&self, server: &Client) -> [NativeApp; 2] {
        let persons = self.widgets(Toolkit::Gtk3, server);
        let panel = self.script(&["panel.py"], server, ["AXButton", "Volume up"]);
        let press = |element: &str, role: &str| server.press_ax(panel.pid(), role, element).ok();
        let pressed = press("Volume up", "AXButton");
        panel.wait_for("louder");
        assert!(!pressed.text.contains("no window any more"), "{pressed}");
        // GTK opens no menu without a key or click of a person, but an item can be pressed without
        // an open menu.
        press("Home", "AXMenuItem");
        panel.wait_for("went Home");
        assert!(server.has_in_front(&persons));
        [persons, panel]
    }

    /// A panel that the compositor does not list as a window: a click is refused, and the error
    /// names the tools that work.
    pub fn uses_an_unlisted_panel(&self) {
        let server = self.server();
        let [persons, panel] = self.presses_a_panel(&server);
        let refused = server.click(panel.pid(), "AXButton", "Volume up");
        for part in ["no window", "press_ax_and_traverse"] {
            assert!(refused.error().contains(part), "{refused}");
        }
        assert_eq!(panel.logged("louder"), 1);
        assert!(server.has_in_front(&persons));
    }

    /// A panel that the compositor lists is clicked while the person's window stays in front. Its
    /// menu is in the answer to the click that opens it.
    pub fn clicks_a_panel(&self) {
        let server = self.server();
        let [persons, panel] = self.presses_a_panel(&server);
        let listed = server.applications().ok().text;
        let pid = format!("(PID: {})", panel.pid());
        let line = listed.lines().find(|line| line.contains(&pid));
        let line = line.unwrap_or_else(|| panic!("{listed}"));
        assert!(line.ends_with("(panel)"), "{line}");
        assert!(!line.contains("front"), "{line}");
        server.click(panel.pid(), "AXButton", "Volume up").ok();
        until("the click", || panel.logged("louder") == 2);
        assert!(server.has_in_front(&persons));
        if self.is_here() {
            // Debian 12's GTK does not know where a menu of a panel is.
            return;
        }
        let opened = server.click(panel.pid(), "AXCheckBox", "Places").ok();
        let chosen = server.click(panel.pid(), "AXMenuItem", "Home").ok();
        until(&format!("the choice: {opened}\n{chosen}"), || {
            panel.logged("went Home") == 2
        });
        assert!(server.has_in_front(&persons));
    }

    /// The watcher of the tray's items, for a desktop that has none.
    pub fn watcher(&self) -> NativeApp {
        self.app(self.python("watcher.py"), self.folder().join("watcher.log"))
    }

    /// The item of Qt's tray is listed, and it and its menu are pressed over the bus. A watcher
    /// runs or is being started.
    pub fn uses_the_tray(&self) {
        let mut wait = self.command("gdbus");
        wait.args(["wait", "--session", "--timeout=20", WATCHER]);
        assert!(wait.status().unwrap().success());
        let server = self.server();
        let persons = self.widgets(Toolkit::Gtk3, &server);
        let log = self.folder().join("tray.log");
        let mut command = self.python("tray.py");
        command.arg(&log).env_remove("AT_SPI_BUS_ADDRESS");
        let app = self.app(command, log);
        app.wait_for("ready");
        until("the item in the list", || {
            let list = server.applications().ok().text;
            let pid = format!("(PID: {})", app.pid());
            let line = list.lines().find(|line| line.contains(&pid))?;
            line.contains("(tray)").then_some(())
        });
        let read = server.refresh(app.pid()).ok();
        let mute = read.line_of("AXMenuItem", "Mute").to_string();
        assert!(mute.contains("checked"), "{mute}");
        for (role, element, logged) in [
            ("AXMenuItem", "Write to Bob", "Bob"),
            ("AXMenuItem", "Mute", "mute False"),
            ("AXMenuBarItem", "tray.py", "activated"),
        ] {
            server.press_ax(app.pid(), role, element).ok();
            app.wait_for(logged);
        }
        assert!(server.has_in_front(&persons));
    }

    /// A command for a Python script of `testbed/apps`.
    fn python(&self, script: &str) -> Command {
        let mut command = self.command("/usr/bin/python3");
        command.arg("-B").arg(self.folder().join(script));
        command
    }
}
