//! Counts the bytes of a socket that its process has not read, by the kernel's socket diagnostics
//! (sock_diag(7)), which any user may ask.
//!
//! A Wayland compositor ends a client whose socket is full: some 200 unread events.

use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::Duration;

use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink, recv, send, socket_with,
};

use crate::wait;

/// `linux/sock_diag.h`, `linux/netlink.h`
const SOCK_DIAG_BY_FAMILY: u16 = 20;
const NLM_F_REQUEST: u16 = 1;

/// `linux/unix_diag.h`: request flags and the attributes that they select.
const SHOW_NAME: u32 = 1;
const SHOW_PEER: u32 = 4;
const SHOW_QUEUE: u32 = 16;
const NAME: u16 = 0;
const PEER: u16 = 2;
const QUEUE: u16 = 4;

/// The lengths of a netlink header, and of a response up to its attributes.
const HEADER: usize = 16;
const FIXED: usize = HEADER + 16;

/// The kernel answers at once.
const PATIENCE: Duration = Duration::from_millis(100);

/// A process's end of a connection to a socket in the file system.
#[derive(Debug)]
pub struct Unread {
    kernel: OwnedFd,
    inode: u32,
}

impl Unread {
    /// The connection of this process to the socket with this path. `None` if it has none.
    pub fn find(pid: u32, path: &Path) -> Option<Self> {
        let kernel = socket_with(
            AddressFamily::NETLINK,
            SocketType::RAW,
            SocketFlags::CLOEXEC,
            Some(netlink::SOCK_DIAG),
        );
        let kernel = kernel.ok()?;
        let wanted = path.as_os_str().as_encoded_bytes();
        let leads_there = |inode: &u32| {
            let peer = ask(&kernel, *inode, SHOW_PEER, PEER).ok()??;
            let name = ask(&kernel, number(&peer)?, SHOW_NAME, NAME).ok()??;
            (name.strip_suffix(&[0]).unwrap_or(&name) == wanted).then_some(())
        };
        let inode = sockets(pid).find(|inode| leads_there(inode).is_some())?;
        Some(Self { kernel, inode })
    }

    /// How many bytes are unread; `None` if the process has closed the socket.
    pub fn bytes(&self) -> Option<u32> {
        let queue = ask(&self.kernel, self.inode, SHOW_QUEUE, QUEUE).ok()??;
        number(&queue)
    }
}

/// The sockets that a process has open.
fn sockets(pid: u32) -> impl Iterator<Item = u32> {
    let open = fs::read_dir(format!("/proc/{pid}/fd"));
    let links = open.into_iter().flatten().flatten();
    links.filter_map(|entry| {
        let link = fs::read_link(entry.path()).ok()?;
        let inode = link.to_str()?.strip_prefix("socket:[")?;
        inode.strip_suffix(']')?.parse().ok()
    })
}

fn number(bytes: &[u8]) -> Option<u32> {
    bytes.first_chunk().copied().map(u32::from_ne_bytes)
}

/// Asks for an attribute of a Unix socket.
fn ask(kernel: &OwnedFd, inode: u32, show: u32, wanted: u16) -> io::Result<Option<Vec<u8>>> {
    let any_cookie = u32::MAX;
    let family = u32::from(AddressFamily::UNIX.as_raw()).to_le_bytes();
    let mut request = Vec::with_capacity(HEADER + 24);
    request.extend(40_u32.to_ne_bytes());
    request.extend(SOCK_DIAG_BY_FAMILY.to_ne_bytes());
    request.extend(NLM_F_REQUEST.to_ne_bytes());
    request.extend([0; 8]);
    request.extend(family);
    for word in [u32::MAX, inode, show, any_cookie, any_cookie] {
        request.extend(word.to_ne_bytes());
    }
    send(kernel, &request, SendFlags::empty())?;
    if !wait::readable(kernel, PATIENCE)? {
        return Ok(None);
    }
    let mut answer = [0; 1024];
    let (_, length) = recv(kernel, &mut answer[..], RecvFlags::DONTWAIT)?;
    Ok(attribute(&answer[..length.min(1024)], wanted))
}

/// An attribute of an answer; `None` where the answer is an error.
fn attribute(answer: &[u8], wanted: u16) -> Option<Vec<u8>> {
    let short = |at: usize| Some(u16::from_ne_bytes(*answer.get(at..)?.first_chunk()?));
    if short(4)? != SOCK_DIAG_BY_FAMILY {
        return None;
    }
    let mut at = FIXED;
    loop {
        let (length, kind) = (usize::from(short(at)?), short(at + 2)?);
        if kind == wanted {
            return answer.get(at + 4..at + length).map(<[u8]>::to_vec);
        }
        at += length.max(4).next_multiple_of(4);
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::os::unix::net::{UnixListener, UnixStream};

    use super::*;

    #[test]
    fn unread_bytes_are_counted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let listener = UnixListener::bind(&path).unwrap();
        let mut client = UnixStream::connect(&path).unwrap();
        let (mut server, _) = listener.accept().unwrap();
        let unread = Unread::find(std::process::id(), &path).unwrap();
        assert_eq!(unread.bytes(), Some(0));
        server.write_all(&[7; 300]).unwrap();
        assert_eq!(unread.bytes(), Some(300));
        client.read_exact(&mut [0; 200]).unwrap();
        assert_eq!(unread.bytes(), Some(100));
        drop(client);
        assert_eq!(unread.bytes(), None);
        assert!(Unread::find(std::process::id(), &folder.path().join("other")).is_none());
    }
}
