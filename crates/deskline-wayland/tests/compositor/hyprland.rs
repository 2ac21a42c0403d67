//! A compositor that also has a socket like Hyprland's, as read in the source of 0.56.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixListener;
use std::sync::Arc;

use deskline_contract::{Display as _, Screen as _, WindowId};
use deskline_core::Rect;
use deskline_input::{Aim, Cancel, Click};
use deskline_wayland::{OwnSocket, SwayDisplay};
use serde_json::{Value, json};

use super::server::desktop::Desktop;
use super::server::{Options, Server};
use super::{PERSONS, TARGET, TARGETS, at, desktop};

/// Answers requests at this path. Of the dispatchers, it knows only those that call a Lua function.
fn answer(server: &Arc<Server>, listener: &UnixListener) {
    while let Ok((mut stream, _)) = listener.accept() {
        let mut request = [0; 1024];
        let read = stream.read(&mut request).unwrap_or(0);
        let request = String::from_utf8_lossy(&request[..read]).into_owned();
        let answer = server.with(move |state| reply(&request, &mut state.desktop));
        let _ = stream.write_all(answer.as_bytes());
    }
}

fn address(index: usize) -> String {
    format!("0x{:x}", 0x5550_0000 + index)
}

fn reply(request: &str, desktop: &mut Desktop) -> String {
    let workspace = json!({"id": 1, "name": "1"});
    let client = |index: usize| {
        let window = &desktop.windows[index];
        let Rect { x, y, w, h } = window.place;
        json!({
            "address": address(index), "hidden": false, "at": [x, y], "size": [w, h],
            "workspace": workspace, "floating": true, "monitor": 0, "title": window.title,
            "pid": window.pid, "xwayland": false, "pinned": false, "fullscreen": 0,
            "focusHistoryID": 0,
        })
    };
    let told: Value = match request {
        "j/clients" => desktop.stack.iter().copied().map(client).collect(),
        "j/activewindow" => desktop.active.map_or(json!({}), client),
        "j/monitors" => json!([{
            "id": 0, "x": 0, "y": 0, "width": 480, "height": 320, "scale": 1.0, "transform": 0,
            "activeWorkspace": workspace, "specialWorkspace": {"id": 0, "name": ""},
        }]),
        "j/activeworkspace" => workspace,
        _ => {
            let focus = |index: &usize| {
                let address = address(*index);
                request == format!("/dispatch hl.dsp.focus({{ window = 'address:{address}' }})")
            };
            if let Some(index) = (0..desktop.windows.len()).find(focus) {
                desktop.activate(index);
            }
            let known = request.starts_with("/dispatch hl.dsp.");
            return if known { "ok" } else { "Invalid dispatcher" }.to_owned();
        }
    };
    told.to_string()
}

#[test]
fn windows_on_hyprland_are_raised_clicked_typed_into_and_pictured() {
    let server = Server::start(desktop(), Options::default());
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(".socket.sock");
    let listener = UnixListener::bind(&path).expect("a socket");
    let answering = Arc::clone(&server);
    std::thread::spawn(move || answer(&answering, &listener));
    let own = OwnSocket::Hyprland(path);
    let display = SwayDisplay::connect(&server.socket(), &own);
    let mut display = display.expect("a display");

    let windows = display.every_window().expect("the windows");
    let pids: Vec<_> = windows.iter().map(|window| window.pid).collect();
    assert_eq!(pids, [Some(PERSONS), Some(TARGETS)]);
    let target = windows[1].id;
    assert_eq!(target, WindowId(0x5550_0000 + TARGET as u64));
    let place = server.with(|state| state.desktop.windows[TARGET].place);
    assert_eq!(windows[1].extents, Some(place));

    display.set_aim(Aim::new(TARGETS, None));
    let raising = display.raising().expect("windows are raised");
    raising
        .activate(target, &Cancel::new())
        .expect("the target in front");
    let pointer = display.pointer_input().expect("a pointer");
    let click = Click::left(at(place.x + 33, place.y + 44));
    pointer
        .click(click, &mut || None, &Cancel::new())
        .expect("a click");
    let keys = display.key_input().expect("keys");
    keys.type_text("Grüße", &Cancel::new()).expect("a text");
    let got = server.with(|state| state.desktop.windows[TARGET].clone());
    let points: Vec<_> = got.buttons.iter().map(|(_, _, at)| *at).collect();
    assert_eq!(points, [at(33, 44), at(33, 44)]);
    assert_eq!(got.text, "Grüße");

    let pictures = display.pictures().expect("pictures");
    let picture = pictures.picture(target).expect("a picture");
    assert_eq!((picture.width, picture.height), (300, 200));
    let first = server.with(move |state| state.desktop.colour(at(place.x, place.y)));
    assert_eq!(picture.rgb[..3], first.to_be_bytes()[1..]);
    assert!(server.with(|state| {
        let persons = &state.desktop.windows[0];
        persons.buttons.is_empty() && persons.text.is_empty()
    }));
}
