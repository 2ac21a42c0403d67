//! Waits until a file descriptor is ready or a question has an answer, with a time limit.

use std::io::{self, Read};
use std::os::fd::AsFd;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

/// Blocks until one of `fds` is ready or `limit` has passed (`None`: no limit). Returns whether one
/// is ready; its `revents` show which. A signal handler does not end the wait.
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

/// Blocks until `fd` is readable or at its end, or until `limit` has passed. Returns whether it is.
/// A pidfd is readable once its process has ended.
pub fn readable(fd: impl AsFd, limit: Duration) -> io::Result<bool> {
    any(&mut [PollFd::new(&fd, PollFlags::IN)], Some(limit))
}

/// Reads until a deadline. A later read is [`io::ErrorKind::TimedOut`].
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

/// Receives until something is accepted. `None` after `limit`, or if nobody sends any more.
pub fn received<T, R>(
    from: &Receiver<T>,
    limit: Duration,
    accept: impl FnMut(T) -> Option<R>,
) -> Option<R> {
    let until = Instant::now() + limit;
    let left = || until.saturating_duration_since(Instant::now());
    std::iter::from_fn(|| from.recv_timeout(left()).ok()).find_map(accept)
}

/// Asks every `every` until there is an answer; last once `limit` has passed. A link's waits are
/// `deskline_input::wait`'s, which can be cancelled.
pub fn until<T>(limit: Duration, every: Duration, mut ask: impl FnMut() -> Option<T>) -> Option<T> {
    let start = Instant::now();
    loop {
        let answer = ask();
        if answer.is_some() || start.elapsed() >= limit {
            return answer;
        }
        // No event reports what is asked.
        let _ = any(&mut [], Some(every));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    #[test]
    fn waits_for_data_and_no_longer_than_the_limit() {
        let (reader, mut writer) = io::pipe().unwrap();
        let start = Instant::now();
        assert!(!readable(&reader, Duration::from_millis(50)).unwrap());
        assert!(start.elapsed() >= Duration::from_millis(50));
        writer.write_all(b"x").unwrap();
        assert!(readable(&reader, Duration::from_secs(60)).unwrap());
        assert!(start.elapsed() < Duration::from_secs(30));
    }
}
