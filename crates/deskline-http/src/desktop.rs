//! A desktop of the fleet: this program as a server on standard input and output, with a private
//! desktop.

use std::process::Stdio;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rmcp::ServiceExt as _;
use rmcp::service::{Peer, RoleClient};
use tokio::process::{Child, Command};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::error::HttpError;
use crate::profile::Profile;

/// How long a desktop may take to start.
pub(crate) const START: Duration = Duration::from_secs(30);

/// How long a desktop may take to end after its input has ended.
const END: Duration = Duration::from_secs(15);

/// A running desktop. It ends when this is dropped.
pub(crate) struct Desktop {
    pub(crate) peer: Peer<RoleClient>,
    /// The profile whose home it has.
    pub(crate) profile: Option<Profile>,
    /// The process from which all its other processes descend.
    pub(crate) pid: Option<u32>,
    used: Arc<Used>,
    end_is_known: AtomicBool,
    /// Cancelled once the process has ended.
    ended: CancellationToken,
    _input: DropGuard,
}

/// How much a desktop is used.
struct Used {
    calls: AtomicUsize,
    last: Mutex<Instant>,
}

/// A call that is running.
pub(crate) struct Use(Arc<Used>);

impl Desktop {
    /// Starts the process and waits until its desktop is there. `place` is dropped after its end.
    pub(crate) async fn start(
        mut command: Command,
        profile: Option<Profile>,
        place: impl Send + 'static,
    ) -> Result<Self, HttpError> {
        let failed = |error: &dyn std::fmt::Display| HttpError::Desktop(error.to_string());
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true);
        let mut child = command.spawn().map_err(|e| failed(&e))?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(HttpError::Desktop("no pipes".into()));
        };
        let pid = child.id();
        let input_open = CancellationToken::new();
        let ended = CancellationToken::new();
        let closed = input_open.clone();
        tokio::spawn(reap(child, closed.clone(), ended.clone(), place));
        let guard = closed.drop_guard();
        let serving = ().serve_with_ct((output, input), input_open);
        let running = tokio::select! {
            running = tokio::time::timeout(START, serving) => running,
            () = ended.cancelled() => return Err(failed(&"its process ended; see above")),
        };
        let running = running
            .map_err(|_| failed(&format!("not within {} s", START.as_secs())))?
            .map_err(|e| failed(&e))?;
        let peer = running.peer().clone();
        // Runs until the input is closed or the process ends.
        tokio::spawn(running.waiting());
        let used = Used {
            calls: AtomicUsize::new(0),
            last: Mutex::new(Instant::now()),
        };
        Ok(Self {
            peer,
            profile,
            pid,
            used: Arc::new(used),
            end_is_known: AtomicBool::new(false),
            ended,
            _input: guard,
        })
    }

    pub(crate) fn runs(&self) -> bool {
        !self.ended.is_cancelled()
    }

    /// Records that a call's error has reported the end of the desktop.
    pub(crate) fn set_end_known(&self) {
        self.end_is_known.store(true, Ordering::SeqCst);
    }

    pub(crate) fn end_is_known(&self) -> bool {
        self.end_is_known.load(Ordering::SeqCst)
    }

    /// Marks it as in use until the value is dropped.
    pub(crate) fn begin_use(&self) -> Use {
        self.used.calls.fetch_add(1, Ordering::SeqCst);
        Use(Arc::clone(&self.used))
    }

    /// The time since the last call ended.
    pub(crate) fn idle(&self) -> Duration {
        if self.used.calls.load(Ordering::SeqCst) > 0 {
            return Duration::ZERO;
        }
        let last = self
            .used
            .last
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        last.elapsed()
    }
}

impl Drop for Use {
    fn drop(&mut self) {
        let mut last = self.0.last.lock().unwrap_or_else(PoisonError::into_inner);
        *last = Instant::now();
        self.0.calls.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Waits for the end of the process. Kills it if it does not end soon after its input has ended.
/// The private desktop, a process of its own, then ends by itself.
async fn reap(
    mut child: Child,
    closed: CancellationToken,
    ended: CancellationToken,
    place: impl Send,
) {
    tokio::select! {
        status = child.wait() => tracing::warn!("a desktop's server ended: {status:?}"),
        () = closed.cancelled() => {
            if tokio::time::timeout(END, child.wait()).await.is_err() {
                tracing::warn!("a desktop's server does not end: killed");
                if let Err(error) = child.kill().await {
                    tracing::warn!("it cannot be killed: {error}");
                }
            }
        }
    }
    ended.cancel();
    drop(place);
}
