//! The guard of a compositor that captures the person's input.

use std::thread;
use std::time::Duration;

use serde_json::json;

use crate::{PATIENCE, Session, Toolkit, until};

impl Session {
    /// Types while the person types, and until they press Esc. The person is a second program with
    /// a keyboard of its own: the compositor cannot distinguish it from a person.
    pub fn keeps_the_persons_keys_out(&self) {
        let server = self.server();
        let person = self.server_with(&["--guard", "off"]);
        let app = self.widgets(Toolkit::Qt6, &server);
        let pid = app.pid();
        server.click(app.pid(), "AXTextField", "Name").ok();
        let agents = "all work and no play makes jack a dull boy. ".repeat(15);

        let keys = "2".repeat(400);
        let theirs = person.send("type_and_traverse", json!({"pid": pid, "text": keys}));
        until("the person's first keys", || app.text().contains("22"));
        let answer = server.type_text(app.pid(), &agents);
        let answered = theirs.answer(Duration::from_secs(30)).unwrap();
        until("the agent's text", || app.text().replace('2', "") == agents);
        let mixed = app.text().trim_matches('2').matches('2').count();
        println!(
            "{mixed} of the person's keys came between the agent's {}\n{answer}\n{answered}",
            agents.len()
        );
        assert!(mixed < 100, "{mixed}");

        let typing = server.send(
            "type_and_traverse",
            json!({"pid": pid, "text": agents.repeat(20)}),
        );
        until("the agent's text", || app.text().len() > 900);
        // An Esc that comes while the guard is open for the agent's own keys reaches the app
        // instead.
        let answer = thread::scope(|scope| {
            let answer = scope.spawn(|| typing.answer(PATIENCE));
            while !answer.is_finished() {
                person.press_key(pid, "Escape", &[]);
            }
            answer.join().unwrap()
        });
        answer.unwrap().has("Cancelled: the user pressed Esc");
        let length = app.text().len();
        person.type_text(pid, "2").ok();
        until("the person's key", || app.text().len() > length);
    }
}
