//! Connects to a D-Bus bus with a time limit, which zbus lacks for the connection and its
//! handshake.

use std::io;
use std::time::Duration;

use async_io::Timer;
use futures_lite::future;
use zbus::blocking::Connection;
use zbus::connection::Builder;

/// Connects to the bus at `address` within `patience`, which is also the limit of each method call.
///
/// # Errors
///
/// If there is no bus, or it does not answer in time.
pub fn connect(address: &str, patience: Duration) -> zbus::Result<Connection> {
    let build = Builder::address(address)?.method_timeout(patience).build();
    let limit = async {
        Timer::after(patience).await;
        Err(io::Error::from(io::ErrorKind::TimedOut).into())
    };
    // Dropping the other future closes its socket.
    async_io::block_on(future::or(build, limit)).map(Into::into)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read as _;
    use std::os::unix::net::UnixListener;
    use std::time::Instant;

    #[test]
    fn a_bus_that_does_not_answer_is_given_up() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bus");
        let silent = UnixListener::bind(&path).unwrap();
        let start = Instant::now();
        let address = format!("unix:path={}", path.display());
        let failed = connect(&address, Duration::from_millis(100)).unwrap_err();
        let timed_out = |e: &io::Error| e.kind() == io::ErrorKind::TimedOut;
        assert!(
            matches!(&failed, zbus::Error::InputOutput(e) if timed_out(e)),
            "{failed}"
        );
        assert!(start.elapsed() < Duration::from_secs(5));
        // The connection is closed.
        let mut read = Vec::new();
        silent.accept().unwrap().0.read_to_end(&mut read).unwrap();
    }
}
