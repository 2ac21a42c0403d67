//! The worker thread, which owns the desktop. It runs jobs one at a time, in the order in which
//! they were submitted.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use deskline_link::error::panic_text;
use deskline_link::{Answer, Call, Cancel, Desk, Looked, Reason, Waiting, error_answer};
use tokio::sync::{oneshot, watch};

use crate::live::Live;

/// A job for the worker.
#[derive(Debug)]
pub(crate) enum Job {
    Link(Box<Call>),
    /// A look of a `wait_for`.
    Look(Box<Waiting>),
    /// The list of apps whose name contains `name`.
    Applications {
        name: String,
    },
}

enum Order {
    Run(Job, Cancel, oneshot::Sender<Looked>),
    Quit,
}

/// A handle on the worker thread.
#[derive(Debug)]
pub(crate) struct Worker {
    orders: mpsc::Sender<Order>,
    /// How many orders are in the queue.
    queued: Arc<AtomicUsize>,
    /// Closed once the thread has dropped the desktop.
    gone: watch::Receiver<()>,
}

impl Worker {
    pub(crate) fn start(desk: Box<dyn Desk>, live: Live) -> io::Result<Self> {
        let (orders, inbox) = mpsc::channel();
        let (going, gone) = watch::channel(());
        let queued = Arc::new(AtomicUsize::new(0));
        let left = Arc::clone(&queued);
        std::thread::Builder::new()
            .name("links".into())
            .spawn(move || {
                work(desk, &live, &inbox, &left);
                drop(going);
            })?;
        Ok(Self {
            orders,
            queued,
            gone,
        })
    }

    /// Puts a job at the end of the queue.
    pub(crate) fn submit(&self, job: Job, cancel: Cancel) -> oneshot::Receiver<Looked> {
        let (reply, answer) = oneshot::channel();
        // If the thread has ended, the reply is dropped, and the receiver notices it.
        self.order(Order::Run(job, cancel, reply));
        answer
    }

    fn order(&self, order: Order) {
        self.queued.fetch_add(1, Ordering::SeqCst);
        let _ = self.orders.send(order);
    }

    /// Lets the thread finish its queue and end. `false` if that takes longer than `limit`.
    pub(crate) async fn stop(&self, limit: Duration) -> bool {
        self.order(Order::Quit);
        let mut gone = self.gone.clone();
        let ended = async { while gone.changed().await.is_ok() {} };
        tokio::time::timeout(limit, ended).await.is_ok()
    }
}

fn work(mut desk: Box<dyn Desk>, live: &Live, inbox: &mpsc::Receiver<Order>, queued: &AtomicUsize) {
    while let Some(order) = next(desk.as_mut(), inbox) {
        queued.fetch_sub(1, Ordering::SeqCst);
        let Order::Run(job, cancel, reply) = order else {
            return;
        };
        let others = || queued.load(Ordering::SeqCst) > 0;
        let looked = match live.stopped(&cancel) {
            Some(reason) => Looked::Answer(never_started(reason)),
            None => run(desk.as_mut(), job, &cancel, &others),
        };
        let _ = reply.send(looked);
    }
}

/// Waits for the next order. `None` if all handles are dropped.
fn next(desk: &mut dyn Desk, inbox: &mpsc::Receiver<Order>) -> Option<Order> {
    loop {
        let Some(time) = desk.idle() else {
            return inbox.recv().ok();
        };
        match inbox.recv_timeout(time) {
            Ok(order) => return Some(order),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return None,
        }
    }
}

/// Runs one job. A panic in it ends neither the thread nor the queue.
fn run(desk: &mut dyn Desk, job: Job, cancel: &Cancel, others: &dyn Fn() -> bool) -> Looked {
    let job = AssertUnwindSafe(|| match job {
        Job::Link(call) => match desk.run(&call, cancel) {
            Ok(answer) => Looked::Answer(answer),
            Err(question) => Looked::Asks(question),
        },
        Job::Look(waiting) => desk.look(waiting, cancel, others),
        Job::Applications { name } => Looked::Answer(desk.applications(&name)),
    });
    catch_unwind(job).unwrap_or_else(|panic| {
        let what = panic_text(panic.as_ref());
        tracing::error!("a link panicked: {what}");
        Looked::Answer(error_answer(&format!(
            "internal error in the server: {what}. The server keeps running. Call \
             refresh_traversal to see what was done before you try again"
        )))
    })
}

fn never_started(reason: Reason) -> Answer {
    let why = match reason {
        Reason::Request => "the client cancelled the request",
        Reason::Person => "the user pressed Esc",
        Reason::Watchdog => "the user's input was locked for too long",
        Reason::Unguarded => "the lock on the user's input was lost",
        Reason::Stopping => "the server is stopping",
    };
    error_answer(&format!(
        "Cancelled: {why} before it started. Nothing was touched"
    ))
}
