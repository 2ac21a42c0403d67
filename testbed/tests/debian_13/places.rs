//! Windows on another workspace and minimised windows are listed as such, and read and pressed
//! without being raised. After input they are put back, and so are the workspace and the person's
//! window.

use deskline_testbed::{Compositor, Session, Setup, Toolkit, Where};
use serde_json::json;

const ITS: &str = "[title=\"Window of gtk4.py\"]";

#[test]
fn windows_out_of_view_are_used_and_put_back_on_sway() {
    let session = Session::new(Compositor::Sway);
    session.uses_windows_elsewhere(Toolkit::Qt6, &Where::ALL, &|_, _, place| {
        let to = match place {
            Where::Workspace2 => "container to workspace number 2",
            Where::Minimised => "scratchpad",
            Where::Workspace1 => "container to workspace number 1",
        };
        session.sway(&format!("{ITS} move {to}"));
    });
}

/// The person's workspace has a name. It disappears while another is shown, as it is empty.
#[test]
fn a_workspace_without_a_number_is_put_back_on_sway() {
    let session = Session::new(Compositor::Sway).ends_with_the_test();
    let server = session.server();
    let app = session.widgets(Toolkit::Gtk4, &server);
    session.sway(&format!("{ITS} move container to workspace 'its \"mail\"'"));
    session.sway("workspace 'my \"own\"'");
    assert!(server.listed(&app).contains("(workspace "));
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
    assert!(server.listed(&app).contains("(workspace "));
}

#[test]
fn windows_out_of_view_are_used_and_put_back_on_kwin() {
    let session = Session::new(Compositor::Kwin);
    session.uses_windows_elsewhere(Toolkit::Qt6, &Where::ALL, &|_, _, place| {
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
fn windows_out_of_view_are_used_and_put_back_on_gnome_with_extension() {
    let session = Setup::debian_13(Compositor::Gnome).extension().start();
    session.uses_windows_elsewhere(Toolkit::Qt6, &Where::ALL, &|server, app, place| {
        // GNOME's own keys.
        let (key, modifiers): (_, &[&str]) = match place {
            Where::Workspace2 => ("PageDown", &["Super", "Shift"]),
            Where::Minimised => ("h", &["Super"]),
            Where::Workspace1 => ("PageUp", &["Super", "Shift"]),
        };
        server.press_key(app.pid(), key, modifiers).ok();
    });
}

/// labwc's list does not have workspaces, but has the minimised windows.
#[test]
fn minimised_windows_are_used_and_put_back_on_labwc() {
    let session = Session::new(Compositor::Labwc);
    session.uses_windows_elsewhere(Toolkit::Qt6, &[Where::Minimised], &|server, app, _| {
        // Its own key.
        server.press_key(app.pid(), "F11", &["Control"]).ok();
    });
}
