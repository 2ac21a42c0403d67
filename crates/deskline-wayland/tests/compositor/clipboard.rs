//! The clipboard: lent for a paste, and given back with all its types.

use std::sync::Arc;
use std::time::{Duration, Instant};

use deskline_contract::Clipboard as _;
use deskline_contract::clipboard::{HINT, HINT_DATA};
use deskline_input::Cancel;

use super::desktop;
use super::server::clipboard::read;
use super::server::{Options, Server};

const PICTURE: &[u8] = &[0x89, b'P', b'N', b'G', 0, 255];

/// The person's copied data, of three types.
fn copied() -> [(&'static str, Vec<u8>); 3] {
    [
        ("text/html", b"<b>word</b>".to_vec()),
        ("text/plain;charset=utf-8", b"word".repeat(100_000)),
        ("image/png", PICTURE.to_vec()),
    ]
}

fn bed() -> Arc<Server> {
    let server = Server::start(desktop(), Options::default());
    server.with(|state| {
        let data = copied();
        let data: Vec<(&str, &[u8])> = data.iter().map(|(k, d)| (*k, d.as_slice())).collect();
        state.copy(&data);
    });
    server
}

/// The data that a pasting app receives.
fn pasted(server: &Server, kind: &'static str) -> Vec<u8> {
    read(server.with(|state| state.paste(kind)))
}

/// The person's clipboard, saved, with this text in its place.
fn lent(server: &Server, text: &str) -> impl deskline_contract::Clipboard + use<> {
    let mut clipboard = deskline_wayland::clipboard::start(&server.socket()).expect("a clipboard");
    clipboard
        .save(&Cancel::new())
        .expect("the clipboard is saved");
    clipboard
        .offer(text, std::process::id(), &Cancel::new())
        .expect("the text is offered");
    clipboard
}

#[test]
fn the_clipboard_is_lent_and_given_back_with_all_its_types() {
    let server = bed();
    let mut clipboard = lent(&server, "Grüße\n");
    assert_eq!(
        pasted(&server, "text/plain;charset=utf-8"),
        "Grüße\n".as_bytes()
    );
    assert_eq!(pasted(&server, HINT), HINT_DATA);
    assert!(clipboard.await_reader(&Cancel::new()).expect("a reader"));
    clipboard.give_back().expect("the clipboard is given back");
    for (kind, data) in copied() {
        assert_eq!(pasted(&server, kind), data, "{kind}");
    }
    let mut types = server.with(|state| state.types());
    types.sort_unstable();
    assert_eq!(
        types,
        ["image/png", "text/html", "text/plain;charset=utf-8"]
    );
}

#[test]
fn data_that_the_person_copies_meanwhile_stays_on_the_clipboard() {
    let server = bed();
    let mut clipboard = lent(&server, "agent");
    server.with(|state| state.copy(&[("text/plain", b"newer")]));
    clipboard
        .give_back()
        .expect("there is nothing to give back");
    assert_eq!(pasted(&server, "text/plain"), b"newer");
}

#[test]
fn a_clipboard_owner_that_gives_no_data_is_not_awaited_for_long() {
    let server = bed();
    server.with(|state| state.clipboard.withholds = true);
    let mut clipboard = deskline_wayland::clipboard::start(&server.socket()).expect("a clipboard");
    let begun = Instant::now();
    clipboard
        .save(&Cancel::new())
        .expect_err("it cannot be saved");
    assert!(
        begun.elapsed() < Duration::from_secs(8),
        "{:?}",
        begun.elapsed()
    );
    assert_eq!(server.with(|state| state.types()).len(), 3);
}
