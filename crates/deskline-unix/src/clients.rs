//! The processes at the other ends of the sockets that a process has accepted. Asks sock_diag,
//! because `/proc` does not show which two sockets are connected.

use std::collections::HashSet;
use std::io;

use crate::process;
use crate::sock_diag::{Sockets, inodes_of};

/// The processes that are connected to sockets on which `pid` listens, without `pid` itself, in
/// ascending order. Empty if they cannot be found: `pid` is another user's, the kernel has no
/// sock_diag, or the clients are in another network namespace. The kernel lists an accepted socket
/// in the namespace of its client.
pub fn connected_to(pid: u32) -> Vec<u32> {
    let own: HashSet<u32> = inodes_of(pid).collect();
    let peers = peers_of(&own).unwrap_or_default();
    if peers.is_empty() {
        return Vec::new();
    }
    let mut clients: Vec<u32> = process::all()
        .filter(|other| *other != pid && inodes_of(*other).any(|s| peers.contains(&s)))
        .collect();
    clients.sort_unstable();
    clients
}

/// The peers of those sockets in `own` that were accepted. Only an accepted socket has both a peer
/// and a name, namely the listener's.
fn peers_of(own: &HashSet<u32>) -> io::Result<HashSet<u32>> {
    let sockets = Sockets::connect()?.all()?.into_iter();
    let accepted = sockets.filter(|s| own.contains(&s.inode) && !s.name.is_empty());
    Ok(accepted.filter_map(|socket| socket.peer).collect())
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
}
