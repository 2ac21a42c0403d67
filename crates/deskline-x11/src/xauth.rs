//! Reads a display's cookie from an `.Xauthority` file (format: `Xauth.h` of libXau). `x11rb`'s
//! reader finds the file by the environment alone, and ours may be that of another session.

use std::path::Path;

use x11rb::reexports::x11rb_protocol::xauth::Family;

/// The values of [`Family::LOCAL`] and [`Family::WILD`], which x11rb keeps private.
const LOCAL: u16 = 256;
const WILD: u16 = 0xffff;

const COOKIE: &[u8] = b"MIT-MAGIC-COOKIE-1";

/// Files larger than this are rejected: an entry takes about 50 bytes.
const MAX_FILE: u64 = 1 << 20;

struct Entry<'a> {
    family: Family,
    address: &'a [u8],
    number: &'a [u8],
    name: &'a [u8],
    data: &'a [u8],
}

/// The authorization name and data for `display` at `address`. `None` if the file has no cookie for
/// it or cannot be read: the server may admit the user without a cookie.
pub(crate) fn cookie(
    file: &Path,
    family: Family,
    address: &[u8],
    display: u16,
) -> Option<(Vec<u8>, Vec<u8>)> {
    if std::fs::metadata(file).ok()?.len() > MAX_FILE {
        return None;
    }
    find(&std::fs::read(file).ok()?, family, address, display)
}

fn find(
    mut bytes: &[u8],
    family: Family,
    address: &[u8],
    display: u16,
) -> Option<(Vec<u8>, Vec<u8>)> {
    let number = display.to_string();
    let mut renamed = None;
    while let Some((entry, rest)) = entry(bytes) {
        bytes = rest;
        let for_display = entry.number.is_empty() || entry.number == number.as_bytes();
        if entry.name != COOKIE || !for_display {
            continue;
        }
        let found = (entry.name.to_vec(), entry.data.to_vec());
        if entry.family == Family::WILD || (entry.family == family && entry.address == address) {
            return Some(found);
        }
        // After a host was renamed, the file still has its old name.
        if entry.family == family && family == Family::LOCAL {
            renamed = Some(found);
        }
    }
    renamed
}

/// The content of an Xauthority file with a cookie for any display. It has an entry for any address
/// and one for this host, as some clients, such as python-xlib, ignore the wildcard entry.
pub fn for_any_display(cookie: [u8; 16]) -> Vec<u8> {
    let host = std::fs::read("/proc/sys/kernel/hostname").unwrap_or_default();
    let of_any = record(WILD, [b"", b"", COOKIE, &cookie]);
    let of_host = [host.trim_ascii_end(), b"", COOKIE, &cookie];
    [of_any, record(LOCAL, of_host)].concat()
}

/// One entry: a family, then address, display number, name and data, each preceded by its 16-bit
/// length; all big-endian.
fn record(family: u16, parts: [&[u8]; 4]) -> Vec<u8> {
    let mut bytes = family.to_be_bytes().to_vec();
    for part in parts {
        bytes.extend((part.len() as u16).to_be_bytes());
        bytes.extend(part);
    }
    bytes
}

fn entry(bytes: &[u8]) -> Option<(Entry<'_>, &[u8])> {
    let (family, rest) = bytes.split_first_chunk::<2>()?;
    let (address, rest) = string(rest)?;
    let (number, rest) = string(rest)?;
    let (name, rest) = string(rest)?;
    let (data, rest) = string(rest)?;
    let entry = Entry {
        family: u16::from_be_bytes(*family).into(),
        address,
        number,
        name,
        data,
    };
    Some((entry, rest))
}

fn string(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<2>()?;
    rest.split_at_checked(u16::from_be_bytes(*length).into())
}

#[cfg(test)]
mod tests {
    use super::{COOKIE, Family, LOCAL, WILD, find, for_any_display, record};

    #[test]
    fn the_cookie_of_the_named_display_is_taken() {
        let file = [
            record(LOCAL, [b"host", b"1", COOKIE, b"one"]),
            record(LOCAL, [b"host", b"2", b"XDM-AUTHORIZATION-1", b"xdm"]),
            record(LOCAL, [b"host", b"2", COOKIE, b"two"]),
            record(WILD, [b"", b"", COOKIE, b"any"]),
        ]
        .concat();
        let cookie = |display| find(&file, Family::LOCAL, b"host", display).map(|found| found.1);
        assert_eq!(cookie(1), Some(b"one".to_vec()));
        assert_eq!(cookie(2), Some(b"two".to_vec()));
        assert_eq!(cookie(3), Some(b"any".to_vec()));
    }

    #[test]
    fn the_cookie_of_an_old_host_name_matches_only_its_display() {
        let file = record(LOCAL, [b"old-name", b"5", COOKIE, b"five"]);
        assert!(find(&file, Family::LOCAL, b"new-name", 5).is_some());
        assert!(find(&file, Family::LOCAL, b"new-name", 6).is_none());
        assert!(find(&file, Family::INTERNET, b"new-name", 5).is_none());
    }

    #[test]
    fn a_file_for_any_display_has_its_cookie() {
        let file = for_any_display([7; 16]);
        for display in [0, 1_234] {
            let found = find(&file, Family::LOCAL, b"any host", display);
            assert_eq!(found, Some((COOKIE.to_vec(), vec![7; 16])));
        }
    }

    #[test]
    fn a_truncated_file_has_no_cookie() {
        let file = record(LOCAL, [b"host", b"1", COOKIE, b"one"]);
        for end in 0..file.len() {
            assert!(find(&file[..end], Family::LOCAL, b"host", 1).is_none());
        }
    }
}
