//! Windows on another workspace and minimised ones are listed as such, read and pressed where they
//! are, and used and put back, with the workspace and the person's window.

use deskline_testbed::{Client, Compositor, NativeApp, Session, Setup, Toolkit, until};
use serde_json::json;

/// Where a test puts the window of `gtk4.py`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Where {
    Workspace2,
    Minimised,
    Workspace1,
}

impl Where {
    fn word(self) -> &'static str {
        match self {
            Self::Workspace2 => "(workspace 2)",
            Self::Minimised => "(minimised)",
            Self::Workspace1 => "",
        }
    }
}

const ITS: &str = "[title=\"Window of gtk4.py\"]";

#[test]
fn sway() {
    let session = Session::new(Compositor::Sway);
    windows_elsewhere_are_used(&session, &|_, _, place| {
        let to = match place {
            Where::Workspace2 => "container to workspace number 2",
            Where::Minimised => "scratchpad",
            Where::Workspace1 => "container to workspace number 1",
        };
        session.sway(&format!("{ITS} move {to}"));
    });
}

/// The person's has a name, and goes when another shows, as it is empty.
#[test]
fn sway_with_workspaces_without_numbers() {
    let session = Session::new(Compositor::Sway).ends_with_the_test();
    let server = session.server();
    let app = session.widgets(Toolkit::Gtk4, &server);
    session.sway(&format!("{ITS} move container to workspace 'its \"mail\"'"));
    session.sway("workspace 'my \"own\"'");
    assert!(listed(&server, &app).contains("(workspace "));
    let ok = json!({"element": "OK", "role": "AXButton"});
    server.call_for(&app, "click_and_traverse", ok).ok();
    app.wait_for("clicked OK");
    let workspaces = session.swaymsg(&["-t", "get_workspaces"]);
    let workspaces: serde_json::Value = serde_json::from_str(&workspaces).unwrap();
    let shown = workspaces
        .as_array()
        .unwrap()
        .iter()
        .find(|w| w["focused"] == true);
    assert_eq!(shown.unwrap()["name"], "my \"own\"", "{workspaces}");
    assert!(listed(&server, &app).contains("(workspace "));
}

#[test]
fn kwin() {
    let session = Session::new(Compositor::Kwin);
    windows_elsewhere_are_used(&session, &|_, _, place| {
        let does = match place {
            Where::Workspace2 => "it.desktops = [workspace.desktops[1]]",
            Where::Minimised => "it.minimized = true",
            Where::Workspace1 => "it.desktops = [workspace.desktops[0]]",
        };
        session.kwin(&format!(
            "const it = workspace.windowList().find(w => w.caption == 'Window of gtk4.py');\
             {does}; say('done');"
        ));
    });
}

#[test]
fn gnome_with_the_extension() {
    let session = Setup::debian_13(Compositor::Gnome).extension().start();
    windows_elsewhere_are_used(&session, &|server, app, place| {
        // GNOME's own keys.
        let (key, modifiers): (_, &[&str]) = match place {
            Where::Workspace2 => ("PageDown", &["Super", "Shift"]),
            Where::Minimised => ("h", &["Super"]),
            Where::Workspace1 => ("PageUp", &["Super", "Shift"]),
        };
        server.press_key(app.pid(), key, modifiers).ok();
    });
}

fn listed(server: &Client, app: &NativeApp) -> String {
    let list = server.call("list_applications", json!({})).ok().text;
    let pid = format!("(PID: {})", app.pid());
    let line = list.lines().find(|line| line.contains(&pid));
    line.unwrap_or_else(|| panic!("{pid} is not in {list}"))
        .to_owned()
}

/// `put` puts the window somewhere.
fn windows_elsewhere_are_used(session: &Session, put: &dyn Fn(&Client, &NativeApp, Where)) {
    let server = session.server();
    let app = session.widgets(Toolkit::Gtk4, &server);
    let persons = session.widgets(Toolkit::Qt6, &server);
    for place in [Where::Workspace2, Where::Workspace1, Where::Minimised] {
        put(&server, &app, place);
        let is_there = || {
            let line = listed(&server, &app);
            let word = place.word();
            let plain = word.is_empty() && !line.contains("(workspace");
            (plain || !word.is_empty() && line.contains(word)).then_some(())
        };
        until(&format!("{place:?}"), is_there);
        if place == Where::Workspace1 {
            continue;
        }
        app.clear_log();
        let ok = json!({"element": "OK", "role": "AXButton"});
        // Read and pressed where it is.
        server
            .call_for(&app, "press_ax_and_traverse", ok.clone())
            .ok();
        app.wait_for("clicked OK");
        assert!(is_there().is_some(), "{place:?}");
        let answer = server.call_for(&app, "click_and_traverse", ok).ok();
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
