//! Finds the user of a connection over loopback.

use std::fs;
use std::net::{SocketAddr, SocketAddrV4};

/// Whether the client at `peer`, connected to `own`, is a process of this user. `None` where the
/// system does not report it.
pub(crate) fn is_of_this_user(peer: SocketAddr, own: SocketAddr) -> Option<bool> {
    let (SocketAddr::V4(peer), SocketAddr::V4(own)) = (peer, own) else {
        return None;
    };
    let table = fs::read_to_string("/proc/net/tcp").ok()?;
    Some(owner(&table, peer, own) == Some(user()?))
}

#[cfg(unix)]
#[allow(clippy::unnecessary_wraps)] // other systems have no such number
fn user() -> Option<u32> {
    Some(rustix::process::geteuid().as_raw())
}

#[cfg(not(unix))]
fn user() -> Option<u32> {
    None
}

/// The user of the socket at `peer` that is connected to `own`: proc_net_tcp(5).
fn owner(table: &str, peer: SocketAddrV4, own: SocketAddrV4) -> Option<u32> {
    let hex = |address: SocketAddrV4| {
        // The kernel prints the address as a number in the machine's byte order.
        let ip = u32::from_ne_bytes(address.ip().octets());
        format!("{ip:08X}:{:04X}", address.port())
    };
    let (peer, own) = (hex(peer), hex(own));
    table.lines().skip(1).find_map(|line| {
        let mut fields = line.split_ascii_whitespace().skip(1);
        let connected = fields.next()? == peer && fields.next()? == own;
        connected.then(|| fields.nth(4)?.parse().ok())?
    })
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    fn the_user_who_opened_a_connection_is_found() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (peer, own) = (client.local_addr().unwrap(), client.peer_addr().unwrap());
        if cfg!(target_os = "linux") {
            assert_eq!(is_of_this_user(peer, own), Some(true));
            assert_eq!(is_of_this_user(own, own), Some(false));
        }
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when \
             retrnsmt   uid\n   0: 0100007F:D431 0100007F:1F90 01 00000000:00000000 00:00000000 \
             00000000  1001        0 1 1\n";
        let at = |port| SocketAddrV4::new([127, 0, 0, 1].into(), port);
        if cfg!(target_endian = "little") {
            assert_eq!(owner(table, at(0xD431), at(8080)), Some(1001));
            assert_eq!(owner(table, at(0xD432), at(8080)), None);
        }
    }
}
