//! The processes at the other ends of the sockets that a process has accepted, by the kernel's own
//! list of sockets (sock_diag(7)): `/proc` does not show which two belong together.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::time::Duration;

use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink, recv, send, socket_with,
};

/// How long the kernel may take for each part of its list.
const PATIENCE: Duration = Duration::from_millis(200);

/// `linux/netlink.h`, `linux/sock_diag.h` and `linux/unix_diag.h`.
const NLMSG_DONE: u16 = 3;
const SOCK_DIAG_BY_FAMILY: u16 = 20;
const NLM_F_REQUEST_DUMP: u16 = 0x301;
const AF_UNIX: u8 = 1;
const SHOW_NAME_AND_PEER: u32 = 1 | 4;
const UNIX_DIAG_NAME: u16 = 0;
const UNIX_DIAG_PEER: u16 = 2;
const HEADER: usize = 16;
const SOCKET: usize = 16;

/// The processes that are connected to sockets on which `pid` listens, without `pid` itself, in
/// ascending order. Empty if that cannot be seen: of another user's process, or without sock_diag.
pub fn connected_to(pid: u32) -> Vec<u32> {
    let own: HashSet<u32> = sockets_of(pid).collect();
    let peers: HashSet<u32> = accepted()
        .unwrap_or_default()
        .into_iter()
        .filter_map(|(socket, peer)| own.contains(&socket).then_some(peer))
        .collect();
    if peers.is_empty() {
        return Vec::new();
    }
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let mut clients: Vec<u32> = pids
        .filter(|other| *other != pid && sockets_of(*other).any(|s| peers.contains(&s)))
        .collect();
    clients.sort_unstable();
    clients
}

/// The inodes of a process's sockets.
fn sockets_of(pid: u32) -> impl Iterator<Item = u32> {
    let files = fs::read_dir(format!("/proc/{pid}/fd")).into_iter();
    files.flatten().flatten().filter_map(|file| {
        let target = fs::read_link(file.path()).ok()?;
        let inode = target.to_str()?.strip_prefix("socket:[")?.strip_suffix(']');
        inode?.parse().ok()
    })
}

/// The accepted unix sockets with their peers, by inode. Only these have both a name, which is the
/// listener's, and a peer.
fn accepted() -> io::Result<HashMap<u32, u32>> {
    let protocol = Some(netlink::SOCK_DIAG);
    let (family, kind) = (AddressFamily::NETLINK, SocketType::RAW);
    let socket = socket_with(family, kind, SocketFlags::CLOEXEC, protocol)?;
    set_socket_timeout(&socket, Timeout::Recv, Some(PATIENCE))?;
    send(&socket, &request(), SendFlags::empty())?;
    let mut found = HashMap::new();
    let mut part = vec![0; 64 << 10];
    loop {
        let (_, length) = recv(&socket, part.as_mut_slice(), RecvFlags::empty())?;
        let mut rest = part.get(..length).unwrap_or_default();
        while let Some((kind, message)) = next_message(&mut rest) {
            match kind {
                SOCK_DIAG_BY_FAMILY => found.extend(socket_and_peer(message)),
                NLMSG_DONE => return Ok(found),
                _ => return Err(io::ErrorKind::Unsupported.into()),
            }
        }
    }
}

/// `struct nlmsghdr` and `struct unix_diag_req`.
fn request() -> Vec<u8> {
    let mut request = Vec::new();
    request.extend(40_u32.to_ne_bytes());
    request.extend(SOCK_DIAG_BY_FAMILY.to_ne_bytes());
    request.extend(NLM_F_REQUEST_DUMP.to_ne_bytes());
    request.extend([0; 8]);
    request.extend([AF_UNIX, 0, 0, 0]);
    let every_state = u32::MAX;
    for number in [every_state, 0, SHOW_NAME_AND_PEER, 0, 0] {
        request.extend(number.to_ne_bytes());
    }
    request
}

/// The type and the content of the next message. `None` at the end, and for one that is cut.
fn next_message<'a>(rest: &mut &'a [u8]) -> Option<(u16, &'a [u8])> {
    let length = u32_at(rest, 0)? as usize;
    let message = rest.get(HEADER..length)?;
    let kind = u16_at(rest, 4)?;
    *rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
    Some((kind, message))
}

/// The inodes of an accepted socket and its peer: `struct unix_diag_msg` and its attributes.
fn socket_and_peer(message: &[u8]) -> Option<(u32, u32)> {
    let socket = u32_at(message, 4)?;
    let (mut named, mut peer) = (false, None);
    let mut rest = message.get(SOCKET..)?;
    while let Some(length) = u16_at(rest, 0).map(usize::from).filter(|l| *l >= 4) {
        match u16_at(rest, 2)? {
            UNIX_DIAG_NAME => named = length > 4,
            UNIX_DIAG_PEER => peer = u32_at(rest, 4),
            _ => {}
        }
        rest = rest.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    Some((socket, peer.filter(|peer| named && *peer != 0)?))
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
    use std::os::unix::net::UnixListener;
    use std::process::{Command, Stdio};

    #[test]
    fn a_client_is_found_by_its_connection() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let listener = UnixListener::bind(&path).unwrap();
        assert_eq!(connected_to(std::process::id()), [], "nobody is connected");
        let script = "import socket,sys; s=socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); \
                      sys.stdin.read()";
        let mut client = Command::new("python3")
            .args(["-c", script])
            .arg(&path)
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        let _accepted = listener.accept().unwrap();
        let found = connected_to(std::process::id());
        drop(client.stdin.take());
        client.wait().unwrap();
        assert_eq!(found, [client.id()]);
    }

    #[test]
    fn a_cut_message_is_none() {
        let whole = request();
        for length in 0..whole.len() {
            assert!(next_message(&mut &whole[..length]).is_none(), "{length}");
        }
        assert_eq!(socket_and_peer(&[0; 7]), None);
    }
}
