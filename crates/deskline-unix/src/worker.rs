//! A thread that takes orders while it waits for file descriptors. A guard runs on such a thread,
//! so that no link can block the guard.

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender, SyncSender, TryRecvError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd};

/// A handle to the thread. Dropping it closes the inbox, and waits for the thread to end.
#[derive(Debug)]
pub struct Worker<O> {
    /// `None` only during the drop.
    orders: Option<Sender<O>>,
    wake: Arc<OwnedFd>,
    thread: Option<JoinHandle<()>>,
}

/// The thread's side of a [`Worker`].
#[derive(Debug)]
pub struct Inbox<O> {
    orders: Receiver<O>,
    wake: Arc<OwnedFd>,
}

impl<O: Send + 'static> Worker<O> {
    /// Starts the thread.
    ///
    /// # Errors
    ///
    /// If the system has no thread or file descriptor left.
    pub fn start(name: &str, run: impl FnOnce(Inbox<O>) + Send + 'static) -> io::Result<Self> {
        let wake = Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?);
        let (sender, orders) = mpsc::channel();
        let inbox = Inbox {
            orders,
            wake: Arc::clone(&wake),
        };
        let thread = thread::Builder::new().name(name.to_owned());
        Ok(Self {
            orders: Some(sender),
            wake,
            thread: Some(thread.spawn(move || run(inbox))?),
        })
    }
}

impl<O> Worker<O> {
    /// Sends an order without waiting. If the thread has ended, the order is dropped.
    pub fn send(&self, order: O) {
        if let Some(orders) = &self.orders {
            let _ = orders.send(order);
        }
        self.wake();
    }

    /// Sends an order and waits for the reply. `None`: no reply within `patience`, or the thread
    /// has ended.
    pub fn ask<T>(&self, patience: Duration, order: impl FnOnce(SyncSender<T>) -> O) -> Option<T> {
        let (reply, done) = mpsc::sync_channel(1);
        self.send(order(reply));
        done.recv_timeout(patience).ok()
    }

    /// Whether the thread has ended, for example after an error.
    pub fn has_ended(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    fn wake(&self) {
        // Fails only if the counter is full, and then the thread wakes anyway.
        let _ = rustix::io::write(&*self.wake, &1_u64.to_ne_bytes());
    }
}

impl<O> Drop for Worker<O> {
    fn drop(&mut self) {
        self.orders = None;
        self.wake();
        // The panic hook has printed any panic of the thread.
        let _ = self.thread.take().map(JoinHandle::join);
    }
}

impl<O> Inbox<O> {
    /// The next order. Does not wait.
    ///
    /// # Errors
    ///
    /// [`TryRecvError::Disconnected`] once the handle is dropped: the thread has to end.
    pub fn next(&self) -> Result<O, TryRecvError> {
        self.orders.try_recv()
    }

    /// Passes each order to `step` until the handle is dropped. While there is no order, calls
    /// `step(None)`, which has to wait for [`Self::poll`] and for its own events.
    ///
    /// # Errors
    ///
    /// Those of `step`.
    pub fn serve<E>(&self, mut step: impl FnMut(Option<O>) -> Result<(), E>) -> Result<(), E> {
        loop {
            match self.next() {
                Ok(order) => step(Some(order))?,
                Err(TryRecvError::Empty) => {
                    step(None)?;
                    self.awake();
                }
                Err(TryRecvError::Disconnected) => return Ok(()),
            }
        }
    }

    /// A descriptor to poll beside others: it is readable if there may be an order.
    pub fn poll(&self) -> PollFd<'_> {
        PollFd::from_borrowed_fd(self.wake.as_fd(), PollFlags::IN)
    }

    /// To be called after a wait and before [`Self::next`]: from here on only a later order wakes
    /// the thread.
    pub fn awake(&self) {
        // EAGAIN if nothing was written: then there is nothing to clear.
        let _ = rustix::io::read(&*self.wake, &mut [0; 8]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wait;

    enum Order {
        Double(u32, SyncSender<u32>),
        /// An order that gets no reply.
        Ignore(SyncSender<u32>),
    }

    /// A thread that waits without a limit, as an idle guard's does.
    fn doubles(ended: &mpsc::Sender<()>) -> Worker<Order> {
        let ended = ended.clone();
        let run = move |inbox: Inbox<Order>| {
            let mut kept = Vec::new();
            loop {
                match inbox.next() {
                    Ok(Order::Double(n, reply)) => reply.send(2 * n).unwrap(),
                    Ok(Order::Ignore(reply)) => kept.push(reply),
                    Err(TryRecvError::Empty) => {
                        wait::any(&mut [inbox.poll()], None).unwrap();
                        inbox.awake();
                    }
                    Err(TryRecvError::Disconnected) => return ended.send(()).unwrap(),
                }
            }
        };
        Worker::start("doubles", run).unwrap()
    }

    #[test]
    fn each_order_wakes_the_thread_and_the_drop_ends_it() {
        let (ended, end) = mpsc::channel();
        let worker = doubles(&ended);
        for n in 0..1_000 {
            let reply = worker.ask(Duration::from_secs(30), |reply| Order::Double(n, reply));
            assert_eq!(reply, Some(2 * n));
        }
        drop(worker);
        end.try_recv().unwrap();
    }

    #[test]
    fn a_reply_is_not_waited_for_longer_than_the_limit() {
        let (ended, _end) = mpsc::channel();
        let worker = doubles(&ended);
        let limit = Duration::from_millis(20);
        assert_eq!(worker.ask(limit, Order::Ignore), None);
    }
}
