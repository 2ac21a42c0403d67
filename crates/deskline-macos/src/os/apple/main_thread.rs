//! The main thread: `AppKit` and the Text Input Sources must be called on it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use dispatch2::DispatchQueue;
use objc2::MainThreadMarker;
use objc2_core_foundation::{CFRunLoop, CFRunLoopRunResult, kCFRunLoopDefaultMode};

/// How long the main thread may take to do what it is asked.
const TAKES: Duration = Duration::from_secs(2);

/// How often it looks where the main run loop has nothing to wait for.
const LOOK: Duration = Duration::from_millis(10);

/// How often it looks whether the work is done, in seconds; it is woken at the end.
const SLICE: f64 = 0.5;

/// Runs the program's work on another thread, and the main run loop on this one until it is done.
/// To be called on the main thread.
pub fn beside<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let done = Arc::new(AtomicBool::new(false));
    let main = CFRunLoop::main();
    let finished = Arc::clone(&done);
    let worker = thread::Builder::new()
        .name("deskline".into())
        .spawn(move || {
            /// Ends the main loop also when the work panics.
            struct End(Arc<AtomicBool>);
            impl Drop for End {
                fn drop(&mut self) {
                    self.0.store(true, Ordering::Release);
                    if let Some(main) = CFRunLoop::main() {
                        main.stop();
                    }
                }
            }
            let _end = End(finished);
            work()
        });
    let worker = worker.ok()?;
    // SAFETY: a constant of the framework's, never written.
    let mode = unsafe { kCFRunLoopDefaultMode };
    while main.is_some() && !done.load(Ordering::Acquire) {
        if CFRunLoop::run_in_mode(mode, SLICE, false) == CFRunLoopRunResult::Finished {
            thread::sleep(LOOK);
        }
    }
    worker.join().ok()
}

/// Does something on the main thread; `None` where that is not running its loop.
pub(super) fn on_main<T: Send + 'static>(
    work: impl FnOnce(MainThreadMarker) -> T + Send + 'static,
) -> Option<T> {
    if let Some(marker) = MainThreadMarker::new() {
        return Some(work(marker));
    }
    let (send, receive) = mpsc::channel();
    DispatchQueue::main().exec_async(move || {
        if let Some(marker) = MainThreadMarker::new() {
            let _ = send.send(work(marker));
        }
    });
    receive.recv_timeout(TAKES).ok()
}
