//! The kernel's list of Unix sockets (sock_diag(7)), which any user may read.

use std::os::fd::OwnedFd;
use std::time::Duration;
use std::{fs, io};

use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink, recv, send, socket_with,
};

/// How long the kernel may take for each part of its list of sockets.
const PATIENCE: Duration = Duration::from_millis(200);

/// Constants of `linux/netlink.h`, `linux/sock_diag.h` and `linux/unix_diag.h`.
const NLMSG_DONE: u16 = 3;
const SOCK_DIAG_BY_FAMILY: u16 = 20;
const NLM_F_REQUEST: u16 = 1;
const NLM_F_REQUEST_DUMP: u16 = 0x301;
const AF_UNIX: u8 = 1;
const SHOW_NAME_PEER_AND_QUEUE: u32 = 1 | 4 | 16;
const UNIX_DIAG_NAME: u16 = 0;
const UNIX_DIAG_PEER: u16 = 2;
const UNIX_DIAG_RQLEN: u16 = 4;
const HEADER: usize = 16;
const SOCKET: usize = 16;

/// A connection to the kernel's list.
#[derive(Debug)]
pub(crate) struct Sockets(OwnedFd);

/// A socket, identified by its inode.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Socket {
    pub(crate) inode: u32,
    /// The path or abstract name that the socket is bound to; for an accepted socket, the
    /// listener's.
    pub(crate) name: Vec<u8>,
    pub(crate) peer: Option<u32>,
    /// How many bytes in the socket its process has not read.
    pub(crate) unread: Option<u32>,
}

impl Sockets {
    pub(crate) fn connect() -> io::Result<Self> {
        let protocol = Some(netlink::SOCK_DIAG);
        let (family, kind) = (AddressFamily::NETLINK, SocketType::RAW);
        let kernel = socket_with(family, kind, SocketFlags::CLOEXEC, protocol)?;
        set_socket_timeout(&kernel, Timeout::Recv, Some(PATIENCE))?;
        Ok(Self(kernel))
    }

    pub(crate) fn all(&self) -> io::Result<Vec<Socket>> {
        send(&self.0, &request(NLM_F_REQUEST_DUMP, 0), SendFlags::empty())?;
        let mut found = Vec::new();
        while !self.receive(&mut found)? {}
        Ok(found)
    }

    /// The socket with this inode; `None` if it is closed.
    pub(crate) fn get(&self, inode: u32) -> Option<Socket> {
        let request = request(NLM_F_REQUEST, inode);
        send(&self.0, &request, SendFlags::empty()).ok()?;
        let mut found = Vec::new();
        self.receive(&mut found).ok()?;
        found.pop()
    }

    /// Receives the next part of an answer. Returns whether the part was the end of a list.
    fn receive(&self, found: &mut Vec<Socket>) -> io::Result<bool> {
        let mut part = vec![0; 64 << 10];
        let (_, length) = recv(&self.0, part.as_mut_slice(), RecvFlags::empty())?;
        let mut rest = part.get(..length).unwrap_or_default();
        while let Some((kind, message)) = next_message(&mut rest) {
            match kind {
                SOCK_DIAG_BY_FAMILY => found.extend(socket(message)),
                NLMSG_DONE => return Ok(true),
                _ => return Err(io::ErrorKind::Unsupported.into()),
            }
        }
        Ok(false)
    }
}

/// The inodes of a process's sockets.
pub(crate) fn inodes_of(pid: u32) -> impl Iterator<Item = u32> {
    let files = fs::read_dir(format!("/proc/{pid}/fd")).into_iter();
    files.flatten().flatten().filter_map(|file| {
        let target = fs::read_link(file.path()).ok()?;
        let inode = target.to_str()?.strip_prefix("socket:[")?.strip_suffix(']');
        inode?.parse().ok()
    })
}

/// `struct nlmsghdr` and `struct unix_diag_req`.
fn request(flags: u16, inode: u32) -> Vec<u8> {
    let mut request = Vec::new();
    request.extend(40_u32.to_ne_bytes());
    request.extend(SOCK_DIAG_BY_FAMILY.to_ne_bytes());
    request.extend(flags.to_ne_bytes());
    request.extend([0; 8]);
    request.extend([AF_UNIX, 0, 0, 0]);
    let (every_state, any_cookie) = (u32::MAX, [u8::MAX; 8]);
    for number in [every_state, inode, SHOW_NAME_PEER_AND_QUEUE] {
        request.extend(number.to_ne_bytes());
    }
    request.extend(any_cookie);
    request
}

/// The type and the content of the next message. `None` at the end, and for a truncated message.
fn next_message<'a>(rest: &mut &'a [u8]) -> Option<(u16, &'a [u8])> {
    let length = u32_at(rest, 0)? as usize;
    let message = rest.get(HEADER..length)?;
    let kind = u16_at(rest, 4)?;
    *rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
    Some((kind, message))
}

/// `struct unix_diag_msg` and its attributes.
fn socket(message: &[u8]) -> Option<Socket> {
    let mut socket = Socket {
        inode: u32_at(message, 4)?,
        ..Socket::default()
    };
    let mut rest = message.get(SOCKET..)?;
    while let Some(length) = u16_at(rest, 0).map(usize::from).filter(|l| *l >= 4) {
        match u16_at(rest, 2)? {
            UNIX_DIAG_NAME => socket.name = rest.get(4..length)?.to_vec(),
            UNIX_DIAG_PEER => socket.peer = u32_at(rest, 4).filter(|peer| *peer != 0),
            UNIX_DIAG_RQLEN => socket.unread = u32_at(rest, 4),
            _ => {}
        }
        rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    Some(socket)
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at + 4)?.try_into().ok()?;
    Some(u32::from_ne_bytes(bytes))
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    let bytes = bytes.get(at..at + 2)?.try_into().ok()?;
    Some(u16::from_ne_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_truncated_message_gives_nothing() {
        let whole = request(NLM_F_REQUEST, 0);
        for length in 0..whole.len() {
            assert!(next_message(&mut &whole[..length]).is_none(), "{length}");
        }
        assert_eq!(socket(&[0; 7]), None);
    }
}
