//! The X11 connection of a session, with its cookie.
//!
//! x11rb takes the cookie from this process's own environment, which is not the session's.

use std::fs;
use std::path::PathBuf;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use deskline_link::{Error, Result};
use x11rb::reexports::x11rb_protocol::parse_display::{ParsedDisplay, parse_display};
use x11rb::rust_connection::{DefaultStream, RustConnection};

use super::Session;

/// The only authorization that local servers use. Xsecurity(7).
const COOKIE: &[u8] = b"MIT-MAGIC-COOKIE-1";
/// Address families of Xau(3): this host, and any.
const LOCAL: u16 = 256;
const WILD: u16 = 0xffff;

/// A server that takes longer to greet us is hung.
const TIMEOUT: Duration = Duration::from_secs(5);

pub(super) fn connect(session: &Session) -> Result<(RustConnection, usize)> {
    let Some(name) = session.display.clone() else {
        return Err(Error::Unavailable(session.missing().join(" ")));
    };
    let display =
        parse_display(Some(&name)).map_err(Error::system("reading the name of the display"))?;
    let file = session
        .xauthority
        .clone()
        .or_else(|| session.home().map(|home| home.join(".Xauthority")));
    let (sender, receiver) = mpsc::channel();
    // x11rb waits for the greeting without a limit: on a thread it cannot take us with it.
    thread::spawn(move || drop(sender.send(greet(&display, file))));
    receiver.recv_timeout(TIMEOUT).unwrap_or_else(|_| {
        Err(Error::Unavailable(format!(
            "the X server of display {name} does not answer within {} s",
            TIMEOUT.as_secs()
        )))
    })
}

fn greet(display: &ParsedDisplay, file: Option<PathBuf>) -> Result<(RustConnection, usize)> {
    let stream = display
        .connect_instruction()
        .find_map(|address| DefaultStream::connect(&address).ok())
        .ok_or_else(|| {
            Error::Unavailable(format!(
                "no X server listens on display :{}",
                display.display
            ))
        })?
        .0;
    let (name, cookie) = file
        .and_then(|file| cookie(&fs::read(file).ok()?, display.display))
        .map_or((vec![], vec![]), |cookie| (COOKIE.to_vec(), cookie));
    let screen = usize::from(display.screen);
    RustConnection::connect_to_stream_with_auth_info(stream, screen, name, cookie)
        .map(|connection| (connection, screen))
        .map_err(Error::system("connecting to the X server"))
}

/// The cookie for a display of this host in an Xauthority file. Xau(3): entries of a family, then
/// address, display number, name and data, each with its length in 16 bits, all big-endian.
fn cookie(mut file: &[u8], display: u16) -> Option<Vec<u8>> {
    let host = host();
    let display = display.to_string();
    let mut best = None;
    while let Some((family, rest)) = u16_of(file) {
        let (address, rest) = bytes_of(rest)?;
        let (number, rest) = bytes_of(rest)?;
        let (name, rest) = bytes_of(rest)?;
        let (data, rest) = bytes_of(rest)?;
        file = rest;
        let ours = name == COOKIE && (number.is_empty() || number == display.as_bytes());
        if ours && (family == WILD || family == LOCAL && address == host) {
            return Some(data.to_vec());
        }
        // The host may have been renamed since.
        if ours && family == LOCAL && best.is_none() {
            best = Some(data.to_vec());
        }
    }
    best
}

fn u16_of(bytes: &[u8]) -> Option<(u16, &[u8])> {
    let (head, rest) = bytes.split_first_chunk()?;
    Some((u16::from_be_bytes(*head), rest))
}

fn bytes_of(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = u16_of(bytes)?;
    rest.split_at_checked(length.into())
}

/// The name of this host.
fn host() -> Vec<u8> {
    let host = fs::read("/proc/sys/kernel/hostname").unwrap_or_default();
    host.trim_ascii_end().to_vec()
}

/// An Xauthority file with one cookie, good for any display: of any address, and of this host for
/// those that know no other, as python-xlib does.
pub(crate) fn xauthority(cookie: [u8; 16]) -> Vec<u8> {
    [entry(WILD, b"", &cookie), entry(LOCAL, &host(), &cookie)].concat()
}

fn entry(family: u16, address: &[u8], cookie: &[u8]) -> Vec<u8> {
    let mut bytes = family.to_be_bytes().to_vec();
    for part in [address, b"", COOKIE, cookie] {
        bytes.extend((part.len() as u16).to_be_bytes());
        bytes.extend(part);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_is_found_again_and_a_cut_file_is_none() {
        assert_eq!(cookie(&xauthority([7; 16]), 3), Some(vec![7; 16]));
        let local = entry(LOCAL, &host(), &[7; 16]);
        assert_eq!(cookie(&local, 3), Some(vec![7; 16]));
        let file = entry(WILD, b"", &[7; 16]);
        for cut in 0..file.len() {
            assert_eq!(cookie(&file[..cut], 3), None, "cut at {cut}");
        }
    }

    #[test]
    fn the_entry_of_the_display_is_taken() {
        let entry = |number: &[u8], cookie: &[u8]| {
            let mut bytes = LOCAL.to_be_bytes().to_vec();
            for part in [b"elsewhere", number, COOKIE, cookie] {
                bytes.extend((part.len() as u16).to_be_bytes());
                bytes.extend(part);
            }
            bytes
        };
        let file = [entry(b"0", b"zero"), entry(b"1", b"one")].concat();
        assert_eq!(cookie(&file, 1), Some(b"one".to_vec()));
        assert_eq!(cookie(&file, 2), None);
    }
}
