//! A panel of a Wayland desktop, which no window covers: see `testbed/apps/panel.py`.

use serde_json::json;

use crate::{Session, Toolkit};

impl Session {
    /// Reads a panel and its menu, and presses both. No compositor lists it as a window, so a click
    /// is refused, and the error names the tools that work.
    pub fn uses_a_panel(&self) {
        let server = self.server();
        let persons = self.widgets(Toolkit::Gtk3, &server);
        let panel = self.script(&["panel.py"], &server, ["AXButton", "Volume up"]);
        let call = |tool: &str, element: &str, role: &str| {
            let call = json!({"element": element, "role": role});
            server.call_for(&panel, tool, call)
        };
        let pressed = call("press_ax_and_traverse", "Volume up", "AXButton").ok();
        panel.wait_for("louder");
        assert!(!pressed.text.contains("no window any more"), "{pressed}");
        // GTK opens no menu without a key or click of a person, but an item can be pressed without
        // an open menu.
        call("press_ax_and_traverse", "Home", "AXMenuItem").ok();
        panel.wait_for("went Home");
        let refused = call("click_and_traverse", "Volume up", "AXButton");
        for part in ["no window", "press_ax_and_traverse"] {
            assert!(refused.error().contains(part), "{refused}");
        }
        assert_eq!(panel.logged("louder"), 1);
        assert!(server.has_in_front(&persons));
    }
}
