//! A fake of Hyprland's socket: what 0.56 answers by its source.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixListener;
use std::sync::mpsc::{Receiver, channel};

use deskline_core::Rect;

use super::hyprland::Hyprland;
use super::ipc::Ipc as _;

/// Two windows on the workspace that shows, one on another, one on a special one that is hidden.
const CLIENTS: &str = r#"[
    {"address": "0x5a", "mapped": true, "hidden": false, "at": [10, 20], "size": [600, 400],
     "workspace": {"id": 1, "name": "1"}, "floating": false, "monitor": 0, "class": "a", "title": "Tiled \"1\"",
     "pid": 10, "xwayland": false, "pinned": false, "fullscreen": 0, "focusHistoryID": 0},
    {"address": "0x5b", "mapped": true, "hidden": false, "at": [30, 40], "size": [300, 200],
     "workspace": {"id": 1, "name": "1"}, "floating": true, "monitor": 0, "class": "b", "title": "Floating",
     "pid": 11, "xwayland": true, "pinned": false, "fullscreen": 0, "focusHistoryID": 2},
    {"address": "0x5c", "mapped": true, "hidden": false, "at": [0, 0], "size": [800, 600],
     "workspace": {"id": -1337, "name": "mail"}, "floating": false, "monitor": 0, "class": "c", "title": "Elsewhere",
     "pid": 12, "xwayland": false, "pinned": false, "fullscreen": 0, "focusHistoryID": 1},
    {"address": "0x5d", "mapped": true, "hidden": false, "at": [0, 0], "size": [800, 600],
     "workspace": {"id": -98, "name": "special:magic"}, "floating": false, "monitor": 0, "class": "d",
     "title": "Put away", "pid": 13, "xwayland": false, "pinned": false, "fullscreen": 0, "focusHistoryID": 3}
]"#;

const MONITORS: &str = r#"[{"id": 0, "name": "DP-1", "width": 2160, "height": 3840, "x": 0, "y": 0,
    "activeWorkspace": {"id": 1, "name": "1"}, "specialWorkspace": {"id": 0, "name": ""},
    "scale": 1.5, "transform": 1, "focused": true}]"#;

/// A Hyprland whose configuration is in Lua, or is an older one, and the dispatchers that it calls.
fn fake(lua: bool) -> (tempfile::TempDir, Hyprland, Receiver<String>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(".socket.sock");
    let listener = UnixListener::bind(&path).unwrap();
    let (calls, called) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut request = [0; 1024];
            let read = stream.read(&mut request).unwrap();
            let request = String::from_utf8_lossy(&request[..read]).into_owned();
            let answer = match request.as_str() {
                "j/clients" => CLIENTS,
                "j/monitors" => MONITORS,
                "j/activewindow" => r#"{"address": "0x5a", "title": "Tiled"}"#,
                "j/activeworkspace" => r#"{"id": 1, "name": "1", "windows": 2}"#,
                _ => {
                    let call = request.strip_prefix("/dispatch ").expect(&request);
                    if call.starts_with("hl.dsp.") == lua {
                        calls.send(call.to_owned()).unwrap();
                        "ok"
                    } else {
                        "Invalid dispatcher"
                    }
                }
            };
            stream.write_all(answer.as_bytes()).unwrap();
        }
    });
    let hyprland = Hyprland::connect(&path).unwrap();
    (folder, hyprland, called)
}

#[test]
fn windows_are_listed_with_their_places() {
    let (_folder, mut hyprland, _) = fake(true);
    let windows = hyprland.windows().unwrap();
    let order: Vec<u64> = windows.iter().map(|w| w.id).collect();
    assert_eq!(order, [0x5d, 0x5b, 0x5a, 0x5c]);
    let [away, floating, tiled, elsewhere] = windows.as_slice() else {
        panic!("{windows:?}")
    };
    assert!(away.minimised && !away.visible && away.own.is_none());
    assert!(floating.visible && !floating.native && !floating.focused);
    assert!(tiled.visible && tiled.native && tiled.focused);
    assert_eq!((tiled.title.as_str(), tiled.pid), ("Tiled \"1\"", 10));
    assert_eq!(tiled.content, Rect::at(10, 20, 600, 400));
    assert!(!elsewhere.visible && !elsewhere.minimised);
    let hidden = elsewhere.own.as_ref().unwrap();
    let names = (hidden.name.as_str(), hidden.instead.as_str());
    assert_eq!(names, ("name:mail", "1"));
    assert_eq!(elsewhere.workspace, 1337);
    assert_eq!(hyprland.workspace().unwrap(), Some((1, "1".to_owned())));
}

#[test]
fn windows_and_workspaces_are_shown_under_both_kinds_of_configuration() {
    for (lua, expected) in [
        (
            true,
            [
                "hl.dsp.focus({ window = 'address:0x5b' })",
                "hl.dsp.window.alter_zorder({ mode = 'top', window = 'address:0x5b' })",
                r#"hl.dsp.focus({ workspace = "name:a \"b\"" })"#,
                r#"hl.dsp.workspace.toggle_special("magic")"#,
            ],
        ),
        (
            false,
            [
                "focuswindow address:0x5b",
                "alterzorder top,address:0x5b",
                "workspace name:a \"b\"",
                "togglespecialworkspace magic",
            ],
        ),
    ] {
        let (_folder, mut hyprland, called) = fake(lua);
        hyprland.focus(0x5b).unwrap();
        hyprland.show("name:a \"b\"").unwrap();
        hyprland.put_away(0x5d).unwrap();
        // Not on a special workspace.
        hyprland.put_away(0x5a).unwrap();
        assert_eq!(called.try_iter().collect::<Vec<_>>(), expected);
    }
}
