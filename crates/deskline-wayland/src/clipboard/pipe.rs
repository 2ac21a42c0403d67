//! The pipes that carry clipboard data, and the process that reads at the other end.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{fs, io};

use deskline_unix::family::Family;
use rustix::fs::{FileType, OFlags, fcntl_getfl, fcntl_setfl, fstat};
use rustix::io::Errno;

/// A transfer ends if the client reads nothing for this long.
const STALLS: Duration = Duration::from_secs(10);

/// Data on its way to a client.
#[derive(Debug)]
pub(crate) struct Writer {
    pipe: OwnedFd,
    data: Arc<[u8]>,
    written: usize,
    last: Instant,
    /// Whether the data is the agent's text and its reader is the process that the text is for.
    pub(crate) to_reader: bool,
}

/// The state of a transfer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Progress {
    More,
    /// All data is written.
    Done,
    /// The client is gone, or has stopped reading.
    Lost,
}

impl Writer {
    pub(crate) fn new(pipe: OwnedFd, data: Arc<[u8]>, to_reader: bool) -> io::Result<Self> {
        let flags = fcntl_getfl(&pipe)?;
        fcntl_setfl(&pipe, flags | OFlags::NONBLOCK)?;
        Ok(Self {
            pipe,
            data,
            written: 0,
            last: Instant::now(),
            to_reader,
        })
    }

    pub(crate) fn pipe(&self) -> BorrowedFd<'_> {
        self.pipe.as_fd()
    }

    /// Writes as much as fits into the pipe now.
    pub(crate) fn write(&mut self) -> Progress {
        loop {
            let rest = self.data.get(self.written..).unwrap_or_default();
            if rest.is_empty() {
                return Progress::Done;
            }
            match rustix::io::write(&self.pipe, rest) {
                Ok(n) => {
                    self.written += n;
                    self.last = Instant::now();
                }
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) if self.last.elapsed() < STALLS => return Progress::More,
                Err(_) => return Progress::Lost,
            }
        }
    }
}

/// Whether `app`, or a process that it has started, reads from `pipe`. For an app in Xwayland, the
/// compositor reads. Returns `true` if the reader is unknown.
///
/// The protocol does not name the client that asks for data, and clipboard managers ask too.
pub(crate) fn is_read_by(pipe: &OwnedFd, app: u32, compositor: u32) -> bool {
    let inode = match fstat(pipe) {
        Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::Fifo => stat.st_ino,
        _ => return true,
    };
    let link = format!("pipe:[{inode}]");
    let family = Family::new(app);
    let mut readers = family.pids().iter().chain([&compositor]);
    readers.any(|pid| may_hold(*pid, &link))
}

/// Whether the process has this file open, or its open files cannot be listed.
fn may_hold(pid: u32, link: &str) -> bool {
    let Ok(open) = fs::read_dir(format!("/proc/{pid}/fd")) else {
        return true;
    };
    let mut links = open
        .flatten()
        .filter_map(|fd| fs::read_link(fd.path()).ok());
    links.any(|it| it.as_os_str() == link)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::pipe::{PipeFlags, pipe_with};

    #[test]
    fn the_process_that_reads_a_pipe_is_recognized() {
        let (_reader, writer) = pipe_with(PipeFlags::CLOEXEC).unwrap();
        let own = std::process::id();
        let mut other = std::process::Command::new("sleep");
        let mut other = other.arg("60").spawn().unwrap();
        let others = other.id();
        assert!(is_read_by(&writer, own, others));
        assert!(!is_read_by(&writer, others, others));
        other.kill().unwrap();
        other.wait().unwrap();
    }

    #[test]
    fn a_text_longer_than_the_pipe_is_written_as_its_reader_reads() {
        let (reader, writer) = pipe_with(PipeFlags::CLOEXEC).unwrap();
        let data: Arc<[u8]> = vec![7; 1 << 20].into();
        let mut writer = Writer::new(writer, data, true).unwrap();
        assert_eq!(writer.write(), Progress::More);
        let read = std::thread::spawn(move || {
            let mut all = Vec::new();
            io::Read::read_to_end(&mut fs::File::from(reader), &mut all).unwrap();
            all.len()
        });
        while writer.write() == Progress::More {
            std::thread::yield_now();
        }
        drop(writer);
        assert_eq!(read.join().unwrap(), 1 << 20);
    }
}
