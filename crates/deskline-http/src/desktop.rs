//! A desktop of the fleet: this program as a server on standard input and output, with a private
//! desktop.

use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rmcp::ServiceExt as _;
use rmcp::model::{ClientRequest, PingRequest};
use rmcp::service::{Peer, PeerRequestOptions, RoleClient};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};
use tokio::process::{Child, ChildStderr, Command};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::audit::Audit;
use crate::error::HttpError;
use crate::profile::Profile;

/// How long a desktop may take to start.
pub(crate) const START: Duration = Duration::from_secs(30);

/// How long a desktop may take to end after its input has ended.
const END: Duration = Duration::from_secs(15);

/// How often a desktop's server is pinged, and how long it may take to answer.
const ALIVE: Duration = Duration::from_secs(10);

/// Lines of a desktop's standard error that are longer than this are split.
const LINE: u64 = 4_096;

/// A running desktop. It ends when this is dropped.
pub(crate) struct Desktop {
    pub(crate) peer: Peer<RoleClient>,
    /// The profile whose home the desktop has.
    pub(crate) profile: Option<Profile>,
    /// The process from which all other processes of the desktop descend.
    pub(crate) pid: Option<u32>,
    pub(crate) audit: Audit,
    used: Arc<Used>,
    /// Cancelled once a call's error has reported the end of the desktop.
    pub(crate) end_is_known: CancellationToken,
    /// Cancelled once the process has ended.
    ended: CancellationToken,
    _input: DropGuard,
}

/// How many calls are using a desktop, and when the last call ended.
struct Used {
    calls: AtomicUsize,
    last: Mutex<Instant>,
}

/// The use of a desktop by a running call.
pub(crate) struct Use(Arc<Used>);

impl Desktop {
    /// Starts the process and waits until its desktop is ready. When the process has ended, `place`
    /// is dropped.
    pub(crate) async fn start(
        mut command: Command,
        profile: Option<Profile>,
        audit: Audit,
        place: impl Send + 'static,
    ) -> Result<Self, HttpError> {
        let failed = |error: &dyn std::fmt::Display| HttpError::Desktop(error.to_string());
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        let mut child = command.spawn().map_err(|e| failed(&e))?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(HttpError::Desktop("no pipes".into()));
        };
        let pid = child.id();
        if let Some(errors) = child.stderr.take() {
            tokio::spawn(relay_log(errors, pid));
        }
        let input_open = CancellationToken::new();
        let ended = CancellationToken::new();
        let hung = CancellationToken::new();
        let closed = input_open.clone();
        let why = [closed.clone(), hung.clone()];
        tokio::spawn(reap(child, why, ended.clone(), place));
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
        tokio::spawn(watch(peer.clone(), hung, ended.clone()));
        let used = Used {
            calls: AtomicUsize::new(0),
            last: Mutex::new(Instant::now()),
        };
        Ok(Self {
            peer,
            profile,
            pid,
            audit,
            used: Arc::new(used),
            end_is_known: CancellationToken::new(),
            ended,
            _input: guard,
        })
    }

    pub(crate) fn runs(&self) -> bool {
        !self.ended.is_cancelled()
    }

    /// Marks the desktop as in use until the returned value is dropped.
    pub(crate) fn begin_use(&self) -> Use {
        self.used.calls.fetch_add(1, Ordering::SeqCst);
        Use(Arc::clone(&self.used))
    }

    /// The time since the last call ended; zero during a call.
    pub(crate) fn idle(&self) -> Duration {
        if self.used.calls.load(Ordering::SeqCst) > 0 {
            return Duration::ZERO;
        }
        let last = self.used.last.lock();
        last.unwrap_or_else(PoisonError::into_inner).elapsed()
    }
}

impl Drop for Use {
    fn drop(&mut self) {
        let mut last = self.0.last.lock().unwrap_or_else(PoisonError::into_inner);
        *last = Instant::now();
        self.0.calls.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Pings a desktop's server again and again, until it does not answer or has ended.
async fn watch(peer: Peer<RoleClient>, hung: CancellationToken, ended: CancellationToken) {
    loop {
        tokio::select! {
            () = ended.cancelled() => return,
            () = tokio::time::sleep(ALIVE) => {}
        }
        let ping = ClientRequest::PingRequest(PingRequest::default());
        let asked = async {
            let sent = peer.send_cancellable_request(ping, PeerRequestOptions::no_options());
            sent.await?.await_response().await
        };
        if tokio::time::timeout(ALIVE, asked).await.is_err() {
            return hung.cancel();
        }
    }
}

/// Passes a desktop's standard error on to our log, marked, because apps may have written it.
async fn relay_log(errors: ChildStderr, pid: Option<u32>) {
    let mut errors = BufReader::new(errors);
    let mut line = Vec::new();
    while let Ok(1..) = (&mut errors).take(LINE).read_until(b'\n', &mut line).await {
        let text = String::from_utf8_lossy(&line);
        tracing::warn!(desktop = pid, "{:?}", text.trim_end());
        line.clear();
    }
}

/// Waits for the end of the process. Kills it if it hangs, or if it does not end soon after its
/// input has ended. The private desktop is another process, and then ends by itself.
async fn reap(
    mut child: Child,
    [closed, hung]: [CancellationToken; 2],
    ended: CancellationToken,
    place: impl Send,
) {
    let is_over = tokio::select! {
        status = child.wait() => {
            tracing::warn!("a desktop's server ended: {status:?}");
            true
        }
        () = closed.cancelled() => tokio::time::timeout(END, child.wait()).await.is_ok(),
        () = hung.cancelled() => false,
    };
    if !is_over {
        tracing::warn!("a desktop's server does not answer or end: killed");
        if let Err(error) = child.kill().await {
            tracing::warn!("it cannot be killed: {error}");
        }
    }
    ended.cancel();
    drop(place);
}
