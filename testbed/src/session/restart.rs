//! A server whose compositor ends and is started anew.

use std::time::Duration;

use serde_json::json;

use crate::{Session, Toolkit};

impl Session {
    /// The compositor is killed while text goes into an app, and started anew. Then an app of the
    /// new one is clicked and typed into behind the person's window, by the same server.
    pub fn server_outlives_the_compositor(mut self) {
        let server = self.server();
        let ok = || json!({"element": "OK", "role": "AXButton"});
        let first = self.widgets(Toolkit::Gtk3, &server);
        server.call_for(&first, "click_and_traverse", ok()).ok();
        let text = "abcdefghij".repeat(200);
        let name = json!({"pid": first.pid(), "element": "Name", "role": "AXTextField",
            "text": text});
        let call = server.send("click_and_traverse", name);
        first.logs("text Name abc");
        self.restart_compositor();
        let answer = call.answer(Duration::from_secs(60)).expect("an answer");
        println!("{:.600}", answer.text);
        assert!(answer.is_error, "{answer}");
        assert!(!answer.text.contains("internal error"), "{answer}");
        let typed = first.text();
        assert!(
            typed.len() < text.len() && text.starts_with(&typed),
            "{typed}"
        );
        // Starting the app already makes calls, until Deskline reads it. The first of them
        // reconnects.
        let second = self.widgets(Toolkit::Gtk4, &server);
        let _persons = self.widgets(Toolkit::Gtk3, &server);
        server.call_for(&second, "click_and_traverse", ok()).ok();
        second.wait_for("clicked OK");
        assert_eq!(second.logged("clicked OK"), 1);
        server
            .fill(second.pid(), "AXTextField", "Name", "anew")
            .ok();
        second.wait_for("text Name anew");
    }
}
