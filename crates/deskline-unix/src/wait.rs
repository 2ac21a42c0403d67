//! Waits until a file descriptor is ready or a question has an answer, with a time limit.

use std::io::{self, Read};
use std::os::fd::AsFd;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

/// Blocks until one of `fds` is ready or `limit` has passed (`None`: no limit). Returns whether a
/// descriptor is ready; the `revents` of each show which. A signal handler does not end the wait.
pub fn any(fds: &mut [PollFd<'_>], limit: Option<Duration>) -> io::Result<bool> {
    let until = limit.map(|limit| Instant::now() + limit);
    loop {
        let left = until.map(|until| {
            let left = until.saturating_duration_since(Instant::now());
            Timespec {
                tv_sec: left.as_secs().cast_signed(),
                tv_nsec: left.subsec_nanos().into(),
            }
        });
        match poll(fds, left.as_ref()) {
            Ok(ready) => return Ok(ready > 0),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Blocks until `fd` is readable or at its end, or until `limit` has passed. Returns `false` at the
/// limit. A pidfd is readable once its process has ended.
pub fn readable(fd: impl AsFd, limit: Duration) -> io::Result<bool> {
    any(&mut [PollFd::new(&fd, PollFlags::IN)], Some(limit))
}

/// A reader with a deadline, after which reading fails with [`io::ErrorKind::TimedOut`].
pub struct Until<R>(pub R, pub Instant);

impl<R: Read + AsFd> Read for Until<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let left = self.1.saturating_duration_since(Instant::now());
        if left.is_zero() || !readable(&self.0, left)? {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.0.read(into)
    }
}

/// Receives until `accept` returns a value. `None` after `limit`, or once all senders are dropped.
pub fn received<T, R>(
    from: &Receiver<T>,
    limit: Duration,
    accept: impl FnMut(T) -> Option<R>,
) -> Option<R> {
    let until = Instant::now() + limit;
    let left = || until.saturating_duration_since(Instant::now());
    std::iter::from_fn(|| from.recv_timeout(left()).ok()).find_map(accept)
}

/// Calls `ask` at intervals of `every` until it returns an answer; for the last time once `limit`
/// has passed. Links use `deskline_input::wait` instead, whose waits can be cancelled.
pub fn until<T>(limit: Duration, every: Duration, mut ask: impl FnMut() -> Option<T>) -> Option<T> {
    let start = Instant::now();
    loop {
        let answer = ask();
        if answer.is_some() || start.elapsed() >= limit {
            return answer;
        }
        // Wait and ask again, because no event reports what `ask` looks for.
        let _ = any(&mut [], Some(every));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    #[test]
    fn a_wait_ends_with_data_or_at_the_limit() {
        let (reader, mut writer) = io::pipe().unwrap();
        let start = Instant::now();
        assert!(!readable(&reader, Duration::from_millis(50)).unwrap());
        assert!(start.elapsed() >= Duration::from_millis(50));
        writer.write_all(b"x").unwrap();
        assert!(readable(&reader, Duration::from_secs(60)).unwrap());
        assert!(start.elapsed() < Duration::from_secs(30));
    }
}
