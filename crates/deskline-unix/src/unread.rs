//! Counts the bytes of a socket that its process has not read.
//!
//! A Wayland compositor disconnects a client whose socket is full, which takes about 200 unread
//! events.

use std::path::Path;

use crate::sock_diag::{Sockets, inodes_of};

/// A process's end of a connection to a socket in the file system.
#[derive(Debug)]
pub struct Unread {
    sockets: Sockets,
    inode: u32,
}

impl Unread {
    /// Finds the connection of the process `pid` to the socket at `path`. `None` if there is none.
    pub fn find(pid: u32, path: &Path) -> Option<Self> {
        let sockets = Sockets::connect().ok()?;
        let wanted = path.as_os_str().as_encoded_bytes();
        let leads_there = |inode: &u32| {
            let peer = sockets.get(*inode).and_then(|socket| socket.peer);
            let name = peer
                .and_then(|peer| sockets.get(peer))
                .map(|peer| peer.name);
            name.is_some_and(|name| name.strip_suffix(&[0]).unwrap_or(&name) == wanted)
        };
        let inode = inodes_of(pid).find(leads_there)?;
        Some(Self { sockets, inode })
    }

    /// How many bytes are unread; `None` if the process has closed the socket.
    pub fn bytes(&self) -> Option<u32> {
        self.sockets.get(self.inode)?.unread
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
