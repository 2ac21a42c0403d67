//! Actions on the test app's widgets, for several compositors.

use serde_json::json;

use crate::{Client, NativeApp, Session, Toolkit, until};

impl Session {
    /// Clicks in a window behind the person's. The picture shows the clicked window, and the
    /// person's window is restored.
    pub fn a_click_behind_has_its_picture(&self, persons: Toolkit) {
        let server = self.server();
        let behind = self.widgets(Toolkit::Gtk3, &server);
        let front = self.widgets(persons, &server);
        let clicked = server.click(behind.pid(), "AXButton", "OK").ok();
        behind.wait_for("clicked OK");
        clicked.shows_the_window();
        assert!(server.has_in_front(&front));
        assert!(front.log().iter().all(|l| !l.starts_with("clicked")));
    }
}

impl Client {
    /// Types a text into the test app's field `Name`, and another one over all of it.
    pub fn types_and_types_over(&self, app: &NativeApp, text: &str) {
        self.fill(app.pid(), "AXTextField", "Name", text).ok();
        app.wait_for(&format!("text Name {text}"));
        self.press_key(app.pid(), "a", &["Control"]).ok();
        let rest = json!({"text": "x", "pressKey": "Return"});
        self.call_for(app, "type_and_traverse", rest).ok();
        app.wait_for("text Name x");
    }

    /// Turns the wheel over the test app's list, which moves.
    pub fn turns_the_wheel(&self, app: &NativeApp) {
        let read = self.refresh(app.pid()).ok();
        let list = read.line_of("AXList", "Rows").extents.unwrap();
        let place = json!({"x": list.x + 20, "y": list.y + 40, "deltaY": 5});
        self.call_for(app, "scroll_and_traverse", place).ok();
        app.logs("scrolled Rows");
    }

    /// Drags over the test app's pad; a drag that begins above the pad presses nothing on the pad.
    pub fn drags_over_the_pad(&self, app: &NativeApp) {
        let read = self.refresh(app.pid()).ok();
        let roles = ["AXStaticText", "AXButton", "AX"];
        let pad = roles.iter().find_map(|role| read.find(role, "Pad"));
        let pad = pad.and_then(|pad| pad.extents);
        let pad = pad.unwrap_or_else(|| panic!("no pad in\n{}", read.file()));
        let drag = json!({"x": pad.x + 5, "y": pad.y + 5, "toX": pad.x + 90, "toY": pad.y + 30});
        self.call_for(app, "drag_and_traverse", drag).ok();
        app.wait_for("pad press 1");
        app.wait_for("pad release 1");
        app.clear_log();
        let outside = json!({"x": pad.x + 5, "y": pad.y - 4, "toX": pad.x + 90, "toY": pad.y + 30});
        self.call_for(app, "drag_and_traverse", outside).ok();
        let log = app.log();
        assert!(log.iter().all(|l| l != "pad press 1"), "{log:?}");
    }

    /// Fills the test app's form in one call, by the pointer and keys.
    pub fn fills_the_form(&self, app: &NativeApp) {
        let steps = json!({"steps": [
            {"do": "click", "element": "Name", "role": "AXTextField"},
            {"do": "type", "text": "Ada Lovelace"},
            {"do": "click", "element": "Notes", "role": "AXTextArea"},
            {"do": "type", "text": "the first programmer"},
            {"do": "click", "element": "Wrap"},
            {"do": "click", "element": "Green"},
            {"do": "click", "element": "OK", "role": "AXButton"},
        ]});
        let filled = self.call_for(app, "chain_and_traverse", steps).ok();
        let wanted = [
            "text Name Ada Lovelace",
            "text Notes the first programmer",
            "checked Wrap true",
            "chose Green",
            "clicked OK",
        ];
        until(&format!("the form\n{filled}"), || {
            let log = app.log();
            let has = |line: &&str| log.iter().any(|l| l == line);
            wanted.iter().all(has).then_some(())
        });
    }
}
