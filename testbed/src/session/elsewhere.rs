//! Windows on another workspace and minimised ones.

use crate::{Client, NativeApp, Session, Toolkit, until};

/// Where a test puts the window of `gtk4.py`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Where {
    Workspace2,
    Workspace1,
    Minimised,
}

impl Where {
    pub const ALL: [Self; 3] = [Self::Workspace2, Self::Workspace1, Self::Minimised];

    fn word(self) -> &'static str {
        match self {
            Self::Workspace2 => "(workspace 2)",
            Self::Minimised => "(minimised)",
            Self::Workspace1 => "",
        }
    }
}

impl Client {
    /// The app's line in the list of apps.
    pub fn listed(&self, app: &NativeApp) -> String {
        let list = self.applications().ok().text;
        let pid = format!("(PID: {})", app.pid());
        let line = list.lines().find(|line| line.contains(&pid));
        line.unwrap_or_else(|| panic!("{pid} is not in {list}"))
            .to_owned()
    }
}

impl Session {
    /// `put` puts the window of `gtk4.py` into these places, one after the other. There it is read,
    /// pressed, found by `open`, clicked and typed into. It stays there, and the person's window
    /// stays in front.
    pub fn uses_windows_elsewhere(
        &self,
        persons: Toolkit,
        places: &[Where],
        put: &dyn Fn(&Client, &NativeApp, Where),
    ) {
        let server = self.server();
        let app = self.widgets(Toolkit::Gtk4, &server);
        let persons = self.widgets(persons, &server);
        for place in places {
            put(&server, &app, *place);
            let is_there = || {
                let line = server.listed(&app);
                let word = place.word();
                let plain = word.is_empty() && !line.contains("(workspace");
                (plain || !word.is_empty() && line.contains(word)).then_some(())
            };
            until(&format!("{place:?}"), is_there);
            if *place == Where::Workspace1 {
                continue;
            }
            app.clear_log();
            // Read and pressed where it is.
            server.press_ax(app.pid(), "AXButton", "OK").ok();
            app.wait_for("clicked OK");
            assert!(is_there().is_some(), "{place:?}");
            let opened = server.open("Window of gtk4.py").ok();
            assert_eq!(opened.pid(), app.pid(), "the instance that runs");
            until(&format!("{place:?} after\n{opened}"), is_there);
            assert!(server.has_in_front(&persons), "{opened}");
            let answer = server.click(app.pid(), "AXButton", "OK").ok();
            until(&format!("the click\n{answer}"), || {
                app.logged("clicked OK") == 2
            });
            let text = format!("{place:?}");
            server.click(app.pid(), "AXTextField", "Name").ok();
            let answer = server.type_text(app.pid(), &text).ok();
            until(&format!("the text\n{answer}"), || {
                let log = app.log();
                log.iter()
                    .any(|l| l.starts_with("text Name") && l.ends_with(&text))
                    .then_some(())
            });
            until(&format!("{place:?} again\n{answer}"), is_there);
            assert!(server.has_in_front(&persons), "{answer}");
        }
    }
}
