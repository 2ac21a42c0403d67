//! A thread with a run loop, for system callbacks.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use objc2_core_foundation::{
    CFRetained, CFRunLoop, CFRunLoopRunResult, CFRunLoopSource, kCFRunLoopDefaultMode,
};

/// How long the thread stays in its run loop at a time, in seconds.
const SLICE: f64 = 0.1;

const HIGHEST: libc::qos_class_t = libc::qos_class_t::QOS_CLASS_USER_INTERACTIVE;

/// What the setup of a new thread returns.
pub(super) struct Setup {
    /// The source of the thread's callbacks.
    pub(super) source: CFRetained<CFRunLoopSource>,
    /// Called on the thread before each slice; `false` ends the thread. Owns the data of the
    /// callbacks, and is dropped after the source was removed.
    pub(super) tick: Box<dyn FnMut() -> bool>,
}

/// How long a setup may take: long enough for one message that is not answered.
const STARTS: Duration = Duration::from_secs(3);

/// A thread's run loop.
struct Loop(CFRetained<CFRunLoop>);

// SAFETY: other threads only call `CFRunLoopStop` on it, which any thread may call.
unsafe impl Send for Loop {}

/// A thread with a run loop; the thread ends when this value is dropped.
pub struct RunLoop {
    of_thread: Option<Loop>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// Starts a thread; fails if the thread's setup fails.
pub(super) fn start<E: Send + 'static>(
    name: &str,
    failed: impl Fn(std::io::Error) -> E,
    setup: impl FnOnce() -> Result<Setup, E> + Send + 'static,
) -> Result<RunLoop, E> {
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = Arc::clone(&stop);
    let (ready, began) = mpsc::channel();
    let thread = thread::Builder::new().name(name.to_owned()).spawn(move || {
        // A tap must answer in time even on a busy machine. SAFETY: the arguments are constants.
        unsafe { libc::pthread_set_qos_class_self_np(HIGHEST, 0) };
        let setup = match setup() {
            Ok(setup) => setup,
            Err(e) => return drop(ready.send(Err(e))),
        };
        let Setup { source, mut tick } = setup;
        // SAFETY: this is a constant of the framework, which is never written.
        let mode = unsafe { kCFRunLoopDefaultMode };
        let current = CFRunLoop::current();
        if let Some(current) = &current {
            current.add_source(Some(&source), mode);
        }
        let _ = ready.send(Ok(current.clone().map(Loop)));
        while !stopped.load(Ordering::Acquire) && tick() {
            if CFRunLoop::run_in_mode(mode, SLICE, false) == CFRunLoopRunResult::Finished {
                // The source is gone, because the process that it belongs to has ended.
                deskline_contract::wait::pause(Duration::from_secs_f64(SLICE));
            }
        }
        if let Some(current) = &current {
            current.remove_source(Some(&source), mode);
        }
        source.invalidate();
    });
    let thread = Some(thread.map_err(&failed)?);
    match began.recv_timeout(STARTS) {
        Ok(Err(e)) => Err(e),
        Ok(Ok(of_thread)) => Ok(RunLoop {
            of_thread,
            stop,
            thread,
        }),
        Err(_) => {
            stop.store(true, Ordering::Release);
            Err(failed(std::io::ErrorKind::TimedOut.into()))
        }
    }
}

impl Drop for RunLoop {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        if let Some(of_thread) = &self.of_thread {
            of_thread.0.stop();
        }
        if let Some(thread) = self.thread.take() {
            // Joining takes a slice at most, if the stop came between two slices. A thread that has
            // panicked has ended too.
            let _ = thread.join();
        }
    }
}
